"""EvidenceAccumulation: how often objects are together, and a tree of clusters from it."""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from partita.consensus.coassociation import coassociation
from partita.consensus.ensemble import Ensemble
from partita.consensus.ensemble_estimator import EnsembleEstimator, Partitioner, warn_of_chance
from partita.kernels.linkage import AVERAGE, COMPLETE, SINGLE, link
from partita.parameters import choose, whole_number

LINKAGES = {"average": AVERAGE, "single": SINGLE, "complete": COMPLETE}

DIGITS = 12
"""Decimals to which thresholds are compared: further ones are rounding."""


class EvidenceAccumulation(Partitioner, name="eac"):
    """Average link on how often objects are together: evidence accumulation clustering (EAC).

    The distance of two objects is 1 - S_ij, with S_ij the share of the base clusterings that put them together, of
    those in which both have a label; S_ij = 0 where there is none (`partita.consensus.coassociation`). The two clusters
    of the smallest mean distance are merged until there are ``n_clusters``.

    Good for: clusters of any shape and of unequal sizes; a number of clusters that is not known. Not for: many objects,
    or noisy labels with a number of clusters that is given: stray objects become clusters of their own.

    Parameters
    ----------
    n_clusters : int or "lifetime"
        "lifetime": the number of clusters that is left by the longest range of thresholds on the distance, from 0 to 1;
        of equal ranges, the smaller number.
    linkage : {"average", "single", "complete"}
        The distance of two clusters: the mean, the smallest or the largest of their objects'.
    random_state
        Nothing is drawn at random.

    Attributes
    ----------
    labels_ : (n_objects,) int64
        0 is the largest cluster. There is no ``predict``: the method has no model of new objects.
    n_clusters_ : int
    base_agreement_ : (n_clusterings,)

    Notes
    -----
    Kinds of objects with the same labels are leaves of the tree, w equal objects one leaf of size w. Equal distances
    are many; of them the first in canonical order is merged first. Time O(A^2 M) for A kinds and M base clusterings,
    memory A (A - 1) / 2 cells: up to 16 384 kinds, 1 GiB. For more, `BipartiteCut`.

    References
    ----------
    Fred and Jain (2005), Combining multiple clusterings using evidence accumulation.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1]])
    >>> EvidenceAccumulation(n_clusters="lifetime").fit(Y).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(self, *, n_clusters: int | str, linkage: str = "average", random_state: Any = None):
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.random_state = random_state

    def check(self) -> None:
        """Refuse options outside their range, as `fit` does, without an ensemble."""
        EnsembleEstimator.check(self)
        choose("linkage", self.linkage, LINKAGES)
        if not self._finds_number:
            whole_number("n_clusters", self.n_clusters, 1, also="'lifetime'")

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> np.ndarray:
        if not self._finds_number:
            return super()._solve(ensemble, rng)
        tree = self._tree(ensemble)
        return tree.labels(tree.longest_lived())

    def _partition(self, ensemble: Ensemble, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
        tree = self._tree(ensemble)
        warn_of_chance(n_clusters, tree.n_parts)
        return tree.labels(n_clusters)

    @property
    def _finds_number(self) -> bool:
        return isinstance(self.n_clusters, str) and self.n_clusters == "lifetime"

    def _tree(self, ensemble: Ensemble) -> "Tree":
        return Tree.of(coassociation(ensemble), ensemble.weights, self.linkage)


class Tree(NamedTuple):
    """Clusters of kinds, merged down to one.

    Attributes
    ----------
    pairs : (A - 1, 2) array of int
        One kind of each of the clusters that are merged, the nearest first.
    heights : (A - 1,) array
        Their distances.
    """

    pairs: np.ndarray
    heights: np.ndarray

    @classmethod
    def of(cls, similarities: np.ndarray, sizes: np.ndarray, linkage: str = "average") -> Self:
        """The tree of kinds of some sizes from their similarities, condensed and up to 1, which are overwritten.

        Objects of a kind are at distance 0 from each other, so that none is parted.
        """
        distances = np.subtract(1.0, similarities, out=similarities)
        n = sizes.size
        pairs, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
        link(distances, sizes.astype(np.int64), LINKAGES[linkage], np.empty(n, np.int64), pairs, heights)
        order = np.argsort(heights, kind="stable")
        return cls(pairs[order], heights[order])

    @property
    def n_parts(self) -> int:
        """How many clusters are left before any two are merged at distance 1, the largest there is."""
        return 1 + int(np.count_nonzero(self.heights >= 1.0))

    def labels(self, n_clusters: int) -> np.ndarray:
        """The cluster of every kind when so many are left."""
        n = len(self.pairs) + 1
        merged = self.pairs[: n - n_clusters]
        graph = coo_array((np.ones(len(merged)), tuple(merged.T)), shape=(n, n))
        return connected_components(graph, directed=False)[1]

    def longest_lived(self) -> int:
        """The number of clusters that the longest range of thresholds from 0 to 1 leaves; the least of several."""
        thresholds = np.concatenate([[0.0], np.maximum.accumulate(self.heights), [1.0]])
        lifetimes = np.diff(thresholds).round(DIGITS)
        return 1 + int(lifetimes[::-1].argmax())
