"""HGPA: clusters are hyperedges, and objects are parted so that few of them are cut."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from partita.consensus.ensemble import Ensemble
from partita.consensus.ensemble_estimator import warn_of_chance
from partita.consensus.graph_cuts import cut_hypergraph
from partita.consensus.graph_partitioner import GraphPartitioner
from partita.consensus.indicator_embedding import spectral_cut


class HGPA(GraphPartitioner, name="hgpa"):
    """The hypergraph partitioning algorithm: as few clusters of the base clusterings cut as can be.

    Objects are vertices, and every cluster of every base clustering is a hyperedge of weight 1, the set of its objects.
    Objects are parted into clusters of nearly equal sizes, such that few hyperedges have objects in several.

    Good for: base clusterings that nearly agree on clusters of equal sizes. Not for: noisy labels. A hyperedge that is
    cut counts the same whether one object is apart or half of them, so that a few wrong labels in every cluster leave
    nothing to choose by; `CSPA` and `MCLA` take noise. Not for clusters of unequal sizes either.

    Parameters
    ----------
    n_clusters : int
    solver : {"mtkahypar", "spectral"}
        "mtkahypar" needs the extra ``graph`` (``pip install 'partita[graph]'``). "spectral": the normalised cut of the
        hypergraph (Zhou, Huang and Schölkopf 2007), which is that of the graph of objects and clusters, `BipartiteCut`:
        parts of a hyperedge count by their sizes, and clusters may have any sizes.
    imbalance : float
        Of "mtkahypar": a cluster may have (1 + imbalance) n / n_clusters objects. The paper's is 0.05.
    random_state : int, RandomState, Generator or None
        For the starts of k-means, of "spectral"; "mtkahypar" draws nothing at random.

    Attributes
    ----------
    labels_ : (n_objects,) int64
        0 is the largest cluster. There is no ``predict``: the method has no model of new objects.
    n_clusters_ : int
    base_agreement_ : (n_clusterings,)

    Notes
    -----
    Objects with the same labels are one vertex with a weight, and are not parted, even if sizes would then be more
    equal. An object without a label in a base clustering is in none of its hyperedges. Memory O(n M) for M base
    clusterings; time is Mt-KaHyPar's, several seconds for 20 000 objects in 20 clusterings.

    References
    ----------
    Strehl and Ghosh (2003), Cluster ensembles: a knowledge reuse framework for combining multiple partitions, section
    3.3.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 1, 2]])
    >>> HGPA(n_clusters=2).fit(Y).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    _solvers = ("mtkahypar", "spectral")

    def __init__(
        self, *, n_clusters: int, solver: str = "mtkahypar", imbalance: float = 0.05, random_state: Any = None
    ):
        super().__init__(n_clusters=n_clusters, solver=solver, imbalance=imbalance, random_state=random_state)

    def _partition(self, ensemble: Ensemble, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
        H, weights = ensemble.indicators, ensemble.weights
        warn_of_chance(n_clusters, ensemble.n_parts)
        if self.solver == "spectral":
            return spectral_cut(H, weights, n_clusters, rng)
        return cut_hypergraph(csr_array(H.T), weights, n_clusters, self.imbalance)
