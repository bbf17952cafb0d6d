"""Rows grouped by which of their cells are missing, and where few rows share that, by how many are."""

from collections.abc import Iterator
from typing import Any

import numpy as np


def rows_by_gaps(missing: np.ndarray) -> list[tuple[Any, np.ndarray]]:
    """Which rows (an index) share which missing cells (d,), for every such set in ``missing`` (n, d)."""
    return common_and_rare(missing, 1)[0]


def common_and_rare(missing: np.ndarray, fewest: int) -> tuple[list[tuple[Any, np.ndarray]], np.ndarray]:
    """`rows_by_gaps` of the sets that at least ``fewest`` rows share, and the positions of all other rows.

    No set and the set of all cells are never rare: there is only one of either.
    """
    if not missing.any():
        return [(slice(None), np.zeros(missing.shape[1], dtype=bool))], np.empty(0, dtype=np.int64)
    packed = np.packbits(missing, axis=1)
    order = np.lexsort(packed.T)
    ordered = packed[order]
    starts = np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1
    bounds = np.concatenate([[0], starts, [order.size]])
    sizes = np.diff(bounds)
    first = missing[order[bounds[:-1]]]
    rare = (sizes < fewest) & first.any(axis=1) & ~first.all(axis=1)
    common = [(order[bounds[g] : bounds[g + 1]], first[g]) for g in np.flatnonzero(~rare)]
    return common, order[np.repeat(rare, sizes)]


def batches_by_number(
    missing: np.ndarray, rows: np.ndarray, n_clusters: int, largest: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Some of the ``rows`` and their missing cells (n, q), equally many in all of them, until every row was in one.

    A batch has at most ``largest`` numbers where every row needs a matrix of q x q or a row of d per cluster.
    """
    numbers = missing[rows].sum(axis=1)
    for q in np.unique(numbers):
        alike = rows[numbers == q]
        step = max(1, largest // (n_clusters * max(q * q, missing.shape[1])))
        for start in range(0, alike.size, step):
            members = alike[start : start + step]
            yield members, np.nonzero(missing[members])[1].reshape(-1, q)
