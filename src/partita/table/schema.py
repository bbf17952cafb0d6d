"""What is known about the columns of a table once it has been read."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np

from partita.running.cached import cached_property
from partita.table.date_text import ORDERS
from partita.table.dates import MICROSECONDS, moment
from partita.table.names import refuse_repeated
from partita.table.number_text import is_number_style
from partita.wording import name_some

Kind = Literal["numeric", "categorical", "count"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Of blocks of cells, and of the families that read them."""
ColumnKind = Literal["numeric", "positive", "date", "categorical", "count"]
BLOCKS: dict[ColumnKind, Kind] = {
    "numeric": "numeric",
    "positive": "numeric",
    "date": "numeric",
    "categorical": "categorical",
    "count": "count",
}
"""Where the cells of a kind of column are stored: positive numbers as their logs, dates as days or seconds."""
MissingPairs = tuple[tuple[str | None, str | int | float], ...]
"""Values that stand for a missing cell, each with the column that they are of; None: of all columns."""
TOLD = (*KINDS, "positive", "date", *ORDERS[:2])
"""What columns may be told to hold; day-first and month-first are dates whose text is written in that order."""
WIDEST_LOG_STEP = 2.0
LARGEST_WHOLE = 2**53
"""float64 holds every whole number up to here."""


@dataclass(frozen=True)
class Column:
    """One column: its name, its kind and what was learned from its cells.

    Parameters
    ----------
    name : str
        The column's label as text; ``x0``, ``x1``, ... where the data had no labels.
    kind : {"numeric", "positive", "date", "categorical", "count"}
        How its cells are read.
    levels : tuple
        Distinct observed values of a categorical column, sorted where they can be sorted, otherwise
        by first appearance. Each is a str, int, float or bool.
    center, scale : float
        Of a numeric column: a cell x is stored as (x - center) / scale, one of a positive column as
        (log(x + offset) - center) / scale. A dropped numeric or count column keeps the one value it had in
        ``center`` (nan when it had none).
    step : float
        Of a numeric column: what its numbers were recorded in, in the user's units; 0 where they are continuous. A cell
        stands for what lies within half a step of it.
    unit : {"", "days", "seconds"}
        What the numbers of a column of dates, durations or times of day count.
    since : str
        Of a column of dates: the one that the numbers are counted from, as ISO text; it ends in Z where the dates had a
        time zone, and are in UTC.
    written : str
        How dates or numbers were written where they came as text: day-first, month-first or year-first; or a number
        such as 1.234,5 with its marks and its sign.
    guessed : bool
        Whether its kind is neither that of its values nor what it was told to be: numbers that are read as categories,
        or as positive numbers.
    offset : float
        Of a positive column: what is added to a cell before its log is taken; at least 0.
    small : float
        Of a positive column: the tenth percentile of its cells, offset included, which says how wide a step is in logs;
        0 where it has none.
    part_of : str
        Of a categorical column that says where another one is 0: the name of that one, whose cells of 0 are stored as
        missing.
    """

    name: str
    kind: ColumnKind
    levels: tuple = ()
    center: float = 0.0
    scale: float = 1.0
    step: float = 0.0
    unit: str = ""
    since: str = ""
    written: str = ""
    guessed: bool = False
    offset: float = 0.0
    small: float = 0.0
    part_of: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"A column's name must be text, got {self.name!r} ({type(self.name).__name__}).")
        if self.kind not in BLOCKS:
            raise ValueError(f"The kind of column {self.name!r} must be one of {', '.join(BLOCKS)}, got {self.kind!r}.")
        _check_levels(self.name, self.levels)
        _check_units(self.name, self.center, self.scale)
        for field in ("step", "offset", "small"):
            _check_not_negative(self.name, field, getattr(self, field))
        _check_times(self)
        if not isinstance(self.part_of, str):
            raise TypeError(f"What column {self.name!r} is a part of must be a name, got {self.part_of!r}.")
        if self.kind == "count" and not (math.isnan(self.center) or _is_count(self.center)):
            raise ValueError(f"Column {self.name!r} of counts is said to hold {self.center!r}, which is no count.")

    @property
    def block(self) -> Kind:
        """The block that its cells are stored in."""
        return BLOCKS[self.kind]

    @property
    def rounding(self) -> float:
        """Variance of what a cell stands for around what is stored of it: h^2 / 12, h the step in stored units.

        In logs a step is the narrower, the larger the cell: h is that of a small one, step / small, and at most 2,
        since what lies within half a step is positive too.
        """
        step = self.step
        if self.kind == "positive" and self.small:
            step = min(step / self.small, WIDEST_LOG_STEP)
        return (step / self.scale) ** 2 / 12.0


