"""Name the clusters of one labelling after those of another."""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment


def align(labels: np.ndarray, earlier: Any) -> np.ndarray:
    """Rename ``labels`` so that as many objects as possible have the label they have in ``earlier``.

    Every cluster takes over the number of at most one earlier cluster, the one-to-one matching of most shared
    objects (the assignment problem on the contingency table; Kuhn 1955). Clusters that share no object
    with the one they would be matched to get numbers above all earlier ones, in the order of
    their present labels. -1 stays -1, and objects that either leaves out do not count. Cost O(n + K^3).
    """
    known = _checked(earlier, labels.size)
    both = (labels >= 0) & (known >= 0)
    names, columns = np.unique(known[both], return_inverse=True)
    shared = np.zeros((labels.max(initial=-1) + 1, names.size), dtype=np.int64)
    np.add.at(shared, (labels[both], columns.ravel()), 1)
    matched, taken = linear_sum_assignment(shared, maximize=True)
    matched, taken = matched[shared[matched, taken] > 0], taken[shared[matched, taken] > 0]
    renamed = np.full(len(shared) + 1, -1, dtype=np.int64)  # the last entry is where -1 points to
    renamed[matched] = names[taken]
    new = np.flatnonzero(renamed[:-1] < 0)
    renamed[new] = known.max(initial=-1) + 1 + np.arange(new.size)
    return renamed[labels]


def _checked(earlier: Any, n_objects: int) -> np.ndarray:
    known = np.asarray(earlier)
    if known.shape != (n_objects,):
        raise ValueError(
            f"The earlier labels have shape {known.shape}, but there are {n_objects} objects: pass one label per "
            "object, in the same order."
        )
    if not np.issubdtype(known.dtype, np.integer):
        raise TypeError(f"The earlier labels must be whole numbers (-1: not labelled), got {known.dtype}.")
    if known.min(initial=0) < -1:
        raise ValueError(f"The earlier labels must be -1 or more, got {known.min()}.")
    return known.astype(np.int64)
