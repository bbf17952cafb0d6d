"""Modes that were put into a posterior are found, noise has one, and what must not matter does not."""

import numpy as np
import pytest
from tests.volumes import long, mostly_long

from partita.metrics import variation_of_information
from partita.partitions import by_size, canonical
from partita.posterior import VI, Mode, Posterior

pytestmark = long

BASE = np.arange(60) % 3
JOINED = np.where(BASE == 1, 0, BASE)
SPLIT = np.where((BASE == 2) & (np.arange(60) < 30), 3, BASE)
CROSSED = np.arange(60) // 20


def draws_around(centres, counts, *, noise, seed=0, missing=0.0):
    """So many draws of each partition, in random order; every object goes elsewhere with a probability."""
    rng = np.random.default_rng(seed)
    draws = np.repeat(centres, counts, axis=0)[rng.permutation(sum(counts))]
    moved = rng.random(draws.shape) < noise
    draws[moved] = rng.integers(0, 3, moved.sum())
    draws[rng.random(draws.shape) < missing] = -1
    return draws


def assert_modes(posterior, centres):
    """The modes are these partitions, heaviest first, and weigh what the draws do that are nearest to them."""
    found = posterior.modes(8)
    assert len(found) == len(centres)
    losses = [[variation_of_information(draw, centre) for draw in posterior.draws] for centre in centres]
    shares = np.bincount(np.argmin(losses, axis=0), weights=posterior.weights)
    for mode, centre, share in zip(found, centres, shares):
        np.testing.assert_array_equal(mode.labels, by_size(centre))
        assert mode.weight == pytest.approx(share)
    return found


@mostly_long
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("other", [JOINED, CROSSED], ids=["joined", "crossed"])
def test_two_partitions_are_found_under_noise(other, noise):
    found = assert_modes(Posterior(draws_around([BASE, other], [120, 80], noise=noise)), [BASE, other])
    # Noise takes a few draws to the other side.
    assert found[0].weight == pytest.approx(0.6, abs=0.05)


@mostly_long
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1])
def test_three_partitions_are_found_heaviest_first(noise):
    centres = [JOINED, CROSSED, BASE]
    assert_modes(Posterior(draws_around(centres, [150, 90, 60], noise=noise)), centres)


def test_modes_are_found_that_are_nearer_to_each_other_than_draws_are():
    base = np.arange(600) % 3
    other = np.where(np.arange(600) < 60, (base + 1) % 3, base)
    posterior = Posterior(draws_around([base, other], [90, 60], noise=0.15))
    found = assert_modes(posterior, [base, other])
    assert variation_of_information(base, other) < found[1].expected_loss


@long
def test_fewer_modes_are_the_first_of_more():
    posterior = Posterior(draws_around([JOINED, CROSSED, SPLIT], [150, 90, 60], noise=0.02))
    every = posterior.modes(8)
    assert len(every) == 3
    for n in (1, 2, 3, 4):
        some = posterior.modes(n)
        assert [mode.weight for mode in some] == [mode.weight for mode in every[:n]]


def uniform_noise(rng, base, n_draws, share):
    draws = np.tile(base, (n_draws, 1))
    moved = rng.random(draws.shape) < share
    draws[moved] = rng.integers(0, base.max() + 1, moved.sum())
    return draws


def flips(rng, base, n_draws, share):
    return np.where(rng.random((n_draws, len(base))) < share, (base + 1) % (base.max() + 1), base)


def own_clusters(rng, base, n_draws, share):
    return np.where(rng.random((n_draws, len(base))) < share, len(base) + np.arange(len(base)), base)


def undecided_objects(rng, base, n_draws, share):
    doubt = np.where(rng.random(len(base)) < share, 0.5, 0.02)
    return flips(rng, base, n_draws, doubt)


@mostly_long
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
@pytest.mark.parametrize(
    ("n_draws", "n_objects"), [(5, 30), pytest.param(20, 50, marks=long), (100, 8), pytest.param(150, 40, marks=long)]
)
@pytest.mark.parametrize("kind", [uniform_noise, flips, own_clusters, undecided_objects])
def test_noise_around_one_partition_is_one_mode(kind, n_draws, n_objects, share):
    rng = np.random.default_rng(3)
    posterior = Posterior(kind(rng, rng.integers(0, 3, n_objects), n_draws, share))
    (mode,) = posterior.modes(3)
    assert mode.weight == pytest.approx(1.0)
    assert mode.expected_loss <= posterior.estimate().expected_loss + 1e-12


def test_a_mode_describes_itself():
    posterior = Posterior(draws_around([BASE, CROSSED], [120, 80], noise=0.05))
    for mode in posterior.modes(3):
        assert isinstance(mode, Mode)
        assert mode.labels.dtype == np.int64
        np.testing.assert_array_equal(mode.labels, by_size(mode.labels))
        assert mode.n_clusters == len(np.unique(mode.labels)) == 3
    first, second = posterior.modes(3)
    losses = np.array([[variation_of_information(d, m.labels) for d in posterior.draws] for m in (first, second)])
    own = losses[0] <= losses[1]
    assert first.expected_loss == pytest.approx(losses[0][own].mean())
    assert second.expected_loss == pytest.approx(losses[1][~own].mean())


