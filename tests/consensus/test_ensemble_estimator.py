"""What holds of every method that makes one clustering out of many: forms of Y, files, clones, what there is not."""

import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.consensus.ensembles import needs_metis, needs_mtkahypar, noisy_copies
from tests.fuzzing.sealing import Parts
from tests.volumes import long

import partita
from partita import Partitions
from partita.consensus import (
    BCE,
    CSPA,
    HGPA,
    MCLA,
    BipartiteCut,
    EvidenceAccumulation,
    LocallyWeighted,
    MultinomialMixture,
    drop_labels,
)
from partita.consensus.agreement import base_agreement
from partita.consensus.ensemble_estimator import METHODS, EnsembleEstimator, Partitioner
from partita.files.layout import UnknownClassError

ALL = [
    pytest.param(lambda k: EvidenceAccumulation(n_clusters=k), id="eac"),
    pytest.param(lambda k: BipartiteCut(n_clusters=k, random_state=0), id="hbgf"),
    pytest.param(lambda k: LocallyWeighted(n_clusters=k, random_state=0), id="lwgp"),
    pytest.param(lambda k: LocallyWeighted(n_clusters=k, method="average"), id="lwea"),
    pytest.param(lambda k: CSPA(n_clusters=k, random_state=0), id="cspa", marks=needs_metis),
    pytest.param(lambda k: HGPA(n_clusters=k), id="hgpa", marks=needs_mtkahypar),
    pytest.param(lambda k: MCLA(n_clusters=k, random_state=0), id="mcla", marks=needs_metis),
    pytest.param(lambda k: MCLA(n_clusters=k, solver="spectral", random_state=0), id="mcla, spectral"),
]
every_method = pytest.mark.parametrize("make", ALL)


def words_of(Y):
    return np.array(["fig", "plum", "pear"])[Y]


@every_method
def test_every_form_of_the_same_labels_gives_the_same_answer(make, tmp_path):
    Y, _ = noisy_copies(rate=0.3)
    named = pd.DataFrame(words_of(Y), columns=list("abcdef"), index=[f"o{i}" for i in range(len(Y))])
    named.to_csv(tmp_path / "labels.csv", index=False)
    plain = make(3).fit(Y).labels_
    for form in (Y.tolist(), named, pl.from_pandas(named), tmp_path / "labels.csv", Partitions(Y.T), Y.astype(float)):
        np.testing.assert_array_equal(make(3).fit(form).labels_, plain)


@every_method
def test_answers_come_in_the_frame_that_came_in(make):
    Y, _ = noisy_copies()
    index = [f"o{i}" for i in range(len(Y))]
    fitted = make(3).fit(pd.DataFrame(Y, columns=list("abcdef"), index=index))
    frame = fitted.to_frame()
    assert list(frame.columns) == ["label"]
    assert list(frame.index) == index
    np.testing.assert_array_equal(frame["label"], fitted.labels_)
    assert list(fitted.feature_names_in_) == list("abcdef")
    assert isinstance(make(3).fit(pl.DataFrame(Y)).to_frame(), pl.DataFrame)


@every_method
def test_labels_are_counted_from_the_largest_cluster(make):
    fitted = make(3).fit(noisy_copies(rate=0.3)[0])
    sizes = np.bincount(fitted.labels_)
    assert (np.diff(sizes) <= 0).all()
    assert fitted.n_clusters_ == len(sizes)
    assert fitted.labels_.dtype == np.int64


@every_method
def test_agreement_is_that_of_the_labels(make):
    Y, _ = noisy_copies(rate=0.2)
    fitted = make(3).fit(Y)
    np.testing.assert_allclose(fitted.base_agreement_, base_agreement(Y, fitted.labels_, np.ones(6)), atol=1e-14)


@every_method
def test_a_file_brings_everything_back(make, tmp_path):
    Y, _ = noisy_copies()
    fitted = make(3).fit(pd.DataFrame(words_of(Y), columns=list("abcdef")))
    fitted.save(tmp_path / "method.partita")
    back = partita.load(tmp_path / "method.partita")
    assert type(back) is type(fitted)
    assert repr(back) == repr(fitted)
    np.testing.assert_array_equal(back.labels_, fitted.labels_)
    np.testing.assert_array_equal(back.base_agreement_, fitted.base_agreement_)
    assert back.n_clusters_ == fitted.n_clusters_
    assert back.to_frame().equals(fitted.to_frame())


def test_a_file_of_a_method_that_is_not_known_says_so(tmp_path, monkeypatch):
    fitted = BipartiteCut(n_clusters=3).fit(noisy_copies()[0])
    monkeypatch.setattr(BipartiteCut, "name", "future")
    fitted.save(tmp_path / "method.partita")
    with pytest.raises(UnknownClassError, match="holds a future, which this version of partita does not know"):
        partita.load(tmp_path / "method.partita")


