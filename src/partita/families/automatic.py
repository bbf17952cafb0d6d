"""The family that ``family="auto"`` stands for."""

from partita.families.base import Family
from partita.families.categorical import Categorical
from partita.families.count import Count
from partita.families.gaussian import Gaussian
from partita.families.mixed import Mixed
from partita.table import Table

MOST_FULL_COLUMNS = 50
ROWS_PER_FULL_COLUMN = 10


def automatic_family(table: Table) -> Family:
    """Full covariance for few numeric columns (at most 50, and ten rows for each), otherwise diagonal.

    Tables of one other kind get its family, tables of several kinds ``Mixed()``.
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
    few = d <= MOST_FULL_COLUMNS and table.row_weights.sum() >= ROWS_PER_FULL_COLUMN * d
    return Gaussian(covariance="full" if few else "diag")
