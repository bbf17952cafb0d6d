"""Draws from elsewhere: every form of the same draws is the same Posterior."""

import json
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.volumes import long

from partita.partitions import Partitions
from partita.posterior import Posterior
from partita.posterior.reading import object_names

FILES = Path(__file__).parent / "files"
DRAWS = np.random.default_rng(3).integers(0, 3, size=(6, 5))
GAPS = np.where(np.random.default_rng(4).random((6, 5)) < 0.2, -1, DRAWS)
WORDS = {-1: None, 0: "red", 1: "blue", 2: "green"}
THINGS = {-1: np.nan, 0: ("a", 1), 1: date(2024, 1, 1), 2: True}


def named(values, kinds):
    return [[kinds[label] for label in draw] for draw in values.tolist()]


def columns(values):
    return {f"o{j}": values[:, j].tolist() for j in range(values.shape[1])}


WHOLE = {
    "int8": DRAWS.astype(np.int8),
    "uint64": DRAWS.astype(np.uint64),
    "beyond int64": DRAWS.astype(np.uint64) + np.uint64(2**64 - 5),
    "float32": DRAWS.astype(np.float32),
    "beyond exact floats": DRAWS * 2.0**60,
    "text": np.array(["x", "y", "zz"])[DRAWS],
    "objects": np.array(["x", 7, ("t",)], dtype=object)[DRAWS],
    "columns in memory": np.asfortranarray(DRAWS),
    "list of lists": DRAWS.tolist(),
    "tuple of tuples": tuple(map(tuple, DRAWS.tolist())),
    "list of arrays": list(DRAWS),
    "list of series": [pd.Series(draw) for draw in DRAWS],
    "array of lists": np.array([*DRAWS.tolist(), None], dtype=object)[:-1],
    "partitions": Partitions(DRAWS),
    "posterior": Posterior(DRAWS),
    "pandas": pd.DataFrame(DRAWS),
    "pandas categories": pd.DataFrame(named(DRAWS, WORDS), dtype="category"),
    "polars": pl.DataFrame(columns(DRAWS)),
    "pyarrow": pa.table(columns(DRAWS)),
    "relabelled": np.array([9, 4, 1000])[DRAWS],
}
WITH_GAPS = {
    "-1": GAPS,
    "nan": np.where(GAPS < 0, np.nan, GAPS),
    "masked": np.ma.masked_array(DRAWS, GAPS < 0),
    "words and None": named(GAPS, WORDS),
    "things and nan": named(GAPS, THINGS),
    "times and NaT": np.array(["2024-01-01", "2024-01-02", "2024-01-03", "NaT"], "M8[D]")[GAPS],
    "pandas float": pd.DataFrame(np.where(GAPS < 0, np.nan, GAPS)),
    "pandas nullable": pd.DataFrame(named(GAPS, {-1: pd.NA, 0: 0, 1: 1, 2: 2})).astype("Int64"),
    "pandas objects": pd.DataFrame(named(GAPS, {**WORDS, -1: pd.NA})),
    "pandas NaT": pd.DataFrame(named(GAPS, {-1: pd.NaT, 0: "x", 1: "y", 2: 5})),
    "polars": pl.DataFrame({name: [v if v >= 0 else None for v in cells] for name, cells in columns(GAPS).items()}),
    "polars words": pl.DataFrame({name: [WORDS[v] for v in cells] for name, cells in columns(GAPS).items()}),
    "pyarrow": pa.table({name: [v if v >= 0 else None for v in cells] for name, cells in columns(GAPS).items()}),
}


@pytest.mark.parametrize("form", WHOLE)
def test_every_form_of_whole_draws(form):
    read = Posterior.from_draws(WHOLE[form])
    np.testing.assert_array_equal(read.partitions, Posterior(DRAWS).partitions)
    np.testing.assert_array_equal(read.weights, np.full(6, 1 / 6))


@pytest.mark.parametrize("form", WITH_GAPS)
def test_every_form_of_draws_with_gaps(form):
    np.testing.assert_array_equal(Posterior.from_draws(WITH_GAPS[form]).partitions, Posterior(GAPS).partitions)


@pytest.mark.parametrize("kind", [bool, "boolean", "bool[pyarrow]"])
def test_truth_values_are_labels(kind):
    draws = [[True, False], [True, True]]
    given = np.array(draws) if kind is bool else pd.DataFrame(draws, dtype=kind)
    assert Posterior.from_draws(given).draws.tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize(
    "form",
    [
        np.stack([GAPS[:3], GAPS[3:]]),
        [GAPS[:3], GAPS[3:]],
        [GAPS[:3].tolist(), GAPS[3:].tolist()],
        [named(GAPS[:3], WORDS), named(GAPS[3:], WORDS)],
        np.array([named(GAPS[:3], WORDS), named(GAPS[3:], WORDS)], dtype=object),
    ],
    ids=["array", "arrays", "lists", "words", "objects"],
)
def test_chains_stay_apart(form):
    read = Posterior.from_draws(form)
    assert (read.n_chains, read.n_draws, read.n_objects) == (2, 6, 5)
    np.testing.assert_array_equal(read.draws, Posterior(GAPS).draws)


