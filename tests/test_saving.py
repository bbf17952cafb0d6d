"""A fitted Mixture in a file: what comes back answers as what went in, and a doubtful file is refused."""

import hashlib
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from tests.volumes import mostly_long

import partita
from partita import Mixture, Posterior
from partita.engines import Gibbs
from partita.families import Categorical, Count, Gaussian, Mixed
from partita.files.json_options import from_json, to_json
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, Gamma, PitmanYor, StickBreaking

OLD = Path(__file__).parent / "files" / "mixture-format-1.partita"
FAST = {"chains": 2, "draws": 20, "warmup": 10, "random_state": 3}
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:Dropped 1 constant column"),
]


def mixed_frame(n=40):
    rng = np.random.default_rng(1)
    group = rng.integers(2, size=n)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, 100.0 * group + rng.normal(0, 3, n)),
            "colour": np.where(group == 1, "red", rng.choice(["blue", "green"], n)),
            "visits": rng.poisson(2 + 8 * group),
            "code": rng.choice([10, 20], n),
            "same": 5,
        },
        index=[f"row {i}" for i in range(n)],
    )
    frame.loc["row 3", "colour"] = None
    return frame


def numbers(n=30):
    X = np.random.default_rng(2).normal(size=(n, 2)) + 4 * (np.arange(n) % 2)[:, None]
    X[4, 1] = np.nan
    return X


CASES = {
    "mixed": lambda: (
        Mixture(
            family=Mixed(families={"size": Gaussian(covariance="known", variance=0.3), "categorical": Categorical()}),
            prior=PitmanYor(discount=0.25, concentration=Gamma(2.0, 1.0)),
            column_types={"visits": "count", "code": "categorical"},
            **FAST,
        ),
        mixed_frame(),
    ),
    "automatic": lambda: (Mixture(column_types={"code": "categorical"}, **FAST), pl.from_pandas(mixed_frame())),
    "full with drawn cells": lambda: (Mixture(prior="finite-mixtures", engine=Gibbs(merge_split=2), **FAST), numbers()),
    "diagonal": lambda: (
        Mixture(family=Gaussian(covariance="diag", scale=[0.5, 0.4]), **FAST),
        numbers(),
    ),
    "sticks": lambda: (
        Mixture(family=Gaussian(covariance="known"), prior=StickBreaking(n_components=6), **FAST),
        numbers(),
    ),
    "counts": lambda: (
        Mixture(family=Count(shape=np.array([1.0, 2.0])), column_types={(0, 1): "count"}, **FAST),
        np.random.default_rng(5).poisson([[2, 9]] * 25),
    ),
}  # fmt: skip


def fitted(case):
    model, table = CASES[case]()
    return model.fit(table), table


