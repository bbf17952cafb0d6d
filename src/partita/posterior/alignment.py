"""Name the clusters of one labelling after those of another."""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from partita.labels import counted

# What is added to it, a number for every new cluster, must fit into int64 too.
_LARGEST = 2**62


def align(labels: Any, earlier: Any, n_objects: int) -> np.ndarray:
    """Rename ``labels`` so that as many objects as possible have the label they have in ``earlier``.

    Every cluster takes over the number of at most one earlier cluster, the one-to-one matching of most shared
    objects (the assignment problem on the contingency table; Kuhn 1955). Clusters that share no object
    with the one they would be matched to get numbers above all earlier ones, in the order of
    their present labels. -1 stays -1, and objects that either leaves out do not count. Cost O(n + K^3).
    """
    known, found = _checked("The earlier labels", earlier, n_objects), _checked("labels", labels, n_objects)
    numbered, clusters = counted(found)
    both = (numbered >= 0) & (known >= 0)
    columns, names = counted(known[both])
    shared = np.zeros((len(clusters), len(names)), dtype=np.int64)
    np.add.at(shared, (numbered[both], columns), 1)
    matched, taken = linear_sum_assignment(shared, maximize=True)
    matched, taken = matched[shared[matched, taken] > 0], taken[shared[matched, taken] > 0]
    renamed = np.full(len(shared) + 1, -1, dtype=np.int64)  # the last entry is where -1 points to
    renamed[matched] = np.array(names, dtype=np.int64)[taken]
    new = np.flatnonzero(renamed[:-1] < 0)
    renamed[new] = known.max(initial=-1) + 1 + np.arange(new.size)
    return renamed[numbered]


def _checked(what: str, labels: Any, n_objects: int) -> np.ndarray:
    found = np.asarray(labels)
    if found.shape != (n_objects,):
        raise ValueError(
            f"{what} have shape {found.shape}, but there are {n_objects} objects: pass one label per object, in the "
            "same order."
        )
    if not np.issubdtype(found.dtype, np.integer):
        raise TypeError(f"{what} must be whole numbers (-1: not labelled), got {found.dtype}.")
    if found.max(initial=0) > _LARGEST:
        raise ValueError(f"{what} must be at most {_LARGEST}, got {found.max()}.")
    if found.min(initial=0) < -1:
        raise ValueError(f"{what} must be -1 or more, got {found.min()}.")
    return found.astype(np.int64)
