"""What is known about the columns of a table once it has been read."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np

from partita.running.cached import cached_property
from partita.table.names import refuse_repeated
from partita.wording import name_some

Kind = Literal["numeric", "categorical", "count"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LARGEST_WHOLE = 2**53
"""float64 holds every whole number up to here."""


@dataclass(frozen=True)
class Column:
    """One column: its name, its kind and what was learned from its cells.

    Parameters
    ----------
    name : str
        The column's label as text; ``x0``, ``x1``, ... where the data had no labels.
    kind : {"numeric", "categorical", "count"}
        How its cells are read.
    levels : tuple
        Distinct observed values of a categorical column, sorted where they can be sorted, otherwise
        by first appearance. Each is a str, int, float or bool.
    center, scale : float
        Of a numeric column: a cell x is stored as (x - center) / scale. A dropped numeric or count
        column keeps the one value it had in ``center`` (nan when it had none).
    """

    name: str
    kind: Kind
    levels: tuple = ()
    center: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"A column's name must be text, got {self.name!r} ({type(self.name).__name__}).")
        if self.kind not in KINDS:
            raise ValueError(f"The kind of column {self.name!r} must be one of {', '.join(KINDS)}, got {self.kind!r}.")
        _check_levels(self.name, self.levels)
        _check_units(self.name, self.center, self.scale)
        if self.kind == "count" and not (math.isnan(self.center) or _is_count(self.center)):
            raise ValueError(f"Column {self.name!r} of counts is said to hold {self.center!r}, which is no count.")


@dataclass(frozen=True)
class Schema:
    """The columns of a table in their order, and which of them say nothing.

    Parameters
    ----------
    columns : tuple of Column
        Every column of the input, in its order.
    dropped : tuple of str
        Names of constant columns; they are kept out of ``numeric``, ``categorical`` and ``counts``.
    """

    columns: tuple[Column, ...]
    dropped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.columns, tuple) or not all(isinstance(column, Column) for column in self.columns):
            raise TypeError("The columns of a Schema must be a tuple of Column.")
        if not isinstance(self.dropped, tuple) or not all(isinstance(name, str) for name in self.dropped):
            raise TypeError("The dropped columns of a Schema must be a tuple of names.")
        refuse_repeated(self.names)
        known = set(self.names)
        unknown = [name for name in self.dropped if name not in known]
        if unknown:
            raise ValueError(f"A Schema drops {name_some(unknown, len(unknown))} without a column of that name.")
        undefined = [column.name for column in self.used if math.isnan(column.center)]
        if undefined:
            raise ValueError(
                f"The center of {name_some(undefined, len(undefined))} is nan, which only a dropped column may have."
            )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, dropped ones included."""
        return tuple(column.name for column in self.columns)

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
        """The used columns of every kind: those of a `Table`'s blocks."""
        return {kind: tuple(column for column in self.used if column.kind == kind) for kind in KINDS}

    @property
    def numeric(self) -> tuple[Column, ...]:
        """Used numeric columns: the columns of ``Table.numeric``."""
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
        return {"columns": columns, "dropped": list(self.dropped)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Schema":
        """Schema written by ``to_dict``."""
        return cls(tuple(map(_column_from, content["columns"])), tuple(content["dropped"]))

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


def _check_units(name: str, center: float, scale: float) -> None:
    if not all(isinstance(number, Real) and not isinstance(number, bool) for number in (center, scale)):
        raise TypeError(f"Center and scale of column {name!r} must be numbers, got {center!r} and {scale!r}.")
    if math.isinf(center) or not (math.isfinite(scale) and scale > 0):
        raise ValueError(
            f"Column {name!r} needs a finite center and a finite scale above 0, got {center!r} and {scale!r}."
        )


def _column_from(entry: Mapping[str, Any]) -> Column:
    # math.nan itself, so that two schemas with an empty dropped column compare equal.
    center = math.nan if entry["center"] is None else float(entry["center"])
    return Column(entry["name"], entry["kind"], tuple(entry["levels"]), center, float(entry["scale"]))
