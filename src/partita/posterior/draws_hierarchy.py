"""Clusters of an estimate merged by how often their objects are together in the draws."""

from typing import Any

import numpy as np

from partita.labels import label_codes
from partita.posterior.condensing import Condensed, condense
from partita.posterior.hierarchy import CO_CLUSTERING_CUT, Hierarchy, groups_left, sizes_of
from partita.posterior.membership import memberships
from partita.posterior.overlap import merge


class CoclusteringOverlap:
    """How often objects of two groups are together, relative to how often those of one group are.

    S_ij is the share of the pairs of an object of group i and one of group j that a draw puts together, averaged over
    the draws; in S_ii an object is a pair with itself. The overlap is S_ij / sqrt(S_ii S_jj): 1 where draws tell the
    two no more apart than their own objects, 0 where no draw ever joins them. Draws count for the pairs that they
    label.

    Notes
    -----
    From the tables of estimate against draw, n_ic objects of group i in cluster c: sum_b w_b sum_c n_ic n_jc. Never an
    n x n array; sums of two groups add, so a merged group costs nothing. Cost O(draws (n + K^2 C)).
    """

    def __init__(self, estimate: np.ndarray, draws: Condensed):
        n_groups, n_labels = int(estimate.max()) + 1, int(draws.labels.max()) + 1
        atoms = draws.inverse[estimate >= 0]
        pairs, counts = np.unique(atoms * n_groups + estimate[estimate >= 0], return_counts=True)
        columns, groups = np.divmod(pairs, n_groups)  # atoms, parted by group, and how many objects each has
        self._together = np.zeros((n_groups, n_groups))
        self._pairs = np.zeros((n_groups, n_groups))
        for weight, row in zip(draws.weights, draws.labels):
            labels = row[columns].astype(np.int64)
            seen = labels >= 0
            cell = groups[seen] * n_labels + labels[seen]
            table = np.bincount(cell, weights=counts[seen], minlength=n_groups * n_labels).reshape(n_groups, n_labels)
            sizes = table.sum(axis=1)
            self._together += weight * (table @ table.T)
            self._pairs += weight * np.outer(sizes, sizes)

    @property
    def n_groups(self) -> int:
        """How many groups there are before the first is joined."""
        return len(self._pairs)

    def of(self, group: int, others: np.ndarray) -> np.ndarray:
        """Overlap of one group with each of some others; 0 where no draw labels objects of both."""
        between = _share(self._together[group, others], self._pairs[group, others])
        within = _share(self._together.diagonal(), self._pairs.diagonal())
        return np.minimum(_share(between, np.sqrt(within[group] * within[others])), 1.0)

    def join(self, first: int, second: int) -> bool:
        """Let ``second`` become part of ``first``; overlaps of third groups stay."""
        for sums in (self._together, self._pairs):
            sums[first] += sums[second]
            sums[:, first] += sums[:, second]
        return False


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)


def hierarchy_of_draws(posterior: Any, labels: Any = None) -> Hierarchy:
    """Merge the clusters of an estimate by co-clustering; see `Posterior.hierarchy`."""
    codes = label_codes(posterior.estimate().labels if labels is None else labels, posterior.n_objects)
    estimate = codes.astype(np.int64)
    if estimate.max() < 0:
        raise ValueError("labels must name a piece for at least one object: all are missing (-1, None or nan).")
    draws = condense(posterior.partitions, posterior.weights)
    weights = np.ones(estimate.size)
    sizes = sizes_of(estimate, weights, int(estimate.max()) + 1)
    merges = merge(CoclusteringOverlap(estimate, draws), sizes)
    suggested = groups_left(merges, CO_CLUSTERING_CUT)
    return Hierarchy(estimate, memberships(estimate, draws), weights, merges, "co-clustering", suggested)
