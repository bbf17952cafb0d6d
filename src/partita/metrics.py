"""Agreement of two labelings, and what one says: pure functions. -1 means not labelled."""

from typing import Any

import numpy as np


def variation_of_information(a: Any, b: Any) -> float:
    """Variation of information of two labelings, in nats.

    H(a|b) + H(b|a) = -sum_kl n_kl/n [log(n_kl/n_k) + log(n_kl/n_l)] over the objects that both label;
    0 if there are none. Cost O(n log n). Meila (2007), eq. 15.
    """
    first, second = _labelling(a), _labelling(b)
    if len(first) != len(second):
        raise ValueError(f"The labelings have {len(first)} and {len(second)} objects; they must be the same.")
    both = (first != -1) & (second != -1)
    if not both.any():
        return 0.0
    rows, row_sums = np.unique(first[both], return_inverse=True, return_counts=True)[1:]
    columns, column_sums = np.unique(second[both], return_inverse=True, return_counts=True)[1:]
    cells, joint = np.unique(rows.ravel() * len(column_sums) + columns.ravel(), return_counts=True)
    k, m = np.divmod(cells, len(column_sums))
    surprise = np.log(row_sums[k] / joint) + np.log(column_sums[m] / joint)
    return float(joint @ surprise / joint.sum())


def partition_entropy(labels: Any) -> float:
    """Entropy of the cluster shares of one labelling, in nats: -sum_k n_k/n log(n_k/n)."""
    found = _labelling(labels)
    sizes = np.unique(found[found != -1], return_counts=True)[1]
    if not len(sizes):
        return 0.0
    return float(sizes @ np.log(sizes.sum() / sizes) / sizes.sum())


def _labelling(labels: Any) -> np.ndarray:
    found = np.asarray(labels)
    if found.ndim != 1:
        raise ValueError(f"A labelling has one dimension; got shape {found.shape}.")
    return found
