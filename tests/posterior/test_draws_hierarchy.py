"""Clusters merged by co-clustering, against the matrix of all pairs."""

import numpy as np
import pytest

from partita import Posterior
from partita.labels import label_codes
from partita.posterior.membership import membership_probabilities


def noisy(seed, n=40, n_draws=30, k=6, noise=0.3):
    """Draws of k true groups with noise, group 0 and 1 often one, and an estimate."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    draws = np.where(rng.random((n_draws, n)) < noise, rng.integers(k, size=(n_draws, n)), truth)
    draws[::2] = np.where(draws[::2] == 1, 0, draws[::2])
    return draws, truth, rng.random(n_draws) + 0.1


def by_brute_force(draws, labels, weights):
    """Merges from the similarity of all pairs, averaged over blocks; pairs no draw labels are left out."""
    weights = weights / weights.sum()
    seen = draws >= 0
    both = np.einsum("b,bi,bj->ij", weights, seen, seen)
    same = np.einsum(
        "b,bij->ij", weights, (draws[:, :, None] == draws[:, None, :]) & seen[:, :, None] & seen[:, None, :]
    )
    groups = [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
    numbers, merges = list(range(len(groups))), []

    def share(i, j):
        block = np.ix_(groups[i], groups[j])
        return same[block].sum() / both[block].sum()

    def overlap(i, j):
        return min(share(i, j) / np.sqrt(share(i, i) * share(j, j)), 1.0)

    n_pieces = len(groups)
    while len(groups) > 1:
        i, j = max(((i, j) for j in range(len(groups)) for i in range(j)), key=lambda pair: overlap(*pair))
        merges.append([*sorted((numbers[i], numbers[j])), overlap(i, j), groups[i].size + groups[j].size])
        groups[i], numbers[i] = np.append(groups[i], groups[j]), n_pieces + len(merges) - 1
        del groups[j], numbers[j]
    return np.array(merges)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_merges_are_those_of_the_matrix_of_all_pairs(seed, gaps):
    draws, labels, weights = noisy(seed)
    draws[np.random.default_rng(seed).random(draws.shape) < gaps] = -1
    found = Posterior(draws, weights=weights).hierarchy(labels)
    expected = by_brute_force(draws, labels, weights)
    assert np.array_equal(found.merges[:, :2], expected[:, :2])
    assert found.merges == pytest.approx(expected)
    assert found.criterion == "co-clustering"


def test_memberships_are_those_of_the_draws():
    draws, labels, weights = noisy(7)
    found = Posterior(draws, weights=weights).hierarchy(labels)
    assert found.probabilities(6) == pytest.approx(membership_probabilities(labels, draws, weights))
    assert found.probabilities(2).sum(axis=1) == pytest.approx(1.0)


def test_pieces_that_half_of_the_draws_join_are_one_group_and_the_rest_stay():
    draws = np.tile(np.repeat([0, 1, 2, 3], 10), (20, 1))
    draws[::2, 10:20] = 0
    found = Posterior(draws).hierarchy(np.repeat([0, 1, 2, 3], 10))
    assert found.merges[:, 2] == pytest.approx([0.5, 0.0, 0.0])
    assert found.suggested == 3
    assert np.array_equal(found.labels(), np.repeat([0, 1, 2], [20, 10, 10]))


def test_the_pieces_are_those_of_the_estimate_unless_given():
    draws, _, weights = noisy(1, noise=0.05)
    posterior = Posterior(draws, weights=weights)
    found = posterior.hierarchy()
    assert np.array_equal(found.labels(found.n_pieces), posterior.estimate().labels)


def test_weights_of_draws_are_repetitions():
    draws, labels, _ = noisy(2)
    times = np.random.default_rng(0).integers(1, 4, size=len(draws))
    repeated = Posterior(np.repeat(draws, times, axis=0)).hierarchy(labels)
    assert Posterior(draws, weights=times).hierarchy(labels).merges == pytest.approx(repeated.merges)


def test_objects_without_a_label_and_numbers_with_gaps():
    draws, labels, weights = noisy(3)
    named = np.where(labels == 0, -1, labels * 10)
    found = Posterior(draws, weights=weights).hierarchy(named)
    assert found.n_pieces == 5
    assert np.array_equal(found.labels(3) < 0, labels == 0)
    rest = Posterior(draws[:, labels > 0], weights=weights).hierarchy(labels[labels > 0] - 1)
    assert found.merges == pytest.approx(rest.merges)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.zeros(39, int), "one per object, 40, in the same order; got 39"),
        (np.zeros((40, 1)), "one dimension"),
        (np.full(40, -1), "at least one object"),
        ([None] * 40, "at least one object"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(labels, words):
    with pytest.raises(ValueError, match=words):
        Posterior(noisy(0)[0]).hierarchy(labels)


def test_words_name_pieces_as_numbers_do():
    draws, labels, weights = noisy(4)
    posterior = Posterior(draws, weights=weights)
    words = [f"piece {label}" for label in labels]
    by_words, by_numbers = posterior.hierarchy(words), posterior.hierarchy(label_codes(words))
    np.testing.assert_array_equal(by_words.pieces, by_numbers.pieces)
    np.testing.assert_array_equal(by_words.merges, by_numbers.merges)
