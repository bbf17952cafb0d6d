"""Labels in common, pair by pair, by either way; and who is near among those that are drawn."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from partita.kernels.cooccurrence import compare_all, count_neighbours, list_neighbours, nearest_of_some


def random_codes(missing=0.3, n=60, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, [2, 9, 20, 4], size=(n, 4))
    codes[rng.random(codes.shape) < missing] = -1
    return codes


def labels_in_common(codes):
    """By definition, (A, A); 0 on the diagonal."""
    n = len(codes)
    return np.array([[sum((codes[i] == codes[j]) & (codes[i] >= 0)) * (i != j) for j in range(n)] for i in range(n)])


def lists(codes, n_labels=(2, 9, 20, 4)):
    """Labels of every kind, where they begin, the kinds of every label, and where they begin."""
    offsets = np.concatenate([[0], np.cumsum(n_labels)])
    of_kinds = [codes[i][codes[i] >= 0] + offsets[:-1][codes[i] >= 0] for i in range(len(codes))]
    of_labels = [np.flatnonzero(codes[:, m] == y) for m in range(len(n_labels)) for y in range(n_labels[m])]
    found = []
    for rows in (of_kinds, of_labels):
        found += [np.concatenate(rows), np.concatenate([[0], np.cumsum([len(row) for row in rows])])]
    return found[0], found[1], found[2], found[3], offsets


def matrix(starts, neighbours, pairs):
    n = len(starts) - 1
    return csr_array((pairs[: starts[-1]], neighbours[: starts[-1]], starts), shape=(n, n)).toarray()


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.9])
def test_comparing_all_and_listing_give_labels_in_common(missing):
    codes = random_codes(missing)
    n = len(codes)
    weights = np.random.default_rng(1).integers(1, 5, size=n)
    theirs = labels_in_common(codes) * np.outer(weights, weights)

    starts, neighbours, pairs = np.empty(n + 1, np.int64), np.empty(n * n, np.int64), np.empty(n * n, np.int64)
    columns = np.ascontiguousarray(codes.T, dtype=np.int32)
    compare_all(columns, weights, np.empty(n, np.int32), starts, neighbours, pairs)
    np.testing.assert_array_equal(matrix(starts, neighbours, pairs), theirs)

    *of_lists, _ = lists(codes)
    counts = np.empty(n, np.int64)
    count_neighbours(*of_lists, np.full(n, -1, np.int32), counts)
    np.testing.assert_array_equal(counts, (theirs > 0).sum(axis=1))
    begin = np.concatenate([[0], np.cumsum(counts)])
    listed, of_listed = np.full(begin[-1] + 1, -1), np.full(begin[-1], -1)
    list_neighbours(*of_lists, weights, begin, np.zeros(n, np.int32), listed, of_listed)
    np.testing.assert_array_equal(matrix(begin, listed, of_listed), theirs)


def nearest(codes, n_drawn, k, seed=0):
    _, _, kinds, starts, offsets = lists(codes)
    found, common = np.full((2, len(codes), k), 0)
    nearest_of_some(np.random.default_rng(seed), codes, offsets, kinds, starts, n_drawn, found, common)
    return found, common


@pytest.mark.parametrize("k", [1, 5, 100])
def test_of_all_kinds_those_with_the_most_labels_in_common_are_kept(k):
    codes = random_codes()
    theirs = labels_in_common(codes)
    found, common = nearest(codes, n_drawn=60, k=k)
    for i, row in enumerate(theirs):
        n_kept = min(k, np.count_nonzero(row))
        assert np.sort(common[i])[::-1].tolist() == [*np.sort(row)[::-1][:n_kept], *[0] * (k - n_kept)]
        kept = found[i][common[i] > 0]
        assert np.unique(kept).size == n_kept
        np.testing.assert_array_equal(row[kept], common[i][common[i] > 0])


def test_kinds_that_are_drawn_have_a_label_in_common():
    codes = random_codes(n=300)
    theirs = labels_in_common(codes)
    found, common = nearest(codes, n_drawn=3, k=6)
    own, place = np.nonzero(common)
    np.testing.assert_array_equal(theirs[own, found[own, place]], common[own, place])
    assert common.sum() > 0.8 * 300 * 6
    again, _ = nearest(codes, n_drawn=3, k=6)
    other, _ = nearest(codes, n_drawn=3, k=6, seed=1)
    np.testing.assert_array_equal(found, again)
    assert (found != other).any()
