"""EM's parameters in the units of the table: they are the density that score_samples has."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp
from tests.contracts.cases import Waiting
from tests.contracts.toy_family import GammaExponential

import partita
from partita import Mixture
from partita.engines import EM
from partita.families import Gaussian, Mixed
from partita.families.normal_known_variance import NormalKnownVariance
from partita.priors import FiniteDirichlet

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rows(n=80, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    return pd.DataFrame(
        {
            "visits": rng.poisson(2 + 6 * group),
            "size": 100.0 + 30.0 * group + rng.normal(0, 5, n),
            "colour": np.where(rng.random(n) < 0.8, np.where(group == 1, "red", "blue"), "green"),
            "weight": -3.0 + 0.2 * group + rng.normal(0, 0.1, n),
            "same": 1.0,
        }
    )


def log_density(model, X):
    """Log density of rows without gaps, from nothing but the parameters."""
    logs = np.tile(np.log(model.weights_), (len(X), 1))
    numbers = [column.name for column in model.table_.schema.numeric]
    for k in range(len(model.weights_)):
        logs[:, k] += stats.multivariate_normal(model.means_[k], model.covariances_[k]).logpdf(X[numbers])
        for j, column in enumerate(model.table_.schema.counts):
            logs[:, k] += stats.poisson(model.rates_[k, j]).logpmf(X[column.name])
        for column in model.table_.schema.categorical:
            with np.errstate(divide="ignore"):
                logs_of_shares = np.log(model.shares_[column.name][k])
            levels = dict(zip(column.levels, logs_of_shares))
            logs[:, k] += X[column.name].map(levels)
    return logsumexp(logs, axis=1)


FAMILIES = {
    "full": Mixed(families={"numeric": Gaussian(covariance="full")}),
    "diagonal": Mixed(),
    "one known": Mixed(families={"weight": Gaussian(covariance="known", variance=0.5)}),
}


@pytest.mark.filterwarnings("ignore:Dropped 1 constant column")
@pytest.mark.parametrize("estimate", ["map", "ml"])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_parameters_are_the_density(family, estimate, tmp_path):
    X = rows()
    prior, engine = FiniteDirichlet(n_components=2), EM(estimate=estimate, n_init=2)
    types = {"visits": "count"}
    model = Mixture(family=family, prior=prior, engine=engine, column_types=types, random_state=0).fit(X)
    np.testing.assert_allclose(log_density(model, X), model.score_samples(X), rtol=1e-9)
    model.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    np.testing.assert_allclose(again.means_, model.means_, rtol=1e-12)
    np.testing.assert_allclose(again.shares_["colour"], model.shares_["colour"], rtol=1e-12)


@pytest.mark.parametrize("family", [Gaussian(covariance="full"), Gaussian(covariance="diag")], ids=["full", "diag"])
def test_parameters_of_one_kind(family):
    X = rows()[["size", "weight"]]
    model = Mixture(family=family, prior=FiniteDirichlet(n_components=3), engine="em", random_state=0).fit(X)
    np.testing.assert_allclose(log_density(model, X), model.score_samples(X), rtol=1e-9)
    assert not hasattr(model, "rates_")
    assert not hasattr(model, "shares_")


def test_iterations_end_with_the_parameters():
    X = rows()[["size", "weight"]].to_numpy()
    engine = EM(keep_iterations=True, n_init=2)
    model = Mixture(prior=FiniteDirichlet(n_components=2), engine=engine, random_state=0).fit(X)
    objectives = [one.objective for one in model.iterations_]
    np.testing.assert_allclose(objectives, model.loglik_path_, rtol=1e-12)
    last = model.iterations_[-1]
    for name in ("weights", "means", "covariances"):
        np.testing.assert_allclose(getattr(last, name), getattr(model, f"{name}_"), rtol=1e-12)
    assert np.abs(model.iterations_[0].means - last.means).max() > 0
    plain = Mixture(prior=FiniteDirichlet(n_components=2), engine=EM(n_init=2), random_state=0).fit(X)
    assert not hasattr(plain, "iterations_")
    np.testing.assert_array_equal(plain.labels_, model.labels_)


def test_the_iterations_can_be_drawn():
    from matplotlib.figure import Figure

    from partita import plots

    X = rows()[["size", "weight"]]
    engine = EM(keep_iterations=True, n_init=1)
    model = Mixture(prior=FiniteDirichlet(n_components=2), engine=engine, random_state=0).fit(X)
    drawn = plots.em_iterations(model, X)
    assert isinstance(np.ravel(drawn)[0].figure, Figure)


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "among others"])
def test_parameters_of_a_family_of_others_have_its_own_names(alone):
    X = pd.DataFrame({"wait": np.exp(rows()["weight"]), "size": rows()["size"], "visits": rows()["visits"]})
    X = X[["wait"]] if alone else X
    family = Waiting() if alone else Mixed(families={"wait": Waiting()})
    prior = FiniteDirichlet(n_components=2)
    model = Mixture(family=family, engine=EM(estimate="ml"), prior=prior, random_state=0).fit(X)
    assert list(model.hazards_) == ["wait"]
    resp = model.predict_proba(X)
    expected = resp.sum(axis=0) / (resp.T @ X["wait"].to_numpy())
    np.testing.assert_allclose(model.hazards_["wait"], expected, rtol=1e-3)
    if alone:
        assert not hasattr(model, "means_")
    else:
        assert np.isnan(model.means_[:, 0]).all()
        assert np.isnan(model.covariances_[:, 0]).all()
        assert np.isfinite(model.covariances_[:, 1, 1]).all()


def test_means_without_covariances_are_in_the_units_of_the_table():
    class MeansOnly(NormalKnownVariance):
        def readable(self, params):
            return {"means": params}

    class OnlyMeans(Gaussian):
        def on_columns(self, table, columns):
            known = Gaussian(covariance="known", variance=0.5).on_columns(table, columns)
            made = object.__new__(MeansOnly)
            vars(made).update(vars(known))
            return made

    X = rows()[["size"]]
    model = Mixture(family=OnlyMeans(), engine="em", prior=FiniteDirichlet(n_components=1), random_state=0).fit(X)
    np.testing.assert_allclose(model.means_, [[X["size"].mean()]], rtol=1e-2)
    assert not hasattr(model, "covariances_")


def test_a_name_that_is_taken_is_refused():
    class Heavy(GammaExponential):
        def readable(self, params):
            return {"weights": params}

    class HeavyFamily(Waiting):
        def on_columns(self, table, columns):
            return Heavy(np.ones(len(columns)), np.ones(len(columns)), columns)

    X = np.random.default_rng(0).exponential(size=(9, 1))
    with pytest.raises(ValueError, match=r"Heavy\.readable calls parameters 'weights', which is taken"):
        Mixture(family=HeavyFamily(), engine="em", prior=FiniteDirichlet(n_components=1), random_state=0).fit(X)
