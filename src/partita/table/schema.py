"""What is known about the columns of a table once it has been read."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from partita.cached import cached_property

Kind = Literal["numeric", "categorical", "count"]
KINDS: tuple[Kind, ...] = get_args(Kind)


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
        return tuple(column for column in self.columns if column.name not in self.dropped)

    @cached_property
    def numeric(self) -> tuple[Column, ...]:
        """Used numeric columns: the columns of ``Table.numeric``."""
        return self._of_kind("numeric")

    @cached_property
    def categorical(self) -> tuple[Column, ...]:
        """Used categorical columns: the columns of ``Table.codes``."""
        return self._of_kind("categorical")

    @cached_property
    def counts(self) -> tuple[Column, ...]:
        """Used count columns: the columns of ``Table.counts``."""
        return self._of_kind("count")

    @property
    def n_levels(self) -> np.ndarray:
        """Number of levels per used categorical column, int64; 1 for a column without observed cells."""
        return np.array([max(1, len(column.levels)) for column in self.categorical], dtype=np.int64)

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

    def _of_kind(self, kind: Kind) -> tuple[Column, ...]:
        return tuple(column for column in self.used if column.kind == kind)


def automatic_names(n_columns: int) -> tuple[str, ...]:
    """Names of columns that have none."""
    return tuple(f"x{j}" for j in range(n_columns))


def _column_from(entry: Mapping[str, Any]) -> Column:
    # math.nan itself, so that two schemas with an empty dropped column compare equal.
    center = math.nan if entry["center"] is None else float(entry["center"])
    return Column(entry["name"], entry["kind"], tuple(entry["levels"]), center, float(entry["scale"]))
