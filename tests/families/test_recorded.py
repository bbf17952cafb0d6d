"""Numbers that were recorded in steps: a cell is an interval, in densities, evidence and statistics."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import stats as distributions
from scipy.special import logsumexp

from partita import Mixture
from partita.families import Gaussian
from partita.table import Table

STEPS = np.array([0.8, 1.5])
X = np.array([[-1.2, 0.3], [-0.9, 1.1], [0.1, -0.2], [1.1, 0.9], [1.4, 1.3]])
COVARIANCES = ["full", "diag", "known"]


def recorded(x, steps=STEPS, **options):
    return Table.read(x, standardize=False, column_steps=dict(enumerate(steps)), **options)


def model_of(covariance, table):
    options = {"full": {"dof": 4.0, "scale": 0.8}, "diag": {"dof": 3.0, "scale": 0.9}, "known": {"variance": 0.4}}
    return Gaussian(covariance=covariance, **options[covariance]).resolve(table)


def interval_log_density(x, steps, mean, covariance, n_nodes=20):
    """The mean log density of what lies within half a step of every cell: midpoints of a grid over the box."""
    middles = (np.arange(n_nodes) + 0.5) / n_nodes - 0.5
    box = np.array(list(itertools.product(middles, repeat=len(x)))) * steps
    return distributions.multivariate_normal(mean, covariance).logpdf(x + box).mean()


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_density_is_the_mean_over_the_interval(covariance):
    table = recorded(X)
    model = model_of(covariance, table)
    stats = model.suffstats(model.rows(table), np.ones((len(X), 1)))
    params = model.map_params(stats)
    found = model.log_likelihood(model.rows(table), params)[:, 0]
    said = model.readable(params)
    mean, spread = said["means"][0], said["covariances"][0]
    expected = [interval_log_density(x, STEPS, mean, spread) for x in X]
    np.testing.assert_allclose(found, expected, atol=3e-3)  # of 20 x 20 midpoints
    np.testing.assert_allclose(model.log_likelihood_by_column(model.rows(table), params).sum(axis=2)[:, 0], found)
    np.testing.assert_allclose(model.summed_log_likelihood(stats, params), [found.sum()])


def test_evidence_is_the_integral_of_interval_densities():
    """One column, every number of the prior known: mean and variance integrated out on a grid, nothing conjugate."""
    x, step = np.array([0.2, 0.7, -0.4]), 0.9
    table = recorded(x[:, None], [step])
    model = Gaussian(covariance="diag", mean=0.1, mean_precision=0.5, dof=5.0, scale=2.0).resolve(table)
    means, log_variances = np.linspace(-8, 8, 801), np.linspace(-6, 6, 601)
    mu, s2 = np.meshgrid(means, np.exp(log_variances))
    log_prior = distributions.invgamma(2.5, scale=1.0).logpdf(s2) + distributions.norm(0.1, np.sqrt(s2 / 0.5)).logpdf(
        mu
    )
    middles = ((np.arange(200) + 0.5) / 200 - 0.5) * step
    log_cells = sum(distributions.norm(mu, np.sqrt(s2)).logpdf(cell + u) for cell in x for u in middles) / len(middles)
    cell = np.log((means[1] - means[0]) * (log_variances[1] - log_variances[0]))
    exact = logsumexp(log_prior + np.log(s2) + log_cells) + cell
    found = model.log_marginal(model.suffstats(model.rows(table), np.ones((3, 1))))
    np.testing.assert_allclose(found, [exact], atol=1e-3)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_recorded_row_is_its_corners_a_fraction_of_a_row_each(covariance):
    """x +- h / sqrt(12) have the mean and the squares of the interval: continuous numbers, shared out, say the same."""
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=2))) * STEPS / np.sqrt(12.0)
    spread = (X[:, None] + corners).reshape(-1, 2)
    options = {"mean": 0.0} | ({"mean_variance": 2.0} if covariance == "known" else {"mean_precision": 0.3})
    plain, told = recorded(spread, (0.0, 0.0)), recorded(X)
    family = Gaussian(
        covariance=covariance,
        **options,
        **{"full": {"scale": 0.8}, "diag": {"scale": 0.9}}.get(covariance, {"variance": 0.4}),
    )
    continuous, model = family.resolve(plain), family.resolve(told)
    expected = continuous.suffstats(continuous.rows(plain), np.full((len(spread), 1), 0.25))
    found = model.suffstats(model.rows(told), np.ones((len(X), 1)))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.log_marginal(found), continuous.log_marginal(expected), rtol=1e-12)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_missing_cell_was_not_recorded(covariance):
    x = X.copy()
    x[:, 1] = np.nan
    x[:2, 1] = 0.5, 0.7
    whole, one = recorded(x), recorded(x, (STEPS[0], 0.0))
    stats = [
        model_of(covariance, table).suffstats(model_of(covariance, table).rows(table), np.ones((len(X), 1)))
        for table in (whole, one)
    ]
    difference = stats[0] - stats[1]
    np.testing.assert_allclose(difference[difference != 0.0], [2.0 * STEPS[1] ** 2 / 12.0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("engine", ["gibbs", "vb", "cvb"])
@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_a_step_that_is_small_against_the_spread_changes_nothing(engine, covariance):
    rng = np.random.default_rng(0)
    x = np.vstack([rng.normal(size=(35, 2)), rng.normal(size=(25, 2)) + 8.0])
    options = {"family": Gaussian(covariance=covariance), "engine": engine, "draws": 50, "random_state": 0}
    fits = [Mixture(column_steps=step, **options).fit(x) for step in (0.0, 1e-6)]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    np.testing.assert_allclose(fits[0].score_samples(x), fits[1].score_samples(x), atol=1e-6)


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_three_values_make_no_three_spikes(covariance):
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.normal(size=150), rng.choice([10.0, 60.0, 110.0], 150)])
    options = {"family": Gaussian(covariance=covariance), "random_state": 0, "max_time": 20}
    types = {1: "numeric"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert Mixture(column_types=types, **options).fit(x).n_clusters_ == 1
        assert Mixture(column_types=types, column_steps=0, **options).fit(x).n_clusters_ == 3


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_a_flag_parts_groups_that_differ_in_nothing_else(covariance):
    rng = np.random.default_rng(2)
    flag = np.repeat([0.48, 1.0], [90, 60])
    x = np.column_stack([rng.normal(size=150).round(1), flag])
    model = Mixture(family=Gaussian(covariance=covariance), random_state=0, max_time=20).fit(x)
    assert model.table_.schema.numeric[1].step == 0.0
    assert model.n_clusters_ == 2
    np.testing.assert_array_equal(model.labels_, flag == 1.0)