def test_weights_are_repeated_draws():
    draws = draws_around([BASE, CROSSED, JOINED], [60, 40, 40], noise=0.02, seed=1)
    times = np.random.default_rng(1).integers(0, 4, size=len(draws))
    weighted, repeated = Posterior(draws, weights=times).modes(5), Posterior(np.repeat(draws, times, axis=0)).modes(5)
    assert len(weighted) == len(repeated) == 3
    for one, other in zip(weighted, repeated):
        np.testing.assert_array_equal(one.labels, other.labels)
        assert one.weight == pytest.approx(other.weight)


def test_weights_alone_can_make_and_unmake_a_mode():
    draws = draws_around([BASE, CROSSED], [100, 100], noise=0.05, seed=2)
    first = np.array([variation_of_information(d, BASE) < variation_of_information(d, CROSSED) for d in draws])
    assert_modes(Posterior(draws, weights=np.where(first, 0.2, 0.8)), [CROSSED, BASE])
    assert_modes(Posterior(draws, weights=np.where(first, 0.01, 0.99)), [CROSSED])


def test_order_of_draws_and_of_objects_and_names_of_clusters_do_not_matter():
    draws, rng = draws_around([BASE, CROSSED, JOINED], [90, 60, 50], noise=0.05, seed=4), np.random.default_rng(4)
    order, names = rng.permutation(60), rng.permutation(9)
    plain = Posterior(draws).modes(4)
    assert len(plain) == 3
    shuffled, renamed = Posterior(draws[rng.permutation(200)]).modes(4), Posterior(names[draws]).modes(4)
    permuted = Posterior(draws[:, order]).modes(4)
    for k, mode in enumerate(plain):
        np.testing.assert_array_equal(mode.labels, shuffled[k].labels)
        np.testing.assert_array_equal(mode.labels, renamed[k].labels)
        np.testing.assert_array_equal(canonical(mode.labels[order]), canonical(permuted[k].labels))
        assert [shuffled[k].weight, permuted[k].weight] == pytest.approx([mode.weight] * 2)


@pytest.mark.parametrize(("missing", "seed"), [(0.1, 0), (0.3, 3)])
def test_missing_labels_neither_hide_nor_make_modes(missing, seed):
    draws = draws_around([BASE, CROSSED], [120, 80], noise=0.05, missing=missing, seed=seed)
    found = Posterior(np.hstack([draws, np.full((200, 1), -1)])).modes(8)
    assert [mode.labels[-1] for mode in found] == [-1, -1]
    assert [mode.weight for mode in found] == pytest.approx([0.6, 0.4], abs=0.05)
    for mode, centre in zip(found, [BASE, CROSSED]):
        assert variation_of_information(centre, mode.labels[:-1]) == pytest.approx(0.0, abs=1e-12)


def test_a_draw_of_few_objects_is_no_mode():
    draws = draws_around([BASE], [100], noise=0.05, seed=5)
    draws[:10, 5:] = -1
    (mode,) = Posterior(draws).modes(3)
    np.testing.assert_array_equal(mode.labels, BASE)


@pytest.mark.parametrize("draws", [[[3, 3, 1]], [[3, 3, 1]] * 5, [[0], [0]]], ids=["one draw", "equal", "one object"])
def test_equal_draws_are_one_mode(draws):
    (mode,) = Posterior(draws).modes(3, loss=VI())
    np.testing.assert_array_equal(mode.labels, by_size(draws[0]))
    assert (mode.weight, mode.expected_loss) == (1.0, 0.0)


def test_partitions_that_differ_in_one_object_are_one_mode():
    moved = np.where(np.arange(60) == 7, 2, BASE)
    (mode,) = Posterior([BASE] * 60 + [moved] * 40).modes(3)
    np.testing.assert_array_equal(canonical(mode.labels), canonical(BASE))


def test_a_light_group_of_draws_is_no_mode():
    assert len(Posterior([BASE] * 96 + [CROSSED] * 4).modes(3)) == 1
    assert len(Posterior([BASE] * 94 + [CROSSED] * 6).modes(3)) == 2


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_numbers_of_modes_that_make_no_sense_are_refused(n):
    with pytest.raises(ValueError, match="n, the most modes to return, must be a whole number of at least 1"):
        Posterior([[0, 1]]).modes(n)


@pytest.mark.parametrize("loss", ["vi", "binder", "one-minus-ari", "nvi", "nid"])
def test_three_partitions_that_came_up_equally_often_are_three_modes(loss):
    partitions = np.array([np.arange(12) // 4, np.arange(12) % 2, np.arange(12) // 6])
    found = Posterior(np.repeat(partitions, 100, axis=0)).modes(5, loss=loss)
    assert [mode.weight for mode in found] == pytest.approx([1 / 3] * 3)
    assert {tuple(canonical(mode.labels)) for mode in found} == {tuple(canonical(p)) for p in partitions}
