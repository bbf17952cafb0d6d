"""What Mixture takes and gives back, and the words with which it refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from tests.mixtures import categorical, diagonal, full, known, mixed, quick, unconverged_is_fine
from tests.volumes import mostly_long

import partita
from partita.engines import Gibbs
from partita.families import Categorical, Gaussian
from partita.priors import DirichletProcess

pytestmark = unconverged_is_fine


X, _ = make_blobs(40, 2, centers=[[-5, 0], [5, 2]], cluster_std=0.8, random_state=0)
KNOWN = Gaussian(covariance="known")
NAN = np.nan


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"family": "gausian"}, ValueError, "family must be .*'gausian'. Did you mean 'gaussian'"),
        ({"family": 3}, TypeError, "family must be .*got 3"),
        ({"family": Gaussian}, TypeError, "family must be"),
        ({"family": Gaussian(covariance="ful")}, ValueError, "covariance must be .*Did you mean 'full'"),
        ({"family": Categorical()}, ValueError, "family=Categorical reads categorical columns only, but 'x0', 'x1'"),
        ({"prior": "dirichlet-proces"}, ValueError, "prior must be .*Did you mean 'dirichlet-process'"),
        ({"prior": "finite-dirichlet"}, ValueError, r"pass FiniteDirichlet\(n_components=...\)"),
        ({"prior": "stick-breaking"}, ValueError, r"pass StickBreaking\(n_components=...\)"),
        ({"prior": 2.0}, TypeError, "prior must be .*got 2.0"),
        ({"prior": DirichletProcess}, TypeError, "prior must be"),
        ({"prior": DirichletProcess(concentration=-1)}, ValueError, "concentration must be .*got -1"),
        ({"engine": "gibs"}, ValueError, "engine must be .*Did you mean 'gibbs'"),
        ({"engine": 2}, TypeError, "engine must be .*got 2"),
        ({"engine": Gibbs(merge_split=-1)}, ValueError, "merge_split.* must be .*got -1"),
        ({"chains": 0}, ValueError, "chains must be a whole number of at least 1, got 0"),
        ({"chains": 2.5}, ValueError, "chains must be"),
        ({"chains": True}, ValueError, "chains must be"),
        ({"draws": -1}, ValueError, "draws must be .* or 'auto', got -1"),
        ({"draws": 0}, ValueError, "draws must be"),
        ({"draws": "autoo"}, ValueError, "draws must be .*'auto', got 'autoo'"),
        ({"warmup": -1}, ValueError, "warmup must be .*or None, got -1"),
        ({"warmup": "long"}, ValueError, "warmup must be"),
        ({"thin": 0}, ValueError, "thin must be"),
        ({"standardize": "yes"}, TypeError, "standardize must be True or False, got 'yes'"),
        ({"column_types": 3}, TypeError, "column_types must map"),
        ({"missing": [None]}, TypeError, "missing must be text, a finite number, a list"),
        ({"missing": {7: -9}}, ValueError, "missing names column 7, but X has columns 0 to"),
        ({"unseen": "mising"}, ValueError, "unseen must be one of 'missing', 'error'; got 'mising'. Did you mean"),
        ({"column_types": {5: "count"}}, ValueError, "column_types names column 5"),
        ({"column_types": {0: "cuont"}}, ValueError, "column_types.* must be .*Did you mean 'count'"),
        ({"max_time": 0}, ValueError, "max_time must be"),
        ({"max_time": -2.0}, ValueError, "max_time must be .*got -2.0"),
        ({"max_time": "1h"}, ValueError, "max_time must be .*got '1h'"),
        ({"max_time": NAN}, ValueError, "max_time must be"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be .*other than 0, got 0"),
        ({"n_jobs": 1.5}, ValueError, "n_jobs must be"),
        ({"progress": 3}, TypeError, "progress must be .*got 3"),
        ({"progress": None}, TypeError, "progress must be"),
        ({"random_state": -1}, ValueError, "random_state must be .*got -1"),
        ({"random_state": "seed"}, ValueError, "random_state must be"),
    ],
)
def test_a_wrong_option_is_named(options, error, words):
    with pytest.raises(error, match=words):
        quick(**options).fit(X)


@pytest.mark.parametrize(
    ("table", "error", "words"),
    [
        ([[1.0, 2.0], [np.inf, 3.0]], ValueError, r"Column 'x0' has 1 infinite value \(row 1\)"),
        ([[NAN, NAN], [NAN, NAN]], ValueError, "All cells of the table are missing"),
        ([1.0, 2.0], ValueError, "2D"),
        (np.empty((0, 3)), ValueError, "0 sample"),
        ([[1.0, 2.0], [3.0]], ValueError, "row 1 has 1"),
        ([[1 + 2j]], ValueError, "Complex data not supported"),
    ],
)
def test_a_table_that_cannot_be_used(table, error, words):
    with pytest.raises(error, match=words):
        quick().fit(table)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "novelty", "score_samples", "score"])
def test_nothing_is_answered_before_fit(method):
    with pytest.raises(NotFittedError):
        getattr(quick(), method)(X)


def test_no_sample_and_no_frame_before_fit():
    with pytest.raises(NotFittedError):
        quick().sample(3)
    with pytest.raises(NotFittedError):
        quick().to_frame()


# --- odd tables -----------------------------------------------------------------------------------


@diagonal
def test_one_row():
    model = quick().fit([[1.0, 2.0]])
    assert model.labels_.tolist() == [0]
    assert model.posterior_.n_clusters() == {1: pytest.approx(1.0)}
    assert model.predict([[5.0, 5.0]]).tolist() == [0]
    assert np.isfinite(model.score([[1.0, 2.0], [3.0, NAN]]))


@diagonal
def test_two_identical_rows():
    assert quick().fit([[1.0, 2.0], [1.0, 2.0]]).labels_.tolist() == [0, 0]


def equal_rows(kind, table, **options):
    return pytest.param(table, options, id=kind, marks=pytest.mark.xdist_group(kind))


@pytest.mark.parametrize(
    ("table", "options"),
    [
        equal_rows("gaussian-full", np.full((30, 2), 7.0)),
        equal_rows("gaussian-diag", np.full((30, 5), 7.0)),
        equal_rows("known", np.full((30, 2), 7.0), family=KNOWN),
        equal_rows("categorical", np.full((30, 2), "a", dtype=object)),
        equal_rows("count", np.full((30, 2), 4), column_types={0: "count", 1: "count"}),
    ],
)
def test_equal_rows_are_one_cluster(table, options):
    model = quick(**options).fit(table)
    assert model.n_clusters_ == 1
    assert not model.labels_.any()
    np.testing.assert_array_equal(model.probabilities_, np.ones((30, 1)))


@full
def test_one_column():
    model = quick().fit(X[:, :1])
    assert model.n_clusters_ == 2
    assert model.sample(3)[0].shape == (3, 1)


@diagonal
def test_more_columns_than_rows_are_taken_as_independent():
    wide = np.random.default_rng(0).normal(size=(6, 30)) + np.repeat([[0.0], [9.0]], 3, axis=0)
    model = quick().fit(wide)
    assert model.posterior_.provenance["likelihood"] == "diagonal Gaussian"
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]


@full
def test_constant_columns_are_named_and_come_back_in_samples():
    frame = pd.DataFrame({"a": X[:, 0], "flat": 3.5, "b": X[:, 1]})
    with pytest.warns(UserWarning, match="constant column.*'flat'"):
        model = quick().fit(frame)
    np.testing.assert_array_equal(model.posterior_.draws, quick().fit(frame[["a", "b"]]).posterior_.draws)
    assert model.n_features_in_ == 3
    rows, _ = model.sample(4)
    assert list(rows.columns) == ["a", "flat", "b"]
    assert (rows["flat"] == 3.5).all()


@pytest.mark.parametrize(
    "covariance",
    [pytest.param("full", marks=full), pytest.param("diag", marks=diagonal), pytest.param("known", marks=known)],
)
def test_a_row_without_any_cell_gets_an_answer(covariance):
    table = np.vstack([X, [[NAN, NAN]]])
    with pytest.warns(UserWarning, match=r"1 row has no observed cell \(row 40\)"):
        model = quick(family=Gaussian(covariance=covariance)).fit(table)
    sizes = np.bincount(model.labels_[:-1])
    assert model.n_clusters_ == sizes.size
    np.testing.assert_allclose(model.probabilities_[-1], sizes / sizes.sum())
    np.testing.assert_allclose(model.predict_proba(table[-1:])[0], sizes / sizes.sum())
    assert model.labels_[-1] == sizes.argmax()
    assert model.score_samples(table[-1:])[0] == pytest.approx(0.0, abs=1e-9)
    flags = np.asarray(model.to_frame()["empty"])
    np.testing.assert_array_equal(flags, np.arange(41) == 40)


@full
def test_rows_without_any_cell_open_no_cluster_and_change_nothing_for_the_others():
    few = quick(draws=200).fit(X)
    with pytest.warns(UserWarning, match="5 rows have no observed cell"):
        many = quick(draws=200).fit(np.vstack([X, np.full((5, 2), NAN)]))
    np.testing.assert_array_equal(many.labels_[:-5], few.labels_)
    assert len(set(many.labels_[-5:].tolist())) == 1
    assert (many.posterior_.draws[:, -5:] == -1).all()
    np.testing.assert_array_equal(many.posterior_.draws[:, :-5], few.posterior_.draws)


@mostly_long
@pytest.mark.parametrize(
    "covariance",
    [pytest.param("full", marks=full), pytest.param("diag", marks=diagonal), pytest.param("known", marks=known)],
)
@pytest.mark.parametrize("far", [1e40, 1e160, 1e300])
def test_rows_far_beyond_everything_belong_to_a_group_not_seen(covariance, far):
    model = quick(family=Gaussian(covariance=covariance)).fit(X)
    rows = np.array([[far, -far], [far, NAN], X[0]])
    proba = model.predict_proba(rows)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    novelty = model.novelty(rows)
    assert (novelty[:2] > 0.9).all()
    assert novelty[2] < 0.1
    assert not np.isnan(model.score_samples(rows)).any()


# --- frames in, frames out ------------------------------------------------------------------------


@full
def test_results_as_a_frame_of_the_kind_that_came_in():
    index = pd.Index([f"row {i}" for i in range(40)], name="who")
    frames = {
        pd.DataFrame: quick().fit(pd.DataFrame(X, columns=["a", "b"], index=index)).to_frame(),
        pl.DataFrame: quick().fit(pl.DataFrame(X, schema=["a", "b"])).to_frame(),
    }
    model = quick().fit(X)
    for kind, frame in frames.items():
        assert isinstance(frame, kind)
        assert list(frame.columns) == ["label", "confidence", "runner_up"]
        np.testing.assert_array_equal(frame["label"].to_numpy(), model.labels_)
        np.testing.assert_array_equal(frame["confidence"].to_numpy(), model.probabilities_.max(axis=1))
        np.testing.assert_array_equal(frame["runner_up"].to_numpy(), 1 - model.labels_)
    assert frames[pd.DataFrame].index.equals(index)
    assert model.to_frame().equals(frames[pd.DataFrame].reset_index(drop=True))


@full
def test_columns_at_predict_are_those_of_fit():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = quick().fit(frame)
    for wrong in (frame[["a"]], frame.rename(columns={"b": "z"}), frame[["b", "a"]]):
        with pytest.raises(ValueError, match="feature names"):
            model.predict(wrong)
    with pytest.raises(ValueError, match="3 features, but Mixture is expecting 2"):
        quick().fit(X).predict(np.ones((2, 3)))
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(model.predict(X), model.predict(frame))


@mixed
def test_mixed_frames_in_and_out():
    rng = np.random.default_rng(0)
    columns = {
        "size": np.append(rng.normal(0, 1, 20), rng.normal(9, 1, 20)),
        "town": ["Ulm"] * 18 + ["Bonn"] * 22,
        "member": [True, False] * 20,
        "visits": np.append(rng.poisson(2, 20), rng.poisson(30, 20)),
    }
    for kind in (pd.DataFrame, pl.DataFrame):
        frame = kind(columns)
        model = quick(column_types={"visits": "count"}).fit(frame)
        assert model.n_clusters_ == 2
        rows, labels = model.sample(300)
        assert isinstance(rows, kind)
        assert list(rows.columns) == list(columns)
        assert [str(rows[c].dtype) for c in columns] == [str(frame[c].dtype) for c in columns]
        assert set(rows["town"]) == {"Ulm", "Bonn"}
        large = labels == model.labels_[-1]
        share = np.mean(np.asarray(rows["town"])[large] == "Bonn")
        assert abs(share - 21 / 22) < 4.5 * np.sqrt(21 / 22**2 / 23 + 21 / 22**2 / large.sum())
        new = kind({"size": [0.0], "town": ["Paris"], "member": [True], "visits": [3]})
        gap = kind({"size": [0.0], "town": [None], "member": [True], "visits": [3]})
        for method in ("predict", "predict_proba", "score_samples", "novelty", "explain"):
            with pytest.warns(UserWarning, match=r"'Paris' in column 'town' \(row 0\)\. To refuse") as said:
                answer = getattr(model, method)(new)
            assert len(said) == 1
            np.testing.assert_array_equal(answer, getattr(model, method)(gap))
        model.set_params(unseen="error")
        with pytest.raises(ValueError, match=r"Column 'town' has 1 value not seen in fit: 'Paris' \(row 0\)"):
            model.predict(new)


@full
def test_values_that_stand_for_missing_cells(tmp_path):
    marked = X.copy()
    marked[::7, 0] = marked[3::7, 1] = -999
    empty = np.where(marked == -999, np.nan, marked)
    model, plain = quick(missing=-999).fit(marked), quick().fit(empty)
    np.testing.assert_array_equal(model.posterior_.draws, plain.posterior_.draws)
    np.testing.assert_array_equal(model.predict_proba(marked), plain.predict_proba(empty))
    model.save(tmp_path / "m.partita")
    again = partita.load(tmp_path / "m.partita")
    assert again.missing == -999
    np.testing.assert_array_equal(again.predict_proba(marked), plain.predict_proba(empty))


@mixed
def test_columns_that_fit_did_not_see_are_ignored(tmp_path):
    rng = np.random.default_rng(0)
    columns = {"size": np.append(rng.normal(0, 1, 20), rng.normal(9, 1, 20)), "town": ["Ulm"] * 18 + ["Bonn"] * 22}
    for kind in (pd.DataFrame, pl.DataFrame):
        model = quick().fit(kind(columns))
        more = kind({"size": columns["size"], "note": ["x"] * 40, "town": columns["town"], "day": [1] * 40})
        for method in ("predict", "predict_proba", "score_samples", "novelty"):
            with pytest.warns(UserWarning, match="2 columns not seen in fit are ignored: 'note', 'day'") as said:
                answer = getattr(model, method)(more)
            assert len(said) == 1
            np.testing.assert_array_equal(answer, getattr(model, method)(kind(columns)))
    pd.DataFrame(columns).assign(note="x").to_csv(tmp_path / "more.csv", index=False)
    with pytest.warns(UserWarning, match="1 column not seen in fit is ignored: 'note'"):
        np.testing.assert_array_equal(model.predict(tmp_path / "more.csv"), model.predict(kind(columns)))
    three = np.zeros((2, 3))
    with (
        pytest.warns(UserWarning, match="does not have valid feature names"),
        pytest.raises(ValueError, match="X has 3 features, but Mixture is expecting 2 features"),
    ):
        model.predict(three)
    with pytest.raises(ValueError, match="size"):
        model.predict(pd.DataFrame({"town": ["Ulm"], "note": ["x"]}))


@categorical
def test_an_array_of_words_gives_a_frame_of_words():
    words = np.array([["a", "p"], ["b", "q"], ["a", None]] * 5, dtype=object)
    model = quick().fit(words)
    rows, labels = model.sample(50)
    assert list(rows.columns) == ["x0", "x1"]
    assert set(rows["x0"]) == {"a", "b"}
    assert labels.min() >= -1
    assert labels.max() < model.n_clusters_
    with pytest.raises(ValueError, match="'x0' has 1 value not seen in fit: 'z'"):
        model.set_params(unseen="error").novelty(np.array([["z", "p"]], dtype=object))


@full
def test_samples_resemble_the_table():
    model = quick().fit(X)
    rows, labels = model.sample(400)
    again, same_labels = model.sample(400)
    np.testing.assert_array_equal(rows, again)
    np.testing.assert_array_equal(labels, same_labels)
    seats = np.exp(model._clusters.log_seats)
    for k, n in enumerate(np.bincount(model.labels_)):
        inside = rows[labels == k]
        assert abs(len(inside) / 400 - seats[k]) < 4.5 * np.sqrt(seats[k] * (1 - seats[k]) / 400)
        spread = X[model.labels_ == k].std(axis=0)
        assert (np.abs(inside.mean(axis=0) - X[model.labels_ == k].mean(axis=0)) < 6 * spread / np.sqrt(n)).all()
        assert (np.abs(np.log(inside.std(axis=0) / spread)) < 1.0).all()
    for wrong in (0, -1, 2.5, "many"):
        with pytest.raises(ValueError, match="n_samples must be"):
            model.sample(wrong)
