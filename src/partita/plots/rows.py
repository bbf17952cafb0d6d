"""Which rows a picture shows, when all of them would not be told apart."""

import numpy as np


def spread(clusters: np.ndarray, sizes: np.ndarray, most_rows: int) -> np.ndarray:
    """Rows evenly spaced within every cluster, about ``most_rows`` in all, cluster after cluster.

    Every cluster keeps its share, and at least one row. ``clusters`` are labels 0, 1, ...; rows labelled -1 are
    left out. Cost O(n log n).
    """
    share = min(1.0, most_rows / sizes.sum())
    members = np.split(np.argsort(clusters, kind="stable")[(clusters < 0).sum() :], np.cumsum(sizes)[:-1])
    shown = [max(1, round(size * share)) for size in sizes]
    return np.concatenate([rows[(np.arange(n) * len(rows)) // n] for rows, n in zip(members, shown)])