def option(name, value):
    return lambda parts: parts.header["consensus"]["options"].update({name: value})


def number(name, value):
    return lambda parts: parts.header["consensus"]["numbers"].update({name: value})


OF_MODELS = [
    (option("n_components", "x"), "n_components must be a whole number of at least 1, got 'x'"),
    (option("smoothing", -0.1), "smoothing must be a number of at least 0, got -0.1"),
    (option("tol", float("nan")), "tol must be a number of at least 0, got nan"),
    (option("max_iter", 0.5), "max_iter must be a whole number of at least 1, got 0.5"),
    (option("unseen", "x"), "unseen must be"),
    (option("random_state", "x"), "random_state must be"),
    (option("n_labels", "x"), "n_labels must be a whole number of at least 1"),
    (option("n_labels", 4), "n_labels is not how many labels the columns have"),
    (option("n_labels", 10**9), "n_labels is not how many labels the columns have"),
    (option("n_labels", {"list": [3, 3]}), "n_labels has 2 numbers for 6 base clusterings"),
    (number("n_iter_", -1e300), "n_iter_ is no whole number of at least 1"),
    (number("n_iter_", 0), "n_iter_ is no whole number of at least 1"),
    (number("n_iter_", 2.5), "n_iter_ is no whole number of at least 1"),
    (number("n_iter_", 10**400), "n_iter_ is no whole number of at least 1"),
    (number("converged_", -1.0), "converged_ is neither 0 nor 1"),
]
OF_PARTITIONERS = [
    (LocallyWeighted, option("n_clusters", "x"), "n_clusters must be a whole number of at least 1, got 'x'"),
    (LocallyWeighted, option("theta", 0), "theta must be a positive number, got 0"),
    (EvidenceAccumulation, option("n_clusters", "x"), "n_clusters must be a whole number of at least 1 or 'lifetime'"),
    (EvidenceAccumulation, option("linkage", "x"), "linkage must be one of"),
]


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [*((kind, *one) for kind in (MultinomialMixture, BCE) for one in OF_MODELS), *OF_PARTITIONERS],
)
def test_what_no_fit_can_have_left_is_refused(kind, change, words, tmp_path):
    told = {"n_components": 2, "n_init": 1} if kind in (MultinomialMixture, BCE) else {"n_clusters": 2}
    kind(**told).fit(noisy_copies(40)[0]).save(tmp_path / "method.partita")
    parts = Parts.of(tmp_path / "method.partita")
    change(parts)
    parts.write(tmp_path / "method.partita")
    with pytest.raises(ValueError, match="is not as partita writes files") as refusal:
        partita.load(tmp_path / "method.partita")
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


@needs_metis
def test_a_file_is_read_where_the_solver_is_not_installed(tmp_path, monkeypatch):
    fitted = CSPA(n_clusters=3, random_state=0).fit(noisy_copies()[0])
    fitted.save(tmp_path / "method.partita")
    monkeypatch.setitem(sys.modules, "pymetis", None)
    np.testing.assert_array_equal(partita.load(tmp_path / "method.partita").labels_, fitted.labels_)


@every_method
def test_fitting_leaves_parameters_alone_and_a_clone_is_unfitted(make):
    method = make(3)
    before = repr(method.get_params())
    method.fit(noisy_copies()[0])
    assert repr(method.get_params()) == before
    assert not hasattr(clone(method), "labels_")
    with pytest.raises(NotFittedError):
        clone(method).base_agreement_  # noqa: B018


@every_method
def test_a_failed_fit_is_none(make):
    method = make(3).fit(noisy_copies()[0])
    with pytest.raises(ValueError, match="n_clusters=3 is more than the 2 labelled objects"):
        method.fit(np.array([[0, 0], [1, 1]]))
    assert not hasattr(method, "labels_")


@every_method
@pytest.mark.parametrize("answer", ["predict", "predict_proba", "perplexity", "score_samples", "novelty", "posterior_"])
def test_there_is_no_model_of_new_objects(make, answer):
    method = make(3)
    assert not hasattr(method, answer)
    assert not hasattr(method.fit(noisy_copies()[0]), answer)


@every_method
def test_one_object(make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert make(1).fit(np.array([[0, 4, 2]])).labels_.tolist() == [0]
    assert "transposed" in str(caught[0].message)


@every_method
def test_as_many_clusters_as_objects_that_differ(make):
    Y = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 0, 1], [0, 0, 1]])
    assert make(4).fit(Y).labels_.tolist() == [1, 0, 2, 3, 0]
    with pytest.warns(UserWarning, match="Only 4 of 5 clusters: there are no more different objects"):
        assert make(5).fit(Y).n_clusters_ == 4


