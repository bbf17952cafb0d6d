"""Credible balls against a slow walk over all draws, the share they hold, metamorphic pairs, missing labels."""

import numpy as np
import pytest
from tests.volumes import mostly_long

from partita.metrics import adjusted_rand, binder_loss, variation_of_information
from partita.partitions import Partitions, by_size, canonical
from partita.posterior import CredibleBall, Posterior
from partita.posterior.credible_ball import ball_around

METRICS = {
    "vi": variation_of_information,
    "binder": binder_loss,
    "one-minus-ari": lambda truth, found: 1 - adjusted_rand(truth, found),
}
LEVELS = [0.05, 0.5, 0.95, 1.0]


def noisy_draws(seed, *, n_draws=60, n_objects=25, n_clusters=3, share=0.2, missing=0.0):
    rng = np.random.default_rng(seed)
    draws = np.tile(rng.integers(0, n_clusters, n_objects), (n_draws, 1))
    moved = rng.random(draws.shape) < share * rng.random((n_draws, 1)) * 2
    draws[moved] = rng.integers(0, n_clusters + 3, moved.sum())
    draws[rng.random(draws.shape) < missing] = -1
    return draws


def slow_ball(centre, draws, weights, level, distance):
    """Radius, members and the extremes' (clusters, distance), one draw after the other."""
    weights = np.asarray(weights) / np.sum(weights)
    far = np.array([distance(draw, centre) for draw in draws])
    for radius in sorted(far[weights > 0]):
        members = [b for b in range(len(draws)) if far[b] <= radius + 1e-12 and weights[b] > 0]
        if weights[members].sum() >= level - 1e-9:
            break
    counts = [len(np.unique(draws[b])) for b in members]
    fewest = max(far[b] for b, k in zip(members, counts) if k == min(counts))
    most = max(far[b] for b, k in zip(members, counts) if k == max(counts))
    return radius, weights[members].sum(), (min(counts), fewest), (max(counts), most)


@mostly_long
@pytest.mark.parametrize("loss", METRICS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(3))
def test_the_ball_is_the_one_found_slowly(seed, level, loss):
    draws = noisy_draws(seed)
    weights = np.random.default_rng(seed).exponential(size=len(draws))
    weights[::9] = 0.0
    centre, distance = by_size(draws[0]), METRICS[loss]
    ball = ball_around(centre, Partitions(draws), weights / weights.sum(), level=level, loss=loss)
    radius, share, fewest, most = slow_ball(centre, draws, weights, level, distance)
    assert ball.radius == pytest.approx(radius, abs=1e-12)
    assert ball.share == pytest.approx(share)
    assert distance(ball.horizontal, centre) == pytest.approx(radius, abs=1e-12)
    assert (ball.n_clusters["upper"], distance(ball.upper, centre)) == pytest.approx(fewest, abs=1e-12)
    assert (ball.n_clusters["lower"], distance(ball.lower, centre)) == pytest.approx(most, abs=1e-12)
    known = {tuple(canonical(draw)) for draw, weight in zip(draws, weights) if weight > 0}
    assert {tuple(canonical(bound)) for bound in (ball.horizontal, ball.upper, ball.lower)} <= known


@pytest.mark.parametrize("level", LEVELS)
def test_the_ball_holds_the_level_and_none_smaller_does(level):
    posterior = Posterior(noisy_draws(4))
    ball = posterior.credible_ball(level=level)
    np.testing.assert_array_equal(ball.labels, posterior.estimate().labels)
    far = np.array([variation_of_information(draw, ball.labels) for draw in posterior.draws])
    assert np.mean(far <= ball.radius + 1e-12) == pytest.approx(ball.share)
    assert ball.share >= level - 1e-12
    assert np.mean(far < ball.radius - 1e-12) < level


def test_larger_levels_reach_farther():
    balls = [Posterior(noisy_draws(5)).credible_ball(level=level) for level in LEVELS]
    assert np.all(np.diff([ball.radius for ball in balls]) >= 0)
    assert np.all(np.diff([ball.n_clusters["upper"] for ball in balls]) <= 0)
    assert np.all(np.diff([ball.n_clusters["lower"] for ball in balls]) >= 0)
    assert balls[0].radius < balls[-1].radius


def assert_same_ball(first, second):
    assert first.radius == pytest.approx(second.radius, abs=1e-12)
    assert first.share == pytest.approx(second.share)
    assert first.n_clusters == second.n_clusters


