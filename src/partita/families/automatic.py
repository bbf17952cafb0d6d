"""The family that an option stands for."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from partita.families.base import FAMILIES, Family
from partita.families.gaussian import Gaussian
from partita.families.mixed import DEFAULTS, Mixed
from partita.parameters import choose
from partita.table import Table
from partita.table.schema import ColumnKind

MOST_FULL_COLUMNS = 50
ROWS_PER_FULL_COLUMN = 2
ROWS_PER_FULL_COLUMN_IF_FIXED = 10


def automatic_family(table: Table, *, fixed: bool = False) -> Family:
    """What a table gets by its shape alone: full covariance for few numeric columns, otherwise diagonal.

    Few are at most 50, and two rows for each; ten where the scale of groups is ``fixed`` and not learned. Tables of one
    other kind get its family, tables of several kinds ``Mixed()``.
    """
    kinds = {column.block for column in table.schema.used}
    if kinds != {"numeric"}:
        return clone(DEFAULTS[kinds.pop()]) if len(kinds) == 1 else Mixed()
    return Gaussian(covariance="full" if _has_rows_for_full(table, fixed) else "diag")


def candidate_families(table: Table, *, fixed: bool = False, drawn_unevenly: bool = False) -> list[Family]:
    """The families that come into question for a table, that of its shape alone first.

    Several numeric columns that are few enough have one covariance matrix, or none, also beside columns of other kinds;
    none where missing numbers would be drawn for rows that do not count once: their copies cannot share one draw.
    """
    by_shape = automatic_family(table, fixed=fixed)
    if len(table.schema.numeric) < 2 or not _has_rows_for_full(table, fixed):
        return [by_shape]
    if drawn_unevenly and np.isnan(table.numeric).any():
        return [by_shape if isinstance(by_shape, Mixed) else Gaussian(covariance="diag")]
    full = Gaussian(covariance="full")
    return [by_shape, Mixed(families={"numeric": full}) if isinstance(by_shape, Mixed) else Gaussian(covariance="diag")]


def with_shape(family: Family, shape: np.ndarray) -> Family:
    """The family with groups that are expected to have this shape (d, d) in the numeric columns.

    A family that has no columns of numbers, or knows how wide groups are, stays as it is.
    """
    if isinstance(family, Mixed):
        shaped = with_shape(_of_numbers(family), shape)
        return clone(family).set_params(families={**(family.families or {}), "numeric": shaped})
    if not isinstance(family, Gaussian) or family.covariance == "known":
        return family
    return clone(family).set_params(shape=shape if family.covariance == "full" else shape.diagonal())


def covariance_of(family: Family) -> str | None:
    """That of the numeric columns that a family does not name; None where it says nothing of one."""
    return getattr(_of_numbers(family), "covariance", None)


def has_shape(family: Family) -> bool:
    """Whether groups are expected to have a shape of their own in the numeric columns that a family does not name."""
    return getattr(_of_numbers(family), "shape", None) is not None


def _of_numbers(family: Family) -> Family:
    """What reads the numeric columns that a family does not name."""
    return (family.families or {}).get("numeric", DEFAULTS["numeric"]) if isinstance(family, Mixed) else family


def _has_rows_for_full(table: Table, fixed: bool) -> bool:
    d = len(table.schema.numeric)
    rows_per_column = ROWS_PER_FULL_COLUMN_IF_FIXED if fixed else ROWS_PER_FULL_COLUMN
    return d <= MOST_FULL_COLUMNS and bool(table.row_weights.sum() >= rows_per_column * d)


def family_from(value: Any, table: Table, *, fixed: bool = False) -> Family:
    """A family, the default of the one that is named, or what "auto" is for this table."""
    if isinstance(value, str):
        if value == "auto":
            return automatic_family(table, fixed=fixed)
        kinds: dict[str, Any] = {"auto": automatic_family, **FAMILIES}
        return choose("family", value, kinds)()
    if not isinstance(value, Family):
        raise TypeError(f"family must be 'auto', a family of partita.families or its name, got {value!r}.")
    return value


def standardizing(standardize: bool, family: Any) -> bool | Callable[[str], bool]:
    """Which numeric columns are standardised: those that the family does not read as they are."""
    chosen = _family_or_none(family)
    return standardize if chosen is None or not standardize else chosen.standardizes_column


def guessing(guess_types: bool, family: Any) -> bool | Callable[[str, ColumnKind], bool]:
    """Of which columns the kind may be guessed: those for which no family was chosen that reads one kind alone."""
    chosen = _family_or_none(family)
    return guess_types if chosen is None or not guess_types else chosen.guesses_column


def positive_columns(family: Any) -> dict[str, Any]:
    """Options of `Table.read`: which columns the family reads as positive numbers, and with which offsets."""
    chosen = _family_or_none(family)
    return {} if chosen is None else {"positive": chosen.reads_as_positive, "offset": chosen.offset_of_column}


def _family_or_none(value: Any) -> Family | None:
    """The family that an option stands for, before there is a table."""
    kind = FAMILIES.get(value) if isinstance(value, str) else None
    chosen = value if kind is None else kind()
    return chosen if isinstance(chosen, Family) else None
