"""Which rows of matrices are different, and how many of them there are."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


def distinct_rows(blocks: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """One row (m,) of every kind of rows that are equal bit by bit in all blocks, and the kind of each row (n,).

    Rows are compared by a 64-bit hash; that no two different rows share one is checked, and rows are sorted
    whole where it fails. Cost O(n) per column and O(n log n) comparisons of one number per row.
    """
    hashes = np.zeros(blocks[0].shape[0], np.uint64)
    for bits in _columns(blocks):
        hashes ^= bits + _ODD
        hashes *= _ODD
        hashes ^= hashes >> _HALF
    _, first, kind = np.unique(hashes, return_index=True, return_inverse=True)
    leader = first[kind]
    if all(np.array_equal(bits, bits[leader]) for bits in _columns(blocks)):
        return first, kind
    packed = np.concatenate([np.ascontiguousarray(block).view(np.uint8) for block in blocks], axis=1)
    rows = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, kind = np.unique(rows, return_index=True, return_inverse=True)
    return first, kind.ravel()


def _columns(blocks: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
    """The bits of every column, as unsigned integers of 64 bits."""
    for block in blocks:
        words = block.view(np.dtype(f"u{block.dtype.itemsize}"))
        for column in words.T:
            yield column.astype(np.uint64)


def n_distinct_rows(x: Any, most: int) -> int:
    """Number of different rows of a dense or sparse matrix, or ``most`` if there are more."""
    n = 4 * most
    while True:
        first = x[:n].toarray() if issparse(x) else x[:n]
        found = np.unique(first, axis=0).shape[0]
        if found >= most or n >= x.shape[0]:
            return min(found, most)
        n *= 4