def test_weights_are_repeated_draws():
    draws, times = noisy_draws(6), np.random.default_rng(6).integers(0, 4, size=60)
    weighted = Posterior(draws, weights=times).credible_ball(level=0.8)
    repeated = Posterior(np.repeat(draws, times, axis=0)).credible_ball(level=0.8)
    assert_same_ball(weighted, repeated)
    for bound in ("labels", "horizontal", "upper", "lower"):
        np.testing.assert_array_equal(getattr(weighted, bound), getattr(repeated, bound))


def test_order_of_draws_and_of_objects_and_names_of_clusters_do_not_matter():
    draws, rng = noisy_draws(7), np.random.default_rng(7)
    order, names = rng.permutation(25), rng.permutation(50)
    plain = Posterior(draws).credible_ball()
    assert_same_ball(plain, Posterior(draws[rng.permutation(60)]).credible_ball())
    renamed = Posterior(names[draws]).credible_ball()
    permuted = Posterior(draws[:, order]).credible_ball()
    for bound in ("labels", "horizontal", "upper", "lower"):
        np.testing.assert_array_equal(getattr(plain, bound), getattr(renamed, bound))
        np.testing.assert_array_equal(canonical(getattr(plain, bound)[order]), canonical(getattr(permuted, bound)))
    assert_same_ball(plain, permuted)


def test_draws_that_are_equally_far_are_in_together():
    centre = np.array([0, 0, 0, 1, 1, 1])
    moved = [np.where(np.arange(6) == i, 1 - centre, centre) for i in range(6)]
    ball = ball_around(centre, Partitions([centre, *moved]), np.full(7, 1 / 7), level=0.5, loss="vi")
    assert ball.share == pytest.approx(1.0)
    np.testing.assert_array_equal(ball.horizontal, by_size(moved[0]))


def test_a_level_that_weights_reach_only_up_to_rounding_is_reached():
    centre = np.zeros(4, int)
    draws = np.array([[0, 0, 0, 0]] * 8 + [[0, 0, 0, 1]] * 2)
    assert np.cumsum(np.full(8, 0.1))[-1] < 0.8
    ball = ball_around(centre, Partitions(draws), np.full(10, 0.1), level=0.8, loss="vi")
    assert ball.radius == 0.0
    assert ball.share == pytest.approx(0.8)


def test_one_draw_is_its_own_ball():
    ball = Posterior([[3, 3, 1]]).credible_ball()
    assert (ball.radius, ball.share) == (0.0, 1.0)
    for bound in (ball.labels, ball.horizontal, ball.upper, ball.lower):
        assert bound.dtype == np.int64
        np.testing.assert_array_equal(bound, [0, 0, 1])


def test_a_draw_of_few_objects_is_not_the_coarsest_for_that():
    draws = np.tile([0, 0, 1, 1, 2, 2], (20, 1))
    draws[3] = [0, 0, 1, 1, 1, 1]
    draws[4] = [0, 0, -1, -1, -1, -1]
    draws[5] = [0, 1, -1, -1, -1, -1]
    ball = Posterior(draws).credible_ball(level=1.0)
    np.testing.assert_array_equal(ball.labels, draws[0])
    np.testing.assert_array_equal(ball.upper, by_size(draws[3]))
    np.testing.assert_array_equal(ball.lower, draws[5])
    assert ball.radius == pytest.approx(np.log(2))


def test_the_complete_and_the_missing_path_agree():
    draws = noisy_draws(8)
    plain = Posterior(draws).credible_ball(level=0.9)
    padded = Posterior(np.column_stack([draws, np.full((60, 2), -1)])).credible_ball(level=0.9)
    assert_same_ball(plain, padded)
    for bound in ("labels", "horizontal", "upper", "lower"):
        np.testing.assert_array_equal(getattr(padded, bound), [*getattr(plain, bound), -1, -1])


def test_the_ball_says_what_it_is():
    ball = Posterior([[0, 0, 1, 1]] * 3 + [[0, 0, 0, 0]] + [[0, 1, 2, 3]]).credible_ball(level=1)
    assert isinstance(ball, CredibleBall)
    assert str(ball) == (
        "100% credible ball around 2 clusters: radius 0.693 (vi), 100.0% of the posterior.\n"
        "Farthest partition inside: 1 cluster. Coarsest: 1 cluster. Finest: 4 clusters."
    )


@pytest.mark.parametrize("level", [0, -0.5, 1.01, float("nan")])
def test_levels_out_of_range_are_refused(level):
    with pytest.raises(ValueError, match="level must be above 0 and at most 1"):
        Posterior([[0, 1]]).credible_ball(level=level)
