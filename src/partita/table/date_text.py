"""Dates as people write them: 31.12.2024, 12/31/2024, 2024-12-31, with or without a time."""

import datetime
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

ORDERS = ("day-first", "month-first", "year-first")
_SHAPE = re.compile(
    r"(?:(?P<year>[0-9]{4})(?P<mark>[-/.])(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})"
    r"|(?P<a>[0-9]{1,2})(?P<between>[-/.])(?P<b>[0-9]{1,2})(?P=between)(?P<last>[0-9]{4}))"
    r"(?:(?:T|,? {1,2})(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]{1,20}))?)?"
    r"(?: ?(?P<half>[AaPp])[Mm])?(?: ?(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2}))?)?"
)


class WrittenDates(NamedTuple):
    """Dates as datetime64[us], how they were written, whether they have a zone, and whether the order was a guess."""

    values: np.ndarray
    written: str
    in_utc: bool
    ambiguous: bool


def read_dates(texts: Sequence[str], *, known: str = "") -> WrittenDates | None:
    """Dates of different texts, where all of them agree on how dates are written; None where they do not.

    Either the year comes first in all, or all have one mark (point, slash or hyphen) and one order: the day first where
    all cells allow that, otherwise the month first. The year has four digits. A time of day may follow, with a zone in
    all cells or in none. ``known`` is the order that is told or was met before; dates with the year first are then
    read too.
    """
    shapes = []
    for text in texts:
        shape = _SHAPE.fullmatch(text.strip())
        if shape is None:
            return None  # most columns of text end here
        shapes.append(shape)
    marks = {shape["between"] for shape in shapes}
    zones = {shape["zone"] is not None for shape in shapes}
    if len(zones) > 1 or (len(marks) > 1 and not known):
        return None
    if marks == {None}:
        orders: tuple[str, ...] = ("year-first",)
    else:
        orders = (known,) if known in ORDERS[:2] else ORDERS[:2]
    found = {order: dates for order in orders if (dates := _dates(shapes, order)) is not None}
    if not found:
        return None
    written, values = next(iter(found.items()))
    ambiguous = len(found) > 1 and "." not in marks and not np.array_equal(values, found["month-first"])
    return WrittenDates(values, written, zones == {True}, ambiguous)


def _dates(shapes: Sequence[re.Match[str]], order: str) -> np.ndarray | None:
    """The dates in one order; None where one of them does not exist."""
    try:
        return np.array([_date(shape, order) for shape in shapes], dtype="M8[us]")
    except (ValueError, OverflowError):
        return None


def _date(shape: re.Match[str], order: str) -> datetime.datetime:
    if shape["year"] is not None:
        year, month, day = shape["year"], shape["month"], shape["day"]
    else:
        year, month, day = shape["last"], shape["b"], shape["a"]
        if order == "month-first":
            month, day = day, month
    hour = int(shape["hour"] or 0)
    if shape["half"] is not None:
        if not 1 <= hour <= 12:
            raise ValueError("no hour before or after noon")
        hour = hour % 12 + (12 if shape["half"] in "Pp" else 0)
    microsecond = int((shape["part"] or "0")[:6].ljust(6, "0"))
    moment = datetime.datetime(
        int(year), int(month), int(day), hour, int(shape["minute"] or 0), int(shape["second"] or 0), microsecond
    )
    return moment - _offset(shape["zone"])


def _offset(zone: str | None) -> datetime.timedelta:
    if zone in (None, "Z"):
        return datetime.timedelta()
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return datetime.timedelta(minutes=-minutes if zone[0] == "-" else minutes)
