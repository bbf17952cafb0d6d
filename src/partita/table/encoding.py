"""From cells to arrays: how each kind of column is checked, learned and coded."""

import math
import numbers
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from partita.table.cells import ColumnCells, read_cells
from partita.table.schema import LARGEST_WHOLE, Column, Kind, Schema
from partita.table.text_codes import text_codes
from partita.table.units import center_and_scale, to_standard
from partita.wording import count_of, declare, name_rows, name_some


@dataclass(frozen=True)
class Reading:
    """One checked column: floats (nan = missing), counts or codes (-1 = missing) by ``kind``.

    The codes of a categorical column count ``distinct``, its values in any order; some may not occur.
    """

    name: str
    kind: Kind
    values: np.ndarray
    distinct: tuple = ()

    @property
    def observed(self) -> np.ndarray:
        """Which cells are not missing."""
        return ~np.isnan(self.values) if self.kind == "numeric" else self.values >= 0


def read_column(name: str, column: Any, told: Kind | None) -> Reading:
    """Check one column's cells as the kind it is told to have, or else the kind that its values have."""
    coded = text_codes(column) if told in (None, "categorical") else None
    if coded is not None:
        return Reading(name, "categorical", *coded)
    cells = read_cells(name, column, told)
    kind = told or cells.natural_kind
    _refuse_infinite(cells)
    if kind == "numeric":
        return Reading(name, kind, _as_floats(cells))
    if kind == "count":
        return Reading(name, kind, _as_counts(cells))
    codes, distinct = _factorise(cells)
    return Reading(name, kind, codes, distinct)


def learn_schema(
    readings: Sequence[Reading], *, weights: np.ndarray | None, standardize: bool | Callable[[str], bool]
) -> Schema:
    """Learn levels, centers and scales, and drop constant columns with one warning.

    A column is constant when its cells in rows of positive weight hold at most one value. When every column
    is constant none is dropped.
    """
    counted = np.ones(len(readings[0].values), dtype=bool) if weights is None else weights > 0
    seen = [reading.observed & counted for reading in readings]
    if not any(cells.any() for cells in seen):
        raise ValueError(
            "All cells of the table are missing. Pass at least one row of positive weight that has a value."
        )
    varies = [_varies(reading.values[cells]) for reading, cells in zip(readings, seen)]
    standardized = [standardize(reading.name) if callable(standardize) else standardize for reading in readings]
    columns = [_learn_column(r, cells, weights, each) for r, cells, each in zip(readings, seen, standardized)]
    if not any(varies):
        return Schema(tuple(columns))
    for j, kept in enumerate(varies):
        if not kept:
            columns[j] = _dropped_column(columns[j], readings[j].values[seen[j]])
    dropped = tuple(column.name for column, kept in zip(columns, varies) if not kept)
    if dropped:
        warnings.warn(
            f"Dropped {count_of(len(dropped), 'constant column')}, which cannot tell groups apart: "
            f"{', '.join(map(repr, dropped))}.",
            UserWarning,
            stacklevel=3,
        )
    return Schema(tuple(columns), dropped)


def encode_codes(reading: Reading, column: Column, *, counted: np.ndarray | None = None) -> np.ndarray:
    """Codes of a categorical column by the levels of the schema.

    A value that is no level is refused, except in rows outside ``counted`` (rows of weight 0), where it
    counts as missing.
    """
    index = {level: code for code, level in enumerate(column.levels)}
    lookup = np.array([*(index.get(value, -1) for value in reading.distinct), -1], dtype=np.int32)
    codes = lookup[reading.values]
    unseen = (codes < 0) & (reading.values >= 0)
    if counted is not None:
        unseen &= counted
    if unseen.any():
        _refuse_unseen(reading, unseen)
    return codes


def encode_numeric(reading: Reading, column: Column) -> np.ndarray:
    """Cells of a numeric column in standard units, nan where missing."""
    return to_standard(reading.values, column)


def _as_floats(cells: ColumnCells) -> np.ndarray:
    values = cells.values.astype(np.float64)
    values[cells.missing] = np.nan  # one bit pattern, whatever nan came in
    return values


