"""Closed forms, recursions and known posteriors under each prior."""

import math

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from tests.oracles.partitions import set_partitions

from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, PitmanYor, StickBreaking
from partita.priors.rising import log_rising

GAP = -1


def normal_log_marginal(x):
    """Return log p(x) for x | mu ~ N(mu, 1), mu ~ N(0, 4)."""
    n, total = x.size, x.sum()
    quadratic = x @ x - 4 * total**2 / (1 + 4 * n)
    return -0.5 * (n * math.log(2 * math.pi) + math.log(1 + 4 * n) + quadratic)


def categorical_log_marginal(rows):
    """Return log p(rows) for independent columns of 2, 3, 2 levels under Dirichlet(1/2); -1 is missing."""
    total = 0.0
    for column, n_levels in zip(rows.T, (2, 3, 2)):
        counts = np.bincount(column[column != GAP], minlength=n_levels)
        total += gammaln(n_levels / 2) - gammaln(n_levels / 2 + counts.sum())
        total += np.sum(gammaln(0.5 + counts) - gammaln(0.5))
    return total


def posterior(prior, data, log_marginal):
    """Return (log evidence, partitions, probabilities) by enumeration."""
    partitions = np.array(list(set_partitions(len(data))))
    log_joint = np.array(
        [
            prior.log_probability(labels) + sum(log_marginal(data[labels == k]) for k in range(labels.max() + 1))
            for labels in partitions
        ]
    )
    evidence = logsumexp(log_joint)
    return evidence, partitions, np.exp(log_joint - evidence)


@pytest.mark.parametrize(
    ("prior", "golden"),
    [
        (
            DirichletProcess(concentration=1.0),
            [-15.3129929321, 3.1473369130, 0.2607540372, 0.6800543467, 0.2708610571],
        ),
        (
            PitmanYor(concentration=0.5, discount=0.25),
            [-15.3576764838, 3.5147760493, 0.1945339121, 0.5997528783, 0.2382353635],
        ),
        (FiniteMixtures(), [-15.8069200284, 2.3898611709, 0.6542124481, 0.8699126195, 0.3725186463]),
    ],
    ids=["dp", "py", "mfm"],
)
def test_seven_normal_rows(prior, golden):
    x = np.array([-2.1, -1.9, -2.0, 1.8, 2.2, 2.0, 0.1])
    log_evidence, partitions, p = posterior(prior, x, normal_log_marginal)
    n_clusters = partitions.max(axis=1) + 1
    found = [
        log_evidence,
        p @ n_clusters,
        p @ (n_clusters == 2),
        p @ (partitions[:, 0] == partitions[:, 1]),
        p @ (partitions[:, 0] == partitions[:, 6]),
    ]
    np.testing.assert_allclose(found, golden, atol=2e-10)
    assert partitions[np.argmax(p)].tolist() == [0, 0, 0, 1, 1, 1, 1]


LABELS = np.array([[0, 0, 0], [0, 0, 1], [0, 1, GAP], [1, 2, 1], [1, 2, 0], [GAP, 1, 1]])


@pytest.mark.parametrize(
    ("prior", "evidence", "mean_k", "pair"),
    [
        (StickBreaking(n_components=3, concentration=1.0), -15.5702637824, 2.5400569560, 0.6082659100),
        (FiniteDirichlet(n_components=3, concentration=1.0), -15.9154544883, 2.2797232295, 0.6784318628),
        (DirichletProcess(concentration=1.0), -15.2466133363, 3.2398805789, 0.4585315949),
    ],
    ids=["tsb", "fsd", "crp"],
)
def test_six_rows_of_base_clusterings(prior, evidence, mean_k, pair):
    log_evidence, partitions, p = posterior(prior, LABELS, categorical_log_marginal)
    found = [log_evidence, p @ (partitions.max(axis=1) + 1), p @ (partitions[:, 0] == partitions[:, 1])]
    np.testing.assert_allclose(found, [evidence, mean_k, pair], atol=2e-10)


def test_the_golden_values_see_alpha_in_place_of_alpha_over_components():
    class Misprinted(FiniteDirichlet):
        def shift(self, concentration):
            return concentration

    prior = Misprinted(n_components=3, concentration=1.0)
    log_evidence, _, _ = posterior(prior, LABELS, categorical_log_marginal)
    assert abs(log_evidence + 15.9154544883) > 0.1


