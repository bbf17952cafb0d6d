"""From cells to arrays: how each kind of column is checked, learned and coded."""

import math
import numbers
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita.table.cells import ColumnCells, read_cells
from partita.table.date_text import ORDERS
from partita.table.dates import numbers_of, time_unit
from partita.table.positive import SMALL, refuse_without_log, rows_without_log
from partita.table.schema import LARGEST_WHOLE, Column, ColumnKind, Schema
from partita.table.steps import TOLERANCE, recorded_step
from partita.table.text_codes import codes_of_objects, is_categorical, text_codes
from partita.table.text_values import TextColumn, TextValues, levels_again, numbers_again, recognised, told_dates
from partita.table.time_cells import refuse_times
from partita.table.units import center_and_scale, to_standard
from partita.table.unseen import UnseenValues
from partita.wording import count_of, declare, name_rows


@dataclass(frozen=True)
class Reading:
    """One checked column: floats (nan = missing), times (NaT), counts or codes (-1 = missing) by ``kind``.

    The codes of a categorical column count ``distinct``, its values in any order; some may not occur. Dates are
    datetime64[us], in UTC where ``in_utc``; durations and times of day (``of_day``) are timedelta64[us]. Where text was
    read as numbers or dates, ``written`` says how it was written, ``example`` gives one, and ``ambiguous`` says that
    day and month could be taken for each other. ``guessed``: the kind is not that of its values, and nobody told it.
    ``offset`` is added to positive numbers before their logs are taken. ``part_of`` is the column of which it says
    where that is 0.
    """

    name: str
    kind: ColumnKind
    values: np.ndarray
    distinct: tuple = ()
    in_utc: bool = False
    of_day: bool = False
    written: str = ""
    example: str = ""
    ambiguous: bool = False
    guessed: bool = False
    offset: float = 0.0
    part_of: str = ""

    @property
    def observed(self) -> np.ndarray:
        """Which cells are not missing."""
        kind = self.values.dtype.kind
        return ~np.isnat(self.values) if kind in "mM" else ~np.isnan(self.values) if kind == "f" else self.values >= 0

    def seen_values(self, counted: np.ndarray | None) -> np.ndarray:
        """What is observed in rows of ``counted`` (None: in all)."""
        return self.values[self.observed if counted is None else self.observed & counted]


def read_column(
    name: str, column: Any, told: str | None, *, known: Column | None = None, decimal_comma: bool = False
) -> Reading:
    """Check one column's cells as what it is told to hold, or else as the kind that its values have.

    Text in which all cells agree on how numbers or dates are written is read as these, unless it is told to be
    categorical. ``known`` is what fit learned of the column, ``decimal_comma`` whether plain numbers may have one.
    """
    order = told if told in ORDERS else ""
    kind: Any = "date" if order else told
    coded = text_codes(column)
    if kind == "categorical" and known is not None and known.written and coded is not None:
        return Reading(name, "categorical", coded[0], levels_again(TextColumn(name, *coded), known.written))
    if kind != "categorical" and not is_categorical(column):
        codes = coded or codes_of_objects(column)
        found = None if codes is None else _text_values(TextColumn(name, *codes), kind, order, known, decimal_comma)
        if found is not None:
            reading = _of_cells(found.cells, kind)
            return replace(reading, written=found.written, example=found.example, ambiguous=found.ambiguous)
    if coded is not None and kind in (None, "categorical"):
        return Reading(name, "categorical", *coded)
    return _of_cells(read_cells(name, column, kind), kind)


def _text_values(
    text: TextColumn, kind: ColumnKind | None, order: str, known: Column | None, decimal_comma: bool
) -> TextValues | None:
    """What the text of a column stands for; None where it stands for itself, or nothing is known of it."""
    if kind == "date":
        return told_dates(text, order or (known.written if known else ""), again=known is not None)
    if known is not None:
        return numbers_again(text, known.written) if known.written else None
    return recognised(text, decimal_comma=decimal_comma, told_numbers=kind is not None)


def _of_cells(cells: ColumnCells, told: ColumnKind | None) -> Reading:
    kind = told or cells.natural_kind
    _refuse_infinite(cells)
    if cells.values.dtype.kind in "mM":
        return Reading(cells.name, kind, cells.values, in_utc=cells.in_utc, of_day=cells.of_day)
    if kind == "date":
        return Reading(cells.name, kind, _no_dates(cells))
    if kind == "count":
        return Reading(cells.name, kind, _as_counts(cells))
    if kind != "categorical":
        return Reading(cells.name, kind, _as_floats(cells))
    codes, distinct = _factorise(cells)
    return Reading(cells.name, kind, codes, distinct)


