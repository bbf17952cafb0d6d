"""Limits on the number and the size of the clusters of an estimate."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Limits:
    """What the partition sought must obey."""

    max_clusters: int
    min_size: int = 1
    bind: bool = False  # whether some partition is not allowed

    def allow(self, labels: np.ndarray, counts: np.ndarray) -> bool:
        """Whether a partition of atoms does; one without any label does not."""
        seen = labels >= 0
        sizes = np.bincount(labels[seen], weights=counts[seen])
        sizes = sizes[sizes > 0]
        return 0 < len(sizes) <= self.max_clusters and bool(sizes.min() >= self.min_size)
