"""Labels and clusters of ever lower cost: the one loop of k-means whose number of clusters is not given.

Every object goes where it costs least, or opens a cluster of its own where that costs less still; then every cluster
becomes the best one for its objects. Neither step raises the total cost, so the loop ends.

Looked at all at once, the object that saves most by a cluster of its own opens the next one, until none saves anything;
only then do centres move. Looked at one after the other (Kulis and Jordan 2012), an object finds the clusters that
those before it in the same pass have opened.
"""

from typing import Generic, NamedTuple, TypeVar

import numpy as np

from partita.means.costs import Clusters, Costs

ROUNDING = 1e-12  # a cluster that saves no larger share of what its object costs saves nothing

C = TypeVar("C")


class Descent(NamedTuple, Generic[C]):
    """Where a start ended."""

    labels: np.ndarray  # (n,), every cluster's occur
    clusters: C
    path: list[float]  # the total cost after every pass
    converged: bool

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return int(self.labels.max()) + 1


def descend(
    costs: Costs[Clusters], start: Clusters, *, max_iter: int, order: np.ndarray | None = None
) -> Descent[Clusters]:
    """Pass by pass from the clusters of ``start`` until nothing changes, or ``max_iter`` passes are over.

    Parameters
    ----------
    order : (n,) array, optional
        In which objects are looked at one after the other; by default all at once.
    """
    path: list[float] = []
    clusters = start
    found, least = costs.cheapest(clusters)
    cost = float(least.sum()) + costs.of_clusters(clusters)
    while True:
        opened = _opened(costs, clusters, found, least, order)
        labels = _without_empty(opened)
        clusters = costs.fitted(labels, int(labels.max()) + 1, clusters, cost)
        closed = opened is found
        found, least = costs.cheapest(clusters)
        cost = float(least.sum()) + costs.of_clusters(clusters)
        path.append(cost)
        converged = closed and (np.array_equal(found, labels) or _stalled(path))
        if (converged or len(path) >= max_iter) and np.unique(found).size == np.unique(labels).size:
            return Descent(found, clusters, path, converged)


def _opened(
    costs: Costs[Clusters], clusters: Clusters, labels: np.ndarray, least: np.ndarray, order: np.ndarray | None
) -> np.ndarray:
    """The labels with the clusters that objects open beside ``clusters``; themselves if none does."""
    opened, least, n_clusters = labels, least.copy(), int(labels.max()) + 1
    alone = costs.alone(clusters)
    left = np.arange(len(labels)) if order is None else order
    while (founding := _saves(least[left], alone[left])).any():
        if order is None:
            cost = _centred(costs, clusters, least, int((least - alone).argmax()))
        else:
            first = int(founding.argmax())
            founder, left = left[first : first + 1], left[first:]
            cost = costs.cheapest(costs.best_for(founder, clusters))[1]
        joining = left[cost[left] < least[left]]
        opened = labels.copy() if opened is labels else opened
        opened[joining], least[joining] = n_clusters, cost[joining]
        n_clusters += 1
    return opened


def _centred(costs: Costs[Clusters], clusters: Clusters, least: np.ndarray, founder: int) -> np.ndarray:
    """What objects (n,) cost in a cluster that is opened by one of them and best for all that would join it.

    Of a cluster that is best for its founder, which lies at the edge, objects at the other edge would open one more.
    """
    cost = costs.cheapest(costs.best_for(np.array([founder]), clusters))[1]
    return costs.cheapest(costs.best_for(np.flatnonzero(cost < least), clusters))[1]


def _saves(cost: np.ndarray, alone: np.ndarray) -> np.ndarray:
    return cost - alone > ROUNDING * (np.abs(cost) + np.abs(alone))


def _without_empty(labels: np.ndarray) -> np.ndarray:
    """Labels 0, 1, ... in the same order, all of which occur."""
    occurs = np.bincount(labels) > 0
    return labels if occurs.all() else (np.cumsum(occurs) - 1)[labels]


def _stalled(path: list[float]) -> bool:
    """Whether objects move between clusters in which they cost the same."""
    return len(path) > 1 and path[-1] >= path[-2]
