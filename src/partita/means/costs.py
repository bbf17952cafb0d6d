"""What objects cost in clusters: all that tells the methods of this room apart."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np

Clusters = TypeVar("Clusters")


class Costs(ABC, Generic[Clusters]):
    """Objects, what they cost in a cluster, and what a cluster costs.

    ``Clusters`` is what clusters are told by: centres, and perhaps the columns that each of them has chosen. They are
    numbered. The total cost of labels and clusters is what every object costs in its own, and `of_clusters`.
    """

    n_objects: int

    @abstractmethod
    def with_penalty(self, penalty: float) -> "Costs[Clusters]":
        """The same objects where a cluster costs something else."""

    @abstractmethod
    def taken(self, objects: np.ndarray) -> "Costs[Clusters]":
        """Some of the objects, (m,) their numbers; what all of them have taught stays."""

    @abstractmethod
    def best_for(self, objects: np.ndarray, beside: Clusters | None = None) -> Clusters:
        """The one cluster of least total cost for some objects, (m,) their numbers, beside those that are there."""

    @abstractmethod
    def fitted(
        self, labels: np.ndarray, n_clusters: int, before: Clusters | None = None, most: float = np.inf
    ) -> Clusters:
        """The clusters of least total cost for labels 0 to ``n_clusters`` - 1, each of which some object has.

        Where many are nearly as good, those that read best and cost no more than ``most``; where what clusters share
        must begin somewhere, with what it was ``before``.
        """

    @abstractmethod
    def cheapest(self, clusters: Clusters) -> tuple[np.ndarray, np.ndarray]:
        """The cluster (n,) in which each object costs least, the first of equals, and what it costs there (n,)."""

    @abstractmethod
    def alone(self, clusters: Clusters) -> np.ndarray:
        """What each object (n,) would cost in a cluster of its own beside these, the cost of that cluster included."""

    @abstractmethod
    def of_clusters(self, clusters: Clusters) -> float:
        """What the clusters cost together, whatever objects they have."""
