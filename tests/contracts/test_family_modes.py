"""Parameters at the posterior mode: nothing near is better, and the densities are those of scipy.stats."""

from functools import singledispatch

import numpy as np
import pytest
from scipy import stats as distributions
from tests.contracts.cases import every_case, every_case_to_any_power, make, numbers, plain
from tests.contracts.toy_family import GammaExponential
from tests.volumes import mostly_long, short_and_long

from partita.families import Categorical, Count, Gaussian
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.gamma_poisson import GammaPoisson
from partita.families.normal_inverse_gamma import NormalInverseGamma
from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.families.normal_known_variance import NormalKnownVariance
from partita.families.product import Product
from partita.table import Table

N_DRAWS = 300


def three_clusters(case):
    """Statistics of all rows, of all with copies, and of three."""
    copies = np.random.default_rng(91).integers(1, 4, case.n_rows)
    return case.stats(np.ones(case.n_rows), copies, np.arange(case.n_rows) < 3)


def log_joint(case, stats, params):
    return case.likelihood.summed_log_likelihood(stats, params) + case.likelihood.log_prior_density(params)


def moved(params, others, step):
    """Parameters (N) on the way from one cluster's to others: every form of them is convex."""
    if params is None:
        return None
    if isinstance(params, np.ndarray):
        return params + step * (others - params)
    return type(params)(moved(own, other, step) for own, other in zip(params, others))


def cluster(params, k):
    if params is None or isinstance(params, np.ndarray):
        return None if params is None else params[k : k + 1]
    return type(params)(cluster(part, k) for part in params)


@mostly_long
@every_case
def test_no_parameters_near_the_mode_or_far_from_it_are_better(case):
    stats = three_clusters(case)
    modes = case.likelihood.map_params(stats)
    best = log_joint(case, stats, modes)
    rng = np.random.default_rng(92)
    for k in range(len(stats)):
        repeated = np.repeat(stats[k : k + 1], N_DRAWS, axis=0)
        drawn = case.likelihood.sample_params(rng, repeated)
        for step in (1e-3, 0.03, 1.0):
            params = moved(cluster(modes, k), drawn, step)
            assert (log_joint(case, repeated, params) <= best[k] + 1e-9 * max(1.0, abs(best[k]))).all()


@mostly_long
@every_case
@short_and_long("n_draws", 1000, 5000)
def test_the_density_of_rows_is_the_predictive_averaged_over_parameters(case, n_draws):
    one_row = np.arange(case.n_rows) == 2
    given, row = case.stats(np.full(case.n_rows, 20)), case.stats(one_row)
    params = case.likelihood.sample_params(np.random.default_rng(93), np.tile(given, (n_draws, 1)))
    logs = case.likelihood.summed_log_likelihood(np.tile(row, (n_draws, 1)), params)
    exact = case.likelihood.log_marginal(given + row) - case.likelihood.log_marginal(given)
    ratios = np.exp(logs - exact)
    error = ratios.std() / np.sqrt(n_draws)
    assert error < 0.05
    assert abs(ratios.mean() - 1) < 5 * error


@every_case_to_any_power
def test_the_density_of_nothing_is_one(case):
    stats = np.zeros_like(case.stats(np.ones(case.n_rows)))
    params = case.likelihood.sample_params(np.random.default_rng(94), stats)
    assert case.likelihood.summed_log_likelihood(stats, params) == pytest.approx([0.0], abs=1e-12)


@singledispatch
def scipy_prior(likelihood, params, k):
    raise NotImplementedError


@scipy_prior.register
def _(likelihood: NormalKnownVariance, params, k):
    return distributions.norm(0, np.sqrt(likelihood.mean_variance)).logpdf(params[k]).sum()


@scipy_prior.register
def _(likelihood: NormalInverseGamma, params, k):
    mean, deviation = params[0][k], params[1][k]
    variance = distributions.invgamma(likelihood.dof / 2, scale=likelihood.scale / 2).logpdf(deviation**2)
    return (variance + distributions.norm(0, deviation / np.sqrt(likelihood.mean_precision)).logpdf(mean)).sum()


@scipy_prior.register
def _(likelihood: NormalInverseWishart, params, k):
    mean, covariance = params[0][k], params[1][k] @ params[1][k].T
    normal = distributions.multivariate_normal(np.zeros(mean.size), covariance / likelihood.mean_precision)
    return distributions.invwishart(likelihood.dof, likelihood.scale).logpdf(covariance) + normal.logpdf(mean)


@scipy_prior.register(GammaPoisson)
@scipy_prior.register(GammaExponential)
def _(likelihood, params, k):
    return distributions.gamma(likelihood.shape, scale=1 / likelihood.rate).logpdf(params[k]).sum()


@scipy_prior.register
def _(likelihood: DirichletCategorical, params, k):
    shares = [column[k] / column[k].sum() for column in params]
    columns = zip(likelihood.pseudocount, shares)
    return sum(distributions.dirichlet(np.full(own.size, beta)).logpdf(own) for beta, own in columns if own.size > 1)


@scipy_prior.register
def _(likelihood: Product, params, k):
    return sum(scipy_prior(block, own, k) for block, own in zip(likelihood.blocks, params) if own is not None)


@every_case
def test_the_prior_density_is_that_of_scipy(case):
    stats = np.repeat(three_clusters(case), 4, axis=0)
    params = case.likelihood.sample_params(np.random.default_rng(95), stats)
    expected = [scipy_prior(case.likelihood, params, k) for k in range(len(stats))]
    np.testing.assert_allclose(case.likelihood.log_prior_density(params), expected, rtol=1e-9, atol=1e-9)