@dataclass(frozen=True)
class Schema:
    """The columns of a table in their order, and which of them say nothing.

    Parameters
    ----------
    columns : tuple of Column
        Every column of the input, in its order; behind one of which many cells are 0 the one that says where.
    dropped : tuple of str
        Names of constant columns; they are kept out of ``numeric``, ``categorical`` and ``counts``.
    missing : tuple of pairs
        Columns (None: all) and the text or number that stands for a missing cell in them.
    """

    columns: tuple[Column, ...]
    dropped: tuple[str, ...] = ()
    missing: MissingPairs = ()

    def __post_init__(self) -> None:
        if not isinstance(self.columns, tuple) or not all(isinstance(column, Column) for column in self.columns):
            raise TypeError("The columns of a Schema must be a tuple of Column.")
        if not isinstance(self.dropped, tuple) or not all(isinstance(name, str) for name in self.dropped):
            raise TypeError("The dropped columns of a Schema must be a tuple of names.")
        refuse_repeated([column.name for column in self.columns])
        known = set(self.names)
        _check_parts(self)
        unknown = [name for name in self.dropped if name not in known]
        if unknown:
            raise ValueError(f"A Schema drops {name_some(unknown, len(unknown))} without a column of that name.")
        _check_missing(self.missing, known)
        undefined = [column.name for column in self.used if math.isnan(column.center)]
        if undefined:
            raise ValueError(
                f"The center of {name_some(undefined, len(undefined))} is nan, which only a dropped column may have."
            )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all columns of the input, dropped ones included."""
        return tuple(column.name for column in self.columns if not column.part_of)

    @cached_property
    def zero_flags(self) -> dict[str, Column]:
        """Columns that say where others are 0, by the names of those."""
        return {column.part_of: column for column in self.columns if column.part_of}

    @property
    def names_are_automatic(self) -> bool:
        """Whether the names are x0, x1, ..., as they are where the data had none."""
        return self.names == automatic_names(len(self.names))

    @cached_property
    def used(self) -> tuple[Column, ...]:
        """The columns that are not dropped."""
        return tuple(column for column in self.columns if not self.drops(column.name))

    @cached_property
    def by_kind(self) -> dict[Kind, tuple[Column, ...]]:
        """The used columns of every kind of block: those of a `Table`'s blocks."""
        return {kind: tuple(column for column in self.used if column.block == kind) for kind in KINDS}

    @property
    def numeric(self) -> tuple[Column, ...]:
        """Used columns of numbers, positive ones and dates too: the columns of ``Table.numeric``."""
        return self.by_kind["numeric"]

    @property
    def categorical(self) -> tuple[Column, ...]:
        """Used categorical columns: the columns of ``Table.codes``."""
        return self.by_kind["categorical"]

    @property
    def counts(self) -> tuple[Column, ...]:
        """Used count columns: the columns of ``Table.counts``."""
        return self.by_kind["count"]

    @property
    def n_levels(self) -> np.ndarray:
        """Number of levels per used categorical column, int64; 1 for a column without observed cells."""
        return np.array([max(1, len(column.levels)) for column in self.categorical], dtype=np.int64)

    def drops(self, name: str) -> bool:
        """Whether the column of this name is dropped."""
        return name in self._dropped

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary that survives JSON; ``from_dict`` gives the same schema back."""
        columns = [asdict(column) for column in self.columns]
        for entry in columns:
            entry["levels"] = list(entry["levels"])
            entry["center"] = None if math.isnan(entry["center"]) else entry["center"]
        missing = {"missing": [list(pair) for pair in self.missing]} if self.missing else {}
        return {"columns": columns, "dropped": list(self.dropped), **missing}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Schema":
        """Schema written by ``to_dict``."""
        missing = tuple((name, value) for name, value in content.get("missing", ()))
        return cls(tuple(map(_column_from, content["columns"])), tuple(content["dropped"]), missing)

    @cached_property
    def _dropped(self) -> frozenset[str]:
        return frozenset(self.dropped)


def automatic_names(n_columns: int) -> tuple[str, ...]:
    """Names of columns that have none."""
    return tuple(f"x{j}" for j in range(n_columns))


def _is_count(value: float) -> bool:
    return 0 <= value <= LARGEST_WHOLE and value == math.floor(value)


def _check_levels(name: str, levels: tuple) -> None:
    if not isinstance(levels, tuple) or not all(issubclass(kind, str | int | float) for kind in set(map(type, levels))):
        raise TypeError(f"The levels of column {name!r} must be a tuple of text, numbers or truth values.")
    if any(isinstance(level, float) and not math.isfinite(level) for level in levels):
        raise ValueError(f"The levels of column {name!r} must be finite: a missing cell has no level.")
    if len(set(levels)) < len(levels):
        raise ValueError(f"The levels of column {name!r} must differ.")


def _check_parts(schema: Schema) -> None:
    numbers = {column.name for column in schema.used if column.block == "numeric" and not column.unit}
    for name, flag in schema.zero_flags.items():
        if flag.kind != "categorical" or len(flag.levels) != 2 or schema.drops(flag.name) or name not in numbers:
            raise ValueError(
                f"Column {flag.name!r} cannot say where {name!r} is 0: one has two levels, the other numbers."
            )
    if len(schema.zero_flags) < sum(bool(column.part_of) for column in schema.columns):
        raise ValueError("Several columns say where one is 0.")


def _check_missing(missing: MissingPairs, names: set[str]) -> None:
    for name, value in missing:
        if not (name is None or name in names):
            raise ValueError(f"A Schema has missing values of {name!r}, which is no column of it.")
        is_number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if not (isinstance(value, str) or is_number):
            raise TypeError(f"What stands for a missing cell must be text or a finite number, got {value!r}.")


def _check_units(name: str, center: float, scale: float) -> None:
    if not all(isinstance(number, Real) and not isinstance(number, bool) for number in (center, scale)):
        raise TypeError(f"Center and scale of column {name!r} must be numbers, got {center!r} and {scale!r}.")
    if math.isinf(center) or not (math.isfinite(scale) and scale > 0):
        raise ValueError(
            f"Column {name!r} needs a finite center and a finite scale above 0, got {center!r} and {scale!r}."
        )


def _check_not_negative(name: str, field: str, value: float) -> None:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"The {field} of column {name!r} must be a number, got {value!r}.")
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"The {field} of column {name!r} must be finite and at least 0, got {value!r}.")


def _check_times(column: Column) -> None:
    if not all(isinstance(text, str) for text in (column.unit, column.since, column.written)):
        raise TypeError(f"What is said of the times of column {column.name!r} must be text.")
    if column.unit not in ("", *MICROSECONDS) or (column.kind == "date" and not column.unit):
        raise ValueError(f"The unit of column {column.name!r} must be days or seconds, got {column.unit!r}.")
    if column.written not in ("", *ORDERS) and not is_number_style(column.written):
        raise ValueError(f"Column {column.name!r} is said to be written as {column.written!r}, which is no such way.")
    if column.kind == "date":
        try:
            moment(column.since)
        except ValueError:
            raise ValueError(
                f"Column {column.name!r} of dates must say since when they count, as 2024-12-31; got {column.since!r}."
            ) from None


def _column_from(entry: Mapping[str, Any]) -> Column:
    # math.nan itself, so that two schemas with an empty dropped column compare equal.
    center = math.nan if entry["center"] is None else float(entry["center"])
    # Files of earlier versions say nothing of steps, of times, of positive numbers and of zeros.
    units: dict[str, Any] = {"center": center, "scale": float(entry["scale"])}
    units |= {name: float(entry.get(name, 0.0)) for name in ("step", "offset", "small")}
    words = {name: entry.get(name, "") for name in ("unit", "since", "written", "part_of")}
    guessed = bool(entry.get("guessed", False))
    return Column(entry["name"], entry["kind"], tuple(entry["levels"]), **units, **words, guessed=guessed)
