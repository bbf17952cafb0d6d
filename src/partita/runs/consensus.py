"""partita consensus: the one clustering that many clusterings agree on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from partita.runs import options
from partita.runs.command import carry_out_words, command, default_folder
from partita.runs.console import collecting
from partita.runs.fits import MOST_COMPONENTS, Fit, FitRequest, Input, set_aside
from partita.runs.section import LABELS, MODEL, PICTURE, SUMMARY, Section

if TYPE_CHECKING:
    from partita.consensus import NBCE
    from partita.runs.command import Request
    from partita.runs.run_folder import RunFolder
    from partita.table import Table

AGREEMENT = "agreement.csv"
VOTES = "votes.png"
ENGINES: Mapping[str, str] = {"nbce": "gibbs", "nbce-vb": "vb", "nbce-cvb": "cvb"}
"""Of NBCE by the names that its methods have."""


@command
def consensus(
    labels: Annotated[
        Path, typer.Argument(help="CSV (also .gz, also separated by ; or tab) or Parquet: a column per clustering.")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: partita-NAME for labels NAME.csv.")
    ] = None,
    ignore: options.Ignore = None,
    id: Annotated[str | None, typer.Option(help="Column that names the objects; it is no clustering.")] = None,
    engine: Annotated[str, typer.Option(help="gibbs (samples), or vb or cvb (approximate, faster).")] = "gibbs",
    method: Annotated[
        str,
        typer.Option(
            help="nbce, which finds the number of groups, or a method that is told it: mm, bce, cspa, hgpa, mcla, eac,"
            " hbgf or lwgp."
        ),
    ] = "nbce",
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters",
            "--n-clusters",
            min=1,
            help="The number of groups, for a method that is told it; default: what nbce finds.",
        ),
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            help="Of cspa, hgpa and mcla: metis or mtkahypar (extra 'graph'), or spectral, which needs neither."
        ),
    ] = None,
    votes: Annotated[
        str | None,
        typer.Option(
            help="How many votes the clusterings have together for nbce: all (one each), auto (by what they share), or"
            " a number."
        ),
    ] = None,
    prior: Annotated[
        str,
        typer.Option(
            help="How objects fall into groups: stick-breaking, finite-dirichlet, dirichlet-process (dp), pitman-yor or"
            " finite-mixtures."
        ),
    ] = "stick-breaking",
    components: options.Components = None,
    concentration: Annotated[
        float | None, typer.Option(help="The larger, the more groups the prior expects; default: learned.")
    ] = None,
    pseudocount: Annotated[
        float | None,
        typer.Option(
            help="Labels of every kind that each group is taken to hold beforehand; default: 1, fewer of many kinds."
        ),
    ] = None,
    loss: options.LossName = "vi",
    entropy: options.Entropy = 0.0,
    min_size: options.MinSize = None,
    max_clusters: options.MaxClusters = None,
    min_support: options.MinSupport = 0.5,
    chains: options.Chains = 4,
    draws: options.Draws = "auto",
    max_time: options.MaxTime = "300",
    seed: options.Seed = 0,
    max_unpacked: options.MaxUnpacked = None,
    force: options.Force = False,
    safe_csv: options.SafeCsv = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the one clustering that many clusterings of the same objects agree on, and write it to a folder.

    A row per object, a column per clustering, labels of any kind; empty cells and -1 are missing. Writes
    labels.csv (id or row number from 0, label, confidence, runner-up), agreement.csv (how far each clustering
    agrees), summary.json, posterior.partita (all draws and the model, for 'partita predict'), coclustering.png and
    votes.png (the number of groups along votes). While it samples, Ctrl-C stops early and keeps what was drawn.

    With another --method there are labels, agreement, summary, model.partita, and a picture of the clusterings.

    Example: partita consensus votes.csv --id object
    """
    carry_out_words(_request, **locals())


