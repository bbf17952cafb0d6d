"""The distribution of the number of clusters: enumeration, means, limits and what is refused."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import roots_genlaguerre
from scipy.stats import gamma
from tests.oracles.partitions import counts_agree, partition_probabilities, set_partitions
from tests.volumes import mostly_long

from partita.priors import PRIORS, DirichletProcess, FiniteDirichlet, FiniteMixtures, Gamma, PitmanYor, StickBreaking

EXAMPLES = [prior for kind in PRIORS.values() for prior in kind.examples()]
every_prior = pytest.mark.parametrize("prior", EXAMPLES, ids=repr)


@mostly_long
@every_prior
@pytest.mark.parametrize("n", range(1, 8))
def test_it_is_the_sum_over_all_partitions(prior, n):
    n_clusters = [max(labels) + 1 for labels in set_partitions(n)]
    enumerated = np.bincount(n_clusters, weights=partition_probabilities(prior, n), minlength=n + 1)
    np.testing.assert_allclose(prior.cluster_count_distribution(n), enumerated, rtol=1e-9, atol=1e-11)


@mostly_long
@every_prior
@pytest.mark.parametrize("n", [1, 10, 200])
def test_it_sums_to_one_and_has_the_expected_number_as_mean(prior, n):
    distribution = prior.cluster_count_distribution(n)
    assert distribution.shape == (n + 1,)
    assert distribution[0] == 0
    assert distribution.sum() == pytest.approx(1, abs=1e-9)
    assert distribution @ np.arange(n + 1) == pytest.approx(prior.expected_clusters(n), rel=1e-9)


@mostly_long
@every_prior
def test_samples_have_it(prior):
    rng = np.random.default_rng(5)
    counts = np.bincount([prior.sample_partition(40, rng).max() + 1 for _ in range(2000)], minlength=41)
    assert counts_agree(counts, prior.cluster_count_distribution(40))


@every_prior
def test_no_rows_have_no_clusters(prior):
    np.testing.assert_array_equal(prior.cluster_count_distribution(0), [1.0])


def test_the_dirichlet_process_has_stirling_numbers():
    distribution = DirichletProcess(concentration=1.0).cluster_count_distribution(5)
    np.testing.assert_allclose(distribution, np.array([0, 24, 50, 35, 10, 1]) / 120, rtol=1e-13)


@pytest.mark.parametrize(
    ("prior", "tolerance"),
    [
        (PitmanYor(concentration=1.4, discount=0.0), 1e-12),
        (StickBreaking(n_components=80, concentration=1.4), 1e-9),
        # The finite Dirichlet is off by O(1/H).
        (FiniteDirichlet(n_components=10**7, concentration=1.4), 1e-6),
    ],
    ids=repr,
)
def test_relatives_reach_the_dirichlet_process(prior, tolerance):
    limit = DirichletProcess(concentration=1.4).cluster_count_distribution(30)
    np.testing.assert_allclose(prior.cluster_count_distribution(30), limit, atol=tolerance)


def test_there_are_never_more_clusters_than_components():
    for prior in (FiniteDirichlet(n_components=4, concentration=2.0), StickBreaking(n_components=4)):
        distribution = prior.cluster_count_distribution(25)
        assert np.all(distribution[1:5] > 0)
        assert np.all(distribution[5:] == 0)


@mostly_long
@pytest.mark.parametrize(
    "kind",
    [
        lambda concentration: DirichletProcess(concentration=concentration),
        lambda concentration: PitmanYor(concentration=concentration, discount=0.5),
        lambda concentration: FiniteMixtures(concentration=concentration, mean_components=8.0),
        lambda concentration: FiniteDirichlet(concentration=concentration, n_components=20),
        lambda concentration: StickBreaking(concentration=concentration, n_components=12),
    ],
)
def test_a_learned_concentration_is_averaged_also_where_peaks_are_narrow(kind):
    learned = kind(Gamma(3.0, 0.2)).cluster_count_distribution(60)
    for k in (1, 6, 11):
        exact, error = quad(
            lambda a, k=k: kind(a).cluster_count_distribution(60)[k] * gamma.pdf(a, 3.0, scale=5.0),
            0.0,
            120.0,
            points=[0.1, 1.0, 5.0, 20.0],
            epsabs=1e-11,
            epsrel=1e-8,
        )
        # Beyond 120 the hyperprior has 1e-8 of its mass, but these numbers of clusters next to nothing.
        assert learned[k] == pytest.approx(exact, abs=2e-8 + error)


def test_many_sticks_under_a_learned_concentration():
    # The mean given a concentration is computed otherwise, and smooth: quadrature over it is exact to 1e-12.
    prior = StickBreaking(n_components=50, concentration=Gamma(4.0, 1.0))
    distribution = prior.cluster_count_distribution(500)
    assert distribution.sum() == pytest.approx(1, abs=1e-12)
    points, weights = roots_genlaguerre(40, 3.0)
    mean = weights @ [prior.expected_clusters_given(500, point) for point in points] / weights.sum()
    assert distribution @ np.arange(501) == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("concentration", [1e-300, 1e-9, 1e9, 1e200])
def test_extreme_concentrations(concentration):
    for prior in (
        DirichletProcess(concentration=concentration),
        PitmanYor(concentration=concentration),
        FiniteMixtures(concentration=concentration),
        FiniteDirichlet(n_components=5, concentration=concentration),
        StickBreaking(n_components=5, concentration=concentration),
    ):
        distribution = prior.cluster_count_distribution(30)
        assert distribution.sum() == pytest.approx(1, abs=1e-9)
        assert distribution @ np.arange(31) == pytest.approx(prior.expected_clusters(30), rel=1e-9)


@pytest.mark.parametrize(
    ("prior", "n"),
    [
        (DirichletProcess(concentration=1.0), 10**6),
        (StickBreaking(n_components=2000), 10**4),
        (StickBreaking(n_components=300), 10**3),
        (FiniteDirichlet(n_components=1000), 10**4),
        (FiniteDirichlet(n_components=2, concentration=1.0), 10**7),
    ],
    ids=repr,
)
def test_what_would_take_minutes_is_refused(prior, n):
    with pytest.raises(ValueError, match=rf"among {n} rows would take about .* seconds.*use expected_clusters"):
        prior.cluster_count_distribution(n)
