"""Methods side by side: every column of the frame against what it says that it is."""

import math
import os
import signal
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from tests.consensus.ensembles import categorical, noisy_copies, unconverged_is_fine

from partita import Mixture, Partitions
from partita.consensus import BCE, NBCE, BipartiteCut, EvidenceAccumulation, MultinomialMixture, compare
from partita.consensus.ensemble_estimator import METHODS
from partita.consensus.named_methods import known_methods, method_named, number_option
from partita.metrics import f1_measure, nmi
from partita.table_estimator import TableEstimator

pytestmark = [categorical, unconverged_is_fine]
TOLD = [name for name in METHODS if number_option(METHODS[name]) is not None]


class Strange(TableEstimator, BaseEstimator):
    """Fails, warns, is interrupted or holds an array: what is asked for."""

    def __init__(self, fails="", warns="", megabytes=0, interrupted=False):
        self.fails, self.warns, self.megabytes, self.interrupted = fails, warns, megabytes, interrupted

    def fit(self, Y):
        if self.fails:
            raise ValueError(self.fails)
        if self.warns:
            warnings.warn(self.warns, UserWarning, stacklevel=2)
        if self.interrupted:
            os.kill(os.getpid(), signal.SIGINT)
        np.ones(self.megabytes * 125_000)
        self.labels_ = np.zeros(len(Y.codes), dtype=int)
        return self


def ensemble():
    Y, truth = noisy_copies(rate=0.2)
    Y[::9, 2] = -1
    return Y, truth


def test_scores_are_those_of_the_labels_that_each_method_finds():
    Y, truth = ensemble()
    truth = np.where(np.arange(len(Y)) % 5, truth, -1)
    frame = compare(Y, truth, {"tree": "eac", "cut": BipartiteCut(n_clusters=4, random_state=1)}, n_clusters=3)
    found = [
        EvidenceAccumulation(n_clusters=3).fit(Y).labels_,
        BipartiteCut(n_clusters=4, random_state=1).fit(Y).labels_,
    ]
    known = truth >= 0
    assert list(frame["method"]) == ["tree", "cut"]
    assert list(frame["n_clusters"]) == [3, 4]
    assert list(frame["told"]) == [True, True]
    assert list(frame["note"]) == ["", ""]
    for row, labels in enumerate(found):
        own, theirs = labels[known], truth[known]
        assert frame["adjusted_rand"][row] == pytest.approx(adjusted_rand_score(theirs, own))
        assert frame["nmi"][row] == nmi(theirs, own)
        assert frame["f1"][row] == f1_measure(theirs, own, recall="truth")
        assert frame["f1_as_printed"][row] == f1_measure(theirs, own, recall="found")
        agreement = [adjusted_rand_score(column[column >= 0], labels[column >= 0]) for column in Y.T]
        assert frame["agreement"][row] == pytest.approx(np.mean(agreement))


def test_without_the_truth_its_columns_are_not_there():
    assert list(compare(ensemble()[0], methods=["eac"], n_clusters=2)) == [
        "method", "n_clusters", "told", "agreement", "seconds", "megabytes", "note",
    ]  # fmt: skip


def test_base_clusterings_that_tell_nothing_do_not_count_in_agreement():
    halves = np.repeat([0, 1], 10)
    Y = np.column_stack([halves, 1 - halves, np.zeros(20, int), np.full(20, -1)])
    assert list(compare(Y, methods=["eac"], n_clusters=2)["agreement"]) == [1.0]
    nothing = np.column_stack([np.zeros(20, int)] * 2)
    assert math.isnan(compare(nothing, methods=["eac"], n_clusters=1)["agreement"][0])


def test_those_that_must_be_told_are_told_what_the_first_nbce_finds_and_say_so():
    Y, _ = noisy_copies()
    mine = NBCE(engine="vb", max_clusters=2, random_state=0)
    frame = compare(Y, methods={"cut": "hbgf", "mine": mine, "tree": EvidenceAccumulation(n_clusters="lifetime")})
    assert list(frame["told"]) == [True, False, False]
    told, found, _ = frame["n_clusters"]
    assert told == found == mine.fit(Y).n_clusters_
    assert list(frame["note"]) == ["Told the number of clusters that mine finds.", "", ""]


def test_where_there_is_no_nbce_one_finds_the_number_and_has_no_row():
    Y, _ = noisy_copies()
    frame = compare(Y, methods=["hbgf"], random_state=0)
    assert list(frame["note"]) == ["Told the number of clusters that nbce finds."]
    assert list(frame["n_clusters"]) == [NBCE(random_state=0).fit(Y).n_clusters_]


