"""Where EM starts: k-means on the table, categories and counts turned into numbers."""

from functools import cached_property

import numpy as np
from sklearn.cluster import KMeans

from partita.table import Table

MOST_ROWS = 100_000  # on which centres are found; all rows are then assigned to them


class Points:
    """The rows of a table as points, for k-means.

    Parameters
    ----------
    table : Table
    weights : (n,) array
        Positive.
    """

    def __init__(self, table: Table, weights: np.ndarray):
        self.x = as_numbers(table)
        self.weights = weights.astype(np.float64)

    def kmeans_labels(self, rng: np.random.Generator, n_clusters: int) -> np.ndarray:
        """Labels (n,) of one run of k-means; fewer clusters where fewer rows are different.

        Up to 100 000 rows neither their order nor whether weights or repeated rows say how often they count makes a
        difference. Beyond, centres are found on as many of them.
        """
        if len(self.x) <= MOST_ROWS:
            centers, weights = self._atoms
        else:
            some = rng.choice(len(self.x), MOST_ROWS, replace=False)
            centers, weights = _atoms_of(self.x[some], self.weights[some])
        kmeans = KMeans(min(n_clusters, len(centers)), n_init=1, random_state=int(rng.integers(2**31 - 1)))
        return kmeans.fit(centers, sample_weight=weights).predict(self.x).astype(np.int64)

    @cached_property
    def _atoms(self) -> tuple[np.ndarray, np.ndarray]:
        return _atoms_of(self.x, self.weights)


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


def _atoms_of(x: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different rows in order, and the summed weight of each."""
    atoms, atom = np.unique(x, axis=0, return_inverse=True)
    return atoms, np.bincount(atom.ravel(), weights)
