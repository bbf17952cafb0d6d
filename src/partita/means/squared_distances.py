"""Squared distances to centres: DP-means, the limit of Gaussian clusters of one small variance."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from partita.kernels.nearest import add_residuals, nearest_centres
from partita.means.costs import Costs

CELLS = 2**20  # of a block of distances to centres, of sparse rows


class SquaredDistances(Costs[np.ndarray]):
    """Rows of numbers (n, d), dense or sparse, whose cluster is a centre (K, d) and costs ``penalty``."""

    def __init__(self, x: Any, penalty: float):
        self._rows = _Sparse(x) if issparse(x) else _Dense(np.ascontiguousarray(x))
        self.n_objects, self.penalty = x.shape[0], penalty

    def with_penalty(self, penalty: float) -> "SquaredDistances":
        """The same rows where a cluster costs something else."""
        other = object.__new__(SquaredDistances)
        other._rows, other.n_objects, other.penalty = self._rows, self.n_objects, penalty
        return other

    def taken(self, objects: np.ndarray) -> "SquaredDistances":
        """Some of the rows."""
        return SquaredDistances(self._rows.x[objects], self.penalty)

    def best_for(self, objects: np.ndarray, beside: np.ndarray | None = None) -> np.ndarray:
        """Their mean."""
        return self._rows.mean(objects)

    def fitted(
        self, labels: np.ndarray, n_clusters: int, before: np.ndarray | None = None, most: float = np.inf
    ) -> np.ndarray:
        """The mean of every cluster."""
        return self._rows.means(labels, n_clusters)

    def cheapest(self, clusters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearest centre, and the squared distance from it."""
        return self._rows.nearest(clusters)

    def alone(self, clusters: np.ndarray) -> np.ndarray:
        """The penalty: an object is no distance from itself."""
        return np.full(self.n_objects, self.penalty)

    def of_clusters(self, clusters: np.ndarray) -> float:
        """The penalty for each."""
        return self.penalty * len(clusters)


class _Dense:
    def __init__(self, x: np.ndarray):
        self.x = x
        self.origin = x.mean(axis=0)  # sums of what is left are exact also where all rows are far from 0

    def mean(self, objects: np.ndarray) -> np.ndarray:
        return self.origin + (self.x[objects] - self.origin).mean(axis=0, keepdims=True)

    def means(self, labels: np.ndarray, n_clusters: int) -> np.ndarray:
        origins = np.broadcast_to(self.origin, (n_clusters, self.x.shape[1])).copy()
        sums, counts = np.zeros_like(origins), np.zeros(n_clusters, np.int64)
        add_residuals(self.x, labels, origins, sums, counts)
        return origins + sums / counts[:, None]

    def nearest(self, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        labels, squares = np.empty(len(self.x), np.int64), np.empty(len(self.x))
        nearest_centres(self.x, np.ascontiguousarray(centres.T), np.empty(len(centres)), labels, squares)
        return labels, squares


class _Sparse:
    def __init__(self, x: Any):
        self.x = csr_array(x)
        self.squares = np.asarray(self.x.multiply(self.x).sum(axis=1)).ravel()

    def mean(self, objects: np.ndarray) -> np.ndarray:
        return np.asarray(self.x[objects].mean(axis=0)).reshape(1, -1)

    def means(self, labels: np.ndarray, n_clusters: int) -> np.ndarray:
        n = len(labels)
        members = csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))
        return (members @ self.x).toarray() / np.bincount(labels, minlength=n_clusters)[:, None]

    def nearest(self, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n, step = self.x.shape[0], max(1, CELLS // len(centres))
        labels, squares = np.empty(n, np.int64), np.empty(n)
        of_centres = np.einsum("kj,kj->k", centres, centres)
        for start in range(0, n, step):
            part = slice(start, start + step)
            distances = of_centres - 2.0 * (self.x[part] @ centres.T)
            labels[part] = distances.argmin(axis=1)
            squares[part] = distances.min(axis=1)
        return labels, np.maximum(squares + self.squares, 0.0)
