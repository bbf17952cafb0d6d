"""Categories by squared distance: what DP-means would make of them."""

from typing import Any

import numpy as np

from partita.means.cells import Categories


class Indicators(Categories):
    """Categories (n, c) as corners that are 1 apart: half the squared distance of the indicators of a column.

    In a cluster of shares s a category t costs half of (1 - s_t)^2 + the squares of all other s: with two categories
    (x - s)^2 of x = 0 and 1. A cluster without cells of a column has the shares of the table. There is no prior.
    """

    def __init__(self, codes: np.ndarray, n_levels: np.ndarray):
        super().__init__(codes, n_levels, smoothing=0.0)
        self.counts = self.summarised(np.zeros(len(codes), np.int64), 1)

    def of_codes(self, codes: np.ndarray) -> "Indicators":
        """Other rows of the same columns, beside these."""
        other = object.__new__(Indicators)
        other.__dict__ |= vars(self) | {"codes": np.ascontiguousarray(codes)}
        return other

    def fitted(self, summary: np.ndarray) -> np.ndarray:
        """(1 + the sum of s^2) / 2 - s."""
        observed = np.repeat(self._by_column(summary) > 0.0, self.n_levels, axis=1)
        counts = np.where(observed, summary, self.counts)
        shares = counts / np.repeat(np.maximum(self._by_column(counts), 1.0), self.n_levels, axis=1)
        return np.repeat(0.5 + 0.5 * self._by_column(shares * shares), self.n_levels, axis=1) - shares

    def prior(self, shape: Any) -> np.ndarray:
        """Nothing."""
        return np.zeros((len(shape), self.n_columns))

    def alone(self, rows: slice) -> np.ndarray:
        """Nothing: a row is no distance from itself."""
        return np.zeros(self.codes[rows].shape)
