"""LocallyWeighted: clusters count by how well the other base clusterings confirm them."""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array

from partita.consensus.coassociation import coassociation
from partita.consensus.ensemble import Ensemble
from partita.consensus.ensemble_estimator import Partitioner, warn_of_chance
from partita.consensus.evidence_accumulation import Tree
from partita.consensus.indicator_embedding import spectral_cut
from partita.parameters import choose, is_number

METHODS = ("graph", "average")


class LocallyWeighted(Partitioner, name="lwgp"):
    """A cluster counts the less, the more the base clusterings part its objects: locally weighted consensus.

    The uncertainty of a cluster C is H(C) = -sum_m sum_j p log2 p, with p = |C and C_mj| / |C| the share of its objects
    that base clustering m puts into its cluster j, of those that have a label there. C counts exp(-H(C) / (theta M)),
    its ensemble-driven cluster index, from 0 to 1.

    Good for: base clusterings of which only parts are right. Not for: a number of clusters that is not known, which
    `NBCE` finds.

    Parameters
    ----------
    n_clusters : int
    method : {"graph", "average"}
        "graph" (LWGP): the cut of `BipartiteCut`, edges weighted by the index of their cluster, and singular vectors by
        their singular values, as the transfer cut leaves them. "average" (LWEA): the
        tree of `EvidenceAccumulation`, with the index of the common cluster where base clusterings put two objects
        together; up to 16 384 different objects.
    theta : float
        Above 0: the smaller, the less uncertain clusters count. The paper's is 0.4.
    random_state : int, RandomState, Generator or None
        For the starts of k-means, of "graph".

    Attributes
    ----------
    labels_ : (n_objects,) int64
        0 is the largest cluster. There is no ``predict``: the method has no model of new objects.
    n_clusters_ : int
    base_agreement_ : (n_clusterings,)

    Notes
    -----
    Time O(n M^2) and memory O(n M) for M base clusterings, and those of the cut or the tree.

    References
    ----------
    Huang, Wang and Lai (2018), Locally weighted ensemble clustering. Li, Wu and Chang (2012), Segmentation using
    superpixels: a bipartite graph partitioning approach (the cut).

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1]])
    >>> LocallyWeighted(n_clusters=2, random_state=0).fit(Y).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(self, *, n_clusters: int, method: str = "graph", theta: float = 0.4, random_state: Any = None):
        self.n_clusters = n_clusters
        self.method = method
        self.theta = theta
        self.random_state = random_state

    def check(self) -> None:
        """Refuse options outside their range, as `fit` does, without an ensemble."""
        super().check()
        choose("method", self.method, dict.fromkeys(METHODS))
        if not (is_number(self.theta) and self.theta > 0):
            raise ValueError(f"theta must be a positive number, got {self.theta!r}.")

    def _partition(self, ensemble: Ensemble, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
        weights = cluster_index(ensemble, self.theta)
        if self.method == "average":
            tree = Tree.of(coassociation(ensemble, weights), ensemble.weights)
            warn_of_chance(n_clusters, tree.n_parts)
            return tree.labels(n_clusters)
        warn_of_chance(n_clusters, ensemble.n_parts)
        return spectral_cut(ensemble.indicators, ensemble.weights, n_clusters, rng, weights, transferred=True)


def cluster_index(ensemble: Ensemble, theta: float) -> np.ndarray:
    """exp(-H(C) / (theta M)) of every label of every column, of M columns that have labels; never quite 0.

    Examples
    --------
    >>> cluster_index(Ensemble(np.array([[0, 0], [0, 1], [1, 1]])), theta=1.0).round(2)
    array([0.61, 1.  , 1.  , 0.61])
    """
    n_members = np.count_nonzero((ensemble.codes >= 0).any(axis=0))
    return np.maximum(np.exp(-uncertainty(ensemble) / (theta * n_members)), np.finfo(np.float64).tiny)


def uncertainty(ensemble: Ensemble) -> np.ndarray:
    """H(C) in bits of every label of every column, in the order of `Ensemble.indicators`; 0 of labels nobody has.

    Examples
    --------
    >>> uncertainty(Ensemble(np.array([[0, 0], [0, 1], [1, 1]])))
    array([1., 0., 0., 1.])
    """
    H = ensemble.indicators
    objects, of_columns, bits = csr_array(H.T * ensemble.weights), csc_array(H), np.zeros(H.shape[1])
    for begin, end in pairwise(ensemble.offsets):
        common = coo_array(objects @ of_columns[:, begin:end])  # of every label with every label of one column
        shares = common.data / np.bincount(common.row, common.data)[common.row]  # of the objects that have one there
        bits -= np.bincount(common.row, shares * np.log2(shares), bits.size)
    return bits
