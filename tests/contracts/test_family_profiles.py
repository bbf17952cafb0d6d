"""Profiles of every family: intervals against draws of the parameters, relevance against simulated rows."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import binom
from tests.contracts.cases import every_case, every_case_to_any_power, every_continuous_case
from tests.contracts.test_family_terms import only
from tests.contracts.toy_family import GammaExponential
from tests.volumes import long, mostly_long, short_and_long

from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.gamma_poisson import GammaPoisson
from partita.families.normal_inverse_gamma import NormalInverseGamma
from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.families.normal_known_variance import NormalKnownVariance
from partita.families.product import Product
from partita.table import Table

LEAST_TAIL = 1e-7  # of a binomial count; some hundred are looked at
LIMIT = 5.2  # standard errors, the same tail
SHARES = np.array([0.5, 0.2, 0.3])
one_or_three_completions = pytest.mark.parametrize("n_completions", [pytest.param(1, marks=long), 3])
some_or_many_draws = short_and_long("n_draws", 400, 2000)

#: Mean and standard deviation, each (K, d), that a draw of the parameters has; shares (K, levels) per column.
READ_PARAMETERS = {
    NormalInverseWishart: lambda model, draw: (model.mean + draw[0], np.sqrt((draw[1] ** 2).sum(axis=2))),
    NormalInverseGamma: lambda model, draw: (model.mean + draw[0], draw[1]),
    NormalKnownVariance: lambda model, draw: (model.mean + draw, np.broadcast_to(np.sqrt(model.variance), draw.shape)),
    GammaPoisson: lambda model, draw: (draw, np.sqrt(draw)),
    GammaExponential: lambda model, draw: (1.0 / draw, 1.0 / draw),
}


def parameters_of(model, draw):
    """What a draw says of each column, in the model's order: {"mean": (K,), "sd": (K,)} or {"share": (K, levels)}."""
    if isinstance(model, Product):
        pairs = [(block, part) for block, part in zip(model.blocks, draw) if part is not None]
        return [column for block, part in pairs for column in parameters_of(block, part)]
    if isinstance(model, DirichletCategorical):
        return [{"share": shares} for shares in draw]
    mean, sd = READ_PARAMETERS[type(model)](model, draw)
    return [{"mean": mean[:, j], "sd": sd[:, j]} for j in range(mean.shape[1])]


def completions(case, n_completions, seed):
    """Statistics (C, K, S) of three clusters, K = 3, of several rows each."""
    rng = np.random.default_rng(seed)
    return np.stack([case.stats(*rng.integers(1, 4, (3, case.n_rows))) for _ in range(n_completions)])


def assert_share_below(below, level):
    """As many of the draws lie below as a quantile of that level says."""
    n_below = np.asarray(below).sum(axis=0)
    assert binom.cdf(n_below, len(below), level).min() > LEAST_TAIL
    assert binom.sf(n_below - 1, len(below), level).min() > LEAST_TAIL


def assert_summary_of(estimate, draws, name):
    """Draws (N, K, ...) have the interval, and the mean, or of a standard deviation the median, that was estimated."""
    if np.ptp(draws, axis=0).max() == 0:  # a known standard deviation, a single level
        for part in estimate:
            np.testing.assert_allclose(part, draws[0], rtol=1e-12)
        return
    assert (estimate.low < estimate.value).all()
    assert (estimate.value < estimate.high).all()
    assert_share_below(draws < estimate.low, 0.025)
    assert_share_below(draws < estimate.high, 0.975)
    if name == "sd":
        assert_share_below(draws < estimate.value, 0.5)
    else:
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
        assert np.abs((draws.mean(axis=0) - estimate.value) / error).max() < LIMIT


@mostly_long
@every_case
@one_or_three_completions
@some_or_many_draws
def test_estimates_and_intervals_are_those_of_drawn_parameters(case, n_completions, n_draws):
    stats = completions(case, n_completions, 71)
    columns = case.likelihood.profile(stats, SHARES)
    assert len(columns) == len(case.table.schema.used)
    rng, each = np.random.default_rng(72), n_draws // n_completions
    many = np.tile(stats, (1, each, 1)).reshape(-1, stats.shape[2])
    drawn = parameters_of(case.likelihood, case.likelihood.sample_params(rng, many))
    for column, parameters in zip(columns, drawn):
        assert {name for name in ("mean", "sd", "share") if getattr(column, name) is not None} == parameters.keys()
        for name, draws in parameters.items():
            own = draws.reshape(n_completions * each, 3, *draws.shape[1:])
            assert_summary_of(getattr(column, name), own, name)


@mostly_long
@every_case_to_any_power
def test_several_equal_completions_are_one(case):
    stats = completions(case, 1, 73)
    once = case.likelihood.profile(stats, SHARES)
    thrice = case.likelihood.profile(np.repeat(stats, 3, axis=0), SHARES)
    for first, second in zip(once, thrice):
        for mine, other in zip(first, second):
            if mine is not None:
                np.testing.assert_allclose(np.stack(mine), np.stack(other), rtol=1e-9, atol=1e-12)


@mostly_long
@every_continuous_case
@some_or_many_draws
def test_relevance_is_the_mean_log_ratio_of_simulated_cells(case, n_draws):
    stats = completions(case, 1, 74)[0]
    found = np.column_stack([column.relevance for column in case.likelihood.profile(stats[None], SHARES)])
    for k in range(3):
        cells = simulated(case, stats[k], n_draws, 75 + k)
        for j, name in list(enumerate(case.likelihood.column_names(case.table.schema)))[:8]:
            rows = case.likelihood.rows(only(Table(case.table.schema, *cells), [name]))
            logs = case.likelihood.log_predictive_by_column(rows, stats)[:, :, j]
            others = np.arange(3) != k
            mixed = logsumexp(logs[:, others], b=SHARES[others] / SHARES[others].sum(), axis=1)
            ratio = logs[:, k] - mixed
            error = ratio.std(ddof=1) / np.sqrt(ratio.size)
            assert abs(ratio.mean() - found[k, j]) < LIMIT * error + 1e-4


def simulated(case, stats, n_draws, seed):
    """Rows of the posterior predictive of one cluster, each with parameters of its own."""
    rng = np.random.default_rng(seed)
    params = case.likelihood.sample_params(rng, np.tile(stats, (n_draws, 1)))
    return case.likelihood.simulate(rng, params, np.arange(n_draws))


@mostly_long
@every_case_to_any_power
def test_relevance_averages_completions(case):
    stats = completions(case, 3, 76)
    together = case.likelihood.profile(stats, SHARES)
    alone = [case.likelihood.profile(one[None], SHARES) for one in stats]
    for j, column in enumerate(together):
        average = np.mean([profile[j].relevance for profile in alone], axis=0)
        np.testing.assert_allclose(column.relevance, average, atol=1e-12)


@every_case_to_any_power
def test_a_single_cluster_needs_no_column(case):
    for column in case.likelihood.profile(completions(case, 2, 77)[:, :1], np.ones(1)):
        np.testing.assert_array_equal(column.relevance, [0.0])


@every_case_to_any_power
def test_an_empty_cluster_has_the_profile_of_the_prior(case):
    nothing = np.zeros_like(completions(case, 1, 78)[:, :2])
    for column in case.likelihood.profile(nothing, np.array([0.3, 0.7])):
        np.testing.assert_allclose(column.relevance, 0.0, atol=1e-12)
        for estimate in (column.mean, column.sd, column.share):
            if estimate is not None:
                for part in estimate:
                    np.testing.assert_array_equal(part[0], part[1])
                    assert np.isfinite(part).all()
