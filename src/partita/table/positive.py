"""Positive numbers: which columns are told to hold them, and numbers that have no log."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.table.schema import Column
from partita.wording import count_of, declare, name_rows

if TYPE_CHECKING:
    from partita.table.encoding import Reading

SMALL = 0.1  # quantile of a column's cells that says how wide a step is in logs


def as_positive(
    readings: "Sequence[Reading]",
    told: Collection[str],
    positive: bool | Callable[[str], bool],
    offset: float | Callable[[str], float],
) -> "list[Reading]":
    """Columns of numbers that ``positive`` names as positive ones, unless something else was told, with their offsets.

    Columns that are told to be positive have the offset too.
    """
    read = []
    for reading in readings:
        named = positive(reading.name) if callable(positive) else positive
        if named and reading.kind == "numeric" and reading.name not in told:
            reading = replace(reading, kind="positive")
        if reading.kind == "positive":
            reading = replace(reading, offset=offset_of(reading.name, offset))
        read.append(reading)
    return read


def offset_of(name: str, offset: float | Callable[[str], float]) -> float:
    """The offset of the column of this name."""
    return checked_offset(offset(name) if callable(offset) else offset)


def checked_offset(offset: Any) -> float:
    """A finite number of at least 0."""
    is_number = isinstance(offset, Real) and not isinstance(offset, bool)
    if not (is_number and 0.0 <= float(offset) < np.inf):
        raise ValueError(
            f"offset must be a finite number of at least 0, what is added before the log is taken, got {offset!r}."
        )
    return float(offset)


def rows_without_log(numbers: np.ndarray, offset: float, counted: np.ndarray | None) -> np.ndarray:
    """Rows, of those in ``counted`` (None: of all), whose number plus offset is not above 0."""
    strange = numbers + offset <= 0.0  # of nan this is False
    return np.flatnonzero(strange if counted is None else strange & counted)


def refuse_without_log(column: Column, rows: np.ndarray) -> None:
    """Refuse numbers of a positive column that have no log."""
    if not len(rows):
        return
    least = f"above {-column.offset:g}" if column.offset else "above 0"
    raise ValueError(
        f"Column {column.name!r} is to hold positive numbers, but {count_of(len(rows), 'cell')} ({name_rows(rows)}) "
        f"{'is' if len(rows) == 1 else 'are'} not {least}. Correct them, leave the cells empty, give an offset that is "
        f"added to all cells before their logs are taken, families.LogNormal(offset=1.0), or take the column as "
        f"numbers: {declare(column.name, 'numeric')}."
    )
