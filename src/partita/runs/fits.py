"""What `partita cluster` and `partita consensus` share: a file that is read, and a model that is fitted to it."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from partita.running.cached import cached_property
from partita.runs.command import Request, Tell
from partita.runs.console import collecting

if TYPE_CHECKING:
    import pyarrow as pa

    from partita.priors import Prior
    from partita.runs.pieces import Groups
    from partita.table import Table

MOST_COMPONENTS = 100  # of a prior that has a limit


@dataclass(frozen=True)
class Input:
    """A table that was read and understood: what is to be clustered, and what was set aside."""

    request: Any  # of the command that asks
    table: "Table"
    ids: list[Any] | None
    warnings: list[str]
    model: Any = None  # that is to be fitted, its options checked


@dataclass(frozen=True)
class Run:
    """A table and the model fitted to it."""

    input: Input
    model: Any  # Mixture, or NBCE where the table is of labels
    seconds: float
    warnings: list[str] = field(default_factory=list)
    faster: str = ""  # what variational Bayes would take, in words, where chains had too little time

    @cached_property
    def groups(self) -> "Groups | None":
        """The groups that the estimated clusters form, where they are merged."""
        from partita.runs.pieces import groups_of

        return groups_of(self.model, self.input.request.groups)


class FitRequest(Request):
    """A request for a fit, with an engine and a prior by name."""

    default_prior: ClassVar[str]
    sampling: ClassVar[str] = "--engine gibbs"
    engine: str
    prior: str | None

    @property
    def samples(self) -> bool:
        """Whether the engine samples; the others approximate."""
        return self.engine == "gibbs"

    @property
    def approximating(self) -> str:
        """The options of the approximation that is fastest."""
        return "--engine vb" if _is_approximated(self.prior_kind) else f"--engine vb --prior {self.default_prior}"

    @property
    def prior_kind(self) -> type["Prior"]:
        """The class of the prior; "dp" is short for "dirichlet-process"."""
        from partita.parameters import choose
        from partita.priors import PRIORS, DirichletProcess

        known = {"dp": DirichletProcess, **PRIORS}
        return choose("--prior", self.prior or self.default_prior, {self.default_prior: None, **known})

    def refuse_prior(self) -> None:
        """Refuse a prior that the engine does not run."""
        if not self.samples and not _is_approximated(self.prior_kind):
            raise ValueError(
                f"--engine {self.engine} runs --prior dp, finite-dirichlet or stick-breaking; got {self.prior!r}."
                f" {self.sampling} runs every prior."
            )

    def compute(self, given: Input, tell: Tell | None = None) -> Run:
        """Fit the model; an interruption keeps what was drawn.

        ``tell`` is told early, in one sentence, that the chains cannot be judged within the time limit.
        """
        from partita.running.progress import clear_status
        from partita.runs.forecast import Approximation

        started = time.perf_counter()
        model = given.model.set_params(progress=tell is not None)
        faster = Approximation(model, given.table)
        if tell is not None and self.samples and model.max_time is not None:
            model.set_params(progress=_watch(given, faster, tell))
        with collecting() as said:
            model.fit(given.table)
        if tell is not None:
            clear_status()
        model.set_params(progress=tell is not None)
        seconds = time.perf_counter() - started
        return Run(given, model, seconds, given.warnings + said, _faster_way(given, faster))


def _is_approximated(prior: type["Prior"]) -> bool:
    """Whether the variational engines run it."""
    from partita.priors import DirichletProcess

    return prior is DirichletProcess or has_limit(prior)


def has_limit(prior: type["Prior"]) -> bool:
    """Whether a prior's number of components is given."""
    from partita.priors.weights import LabelledComponents

    return issubclass(prior, LabelledComponents)


def set_aside(frame: "pa.Table", id: str | None, ignore: Iterable[str]) -> "tuple[pa.Table, list[Any] | None]":
    """The frame without these columns, and the cells of the one that names the rows.

    Raises
    ------
    ValueError
        A column that is not there, with the nearest one that is; or when none is left.
    """
    ids = None
    if id is not None:
        refuse_unknown("--id", id, frame.column_names)
        ids = frame.column(id).to_pylist()
    for column in ignore:
        refuse_unknown("--ignore", column, frame.column_names)
    left_out = {id, *ignore}
    kept = [name for name in frame.column_names if name not in left_out]
    if not kept:
        raise ValueError("--id and --ignore leave no column to cluster by: name fewer columns.")
    return frame.select(kept), ids


def refuse_unknown(option: str, column: str, columns: list[str]) -> None:
    """Refuse an option that names a column which the table does not have."""
    from partita.parameters import nearest
    from partita.wording import name_some

    if column not in columns:
        hint = nearest(column, columns) or f"The columns are {name_some(columns, len(columns))}."
        raise ValueError(f"{option} names {column!r}, which is no column of the table. {hint}")


def _watch(given: Input, faster: Any, tell: Tell) -> Callable[..., None]:
    from partita.running.progress import clear_status
    from partita.runs.forecast import Watch, round_seconds

    model = given.model

    def warn(n_sweeps: int, seconds: float) -> None:
        clear_status()
        tell(
            f"{n_sweeps} sweeps of every chain, which are needed, would take about {round_seconds(seconds)} s: the"
            f" answer will rest on those of {model.max_time:g} s. {faster.in_words(given.request.approximating)}."
        )

    return Watch(model.max_time, model.draws == "auto", warn)


def _faster_way(given: Input, faster: Any) -> str:
    model = given.model
    if not given.request.samples or model.converged_ or model.posterior_.provenance["stopped"] != "max_time":
        return ""
    try:
        return faster.in_words(given.request.approximating)
    except KeyboardInterrupt:  # the answer is there: only this is not
        return ""
