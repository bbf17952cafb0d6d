"""Table: the rows to be grouped, with typed columns, missing cells and the user's own units."""

from partita.table.files import read_file
from partita.table.origin import Origin
from partita.table.schema import KINDS, Column, Schema
from partita.table.table import Table

__all__ = ["KINDS", "Column", "Origin", "Schema", "Table", "read_file"]
