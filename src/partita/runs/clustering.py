"""Read a table's file, set aside what names the rows or is to be ignored, and cluster the rest."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from partita.mixture import Mixture
from partita.running.cached import cached_property
from partita.running.progress import clear_status
from partita.runs.collecting import collecting
from partita.runs.forecast import Approximation, Watch, round_seconds
from partita.runs.pieces import Groups, groups_of
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
    faster: str = ""  # what variational Bayes would take, in words, where chains had too little time

    @cached_property
    def groups(self) -> Groups | None:
        """The groups that the estimated clusters form, where they are merged."""
        return groups_of(self.model, self.input.request.groups)


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
        engine=request.engine_for(),
        prior=request.prior_for(given.table.n_rows, int(given.table.empty_rows.sum())),
        chains=request.chains,
        draws=request.draws,
        loss=request.loss,
        entropy=request.entropy,
        max_clusters=request.max_clusters,
        min_size=request.min_size,
        min_support=request.min_support,
        n_clusters=request.n_clusters,
        max_time=request.max_time,
        n_jobs=-1,
        progress=progress,
        random_state=request.seed,
    )
    model.check()
    return model


def cluster(given: Input, model: Any, tell: Callable[[str], None] | None = None) -> Run:
    """Fit the model; an interruption keeps what was drawn.

    ``tell`` is told early, in one sentence, that the chains cannot be judged within the time limit.
    """
    started = time.perf_counter()
    faster = Approximation(model, given.table)
    shows = model.progress
    if tell is not None and given.request.samples and model.max_time is not None:
        model.set_params(progress=_watch(given, model, faster, tell))
    with collecting() as said:
        model.fit(given.table)
    if shows:
        clear_status()
    model.set_params(progress=shows)
    seconds = time.perf_counter() - started
    return Run(given, model, seconds, given.warnings + said, _faster_way(given, model, faster))


def _watch(given: Input, model: Any, faster: Approximation, tell: Callable[[str], None]) -> Watch:
    def warn(n_sweeps: int, seconds: float) -> None:
        clear_status()
        tell(
            f"{n_sweeps} sweeps of every chain, which are needed, would take about {round_seconds(seconds)} s: the"
            f" answer will rest on those of {model.max_time:g} s. {faster.in_words(given.request.approximating)}."
        )

    return Watch(model.max_time, model.draws == "auto", warn)


def _faster_way(given: Input, model: Any, faster: Approximation) -> str:
    if not given.request.samples or model.converged_ or model.posterior_.provenance["stopped"] != "max_time":
        return ""
    try:
        return faster.in_words(given.request.approximating)
    except KeyboardInterrupt:  # the answer is there: only this is not
        return ""
