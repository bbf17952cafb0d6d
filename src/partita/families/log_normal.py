"""Clusters of positive numbers: Gaussian ones of their logs."""

from typing import Any

import numpy as np

from partita.families.algebra.columns import named
from partita.families.base import Conjugate, Family
from partita.families.gaussian import Gaussian
from partita.table import Table
from partita.table.positive import checked_offset


class LogNormal(Gaussian, name="log-normal"):
    """Log-normal rows: log(x + offset) is Gaussian; density in the units of x.

    log p(x) = log N(log(x + offset); mu, Sigma) - sum_j log(x_j + offset). Numbers that ``column_types`` does not name
    are read as positive ones; each must be above -offset.

    Parameters
    ----------
    offset : float
        What is added to every cell before its log is taken, at least 0: 1 where there are zeros.
    covariance, mean, mean_precision, dof, scale, shape, variance, mean_variance
        Those of `Gaussian`, of the logs: standardised ones, unless ``standardize=False``.

    Examples
    --------
    >>> from partita import Mixture
    >>> model = Mixture(family=LogNormal(covariance="diag"), engine="vb", random_state=0)
    >>> model.fit([[1.0], [1.1], [1.3], [900.0], [1100.0], [1300.0]]).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        *,
        offset: float = 0.0,
        covariance: str = "full",
        mean: Any = None,
        mean_precision: Any = None,
        dof: Any = None,
        scale: Any = None,
        shape: Any = None,
        variance: Any = None,
        mean_variance: Any = None,
    ):
        super().__init__(
            covariance=covariance,
            mean=mean,
            mean_precision=mean_precision,
            dof=dof,
            scale=scale,
            shape=shape,
            variance=variance,
            mean_variance=mean_variance,
        )
        self.offset = offset

    def reads_as_positive(self, name: str) -> bool:
        """Of every column."""
        return True

    def offset_of_column(self, name: str) -> float:
        """One for all columns."""
        return self.offset

    def on_columns(self, table: Table, columns: np.ndarray) -> Conjugate:
        """The conjugate model over some of the table's columns, all of them positive."""
        read = [table.schema.numeric[position] for position in columns]
        others = [column.name for column in read if column.kind != "positive"]
        if others:
            raise ValueError(
                f"LogNormal reads positive columns, and {named(others)} read as {_words(table, others[0])}: do not "
                f"name them in column_types, or read the table with column_types={{{others[0]!r}: 'positive'}}."
            )
        shifted = [column.name for column in read if column.offset != self.offset]
        if shifted:
            raise ValueError(
                f"LogNormal(offset={self.offset!r}) does not fit the table, in which {named(shifted)} stored with "
                f"another offset: read it with Table.read(X, offset={self.offset!r})."
            )
        return super().on_columns(table, columns)

    def check(self) -> None:
        """Refuse an offset below 0, and what `Gaussian` refuses."""
        checked_offset(self.offset)
        super().check()

    @classmethod
    def examples(cls) -> list[tuple[Family, Table]]:
        """Every covariance on six rows of two columns, cells missing; one of numbers that were recorded in steps."""
        x = np.array([[0.3, 1.3], [0.4, np.nan], [1.1, 0.8], [3.0, 2.4], [4.1, 3.7], [1.2, 0.2]])
        more_missing = x.copy()
        more_missing[4, 0] = more_missing[5, 1] = np.nan

        def read(cells: np.ndarray, offset: float, step: float = 0.0) -> Table:
            return Table.read(cells, positive=True, offset=offset, standardize=False, column_steps=step)

        return [
            (cls(covariance="full", dof=4.0, scale=0.8), read(x, 0.0)),
            (cls(covariance="diag", mean_precision=0.3, offset=0.5), read(more_missing, 0.5, 0.1)),
            (cls(covariance="known", variance=0.1, offset=1.0), read(more_missing, 1.0)),
        ]


def _words(table: Table, name: str) -> str:
    kind = next(column.kind for column in table.schema.columns if column.name == name)
    return {"numeric": "numbers", "date": "dates"}[kind]
