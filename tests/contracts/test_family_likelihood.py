"""Densities and expected statistics given parameters, some cells missing, against scipy.stats and plain loops."""

from functools import singledispatch

import numpy as np
import pytest
from scipy import stats as distributions
from scipy.special import logsumexp
from tests.contracts.cases import every_case, every_case_to_any_power, every_continuous_case, make, numbers, plain
from tests.contracts.test_family_terms import both_ways, missing_cells, only
from tests.contracts.test_family_weights import with_gaps
from tests.contracts.toy_family import GammaExponential
from tests.volumes import mostly_long

from partita.families import Categorical, Count, Gaussian
from partita.families.blocks import row_block
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.gamma_poisson import GammaPoisson
from partita.families.normal_inverse_gamma import NormalInverseGamma
from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.families.normal_inverse_wishart_kernels import WishartRows
from partita.families.normal_known_variance import NormalKnownVariance
from partita.families.product import Product
from partita.table import Table

N_CLUSTERS = 3


def some_params(case, seed=101):
    """Parameters of three clusters, drawn given a few rows each."""
    rng = np.random.default_rng(seed)
    return case.likelihood.sample_params(rng, case.stats(*rng.integers(1, 4, (N_CLUSTERS, case.n_rows))))


def some_shares(case, seed=102):
    return np.random.default_rng(seed).dirichlet(np.ones(N_CLUSTERS), case.n_rows)


def rows_with_gaps(case, seed=103):
    return case.likelihood.rows(with_gaps(case.table, np.random.default_rng(seed)))


@singledispatch
def scipy_log_density(likelihood, rows, params, i, k):
    raise NotImplementedError


@scipy_log_density.register
def _(likelihood: NormalInverseWishart, rows, params, i, k):
    seen = ~rows.missing[i]
    if not seen.any():
        return 0.0
    covariance = (params[1][k] @ params[1][k].T)[np.ix_(seen, seen)]
    return distributions.multivariate_normal(params[0][k, seen], covariance).logpdf(rows.x[i, seen])


@scipy_log_density.register
def _(likelihood: NormalInverseGamma, rows, params, i, k):
    return np.nansum(distributions.norm(params[0][k], params[1][k]).logpdf(rows.x[i]))


@scipy_log_density.register
def _(likelihood: NormalKnownVariance, rows, params, i, k):
    return np.nansum(distributions.norm(params[k], np.sqrt(likelihood.variance)).logpdf(rows.x[i]))


@scipy_log_density.register
def _(likelihood: GammaPoisson, rows, params, i, k):
    seen = rows.x[i] >= 0
    return distributions.poisson(params[k, seen]).logpmf(rows.x[i, seen]).sum()


@scipy_log_density.register
def _(likelihood: GammaExponential, rows, params, i, k):
    return np.nansum(distributions.expon(scale=1 / params[k]).logpdf(rows.x[i]))


@scipy_log_density.register
def _(likelihood: DirichletCategorical, rows, params, i, k):
    seen = np.flatnonzero(rows.position[i] >= 0)
    codes = (rows.position[i] - likelihood.offset[:-1])[seen]
    shares = [params[m][k] for m in seen]
    return sum(distributions.multinomial(1, p).logpmf(np.arange(p.size) == code) for p, code in zip(shares, codes))


@scipy_log_density.register
def _(likelihood: Product, rows, params, i, k):
    blocks = zip(likelihood.blocks, likelihood.parts(rows), params)
    return sum(scipy_log_density(block, part, own, i, k) for block, part, own in blocks if own is not None)


@mostly_long
@every_continuous_case
def test_densities_are_those_of_scipy(case):
    params = some_params(case)
    for rows in (case.likelihood.rows(case.table), rows_with_gaps(case)):
        pairs = [[scipy_log_density(case.likelihood, rows, params, i, k) for k in range(3)] for i in range(case.n_rows)]
        np.testing.assert_allclose(case.likelihood.log_likelihood(rows, params), pairs, rtol=1e-9, atol=1e-9)


@every_case_to_any_power
def test_a_row_without_an_observed_cell_has_density_one(case):
    logs = case.likelihood.log_likelihood(rows_with_gaps(case), some_params(case))
    np.testing.assert_array_equal(logs[0], 0.0)
    assert logs[1:].all(axis=1).any()


@every_case_to_any_power
def test_densities_sum_to_that_of_the_statistics(case):
    rows, params, resp = without_gaps(case.rows), some_params(case), some_shares(case)
    summed = case.likelihood.summed_log_likelihood(case.likelihood.suffstats(rows, resp), params)
    logs = case.likelihood.log_likelihood(rows, params)
    np.testing.assert_allclose((resp * logs).sum(axis=0), summed, rtol=1e-9, atol=1e-9)


