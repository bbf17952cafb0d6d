"""Files of consensus methods: what comes back, what the page says of them, and what is refused."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from tests.consensus.ensembles import noisy_copies
from tests.files.test_layouts import PAGE, fields_table, members_table
from tests.fuzzing.sealing import Parts

import partita
from partita.consensus import BCE, NBCE, EvidenceAccumulation, MultinomialMixture, drop_labels
from partita.families import Gaussian
from partita.files.json_options import to_json
from partita.files.layouts import CONSENSUS, TABLE_MEMBERS

MODELS = pytest.mark.parametrize("kind", [MultinomialMixture, BCE])


def labels():
    """A frame of text labels with gaps."""
    Y = drop_labels(noisy_copies(rate=0.3)[0], 0.1, 0)
    Y[(Y < 0).all(axis=1), 0] = 0
    return pd.DataFrame(np.array(["u", "v", "w", ""])[Y], columns=list("fedcba")).replace("", None)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file of a fitted model of every kind."""
    folder, paths = tmp_path_factory.mktemp("saved"), {}
    for kind in (MultinomialMixture, BCE):
        paths[kind] = folder / f"{kind.name}.partita"
        kind(n_components=3, n_init=2, random_state=0).fit(labels()).save(paths[kind])
    return paths


@pytest.fixture
def changed(saved, tmp_path):
    """The path of a saved model after a change, sealed again."""

    def write(kind, change):
        parts = Parts.of(saved[kind])
        change(parts)
        parts.write(tmp_path / "changed.partita")
        return tmp_path / "changed.partita"

    return write


