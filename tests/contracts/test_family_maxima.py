"""Parameters of maximum likelihood, how many there are, and modes off a boundary that the prior allows."""

from functools import singledispatch
from itertools import product

import numpy as np
import pytest
from scipy.special import xlogy
from sklearn.mixture import GaussianMixture
from tests.contracts.cases import every_case, every_case_to_any_power, make, numbers, plain
from tests.contracts.test_family_modes import N_DRAWS, cluster, moved
from tests.contracts.toy_family import GammaExponential
from tests.volumes import mostly_long

from partita.families import Categorical, Count, Gaussian, Mixed
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.gamma_poisson import GammaPoisson
from partita.families.normal_inverse_gamma import NormalInverseGamma
from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.families.normal_known_variance import NormalKnownVariance
from partita.families.product import Product
from partita.table import Table

SINGULAR = "covariance of a component is singular.*raise reg_covar or use estimate='map'"


def flat(params):
    """All numbers of one or more clusters' parameters."""
    if params is None:
        return np.empty(0)
    return params.ravel() if isinstance(params, np.ndarray) else np.concatenate([flat(part) for part in params])


def fractional_stats(case, seed=111):
    """Statistics of all rows, and of all with shares between 0 and 2."""
    return case.stats(np.ones(case.n_rows), np.random.default_rng(seed).uniform(0.1, 2.0, case.n_rows))


@mostly_long
@every_case_to_any_power
def test_no_parameters_near_the_maximum_or_far_from_it_are_better(case):
    stats = fractional_stats(case)
    best_params = case.likelihood.ml_params(stats, 0.0)
    best = case.likelihood.summed_log_likelihood(stats, best_params)
    rng = np.random.default_rng(112)
    for k in range(len(stats)):
        repeated = np.repeat(stats[k : k + 1], N_DRAWS, axis=0)
        drawn = case.likelihood.sample_params(rng, repeated)
        for step in (1e-3, 0.03, 1.0):
            logs = case.likelihood.summed_log_likelihood(repeated, moved(cluster(best_params, k), drawn, step))
            assert (logs < best[k]).all()


@every_case_to_any_power
def test_what_no_cell_speaks_of_is_at_the_mode_of_the_prior(case):
    stats = np.vstack([fractional_stats(case), np.zeros_like(case.stats(np.ones(case.n_rows)))])
    params = case.likelihood.ml_params(stats, 0.2)
    np.testing.assert_array_equal(flat(cluster(params, 2)), flat(case.likelihood.map_params(stats[2:])))
    np.testing.assert_allclose(flat(cluster(params, 0)), flat(case.likelihood.ml_params(stats[:1], 0.2)), rtol=1e-12)


@every_case_to_any_power
def test_multiplied_statistics_have_the_same_maximum(case):
    stats = fractional_stats(case)
    for factor in (1e-9, 1e5):
        expected, found = (flat(case.likelihood.ml_params(part, 0.01)) for part in (stats, factor * stats))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def covariances(params):
    spread = params[1]
    return spread @ np.swapaxes(spread, 1, 2) if spread.ndim == 3 else spread**2