@pytest.mark.parametrize(("n", "tolerance"), [(3, 1e-11), (1000, 1e-10), (10**6, 2e-8)])
@pytest.mark.parametrize(("concentration", "mean"), [(1.0, 1.0), (0.3, 25.0), (4.0, 0.1)])
def test_finite_mixtures_recursion(n, tolerance, concentration, mean):
    prior = FiniteMixtures(concentration=concentration, mean_components=mean)
    t = np.arange(1, 300)
    now, _ = prior.tables(n, 301)
    later, _ = prior.tables(n + 1, 301)
    right = np.logaddexp(np.log(n + concentration * t) + later[t], math.log(concentration) + later[t + 1])
    np.testing.assert_allclose(now[t], right, atol=tolerance, rtol=0)


def test_finite_mixtures_tables_agree_with_the_plain_sum():
    prior = FiniteMixtures(concentration=0.7, mean_components=2.0)
    log_v, log_w = prior.tables(9, 4)
    k = np.arange(1, 400)
    for t in range(1, 5):
        ways = np.where(k >= t, gammaln(k + 1) - gammaln(np.maximum(k - t, 0) + 1), -np.inf)
        poisson = (k - 1) * math.log(2.0) - 2.0 - gammaln(k)
        assert log_v[t] == pytest.approx(logsumexp(ways + poisson + gammaln(0.7 * k) - gammaln(0.7 * k + 9)))
    np.testing.assert_allclose(log_w[1:], gammaln(0.7 + np.arange(1, 10)) - gammaln(0.7), rtol=1e-13)


@pytest.mark.parametrize("concentration", [1e-8, 0.3, 7.0, 1e4, 1e10])
def test_dirichlet_process_expectation_is_a_sum(concentration):
    n = 10**5
    direct = math.fsum(concentration / (concentration + np.arange(n)))
    prior = DirichletProcess(concentration=concentration)
    assert prior.expected_clusters(n) == pytest.approx(direct, rel=1e-12)


@pytest.mark.parametrize(
    ("concentration", "discount"),
    [(0.5, 0.25), (-0.2, 0.5), (-0.98, 0.99), (1e5, 0.3), (1.0, 1e-9), (2.0, 0.0)],
)
def test_pitman_yor_expectation_follows_the_urn(concentration, discount):
    expected = 1.0
    for i in range(1, 10**4):
        expected += (concentration + discount * expected) / (concentration + i)
    prior = PitmanYor(concentration=concentration, discount=discount)
    assert prior.expected_clusters(10**4) == pytest.approx(expected, rel=1e-11)


def singletons(prior, n, n_draws, seed):
    rng = np.random.default_rng(seed)
    draws = [np.sum(np.bincount(prior.sample_partition(n, rng)) == 1) for _ in range(n_draws)]
    return np.mean(draws), np.std(draws) / math.sqrt(n_draws)


def test_expected_singletons_of_three_priors():
    n, h, a = 214, 100, 5.0
    b = a / h
    finite = n * math.exp(gammaln(a - b + n - 1) + gammaln(a + 1) - gammaln(a - b) - gammaln(a + n))
    assert finite == pytest.approx(4.04, abs=0.005)
    process = a * n / (a + n - 1)
    for prior, expected, slack in [
        (FiniteDirichlet(n_components=h, concentration=a), finite, 0.0),
        (DirichletProcess(concentration=a), process, 0.0),
        (StickBreaking(n_components=h, concentration=a), 4.92, 0.005),
    ]:
        mean, error = singletons(prior, n, 3000, 8)
        assert abs(mean - expected) < 4 * error + slack


def test_a_million_rows_are_drawn_with_the_expected_number_of_clusters():
    prior = PitmanYor(concentration=2.0, discount=0.5)
    rng = np.random.default_rng(17)
    draws = np.array([prior.sample_partition(10**6, rng).max() + 1 for _ in range(20)])
    error = draws.std(ddof=1) / math.sqrt(draws.size)
    assert abs(draws.mean() - prior.expected_clusters(10**6)) < 4.5 * error


@pytest.mark.parametrize("x", [1e-300, 0.3, 999.0, 1001.0, 1e6, 1e15, 1e300])
def test_log_rising_is_the_sum_of_logs(x):
    terms = np.log(x + np.arange(1000))
    for n in (0, 1, 7, 1000):
        assert log_rising(x, n) == pytest.approx(math.fsum(terms[:n]), rel=1e-13, abs=1e-11)
    both = np.array([0.3, x])
    np.testing.assert_allclose(log_rising(both, 7), [log_rising(0.3, 7), log_rising(x, 7)], rtol=1e-13)
