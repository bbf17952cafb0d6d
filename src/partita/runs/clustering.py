"""Read a table's file, set aside what names the rows or is to be ignored, and cluster the rest."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

from partita.mixture import Mixture
from partita.parameters import nearest
from partita.runs.collecting import collecting
from partita.runs.request import Request
from partita.table import Origin, Table, read_file
from partita.table.wording import name_some


@dataclass(frozen=True)
class Input:
    """A table that was read and understood: what is to be clustered, and what was set aside."""

    request: Request
    table: Table
    ids: list[Any] | None
    warnings: list[str]


@dataclass(frozen=True)
class Run:
    """A table and the model fitted to it."""

    input: Input
    model: Mixture
    seconds: float
    warnings: list[str] = field(default_factory=list)


def read_input(request: Request) -> Input:
    """Read the file and learn its columns.

    Raises
    ------
    OSError, ValueError, TypeError
        With a sentence that says what cannot be used, where, and what to do.
    """
    with collecting() as said:
        names_rows = () if request.id is None else (request.id,)
        frame = read_file(request.table, column_types=request.types, text=names_rows)
        for column in names_rows:
            _known("--id", column, frame.column_names)
        ids = None if request.id is None else frame.column(request.id).to_pylist()
        for column in request.ignore:
            _known("--ignore", column, frame.column_names)
        for column in request.types:
            _known("--types", column, frame.column_names)
        set_aside = {request.id, *request.ignore}
        kept = [name for name in frame.column_names if name not in set_aside]
        if not kept:
            raise ValueError("--id and --ignore leave no column to cluster by: name fewer columns.")
        types = {name: kind for name, kind in request.types.items() if name not in set_aside}
        table = Table.read(frame.select(kept), column_types=types)
    return Input(request, replace(table, origin=Origin()), ids, said)


def mixture_for(given: Input, *, progress: bool = True) -> Mixture:
    """The model that was asked for, its options checked; it runs on all cores."""
    request = given.request
    model = Mixture(
        prior=request.prior_for(given.table.n_rows),
        chains=request.chains,
        draws=request.draws,
        max_time=request.max_time,
        n_jobs=-1,
        progress=progress,
        random_state=request.seed,
    )
    model.check()
    return model


def cluster(given: Input, model: Mixture) -> Run:
    """Fit the model; an interruption keeps what was drawn."""
    started = time.perf_counter()
    with collecting() as said:
        model.fit(given.table)
    return Run(given, model, time.perf_counter() - started, given.warnings + said)


def _known(option: str, column: str, columns: list[str]) -> None:
    if column not in columns:
        hint = nearest(column, columns) or f"The columns are {name_some(columns, len(columns))}."
        raise ValueError(f"{option} names {column!r}, which is no column of the table. {hint}")
