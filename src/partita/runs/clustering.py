"""Read a table's file, set aside what names the rows or is to be ignored, and cluster the rest."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

from partita.mixture import Mixture
from partita.runs.collecting import collecting
from partita.runs.request import Request
from partita.runs.setting_aside import refuse_unknown, set_aside
from partita.table import Origin, Table, read_file


@dataclass(frozen=True)
class Input:
    """A table that was read and understood: what is to be clustered, and what was set aside."""

    request: Any  # of the command that asks
    table: Table
    ids: list[Any] | None
    warnings: list[str]


@dataclass(frozen=True)
class Run:
    """A table and the model fitted to it."""

    input: Input
    model: Any  # Mixture, or NBCE where the table is of labels
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
        frame = read_file(request.table, column_types=request.types, text=names_rows, max_unpacked=request.max_unpacked)
        for column in request.types:
            refuse_unknown("--types", column, frame.column_names)
        kept, ids = set_aside(frame, request.id, request.ignore)
        types = {name: kind for name, kind in request.types.items() if name in kept.column_names}
        table = Table.read(kept, column_types=types)
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


def cluster(given: Input, model: Any) -> Run:
    """Fit the model; an interruption keeps what was drawn."""
    started = time.perf_counter()
    with collecting() as said:
        model.fit(given.table)
    return Run(given, model, time.perf_counter() - started, given.warnings + said)
