"""Where engines that climb start: k-means on the table, categories and counts turned into numbers."""

from typing import Any

import numpy as np
from scipy import sparse

from partita.table import Table
from partita.table.distinct import n_distinct_rows

MOST_ROWS = 100_000  # different ones on which centres are found; all are then assigned to them
SAMPLE_SHARE = 0.2  # of the rows where an engine begins, but
FEW, MANY = 5000, 10_000  # within these limits, and
ROWS_PER_CLUSTER = 20  # so many for every cluster
ITERATIONS = 10  # of k-means there: the engine goes on
MOST_DENSE = 64  # columns up to which points are a dense matrix


class Points:
    """The different rows of a table as points, for k-means.

    Parameters
    ----------
    table : Table
    weights : (n,) array
        Positive.
    """

    def __init__(self, table: Table, weights: np.ndarray):
        first, atom = table.distinct_rows()
        order = _by_value(table.take(first))
        self.atom = np.argsort(order)[atom]
        self.weights = np.bincount(self.atom, weights)
        self.x = as_points(table.take(first[order]), self.weights)

    def kmeans_labels(self, rng: np.random.Generator, n_clusters: int, max_iter: int = 300) -> np.ndarray:
        """Labels (n,) of one run of k-means; fewer clusters where fewer points are different.

        Neither the order of rows nor whether weights or repeated rows say how often they count makes a difference.
        """
        from sklearn.cluster import KMeans

        n = self.x.shape[0]
        some: Any = slice(None) if n <= MOST_ROWS else rng.choice(n, MOST_ROWS, replace=False)
        n_clusters = n_distinct_rows(self.x[some], n_clusters)
        kmeans = KMeans(n_clusters, n_init=1, max_iter=max_iter, random_state=int(rng.integers(2**31 - 1)))
        kmeans.fit(self.x[some], sample_weight=self.weights[some])
        return kmeans.predict(self.x).astype(np.int64)[self.atom]


def labels_of_some(
    rng: np.random.Generator, table: Table, weights: np.ndarray, n_clusters: int
) -> tuple[np.ndarray, np.ndarray]:
    """Which rows are in a sample, all if they are few, and their labels by some iterations of k-means."""
    most = max(int(np.clip(SAMPLE_SHARE * table.n_rows, FEW, MANY)), ROWS_PER_CLUSTER * n_clusters)
    some = np.arange(table.n_rows)
    if table.n_rows > most:
        some = np.sort(rng.choice(table.n_rows, most, replace=False))
    return some, Points(table.take(some), weights[some]).kmeans_labels(rng, n_clusters, ITERATIONS)


def _by_value(table: Table) -> np.ndarray:
    """The order of rows by their cells, first column first, so that the last bit of a cell hardly matters."""
    cells = np.hstack([np.where(np.isnan(table.numeric), np.inf, table.numeric), table.codes, table.counts])
    return np.lexsort(cells.T[::-1])


def as_points(table: Table, weights: np.ndarray) -> Any:
    """Rows as points, dense or csr, missing cells at the column's mean.

    Numbers and square roots of counts are standardised; each category is a column of its own, so scaled that two rows
    of different categories are one squared unit apart.
    """
    counts = np.sqrt(np.where(table.counts >= 0, table.counts, np.nan))
    numbers = _standardized(np.hstack([table.numeric, counts]), weights)
    if not table.schema.categorical:
        return numbers
    levels = [len(column.levels) for column in table.schema.categorical]
    position = table.codes + np.concatenate([[0], np.cumsum(levels)[:-1]])
    row, column = np.nonzero(table.codes >= 0)
    ones = np.full(row.size, np.sqrt(0.5))
    categories = sparse.csr_array((ones, (row, position[row, column])), shape=(table.n_rows, sum(levels)))
    if numbers.shape[1] + sum(levels) <= MOST_DENSE:
        return np.hstack([numbers, categories.toarray()])
    points = sparse.hstack([sparse.csr_array(numbers), categories], format="csr")
    points.indices, points.indptr = points.indices.astype(np.int32), points.indptr.astype(np.int32)  # for k-means
    return points


def _standardized(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    observed = ~np.isnan(x)
    total = weights @ observed
    mean = weights @ np.where(observed, x, 0.0) / np.where(total > 0, total, 1.0)
    centred = np.where(observed, x - mean, 0.0)
    largest = np.abs(centred).max(axis=0, initial=0.0)
    centred /= np.where(largest > 0, largest, 1.0)  # squares of cells within a float's range
    spread = np.sqrt(weights @ centred**2 / weights.sum())
    return centred / np.where(spread > 0, spread, 1.0)
