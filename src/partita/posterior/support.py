"""How well the draws hold an estimated cluster together, and apart from the others."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from partita.posterior.condensing import Condensed

MOST_CLUSTERS = 4096
"""Clusters up to which all pairs of them are compared: 128 MB."""

_CELLS_TOGETHER = 1 << 22


@dataclass(frozen=True)
class Support:
    """What the draws say for every cluster of an estimate.

    Attributes
    ----------
    together : (n_clusters,) array
        How often two objects of the cluster are together; of a single object how often it is alone.
    apart : (n_clusters,) array
        How often an object of the cluster and one of another are apart, for the other cluster where that is least; 1
        where there is no other.
    """

    together: np.ndarray
    apart: np.ndarray

    @property
    def least(self) -> np.ndarray:
        """The smaller of the two."""
        return np.minimum(self.together, self.apart)


def support_of(labels: np.ndarray, draws: Condensed) -> Support:
    """Support of the clusters 0 .. K - 1 of a partition of the atoms; -1 is in none.

    together_k = sum_b w_b |pairs within k that share a label| / sum_b w_b |pairs within k|, apart_k = 1 - max_l of
    the like share of pairs between k and l. Only objects that draw b labels count; what no draw can tell is 1.

    Cost: draws x (atoms + K^2 x labels), less where clusters meet few labels.
    """
    n_clusters = int(labels.max()) + 1
    if n_clusters > MOST_CLUSTERS:
        raise ValueError(
            f"The support of {n_clusters:,} clusters needs all pairs of them, which are too many above"
            f" {MOST_CLUSTERS:,}: limit the estimate with max_clusters=."
        )
    kept = np.flatnonzero(labels >= 0)
    clusters, counts = labels[kept].astype(np.int64), draws.counts[kept]
    sums = _Sums(clusters, counts, n_clusters)
    n_labels = int(draws.labels.max()) + 1
    step = max(1, _CELLS_TOGETHER // max(len(kept), n_clusters * min(n_labels, len(kept))))
    for start in range(0, len(draws.labels), step):
        some = slice(start, start + step)
        sums.add(draws.labels[some][:, kept].astype(np.int64), draws.weights[some], n_labels)
    return sums.support()


class _Sums:
    """Weighted numbers of pairs, draw after draw."""

    def __init__(self, clusters: np.ndarray, counts: np.ndarray, n_clusters: int):
        self.clusters, self.counts = clusters, counts
        sizes = np.bincount(clusters, weights=counts, minlength=n_clusters)
        self.single = np.flatnonzero((sizes[clusters] == 1) & (counts == 1))  # atoms that are clusters of their own
        self.shared = np.zeros((n_clusters, n_clusters))  # pairs that share a label
        self.pairs = np.zeros((n_clusters, n_clusters))
        self.alone, self.seen = np.zeros(len(self.single)), np.zeros(len(self.single))

    def add(self, labels: np.ndarray, weights: np.ndarray, n_labels: int) -> None:
        draw, atom = np.nonzero(labels >= 0)
        column = draw * n_labels + labels[draw, atom]
        n_clusters, shape = len(self.shared), (len(self.shared), len(labels) * n_labels)
        table = sparse.csr_array((self.counts[atom].astype(np.float64), (self.clusters[atom], column)), shape=shape)
        table.sum_duplicates()
        of_columns = np.repeat(weights, n_labels)
        sizes = np.bincount(
            draw * n_clusters + self.clusters[atom], weights=self.counts[atom], minlength=len(labels) * n_clusters
        ).reshape(len(labels), n_clusters)
        within = np.einsum("b,bk->k", weights, sizes)  # an object is no pair with itself
        self.shared += _product(table, of_columns) - np.diag(within)
        self.pairs += (sizes.T * weights) @ sizes - np.diag(within)
        self._add_alone(labels, weights, n_labels, np.bincount(column, self.counts[atom], shape[1]))

    def _add_alone(self, labels: np.ndarray, weights: np.ndarray, n_labels: int, company: np.ndarray) -> None:
        own = labels[:, self.single]
        column = np.arange(len(labels))[:, None] * n_labels + np.maximum(own, 0)
        self.alone += weights @ ((own >= 0) & (company[column] == 1))
        self.seen += weights @ (own >= 0)

    def support(self) -> Support:
        share = np.divide(self.shared, self.pairs, out=np.full_like(self.shared, np.nan), where=self.pairs > 0)
        together = np.nan_to_num(np.diag(share).copy(), nan=1.0)
        together[self.clusters[self.single]] = np.divide(
            self.alone, self.seen, out=np.ones(len(self.seen)), where=self.seen > 0
        )
        np.fill_diagonal(share, 0.0)
        return Support(together, 1.0 - np.nan_to_num(share, nan=0.0).max(axis=1))


def _product(table: sparse.csr_array, weights: np.ndarray) -> np.ndarray:
    """Table times weights times table transposed, dense where that is faster."""
    n_rows, n_columns = table.shape
    if table.nnz > 0.05 * n_rows * n_columns:
        cells = table.toarray()
        return (cells * weights) @ cells.T
    return ((table * weights) @ table.T).toarray()