def test_what_finds_the_number_is_an_nbce_whatever_others_are_called():
    Y, _ = noisy_copies()
    frame = compare(Y, methods={"nbce": "hbgf", "other": "eac"}, random_state=0)
    number = NBCE(random_state=0).fit(Y).n_clusters_
    assert list(frame["n_clusters"]) == [number, number]
    assert list(frame["told"]) == [True, True]
    assert list(frame["note"]) == ["Told the number of clusters that nbce finds."] * 2


def test_a_number_that_is_passed_goes_to_names_and_not_to_estimators():
    frame = compare(ensemble()[0], methods=["hbgf", BipartiteCut(n_clusters=2, random_state=0)], n_clusters=5)
    assert list(frame["n_clusters"]) == [5, 2]
    assert list(frame["method"]) == ["hbgf", "BipartiteCut(n_clusters=2, random_state=0)"]


def test_a_method_that_cannot_run_says_why_and_the_others_run():
    frame = compare(ensemble()[0], [0, 1] * 45, {"bad": Strange(fails="No luck."), "good": "eac"}, n_clusters=2)
    assert list(frame["note"]) == ["No luck.", ""]
    for column in ("n_clusters", "adjusted_rand", "nmi", "f1", "f1_as_printed", "agreement", "seconds", "megabytes"):
        assert math.isnan(frame[column][0])
        assert not math.isnan(frame[column][1]) or column == "megabytes"