class TestBoundaries:
    """Where a prior's density is unbounded, the mode is on the boundary and the density infinite."""

    def test_a_category_that_was_not_seen_has_share_zero(self):
        x = np.array([["a", "p"], ["b", "p"], ["a", "q"]], dtype=object)
        case = make(Categorical(pseudocount=0.5), Table.read(x))
        stats = case.stats(np.array([1, 0, 1]))
        shares = case.likelihood.map_params(stats)
        np.testing.assert_allclose(shares[0], [[1.0, 0.0]])
        np.testing.assert_allclose(shares[1], [[0.5, 0.5]])
        assert case.likelihood.log_prior_density(shares) == np.inf
        assert case.likelihood.summed_log_likelihood(stats, shares) == pytest.approx(2 * np.log(0.5))

    def test_categories_of_an_empty_cluster_are_alike(self):
        case = make(Categorical(), Table.read(np.array([["a"], ["b"], ["c"]], dtype=object)))
        shares = case.likelihood.map_params(case.stats(np.zeros(3)))
        np.testing.assert_allclose(shares[0], np.full((1, 3), 1 / 3))
        assert case.likelihood.log_prior_density(shares) == pytest.approx(np.log(2))

    @pytest.mark.parametrize(("shape", "density"), [(0.5, np.inf), (1.0, np.log(2.0)), (2.0, -np.inf)])
    def test_counts_that_are_all_zero(self, shape, density):
        table = Table.read(np.array([[0.0], [0.0], [5.0]]), column_types={0: "count"})
        case = make(Count(shape=shape, rate=2.0), table)
        stats = case.stats(np.array([1, 1, 0]))
        rates = case.likelihood.map_params(stats)
        np.testing.assert_allclose(rates, max(shape - 1.0, 0.0) / 4.0)
        assert case.likelihood.log_prior_density(np.zeros((1, 1))) == pytest.approx([density])
        assert case.likelihood.summed_log_likelihood(stats, np.zeros((1, 1))) == pytest.approx([0.0])


class TestRounding:
    """Sums of squares that lose all their figures, and more, to the square of the mean."""

    @pytest.mark.parametrize("covariance", ["full", "diag"])
    @pytest.mark.parametrize("seed", range(5))
    def test_groups_far_from_the_prior_mean_and_from_each_other(self, covariance, seed):
        x = numbers(40, 3, seed=seed)
        x[20:] += 1e8
        case = make(Gaussian(covariance=covariance, scale=1.0, mean=0.0), plain(x))
        means, factors = case.likelihood.map_params(case.stats(np.arange(40) < 20, np.arange(40) >= 20, np.ones(40)))
        near = case.likelihood.map_params(case.stats(np.arange(40) < 20))
        np.testing.assert_allclose(factors[0], near[1][0], rtol=1e-12)
        np.testing.assert_allclose(means[1:], [[20 / 20.1 * 1e8] * 3, [20 / 40.1 * 1e8] * 3], rtol=1e-6)
        assert np.isfinite(case.likelihood.log_likelihood(case.rows, (means, factors))).all()

    def test_copies_of_a_distant_row_keep_the_scale_of_the_prior(self):
        """With the prior mean worth next to nothing the exact scatter is 0, and what is left of it is rounding."""
        rng = np.random.default_rng(96)
        case = make(Gaussian(scale=1.0, mean=0.0, mean_precision=1e-30), plain(numbers(6, 3)))
        for center in rng.normal(0.0, 1e6, (20, 3)):
            x = np.repeat(center[None], 7, axis=0)
            stats = case.likelihood.suffstats(case.rows._replace(x=x), rng.random((7, 1)))
            factors = case.likelihood.map_params(stats)[1][0]
            mode = factors @ factors.T * (case.likelihood.dof + stats[0, 0] + 5.0)
            assert (np.linalg.eigvalsh(mode - case.likelihood.scale) >= -1e-6).all()
            assert (np.abs(mode - case.likelihood.scale) <= 64 * np.finfo(float).eps * stats[0, 0] * 1e13).all()

    @pytest.mark.parametrize("seed", range(5))
    def test_a_tiny_scale_on_almost_equal_columns(self, seed):
        rng = np.random.default_rng(seed)
        x = np.repeat(rng.normal(size=(30, 1)), 2, axis=1) + 1e-9 * rng.normal(size=(30, 2))
        case = make(Gaussian(scale=1e-15), plain(x))
        stats = case.stats(np.ones(30), np.arange(30) < 12, np.arange(30) < 2)
        factors = case.likelihood.map_params(stats)[1]
        mode = factors @ np.swapaxes(factors, 1, 2)
        expected = case.likelihood._posterior(stats)[4] / (case.likelihood.dof + stats[:, 0] + 4.0)[:, None, None]
        np.testing.assert_allclose(mode, expected, rtol=1e-13)
        assert (np.einsum("kjj->kj", factors) > 0.0).all()

    def test_variances_below_zero_are_taken_as_zero(self):
        case = make(Gaussian(covariance="diag", scale=1e-3, dof=2.0), plain(numbers(6, 2)))
        k = case.likelihood.mean_precision + 4.0
        stats = np.concatenate([[4.0, 4.0], [2.0, 2.0], 4.0 / k - 1.0])[None]
        deviations = case.likelihood.map_params(stats)[1]
        np.testing.assert_allclose(deviations**2, [[1e-3 / 9.0] * 2])
