"""Entropy regularisation: weights against their definition, and warnings where few draws are left."""

import warnings

import numpy as np
import pytest
from tests.oracles.partitions import counts_agree

from partita.metrics import partition_entropy
from partita.partitions import Partitions
from partita.posterior import EffectiveSampleSizeWarning, Posterior
from partita.posterior.entropy import are_few, entropy_weights, normalized_entropy, resampled_weights, warn_if_few


@pytest.fixture
def posterior():
    rng = np.random.default_rng(5)
    weights = np.where(rng.random(60) < 0.2, 0.0, rng.exponential(size=60))
    return Posterior(rng.integers(-1, 4, size=(3, 20, 12)), weights=weights, provenance={"seed": 3})


def entropy_to_base_k(labels):
    n_clusters = len(set(labels[labels >= 0]))
    return partition_entropy(labels) / np.log(n_clusters) if n_clusters > 1 else 0.0


def test_entropy_is_to_the_base_of_the_number_of_clusters():
    draws = [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 2, 3], [0, 0, 0, 1], [0, 1, -1, -1], [-1] * 4]
    expected = [0.0, 1.0, 1.0, -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25)), 1.0, 0.0]
    np.testing.assert_allclose(normalized_entropy(Partitions(draws)), expected, atol=1e-15)


@pytest.mark.parametrize("entropy", [-7.5, 0.3, 20, np.float32(2.0)])
@pytest.mark.filterwarnings("ignore::partita.posterior.EffectiveSampleSizeWarning")
def test_weights_are_the_old_ones_times_the_factor(posterior, entropy):
    factors = np.exp([float(entropy) * entropy_to_base_k(draw) for draw in posterior.draws])
    expected = posterior.weights * factors
    regularized = posterior.regularize_entropy(entropy)
    np.testing.assert_allclose(regularized.weights, expected / expected.sum(), rtol=1e-12)
    assert regularized.weights.sum() == pytest.approx(1.0, abs=1e-14)
    assert regularized.ess == pytest.approx(1 / np.sum(regularized.weights**2))


def test_zero_changes_nothing_bit_for_bit(posterior):
    np.testing.assert_array_equal(posterior.regularize_entropy(0).weights, posterior.weights)


def test_everything_but_the_weights_is_kept(posterior):
    regularized = posterior.regularize_entropy(0.1).regularize_entropy(-0.1)
    assert regularized.partitions is posterior.partitions
    for name, trace in posterior.traces.items():
        np.testing.assert_array_equal(regularized.traces[name], trace)
    assert regularized.provenance == {"seed": 3, "reweighted": [{"entropy": 0.1}, {"entropy": -0.1}]}
    np.testing.assert_allclose(regularized.weights, posterior.weights, rtol=1e-12)
    assert posterior.provenance == {"seed": 3}


def test_labels_and_order_of_objects_do_not_matter(posterior):
    rng = np.random.default_rng(6)
    draws = posterior.draws[:, rng.permutation(posterior.n_objects)].astype(int)
    names = np.append(rng.permutation(4), -1)
    again = entropy_weights(Partitions(names[draws]), posterior.weights, 1e15)
    np.testing.assert_array_equal(again, entropy_weights(posterior.partitions, posterior.weights, 1e15))


@pytest.mark.parametrize(("entropy", "kept"), [(1e300, 2), (-1e300, 0)])
def test_all_weight_on_one_draw_is_right_and_a_warning(entropy, kept):
    draws = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 2, 3]]
    posterior = Posterior(draws, weights=[1, 1, 1, 0])
    with pytest.warns(EffectiveSampleSizeWarning, match=r"leaves 1\.0 effective draws of 3, 100% on a single one"):
        regularized = posterior.regularize_entropy(entropy)
    np.testing.assert_array_equal(regularized.weights, np.arange(4) == kept)
    assert regularized.ess == 1.0


@pytest.mark.parametrize("entropy", [np.nan, np.inf, -np.inf, "20", None, True, [1.0]])
def test_an_entropy_that_is_no_number_is_refused(posterior, entropy):
    with pytest.raises(ValueError, match="entropy must be a finite number"):
        posterior.regularize_entropy(entropy)


class TestFew:
    def test_the_rule(self):
        even = np.full(1000, 0.001)
        assert not are_few(even, even)
        assert not are_few(np.repeat([1 / 101, 0], [101, 899]), even)
        assert are_few(np.repeat([1 / 99, 0], [99, 901]), even)
        short = np.full(30, 1 / 30)
        assert not are_few(short, short)
        assert not are_few(np.repeat([1 / 16, 0], [16, 14]), short)
        assert are_few(np.repeat([1 / 14, 0], [14, 16]), short)
        three = np.full(3, 1 / 3)
        assert are_few(np.array([0.6, 0.2, 0.2]), three)
        assert not are_few(np.array([0.6, 0.4]), np.array([0.7, 0.3]))
        assert not are_few(np.ones(1), np.ones(1))

    def test_the_warning_says_how_many_and_what_to_do_and_points_to_the_caller(self):
        draws = np.zeros((200, 4), int)
        draws[0, 2:] = 1
        with pytest.warns(EffectiveSampleSizeWarning) as caught:
            Posterior(draws).regularize_entropy(30)
        assert str(caught[0].message) == (
            "Regularisation with entropy = 30 leaves 1.0 effective draws of 200, 100% on a single one: results "
            "rest on those few. Use one nearer to 0, or make more draws."
        )
        assert caught[0].filename == __file__

    def test_nothing_is_said_where_enough_is_left(self):
        even = np.full(400, 1 / 400)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_if_few(even, even, "Nothing")


def test_resampling_draws_with_replacement_in_proportion_to_the_weights():
    weights = np.array([0.5, 0.3, 0.0, 0.15, 0.05])
    shares = resampled_weights(weights, 4000, np.random.default_rng(8))
    counts = 4000 * shares
    np.testing.assert_array_equal(counts, counts.round())
    assert shares.sum() == pytest.approx(1.0)
    assert counts_agree(counts, weights)
    np.testing.assert_array_equal(resampled_weights(np.array([0.0, 1.0]), 7, np.random.default_rng(0)), [0.0, 1.0])
