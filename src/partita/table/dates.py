"""Dates as numbers since the first of them, and the way back."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from partita.table.schema import Column

MICROSECONDS = {"days": 86_400_000_000, "seconds": 1_000_000}
"""In one unit of each name."""
# A day, an hour, a minute, a second, a thousandth and a millionth of one.
_STEPS = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000, 1_000, 1)
FIRST, LAST = np.datetime64("0001-01-01", "us"), np.datetime64("9999-12-31T23:59:59.999999", "us")
"""What has an ISO text of four digits of the year."""
_NOTHING = np.datetime64("1970-01-01", "us")
UTC_MARK = "Z"


class TimeUnit(NamedTuple):
    """What times are counted in: fields of a `Column`."""

    unit: str
    step: float
    since: str = ""


def time_unit(times: np.ndarray, *, unit: str = "", in_utc: bool = False) -> TimeUnit:
    """Unit, step and origin of observed dates (datetime64[us]) or durations (timedelta64[us]).

    The unit is days where all are whole days, otherwise seconds, unless it is told. The step is the largest of a day,
    an hour, a minute, a second, a thousandth and a millionth of one that all are multiples of. Dates are counted from
    the earliest.
    """
    counts = times.view(np.int64)
    step = next(step for step in _STEPS if not (counts % step).any())
    unit = unit or ("days" if step == _STEPS[0] else "seconds")
    relative = step / MICROSECONDS[unit]
    if times.dtype.kind != "M":
        return TimeUnit(unit, relative)
    first = times.min() if len(times) else _NOTHING
    text = (first.astype("M8[D]") if unit == "days" else first).item().isoformat()
    return TimeUnit(unit, relative, text + UTC_MARK if in_utc else text)


def numbers_of(times: np.ndarray, column: "Column") -> np.ndarray:
    """Dates since the column's first one, or durations, in the column's unit; nan for NaT."""
    if times.dtype.kind == "M":
        times = times - origin(column)
    numbers = times.astype(np.int64) / MICROSECONDS[column.unit]
    numbers[np.isnat(times)] = np.nan
    return numbers


def dates_of(numbers: np.ndarray, column: "Column") -> np.ndarray:
    """Numbers since the column's first date as dates: datetime64[D] of days, datetime64[us] of seconds.

    They are rounded to the column's step, and to the years 1 to 9999. nan is NaT; times with a zone are in UTC.
    """
    told = column.step * MICROSECONDS[column.unit]
    dates = _rounded(numbers, column, next((step for step in _STEPS if step == told), 0))
    return dates.astype("M8[D]") if column.unit == "days" else dates


def date_words(numbers: np.ndarray, column: "Column") -> np.ndarray:
    """Numbers since the column's first date as ISO text: days, or moments to the second; None for nan.

    Moments are given to the millionth of a second where the column's cells were finer than a second.
    """
    fine = column.unit == "seconds" and column.step < 1.0
    dates = _rounded(np.asarray(numbers, dtype=np.float64), column, 1 if fine else MICROSECONDS[column.unit])
    resolution = "D" if column.unit == "days" else "us" if fine else "s"
    mark = UTC_MARK if column.since.endswith(UTC_MARK) and resolution != "D" else ""
    words = np.datetime_as_string(dates.astype(f"M8[{resolution}]")).astype(object) + mark
    words[np.isnat(dates)] = None
    return words


def origin(column: "Column") -> np.datetime64:
    """The moment that a column's dates are counted from."""
    return moment(column.since)


def moment(text: str) -> np.datetime64:
    """An ISO date or time, in UTC where it ends in Z; a ValueError where it is none of the years 1 to 9999."""
    found = np.datetime64(text.removesuffix(UTC_MARK), "us")
    if not FIRST <= found <= LAST:  # false of NaT too
        raise ValueError("not within the years 1 to 9999")
    return found


def _rounded(numbers: np.ndarray, column: "Column", step: int) -> np.ndarray:
    """Dates at whole steps (in microseconds; 0: of a day, or a microsecond) from the column's first one."""
    step = step or (_STEPS[0] if column.unit == "days" else 1)
    first = origin(column)
    least, most = (int((end - first).astype(np.int64)) for end in (FIRST, LAST))
    missing = np.isnan(numbers)
    with np.errstate(over="ignore"):
        steps = np.rint(np.where(missing, 0.0, numbers) * (MICROSECONDS[column.unit] / step))
    # Whole steps within the years, as numbers that float64 holds.
    steps = np.clip(steps, -(-least // step), most // step)
    counts = np.clip(steps.astype(np.int64), -(-least // step), most // step) * step
    dates: Any = first + counts.astype("m8[us]")
    return np.where(missing, np.datetime64("NaT", "us"), dates)
