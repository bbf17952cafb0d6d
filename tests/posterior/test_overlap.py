"""Overlaps while groups are merged, against formulas written out and a search over all pairs from scratch."""

import numpy as np
import pytest
from scipy.special import xlogy

from partita.posterior.overlap import LEAST, EntropyOverlap, MisclassificationOverlap, merge


def entropy(r, w, i, j):
    fall = sum(
        w[n] * (xlogy(r[n, i] + r[n, j], r[n, i] + r[n, j]) - xlogy(r[n, i], r[n, i]) - xlogy(r[n, j], r[n, j]))
        for n in range(len(w))
    )
    return fall / min(w @ r[:, i], w @ r[:, j])


def misclassification(r, w, i, j):
    def share(a, b):
        return sum(w[n] * r[n, a] for n in range(len(w)) if r[n].argmax() == b) / (w @ r[:, a])

    return max(share(i, j), share(j, i))


CRITERIA = {"entropy": (EntropyOverlap, entropy), "misclassification": (MisclassificationOverlap, misclassification)}


def memberships(seed, n=60, k=7):
    rng = np.random.default_rng(seed)
    r = rng.dirichlet(np.full(k, 0.3), size=n)
    r[r < 1e-6] = 0.0
    return r / r.sum(axis=1, keepdims=True), rng.integers(0, 4, size=n)


def by_brute_force(r, w, sizes, formula):
    """Merges with every overlap computed anew from the summed memberships."""
    n_pieces = r.shape[1]
    r, sizes, numbers, merges = r.copy(), list(sizes), list(range(n_pieces)), []
    while r.shape[1] > 1:
        pairs = [(i, j) for j in range(r.shape[1]) for i in range(j)]
        i, j = max(pairs, key=lambda pair: formula(r, w, *pair))
        merges.append([*sorted((numbers[i], numbers[j])), formula(r, w, i, j), sizes[i] + sizes[j]])
        r[:, i] += r[:, j]
        sizes[i] += sizes[j]
        numbers[i] = n_pieces + len(merges) - 1
        r = np.delete(r, j, axis=1)
        del sizes[j], numbers[j]
    return np.array(merges)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(6))
def test_merges_are_those_of_a_search_from_scratch(criterion, seed):
    kind, formula = CRITERIA[criterion]
    r, w = memberships(seed)
    sizes = np.bincount(r.argmax(axis=1), weights=w, minlength=r.shape[1])
    found, expected = merge(kind(r, w), sizes), by_brute_force(r, w, sizes, formula)
    assert np.array_equal(found[:, :2], expected[:, :2])
    assert found == pytest.approx(expected, abs=1e-12)


def test_overlaps_have_the_values_worked_out_by_hand():
    r = np.array([[0.8, 0.2, 0.0], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]])
    w = np.array([1, 2, 1])
    doubt = -(0.8 * np.log(0.8) + 0.2 * np.log(0.2)) - 2 * (0.4 * np.log(0.4) + 0.6 * np.log(0.6))
    assert EntropyOverlap(r, w).of(0, np.array([1, 2])) == pytest.approx([doubt / 1.4, 0.0])
    assert MisclassificationOverlap(r, w).of(0, np.array([1, 2])) == pytest.approx([0.8 / 1.6, 0.0])


@pytest.mark.parametrize("kind", [EntropyOverlap, MisclassificationOverlap])
class TestMetamorphic:
    def test_a_row_of_weight_2_is_two_rows(self, kind):
        r, w = memberships(3)
        sizes = np.ones(r.shape[1])
        twice = merge(kind(np.repeat(r, w, axis=0), np.ones(w.sum())), sizes)
        assert merge(kind(r, w), sizes) == pytest.approx(twice)

    def test_the_order_of_rows_does_not_matter(self, kind):
        r, w = memberships(4)
        order = np.random.default_rng(0).permutation(len(w))
        sizes = np.ones(r.shape[1])
        assert merge(kind(r[order], w[order]), sizes) == pytest.approx(merge(kind(r, w), sizes))

    def test_the_numbers_of_pieces_do_not_matter(self, kind):
        r, w = memberships(5)
        order = np.random.default_rng(0).permutation(r.shape[1])
        sizes = np.arange(1.0, 8.0)
        found, renamed = merge(kind(r, w), sizes), merge(kind(r[:, order], w), sizes[order])
        assert renamed[:, 2:] == pytest.approx(found[:, 2:])

    def test_memberships_that_are_certain_do_not_overlap(self, kind):
        merges = merge(kind(np.eye(4)[[0, 0, 0, 1, 1, 2, 3]], np.ones(7)), np.array([3, 2, 1, 1]))
        assert merges[:, 2].tolist() == [0, 0, 0]
        assert merges[:, [0, 1, 3]].tolist() == [[2, 3, 2], [1, 4, 4], [0, 5, 7]]  # the smallest first

    def test_halves_that_nothing_tells_apart_overlap_as_the_docstring_says(self, kind):
        r = np.full((10, 2), 0.5)
        expected = {EntropyOverlap: 2 * np.log(2), MisclassificationOverlap: 1.0}[kind]
        assert kind(r, np.ones(10)).of(0, np.array([1])) == pytest.approx([expected])


def test_memberships_that_count_as_none_could_add_next_to_nothing():
    r = np.tile([1.0 - 0.9 * LEAST, 0.9 * LEAST, 0.0], (100, 1))
    r[60:] = [0.0, 0.3, 0.7]
    w = np.ones(100)
    assert EntropyOverlap(r, w).of(0, np.array([1]))[0] == 0.0
    assert entropy(r, w, 0, 1) < 1e-6


def test_one_piece_has_no_merges():
    assert merge(EntropyOverlap(np.ones((3, 1)), np.ones(3)), np.array([3.0])).shape == (0, 4)
