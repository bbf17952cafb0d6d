"""The canonical order of a label matrix is the same for every way in which it can be written."""

import numpy as np
import pytest

from partita.consensus.canonical import canonical_order
from partita.partitions import canonicalize_rows


def in_order(codes):
    """The matrix in its canonical order."""
    order = canonical_order(codes)
    renamed = [np.append(ranks, -1)[column] for ranks, column in zip(order.labels, codes.T)]
    return np.stack(renamed, axis=1)[order.rows][:, order.columns]


def rewritten(codes, rng):
    """Rows and columns permuted, labels renamed."""
    n, n_columns = codes.shape
    moved = codes[rng.permutation(n)][:, rng.permutation(n_columns)]
    return np.stack([np.append(rng.permutation(column.max() + 1), -1)[column] for column in moved.T], axis=1)


def random_codes(rng, n, n_columns, n_labels, gaps):
    codes = rng.integers(n_labels, size=(n, n_columns))
    return canonicalize_rows(np.where(rng.random(codes.shape) < gaps, -1, codes).T).T.astype(np.int32)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize(("n", "n_columns", "n_labels"), [(1, 1, 1), (6, 3, 2), (30, 4, 3), (40, 6, 5), (300, 8, 6)])
def test_random_matrices(n, n_columns, n_labels, gaps):
    rng = np.random.default_rng(n)
    for _ in range(20):
        codes = random_codes(rng, n, n_columns, n_labels, gaps)
        other = rewritten(codes, rng)
        np.testing.assert_array_equal(in_order(codes), in_order(other))


def test_clusters_that_can_be_exchanged():
    """Equal groups, permuted labels: refinement alone leaves every object tied."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), 5)
    codes = np.stack([rng.permutation(4)[groups] for _ in range(3)], axis=1)
    codes[:4, 0] = [1, 0, 3, 2]
    for _ in range(20):
        np.testing.assert_array_equal(in_order(codes), in_order(rewritten(codes, rng)))


def test_matrices_that_differ_stay_different():
    rng = np.random.default_rng(1)
    codes = random_codes(rng, 30, 4, 3, 0.1)
    other = codes.copy()
    other[3, 2] = (other[3, 2] + 1) % 3
    assert not np.array_equal(in_order(codes), in_order(other))


def test_what_comes_back_are_orders():
    codes = random_codes(np.random.default_rng(2), 30, 4, 3, 0.1)
    order = canonical_order(codes)
    np.testing.assert_array_equal(np.sort(order.rows), np.arange(30))
    np.testing.assert_array_equal(np.sort(order.columns), np.arange(4))
    for ranks, column in zip(order.labels, codes.T):
        np.testing.assert_array_equal(np.sort(ranks), np.arange(column.max() + 1))
    same = (codes[:, None] == codes[None]).all(axis=2)
    np.testing.assert_array_equal(order.kinds[:, None] == order.kinds[None], same)
