"""Mixture(power=...): what the option changes, and what it must not."""

import warnings

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from tests.fuzzing.sealing import Parts

import partita
from partita import Mixture, Posterior
from partita.engines import EM
from partita.families import Categorical, Gaussian, LogNormal, Mixed
from partita.families.powered import Powered
from partita.priors import DirichletProcess


def rows(n=40, d=2, apart=5.0):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, d)) + apart * np.repeat([0, 1], n // 2)[:, None]


@pytest.mark.parametrize("engine", ["gibbs", "vb", "cvb"])
def test_a_power_of_one_changes_nothing(engine):
    options = {"draws": 100} if engine == "gibbs" else {}
    plain, told = (Mixture(engine=engine, random_state=0, **options, **power) for power in ({}, {"power": 1}))
    X = rows()
    np.testing.assert_array_equal(plain.fit(X).posterior_.draws, told.fit(X).posterior_.draws)
    np.testing.assert_array_equal(plain.predict_proba(X), told.predict_proba(X))


@pytest.mark.parametrize(
    ("engine", "options"), [("gibbs", {"draws": 50}), ("vb", {}), ("cvb", {}), ("em", {"n_clusters": 2})]
)
def test_less_power_is_less_sure_and_comes_back_from_a_file(engine, options, tmp_path):
    X = rows()
    model = Mixture(engine=engine, power=0.5, family=Gaussian(covariance="diag"), random_state=0, **options).fit(X)
    sure = Mixture(engine=engine, family=Gaussian(covariance="diag"), random_state=0, **options).fit(X)
    between = np.array([[2.2, 2.3]])
    assert model.n_clusters_ == sure.n_clusters_ == 2
    assert model.predict_proba(between).max() < sure.predict_proba(between).max()
    model.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    assert again.power == 0.5
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(again.score_samples(X), model.score_samples(X), rtol=1e-12)


@pytest.mark.parametrize("engine", ["gibbs", "vb"])
def test_densities_of_rows_integrate_to_one(engine):
    options = {"draws": 50} if engine == "gibbs" else {}
    model = Mixture(engine=engine, power=0.5, column_steps=0, random_state=0, **options).fit(rows(d=1))
    grid = np.linspace(-60.0, 60.0, 12_001)[:, None]
    assert trapezoid(np.exp(model.score_samples(grid)), grid[:, 0]) == pytest.approx(1.0, abs=2e-3)


def test_missing_cells_leave_no_full_covariance_to_sampling():
    X = rows(60, 3)
    X[5, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Mixture(power=0.5, draws=20, random_state=0).fit(X)
    assert model.family_ == Gaussian(covariance="diag")
    with pytest.raises(ValueError, match="engine='vb' or 'em'"):
        Mixture(power=0.5, draws=20, family=Gaussian()).fit(X)
    assert Mixture(power=0.5, engine="vb", family=Gaussian(), random_state=0).fit(X).predict_proba(X).shape[0] == 60


@pytest.mark.parametrize("power", [0, -1.0, np.nan, np.inf, "1", True, None])
def test_what_is_no_power_is_refused(power):
    with pytest.raises(ValueError, match="power must be a positive number"):
        Mixture(power=power).fit(rows())


@pytest.mark.parametrize(("engine", "options"), [("gibbs", {"draws": 50}), ("vb", {}), ("em", {"n_clusters": 2})])
@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_an_explanation_adds_up_to_the_log_odds(engine, options, covariance):
    X = rows(100, apart=8.0)
    model = Mixture(power=0.5, engine=engine, family=Gaussian(covariance=covariance), random_state=0, **options).fit(X)
    assert isinstance(model._model.likelihood, Powered)
    between = np.array([[2.2, 2.3]])
    first, second = np.sort(model.predict_proba(between)[0])[::-1][:2]
    assert model.explain(between).total == pytest.approx(np.log(first / second), abs=1e-9)


def words(n=40):
    rng = np.random.default_rng(2)
    kinds = np.repeat([0, 1], n // 2)[:, None]
    return np.where(rng.random((n, 5)) < 0.15, 1 - kinds, kinds).astype(str).astype(object)


def many_kinds():
    return np.column_stack([rows().astype(object), words()])


FAMILIES = {
    "categorical": (Categorical(pseudocount=0.7, column_weight=0.8), words()),
    "mixed": (Mixed(families={"categorical": Categorical(column_weight=0.5)}), many_kinds()),
}


@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize("engine", ["vb", "em"])
def test_files_keep_the_power_of_every_family(kind, engine, tmp_path):
    family, X = FAMILIES[kind]
    options = {"n_clusters": 2} if engine == "em" else {}
    model = Mixture(engine=engine, power=0.6, family=family, random_state=0, **options).fit(X)
    model.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    assert again._model.likelihood.power == 0.6
    assert again._model.likelihood.column_weights == model._model.likelihood.column_weights != ()
    for answer in ("predict_proba", "score_samples", "novelty"):
        np.testing.assert_allclose(getattr(again, answer)(X), getattr(model, answer)(X), rtol=1e-12)


@pytest.mark.parametrize("value", [0, -0.5, float("nan"), float("inf"), "0.5", True, None, [0.5]])
def test_a_file_whose_power_is_none_is_refused(value, tmp_path):
    path = tmp_path / "model.partita"
    Mixture(engine="vb", power=0.5, random_state=0).fit(rows()).save(path)
    parts = Parts.of(path)
    parts.header["mixture"]["power"] = value
    parts.write(path)
    with pytest.raises(ValueError, match="is not as partita writes files"):
        partita.load(path)


def test_a_file_that_says_nothing_of_a_power_has_none(tmp_path):
    path = tmp_path / "model.partita"
    model = Mixture(engine="vb", random_state=0).fit(rows())
    model.save(path)
    parts = Parts.of(path)
    assert parts.header["mixture"].pop("power") == 1.0
    parts.write(path)
    np.testing.assert_array_equal(partita.load(path).predict_proba(rows()), model.predict_proba(rows()))


# --- powers that no float holds -------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["gibbs", "vb", "cvb"])
@pytest.mark.parametrize("raised", [{"power": 100.0}, {"family": Categorical(column_weight=400.0)}], ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_groups_are_found_at_any_power(engine, raised):
    """(1 + 100 c)^(100), c = 60 rows, is beyond what a float holds."""
    X = np.array([["a", "p"]] * 30 + [["b", "q"]] * 30, dtype=object)
    draws = {"draws": 60} if engine == "gibbs" else {}
    model = Mixture(**{"family": Categorical(), "engine": engine, "random_state": 0} | draws | raised).fit(X)
    assert model.n_clusters_ == 2
    assert model.predict_proba(X).max(axis=1).min() > 0.99


# --- units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [Gaussian(), Gaussian(covariance="diag"), LogNormal(covariance="diag")], ids=repr)
@pytest.mark.parametrize("engine", ["vb", "cvb", "em"])
def test_other_units_move_what_is_climbed_by_a_power_of_densities(engine, family):
    X = np.exp(0.3 * rows())
    options = {"n_clusters": 2, "engine": EM(n_init=3, keep_iterations=True)} if engine == "em" else {"engine": engine}
    options = {"family": family, "power": 0.5, "column_steps": 0, "random_state": 0} | options
    one, other = (Mixture(**options).fit(scale * X) for scale in (1.0, 1000.0))
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(1000.0 * X), rtol=1e-6, atol=1e-9)
    moved = -0.5 * X.size * np.log(1000.0)
    name = "loglik_path_" if engine == "em" else "elbo_path_"
    np.testing.assert_allclose(getattr(other, name)[-1] - getattr(one, name)[-1], moved, rtol=1e-8)
    if engine == "em":
        for criterion in ("bic_", "aic_", "icl_"):
            assert getattr(other, criterion) - getattr(one, criterion) == pytest.approx(-2.0 * moved, rel=1e-8)
        assert other.iterations_[-1].objective - one.iterations_[-1].objective == pytest.approx(moved, rel=1e-8)


# --- what draws cost ------------------------------------------------------------------------------


def test_draws_record_the_power_and_cost_what_it_says(tmp_path):
    family, X = Gaussian(covariance="known", variance=0.5, mean=0.0, mean_variance=4.0), rows(d=1)
    options = {"family": family, "standardize": False, "column_steps": 0, "chains": 1, "draws": 5, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        drawn = Mixture(power=0.5, **options).fit(X).posterior_
    assert drawn.provenance["power"] == 0.5
    drawn.save(tmp_path / "draws.partita")
    table = partita.Table.read(X, standardize=False, column_steps=0)
    costs = Posterior.load(tmp_path / "draws.partita").costs(table=table, family=family)
    for draw, likelihood, base in zip(drawn.draws, costs.likelihood, costs.base):
        clusters = [X[draw == k, 0] for k in np.unique(draw)]
        means = [0.5 * x.sum() / 0.5 / (1.0 / 4.0 + 0.5 * x.size / 0.5) for x in clusters]
        each = [norm(mean, np.sqrt(0.5)).logpdf(x).sum() for x, mean in zip(clusters, means)]
        assert likelihood == pytest.approx(-0.5 * sum(each), rel=1e-10)
        assert base == pytest.approx(-norm(0.0, 2.0).logpdf(means).sum(), rel=1e-10)


@pytest.mark.parametrize("value", [0, -1.0, "1", None, [2]])
def test_draws_that_record_no_power_are_refused(value):
    drawn = Posterior([[0, 0, 1]], provenance={"power": value})
    with pytest.raises(ValueError, match="record a power that is no positive number"):
        drawn.costs(table=np.array([[0.1], [0.2], [3.0]]), prior=DirichletProcess(concentration=1.0))


def test_a_family_that_does_not_say_how_often_columns_counted_has_no_costs():
    X, family = words(), Categorical(column_weight=0.5)
    drawn = Mixture(family=family, engine="vb", draws=5, random_state=0).fit(X).posterior_
    assert drawn.provenance["column_weights"] == [0.5]
    prior = DirichletProcess(concentration=1.0)
    for told in (None, Categorical()):
        with pytest.raises(ValueError, match="pass the family that says how often"):
            drawn.costs(table=X, family=told, prior=prior)
    half, whole = (drawn.costs(table=X, family=family, prior=prior), Posterior(drawn.draws).costs(table=X, prior=prior))
    np.testing.assert_allclose(half.likelihood, 0.5 * whole.likelihood, rtol=1e-12)
