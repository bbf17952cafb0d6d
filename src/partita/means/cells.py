"""What numbers and categories cost in a cluster: minus their log density at the numbers that say it best.

A block of columns of one kind is summarised cluster by cluster, and what is said of clusters is found from summaries.
Every cluster has a prior, so that one row, or a column that is constant in it, costs a finite amount; the prior costs
nothing where a cluster is what the column is as a whole.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from partita.kernels.subspaces import add_codes, add_numbers, add_squares

PRIOR_ROWS = 1.0
"""As many rows the variance of a column as a whole counts in that of a cluster."""
SMOOTHING = 1.0
"""As many rows of every category are added to a cluster's."""
HALF = 0.5
"""The variance at which minus a log density is the squared distance."""


class Cells(ABC):
    """Columns of one kind; ``summary`` and ``shape`` are tuples of arrays whose first axis is the cluster."""

    n_columns: int

    @abstractmethod
    def taken(self, rows: np.ndarray) -> "Cells":
        """Some of the rows, with the priors of all."""

    @abstractmethod
    def summarised(self, labels: np.ndarray, n_clusters: int) -> Any:
        """What costs depend on, of every cluster."""

    @abstractmethod
    def pooled(self, summary: Any, chosen: np.ndarray) -> Any:
        """The summary of all cells in clusters that have not chosen the column (K, D), as of one cluster."""

    @abstractmethod
    def loosest(self, summary: Any) -> Any:
        """Column by column the summary, as of one cluster, of the cluster whose cells are least alike."""

    @abstractmethod
    def fitted(self, summary: Any) -> Any:
        """What says cells best: costs and prior together are least."""

    @abstractmethod
    def costs(self, summary: Any, shape: Any) -> np.ndarray:
        """What the cells of every cluster and column (K, D) cost, said by ``shape``, of one cluster or of each."""

    @abstractmethod
    def prior(self, shape: Any) -> np.ndarray:
        """What it costs to say them so (K, D)."""

    @abstractmethod
    def row_costs(self, rows: slice, shape: Any) -> np.ndarray:
        """What each cell (m, D) of some rows costs in the one cluster of ``shape``."""

    @abstractmethod
    def alone(self, rows: slice) -> np.ndarray:
        """What each cell (m, D) would cost in a cluster of its own, its prior included."""


class Moments(NamedTuple):
    """Counts, means and squared distances from the means, (K, p) each."""

    counts: np.ndarray
    means: np.ndarray
    squares: np.ndarray


class Normal(NamedTuple):
    """Means and variances, (K, p) each."""

    means: np.ndarray
    variances: np.ndarray


class Numbers(Cells):
    """Normal numbers (n, p), nan where they are missing.

    The variance is the most probable one, (SS + nu s^2) / (n + nu), s^2 that of the column; or 1/2 throughout
    (``fixed``), which makes costs squared distances. A number stands for all that it was rounded from: its square is
    known as x^2 + ``rounding`` (h^2 / 12, of a step h).
    """

    def __init__(self, cells: np.ndarray, rounding: np.ndarray | float = 0.0, *, fixed: bool = False):
        self.cells, self.fixed, self.n_columns = np.ascontiguousarray(cells), fixed, cells.shape[1]
        self.rounding = np.zeros(self.n_columns) + (0.0 if fixed else rounding)
        self.centre = np.zeros(self.n_columns)
        whole = self.summarised(np.zeros(len(cells), np.int64), 1)
        self.centre = whole.means[0]
        self.variance = np.full(self.n_columns, HALF) if fixed else whole.squares[0] / np.maximum(whole.counts[0], 1.0)

    def taken(self, rows: np.ndarray) -> "Numbers":
        """Some of the rows, with the priors of all."""
        return self.of_cells(self.cells[rows])

    def of_cells(self, cells: np.ndarray) -> "Numbers":
        """Other rows, with the priors of these."""
        other = object.__new__(Numbers)
        other.__dict__ |= vars(self) | {"cells": np.ascontiguousarray(cells)}
        return other

    def summarised(self, labels: np.ndarray, n_clusters: int) -> Moments:
        """Moments; the mean of no cells is that of the column."""
        counts, sums, squares = (np.zeros((n_clusters, self.n_columns)) for _ in range(3))
        add_numbers(self.cells, labels, counts, sums)
        means = np.where(counts > 0.0, sums / np.maximum(counts, 1.0), self.centre)
        add_squares(self.cells, labels, means, squares)
        return Moments(counts, means, squares + counts * self.rounding)

    def spread(self, summary: Moments) -> np.ndarray:
        """Variances as they are (K, p)."""
        return summary.squares / np.maximum(summary.counts, 1.0)

    def lines(self, shape: Normal) -> np.ndarray:
        """Centre, factor of the squared distance and constant (K, p, 3): a cell costs its square times, plus that."""
        factors = 0.5 / shape.variances
        return np.stack([shape.means, factors, self.constants(shape) + factors * self.rounding], axis=2)

    def pooled(self, summary: Moments, chosen: np.ndarray) -> Moments:
        """The moments of cells from those of clusters."""
        counts = np.where(chosen, 0.0, summary.counts)
        total = counts.sum(axis=0)
        means = (counts * summary.means).sum(axis=0) / np.maximum(total, 1.0)
        means = np.where(total > 0.0, means, self.centre)
        between = counts * np.square(summary.means - means)
        squares = (np.where(chosen, 0.0, summary.squares) + between).sum(axis=0)
        return Moments(total[None], means[None], squares[None])

    def loosest(self, summary: Moments) -> Moments:
        """The moments of the cluster of the largest variance."""
        clusters = self.spread(summary).argmax(axis=0)[None]
        return Moments(*(np.take_along_axis(each, clusters, axis=0) for each in summary))

    def fitted(self, summary: Moments) -> Normal:
        """Means, and the most probable variances."""
        if self.fixed:
            return Normal(summary.means, np.full_like(summary.means, HALF))
        rows = summary.counts + PRIOR_ROWS
        return Normal(summary.means, (summary.squares + PRIOR_ROWS * self.variance) / rows)

    def costs(self, summary: Moments, shape: Normal) -> np.ndarray:
        """n log(sigma) + sum (x - zeta)^2 / (2 sigma^2)."""
        squares = summary.squares + summary.counts * np.square(summary.means - shape.means)
        return summary.counts * self.constants(shape) + 0.5 * squares / shape.variances

    def prior(self, shape: Normal) -> np.ndarray:
        """(nu / 2) (log(sigma^2 / s^2) + s^2 / sigma^2 - 1): nothing at the column's own variance."""
        ratios = self.variance / shape.variances
        return 0.5 * PRIOR_ROWS * (ratios - np.log(ratios) - 1.0)

    def row_costs(self, rows: slice, shape: Normal) -> np.ndarray:
        """log(sigma) + (x - zeta)^2 / (2 sigma^2); 0 of a missing cell."""
        rest = self.cells[rows] - shape.means
        costs = self.constants(shape) + 0.5 * (rest * rest + self.rounding) / shape.variances
        return np.where(np.isnan(rest), 0.0, costs)

    def alone(self, rows: slice) -> np.ndarray:
        """The same of every cell, since each is the mean of its cluster; a missing one costs nothing."""
        nothing = np.zeros((1, self.n_columns))
        one = Moments(nothing + 1.0, nothing, nothing + self.rounding)
        shape = self.fitted(one)
        return np.where(np.isnan(self.cells[rows]), 0.0, self.costs(one, shape) + self.prior(shape))

    def constants(self, shape: Normal) -> np.ndarray:
        """log(sigma), or nothing where all variances are alike."""
        return np.zeros_like(shape.variances) if self.fixed else 0.5 * np.log(shape.variances)


