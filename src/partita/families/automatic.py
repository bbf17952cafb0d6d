"""The family that an option stands for."""

from typing import Any

from partita.families.base import FAMILIES, Family
from partita.families.categorical import Categorical
from partita.families.count import Count
from partita.families.gaussian import Gaussian
from partita.families.mixed import Mixed
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
    if kinds == {"categorical"}:
        return Categorical()
    if kinds == {"count"}:
        return Count()
    if kinds != {"numeric"}:
        return Mixed()
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
