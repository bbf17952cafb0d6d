"""partita: the groups in a table, how many there are, and how sure that is."""

from importlib import import_module
from typing import Any

__version__: str  # of what is installed

_HOME = {
    "CRAFT": "partita.means",
    "DPMeans": "partita.means",
    "Mixture": "partita.mixture",
    "NBCE": "partita.consensus",
    "Partitions": "partita.partitions",
    "Posterior": "partita.posterior",
    "Table": "partita.table",
    "load": "partita.saving",
}
__all__ = ["CRAFT", "NBCE", "DPMeans", "Mixture", "Partitions", "Posterior", "Table", "__version__", "load"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that the command line starts fast."""
    if name == "__version__":
        return import_module("importlib.metadata").version("partita")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'partita' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