class Categories(Cells):
    """Categories (n, c), -1 where they are missing, each with a share of its own.

    Shares are the most probable ones, (n_t + epsilon) / (n + epsilon |T|). A summary is counts (K, T), all categories
    of all columns one after the other, and a shape what each of them costs (K, T).
    """

    def __init__(self, codes: np.ndarray, n_levels: np.ndarray, smoothing: float = SMOOTHING):
        self.codes, self.n_columns = np.ascontiguousarray(codes), codes.shape[1]
        self.n_levels = np.asarray(n_levels, np.int64)
        self.firsts = np.concatenate([[0], np.cumsum(self.n_levels)])[:-1].astype(np.int64)
        self.smoothing = smoothing

    def taken(self, rows: np.ndarray) -> "Categories":
        """Some of the rows."""
        return self.of_codes(self.codes[rows])

    def of_codes(self, codes: np.ndarray) -> "Categories":
        """Other rows of the same columns."""
        return Categories(codes, self.n_levels, self.smoothing)

    def summarised(self, labels: np.ndarray, n_clusters: int) -> np.ndarray:
        """Counts."""
        counts = np.zeros((n_clusters, int(self.n_levels.sum())))
        add_codes(self.codes, self.firsts, labels, counts)
        return counts

    def pooled(self, summary: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The sum of counts."""
        return np.where(np.repeat(chosen, self.n_levels, axis=1), 0.0, summary).sum(axis=0, keepdims=True)

    def loosest(self, summary: np.ndarray) -> np.ndarray:
        """The counts of the cluster whose categories say least of a row: the largest entropy."""
        totals = np.maximum(self._by_column(summary), 1.0)
        entropies = np.log(totals) - self._by_column(xlogy(summary, summary)) / totals
        clusters = np.repeat(entropies.argmax(axis=0), self.n_levels)[None]
        return np.take_along_axis(summary, clusters, axis=0)

    def fitted(self, summary: np.ndarray) -> np.ndarray:
        """-log eta."""
        totals = self._by_column(summary) + self.smoothing * self.n_levels
        return np.repeat(np.log(totals), self.n_levels, axis=1) - np.log(summary + self.smoothing)

    def costs(self, summary: np.ndarray, shape: np.ndarray) -> np.ndarray:
        """-sum_t n_t log eta_t."""
        return self._by_column(summary * shape)

    def prior(self, shape: np.ndarray) -> np.ndarray:
        """-epsilon sum_t log(eta_t |T|): nothing where all shares are alike."""
        return self.smoothing * (self._by_column(shape) - self.n_levels * np.log(np.maximum(self.n_levels, 1)))

    def row_costs(self, rows: slice, shape: np.ndarray) -> np.ndarray:
        """-log eta_t; 0 of a missing cell."""
        codes = self.codes[rows]
        return np.where(codes < 0, 0.0, shape[0, self.firsts + np.maximum(codes, 0)])

    def alone(self, rows: slice) -> np.ndarray:
        """The same of every category of a column; a missing one costs nothing."""
        first = np.zeros((1, int(self.n_levels.sum())))
        first[0, self.firsts] = 1.0
        shape = self.fitted(first)
        return np.where(self.codes[rows] < 0, 0.0, self.costs(first, shape) + self.prior(shape))

    def _by_column(self, by_category: np.ndarray) -> np.ndarray:
        if self.n_columns == 0:
            return np.zeros((len(by_category), 0))
        return np.add.reduceat(by_category, self.firsts, axis=1)
