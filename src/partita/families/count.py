"""Clusters of counts: the options, and what they become given a table."""

from typing import Any

import numpy as np

from partita.families.algebra.columns import per_column
from partita.families.base import Conjugate, Family
from partita.families.gamma_poisson import GammaPoisson
from partita.table import Table


class Count(Family, name="count"):
    """Independent Poisson columns; every cluster's rates are summed out.

    Parameters
    ----------
    shape, rate : float or one per column
        Gamma prior of every column's rate. None: shape 1, and a rate that expects the mean of the column.

    Examples
    --------
    >>> from partita import Mixture
    >>> model = Mixture(family=Count(shape=1.0, rate=0.1), column_types={"x0": "count"}, engine="vb", random_state=0)
    >>> model.fit([[0], [1], [0], [22], [25], [19]]).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    kind = "count"

    def __init__(self, *, shape: Any = None, rate: Any = None):
        self.shape = shape
        self.rate = rate

    def on_columns(self, table: Table, columns: np.ndarray) -> Conjugate:
        """The conjugate model over some of the table's count columns."""
        shape = per_column("shape", 1.0 if self.shape is None else self.shape, len(columns))
        if self.rate is not None:
            return GammaPoisson(shape, per_column("rate", self.rate, len(columns)), columns)
        x = table.counts[:, columns]
        seen = x >= 0
        mean = table.row_weights @ np.where(seen, x, 0) / np.maximum(table.row_weights @ seen, 1.0)
        return GammaPoisson(shape, shape / np.where(mean > 0, mean, 1.0), columns)

    @classmethod
    def examples(cls) -> list[tuple[Family, Table]]:
        """Six rows of two columns, two cells missing."""
        x = np.array([[0, 3], [1, np.nan], [0, 20], [7, 15], [9, 2], [np.nan, 4]])
        return [(cls(shape=0.8), Table.read(x, column_types={0: "count", 1: "count"}))]
