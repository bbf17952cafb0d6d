"""Values that stand for a missing cell, such as -999 and "unknown": which they are, and the cells emptied of them."""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from partita.parameters import is_number
from partita.table.cells import WIDER_THAN_NUMPY
from partita.table.column_keys import columns_meant
from partita.table.csv_text import TextTable
from partita.table.encoding import Reading
from partita.table.python_cells import python_cells
from partita.table.schema import LARGEST_WHOLE, MissingPairs

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Marks:
    """What stands for a missing cell of one column: numbers, and texts without the white space around them."""

    numbers: frozenset[float]
    texts: frozenset[str]

    def cover(self, value: Any) -> bool:
        """Whether a cell that holds this value is missing."""
        if isinstance(value, str):
            return value.strip() in self.texts
        if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real | Decimal):
            return False
        return not math.isnan(value) and float(value) in self.numbers


def missing_pairs(missing: Any, names: Sequence[str], *, by_position: bool = False) -> MissingPairs:
    """The option ``missing`` as pairs of a column (None: all columns) and a value.

    It is a value, several values, or a mapping from columns, as in ``column_types``, to one or several values; None as
    a key stands for all columns. Keys that mean no column are passed over.
    """
    if missing is None:
        return ()
    content = missing if isinstance(missing, Mapping) else {None: missing}
    pairs: dict[tuple[str | None, Any], None] = {}
    for key, values in content.items():
        columns: Sequence[Any] = [None] if key is None else columns_meant(key, names, by_position=by_position)
        pairs |= dict.fromkeys((name, value) for value in checked_values(values) for name in columns)
    return tuple(pairs)


def checked_values(given: Any) -> list[str | int | float]:
    """One or several values as built-in types, each text or a finite number."""
    return [_checked(value) for value in (given if isinstance(given, list | tuple | np.ndarray) else [given])]


def marks_of(pairs: MissingPairs, name: str) -> Marks | None:
    """What stands for a missing cell of a column; None: nothing does."""
    values = [value for column, value in pairs if column in (None, name)]
    if not values:
        return None
    found = (_number(value) for value in values)
    return Marks(frozenset(x for x in found if x is not None), frozenset(str(value).strip() for value in values))


def empty_text(text: TextTable, pairs: MissingPairs, spared: Sequence[str]) -> TextTable:
    """Columns of text whose marked cells are empty, but for some columns."""
    if not pairs:
        return text
    columns = [
        column if name in spared else _empty_cells(column, marks_of(pairs, name))
        for name, column in zip(text.names, text.columns)
    ]
    return replace(text, columns=columns)


def empty_column(name: str, column: Any, marks: Marks | None) -> Any:
    """A column of numbers, or of values of several types, whose marked cells are missing; others as they are."""
    if marks is None:
        return column
    if isinstance(column, nw.Series):
        if column.dtype.is_integer() and column.dtype not in WIDER_THAN_NUMPY:
            values, gaps = column.fill_null(0).to_numpy(), column.is_null().to_numpy()
        elif column.dtype.is_float():
            values = column.fill_null(float("nan")).to_numpy()
            gaps = np.isnan(values)
        elif column.dtype == nw.Object:
            values = np.fromiter(python_cells(name, column), dtype=object, count=len(column))
            gaps = np.zeros(len(values), dtype=bool)
        else:
            return column
    else:
        values, gaps = column, np.zeros(len(column), dtype=bool)
    marked = _marked(values, marks)
    return _emptied(values, gaps | marked) if marked.any() else column


def empty_reading(reading: Reading, marks: Marks | None) -> Reading:
    """A categorical column without the marked categories, and one of numbers that were text without marked ones."""
    if marks is None:
        return reading
    if reading.written and reading.values.dtype.kind == "f":
        return replace(reading, values=np.where(_marked(reading.values, marks), np.nan, reading.values))
    if reading.kind != "categorical":
        return reading
    kept = np.array([*(not marks.cover(value) for value in reading.distinct), True])
    return replace(reading, values=np.where(kept[reading.values], reading.values, -1))


def _checked(value: Any) -> str | int | float:
    if isinstance(value, str):
        return str(value)
    if not is_number(value):
        raise TypeError(
            "missing must be text, a finite number, a list of these, or a mapping from columns to these; got "
            f"{value!r}."
        )
    number = float(value)
    return int(value) if number.is_integer() and abs(number) <= LARGEST_WHOLE else number


def _number(value: str | int | float) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _empty_cells(cells: "pa.Array", marks: Marks | None) -> "pa.Array":
    import pyarrow as pa
    from pyarrow import compute as pc

    if marks is None:
        return cells
    marked = pc.is_in(pc.utf8_trim_whitespace(cells), value_set=pa.array(sorted(marks.texts), cells.type))
    return pc.if_else(marked, pa.scalar("", cells.type), cells)


def _marked(values: np.ndarray, marks: Marks) -> np.ndarray:
    kind = values.dtype.kind
    if kind == "f":
        return np.isin(values, sorted(marks.numbers))
    if kind in "iu":
        within = np.iinfo(values.dtype)
        whole = [int(x) for x in marks.numbers if x.is_integer() and within.min <= x <= within.max]
        return np.isin(values, np.array(whole, dtype=values.dtype))
    if kind in "OU":
        return np.fromiter(map(marks.cover, values), dtype=bool, count=len(values))
    return np.zeros(len(values), dtype=bool)


def _emptied(values: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    exact = values.dtype.kind == "f" or (
        values.dtype.kind in "iu" and np.abs(values.astype(float)).max() <= LARGEST_WHOLE
    )
    emptied = values.astype(np.float64 if exact else object)
    emptied[gaps] = np.nan if exact else None
    return emptied
