"""Rows grouped by which of their cells are missing."""

from typing import Any

import numpy as np


def rows_by_gaps(missing: np.ndarray) -> list[tuple[Any, np.ndarray]]:
    """Which rows (an index) share which missing cells (d,), for every such set in ``missing`` (n, d)."""
    if not missing.any():
        return [(slice(None), np.zeros(missing.shape[1], dtype=bool))]
    packed = np.packbits(missing, axis=1)
    order = np.lexsort(packed.T)
    ordered = packed[order]
    starts = np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1
    return [(members, missing[members[0]]) for members in np.split(order, starts)]