def without_gaps(rows):
    """Completed rows of a full covariance as rows that never had a gap; others as they are."""
    if isinstance(rows, WishartRows):
        return WishartRows(rows.x, np.zeros_like(rows.missing), np.zeros_like(rows.gaps))
    return type(rows)(*(without_gaps(part) if isinstance(part, tuple) else part for part in rows))


@every_case_to_any_power
@both_ways
def test_terms_sum_to_the_density_and_that_of_a_missing_cell_is_zero(case, reverse):
    params, table = some_params(case), with_gaps(case.table, np.random.default_rng(104))
    rows = case.likelihood.rows(table)
    terms = case.likelihood.log_likelihood_by_column(rows, params, reverse=reverse)
    np.testing.assert_allclose(terms.sum(axis=2), case.likelihood.log_likelihood(rows, params), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(terms.any(axis=1), ~missing_cells(case, table))


@every_case_to_any_power
@both_ways
def test_a_term_is_what_one_more_cell_adds(case, reverse):
    params, names = some_params(case), case.likelihood.column_names(case.table.schema)
    whole = case.likelihood.log_likelihood_by_column(case.likelihood.rows(case.table), params, reverse=reverse)
    before = np.zeros((case.n_rows, N_CLUSTERS))
    order = range(len(names))[:: -1 if reverse else 1]
    for number, j in enumerate(order[:6]):
        rows = case.likelihood.rows(only(case.table, [names[i] for i in order[: number + 1]]))
        after = case.likelihood.log_likelihood(rows, params)
        np.testing.assert_allclose(after - before, whole[:, :, j], rtol=1e-9, atol=1e-9)
        before = after


@singledispatch
def expected_by_loops(likelihood, rows, resp, params):
    return likelihood.suffstats(rows, resp)


@expected_by_loops.register
def _(likelihood: NormalInverseWishart, rows, resp, params):
    """Row by row and cluster by cluster, the textbook's conditional normal with explicit inverses."""
    d = likelihood.mean.size
    n, first, second = np.zeros(N_CLUSTERS), np.zeros((N_CLUSTERS, d)), np.zeros((N_CLUSTERS, d, d))
    for (i, k), r in np.ndenumerate(resp):
        seen, lost = np.flatnonzero(~rows.missing[i]), np.flatnonzero(rows.missing[i])
        mean, covariance = params[0][k], params[1][k] @ params[1][k].T
        slope = covariance[np.ix_(lost, seen)] @ np.linalg.inv(covariance[np.ix_(seen, seen)])
        x, spread = rows.x[i].copy(), np.zeros((d, d))
        x[lost] = mean[lost] + slope @ (x[seen] - mean[seen])
        spread[np.ix_(lost, lost)] = covariance[np.ix_(lost, lost)] - slope @ covariance[np.ix_(seen, lost)]
        n[k], first[k] = n[k] + r, first[k] + r * x
        second[k] += r * (np.outer(x, x) + spread + np.diag(np.where(rows.missing[i], 0.0, likelihood.rounding)))
    return np.hstack([n[:, None], first, second.reshape(N_CLUSTERS, -1)])


@expected_by_loops.register
def _(likelihood: Product, rows, resp, params):
    blocks = zip(likelihood.blocks, likelihood.parts(rows), params)
    return np.hstack([expected_by_loops(block, part, resp, own) for block, part, own in blocks if own is not None])


@every_case
def test_expected_statistics_are_those_of_conditional_normals(case):
    params, resp = some_params(case), some_shares(case)
    for rows in (case.likelihood.rows(case.table), rows_with_gaps(case)):
        expected = expected_by_loops(case.likelihood, rows, resp, params)
        found = case.likelihood.expected_suffstats(rows, resp, params)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@every_case_to_any_power
def test_blocks_of_rows_have_the_same_densities_and_additive_expectations(case):
    params, resp, rows = some_params(case), some_shares(case), rows_with_gaps(case)
    parts = [row_block(rows, 0, 2), row_block(rows, 2, case.n_rows)]
    logs = np.vstack([case.likelihood.log_likelihood(part, params) for part in parts])
    np.testing.assert_allclose(logs, case.likelihood.log_likelihood(rows, params), rtol=1e-12, atol=1e-12)
    sums = [case.likelihood.expected_suffstats(part, r, params) for part, r in zip(parts, (resp[:2], resp[2:]))]
    whole = case.likelihood.expected_suffstats(rows, resp, params)
    np.testing.assert_allclose(sum(sums), whole, rtol=1e-12, atol=1e-12)


@every_case
def test_steps_of_em_never_lower_the_posterior_density(case):
    """Densities, expectations and modes fit together, at the boundary of unbounded densities too."""
    rows, likelihood = rows_with_gaps(case), case.likelihood
    params, heights = likelihood.map_params(likelihood.suffstats(rows, some_shares(case)), least=1e-6), []
    for _ in range(12):
        logs = likelihood.log_likelihood(rows, params)
        total = logsumexp(logs, axis=1)
        heights.append(total.sum() + likelihood.log_prior_density(params).sum())
        resp = np.exp(logs - total[:, None])
        params = likelihood.map_params(likelihood.expected_suffstats(rows, resp, params), least=1e-6)
    assert np.isfinite(heights).all()
    assert (np.diff(heights) >= -1e-9 * np.abs(heights[0])).all()
    assert heights[-1] > heights[0]


class TestFullCovariance:
    def test_the_value_stored_at_a_missing_cell_does_not_matter(self):
        case = make(Gaussian(), plain(numbers(9, 3, n_missing=6)))
        params, resp = some_params(case), some_shares(case)
        rows = case.likelihood.rows(case.table)
        other = rows._replace(x=np.where(rows.missing, 1e3, rows.x))
        for method in (case.likelihood.log_likelihood, case.likelihood.log_likelihood_by_column):
            np.testing.assert_array_equal(method(rows, params), method(other, params))
        expected, found = (case.likelihood.expected_suffstats(part, resp, params) for part in (rows, other))
        np.testing.assert_array_equal(found, expected)

    def test_margins_of_almost_collinear_columns(self):
        """The margin of two columns whose third is nearly their sum: nothing is lost to the covariance's condition."""
        case = make(Gaussian(), plain(numbers(6, 3)))
        factor = np.array([[[1.0, 0.0, 0.0], [0.3, 2.0, 0.0], [1.3, 2.0, 1e-7]]])
        params = np.array([[0.1, -0.2, 0.3]]), factor
        x = case.rows.x * [1.0, 1.0, np.nan]
        rows = WishartRows(np.nan_to_num(x), np.isnan(x), np.ones(6, dtype=bool))
        expected = distributions.multivariate_normal([0.1, -0.2], [[1.0, 0.3], [0.3, 4.09]]).logpdf(x[:, :2])
        np.testing.assert_allclose(case.likelihood.log_likelihood(rows, params)[:, 0], expected, rtol=1e-7)
        stats = case.likelihood.expected_suffstats(rows, np.ones((6, 1)), params)
        total = (x[:, :2] - params[0][0, :2]).sum(axis=1) + 0.3
        np.testing.assert_allclose(stats[0, 3], total.sum(), rtol=1e-7)


class TestZeros:
    """A share or a rate of 0 makes what it forbids impossible, and nothing else."""

    def test_a_category_of_share_zero(self):
        case = make(Categorical(), Table.read(np.array([["a", "p"], ["b", None], [None, "q"]], dtype=object)))
        params = [np.array([[1.0, 0.0], [0.25, 0.75]]), np.array([[0.5, 0.5], [1.0, 0.0]])]
        expected = np.array([[np.log(0.5), np.log(0.25)], [-np.inf, np.log(0.75)], [np.log(0.5), -np.inf]])
        np.testing.assert_allclose(case.likelihood.log_likelihood(case.rows, params), expected)
        terms = case.likelihood.log_likelihood_by_column(case.rows, params)
        np.testing.assert_allclose(terms.sum(axis=2), expected)

    def test_a_count_of_rate_zero(self):
        table = Table.read(np.array([[0.0, 1.0], [2.0, np.nan], [np.nan, 3.0]]), column_types={0: "count", 1: "count"})
        case = make(Count(), table)
        params = np.array([[0.0, 1.0], [2.0, 0.0]])
        expected = np.array([[-1.0, -np.inf], [-np.inf, np.log(2.0) - 2.0], [-1.0 - np.log(6.0), -np.inf]])
        np.testing.assert_allclose(case.likelihood.log_likelihood(case.rows, params), expected)
        terms = case.likelihood.log_likelihood_by_column(case.rows, params)
        np.testing.assert_allclose(terms.sum(axis=2), expected)


@pytest.mark.parametrize("n_rows", [0, 1])
def test_few_rows(n_rows):
    case = make(Gaussian(), plain(numbers(6, 2, n_missing=2)))
    rows = row_block(case.rows, 0, n_rows)
    assert case.likelihood.log_likelihood(rows, some_params(case)).shape == (n_rows, N_CLUSTERS)
