"""The family that an option stands for."""

from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from partita.families.base import FAMILIES, Family
from partita.families.gaussian import Gaussian
from partita.families.mixed import DEFAULTS, Mixed
from partita.parameters import choose
from partita.table import Table

MOST_FULL_COLUMNS = 50
ROWS_PER_FULL_COLUMN = 2
ROWS_PER_FULL_COLUMN_IF_FIXED = 10


def automatic_family(table: Table, *, fixed: bool = False) -> Family:
    """Full covariance for few numeric columns (at most 50, and two rows for each), otherwise diagonal.

    Tables of one other kind get its family, tables of several kinds ``Mixed()``. ``fixed``: the scale of groups
    will not be learned, and a full covariance takes ten rows for each column.
    """
    schema = table.schema
    kinds = {column.kind for column in schema.used}
    if kinds != {"numeric"}:
        return clone(DEFAULTS[kinds.pop()]) if len(kinds) == 1 else Mixed()
    d = len(schema.numeric)
    rows_per_column = ROWS_PER_FULL_COLUMN_IF_FIXED if fixed else ROWS_PER_FULL_COLUMN
    few = d <= MOST_FULL_COLUMNS and table.row_weights.sum() >= rows_per_column * d
    return Gaussian(covariance="full" if few else "diag")


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
    kind = FAMILIES.get(family) if isinstance(family, str) else None
    chosen = family if kind is None else kind()
    return chosen.standardizes_column if standardize and isinstance(chosen, Family) else standardize
