"""Which clusters the rows of a picture are in, and which rows it shows when all would not be told apart."""

from typing import Any

import numpy as np

from partita.partitions import by_size
from partita.posterior import Posterior


def labels_or_estimate(posterior: Posterior, labels: Any) -> np.ndarray:
    """The given labels, or those of the estimate, renamed 0, 1, ... from the largest cluster to the smallest."""
    given = posterior.estimate().labels if labels is None else np.asarray(labels)
    if given.shape != (posterior.n_objects,):
        raise ValueError(
            f"labels must be one per row of the posterior, shape ({posterior.n_objects},); got {given.shape}."
        )
    return by_size(given)


def spread(clusters: np.ndarray, sizes: np.ndarray, most_rows: int) -> np.ndarray:
    """Rows evenly spaced within every cluster, about ``most_rows`` in all, cluster after cluster.

    Every cluster keeps its share, and at least one row if it is among the first ``most_rows``. ``clusters`` are labels
    0, 1, ...; rows labelled -1 are left out. Cost O(n log n).
    """
    share = min(1.0, most_rows / sizes.sum())
    members = np.split(np.argsort(clusters, kind="stable")[(clusters < 0).sum() :], np.cumsum(sizes)[:-1])
    shown = [max(1, round(size * share)) for size in sizes[:most_rows]]
    return np.concatenate([rows[(np.arange(n) * len(rows)) // n] for rows, n in zip(members, shown)])
