"""What `partita cluster` and `partita consensus` share: a file that is read, and a model that is fitted to it."""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from partita.runs import options
from partita.runs.command import Request, Tell
from partita.runs.console import collecting

if TYPE_CHECKING:
    import pyarrow as pa

    from partita.engines import Engine
    from partita.priors import Prior
    from partita.table import Table

MOST_COMPONENTS = 100  # of a prior that has a limit
SHORT_NAMES = {"dp": "dirichlet-process"}  # of priors


@dataclass(frozen=True)
class Input:
    """A table that was read and understood: what is to be clustered, and what was set aside."""

    request: Any  # of the command that asks
    table: "Table"
    ids: list[Any] | None
    warnings: list[str]
    model: Any = None  # that is to be fitted, its options checked


@dataclass(frozen=True)
class Fit:
    """A table and the model fitted to it."""

    input: Input
    model: Any  # Mixture, or NBCE where the table is of labels
    seconds: float
    warnings: list[str] = field(default_factory=list)
    faster: str = ""  # what variational Bayes would take, in words, where chains had too little time

    @property
    def sampled(self) -> bool:
        """Whether the draws are those of chains, which can be judged."""
        return hasattr(self.model, "diagnostics_")


class FitRequest(Request):
    """A request for a fit, with an engine and a prior by name."""

    default_prior: ClassVar[str]
    sampling: ClassVar[str] = "--engine gibbs"
    tells_number: ClassVar[bool] = False
    """Whether it has numbers of groups for an engine that must be told one."""
    noun: ClassVar[str] = "object"
    """What a line of the table is called."""
    source: ClassVar[str]
    """What may not determine groups: ``This table does``."""

    engine: str
    prior: str | None
    components: int | None
    seed: int
    groups: int | str = "none"

    @property
    def fit_options(self) -> dict[str, Any]:
        """The options that every estimator has under the same names; it runs on all cores."""
        estimating = ("loss", "entropy", "max_clusters", "min_size", "min_support")
        names = ("chains", "draws", "max_time", *estimating)
        return {name: getattr(self, name) for name in names} | {"n_jobs": -1, "random_state": self.seed}

    @property
    def approximating(self) -> str:
        """The options of the approximation that is fastest."""
        from partita.engines import Variational

        fastest = Variational()
        other = "" if _runs(fastest, self.prior_kind) else f" --prior {self.default_prior}"
        return f"--engine {fastest.name}{other}"

    @property
    def engine_kind(self) -> type["Engine"]:
        """The class of the engine."""
        from partita.engines import ENGINES
        from partita.parameters import choose

        return choose(
            "--engine",
            self.engine,
            {name: kind for name, kind in ENGINES.items() if self.tells_number or kind.finds_number},
        )

    @property
    def prior_kind(self) -> type["Prior"]:
        """The class of the prior."""
        from partita.parameters import choose
        from partita.priors import PRIORS

        short = {word: PRIORS[name] for word, name in SHORT_NAMES.items()}
        return choose("--prior", self.prior or self.default_prior, PRIORS | short)

    def refuse_prior(self) -> None:
        """Refuse a prior that the engine does not run, and a limit of one that has none."""
        from partita.priors import PRIORS
        from partita.priors.named import has_limit

        engine, kind, name = self.engine_kind(), self.prior_kind, self.prior or self.default_prior
        if not _runs(engine, kind):
            names = ", ".join(known for known in PRIORS if _runs(engine, PRIORS[known]))
            raise ValueError(
                f"--engine {self.engine} runs --prior {names}; got {name!r}. {self.sampling} runs every prior."
            )
        if self.components is not None and not (has_limit(kind) or engine.truncates):
            names = ", ".join(known for known in PRIORS if has_limit(PRIORS[known]))
            raise ValueError(
                f"--components limits --prior {names}; {name} has no limit when it is sampled. Leave it out, or ask for"
                " --max-clusters."
            )

    def compute(self, given: Input, tell: Tell | None = None) -> Fit:
        """Fit the model; an interruption keeps what was drawn.

        ``tell`` is told early, in one sentence, that the chains cannot be judged within the time limit.
        """
        from partita.running.progress import clear_status
        from partita.runs.forecast import Approximation

        started = time.perf_counter()
        model = given.model.set_params(progress=tell is not None)
        faster = Approximation(model, given.table)
        if tell is not None and model.max_time is not None:
            model.set_params(progress=_watch(given, faster, tell))
        with collecting() as said:
            model.fit(given.table)
        if tell is not None:
            clear_status()
        model.set_params(progress=tell is not None)
        seconds = time.perf_counter() - started
        return Fit(given, model, seconds, given.warnings + said, _faster_way(given, faster))