@MODELS
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_model_comes_back_with_the_same_answers(kind, smoothing, tmp_path):
    """With smoothing some of the components hold no object; random numbers are such that no seed repeats."""
    Y, rng = labels(), np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Only .* of 25 clusters")
        model = kind(n_components=25, smoothing=smoothing, random_state=rng, n_labels=4, n_init=2, tol=1e-3).fit(Y)
    assert model.n_clusters_ < 25 or not smoothing
    model.save(tmp_path / "model.partita")
    loaded = partita.load(tmp_path / "model.partita")
    assert type(loaded) is kind
    assert loaded.get_params() == model.get_params() | {"random_state": None}
    for name in ("labels_", "probabilities_", "base_agreement_", "feature_names_in_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
    for name in ("n_clusters_", "converged_", "n_iter_"):
        assert getattr(loaded, name) == getattr(model, name)
        assert type(getattr(loaded, name)) is type(getattr(model, name))
    for name, own in model.shares_.items():
        np.testing.assert_array_equal(loaded.shares_[name], own)
    new = Y.iloc[::-1]
    for ask in ("predict", "predict_proba", "score_samples", "perplexity"):
        np.testing.assert_array_equal(getattr(loaded, ask)(new), getattr(model, ask)(new))
    extra = ("weights_", "loglik_path_") if kind is MultinomialMixture else ("alpha_", "bound_path_", "memberships_")
    for name in extra:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
    assert loaded.to_frame().equals(model.to_frame())


def test_a_method_without_a_model_comes_back(tmp_path):
    model = EvidenceAccumulation(n_clusters=3).fit(labels())
    model.save(tmp_path / "eac.partita")
    loaded = partita.load(tmp_path / "eac.partita")
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    np.testing.assert_array_equal(loaded.base_agreement_, model.base_agreement_)
    assert loaded.n_clusters_ == model.n_clusters_
    assert loaded.get_params() == model.get_params()
    assert not hasattr(loaded, "predict")


@pytest.mark.parametrize(
    "model", [MultinomialMixture(n_components=2), BCE(n_components=2), EvidenceAccumulation(n_clusters=2)]
)
def test_what_is_written_is_what_is_described(model, tmp_path):
    model.fit(noisy_copies()[0]).save(tmp_path / "model.partita")
    parts = Parts.of(tmp_path / "model.partita")
    CONSENSUS.check_header(parts.header)
    CONSENSUS.check_arrays(parts.header, parts.arrays)
    assert set(CONSENSUS.arrays(parts.header)) == set(parts.arrays)
    told = {field.path.split(".")[1] for field in CONSENSUS.fields if field.path.startswith("consensus.")}
    assert set(parts.header["consensus"]) == told


def test_the_page_says_what_the_layout_checks():
    assert members_table(CONSENSUS.members[len(TABLE_MEMBERS) :]) in PAGE.read_text()
    own = [field for field in CONSENSUS.fields if field.path in ("models", "consensus.method", "consensus.numbers")]
    assert fields_table(own) in PAGE.read_text()


def test_a_fresh_process_knows_the_method(saved):
    path = saved[MultinomialMixture]
    code = f"import partita; print(partita.load({str(path)!r}).labels_.tolist())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str(partita.load(path).labels_.tolist())


def array(name, edit):
    """A change of one array of the model."""

    def change(parts):
        full = f"models/{parts.header['consensus']['method']}/{name}"
        parts.put(full, edit(parts.arrays[full].copy()))

    return change


def without_model(parts):
    parts.header["models"] = []


def of_another_method(parts):
    parts.header["consensus"]["method"] = "bce" if parts.header["consensus"]["method"] == "mm" else "mm"


@MODELS
@pytest.mark.parametrize(
    "change",
    [
        array("shares", lambda shares: shares[:-1]),
        array("shares", lambda shares: shares * 0.9),
        array("shares", lambda shares: -shares),
        array("shares", lambda shares: shares * np.nan),
        array("prior", lambda prior: prior * 0.0),
        array("prior", lambda prior: prior[:2]),
        array("clusters", np.zeros_like),
        array("clusters", lambda clusters: clusters - 1),
        array("clusters", lambda clusters: clusters.astype(float)),
        array("path", lambda path: path[:0]),
        without_model,
        of_another_method,
        lambda parts: parts.header.pop("models"),
        lambda parts: parts.header["consensus"]["numbers"].pop("n_iter_"),
        lambda parts: parts.header["consensus"]["numbers"].update(converged_=float("nan")),
        lambda parts: parts.header.update(models=["mm", "bce"]),
        lambda parts: parts.put("labels", np.full(90, 5)),
    ],
)
def test_a_model_that_does_not_fit_is_refused(changed, kind, change):
    path = changed(kind, change)
    with pytest.raises(ValueError, match=r"is not as partita writes files|is damaged or incomplete"):
        partita.load(path)


@MODELS
def test_a_method_that_is_not_known_is_refused(changed, kind):
    path = changed(kind, lambda parts: parts.header["consensus"].update(method="mcla2"))
    with pytest.raises(ValueError, match="The file holds a mcla2, which this version of partita does not know"):
        partita.load(path)


# --- NBCE ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learn", [("concentration",), (), ["pseudocount", "concentration"]])
@pytest.mark.parametrize("told", ["auto", "all", 2.5])
def test_an_nbce_comes_back_with_its_votes_and_what_it_learns_in_a_tuple(learn, told, tmp_path):
    nbce = NBCE(engine="vb", votes=told, learn=learn, n_labels=3, random_state=0).fit(noisy_copies()[0])
    nbce.save(tmp_path / "nbce.partita")
    loaded = partita.load(tmp_path / "nbce.partita")
    assert loaded.get_params() == nbce.get_params() | {"learn": tuple(learn)}
    assert loaded.votes_ == nbce.votes_


def test_files_of_before_votes_have_them_all(tmp_path):
    loaded = partita.load(PAGE.parent.parent / "tests" / "files" / "nbce-format-1.partita")
    assert (loaded.votes, loaded.votes_, loaded.learn) == ("all", 4.0, ("concentration",))
    loaded.save(tmp_path / "again.partita")
    assert partita.load(tmp_path / "again.partita").votes == "all"


def option(name, value):
    return lambda parts: parts.header["mixture"]["options"].update({name: to_json(value)})


def weight(value):
    return lambda parts: parts.header["mixture"]["family"]["options"].update(column_weight=value)


@pytest.fixture
def nbce_changed(tmp_path):
    """The path of a saved NBCE with three labels in each of six columns after a change, sealed again."""

    def write(told, change):
        path = tmp_path / "nbce.partita"
        NBCE(engine="vb", votes=told, n_labels=3, random_state=0).fit(noisy_copies()[0]).save(path)
        parts = Parts.of(path)
        change(parts)
        parts.write(path)
        return path

    return write


@pytest.mark.parametrize(
    ("told", "change", "words"),
    [
        ("auto", weight(50.0), "base clusterings have 300 votes, more than the 6 that there are"),
        ("auto", weight(1.01), "base clusterings have 6.06 votes, more than"),
        ("auto", weight(-1.0), "column_weight must be a positive number"),
        ("auto", weight(None), "column_weight must be a positive number"),
        ("all", weight(0.5), "base clusterings have 3 votes, and votes is 'all'"),
        (2.0, weight(0.5), "base clusterings have 3 votes, and votes is 2.0"),
        (2.0, option("votes", 99), "votes=99 are more than the 6 base clusterings that tell objects apart"),
        (2.0, option("votes", [2]), "votes must be 'auto', 'all' or a number"),
        (2.0, option("votes", 4.0), "base clusterings have 2 votes, and votes is 4.0"),
        ("auto", option("n_labels", 2), "n_labels is not how many labels the columns have"),
        ("auto", option("n_labels", [3, 3, 3, 3, 3, 2]), "n_labels is not how many"),
        ("auto", option("n_labels", [3, 3]), "n_labels is not how many"),
        ("auto", option("n_labels", "three"), "n_labels is not how many"),
        ("auto", option("n_labels", {"three": 3}), "n_labels is not how many"),
        ("auto", option("learn", 3), "learn must be a tuple of names"),
        ("auto", lambda parts: parts.header["mixture"].update(family=to_json(Gaussian())), "is no model of labels"),
    ],
)
def test_an_nbce_that_does_not_fit_itself_is_refused(nbce_changed, told, change, words):
    path = nbce_changed(told, change)
    with pytest.raises(ValueError, match="is not as partita writes files") as refusal:
        partita.load(path)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_votes_that_another_rule_has_counted_are_read(nbce_changed):
    assert partita.load(nbce_changed("auto", weight(0.25))).votes_ == 1.5
