"""One column's cells by the types of their values: numbers, truth values or text."""

import datetime
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

import narwhals as nw
import numpy as np

from partita.table.python_cells import python_cells
from partita.table.schema import ColumnKind
from partita.table.time_cells import (
    TIMES,
    TimeCells,
    dates_of_objects,
    durations_of_objects,
    refuse_times,
    times_of_array,
    times_of_day_of_objects,
    times_of_series,
)
from partita.wording import declare, name_rows, shown

_MISSING, _TEXT, _TRUTH, _NUMBER, _COMPLEX, _DATE, _DURATION, _TIME_OF_DAY, _OTHER = range(9)
_TIMES: dict[int, Callable[[str, Iterable[Any], np.ndarray, int], TimeCells]] = {
    _DATE: dates_of_objects,
    _DURATION: durations_of_objects,
    _TIME_OF_DAY: times_of_day_of_objects,
}
WIDER_THAN_NUMPY = (nw.Int128, nw.UInt128)
"""Whole numbers that no numpy array holds."""
_ONE_TYPE = "Make all cells one type, for example strings"
_WANTED: dict[ColumnKind | None, str] = {
    "numeric": "numbers",
    "positive": "positive numbers",
    "count": "counts",
    "date": "dates",
}
# What a column may be told to hold, by whether its cells are dates or else durations or times of day.
_OF_TIMES: dict[bool, tuple[ColumnKind | None, ...]] = {True: (None, "date"), False: (None, "numeric", "positive")}


@dataclass(frozen=True)
class ColumnCells:
    """Values of one column and where they are missing.

    ``values`` is an integer, floating or bool array, datetime64[us] of dates, timedelta64[us] of durations and times
    of day, or an object array of other values (text above all); what it holds at a missing cell means nothing, but NaT
    stands for missing times. ``in_utc``: moments that had a time zone. ``of_day``: times of day.
    """

    name: str
    values: np.ndarray
    missing: np.ndarray
    in_utc: bool = False
    of_day: bool = False

    @property
    def natural_kind(self) -> ColumnKind:
        """Numbers and durations are numeric, dates dates, truth values and text categorical."""
        kind = self.values.dtype.kind
        return "numeric" if kind in "iufm" else "date" if kind == "M" else "categorical"


def read_cells(name: str, column: Any, told: ColumnKind | None) -> ColumnCells:
    """Cells of an array or a narwhals Series, given the kind the column is told to have.

    Raises
    ------
    TypeError
        Times where other cells are told, mixtures of types, and cells that are neither text nor number nor time.
    ValueError
        Complex numbers, text in a column that is told to hold numbers, and times far away.
    """
    if isinstance(column, np.ndarray):
        return _from_array(name, column, told)
    dtype = column.dtype
    if dtype.is_integer() and dtype not in WIDER_THAN_NUMPY:
        return ColumnCells(name, column.fill_null(0).to_numpy(), column.is_null().to_numpy())
    if dtype.is_float():
        return _from_array(name, column.fill_null(float("nan")).to_numpy(), told)
    if dtype.is_decimal():
        return _from_array(name, column.cast(nw.Float64).to_numpy(), told)
    if dtype == nw.Boolean:
        return ColumnCells(name, column.fill_null(False).to_numpy().astype(bool), column.is_null().to_numpy())
    if dtype in (nw.Categorical, nw.Enum):
        return _from_objects(name, _plain_categories(name, column), told or "categorical")
    if dtype.is_temporal() and told in _OF_TIMES[dtype == nw.Date or dtype == nw.Datetime]:
        return _of_times(name, times_of_series(name, column))
    return _from_objects(name, _objects(name, column), told)


def _from_array(name: str, values: np.ndarray, told: ColumnKind | None) -> ColumnCells:
    kind = values.dtype.kind
    if kind == "c":
        raise ValueError(_no_complex(name))
    if kind == "f":
        values = values.astype(np.float64)
        return ColumnCells(name, values, np.isnan(values))
    if kind in "iub":
        return ColumnCells(name, values, np.zeros(len(values), dtype=bool))
    if kind in "mM" and told in _OF_TIMES[kind == "M"]:
        return _of_times(name, times_of_array(name, values))
    if kind in "mM":  # cell by cell: as objects numpy gives nanoseconds as whole numbers
        return _from_objects(name, np.fromiter(values, dtype=object, count=len(values)), told)
    return _from_objects(name, values.astype(object), told)


def _objects(name: str, column: nw.Series) -> np.ndarray:
    return np.fromiter(python_cells(name, column), dtype=object, count=len(column))


def _plain_categories(name: str, column: nw.Series) -> np.ndarray:
    """Categories as objects; those that are neither text nor number (intervals, times) by their text."""
    values = _objects(name, column)
    groups = {kind: _group(kind) for kind in set(map(type, values))}
    strange = {kind for kind, group in groups.items() if group in _TIMES or group == _OTHER}
    if strange:
        values[:] = [str(v) if type(v) in strange else v for v in values]
    return values


