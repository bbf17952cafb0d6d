"""Where EM starts: k-means on the table, categories and counts turned into numbers."""

import numpy as np
from sklearn.cluster import KMeans

from partita.table import Table

MOST_ROWS = 100_000  # on which centres are found; all rows are then assigned to them


def kmeans_labels(rng: np.random.Generator, table: Table, weights: np.ndarray, n_clusters: int) -> np.ndarray:
    """Labels (n,) of one run of k-means; fewer clusters where fewer rows are different.

    ``weights`` (n,) are positive.
    """
    x, weights = as_numbers(table), weights.astype(np.float64)
    some = slice(None) if table.n_rows <= MOST_ROWS else rng.choice(table.n_rows, MOST_ROWS, replace=False)
    n_clusters = _distinct_up_to(x[some], n_clusters)
    kmeans = KMeans(n_clusters, n_init=1, random_state=int(rng.integers(2**31 - 1)))
    kmeans.fit(x[some], sample_weight=weights[some])
    return kmeans.predict(x).astype(np.int64)


def as_numbers(table: Table) -> np.ndarray:
    """Rows as points, missing cells at the column's mean.

    Numbers are as stored; of counts the square roots, standardised; each category is a column of its own, so scaled
    that two rows of different categories are one squared unit apart.
    """
    counts = np.sqrt(np.where(table.counts >= 0, table.counts, np.nan))
    parts = [_filled(table.numeric), _standardized(_filled(counts))]
    for column, codes in zip(table.schema.categorical, table.codes.T):
        levels = np.arange(len(column.levels))
        parts.append((codes[:, None] == levels) * np.sqrt(0.5))
    return np.hstack(parts)


def _filled(x: np.ndarray) -> np.ndarray:
    observed = ~np.isnan(x)
    mean = np.where(observed, x, 0.0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    return np.where(observed, x, mean)


def _standardized(x: np.ndarray) -> np.ndarray:
    spread = x.std(axis=0)
    return (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _distinct_up_to(x: np.ndarray, most: int) -> int:
    """How many different rows there are, or ``most`` if there are more."""
    n = 4 * most
    while True:
        n_distinct = np.unique(x[:n], axis=0).shape[0]
        if n_distinct >= most or n >= x.shape[0]:
            return min(n_distinct, most)
        n *= 4
