"""Cells that are dates, durations or times of day, of any type, as numpy's with microseconds."""

import datetime
from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

import narwhals as nw
import numpy as np

from partita.table.dates import FIRST, LAST
from partita.wording import shown

TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SECONDS = {"W": 604_800.0, "D": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9,
            "ps": 1e-12, "fs": 1e-15, "as": 1e-18, "generic": 1.0}  # fmt: skip
_DAY = 86_400
_LONGEST = 100_000_000 * _DAY  # seconds of a duration
_YEARS = tuple(int(end.astype("M8[s]").astype(np.int64)) for end in (FIRST, LAST))


class TimeCells(NamedTuple):
    """Cells as datetime64[us], or timedelta64[us] of durations and times of day; NaT = missing."""

    values: np.ndarray
    in_utc: bool = False
    of_day: bool = False


def times_of_series(name: str, column: nw.Series) -> TimeCells:
    """Cells of a frame's column of dates, moments, durations or times of day; moments with a zone in UTC.

    Raises
    ------
    ValueError
        Times outside the years 1 to 9999, outside a day of 24 hours, and durations of more than 100 million days.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    cells = column.to_arrow()
    kind = cells.type
    is_duration, is_of_day = pa.types.is_duration(kind), pa.types.is_time(kind)
    whole = pa.int32() if kind.bit_width == 32 else pa.int64()  # of which alone the type can be made
    numbers = cells.cast(whole).cast(pa.int64())
    if pa.types.is_date32(kind):
        numbers, per_second = pc.multiply(numbers, _DAY), 1
    else:
        per_second = _PER_SECOND[kind.unit]
    least, most = (0, _DAY - 1) if is_of_day else (-_LONGEST, _LONGEST - 1) if is_duration else _YEARS
    ends = pc.min_max(numbers).as_py()
    if ends["min"] is not None and not least * per_second <= ends["min"] <= ends["max"] < (most + 1) * per_second:
        refuse_far_times(name)
    counts = _in_microseconds(numbers.fill_null(0).to_numpy(zero_copy_only=False), per_second)
    values = counts.astype("m8[us]" if is_duration or is_of_day else "M8[us]")
    values[cells.is_null().to_numpy(zero_copy_only=False)] = "NaT"
    return TimeCells(values, getattr(kind, "tz", None) is not None, is_of_day)


def times_of_array(name: str, values: np.ndarray) -> TimeCells:
    """Cells of a datetime64 or timedelta64 array of any unit."""
    unit, count = np.datetime_data(values.dtype)
    present = values[~np.isnat(values)]
    if values.dtype.kind == "M":
        years = present.astype("M8[Y]").astype(np.int64) + 1970
        if len(years) and not 1 <= years.min() <= years.max() <= 9999:
            refuse_far_times(name)
        return TimeCells(values.astype("M8[us]"))
    if unit not in _SECONDS:
        raise TypeError(
            f"Column {name!r} holds durations of months or years, which have no length: turn them into days."
        )
    if (np.abs(present.astype(np.int64).astype(np.float64)) * (count * _SECONDS[unit]) > _LONGEST).any():
        refuse_far_times(name)
    return TimeCells(values.astype("m8[us]"))


def dates_of_objects(name: str, values: Iterable[Any], rows: np.ndarray, n_rows: int) -> TimeCells:
    """Dates and moments of Python, numpy and pandas in these rows of a column, with a zone all or none."""
    cells = list(values)
    zoned = [getattr(cell, "tzinfo", None) is not None for cell in cells]
    if any(zoned) and not all(zoned):
        first, second = rows[zoned.index(True)], rows[zoned.index(False)]
        raise TypeError(
            f"Column {name!r} mixes moments with a time zone (row {first}) and without one (row {second}). Give all of "
            "them one, or none."
        )
    found = np.full(n_rows, "NaT", dtype="M8[us]")
    for row, cell in zip(rows, cells):
        found[row] = _moment(name, cell)
    return TimeCells(found, any(zoned))


def durations_of_objects(name: str, values: Iterable[Any], rows: np.ndarray, n_rows: int) -> TimeCells:
    """Durations of Python, numpy and pandas in these rows of a column."""
    found = np.full(n_rows, "NaT", dtype="m8[us]")
    for row, cell in zip(rows, values):
        if isinstance(cell, datetime.timedelta) and not hasattr(cell, "to_timedelta64"):
            if abs(cell.days) >= _LONGEST // _DAY:
                refuse_far_times(name)
            cell = np.timedelta64(cell, "us")
        duration = cell.to_timedelta64() if hasattr(cell, "to_timedelta64") else cell
        found[row] = times_of_array(name, np.array([duration])).values[0]
    return TimeCells(found)


def times_of_day_of_objects(name: str, values: Iterable[Any], rows: np.ndarray, n_rows: int) -> TimeCells:
    """Times of day of Python in these rows of a column, since midnight."""
    found = np.full(n_rows, "NaT", dtype="m8[us]")
    for row, cell in zip(rows, values):
        seconds = (cell.hour * 60 + cell.minute) * 60 + cell.second
        found[row] = np.timedelta64(seconds * 10**6 + cell.microsecond, "us")
    return TimeCells(found, of_day=True)


def refuse_far_times(name: str) -> NoReturn:
    """Refuse times that Python has none of, and that no ISO text of four digits of the year says."""
    raise ValueError(
        f"Column {name!r} holds times outside the years 1 to 9999 or a day of 24 hours, or durations of more than "
        "100 million days. Turn the column into a number or into text, or leave it out."
    ) from None


def refuse_times(name: str, row: int, cell: Any, wanted: str) -> NoReturn:
    """Refuse times where other cells are to be."""
    raise TypeError(
        f"Column {name!r} is to hold {wanted}, but row {row} holds {shown(cell)} ({type(cell).__name__}). Turn it into "
        "a number or leave the cell empty: missing cells are fine. A column of nothing but times need not be told "
        "(column_types, command line: --types): they are read as numbers."
    )


def _moment(name: str, cell: Any) -> np.datetime64:
    if hasattr(cell, "to_datetime64"):  # of pandas, in UTC
        cell = cell.to_datetime64()
    if isinstance(cell, np.datetime64):
        return times_of_array(name, np.array([cell])).values[0]
    if isinstance(cell, datetime.datetime):
        try:
            cell = cell.replace(tzinfo=None) - (cell.utcoffset() or datetime.timedelta())
        except OverflowError:
            refuse_far_times(name)
    return np.datetime64(cell, "us")


def _in_microseconds(counts: np.ndarray, per_second: int) -> np.ndarray:
    return counts // (per_second // 10**6) if per_second > 10**6 else counts * (10**6 // per_second)