@pytest.mark.parametrize(("name", "package"), [("cspa", "pymetis"), ("hgpa", "mtkahypar"), ("mcla", "pymetis")])
def test_a_solver_that_is_absent_is_a_note(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    frame = compare(ensemble()[0], methods=[name, "hbgf"], n_clusters=3)
    assert f"needs the package {package}" in frame["note"][0]
    assert "use solver='spectral'" in frame["note"][0]
    assert math.isnan(frame["n_clusters"][0])
    assert (frame["n_clusters"][1], frame["note"][1]) == (3, "")


def test_where_no_number_is_found_those_that_wait_for_it_say_so(monkeypatch):
    monkeypatch.setattr(NBCE, "fit", lambda self, Y: Strange(fails="No luck.").fit(Y))
    frame = compare(ensemble()[0], methods=["nbce", "hbgf", EvidenceAccumulation(n_clusters=2)])
    first, second, third = frame["note"]
    assert first == "No luck."
    assert second == "It must be told the number of clusters, which nbce could not find: pass n_clusters."
    assert third == ""


def test_warnings_become_notes_each_once():
    frame = compare(ensemble()[0], methods={"one": Strange(warns="Careful.")})
    assert list(frame["note"]) == ["Careful."]


def test_seconds_and_megabytes_are_those_of_each_method():
    """0.8 GB of the one are not counted for the next."""
    frame = compare(ensemble()[0], methods={"much": Strange(megabytes=200), "little": Strange()})
    assert list(frame["seconds"])[1] < 1.0
    much, little = frame["megabytes"]
    if not math.isnan(much):
        assert much == pytest.approx(200, abs=30)
        assert little < 30


@pytest.mark.parametrize("library", [pd, pl])
def test_the_frame_is_of_the_library_that_came_in(library):
    Y, truth = ensemble()
    given = library.DataFrame({f"m{m}": column for m, column in enumerate(Y.T)})
    frame = compare(given, library.Series(truth), ["eac", "hbgf"], n_clusters=3, random_state=0)
    assert isinstance(frame, library.DataFrame)
    plain = compare(Y, truth, ["eac", "hbgf"], n_clusters=3, random_state=0)
    assert list(frame["adjusted_rand"]) == list(plain["adjusted_rand"])
    assert frame["told"].dtype == (bool if library is pd else pl.Boolean)


def test_a_path_and_partitions_are_compared_as_the_array_is(tmp_path):
    Y, truth = ensemble()
    words = np.array(["fig", "plum", "pear", ""])[Y]
    pd.DataFrame(words, columns=list("abcdef")).to_csv(tmp_path / "labels.csv", index=False)
    columns = ["method", "n_clusters", "adjusted_rand", "agreement", "note"]
    plain, *others = (
        compare(form, truth, ["hbgf", "lwgp"], n_clusters=3, random_state=0)
        for form in (Y, tmp_path / "labels.csv", Partitions(Y.T))
    )
    for other in others:
        assert [list(other[name]) for name in columns] == [list(plain[name]) for name in columns]


@pytest.mark.parametrize("kind", [MultinomialMixture, BCE])
def test_labels_that_do_not_occur_count_for_a_method_that_knows_of_them(kind):
    Y, _ = ensemble()
    labels = kind(n_components=3, n_labels=9, n_init=2, random_state=0).fit(Y).labels_
    frame = compare(Y, labels, [kind(n_components=3, n_labels=9, n_init=2, random_state=0)])
    assert list(frame["note"]) == [""]
    assert list(frame["adjusted_rand"]) == [1.0]
    refused = compare(Y, methods=[kind(n_components=3, n_labels=2)])
    assert "has 3 labels, and n_labels says 2" in refused["note"][0]


def test_the_same_seed_gives_the_same_answer_and_order_of_methods_does_not_matter():
    Y, truth = noisy_copies(rate=0.5)
    columns = ["n_clusters", "adjusted_rand", "agreement"]
    one, two = (
        compare(Y, truth, names, n_clusters=4, random_state=7) for names in (["hbgf", "lwgp"], ["lwgp", "hbgf"])
    )
    for column in columns:
        assert list(one[column]) == list(two[column])[::-1]
    alone = BipartiteCut(n_clusters=4, random_state=7).fit(Y).labels_
    assert one["adjusted_rand"][0] == pytest.approx(adjusted_rand_score(truth, alone))


def test_estimators_stay_as_they_were():
    mine = BipartiteCut(n_clusters=3)
    compare(ensemble()[0], methods=[mine])
    assert not hasattr(mine, "labels_")


@pytest.mark.parametrize("name", ["nbce-auto", "nbce-all", *TOLD])
def test_every_name_is_a_method_told_the_number_where_it_must_be(name):
    method = method_named(name, 3, 5)
    assert isinstance(method, known_methods()[name])
    option = number_option(type(method))
    assert (option is None) == (name not in TOLD)
    assert option is None or getattr(method, option) == 3
    assert method.random_state == 5


def test_by_default_there_is_every_method_and_both_nbces():
    Y, truth = noisy_copies(60, 2, 4, rate=0.0)
    frame = compare(Y, truth, random_state=0)
    assert list(frame["method"]) == ["nbce-auto", "nbce-all", *METHODS]
    scores = dict(zip(frame["method"], frame["adjusted_rand"]))
    assert [scores[name] for name in ("nbce-auto", "nbce-all", "eac", "hbgf", "lwgp")] == [1.0] * 5


def test_a_mixture_reads_labels_too():
    Y, truth = noisy_copies()
    frame = compare(Y, truth, {"mixture": Mixture(engine="vb", random_state=0)})
    assert (frame["note"][0], frame["adjusted_rand"][0]) == ("", 1.0)


@pytest.mark.parametrize(
    ("methods", "error", "words"),
    [
        ([], ValueError, "methods holds none"),
        ("hbgf", TypeError, "methods must be a list of short names and estimators, or a mapping, got 'hbgf'"),
        (["hbg"], ValueError, r"methods must be one of .*; got 'hbg'\. Did you mean 'hbgf'\?"),
        ([BipartiteCut], TypeError, "which is no estimator of partita, such as NBCE"),
        ([3], TypeError, "methods holds 3, which is no estimator of partita, such as NBCE"),
        (["eac", KMeans(2)], TypeError, r"methods holds KMeans\(n_clusters=2\), which is no estimator of partita"),
        (["eac", "eac"], ValueError, "methods holds 'eac' twice: pass a mapping"),
    ],
)
def test_wrong_methods_are_refused(methods, error, words):
    with pytest.raises(error, match=words):
        compare(ensemble()[0], methods=methods, n_clusters=2)


def test_other_wrong_options_are_refused():
    Y, truth = ensemble()
    with pytest.raises(ValueError, match="n_clusters must be a whole number of at least 1, got 0"):
        compare(Y, n_clusters=0)
    with pytest.raises(ValueError, match="random_state must be"):
        compare(Y, random_state="x")
    with pytest.raises(ValueError, match="truth"):
        compare(Y, truth[:-1], ["eac"], n_clusters=2)


@pytest.mark.parametrize("nothing", [math.nan, None, -1])
def test_a_truth_that_labels_no_object_is_refused(nothing):
    Y, _ = ensemble()
    with pytest.raises(ValueError, match="truth labels no object: leave it out if no classes are known"):
        compare(Y, [nothing] * len(Y), ["eac"], n_clusters=2)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_leaves_also_where_a_method_would_answer_it():
    with pytest.raises(KeyboardInterrupt):
        compare(ensemble()[0], methods={"one": Strange(interrupted=True), "two": Strange()})
