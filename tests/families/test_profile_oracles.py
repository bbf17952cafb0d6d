"""Relevance and intervals against closed forms, long sums, quadrature and root finding."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import logsumexp
from tests.volumes import long

from partita.families.algebra.distributions import NegativeBinomial, Normal, StudentT
from partita.families.algebra.relevance import count_nodes, relevance
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.gamma_poisson import GammaPoisson
from partita.families.normal_inverse_gamma import NormalInverseGamma
from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.families.normal_known_variance import NormalKnownVariance
from partita.families.profiles import quantile

QUADRATURE = 2e-5  # relative error of 100 nodes
ZERO, ONE = np.zeros(1), np.ones(1)
FIRST = np.array([0])


def moments(*samples):
    """Statistics (1, K, 3) of one column."""
    return np.array([[[len(x), np.sum(x), np.sum(np.square(x))] for x in samples]], dtype=float)


def divergence_by_quadrature(log_densities, shares, k, lowest, highest):
    """KL of density k from the mixture of the others by adaptive quadrature."""
    rest = [i for i in range(len(shares)) if i != k]
    weights = shares[rest] / shares[rest].sum()

    def integrand(x):
        logs = np.array([log_density(x) for log_density in log_densities])
        return np.exp(logs[k]) * (logs[k] - logsumexp(logs[rest], b=weights))

    edges = np.linspace(lowest, highest, 40)
    return sum(integrate.quad(integrand, a, b, epsabs=1e-12)[0] for a, b in pairwise(edges))


def test_two_gaussians_of_known_variance_in_closed_form():
    model = NormalKnownVariance(ZERO, np.array([0.5]), np.array([2.0]), FIRST)
    found = model.profile(moments([1.0, 2.0, 1.5], [-3.0]), np.array([0.9, 0.1]))[0].relevance
    precision = 1 / 2.0 + np.array([3, 1]) / 0.5
    mean, variance = np.array([4.5, -3.0]) / 0.5 / precision, 0.5 + 1 / precision
    for k, other in ((0, 1), (1, 0)):
        ratio = variance[k] / variance[other]
        expected = 0.5 * (ratio - 1 - np.log(ratio) + (mean[k] - mean[other]) ** 2 / variance[other])
        assert found[k] == pytest.approx(expected, rel=QUADRATURE)


@pytest.mark.parametrize("ratio", [0.01, 0.3, 1.0, 7.0])
def test_gaussians_of_different_widths_in_closed_form(ratio):
    predictive = Normal(np.zeros((1, 2, 1)), np.array([[[ratio], [1.0]]]))
    found = relevance(predictive, np.array([0.5, 0.5]))[0, 0]
    assert found == pytest.approx(0.5 * (ratio**2 - 1) - np.log(ratio), rel=QUADRATURE, abs=1e-12)


@long
@pytest.mark.parametrize("dof", [1.2, pytest.param(4.0, marks=long), pytest.param(300.0, marks=long)])
def test_three_student_clusters_by_quadrature(dof):
    model = NormalInverseGamma(ZERO, np.array([0.1]), np.array([dof]), ONE, FIRST, True)
    rng, shares = np.random.default_rng(0), np.array([0.6, 0.3, 0.1])
    samples = [rng.normal(center, width, n) for center, width, n in ((0, 1, 9), (3, 0.2, 5), (-1, 4, 2))]
    found = model.profile(moments(*samples), shares)[0].relevance
    _, k, v, mean, scale = model._posterior(moments(*samples)[0])
    densities = [
        stats.t(v[i, 0], mean[i, 0], np.sqrt(scale[i, 0] * (k[i, 0] + 1) / (k[i, 0] * v[i, 0]))).logpdf
        for i in range(3)
    ]
    for i in range(3):
        expected = divergence_by_quadrature(densities, shares, i, -3000, 3000)
        assert found[i] == pytest.approx(expected, rel=1e-3)  # of the tails beyond 3000, dof 3.2 and more


def test_a_column_of_a_full_covariance_is_its_own_marginal():
    scale = np.array([[2.0, 0.9, 0.1], [0.9, 1.0, -0.2], [0.1, -0.2, 0.7]])
    full = NormalInverseWishart(np.array([0.3, 0.0, -1.0]), 0.4, 5.5, scale, np.arange(3))
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 8, 3)) @ np.linalg.cholesky(scale).T + [[[0]], [[2]]] - full.mean
    second = np.einsum("kia,kib->kab", x, x).reshape(2, 9)
    whole = np.hstack([np.full((2, 1), 8.0), x.sum(axis=1), second])[None]
    shares = np.array([0.5, 0.5])
    for j, column in enumerate(full.profile(whole, shares)):
        one = slice(j, j + 1)
        alone = NormalInverseGamma(full.mean[one], np.array([0.4]), np.array([3.5]), scale[one, j], FIRST, True)
        expected = alone.profile(moments(*x[:, :, j]), shares)[0]
        for mine, other in zip(column[:3], expected[:3]):
            np.testing.assert_allclose(np.stack(mine), np.stack(other), rtol=1e-9)


def test_categories_by_hand():
    model = DirichletCategorical(np.array([1.0, 0.5]), np.array([2, 3]), np.arange(2), True)
    counts = np.array([[[2.0, 0, 1, 1, 0], [0.0, 1, 0, 0, 1], [1.0, 1, 0, 2, 0]]])
    shares = np.array([0.25, 0.5, 0.25])
    first, second = model.profile(counts, shares)
    np.testing.assert_allclose(first.share.value, [[3 / 4, 1 / 4], [1 / 3, 2 / 3], [1 / 2, 1 / 2]])
    np.testing.assert_allclose(second.share.value[0], [3 / 7, 3 / 7, 1 / 7])
    np.testing.assert_allclose(first.share.low[0], stats.beta([3, 1], [1, 3]).ppf(0.025))
    np.testing.assert_allclose(first.share.high[0], stats.beta([3, 1], [1, 3]).ppf(0.975))
    rest = 2 / 3 * np.array([1 / 3, 2 / 3]) + 1 / 3 * np.array([1 / 2, 1 / 2])
    expected = 3 / 4 * np.log(3 / 4 / rest[0]) + 1 / 4 * np.log(1 / 4 / rest[1])
    assert first.relevance[0] == pytest.approx(expected, rel=1e-12)


def test_a_column_of_one_level_has_share_one():
    model = DirichletCategorical(np.array([0.3, 1.0]), np.array([1, 2]), np.arange(2), True)
    only, _ = model.profile(np.array([[[4.0, 3, 1], [2.0, 0, 2]]]), np.array([0.5, 0.5]))
    for part in only.share:
        np.testing.assert_array_equal(part, np.ones((2, 1)))
    np.testing.assert_array_equal(only.relevance, [0.0, 0.0])


COUNTS = {
    "few": ([3.0, 20.0, 1.0], [1.2, 4.0, 6.0]),
    "as many as nodes": ([900.0, 1500.0, 40.0], [10.0, 10.0, 2.0]),
    "many": ([4000.0, 90000.0, 800.0], [2.0, 30.0, 1.0]),
    "from zero on": ([1.0, 2.5, 1.3], [1e-3, 2e-3, 1e-2]),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_by_a_long_sum(name):
    shape, rate = (np.array(part) for part in COUNTS[name])
    shares = np.array([0.2, 0.5, 0.3])
    predictive = NegativeBinomial(shape[None, :, None], rate[None, :, None])
    found = relevance(predictive, shares, count_nodes(predictive))[:, 0]
    x = np.arange(60_000)
    logs = stats.nbinom.logpmf(x[:, None], shape, rate / (rate + 1))
    for k in range(3):
        rest = np.arange(3) != k
        mixed = logsumexp(logs[:, rest], b=shares[rest] / shares[rest].sum(), axis=1)
        expected = np.exp(logs[:, k]) @ (logs[:, k] - mixed)
        exact = predictive.ppf(1 - 1e-9)[0, k, 0] < 256
        assert found[k] == pytest.approx(expected, rel=1e-7 if exact else 1e-3)


def test_every_count_within_reach_is_a_node_once():
    predictive = NegativeBinomial(np.array([[[3.0], [20.0]]]), np.array([[[1.2], [4.0]]]))
    nodes = [(x.ravel(), weight.ravel()) for x, weight in count_nodes(predictive)]
    for k in range(2):
        visited = [int(x[k]) for x, weight in nodes if weight[k] > 0]
        assert visited == list(range(int(predictive.ppf(1 - 0.5e-9)[0, k, 0]) + 1))
        assert sum(weight[k] for _, weight in nodes) == pytest.approx(1.0, abs=1e-9)


def test_counts_of_billions_stay_finite():
    model = GammaPoisson(ONE, np.array([1e-9]), FIRST)
    counts = np.array([[[5.0, 5e9, 0.0], [5.0, 5e9 + 5e5, 0.0]]])
    column = model.profile(counts, np.array([0.5, 0.5]))[0]
    # Nearly Gaussian, means 1e9 and 1e9 + 1e5, both of variance 1e9 for the count and 1e9 / 5 for its rate.
    expected = 1e5**2 / (2 * (1e9 + 1e9 / 5))
    np.testing.assert_allclose(column.relevance, expected, rtol=1e-3)
    assert column.mean.value[0] == pytest.approx(1e9, rel=1e-6)
    assert column.sd.value[0] == pytest.approx(np.sqrt(1e9), rel=1e-6)


@pytest.mark.parametrize("level", [0.025, 0.5, 0.6, 0.975])
def test_quantiles_of_completions_are_those_of_their_average(level):
    parameters = np.array([3.0, 9.0, 40.0]), np.array([-4.0, 0.0, 30.0]), np.array([1.0, 0.1, 2.0])
    found = quantile(stats.t(*(p[:, None, None] for p in parameters)), level)[0, 0]
    components = [stats.t(*p) for p in zip(*parameters)]
    expected = optimize.brentq(lambda x: np.mean([c.cdf(x) for c in components]) - level, -50, 100, xtol=1e-12)
    assert found == pytest.approx(expected, abs=1e-9)


def test_noise_is_irrelevant_and_what_separates_is_not():
    rng = np.random.default_rng(3)
    group = np.repeat([0, 1, 2], 400)
    x = np.column_stack([rng.normal(group * 5.0), rng.normal(size=1200), rng.normal(5.0 * (group == 2))])
    model = NormalInverseGamma(np.zeros(3), np.full(3, 0.1), np.full(3, 4.0), np.ones(3), np.arange(3), True)
    resp = np.eye(3)[group]
    stats_ = np.hstack([np.tile(resp.sum(axis=0)[:, None], 3), resp.T @ x, resp.T @ (x * x)])[None]
    first, noise, third = (column.relevance for column in model.profile(stats_, np.full(3, 1 / 3)))
    assert noise.max() < 0.02
    assert first.min() > 2.0
    assert third[2] > 5.0
    assert third[:2].max() < np.log(2) + 0.1  # half of the rest looks the same: at most log 2


@pytest.mark.parametrize(
    ("mine", "scipys"),
    [
        (StudentT(np.array([1.0]), np.array([0.3]), np.array([2.5])), stats.t([2.5], 1.0, 0.3)),
        (StudentT(np.array([1.0]), np.array([0.3]), np.array([2e6])), stats.norm([1.0], 0.3)),
        (Normal(np.array([-2.0]), np.array([4.0])), stats.norm([-2.0], 4.0)),
    ],
)
def test_fast_distributions_are_those_of_scipy(mine, scipys):
    x = np.array([-30.0, -2.0, 0.9, 1.0, 1.1, 50.0])[:, None]
    near = np.abs((x - scipys.mean()) / scipys.std()) < 5
    tolerance = 1e-5 if isinstance(mine, StudentT) and mine.dof > 1e6 else 1e-9
    np.testing.assert_allclose(mine.logpdf(x)[near], scipys.logpdf(x)[near], rtol=tolerance, atol=tolerance)
    for level in (1e-6, 0.025, 0.5, 0.9):
        np.testing.assert_allclose(mine.ppf(level), scipys.ppf(level), rtol=max(tolerance, 1e-8))


def test_negative_binomial_is_that_of_scipy():
    mine, scipys = NegativeBinomial(np.array([2.5]), np.array([0.4])), stats.nbinom(2.5, 0.4 / 1.4)
    x = np.arange(60.0)[:, None]
    np.testing.assert_allclose(mine.logpdf(x), scipys.logpmf(x), rtol=1e-10)