@dataclass(frozen=True)
class ConsensusRequest(FitRequest):
    """A file of base clusterings and how their consensus is to be found: the options above, understood.

    They are those of `NBCE`, where ``components`` is ``n_components``; ``concentration`` None: it is learned; ``votes``
    None: as `NBCE` has it.
    """

    labels: Path
    ignore: tuple[str, ...] = ()
    id: str | None = None
    engine: str = "gibbs"
    prior: str = "stick-breaking"
    components: int | None = None
    concentration: float | None = None
    pseudocount: float | None = None
    votes: str | float | None = None
    loss: str = "vi"
    entropy: float = 0.0
    max_clusters: int | str | None = None
    min_size: int | None = None
    min_support: float = 0.5
    chains: int = 4
    draws: int | str = "auto"
    max_time: float | None = options.MAX_TIME
    seed: int = 0
    max_unpacked: int | None = None

    command: ClassVar[str] = "partita consensus"
    files: ClassVar[tuple[str, ...]] = (LABELS, AGREEMENT, SUMMARY, MODEL, PICTURE, VOTES)
    default_prior: ClassVar[str] = "stick-breaking"
    source: ClassVar[str] = "This ensemble does"

    @property
    def method(self) -> str:
        """The name that it has as a method."""
        return next((method for method, name in ENGINES.items() if name == self.engine), f"nbce-{self.engine}")

    def folder(self, out: Path | None = None, *, force: bool = False) -> "RunFolder":
        """The folder of the run: ``out``, or one that is named after what is read."""
        from partita.runs.consensus_folder import ConsensusFolder

        return ConsensusFolder(out or default_folder(self.labels), self.command, force)

    def read(self) -> Input:
        """Check the options and read the file, every column a clustering."""
        from partita.consensus.label_table import label_table
        from partita.table import Origin, read_file

        model = self.model()
        with collecting() as said:
            names_objects = () if self.id is None else (self.id,)
            frame = read_file(self.labels, text=names_objects, categories=True, max_unpacked=self.max_unpacked)
            kept, ids = set_aside(frame, self.id, self.ignore)
            table = replace(label_table(kept), origin=Origin())
        self._refuse_many_votes(table)
        return Input(self, table, ids, [*said, *_doubts(table)], model)

    def _refuse_many_votes(self, table: "Table") -> None:
        import numpy as np

        from partita.consensus.votes import telling
        from partita.wording import count_of

        n_telling = int(np.count_nonzero(telling(table.codes)))
        if not isinstance(self.votes, float) or self.votes <= n_telling:
            return
        if n_telling == 0:
            raise ValueError(
                f"--votes {self.votes:g} for no votes at all: no clustering tells objects apart. Leave it out."
            )
        told = f"{count_of(n_telling, 'clustering')} that {'tells' if n_telling == 1 else 'tell'} objects apart"
        raise ValueError(f"--votes {self.votes:g} is more than the {told}: --votes all counts each of them once.")

    def model(self) -> "NBCE":
        """The estimator that is asked for, its options checked."""
        from partita.consensus import NBCE

        self.refuse_prior()
        for option in ("concentration", "pseudocount"):
            number = getattr(self, option)
            if number is not None and not (isfinite(number) and number > 0):
                raise ValueError(f"--{option} must be a positive number; got {number}.")
        model = NBCE(
            prior=self.prior_kind.name,
            n_components=self.components or MOST_COMPONENTS,
            concentration=self.concentration,
            pseudocount=self.pseudocount,
            engine=self.engine,
            votes="auto" if self.votes is None else self.votes,
            learn=("concentration",) if self.concentration is None else (),
            **self.fit_options,
        )
        model.check()
        return model

    def to_dict(self) -> dict[str, Any]:
        """The request in types that JSON has, with the name that it has as a method."""
        return super().to_dict() | {"method": self.method}

    def describe(self, given: Input) -> Section:
        """Objects, clusterings with their numbers of labels, what is missing or left out, and how long it may take."""
        from partita.runs.votes import extra_time_in_words
        from partita.runs.words import budget_in_words

        read = self.describe_labels(given)
        more = "" if self.max_time is None else extra_time_in_words(self.max_time, VOTES)
        fields = {**read.fields, "method": self.method, "engine": self.engine}
        return replace(read, words=[*read.words, budget_in_words(self.max_time, more)], fields=fields)

    def describe_labels(self, given: Input) -> Section:
        """What was read, whatever is done about it."""
        from partita.runs.words import missing_in_words, short, some
        from partita.wording import count_of

        table, columns = given.table, given.table.schema.columns
        n_missing = int((table.codes < 0).sum())
        gaps = missing_in_words(n_missing, table.codes.size, "label")
        kinds = {
            "clusterings": [f"{short(column.name)} ({len(column.levels)})" for column in columns],
            "ignored": list(self.ignore),
            "names the objects": [self.id] if self.id else [],
        }
        return Section(
            "clusterings",
            words=[
                f"{self.labels}: {count_of(table.n_rows, 'object')}, {count_of(len(columns), 'clustering')}, {gaps}.",
                *(f"  {kind}: {some(names)}" for kind, names in kinds.items() if names),
            ],
            fields={"n_clusterings": len(columns), "n_missing": n_missing},
        )

    def sections(self, answer: Fit) -> list[Section]:
        """Groups, whether votes make their number, agreement of the clusterings, their votes, and how it ended."""
        from partita.runs.agreement import agreement_section
        from partita.runs.groups import fitted_groups
        from partita.runs.votes import found_along, made_by_votes, votes_section
        from partita.runs.words import how_it_ended

        found, groups = found_along(answer), fitted_groups(answer)
        groups = replace(groups, words=[*made_by_votes(found), *groups.words])
        votes = votes_section(answer, found, VOTES)
        return [groups, agreement_section(answer, AGREEMENT), votes, how_it_ended(answer)]


def _request(
    *, labels: Path, engine: str, method: str, clusters: int | None, solver: str | None, **words: Any
) -> "Request":
    """The request for NBCE, or for another method; an engine in the name of the method goes before --engine."""
    from partita.consensus.ensemble_estimator import METHODS
    from partita.parameters import choose

    choose("--method", method, dict.fromkeys([*ENGINES, *METHODS]))
    if method in METHODS:
        from partita.runs.consensus_methods import MethodRequest

        nbce = ConsensusRequest(labels, engine=engine, **words)
        return MethodRequest(labels, method=method, clusters=clusters, solver=solver, nbce=nbce)
    for option, value, told in (("--clusters", clusters, "number of groups"), ("--solver", solver, "solver")):
        if value is not None:
            raise ValueError(
                f"{option} is for methods that are told a {told}, and --method {method} is not: leave it out."
            )
    meant = engine if method == "nbce" else ENGINES[method]
    if engine not in (ConsensusRequest.engine, meant):
        raise ValueError(f"--method {method} is --engine {meant}; got --engine {engine} too: leave out --method.")
    return ConsensusRequest(labels, engine=meant, **words)


def _doubts(table: "Table") -> list[str]:
    """What may have been meant otherwise: words for missing labels."""
    from partita.table.csv_types import MISSING_WORDS

    words = {
        level: column.name
        for column in table.schema.columns
        for level in column.levels
        if isinstance(level, str) and level.strip().lower() in MISSING_WORDS
    }
    return [
        f"{word!r} is a label like any other in column {name!r}: leave a cell empty where there is none."
        for word, name in words.items()
    ]
