"""Which clusters the rows of a picture are in, and which rows it shows when all would not be told apart."""

from typing import Any

import numpy as np

from partita.labels import label_codes
from partita.partitions import by_size
from partita.posterior import Posterior


def labels_or_estimate(posterior: Posterior, labels: Any) -> np.ndarray:
    """Labels of any kind, or those of the estimate, as 0, 1, ... from the largest cluster to the smallest."""
    return by_size(label_codes(posterior.estimate().labels if labels is None else labels, posterior.n_objects))


def spread(clusters: np.ndarray, sizes: np.ndarray, most_rows: int) -> np.ndarray:
    """Rows evenly spaced within every cluster, about ``most_rows`` in all, cluster after cluster.

    Every cluster keeps its share, and at least one row if it is among the first ``most_rows``. ``clusters`` are labels
    0, 1, ...; rows labelled -1 are left out. Cost O(n log n).
    """
    share = min(1.0, most_rows / sizes.sum())
    members = np.split(np.argsort(clusters, kind="stable")[(clusters < 0).sum() :], np.cumsum(sizes)[:-1])
    shown = [max(1, round(size * share)) for size in sizes[:most_rows]]
    return np.concatenate([rows[(np.arange(n) * len(rows)) // n] for rows, n in zip(members, shown)])