@mostly_long
@pytest.mark.xdist_group("mixed")
@pytest.mark.parametrize("case", CASES)
def test_what_comes_back_answers_as_what_went_in(case, tmp_path):
    model, table = fitted(case)
    model.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    assert type(again) is Mixture
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert again.prior == model.prior
    assert again.engine == model.engine
    assert repr(again.family) == repr(model.family)
    assert again.column_types == model.column_types
    for name in ("labels_", "probabilities_", "n_clusters_", "converged_", "n_features_in_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.diagnostics_ == model.diagnostics_
    np.testing.assert_array_equal(again.posterior_.draws, model.posterior_.draws)
    assert again.posterior_.provenance == model.posterior_.provenance
    new = table[5:15]
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    np.testing.assert_array_equal(again.novelty(new), model.novelty(new))
    np.testing.assert_array_equal(again.score_samples(new), model.score_samples(new))
    for one, other in zip(again.sample(7), model.sample(7)):
        assert type(one) is type(other)
        assert str(one) == str(other)
    first, second = again.to_frame(), model.to_frame()
    assert type(first) is type(second)
    assert first.equals(second)


@pytest.mark.xdist_group("mixed")
def test_a_refit_of_what_was_loaded_gives_the_same_draws(tmp_path):
    model, table = fitted("mixed")
    model.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    again.fit(table)
    np.testing.assert_array_equal(again.posterior_.draws, model.posterior_.draws)


@pytest.mark.xdist_group("mixed")
def test_names_are_checked_after_loading(tmp_path):
    model, table = fitted("mixed")
    model.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    assert list(again.feature_names_in_) == list(table.columns)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(table.rename(columns={"size": "sighs"}))
    assert again.unseen == model.unseen == "missing"
    model.set_params(unseen="error").save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    with pytest.raises(ValueError, match="'colour' has 1 value not seen in fit: 'pink'"):
        again.predict(table.head(2).assign(colour="pink"))


def test_the_posterior_alone_can_be_read_from_the_same_file(tmp_path):
    model, _ = fitted("diagonal")
    model.save(tmp_path / "model.partita")
    np.testing.assert_array_equal(Posterior.load(tmp_path / "model.partita").draws, model.posterior_.draws)
    model.posterior_.save(tmp_path / "posterior.partita")
    assert type(partita.load(tmp_path / "posterior.partita")) is Posterior


def test_saving_twice_gives_the_same_bytes(tmp_path):
    model, _ = fitted("diagonal")
    for name in ("one", "two"):
        model.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_callback_and_a_generator_are_left_behind(tmp_path):
    model = Mixture(chains=1, draws=5, progress=print, random_state=np.random.default_rng(0)).fit(numbers())
    model.save(tmp_path / "m")
    again = partita.load(tmp_path / "m")
    assert again.progress is False
    assert again.random_state is None
    np.testing.assert_array_equal(again.sample(5)[0], model.sample(5)[0])


def test_an_index_of_times_is_left_behind_and_the_rest_stays(tmp_path):
    frame = pd.DataFrame(numbers(), index=pd.date_range("2024-01-01", periods=30), columns=["a", "b"])
    Mixture(**FAST).fit(frame).save(tmp_path / "m")
    assert list(partita.load(tmp_path / "m").to_frame().index) == list(range(30))


def test_an_index_keeps_its_name(tmp_path):
    frame = pd.DataFrame(numbers(), index=pd.Index(range(100, 130), name="key"), columns=["a", "b"])
    Mixture(**FAST).fit(frame).save(tmp_path / "m")
    index = partita.load(tmp_path / "m").to_frame().index
    assert index.name == "key"
    assert list(index) == list(range(100, 130))


def test_not_fitted():
    with pytest.raises(NotFittedError):
        Mixture().save("nowhere")


def test_a_class_that_is_not_registered_is_named(tmp_path):
    class Private(Gaussian):
        pass

    model = Mixture(family=Private(covariance="diag"), **FAST).fit(numbers())
    with pytest.raises(TypeError, match=r"Private.*cannot be saved.*not registered"):
        model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match=r"family 'mine' is not known here: import the module"):
        from_json({"family": "mine", "options": {}})


@pytest.mark.parametrize(
    "value",
    [
        None,
        0.1 + 0.2,
        "text",
        [1, [2, "x"]],
        {0: "count", "a": [1.5]},
        DirichletProcess(concentration=Gamma(2, 3)),
        FiniteDirichlet(n_components=4),
        FiniteMixtures(),
        Mixed(families={"a": Gaussian(covariance="full", scale=0.3)}),
        Gibbs(merge_split=3),
        np.arange(4.0).reshape(2, 2),
        np.float64(1 / 3),
        float("inf"),
    ],
    ids=repr,
)
def test_options_survive_json(value):
    again = from_json(json.loads(json.dumps(to_json(value))))
    if isinstance(value, np.ndarray):
        assert again.dtype == value.dtype
        np.testing.assert_array_equal(again, value)
    else:
        assert again == value


# --- files that are older, newer or damaged --------------------------------------------------------