def coded(reading: Reading) -> Reading:
    """A column of numbers as categories."""
    codes, distinct = _factorise(ColumnCells(reading.name, reading.values, ~reading.observed))
    return replace(reading, kind="categorical", values=codes, distinct=distinct)


def learn_schema(
    readings: Sequence[Reading],
    *,
    weights: np.ndarray | None,
    standardize: bool | Callable[[str], bool],
    steps: Mapping[str, float],
) -> Schema:
    """Learn levels, centers, scales and steps, and drop constant columns and those without any value, with warnings.

    ``steps`` are those that are known, by column name.

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
    kept_columns = varies if any(varies) else [True] * len(readings)
    columns = [
        _learn_column(r, cells, weights, each, steps.get(r.name)) if kept else _dropped_column(r, cells)
        for r, cells, each, kept in zip(readings, seen, standardized, kept_columns)
    ]
    if not any(varies):
        return Schema(tuple(columns))
    dropped = tuple(column.name for column, kept in zip(columns, varies) if not kept)
    _warn_of_dropped([c.name for c, kept, cells in zip(columns, varies, seen) if not kept and cells.any()], dropped)
    return Schema(tuple(columns), dropped)


def _warn_of_dropped(constant: list[str], dropped: Sequence[str]) -> None:
    """Warn of constant columns, and apart from these of columns without any value."""
    empty = [name for name in dropped if name not in constant]
    reasons = {
        f"{count_of(len(constant), 'constant column')}, which cannot tell groups apart": constant,
        f"{count_of(len(empty), 'column')} without any value": empty,
    }
    for words, names in reasons.items():
        if names:
            warnings.warn(f"Dropped {words}: {', '.join(map(repr, names))}.", UserWarning, stacklevel=4)


def encode_codes(
    reading: Reading, column: Column, *, unseen: UnseenValues, counted: np.ndarray | None = None
) -> np.ndarray:
    """Codes of a categorical column by the levels of the schema, -1 where a value is no level.

    Text is also the number or truth value that is written so: one odd cell makes a column of a file text. A number is
    also the level that it lies next to, but for a thousandth of the gap between levels, and in columns that were
    guessed so is text that is one: thirds have many spellings.
    Values that are no level go to ``unseen``, except in rows outside ``counted`` (rows of weight 0).
    """
    lookup = np.array([*map(_level_finder(column), reading.distinct), -1], dtype=np.int32)
    codes = lookup[reading.values]
    strange = (codes < 0) & (reading.values >= 0)
    if counted is not None:
        strange &= counted
    if strange.any():
        rows = np.flatnonzero(strange)
        met = dict.fromkeys(reading.values[rows].tolist())
        unseen.meet(reading.name, [reading.distinct[code] for code in met], rows)
    return codes


def _level_finder(column: Column) -> Callable[[Any], int]:
    """A function from a value to the code of its level, -1 where it has none."""
    index = {level: code for code, level in enumerate(column.levels)}
    written = {str(level).lower(): code for level, code in index.items() if not isinstance(level, str)}
    is_number = [isinstance(level, int | float) and not isinstance(level, bool) for level in column.levels]
    codes = np.flatnonzero(is_number)
    numbers = np.array([column.levels[code] for code in codes], dtype=np.float64)
    gaps = np.diff(np.sort(numbers))
    tolerance = TOLERANCE * gaps.min() if len(gaps) else 0.0

    def code_of(value: Any) -> int:
        code = index.get(value, written.get(value.strip().lower(), -1) if isinstance(value, str) else -1)
        is_text = isinstance(value, str) and not column.guessed  # what was meant to be text is no number
        if code >= 0 or is_text or isinstance(value, bool) or not len(numbers):
            return code
        try:
            distance = np.abs(numbers - float(value))
        except ValueError:  # text
            return -1
        return int(codes[distance.argmin()]) if distance.min() <= tolerance else -1

    return code_of


def encode_numeric(
    reading: Reading, column: Column, *, unseen: UnseenValues, counted: np.ndarray | None = None
) -> np.ndarray:
    """Cells of a numeric column in standard units, nan where missing.

    Numbers of a positive column that have no log go to ``unseen``, except in rows outside ``counted``.
    """
    numbers = numbers_in_unit(reading, column)
    if column.kind == "positive":
        strange = rows_without_log(numbers, column.offset, counted)
        if strange.size:
            unseen.meet(reading.name, list(dict.fromkeys(numbers[strange].tolist())), strange)
    return to_standard(numbers, column)


def numbers_in_unit(reading: Reading, column: Column) -> np.ndarray:
    """Cells of a numeric column in the user's units, nan where missing: dates and durations in the column's unit."""
    if reading.values.dtype.kind not in "mM":
        return reading.values
    if not column.unit and reading.observed.any():
        row = int(np.flatnonzero(reading.observed)[0])
        refuse_times(reading.name, row, reading.values[row], "numbers")
    return numbers_of(reading.values, column)


def _no_dates(cells: ColumnCells) -> np.ndarray:
    """The cells of a column of dates that are all missing."""
    rows = np.flatnonzero(~cells.missing)
    if len(rows):
        value = cells.values[rows[0]]
        raise TypeError(
            f"Column {cells.name!r} is to hold dates, but row {rows[0]} holds {value.item()!r} "
            f"({type(value.item()).__name__}). Make it a date or leave the cell empty: missing cells are fine."
        )
    return np.full(len(cells.values), "NaT", dtype="M8[us]")


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


def _learn_column(
    reading: Reading, seen: np.ndarray, weights: np.ndarray | None, standardize: bool, step: float | None
) -> Column:
    column = _described(reading, seen)
    if column.block != "numeric" or not seen.any():
        return column
    numbers = numbers_in_unit(reading, column)[seen]
    if step is not None:
        column = replace(column, step=step)
    elif not column.unit:
        column = replace(column, step=recorded_step(numbers))
    if column.kind == "positive":
        refuse_without_log(column, rows_without_log(numbers_in_unit(reading, column), column.offset, seen))
        column = replace(column, small=float(np.quantile(numbers, SMALL)) + column.offset)
        numbers = to_standard(numbers, column)
    if not standardize:
        return column
    center, scale = center_and_scale(numbers, None if weights is None else weights[seen])
    return replace(column, center=center, scale=scale)


def _described(reading: Reading, seen: np.ndarray) -> Column:
    """The column with all that is known of it but its units."""
    column = Column(
        reading.name,
        reading.kind,
        written=reading.written,
        guessed=reading.guessed,
        offset=reading.offset,
        part_of=reading.part_of,
        **_time_fields(reading, seen),
    )
    return replace(column, levels=_levels(reading, seen)) if column.kind == "categorical" else column


def _time_fields(reading: Reading, seen: np.ndarray) -> dict[str, Any]:
    """Unit, step and origin of a column of dates, durations or times of day."""
    if reading.values.dtype.kind not in "mM":
        return {}
    learned = time_unit(reading.values[seen], unit="seconds" if reading.of_day else "", in_utc=reading.in_utc)
    return learned._asdict()


def _levels(reading: Reading, seen: np.ndarray) -> tuple:
    codes = reading.values[seen]
    met = {reading.distinct[code] for code in np.flatnonzero(np.bincount(codes))}
    try:
        return tuple(sorted(met))
    except TypeError:  # text beside numbers has no order
        _, first_rows = np.unique(codes, return_index=True)
        return tuple(reading.distinct[code] for code in codes[np.sort(first_rows)])


def _dropped_column(reading: Reading, seen: np.ndarray) -> Column:
    column = _described(reading, seen)
    if column.kind == "categorical":
        return column
    values = numbers_in_unit(reading, column)[seen]
    return replace(column, center=float(values[0]) if len(values) else math.nan, scale=1.0, step=0.0)


def _refuse_infinite(cells: ColumnCells) -> None:
    rows = np.flatnonzero(_is_infinite(cells.values) & ~cells.missing)
    if len(rows):
        it, cell = ("it", "cell") if len(rows) == 1 else ("them", "cells")
        raise ValueError(
            f"Column {cells.name!r} has {count_of(len(rows), 'infinite value')} ({name_rows(rows)}). "
            f"Replace {it} or leave the {cell} empty: missing cells are fine."
        )


def _is_infinite(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "mM":
        return np.zeros(len(values), dtype=bool)
    if values.dtype != object:
        return np.isinf(values)
    if not any(issubclass(kind, float) for kind in set(map(type, values))):
        return np.zeros(len(values), dtype=bool)
    return np.fromiter((isinstance(v, float) and math.isinf(v) for v in values), bool, len(values))
