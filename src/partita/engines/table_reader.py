"""Rows and single columns read as fit read them."""

from typing import Any

import numpy as np

from partita.parameters import whole_number
from partita.table import Table
from partita.table.schema import KINDS, Schema


class TableReader:
    """Reads raw rows by the schema that fit learned; holds no data.

    A subclass that reads another kind of input brings ``table``.

    Parameters
    ----------
    schema : Schema
    unseen : {"missing", "error"}
        What becomes of categories that the schema does not know; see ``Table.read``.
    """

    def __init__(self, schema: Schema, unseen: str = "missing"):
        self.schema, self.unseen = schema, unseen

    def table(self, X: Any, schema: Schema) -> Table:
        """Raw rows by a schema; see ``Table.read``."""
        return Table.read(X, schema=schema, unseen=self.unseen)

    def read(self, X: Any) -> Table:
        """The rows as a table; a place may have none."""
        empty = not isinstance(X, str) and hasattr(X, "__len__") and len(X) == 0
        return Table(self.schema, *self._missing(0)) if empty else self.table(X, self.schema)

    def read_column(self, column: Any, m: int) -> Table:
        """Column m (n,) of the columns seen in fit as a table whose other cells are all missing."""
        values = np.array(column, dtype=object) if isinstance(column, list | tuple) else np.asarray(column)
        if values.ndim != 1:
            raise ValueError(f"A column has one cell per row: got an array of shape {values.shape}.")
        n_columns = len(self.schema.names)
        if whole_number("m, the number of a column,", m, 0) >= n_columns:
            raise ValueError(f"Column {m} was not seen in fit: they are numbered from 0 to {n_columns - 1}.")
        name = self.schema.names[m]
        blocks = self._missing(values.shape[0])
        if values.shape[0] and not self.schema.drops(name):
            own = tuple(column for column in self.schema.columns if name in (column.name, column.part_of))
            missing = tuple((key, value) for key, value in self.schema.missing if key in (None, name))
            alone = self.table(values[:, None], Schema(own, missing=missing))
            for part in own:
                block = blocks[KINDS.index(part.block)]
                block[:, self.schema.by_kind[part.block].index(part)] = alone.by_kind[part.block][:, 0]
        return Table(self.schema, *blocks)

    def _missing(self, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The blocks of rows that have no cell."""
        return (
            np.full((n_rows, len(self.schema.numeric)), np.nan),
            np.full((n_rows, len(self.schema.categorical)), -1, dtype=np.int32),
            np.full((n_rows, len(self.schema.counts)), -1, dtype=np.int64),
        )
