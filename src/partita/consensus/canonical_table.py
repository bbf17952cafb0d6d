"""A label table whose objects, clusterings and labels are in canonical order, and the way back."""

from dataclasses import replace
from typing import Any

import numpy as np

from partita.consensus.canonical import canonical_order
from partita.table import Schema, Table


class CanonicalTable:
    """The table that all tables become which differ by the order of objects or columns, or the names of labels.

    Parameters
    ----------
    given : Table
        Of categorical columns only.

    Attributes
    ----------
    table : Table
        In canonical order.
    place : (n,) array
        Where each object of ``given`` is in it.
    kinds : (n,) array
        A number for every kind of equal objects of ``given``.
    columns : (M,) array
        The columns of ``given`` in canonical order.
    cells : (L,) array
        Where each label of ``given``, counted over all columns, is among those of ``table``.
    """

    def __init__(self, given: Table):
        order = canonical_order(given.codes)
        self.columns, self.kinds = order.columns, order.kinds
        self.place = _inverse(order.rows)
        ranks = [own if own.size else np.zeros(1, dtype=np.int64) for own in order.labels]
        codes = np.empty_like(given.codes)
        for position, m in enumerate(order.columns):
            old = given.codes[order.rows, m]
            codes[:, position] = np.where(old < 0, -1, ranks[m][np.maximum(old, 0)])
        columns = [
            replace(column, levels=tuple(column.levels[old] for old in _inverse(ranks[m])) if column.levels else ())
            for m, column in enumerate(given.schema.columns)
        ]
        schema = Schema(tuple(columns[m] for m in order.columns))
        self.table = Table(schema, given.numeric, codes, given.counts)
        starts = np.concatenate([[0], np.cumsum([ranks[m].size for m in order.columns])[:-1]])
        self.cells = np.concatenate([starts[c] + own for c, own in zip(_inverse(order.columns), ranks)])

    def per_column(self, values: Any) -> Any:
        """Values of the given columns in canonical order; one value, or not one for every column, as it is."""
        return np.asarray(values)[self.columns] if np.shape(values) == self.columns.shape else values


def _inverse(order: np.ndarray) -> np.ndarray:
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place
