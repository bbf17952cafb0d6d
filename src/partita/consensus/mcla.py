"""MCLA: clusters of all base clusterings are grouped, and every object goes with the group that it is in most."""

import numpy as np
from scipy.sparse import coo_array, csr_array, triu

from partita.consensus.ensemble import Ensemble
from partita.consensus.ensemble_estimator import warn_of_chance
from partita.consensus.graph_cuts import Graph, cut_graph
from partita.consensus.graph_partitioner import GraphPartitioner
from partita.consensus.indicator_embedding import spectral_cut
from partita.partitions import largest_first
from partita.posterior.membership import MOST_CELLS

UNIT = 2**20
"""Jaccard similarities are told to METIS as whole numbers, 1 as this one."""

BLOCK = 2**22
"""Cells of associations that are made at once."""


class MCLA(GraphPartitioner, name="mcla"):
    """The meta-clustering algorithm: clusters are clustered.

    Clusters of all base clusterings are vertices, each with its size as weight, joined by the Jaccard similarity
    |A and B| / |A or B|. METIS parts them into ``n_clusters`` meta-clusters of nearly equal weights. An object goes to
    the meta-cluster with which it has the highest association: the share of the meta-cluster's clusters that it is in.

    Good for: base clusterings of much the same clusters; many objects. Not for: a number of clusters that is not known,
    which `NBCE` finds. Clusters of unequal sizes cost less than in `CSPA`, since objects choose after the cut.

    Parameters
    ----------
    n_clusters : int
        A meta-cluster that wins no object is no cluster; a warning says so.
    solver : {"metis", "spectral"}
        "metis" needs the extra ``graph`` (``pip install 'partita[graph]'``). "spectral": eigenvectors of the same
        graph, normalised and parted by k-means (Ng, Jordan and Weiss 2001); meta-clusters may have any weights.
    imbalance : float
        Of "metis": a meta-cluster may have (1 + imbalance) / n_clusters of the weight of all clusters.
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
    Where labels are missing, two clusters are compared over the objects that have a label in both base clusterings, and
    an object's association counts the base clusterings in which it has one: gaps make neither clusters nor objects less
    alike. Of equal associations that with the meta-cluster of more objects is taken.

    Time O(n M^2) for M base clusterings, and the cut of a graph of as many vertices as there are clusters.

    References
    ----------
    Strehl and Ghosh (2003), Cluster ensembles: a knowledge reuse framework for combining multiple partitions, section
    3.4.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1]])
    >>> MCLA(n_clusters=2, random_state=0).fit(Y).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    def _partition(self, ensemble: Ensemble, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
        warn_of_chance(n_clusters, ensemble.n_parts)
        sizes = ensemble.indicators.T @ ensemble.weights
        clusters = np.flatnonzero(sizes)  # labels that nobody has are none
        similarity = csr_array(jaccard(ensemble)[clusters][:, clusters])
        n_meta = min(n_clusters, clusters.size)
        if self.solver == "spectral":
            found = _spectral(similarity, n_meta, rng)
        else:
            whole = np.maximum(1, np.rint(UNIT * similarity.data)).astype(np.int64)
            graph = Graph.of(csr_array((whole, similarity.indices, similarity.indptr), shape=similarity.shape))
            found = cut_graph(graph, sizes[clusters].astype(np.int64), n_meta, self.imbalance, rng)
        meta = np.full(sizes.size, -1)
        order = largest_first(found, sizes[clusters], n_meta)
        meta[clusters] = np.argsort(order)[found]
        return winners(ensemble, meta)


def jaccard(ensemble: Ensemble) -> csr_array:
    """|A and B| / |A or B| of every two clusters, over the objects that have a label in the clusterings of both.

    Objects of a kind count as often as there are some. Clusters in the order of `Ensemble.indicators`; the diagonal is
    left out. Time O(n M^2).

    Examples
    --------
    >>> jaccard(Ensemble(np.array([[0, 0], [0, 1], [0, 1], [1, 1]]))).toarray().round(2)
    array([[0.  , 0.  , 0.33, 0.5 ],
           [0.  , 0.  , 0.  , 0.33],
           [0.33, 0.  , 0.  , 0.  ],
           [0.5 , 0.33, 0.  , 0.  ]])
    """
    H = ensemble.indicators
    _refuse_large(ensemble, H.shape[1])
    weighted = csr_array(H.T * ensemble.weights)
    common = coo_array(weighted @ H)
    seen = weighted @ (ensemble.codes >= 0).astype(np.float64)  # objects of a cluster with a label in a clustering
    member = np.repeat(np.arange(ensemble.n_members), ensemble.n_labels)
    one, other = common.row, common.col
    shares = common.data / (seen[one, member[other]] + seen[other, member[one]] - common.data)
    apart = one != other
    return csr_array((shares[apart], (one[apart], other[apart])), shape=common.shape)


def winners(ensemble: Ensemble, meta: np.ndarray) -> np.ndarray:
    """The meta-cluster with which every kind of object has the highest association, of several the first.

    ``meta`` is the meta-cluster of every label of all columns, -1 of labels that nobody has. The association is the
    share of a meta-cluster's clusters that an object is in, of those of clusterings in which it has a label.
    """
    known = np.flatnonzero(meta >= 0)
    n_meta = int(meta.max()) + 1
    in_meta = csr_array((np.ones(known.size), (known, meta[known])), shape=(meta.size, n_meta))
    parts = np.split(meta, ensemble.offsets[1:-1])
    of_members = np.stack([np.bincount(part[part >= 0], minlength=n_meta) for part in parts])
    labels = np.empty(ensemble.n_kinds, np.int64)
    step = max(1, BLOCK // n_meta)
    for start in range(0, ensemble.n_kinds, step):
        rows = slice(start, start + step)
        mine = (ensemble.indicators[rows] @ in_meta).toarray()
        of_all = (ensemble.codes[rows] >= 0).astype(np.float64) @ of_members
        labels[rows] = np.divide(mine, of_all, out=mine, where=of_all > 0.0).argmax(axis=1)
    return labels


def _spectral(similarity: csr_array, n_meta: int, rng: np.random.Generator) -> np.ndarray:
    """Meta-clusters from the leading eigenvectors of D^-1/2 W D^-1/2, W the similarities and D the sums of rows.

    With E the incidence of vertices and edges, they are those of D^-1/2 E diag(w / 2) E' D^-1/2, half the sum of that
    matrix and the identity: a graph is a hypergraph whose hyperedges have two vertices. A vertex without any edge is
    joined to itself.
    """
    edges = coo_array(triu(similarity))
    alone = np.flatnonzero(np.diff(similarity.indptr) == 0)
    n_edges = edges.nnz + alone.size
    vertices = np.concatenate([edges.row, edges.col, alone])
    numbers = np.concatenate([np.arange(edges.nnz), np.arange(n_edges)])
    incidence = csr_array((np.ones(vertices.size), (vertices, numbers)), shape=(similarity.shape[0], n_edges))
    weights = np.concatenate([edges.data, np.ones(alone.size)])
    return spectral_cut(incidence, np.ones(similarity.shape[0], np.int64), n_meta, rng, weights)


def _refuse_large(ensemble: Ensemble, n_labels: int) -> None:
    n_cells = min(n_labels**2, ensemble.n_kinds * ensemble.n_members**2)
    if 2 * n_cells > MOST_CELLS:
        raise ValueError(
            f"The graph of {n_labels:,} clusters may have {n_cells:,} edges, more than {MOST_CELLS // 2:,}: "
            "BipartiteCut needs no such graph."
        )
