"""Estimates of draws that are weighed by their entropy, or sampled by these weights."""

import numpy as np
import pytest
from tests.posterior.slow import entropy, noisy_draws, random_weights, slow_expected

from partita.posterior import VI, Binder, Posterior, ZeroOne

WEIGHT_OF_ENTROPY = 3.0


def weighed(draws, weights):
    """Weights times exp(WEIGHT_OF_ENTROPY x entropy to base K), one draw at a time."""
    entropies = [entropy(list(draw)) / np.log(max(len(set(draw)), 2)) for draw in draws]
    factors = np.exp(WEIGHT_OF_ENTROPY * np.array(entropies))
    return weights * factors / (weights @ factors)


@pytest.mark.parametrize("loss", [VI(), Binder(), ZeroOne()], ids=repr)
def test_draws_count_by_their_entropy(loss):
    draws, weights = noisy_draws(3, share=0.4), random_weights(3, 30)
    found = Posterior(draws, weights=weights).estimate(loss=loss, entropy=WEIGHT_OF_ENTROPY)
    used = weighed(draws, weights)
    assert found.expected_loss == pytest.approx(slow_expected(loss, found.labels, draws, used), abs=1e-12)
    assert found.ess == pytest.approx(1.0 / np.square(used).sum())
    again = Posterior(draws, weights=used).estimate(loss=loss)
    np.testing.assert_array_equal(found.labels, again.labels)


def test_dust_gives_way_to_even_clusters():
    """Three of five draws are one cluster and a single object, two are two halves."""
    dusty, even = np.append(np.zeros(39, int), 1), np.repeat([0, 1], 20)
    posterior = Posterior(np.array([dusty] * 300 + [even] * 200))
    np.testing.assert_array_equal(np.bincount(posterior.estimate(loss="zero-one").labels), [39, 1])
    np.testing.assert_array_equal(np.bincount(posterior.estimate(loss="zero-one", entropy=5.0).labels), [20, 20])


def test_sampled_draws_come_up_by_these_weights():
    """The share of the draws that the most probable partition is equal to, over seeds."""
    draws = np.array([[0, 0, 0, 1]] * 5 + [[0, 0, 1, 1]] * 5)
    likely = 1.0 - Posterior(draws).estimate(loss="zero-one", entropy=2.0).expected_loss
    shares = []
    for seed in range(200):
        found = Posterior(draws).estimate(loss="zero-one", entropy=2.0, resample=True, random_state=seed)
        same = np.array_equal(found.labels, [0, 0, 1, 1])
        shares.append(1.0 - found.expected_loss if same else found.expected_loss)
    np.testing.assert_allclose(10 * np.array(shares), np.round(10 * np.array(shares)), atol=1e-9)
    assert np.mean(shares) == pytest.approx(likely, abs=4.5 * np.sqrt(likely * (1 - likely) / 10 / 200))


def test_sampling_is_repeated_by_its_seed():
    posterior = Posterior(noisy_draws(5, share=0.5))
    one, same, other = (posterior.estimate(entropy=1.0, resample=True, random_state=seed) for seed in (1, 1, 2))
    assert one.expected_loss == same.expected_loss != other.expected_loss