def test_a_file_of_format_1_still_loads_and_predicts_as_it_did():
    expected = json.loads(OLD.with_suffix(".json").read_text())
    model = partita.load(OLD)
    assert model.labels_.tolist() == expected["labels"]
    new = pd.DataFrame(expected["new"])
    np.testing.assert_allclose(model.predict_proba(new), expected["predict_proba"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.novelty(new), expected["novelty"], rtol=1e-9, atol=1e-12)
    assert model.posterior_.n_draws == expected["n_draws"]


@pytest.mark.parametrize("name", ["em", "vb", "groups", "nbce"])
def test_files_of_format_1_of_every_engine_still_load_and_are_written_anew(name, tmp_path):
    expected = json.loads((OLD.parent / "engines-format-1.json").read_text())[name]
    rows = np.array(expected["rows"])
    model = partita.load(OLD.parent / f"{name}-format-1.partita")
    model.save(tmp_path / "again.partita")
    for one in (model, partita.load(tmp_path / "again.partita")):
        assert one.labels_.tolist() == expected["labels"]
        assert (one.n_clusters_, bool(one.converged_)) == (expected["n_clusters"], expected["converged"])
        assert one.score(rows if name != "nbce" else rows.astype(int)) == pytest.approx(expected["score"], rel=1e-9)
        for attribute in {"bic_", "n_iter_"} & expected.keys():
            assert getattr(one, attribute) == pytest.approx(expected[attribute], rel=1e-12)


@pytest.mark.parametrize(("n", "family"), [(30, Gaussian(scale=0.5)), (15, Gaussian(covariance="diag", scale=1.0))])
def test_open_options_of_the_first_edition_are_what_they_were(n, family, tmp_path):
    """Two standardised columns: dof 4, half of the variance in a group, mean_precision 0.1, alpha ~ Gamma(1, 1)."""
    rows = numbers(n)
    model = Mixture(family=family, prior=DirichletProcess(concentration=Gamma(1.0, 1.0)), **FAST).fit(rows)
    path = tmp_path / "model.partita"
    model.save(path)
    resealed(path, lambda about: about["mixture"]["options"].update({"family": "auto", "prior": None}))
    resealed(path, lambda about: about["mixture"].pop("family"))
    with pytest.raises(ValueError, match="is not as partita writes files"):
        partita.load(path)
    resealed(path, lambda about: about["mixture"].pop("edition"))
    for _ in range(2):
        again = partita.load(path)
        np.testing.assert_allclose(again.predict_proba(rows), model.predict_proba(rows), rtol=1e-12)
        np.testing.assert_allclose(again.score_samples(rows), model.score_samples(rows), rtol=1e-12)
        assert again._model.prior == model._model.prior
        again.save(path)  # and stays of the first edition


def resealed(path, change):
    """The file after a change of its header, with a right checksum."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    about = json.loads(members["partita.json"])
    change(about)
    members["partita.json"] = json.dumps(about).encode()
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = b"sha256 " + b"0" * 64
        for name, content in members.items():
            archive.writestr(name, content)
    whole = path.read_bytes()
    path.write_bytes(whole[:-64] + hashlib.sha256(whole[:-64]).hexdigest().encode())


def test_newer_damaged_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(OLD.read_bytes()[:-200])
    with pytest.raises(ValueError, match="is damaged or incomplete"):
        partita.load(path)
    path.write_bytes(OLD.read_bytes())
    resealed(path, lambda about: about.update(format_version=2))
    with pytest.raises(ValueError, match=r"newer partita \(format 2; this version reads up to 1\): upgrade"):
        partita.load(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a partita file"):
        partita.load(path)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        partita.load(tmp_path / "none")


def test_every_changed_byte_is_noticed(tmp_path):
    whole = OLD.read_bytes()
    path = tmp_path / "m"
    for position in np.linspace(0, len(whole) - 1, 60).astype(int):
        changed = bytearray(whole)
        changed[position] ^= 0x41
        path.write_bytes(changed)
        with pytest.raises(ValueError, match=r"is damaged or incomplete|is not a partita file"):
            partita.load(path)
