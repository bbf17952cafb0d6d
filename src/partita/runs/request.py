"""What a person asks for in words, checked and turned into options of Mixture."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar

from partita.engines import EM, ENGINES
from partita.parameters import choose
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, PitmanYor, Prior
from partita.table.unpacking import size_in_bytes

PRIORS: Mapping[str, type[Prior]] = {"dp": DirichletProcess, "pitman-yor": PitmanYor, "finite-mixtures": FiniteMixtures}
MAX_TIME = 300.0  # seconds: what a person waits for without having been asked
MOST_COMPONENTS = 10  # that EM chooses among


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
    prior : str or None
        A name of `PRIORS`; None: "dp". The variational engines run no other, EM none of them.
    expected_clusters : float or None
        How many groups the prior expects among the table's rows; None: the prior learns it.
    engine : str
        As in `Mixture`; "em" chooses among 1 to 10 groups by BIC.
    n_clusters, loss, entropy, max_clusters, min_size, min_support
        As in `Mixture`; ``loss`` by name.
    groups : int or str
        How many groups the estimated clusters are merged into: a number, "auto" or "none".
    chains, draws, max_time, seed
        As in `Mixture`.
    max_unpacked : int or None
        Bytes that a compressed file may become, as in `read_file`.
    """

    table: Path
    types: Mapping[str, str]
    ignore: tuple[str, ...] = ()
    id: str | None = None
    prior: str | None = None
    expected_clusters: float | None = None
    engine: str = "gibbs"
    n_clusters: int | None = None
    groups: int | str = "auto"
    loss: str = "vi"
    entropy: float = 0.0
    max_clusters: int | str | None = None
    min_size: int | None = None
    min_support: float = 0.5
    chains: int = 4
    draws: int | str = "auto"
    max_time: float | None = MAX_TIME
    seed: int = 0
    max_unpacked: int | None = None

    sampling: ClassVar[str] = "--engine gibbs"

    @property
    def approximating(self) -> str:
        """The option of the approximation that is fastest."""
        return "--engine vb" if self.prior in (None, "dp") else "--engine vb --prior dp"

    @property
    def samples(self) -> bool:
        """Whether the engine samples; the others approximate."""
        return self.engine == "gibbs"

    def engine_for(self) -> Any:
        """The engine, with its options."""
        kind = choose("--engine", self.engine, ENGINES)
        return EM(select="bic") if kind is EM else kind()

    def prior_for(self, n_rows: int, n_empty: int = 0) -> Prior:
        """The prior, for a table of this many rows, some without any cell; refused where the engine does not run it."""
        kind = choose("--prior", self.prior or "dp", PRIORS)
        if self.engine == "em":
            if self.prior is not None or self.expected_clusters is not None:
                raise ValueError(
                    f"--engine em tries 1 to {MOST_COMPONENTS} groups and chooses by BIC: it has no prior of their"
                    " number. Leave out --prior and --expected-clusters, or take another engine."
                )
            return FiniteDirichlet(n_components=range(1, max(1, min(MOST_COMPONENTS, n_rows - n_empty)) + 1))
        if not self.samples and kind is not DirichletProcess:
            raise ValueError(
                f"--engine {self.engine} runs --prior dp only; got {self.prior!r}. {self.sampling} runs every prior."
            )
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


def seconds_of(value: str) -> float | None:
    """A number of seconds, or "none" for no limit."""
    if value.strip().lower() == "none":
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not (isfinite(seconds) and seconds > 0):
        raise ValueError(f"--max-time must be a positive number of seconds, or none for no limit; got {value!r}.")
    return seconds


def number_of(option: str, value: str | None, *names: str) -> int | str | None:
    """A whole number of at least 1, or one of the names; None where there is none."""
    if value is None or value in names:
        return value
    if not (value.isascii() and value.isdigit() and int(value) > 0):
        also = "".join(f", or {name!r}" for name in names)
        raise ValueError(f"{option} must be a whole number of at least 1{also}; got {value!r}.")
    return int(value)


def draws_of(value: str) -> int | str:
    """A number of draws, or "auto"."""
    if value == "auto":
        return value
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"--draws must be 'auto' or a whole number of at least 1; got {value!r}.") from None
