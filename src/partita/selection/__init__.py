"""Which columns of a table show its clusters: one choice for the table as a whole."""

from partita.selection.mcfs import MCFS
from partita.selection.ndfs import NDFS

__all__ = ["MCFS", "NDFS"]
