"""BipartiteCut: objects and the clusters they are in, one graph, cut once."""

from typing import Any

import numpy as np

from partita.consensus.ensemble import Ensemble
from partita.consensus.ensemble_estimator import Partitioner, warn_of_chance
from partita.consensus.indicator_embedding import spectral_cut


class BipartiteCut(Partitioner, name="hbgf"):
    """The spectral cut of the graph that joins every object to the clusters it is in (HBGF).

    Objects are points, rows of the ``n_clusters`` leading left singular vectors of D_r^-1/2 H D_c^-1/2: H is 1 where an
    object is in a cluster of a base clustering, D_r the labels that it has and D_c the sizes of clusters. Points are
    scaled to length 1 and parted by k-means (`partita.consensus.indicator_embedding`).

    Good for: many objects; noisy labels. Not for: a number of clusters that is not known, which `NBCE` finds; clusters
    of very unequal sizes.

    Parameters
    ----------
    n_clusters : int
    random_state : int, RandomState, Generator or None
        For the starts of k-means.

    Attributes
    ----------
    labels_ : (n_objects,) int64
        0 is the largest cluster. There is no ``predict``: the method has no model of new objects.
    n_clusters_ : int
    base_agreement_ : (n_clusterings,)

    Notes
    -----
    A missing label is an edge that is not there. k-means sees the objects alone, in the paper also the clusters, which
    are few. If base clusterings leave more parts unconnected than there are clusters, the smallest parts go with the
    largest cluster, with a warning. Nothing of the size n x n is made: time O(n M^2) for M base
    clusterings, and that of k-means.

    References
    ----------
    Fern and Brodley (2004), Solving cluster ensemble problems by bipartite graph partitioning.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1]])
    >>> BipartiteCut(n_clusters=2, random_state=0).fit(Y).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(self, *, n_clusters: int, random_state: Any = None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def _partition(self, ensemble: Ensemble, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
        warn_of_chance(n_clusters, ensemble.n_parts)
        return spectral_cut(ensemble.indicators, ensemble.weights, n_clusters, rng)