@every_method
def test_every_base_clustering_of_other_objects(make):
    """Two halves that share no base clustering: nothing joins them."""
    Y, truth = noisy_copies(80, 2, 6, rate=0.0)
    halves = np.arange(80) % 2 == 0
    Y[np.ix_(halves, [0, 1, 2])] = -1
    Y[np.ix_(~halves, [3, 4, 5])] = -1
    labels = make(4).fit(Y).labels_
    assert adjusted_rand_score(2 * truth + halves, labels) == 1.0


#: Columns that tell no objects apart: of one label, of one label with gaps, and of none.
SILENT = {"one label": np.full(90, 5), "gaps": np.where(np.arange(90) % 3, 5, -1), "none": np.full(90, -1)}


@every_method
@pytest.mark.parametrize("column", SILENT.values(), ids=SILENT)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_columns_that_tell_no_objects_apart_change_nothing(make, column, missing):
    Y = drop_labels(noisy_copies(rate=0.3)[0], missing, 0)
    Y[(Y < 0).all(axis=1), 0] = 0
    plain, padded = make(3).fit(Y), make(3).fit(np.column_stack([Y, column]))
    np.testing.assert_array_equal(padded.labels_, plain.labels_)
    np.testing.assert_allclose(padded.base_agreement_, [*plain.base_agreement_, 0.0], atol=1e-14)
    told = make(3).set_params() if missing else make(3)
    told.n_labels = 7
    np.testing.assert_array_equal(told.fit(np.column_stack([Y, column])).labels_, told.fit(Y).labels_)


@every_method
@pytest.mark.parametrize("silent", [False, True])
def test_parts_that_nothing_joins_are_joined_with_a_warning(make, silent):
    """Three parts. A column of one label joins everything, and says nothing."""
    Y = np.repeat([[0, 0], [1, 1], [2, 2], [2, 3]], 5, axis=0)
    Y = np.column_stack([Y, np.zeros(20, int)]) if silent else Y
    with pytest.warns(
        UserWarning, match=r"n_clusters=2 merges parts .* arbitrary: n_clusters=3 may keep them apart"
    ) as said:
        assert make(2).fit(Y).n_clusters_ == 2
    assert len(said) == 1
    assert adjusted_rand_score(Y[:, 0], make(3).fit(Y).labels_) == 1.0
    assert make(1).fit(Y).n_clusters_ == 1


@every_method
def test_labels_of_silent_columns_alone_are_none(make):
    Y, _ = noisy_copies(rate=0.1)
    padded = np.column_stack([np.vstack([Y, np.full((2, 6), -1)]), np.full(92, 5)])
    words = (
        r"2 objects have no label in any clustering that tells objects apart \(rows 90, 91\): they go with the largest"
    )
    with pytest.warns(UserWarning, match=words):
        labels = make(3).fit(padded).labels_
    np.testing.assert_array_equal(labels, [*make(3).fit(Y).labels_, 0, 0])


@every_method
def test_where_no_column_tells_objects_apart_they_are_one_cluster(make):
    Y = np.column_stack([np.full(6, 4), np.where(np.arange(6) % 2, 1, -1)])
    with pytest.warns(UserWarning, match="Only 1 of 2 clusters: there are no more different objects"):
        assert make(2).fit(Y).labels_.tolist() == [0] * 6
    with pytest.raises(ValueError, match="n_clusters=7 is more than the 6 labelled objects"):
        make(7).fit(Y)


@every_method
@pytest.mark.parametrize(
    ("Y", "words"),
    [
        (np.full((5, 2), -1), "No object has a label in any clustering"),
        (np.array([[0.5, 1.0], [1.0, 2.0]]), "which is no label: numbers that are labels are whole"),
        (np.arange(4), "Y has one dimension"),
    ],
)
def test_what_is_no_ensemble_is_refused(make, Y, words):
    with pytest.raises(ValueError, match=words):
        make(1).fit(Y)


def test_every_name_is_of_its_class():
    for name, kind in METHODS.items():
        assert issubclass(kind, EnsembleEstimator)
        assert kind.name == name
    assert {"cspa", "hgpa", "mcla", "eac", "hbgf", "lwgp"} == {
        name for name in METHODS if issubclass(METHODS[name], Partitioner)
    }


class LabelsOfNumbers(BipartiteCut):
    """Of numbers cut down to a few whole ones: the checks pass measurements, which are refused."""

    def fit(self, Y, y=None):
        if isinstance(Y, list):
            Y = np.array(Y)
        if isinstance(Y, np.ndarray) and Y.ndim == 2 and Y.dtype.kind in "iuf":
            with np.errstate(invalid="ignore"):
                Y = np.where(np.isfinite(Y), np.clip(np.floor(Y), -2, 2) + 3, Y)
        return super().fit(Y, y)


@long
@parametrize_with_checks([LabelsOfNumbers(n_clusters=1, random_state=0)])
@pytest.mark.filterwarnings("ignore:Y h")
@pytest.mark.filterwarnings("ignore:.*no label in any")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
