"""CSPA: objects are joined by how often they are together, and that graph is cut into equal parts."""

import warnings

import numpy as np
from scipy.sparse import csr_array

from partita.consensus.ensemble import Ensemble
from partita.consensus.ensemble_estimator import warn_of_chance
from partita.consensus.graph_cuts import Graph, cut_graph
from partita.consensus.graph_partitioner import GraphPartitioner
from partita.consensus.indicator_embedding import spectral_cut
from partita.kernels.cooccurrence import compare_all, count_neighbours, list_neighbours, nearest_of_some
from partita.posterior.membership import MOST_CELLS

MOST_STEPS = 2**29
"""Pairs of kinds with a common label that are looked at to count the non-zeros of co-association; about a second."""

NEAREST, DRAWN = 20, 200
"""Neighbours that a kind keeps where co-association is too large, and kinds that are drawn to find them."""


class CSPA(GraphPartitioner, name="cspa"):
    """The cluster-based similarity partitioning algorithm: METIS on co-association.

    Objects are vertices, and S_ij = (H H')_ij / M, the share of the M base clusterings that put two objects together,
    is the weight of their edge: H is 1 where an object is in a cluster of a base clustering. METIS cuts little of it,
    into clusters of nearly equal sizes.

    Good for: clusters of equal sizes, noisy labels. Not for: clusters of unequal sizes, which "metis" cuts at equal
    ones; a number of clusters that is not known, which `NBCE` finds.

    Parameters
    ----------
    n_clusters : int
    solver : {"metis", "spectral"}
        "metis" needs the extra ``graph`` (``pip install 'partita[graph]'``). "spectral": the leading eigenvectors of
        D^-1/2 S D^-1/2, D the sums of rows, scaled to length 1 and parted by k-means (Ng, Jordan and Weiss 2001),
        found from H: exact for any number of objects, and clusters may have any sizes.
    imbalance : float
        Of "metis": a cluster may have (1 + imbalance) n / n_clusters objects. A larger one allows unequal sizes; METIS
        rarely finds very unequal ones.
    random_state : int, RandomState, Generator or None
        For METIS, or the starts of k-means.

    Attributes
    ----------
    labels_ : (n_objects,) int64
        0 is the largest cluster. There is no ``predict``: the method has no model of new objects.
    n_clusters_ : int
    base_agreement_ : (n_clusterings,)

    Notes
    -----
    Objects with the same labels are one vertex with a weight, and are not parted, even if sizes would then be more
    equal: a kind with more than n / n_clusters objects is a cluster that is larger than the others.
    A missing label is together with none.

    Time and memory of "metis" are those of the non-zeros of S, up to A^2 of A kinds of objects. Where there are more
    than 2^26, 1 GiB, which some 8000 kinds may have, a warning says so and S is thinned: each kind keeps the 20 kinds
    that it is together with most often, of 200 that are drawn from its clusters.

    References
    ----------
    Strehl and Ghosh (2003), Cluster ensembles: a knowledge reuse framework for combining multiple partitions, section
    3.2.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1]])
    >>> CSPA(n_clusters=2, random_state=0).fit(Y).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    def _partition(self, ensemble: Ensemble, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
        H, weights = ensemble.indicators, ensemble.weights
        warn_of_chance(n_clusters, ensemble.n_parts)
        if self.solver == "spectral":
            return spectral_cut(H, weights, n_clusters, rng, H.T @ weights)
        graph = coassociation_graph(ensemble)
        if graph is None:
            _warn_of_size(ensemble)
            graph = thinned_graph(ensemble, rng)
        return cut_graph(graph, weights, n_clusters, self.imbalance, rng)


def coassociation_graph(ensemble: Ensemble) -> Graph | None:
    """M S between different kinds of objects, summed over their objects: whole numbers; None if it is too large.

    Time O(A^2 M) where A^2 cells are not too many; beyond, O(sum of the squared numbers of kinds in clusters), twice.

    Examples
    --------
    >>> graph = coassociation_graph(Ensemble(np.array([[0, 0], [0, 1], [0, 1], [1, 2]])))
    >>> sorted(graph.weights.tolist())
    [2, 2]
    """
    n, weights = ensemble.n_kinds, ensemble.weights.astype(np.int64)
    if 2 * n * n > MOST_CELLS:
        return _listed(ensemble, weights)
    starts, neighbours, pairs = np.empty(n + 1, np.int64), np.empty(n * n, np.int64), np.empty(n * n, np.int64)
    columns = np.ascontiguousarray(ensemble.codes.T, dtype=np.int32)
    compare_all(columns, weights, np.empty(n, np.int32), starts, neighbours, pairs)
    return Graph(starts, neighbours[: starts[-1]], pairs[: starts[-1]])


def _listed(ensemble: Ensemble, weights: np.ndarray) -> Graph | None:
    """Where few of all pairs have a label in common."""
    labels, kinds, label_starts, kind_starts = _lists(ensemble)
    sizes = np.diff(kind_starts).astype(np.float64)
    if (sizes * (sizes - 1)).sum() > MOST_STEPS:
        return None
    n = weights.size
    counts = np.empty(n, np.int64)
    count_neighbours(labels, label_starts, kinds, kind_starts, np.full(n, -1, np.int32), counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    if 2 * starts[-1] > MOST_CELLS:
        return None
    neighbours, pairs = np.empty(starts[-1] + 1, np.int64), np.empty(starts[-1], np.int64)
    common = np.zeros(n, np.int32)
    list_neighbours(labels, label_starts, kinds, kind_starts, weights, starts, common, neighbours, pairs)
    return Graph(starts, neighbours[:-1], pairs)


def thinned_graph(ensemble: Ensemble, rng: np.random.Generator) -> Graph:
    """The edges of `coassociation_graph` from each kind to 20 near ones, and back.

    Near are those that a kind is together with most often, of 200 kinds drawn from its clusters. Heavy edges are what
    METIS needs to find its way: a graph of as many edges drawn at random has nearly the same cuts, and METIS finds none
    of the small ones. Time O(200 A M).
    """
    _refuse_many(ensemble.n_kinds)
    _, kinds, _, kind_starts = _lists(ensemble)
    nearest, common = np.zeros((2, ensemble.n_kinds, NEAREST), np.int64)
    codes = np.ascontiguousarray(ensemble.codes, dtype=np.int64)
    n_drawn = -(-DRAWN // ensemble.n_members)
    nearest_of_some(rng, codes, ensemble.offsets, kinds, kind_starts, n_drawn, nearest, common)
    own, place = np.nonzero(common)
    other = nearest[own, place]
    pairs = common[own, place] * ensemble.weights[own] * ensemble.weights[other]
    one_way = csr_array((pairs, (own, other)), shape=(ensemble.n_kinds,) * 2)
    return Graph.of(csr_array(one_way.maximum(one_way.T)))


def _lists(ensemble: Ensemble) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Labels of every kind, kinds of every label, and where those of each begin."""
    H = ensemble.indicators
    of_labels = csr_array(H.T)
    parts = (H.indices, of_labels.indices, H.indptr, of_labels.indptr)
    labels, kinds, label_starts, kind_starts = (part.astype(np.int64) for part in parts)
    return labels, kinds, label_starts, kind_starts


def _warn_of_size(ensemble: Ensemble) -> None:
    warnings.warn(
        f"Co-association of {ensemble.n_kinds:,} different objects has more than {MOST_CELLS // 2:,} non-zeros, 1 GiB: "
        f"METIS cuts the graph of {NEAREST} near ones of each. solver='spectral' and BipartiteCut use all of it.",
        UserWarning,
        stacklevel=5,
    )


def _refuse_many(n_kinds: int) -> None:
    if 4 * NEAREST * n_kinds > MOST_CELLS:
        raise ValueError(
            f"Even {NEAREST} neighbours of each of {n_kinds:,} different objects need more than 1 GiB: "
            "use solver='spectral' or BipartiteCut."
        )