@pytest.mark.parametrize("covariance", ["full", "diag"])
@pytest.mark.parametrize("reg_covar", [0.0, 1e-6, 0.3])
def test_reg_covar_is_that_of_scikit_learn(covariance, reg_covar):
    x = numbers(20, 4)
    case = make(Gaussian(covariance=covariance), plain(x))
    params = case.likelihood.ml_params(case.stats(np.ones(20)), reg_covar)
    peer = GaussianMixture(1, covariance_type=covariance, reg_covar=reg_covar).fit(x)
    np.testing.assert_allclose(params[0] + case.likelihood.mean, peer.means_, rtol=1e-10)
    np.testing.assert_allclose(covariances(params), peer.covariances_, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_shared_out_rows_have_weighted_moments(covariance):
    x, resp = numbers(20, 3), np.random.default_rng(113).dirichlet(np.ones(2), 20)
    case = make(Gaussian(covariance=covariance), plain(x))
    params = case.likelihood.ml_params(case.likelihood.suffstats(case.rows, resp), 0.0)
    for k, weights in enumerate(resp.T):
        np.testing.assert_allclose(params[0][k] + case.likelihood.mean, np.average(x, axis=0, weights=weights))
        whole = np.cov(x.T, aweights=weights, ddof=0)
        expected = whole if covariance == "full" else np.diag(whole)
        np.testing.assert_allclose(covariances(params)[k], expected, rtol=1e-10)


class TestSingular:
    """Fewer rows than the covariance has directions: a clear refusal, or `reg_covar` in the directions that lack."""

    @pytest.mark.parametrize("covariance", ["full", "diag"])
    @pytest.mark.parametrize("n_rows", [1, 3])
    def test_equal_rows(self, covariance, n_rows):
        case = make(Gaussian(covariance=covariance), plain(numbers(6, 2)))
        x = np.repeat(case.rows.x[:1] + 1 / 3, n_rows, axis=0)
        stats = case.likelihood.suffstats(case.rows._replace(x=x), np.full((n_rows, 1), 0.3))
        with pytest.raises(ValueError, match=SINGULAR):
            case.likelihood.ml_params(stats, 0.0)
        params = case.likelihood.ml_params(stats, 1e-6)
        expected = 1e-6 * (np.eye(2) if covariance == "full" else np.ones(2))
        np.testing.assert_allclose(covariances(params)[0], expected, atol=1e-15)
        assert np.isfinite(case.likelihood.log_likelihood(case.rows, params)).all()

    def test_collinear_columns_of_very_different_sizes(self):
        x = numbers(30, 3)
        x[:, 2] = 1e-5 * (x[:, 0] - 2.0 * x[:, 1])
        case = make(Gaussian(), plain(x))
        stats = case.stats(np.ones(30))
        with pytest.raises(ValueError, match=SINGULAR):
            case.likelihood.ml_params(stats, 0.0)
        found = covariances(case.likelihood.ml_params(stats, 1e-12))[0]
        np.testing.assert_allclose(found, np.cov(x.T, ddof=0) + 1e-12 * np.eye(3), rtol=1e-6, atol=1e-14)

    def test_columns_of_very_different_sizes_are_not_singular(self):
        x = numbers(30, 3) * [1.0, 1e-7, 1e7]
        case = make(Gaussian(), plain(x))
        found = covariances(case.likelihood.ml_params(case.stats(np.ones(30)), 0.0))[0]
        scale = np.outer(x.std(axis=0), x.std(axis=0))
        np.testing.assert_allclose(found / scale, np.cov(x.T, ddof=0) / scale, atol=1e-12)

    def test_eigenvalues_below_zero_are_taken_as_zero(self):
        case = make(Gaussian(), plain(numbers(6, 2)))
        scatter = np.array([[2.0, 2.0 + 1e-9], [2.0 + 1e-9, 2.0]])  # eigenvalues 4 + 1e-9 and -1e-9
        stats = np.concatenate([[4.0], [0.0, 0.0], scatter.ravel()])[None]
        eigenvalues = np.linalg.eigvalsh(covariances(case.likelihood.ml_params(stats, 1e-10))[0])
        np.testing.assert_allclose(eigenvalues, [1e-10, 1.0], rtol=1e-5)

    def test_a_block_of_a_mixed_table(self):
        case = make(Mixed(families={"numeric": Gaussian()}), plain(numbers(6, 2)))
        with pytest.raises(ValueError, match=SINGULAR):
            case.likelihood.ml_params(case.stats(np.arange(6) < 2), 0.0)


class TestColumnsWithoutCells:
    """A column that a component has no cell of is at its prior's mode; the others are not touched."""

    def test_diagonal(self):
        x = np.array([[1.0, np.nan], [2.0, np.nan], [4.0, 3.0], [7.0, 5.0]])
        case = make(Gaussian(covariance="diag"), plain(x))
        stats = case.stats(np.array([1, 1, 0, 0]))
        means, deviations = case.likelihood.ml_params(stats, 0.0)
        mode = case.likelihood.map_params(np.zeros_like(stats))
        np.testing.assert_allclose(means + case.likelihood.mean, [[1.5, case.likelihood.mean[1] + mode[0][0, 1]]])
        np.testing.assert_allclose(deviations, [[0.5, mode[1][0, 1]]])

    def test_categories(self):
        table = Table.read(np.array([["a", None], ["b", None], ["b", "p"], ["a", "q"]], dtype=object))
        case = make(Categorical(), table)
        shares = case.likelihood.ml_params(case.stats(np.array([0, 1, 0, 0]), np.array([0, 0, 2, 1])), 0.0)
        np.testing.assert_allclose(shares[0], [[0.0, 1.0], [1 / 3, 2 / 3]])
        np.testing.assert_allclose(shares[1], [[0.5, 0.5], [2 / 3, 1 / 3]])

    def test_counts(self):
        table = Table.read(np.array([[2.0, np.nan], [5.0, 1.0], [5.0, 4.0]]), column_types={0: "count", 1: "count"})
        case = make(Count(shape=3.0, rate=2.0), table)
        np.testing.assert_allclose(case.likelihood.ml_params(case.stats(np.array([1, 0, 0])), 0.0), [[2.0, 1.0]])


@singledispatch
def free_numbers(likelihood, params):
    """How many of one cluster's numbers can be chosen."""
    raise NotImplementedError


@free_numbers.register(GammaPoisson)
@free_numbers.register(GammaExponential)
@free_numbers.register(NormalKnownVariance)
@free_numbers.register(NormalInverseGamma)
def _(likelihood, params):
    return flat(params).size


@free_numbers.register
def _(likelihood: NormalInverseWishart, params):
    return np.count_nonzero(flat(params))  # a triangle of the factors is 0


@free_numbers.register
def _(likelihood: DirichletCategorical, params):
    return flat(params).size - len(params)  # the shares of a column sum to 1


@free_numbers.register
def _(likelihood: Product, params):
    return sum(free_numbers(block, own) for block, own in zip(likelihood.blocks, params) if own is not None)


@every_case
def test_parameters_are_counted(case):
    params = case.likelihood.sample_params(np.random.default_rng(114), case.stats(np.ones(case.n_rows)))
    assert case.likelihood.n_params == free_numbers(case.likelihood, params)
    assert type(case.likelihood.n_params) is int


def prior_allows_zeros(likelihood):
    blocks = likelihood.blocks if isinstance(likelihood, Product) else [likelihood]
    smallest = [getattr(block, name, np.inf) for block in blocks for name in ("pseudocount", "shape")]
    return any(np.any(numbers <= 1.0) for numbers in smallest)


@every_case
def test_least_makes_every_prior_density_finite_and_those_without_zeros_do_not_feel_it(case):
    stats = np.vstack([fractional_stats(case), np.zeros_like(case.stats(np.ones(case.n_rows)))])
    params = case.likelihood.map_params(stats, least=1e-4)
    assert np.isfinite(case.likelihood.log_prior_density(params)).all()
    if not prior_allows_zeros(case.likelihood):
        np.testing.assert_array_equal(flat(params), flat(case.likelihood.map_params(stats)))


class TestLeast:
    """Modes among shares and rates of at least `least`."""

    @pytest.mark.parametrize("pseudocount", [0.5, 1.0])
    @pytest.mark.parametrize("counts", list(product([0.0, 0.3, 0.52, 4.0], repeat=3)))
    def test_no_shares_of_at_least_that_have_a_larger_density(self, counts, pseudocount):
        least = 0.02
        case = make(Categorical(pseudocount=pseudocount), Table.read(np.array([["a"], ["b"], ["c"]], dtype=object)))
        found = case.likelihood.map_params(np.array([counts]), least=least)[0][0]
        steps = np.arange(least, 1.0, 0.01)
        first, second = (grid.ravel() for grid in np.meshgrid(steps, steps))
        shares = np.column_stack([first, second, 1.0 - first - second])
        shares = shares[shares[:, 2] >= least - 1e-12]
        exponents = np.array(counts) + pseudocount - 1.0
        assert found.sum() == pytest.approx(1.0)
        assert found.min() >= least - 1e-12
        assert xlogy(exponents, shares).sum(axis=1).max() <= xlogy(exponents, found).sum() + 1e-9

    def test_shares_that_cannot_all_be_so_large_are_equal(self):
        case = make(Categorical(pseudocount=0.5), Table.read(np.array([["a"], ["b"], ["c"]], dtype=object)))
        shares = case.likelihood.map_params(case.stats(np.array([1, 0, 0])), least=0.5)
        np.testing.assert_allclose(shares[0], np.full((1, 3), 1 / 3))

    def test_no_category_becomes_impossible_under_a_flat_prior(self):
        case = make(Categorical(pseudocount=1.0), Table.read(np.array([["a"], ["b"], ["c"]], dtype=object)))
        stats = case.stats(np.array([3, 0, 0]), np.zeros(3))
        shares = case.likelihood.map_params(stats, least=1e-3)
        np.testing.assert_allclose(shares[0], [[0.998, 1e-3, 1e-3], [1 / 3, 1 / 3, 1 / 3]])
        np.testing.assert_array_equal(case.likelihood.map_params(stats)[0][0], [1.0, 0.0, 0.0])

    @pytest.mark.parametrize("shape", [0.5, 1.0])
    def test_rates(self, shape):
        table = Table.read(np.array([[0.0], [0.0], [5.0]]), column_types={0: "count"})
        case = make(Count(shape=shape, rate=2.0), table)
        stats = case.stats(np.array([1, 1, 0]), np.array([1, 1, 1]))
        np.testing.assert_allclose(case.likelihood.map_params(stats, least=1e-3), [[1e-3], [(4.0 + shape) / 5.0]])
        np.testing.assert_array_equal(case.likelihood.map_params(stats)[0], [0.0])