def _from_objects(name: str, values: np.ndarray, told: ColumnKind | None) -> ColumnCells:
    groups = _groups(values)
    missing = _missing(values, groups)
    present = set(np.unique(groups[~missing]).tolist())

    def rows_of(group: int) -> np.ndarray:
        return np.flatnonzero((groups == group) & ~missing)

    if _COMPLEX in present:
        raise ValueError(_no_complex(name))
    if _OTHER in present:
        _refuse_other(name, values, rows_of(_OTHER))
    if told == "categorical":
        if {_TRUTH, _NUMBER} <= present:
            _refuse_mixture(name, values, rows_of(_TRUTH)[0], rows_of(_NUMBER)[0], _ONE_TYPE)
        return ColumnCells(name, _times_as_text(values, np.flatnonzero(np.isin(groups, list(_TIMES)))), missing)
    for group in present & _TIMES.keys():
        if told not in _OF_TIMES[group == _DATE]:
            first = rows_of(group)[0]
            refuse_times(name, first, values[first], _WANTED[told])
    if told == "date" and present - {_DATE}:
        _refuse_no_date(name, values, min(rows_of(group)[0] for group in present - {_DATE}))
    if told is not None and _TEXT in present:
        _refuse_text(name, values, rows_of(_TEXT), told)
    if len(present) > 1:
        may_be_told = not {_TRUTH, _NUMBER} <= present
        remedy = f"{_ONE_TYPE}, or {declare(name, 'categorical')}" if may_be_told else _ONE_TYPE
        firsts = sorted(rows_of(group)[0] for group in present)
        _refuse_mixture(name, values, firsts[0], firsts[1], remedy)
    for group in present & _TIMES.keys():
        rows = rows_of(group)
        return _of_times(name, _TIMES[group](name, values[rows], rows, len(values)))
    return ColumnCells(name, _typed_array(name, values, missing, present), missing)


def _of_times(name: str, times: TimeCells) -> ColumnCells:
    return ColumnCells(name, times.values, np.isnat(times.values), times.in_utc, times.of_day)


def _group(kind: type) -> int:
    of_pandas = kind.__module__.startswith("pandas")
    if kind is type(None) or (of_pandas and kind.__name__ in ("NAType", "NaTType")):
        return _MISSING
    if issubclass(kind, str):
        return _TEXT
    if issubclass(kind, bool | np.bool_):
        return _TRUTH
    if issubclass(kind, TIMES):  # before numbers: numpy counts its durations among the integers
        if issubclass(kind, datetime.timedelta | np.timedelta64):
            return _DURATION
        return _TIME_OF_DAY if issubclass(kind, datetime.time) else _DATE
    if issubclass(kind, numbers.Real | Decimal):
        return _NUMBER
    return _COMPLEX if issubclass(kind, numbers.Complex) else _OTHER


def _groups(values: np.ndarray) -> np.ndarray:
    kinds = list(map(type, values))
    group = {kind: _group(kind) for kind in set(kinds)}
    return np.fromiter(map(group.__getitem__, kinds), dtype=np.int8, count=len(kinds))


def _missing(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    missing = groups == _MISSING
    may_differ_from_itself = np.flatnonzero(np.isin(groups, [_NUMBER, *_TIMES]))
    missing[may_differ_from_itself] = [_differs_from_itself(v) for v in values[may_differ_from_itself]]
    text = groups == _TEXT
    missing[text] = values[text] == ""
    return missing


def _differs_from_itself(value: Any) -> bool:
    try:
        return bool(value != value)  # noqa: PLR0124  (true of nan and NaT of any type)
    except InvalidOperation:  # a signaling nan
        return True


def _typed_array(name: str, values: np.ndarray, missing: np.ndarray, present: set[int]) -> np.ndarray:
    if present <= {_NUMBER}:  # without any value too: nothing says otherwise
        numeric = np.full(len(values), np.nan)
        try:
            numeric[~missing] = values[~missing].astype(np.float64)
        except OverflowError:
            raise ValueError(
                f"Column {name!r} holds a whole number beyond the range of float64. Replace it, or take the column "
                f"as categories: {declare(name, 'categorical')}."
            ) from None
        return numeric
    if present == {_TRUTH}:
        return np.where(missing, False, values).astype(bool)
    return values


def _times_as_text(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    if len(rows):
        values = values.copy()
        values[rows] = [str(v) for v in values[rows]]
    return values


def _typed(value: Any) -> str:
    return f"{shown(value)} ({type(value).__name__})"


def _no_complex(name: str) -> str:
    return f"Complex data not supported: column {name!r}. Pass the real and imaginary parts as two columns."


def _refuse_other(name: str, values: np.ndarray, rows: np.ndarray) -> NoReturn:
    raise TypeError(
        f"Column {name!r}, {name_rows(rows)}: argument must be a string or a number, not "
        f"{type(values[rows[0]]).__name__!r}. Take its content apart into columns of their own."
    )


def _refuse_text(name: str, values: np.ndarray, rows: np.ndarray, told: ColumnKind) -> NoReturn:
    bad = next((row for row in rows if not _is_number_text(values[row])), rows[0])
    raise ValueError(
        f"Column {name!r} is to hold {_WANTED[told]}, but row {bad} holds the text {shown(str(values[bad]))}. "
        "Turn the cells into numbers or leave them empty: missing cells are fine."
    )


def _refuse_no_date(name: str, values: np.ndarray, row: int) -> NoReturn:
    raise TypeError(
        f"Column {name!r} is to hold dates, but row {row} holds {_typed(values[row])}. Make it a date or leave the "
        "cell empty: missing cells are fine."
    )


def _is_number_text(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse_mixture(name: str, values: np.ndarray, first: int, second: int, remedy: str) -> NoReturn:
    raise TypeError(
        f"Column {name!r} mixes types: row {first} holds {_typed(values[first])}, row {second} holds "
        f"{_typed(values[second])}. {remedy}."
    )
