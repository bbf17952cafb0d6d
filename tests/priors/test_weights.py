"""Weights of components: closed moments, the partitions they give, the edges of the parameters."""

from collections import Counter

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, poisson
from tests.oracles.partitions import canonical, counts_agree, partition_probabilities, set_partitions
from tests.volumes import mostly_long, short_and_long

from partita.priors import PRIORS, DirichletProcess, FiniteDirichlet, FiniteMixtures, PitmanYor, StickBreaking

EXAMPLES = [prior for kind in PRIORS.values() for prior in kind.examples()]
every_prior = pytest.mark.parametrize("prior", EXAMPLES, ids=repr)
SHOWN = 4


def stick_moments(first, second, last=None):
    """E w_k and E w_k^2 of independent sticks Beta(first, second); stick ``last`` takes the rest."""
    both = first + second
    taken = np.array([first / both, first * (first + 1) / (both * (both + 1))])
    left = np.array([second / both, second * (second + 1) / (both * (both + 1))])
    if last is not None and last <= taken.shape[1]:
        taken[:, last - 1], left[:, last - 1] = 1.0, 0.0
    return taken * np.cumprod(np.insert(left, 0, 1.0, axis=1), axis=1)[:, :-1]


def moments_given(prior, concentration):
    """E w_k and E w_k^2, (2, SHOWN), at this concentration."""
    k = np.arange(1.0, SHOWN + 1)
    if isinstance(prior, DirichletProcess):
        return stick_moments(np.ones(SHOWN), np.full(SHOWN, concentration))
    if isinstance(prior, PitmanYor):
        return stick_moments(np.full(SHOWN, 1 - prior.discount), concentration + k * prior.discount)
    if isinstance(prior, StickBreaking):
        return stick_moments(np.ones(SHOWN), np.full(SHOWN, concentration), last=prior.n_components)
    if isinstance(prior, FiniteDirichlet):
        h, each = np.array([prior.n_components]), concentration / (1 if prior.as_printed else prior.n_components)
        p = np.ones(1)
    else:
        h, each = np.arange(1, 80), concentration
        p = poisson.pmf(h - 1, prior.mean_components)
    moments = np.array([1 / h, (each + 1) / (h * (h * each + 1))])
    return moments @ (p[:, None] * (h[:, None] >= k))


def moments(prior):
    if not prior.learns_concentration:
        return moments_given(prior, prior.concentration)
    hyperprior = gamma(prior.hyperprior.shape, scale=1 / prior.hyperprior.rate)
    return np.array(
        [
            [
                quad(lambda a, i=i, k=k: moments_given(prior, a)[i, k] * hyperprior.pdf(a), 0, np.inf)[0]
                for k in range(SHOWN)
            ]
            for i in range(2)
        ]
    )


@mostly_long
@every_prior
@short_and_long("n_draws", 1500, 6000)
def test_weights_have_their_mean_and_variance(prior, n_draws):
    rng = np.random.default_rng(11)
    drawn = np.array([prior.sample_weights(SHOWN, rng) for _ in range(n_draws)])
    for power, exact in zip((1, 2), moments(prior), strict=True):
        powers = drawn**power
        error = powers.std(axis=0) / np.sqrt(len(powers))
        assert np.all(np.abs(powers.mean(axis=0) - exact) <= 4 * error + 1e-12)


@mostly_long
@every_prior
@short_and_long("n_draws", 1000, 3000)
def test_rows_that_follow_the_weights_fall_into_the_priors_partitions(prior, n_draws):
    rng = np.random.default_rng(12)
    partitions = list(set_partitions(4))
    seen = Counter()
    for _ in range(n_draws):
        edges = np.cumsum(prior.sample_weights(500, rng))
        components = np.searchsorted(edges, rng.random(4))
        # Two rows beyond 500 components share one with a probability below 1e-5: each is alone.
        alone = np.where(components == 500, 500 + np.arange(4), components)
        seen[canonical(tuple(alone.tolist()))] += 1
    assert counts_agree([seen[labels] for labels in partitions], partition_probabilities(prior, 4))


@every_prior
@pytest.mark.parametrize("n", [0, 1, 3, 30])
def test_weights_are_a_repeatable_subprobability(prior, n):
    weights = prior.sample_weights(n, 3)
    assert weights.shape == (n,)
    assert np.all(weights >= 0)
    assert weights.sum() <= 1 + 1e-12
    np.testing.assert_array_equal(weights, prior.sample_weights(n, np.random.default_rng(3)))


def test_the_first_weights_do_not_depend_on_how_many_are_asked_of_finitely_many():
    for prior in (FiniteDirichlet(n_components=6), FiniteMixtures(mean_components=4.0), StickBreaking(n_components=6)):
        many = prior.sample_weights(50, 8)
        np.testing.assert_array_equal(prior.sample_weights(2, 8), many[:2])
        assert many.sum() == pytest.approx(1, abs=1e-12)
        assert np.all(many[6:] == 0) or isinstance(prior, FiniteMixtures)


@pytest.mark.parametrize("concentration", [5e-324, 1e-300, 1e-20, 1e-3, 1e20, 1e300])
def test_extreme_concentrations_give_weights_that_sum_to_one(concentration):
    rng = np.random.default_rng(1)
    for prior in (
        FiniteDirichlet(n_components=4, concentration=concentration),
        FiniteMixtures(concentration=concentration, mean_components=3.0),
        StickBreaking(n_components=4, concentration=concentration),
    ):
        for _ in range(50):
            weights = prior.sample_weights(60, rng)
            assert weights.sum() == pytest.approx(1, abs=1e-12)
            if concentration < 1e-19:
                assert weights.max() == 1
    infinite = DirichletProcess(concentration=concentration).sample_weights(60, rng)
    assert infinite.sum() <= 1 + 1e-12
    assert infinite[0] == pytest.approx(float(concentration < 1), abs=0.1)


def test_the_winner_among_tiny_weights_is_any_component():
    prior = FiniteDirichlet(n_components=3, concentration=1e-310)
    rng = np.random.default_rng(2)
    winners = np.bincount([prior.sample_weights(3, rng).argmax() for _ in range(3000)], minlength=3)
    assert counts_agree(winners, np.full(3, 1 / 3))
    assert prior.sample_partition(50, 1).max() == 0


def test_a_negative_concentration_of_pitman_yor():
    prior = PitmanYor(concentration=-0.5 + 1e-9, discount=0.5)
    drawn = np.array([prior.sample_weights(5, seed) for seed in range(200)])
    assert np.all(np.isfinite(drawn))
    # The first stick, Beta(0.5, 1e-9), is all but 1.
    assert np.all(drawn[:, 0] > 0.999)
