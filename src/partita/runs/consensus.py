"""partita consensus: the one clustering that many clusterings agree on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from partita.runs import options
from partita.runs.command import carry_out_words, command
from partita.runs.console import collecting
from partita.runs.fits import MOST_COMPONENTS, Fit, FitRequest, Input, set_aside
from partita.runs.section import LABELS, MODEL, PICTURE, SUMMARY, Section

if TYPE_CHECKING:
    from partita.consensus import NBCE
    from partita.table import Table

AGREEMENT = "agreement.csv"
METHODS: Mapping[str, str] = {"nbce": "gibbs", "nbce-vb": "vb", "nbce-cvb": "cvb"}
"""Older names of the engines."""


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
    method: Annotated[str | None, typer.Option(hidden=True, help="Deprecated: nbce is --engine gibbs.")] = None,
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
        float, typer.Option(help="Labels of every kind that each group is taken to hold beforehand.")
    ] = 1.0,
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
    agrees), summary.json, posterior.partita (all draws and the model, for 'partita predict') and
    coclustering.png. While it samples, Ctrl-C stops early and keeps what was drawn.

    Example: partita consensus votes.csv --id object
    """
    carry_out_words(_request, **locals())


@dataclass(frozen=True)
class ConsensusRequest(FitRequest):
    """A file of base clusterings and how their consensus is to be found: the options above, understood.

    They are those of `NBCE`, where ``components`` is ``n_components``; ``concentration`` None: it is learned.
    """

    labels: Path
    ignore: tuple[str, ...] = ()
    id: str | None = None
    engine: str = "gibbs"
    prior: str = "stick-breaking"
    components: int | None = None
    concentration: float | None = None
    pseudocount: float = 1.0
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
    files: ClassVar[tuple[str, ...]] = (LABELS, AGREEMENT, SUMMARY, MODEL, PICTURE)
    default_prior: ClassVar[str] = "stick-breaking"
    source: ClassVar[str] = "This ensemble does"

    @property
    def method(self) -> str:
        """The older name of the engine."""
        return next((older for older, name in METHODS.items() if name == self.engine), f"nbce-{self.engine}")

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
        return Input(self, table, ids, [*said, *_doubts(table)], model)

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
            learn=("concentration",) if self.concentration is None else (),
            **self.fit_options,
        )
        model.check()
        return model

    def to_dict(self) -> dict[str, Any]:
        """The request in types that JSON has, with the older name of the engine."""
        return super().to_dict() | {"method": self.method}

    def describe(self, given: Input) -> Section:
        """Objects, clusterings with their numbers of labels, what is missing or left out, and how long it may take."""
        from partita.runs.words import budget_in_words, missing_in_words, short, some
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
                budget_in_words(self.max_time),
            ],
            fields={
                "n_clusterings": len(columns),
                "n_missing": n_missing,
                "method": self.method,
                "engine": self.engine,
            },
        )

    def sections(self, answer: Fit) -> list[Section]:
        """Groups, agreement of the clusterings, and how it ended."""
        from partita.runs.agreement import agreement_section
        from partita.runs.groups import fitted_groups
        from partita.runs.words import how_it_ended

        return [fitted_groups(answer), agreement_section(answer, AGREEMENT), how_it_ended(answer)]


def _request(*, engine: str, method: str | None, **words: Any) -> ConsensusRequest:
    """The request; an older name of the engine is refused beside another engine."""
    from partita.parameters import choose

    meant = engine if method is None else choose("--method", method, METHODS)
    if engine not in (ConsensusRequest.engine, meant):
        raise ValueError(f"--method {method} is --engine {meant}; got --engine {engine} too: leave out --method.")
    return ConsensusRequest(engine=meant, **words)


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
