"""Name the clusters of one labelling after those of another."""

from math import floor, isfinite
from numbers import Real
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from partita.labels import coded, counted

# What is added to it, a number for every new cluster, must fit into int64 too.
_LARGEST = 2**62


def align(labels: Any, earlier: Any, n_objects: int) -> np.ndarray:
    """Rename ``labels`` so that as many objects as possible have the label they have in ``earlier``.

    Every cluster takes over the number of at most one earlier cluster, the one-to-one matching of most shared
    objects (the assignment problem on the contingency table; Kuhn 1955). Clusters that share no object
    with the one they would be matched to get numbers above all earlier ones, in the order of
    their present labels. Earlier labels that are no whole numbers are numbered by first appearance. -1 stays -1, and
    objects that either leaves out do not count. Cost O(n + K^3).
    """
    numbered, clusters = coded(labels, n_objects)
    known = _numbers(earlier, n_objects)
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


def _numbers(earlier: Any, n_objects: int) -> np.ndarray:
    """Labels that are whole numbers as they are, others as codes; -1: not labelled."""
    codes, labels = coded(earlier, n_objects, option="other_labels")
    if not all(isinstance(label, Real) and isfinite(label) and label == floor(label) for label in labels):
        return codes.astype(np.int64)
    if max(labels, default=0) > _LARGEST:
        raise ValueError(f"other_labels must be at most {_LARGEST}, got {max(labels)}.")
    if min(labels, default=0) < 0:
        raise ValueError(f"other_labels must be -1 or more, got {min(labels)}.")
    return np.array([*map(int, labels), -1], dtype=np.int64)[codes]
