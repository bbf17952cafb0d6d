"""How large the clusters of every draw are, and how many objects are in small ones."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from partita.partitions import Partitions
from partita.running.cached import cached_property

_LABELS_AT_ONCE = 1 << 22
_ROUNDING = 1e-12


@dataclass(frozen=True)
class ClusterSizes:
    """The sizes of all clusters, draw after draw, within a draw from the smallest to the largest.

    The order makes every sum over a draw's clusters the same to the last bit, whatever their labels are.

    Attributes
    ----------
    sizes : (sum of n_clusters,) int array
    n_clusters : (n_draws,) int array
    """

    sizes: np.ndarray
    n_clusters: np.ndarray

    @cached_property
    def draw(self) -> np.ndarray:
        """The draw of every cluster."""
        return np.repeat(np.arange(len(self.n_clusters)), self.n_clusters)

    @cached_property
    def rank(self) -> np.ndarray:
        """The number of clusters before each one in its draw."""
        return np.arange(len(self.sizes)) - np.repeat(np.cumsum(self.n_clusters) - self.n_clusters, self.n_clusters)

    @cached_property
    def n_labelled(self) -> np.ndarray:
        """The objects that every draw labels, (n_draws,)."""
        return self.sum(self.sizes).astype(np.int64)

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Sum one number per cluster over the clusters of every draw, (n_draws,)."""
        return np.bincount(self.draw, weights=values, minlength=len(self.n_clusters))


def cluster_sizes(partitions: Partitions) -> ClusterSizes:
    """Count the objects of every cluster of every draw; cost O(draws x objects + clusters log clusters)."""
    labels, n_clusters = partitions.flat, partitions.n_clusters()
    step = max(1, _LABELS_AT_ONCE // labels.shape[1])
    blocks = [slice(start, start + step) for start in range(0, len(labels), step)]
    sizes = np.concatenate([_sizes(labels[rows], n_clusters[rows]) for rows in blocks])
    return ClusterSizes(sizes, n_clusters)


def _sizes(labels: np.ndarray, n_clusters: np.ndarray) -> np.ndarray:
    first = np.cumsum(n_clusters) - n_clusters
    numbered = np.where(labels >= 0, labels + first[:, None] + 1, 0)
    sizes = np.bincount(numbered.ravel(), minlength=n_clusters.sum() + 1)[1:]
    by_draw_and_size = np.repeat(np.arange(len(labels)), n_clusters) * (labels.shape[1] + 1) + sizes
    return np.sort(by_draw_and_size) % (labels.shape[1] + 1)


def sparse_share(partitions: Partitions, threshold: float) -> np.ndarray:
    """Share of every draw's objects in clusters that hold at most ``threshold`` of them; see `Posterior.sparse_share`.

    A size is compared with threshold x objects up to rounding: 29 of 100 is at most 0.29 of them.
    """
    if not isinstance(threshold, Real) or isinstance(threshold, bool) or not 0 < threshold <= 1:
        raise ValueError(
            f"threshold must be a number above 0 and at most 1, a share of the objects; got {threshold!r}."
        )
    clusters = cluster_sizes(partitions)
    most = np.floor(float(threshold) * (1.0 + _ROUNDING) * clusters.n_labelled)
    sparse = clusters.sum(clusters.sizes * (clusters.sizes <= most[clusters.draw]))
    return np.divide(sparse, clusters.n_labelled, out=np.zeros(len(sparse)), where=clusters.n_labelled > 0)