def test_labels_are_equal_where_python_says_so():
    draws = [[1, 1.0, True, "1", (1,)], [2**70, 2**70 + 1, 2**70, 0, -1.0]]
    assert Posterior.from_draws(draws).draws.tolist() == [[0, 0, 0, 1, 2], [0, 1, 0, 2, -1]]


def test_whole_numbers_that_floats_do_not_hold_stay_apart():
    assert Posterior.from_draws([[1.0, 2**60, 2**60 + 1]]).draws.tolist() == [[0, 1, 2]]


def test_one_draw_and_one_object():
    assert Posterior.from_draws([[4, 4, 2]]).draws.tolist() == [[0, 0, 1]]
    assert Posterior.from_draws([["a"], ["b"]]).draws.tolist() == [[0], [0]]


@long
def test_a_million_labels_that_all_differ():
    texts = np.arange(10**6).astype(str)
    assert Posterior.from_draws([texts.tolist()]).n_clusters() == pytest.approx({10**6: 1.0})
    assert Posterior.from_draws(texts.reshape(1000, 1000)).n_clusters() == pytest.approx({1000: 1.0})


def test_integers_are_not_copied_before_they_are_made_canonical():
    from partita.labels import code_numbers

    assert code_numbers(GAPS) is GAPS


class TestWeights:
    def test_weight_repeated_draws(self):
        times = [1, 2, 0, 3, 1, 1]
        weighted = Posterior.from_draws(named(GAPS, WORDS), weights=times)
        repeated = Posterior.from_draws(np.repeat(GAPS, times, axis=0))
        np.testing.assert_allclose(weighted.similarity(), repeated.similarity())
        assert weighted.n_clusters() == pytest.approx(repeated.n_clusters())

    def test_have_the_shape_of_the_draws_or_one_dimension(self):
        chains = DRAWS.reshape(2, 3, 5)
        given = np.arange(1.0, 7.0)
        for weights in (given, given.reshape(2, 3), given.tolist(), pd.Series(given)):
            np.testing.assert_allclose(Posterior.from_draws(chains, weights=weights).weights, given / 21)

    def test_of_a_posterior_are_kept_or_replaced(self):
        traces = {"log_joint": np.zeros((1, 6))}
        given = Posterior(DRAWS, weights=np.arange(6), traces=traces, provenance={"seed": 1})
        assert Posterior.from_draws(given) is given
        again = Posterior.from_draws(given, weights=np.ones(6))
        np.testing.assert_allclose(again.weights, 1 / 6)
        assert (list(again.traces), again.provenance) == (["log_joint"], {"seed": 1})

    def test_near_the_largest_number(self):
        np.testing.assert_allclose(Posterior.from_draws(DRAWS, weights=np.full(6, 1e308)).weights, 1 / 6)


class TestNames:
    def test_of_columns_are_kept(self):
        frame = pd.DataFrame(DRAWS, columns=list("abcde"))
        assert Posterior.from_draws(frame).provenance == {"objects": list("abcde")}

    def test_that_count_the_columns_are_none(self):
        assert Posterior.from_draws(pd.DataFrame(DRAWS)).provenance == {}

    def test_that_do_not_fit_are_not_used(self):
        assert object_names(Posterior(DRAWS, provenance={"objects": ["a"]})) == [0, 1, 2, 3, 4]
        assert object_names(Posterior(DRAWS, provenance={"objects": list("abcde")})) == list("abcde")

    def test_of_rows_that_pandas_read_are_left_out(self):
        frame = pd.DataFrame(DRAWS, columns=list("abcde"))
        frame.insert(0, "Unnamed: 0", range(1, 7))
        with pytest.warns(UserWarning, match=r"has no name and counts the draws \(1 to 6\): it is left out"):
            read = Posterior.from_draws(frame)
        np.testing.assert_array_equal(read.draws, Posterior(DRAWS).draws)
        assert read.provenance == {"objects": list("abcde")}

    def test_of_draws_as_an_object_are_warned_of(self):
        with pytest.warns(
            UserWarning, match=r"The first column, 'draw', counts the draws \(0 to 5\) and is read as an"
        ):
            assert Posterior.from_draws(pl.DataFrame({"draw": range(6), "a": DRAWS[:, 0]})).n_objects == 2


@pytest.mark.parametrize("library", ["pymc", "numpyro"])
def test_draws_of_other_libraries_find_the_groups(library):
    with np.load(FILES / f"draws-{library}.npz") as stored:
        draws, truth, about = stored["draws"], stored["truth"], json.loads(str(stored["about"]))
    assert about["library"] == library
    read = Posterior.from_draws(draws)
    assert read.partitions.shape == draws.shape == (2, 300, 60)
    found = read.estimate()
    assert found.n_clusters == 3
    assert adjusted_rand_score(truth, found.labels) > 0.9
    assert max(read.n_clusters().values()) == read.n_clusters()[5]  # the draws themselves have dust


def test_missing_cells_of_nullable_columns():
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.array([1, 2], dtype="Int64")})
    assert Posterior.from_draws(frame).draws.tolist() == [[0, 0], [-1, 0]]