def _as_counts(cells: ColumnCells) -> np.ndarray:
    values = np.where(cells.missing, 0, cells.values.astype(np.float64))
    bad = np.flatnonzero((values < 0) | (values != np.floor(values)) | (values > LARGEST_WHOLE))
    if len(bad):
        raise ValueError(
            f"Column {cells.name!r} is to hold counts, but {count_of(len(bad), 'cell')} "
            f"({name_rows(bad)}; first {cells.values[bad[0]].item()!r}) "
            f"{'is' if len(bad) == 1 else 'are'} not a whole number from 0 to 2**53. Correct them, leave the "
            f"cells empty, or take the column as numbers: {declare(cells.name, 'numeric')}."
        )
    counts = values.astype(np.int64)
    counts[cells.missing] = -1
    return counts


def _factorise(cells: ColumnCells) -> tuple[np.ndarray, tuple]:
    """Codes by first appearance (numbers: by size) and the distinct values; cost O(n), numbers O(n log n)."""
    codes = np.full(len(cells.values), -1, dtype=np.int64)
    present = cells.values[~cells.missing]
    if present.dtype == object:
        index = {value: code for code, value in enumerate(dict.fromkeys(present))}
        codes[~cells.missing] = np.fromiter(map(index.__getitem__, present), np.int64, len(present))
        return codes, tuple(map(_plain, index))
    distinct, codes[~cells.missing] = np.unique(present, return_inverse=True)
    return codes, tuple(map(_plain, distinct.tolist()))


def _plain(value: Any) -> str | bool | int | float:
    """The value as a built-in type; whole floats as int, so that 100.0 reads 100."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    number = float(value)
    return int(number) if number.is_integer() and abs(number) <= LARGEST_WHOLE else number


def _varies(values: np.ndarray) -> bool:
    return len(values) > 0 and values.min() != values.max()


def _learn_column(reading: Reading, seen: np.ndarray, weights: np.ndarray | None, standardize: bool) -> Column:
    column = Column(reading.name, reading.kind)
    if reading.kind == "categorical":
        return replace(column, levels=_levels(reading, seen))
    if reading.kind == "count" or not standardize or not seen.any():
        return column
    center, scale = center_and_scale(reading.values[seen], None if weights is None else weights[seen])
    return replace(column, center=center, scale=scale)


def _levels(reading: Reading, seen: np.ndarray) -> tuple:
    codes = reading.values[seen]
    met = {reading.distinct[code] for code in np.flatnonzero(np.bincount(codes))}
    try:
        return tuple(sorted(met))
    except TypeError:  # text beside numbers has no order
        _, first_rows = np.unique(codes, return_index=True)
        return tuple(reading.distinct[code] for code in codes[np.sort(first_rows)])


def _dropped_column(column: Column, values: np.ndarray) -> Column:
    if column.kind == "categorical":
        return column
    return replace(column, center=float(values[0]) if len(values) else math.nan, scale=1.0)


def _refuse_infinite(cells: ColumnCells) -> None:
    rows = np.flatnonzero(_is_infinite(cells.values) & ~cells.missing)
    if len(rows):
        it, cell = ("it", "cell") if len(rows) == 1 else ("them", "cells")
        raise ValueError(
            f"Column {cells.name!r} has {count_of(len(rows), 'infinite value')} ({name_rows(rows)}). "
            f"Replace {it} or leave the {cell} empty: missing cells are fine."
        )


def _is_infinite(values: np.ndarray) -> np.ndarray:
    if values.dtype != object:
        return np.isinf(values)
    if not any(issubclass(kind, float) for kind in set(map(type, values))):
        return np.zeros(len(values), dtype=bool)
    return np.fromiter((isinstance(v, float) and math.isinf(v) for v in values), bool, len(values))


def _refuse_unseen(reading: Reading, unseen: np.ndarray) -> NoReturn:
    rows = np.flatnonzero(unseen)
    values = [reading.distinct[code] for code in dict.fromkeys(reading.values[rows].tolist())]
    raise ValueError(
        f"Column {reading.name!r} has {count_of(len(values), 'value')} not seen in fit: "
        f"{name_some(values, len(values))} ({name_rows(rows)}). Correct the cell or leave the cell empty: "
        "missing cells are fine."
    )
