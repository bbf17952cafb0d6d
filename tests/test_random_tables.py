"""Two thousand random tables, in every form, end in a result or in an error that partita itself raises in words."""

import csv
import datetime
import decimal
import traceback
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.volumes import long, short_and_long

import partita
from partita import Mixture

SOURCE = str(Path(partita.__file__).parent)
FROM_SCIKIT_LEARN = ("Expected 2D array", "Found array with")
RANDOM = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)

numbers = st.one_of(
    st.floats(-100, 100),
    st.floats(allow_nan=True, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1e-300, -1e300, 1e300, float("nan"), 5e-324]),
)
words = st.one_of(st.sampled_from(["a", "b", "", "NA", "1", "true"]), st.text(max_size=3))
COLUMNS = {
    "float": numbers,
    "small": st.sampled_from([0.0, 1.0, 2.5]),
    "whole": st.integers(-5, 5),
    "large": st.integers(-(2**63), 2**63 - 1),
    "text": words,
    "truth": st.booleans(),
    "gappy text": st.one_of(st.none(), words),
    "gappy number": st.one_of(st.none(), numbers),
    "constant": st.just(7),
    "nothing": st.none(),
    "infinite": st.sampled_from([1.0, float("inf"), 2.0]),
    "day": st.dates(datetime.date(2020, 1, 1), datetime.date(2020, 2, 1)),
    "decimal": st.decimals(-10, 10, places=2),
}
STRANGE = {
    "mixture": st.one_of(words, numbers, st.booleans(), st.none()),
    "object": st.sampled_from([(1,), [], {}, b"x", 1j, 3, "a"]),
    "huge": st.integers(-(10**400), 10**400),
}
names = st.one_of(st.sampled_from(["a", "b", "label", "numeric", "class", "x0", "", " "]), st.text(max_size=4))


@st.composite
def tables(draw, kinds):
    """Columns by name (a list of pairs: names may repeat) and the kinds to tell of some of them."""
    n_rows = draw(st.integers(0, 12))
    columns = []
    for _ in range(draw(st.integers(0, 4))):
        cells = kinds[draw(st.sampled_from(sorted(kinds)))]
        columns.append((draw(names), draw(st.lists(cells, min_size=n_rows, max_size=n_rows))))
    told = {
        name: draw(st.sampled_from(["numeric", "categorical", "count"]))
        for name, _ in columns
        if draw(st.integers(0, 5)) == 0
    }
    return columns, told or None


def clusters(X, told=None):
    """Fit and use the result in every way, or end in an error of our own; True if there was a result."""
    model = Mixture(chains=1, draws=3, warmup=0, column_types=told, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X)
        except (ValueError, TypeError, OSError) as error:
            assert_named(error)
            return False
        check_result(model, X)
    return True


def assert_named(error):
    text = str(error)
    raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
    assert raised_in.startswith(SOURCE) or text.startswith(FROM_SCIKIT_LEARN), "".join(
        traceback.format_exception(error)
    )
    assert len(text) > 20
    assert text.rstrip().endswith((".", "?"))


def check_result(model, X):
    n_rows = model.labels_.size
    assert sorted(set(model.labels_.tolist())) == list(range(model.n_clusters_))
    assert model.probabilities_.shape == (n_rows, model.n_clusters_)
    np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1.0, rtol=1e-9)
    groups = model._model.table.identical_rows()
    for group in np.unique(groups):
        assert len(set(model.labels_[groups == group].tolist())) == 1
    again = model.predict_proba(X)
    np.testing.assert_allclose(again.sum(axis=1), 1.0, rtol=1e-9)
    assert np.all(model.novelty(X) <= 1)
    assert not np.isnan(model.score_samples(X)).any()
    assert len(model.profile_) > 0
    model.explain(0)


def share_of_results(n_tables, body, *strategies):
    """Run ``body`` on this many random tables; the share that gave a result rather than a refusal."""
    results = []

    @settings(RANDOM, max_examples=n_tables)
    @given(st.tuples(*strategies))
    def every_table(drawn):
        results.append(body(*drawn))

    every_table()
    assert len(results) >= n_tables
    return np.mean(results)


@long
@pytest.mark.xdist_group("mixed")
@short_and_long("n_tables", 50, 500)
def test_frames_of_objects(n_tables):
    def body(table):
        columns, told = table
        frame = pd.DataFrame({j: pd.Series(cells, dtype=object) for j, (_, cells) in enumerate(columns)})
        return clusters(frame.set_axis([name for name, _ in columns], axis=1), told)

    assert share_of_results(n_tables, body, tables({**COLUMNS, **STRANGE})) > 0.1


@long
@pytest.mark.xdist_group("mixed")
@short_and_long("n_tables", 60, 600)
def test_frames_with_types_of_their_own(n_tables):
    makers = {"pandas": pd.DataFrame, "polars": lambda content: pl.DataFrame(content, strict=False), "arrow": pa.table}

    def body(table, library):
        columns, told = table
        try:
            frame = makers[library](dict(columns))
        except (pa.ArrowException, pl.exceptions.PolarsError, OverflowError, decimal.InvalidOperation):
            return False  # the library itself cannot make a frame of it
        return clusters(frame, told)

    assert share_of_results(n_tables, body, tables(COLUMNS), st.sampled_from(sorted(makers))) > 0.2


@long
@pytest.mark.xdist_group("mixed")
@short_and_long("n_tables", 30, 300)
def test_lists_of_rows(n_tables):
    def body(table):
        columns, _ = table
        return clusters([list(row) for row in zip(*(cells for _, cells in columns))])

    assert share_of_results(n_tables, body, tables({**COLUMNS, **STRANGE})) > 0.1


@long
@pytest.mark.xdist_group("mixed")
@short_and_long("n_tables", 40, 400)
def test_csv_files(tmp_path, n_tables):
    def body(table, separator):
        columns, _ = table
        cells = [cells for _, cells in columns]
        with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=separator)
            writer.writerows([[name for name, _ in columns], *zip(*cells)])
        return clusters(tmp_path / "t.csv")

    assert share_of_results(n_tables, body, tables(COLUMNS), st.sampled_from([",", ";", "\t"])) > 0.2


@pytest.mark.xdist_group("mixed")
@short_and_long("n_tables", 20, 200)
def test_files_of_any_bytes(tmp_path, n_tables):
    def body(content):
        (tmp_path / "t.csv").write_bytes(content)
        return clusters(tmp_path / "t.csv")

    text = st.text(alphabet='a1.,;\t\n"\r é', max_size=80).map(str.encode)
    assert share_of_results(n_tables, body, st.one_of(st.binary(max_size=80), text)) > 0.02