def _runs(engine: "Engine", prior: type["Prior"]) -> bool:
    """Whether an engine runs a prior."""
    try:
        engine.prior_for(prior.examples()[0])
    except ValueError:
        return False
    return True


class Columns(NamedTuple):
    """The columns of a file that are clustered by, the cells of the one that names the rows, and what was told of both.

    ``types`` and ``missing`` are those of the columns that are left.
    """

    frame: "pa.Table"
    ids: list[Any] | None
    types: dict[Any, Any]
    missing: dict[Any, Any]


def read_columns(request: Any) -> Columns:
    """Read the file of a request: its ``table``, by ``types``, ``missing``, ``ignore``, ``id`` and ``max_unpacked``."""
    from partita.table import read_file
    from partita.table.column_keys import refuse_strange_keys

    missing = options.missing_of(request.missing)
    frame = read_file(
        request.table,
        column_types=request.types,
        missing=missing,
        text=() if request.id is None else (request.id,),
        max_unpacked=request.max_unpacked,
    )
    refuse_strange_keys("--types", request.types, frame.column_names, table="the table")
    refuse_strange_keys("--missing", missing, frame.column_names, table="the table")
    kept, ids = set_aside(frame, request.id, request.ignore)
    return Columns(kept, ids, *(_of(kept.column_names, told) for told in (request.types, missing)))


def _of(names: list[str], content: Mapping[Any, Any]) -> dict[Any, Any]:
    """What an option says of these columns, or of all."""
    from partita.table.column_keys import columns_meant

    return {key: value for key, value in content.items() if key is None or columns_meant(key, names)}


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
        _warn_of_repeated_ids(id, ids)
    for column in ignore:
        refuse_unknown("--ignore", column, frame.column_names)
    left_out = {id, *ignore}
    kept = [name for name in frame.column_names if name not in left_out]
    if not kept:
        raise ValueError("--id and --ignore leave no column to cluster by: name fewer columns.")
    return frame.select(kept), ids


def _warn_of_repeated_ids(id: str, ids: list[Any]) -> None:
    from partita.wording import count_of, name_some

    repeated = {name: n for name, n in Counter(ids).items() if n > 1 and name is not None}
    if repeated:
        name = "names" if len(repeated) == 1 else "name"
        warnings.warn(
            f"{count_of(len(repeated), 'id')} of column {id!r} {name} several rows, {sum(repeated.values())} in all "
            f"({name_some(repeated, len(repeated))}): 'partita explain' takes such a row by its --number.",
            UserWarning,
            stacklevel=3,
        )


def refuse_unknown(option: str, column: str, columns: list[str]) -> None:
    """Refuse an option that names a column which the table does not have."""
    from partita.parameters import nearest
    from partita.wording import name_some

    if column not in columns:
        hint = nearest(column, columns) or f"The columns are {name_some(columns, len(columns))}."
        raise ValueError(f"{option} names {column!r}, which is no column of the table. {hint}")


def _watch(given: Input, faster: Any, tell: Tell) -> Callable[..., None]:
    from partita.running.progress import clear_status
    from partita.runs.forecast import Pace, round_seconds

    model = given.model

    def warn(n_sweeps: int, seconds: float) -> None:
        clear_status()
        tell(
            f"{n_sweeps} sweeps of every chain, which are needed, would take about {round_seconds(seconds)} s: the"
            f" answer will rest on those of {model.max_time:g} s. {faster.in_words(given.request.approximating)}."
        )

    return Pace(model.max_time, model.draws == "auto", warn)


def _faster_way(given: Input, faster: Any) -> str:
    model = given.model
    if model.converged_ or model.posterior_.provenance.get("stopped") != "max_time":
        return ""
    try:
        return faster.in_words(given.request.approximating)
    except KeyboardInterrupt:  # the answer is there: only this is not
        return ""
