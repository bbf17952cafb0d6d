"""What a person asks for in words, checked and turned into options of Mixture."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partita.parameters import choose
from partita.priors import DirichletProcess, FiniteMixtures, PitmanYor, Prior
from partita.table.unpacking import size_in_bytes

PRIORS: Mapping[str, type[Prior]] = {"dp": DirichletProcess, "pitman-yor": PitmanYor, "finite-mixtures": FiniteMixtures}


@dataclass(frozen=True)
class Request:
    """A table's file and how it is to be clustered.

    Parameters
    ----------
    table : Path
        A CSV or Parquet file.
    types : mapping
        Column -> "numeric", "categorical" or "count", where the values are not to decide.
    ignore : tuple of str
        Columns to leave out.
    id : str or None
        A column to leave out that names the rows in the results.
    prior : str
        A name of `PRIORS`.
    expected_clusters : float or None
        How many groups the prior expects among the table's rows; None: the prior learns it.
    chains, draws, max_time, seed
        As in `Mixture`.
    max_unpacked : int or None
        Bytes that a compressed file may become, as in `read_file`.
    """

    table: Path
    types: Mapping[str, str]
    ignore: tuple[str, ...] = ()
    id: str | None = None
    prior: str = "dp"
    expected_clusters: float | None = None
    chains: int = 4
    draws: int | str = "auto"
    max_time: float | None = None
    seed: int = 0
    max_unpacked: int | None = None

    def prior_for(self, n_rows: int) -> Prior:
        """The prior, for a table of this many rows."""
        kind = choose("--prior", self.prior, PRIORS)
        if self.expected_clusters is None:
            return kind()
        return kind.from_expected_clusters(self.expected_clusters, n_rows)

    def to_dict(self) -> dict[str, Any]:
        """The request in types that JSON has."""
        return vars(self) | {"table": str(self.table), "types": dict(self.types), "ignore": list(self.ignore)}


def words_of(values: Sequence[str]) -> tuple[str, ...]:
    """The items of comma-separated lists, repeated options joined; an item with a comma stands in double quotes."""
    items = [item.strip() for value in values for item in next(csv.reader([value], skipinitialspace=True), [])]
    return tuple(item for item in items if item)


def types_of(values: Sequence[str]) -> dict[str, str]:
    """Kinds by column from items like ``zip=categorical``; what is after the last ``=`` is the kind."""
    types: dict[str, str] = {}
    for item in words_of(values):
        column, equals, kind = item.rpartition("=")
        if not equals or not column.strip():
            raise ValueError(f"--types takes COLUMN=TYPE, for example zip=categorical; got {item!r}.")
        if types.setdefault(column.strip(), kind.strip()) != kind.strip():
            raise ValueError(f"--types gives column {column.strip()!r} two types: name it once.")
    return types


def bytes_of(size: str | None) -> int | None:
    """Bytes of a size like 500MB or 4GB."""
    return None if size is None else size_in_bytes(size)


def draws_of(value: str) -> int | str:
    """A number of draws, or "auto"."""
    if value == "auto":
        return value
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"--draws must be 'auto' or a whole number of at least 1; got {value!r}.") from None
