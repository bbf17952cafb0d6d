"""Cells of a frame's column as Python objects, where Python can hold them."""

from decimal import InvalidOperation
from typing import Any

import narwhals as nw

from partita.table.time_cells import refuse_far_times

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY = 86_400
# Days since 1970 of 0001-01-02 and 9999-12-30: a time zone moves a moment by less than a day.
_FIRST_DAY, _LAST_DAY = -719_161, 2_932_895
_LONGEST_DAYS = 999_999_999


def python_cells(name: str, column: nw.Series) -> list[Any]:
    """Cells of a column as Python objects.

    Raises
    ------
    TypeError
        Lists, records and other cells that hold several values.
    ValueError
        Times that Python has none of, text that is not UTF-8, and what its library cannot turn into an object.
    """
    import pyarrow as pa

    if column.dtype.is_nested():
        raise TypeError(
            f"Column {name!r}: argument must be a string or a number, not {str(column.dtype)!r}. Take its content "
            "apart into columns of their own."
        )
    if column.dtype.is_temporal() and not _has_python_times(column.to_arrow()):
        refuse_far_times(name)
    try:
        if column.dtype == nw.String and column.implementation.is_polars():
            column.to_arrow().validate(full=True)  # polars itself panics where text is not UTF-8
        return column.to_list()
    except (UnicodeDecodeError, pa.ArrowInvalid):
        raise ValueError(f"Column {name!r} holds text that is not UTF-8: decode it before it is passed.") from None
    except (OverflowError, ValueError, TypeError, InvalidOperation, NotImplementedError, pa.ArrowException):
        raise ValueError(
            f"Column {name!r} of type {column.dtype} holds cells that Python cannot: turn them into numbers or text."
        ) from None


def _has_python_times(cells: Any) -> bool:
    """Whether all cells are within what datetime can hold; polars stops the process' thread at others."""
    import pyarrow as pa

    kind = cells.type
    if pa.types.is_date32(kind):
        return _within(cells.cast(pa.int32()), _FIRST_DAY, _LAST_DAY)
    per_second = 1000 if pa.types.is_date64(kind) else _PER_SECOND[kind.unit]
    if pa.types.is_time(kind):
        return _within(cells.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64()), 0, _DAY * per_second - 1)
    first, last = (-_LONGEST_DAYS, _LONGEST_DAYS) if pa.types.is_duration(kind) else (_FIRST_DAY, _LAST_DAY)
    return _within(cells.cast(pa.int64()), first * _DAY * per_second, last * _DAY * per_second)


def _within(numbers: Any, least: int, most: int) -> bool:
    from pyarrow import compute as pc

    ends = pc.min_max(numbers).as_py()
    return ends["min"] is None or (least <= ends["min"] and ends["max"] <= most)
