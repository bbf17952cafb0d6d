"""partita cluster: the groups in a table."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from partita.runs import options
from partita.runs.command import carry_out_words, command
from partita.runs.console import collecting
from partita.runs.fits import MOST_COMPONENTS, Fit, FitRequest, Input, read_columns
from partita.runs.section import LABELS, MODEL, PICTURE, SUMMARY, Section

if TYPE_CHECKING:
    from partita.engines import Engine
    from partita.mixture import Mixture
    from partita.priors import Prior

PROFILE = "profile.csv"
COLUMNS = "columns.csv"
MOST_TRIED = 10  # components that an engine which must be told their number chooses among


@command
def cluster(
    table: options.TableFile,
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: partita-NAME for a table NAME.csv.")
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            help="Types that the values do not show: zip,area=categorical,visits=count (or numeric, positive, date,"
            " month-first); names may be patterns: 'item_*=categorical'."
        ),
    ] = None,
    guess_types: Annotated[
        bool,
        typer.Option(
            "--guess-types/--no-guess-types",
            help="Whether numbers that look like codes (any two; a few, or evenly spread ones, in equal steps) are read"
            " as categories, those with a long tail as positive numbers, and those of which many are 0 in two parts.",
        ),
    ] = True,
    missing: options.Missing = None,
    ignore: options.Ignore = None,
    id: Annotated[str | None, typer.Option(help="Column that names the rows; it is not clustered by.")] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="How rows fall into groups: dirichlet-process (dp, the default), pitman-yor, finite-mixtures,"
            " stick-breaking or finite-dirichlet."
        ),
    ] = None,
    expected_clusters: Annotated[
        float | None, typer.Option(help="How many groups the prior expects; default: learned, but for finite-mixtures.")
    ] = None,
    components: options.Components = None,
    engine: Annotated[
        str,
        typer.Option(help="gibbs (samples), vb or cvb (approximate, faster), or em (1 to 10 groups, chosen by BIC)."),
    ] = "gibbs",
    n_clusters: Annotated[
        int | None, typer.Option(min=1, help="So many groups and no others; default: as many as the table shows.")
    ] = None,
    groups: Annotated[
        str, typer.Option(help="Groups that overlapping ones are merged into: a number, auto (by overlap) or none.")
    ] = "auto",
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
    """Find the groups in a table and write them to a folder.

    Numbers are numeric columns, dates count days or seconds, text is categorical, empty cells are missing. Writes
    labels.csv (id or row number from 0, label, confidence, runner-up), summary.json, profile.csv (what is typical of
    every group), posterior.partita (all draws and the model, for 'partita predict') and coclustering.png. While it
    samples, Ctrl-C stops early and keeps what was drawn.

    Example: partita cluster customers.csv --id customer --types zip=categorical
    """
    carry_out_words(ClusterRequest, **locals())


@dataclass(frozen=True)
class ClusterRequest(FitRequest):
    """A table's file and how it is to be clustered: the options above, understood; they are those of `Mixture`.

    ``prior`` None is a Dirichlet process, and no prior at all for EM; ``expected_clusters`` None: the prior learns it.
    """

    table: Path
    types: Mapping[str, str]
    guess_types: bool = True
    missing: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    id: str | None = None
    prior: str | None = None
    expected_clusters: float | None = None
    components: int | None = None
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
    max_time: float | None = options.MAX_TIME
    seed: int = 0
    max_unpacked: int | None = None

    command: ClassVar[str] = "partita cluster"
    files: ClassVar[tuple[str, ...]] = (LABELS, SUMMARY, PROFILE, COLUMNS, MODEL, PICTURE)
    default_prior: ClassVar[str] = "dirichlet-process"
    tells_number: ClassVar[bool] = True
    noun: ClassVar[str] = "row"
    source: ClassVar[str] = "This table does"

    def read(self) -> Input:
        """Read the file, learn its columns, and check the options of the model."""
        from partita.table import Origin, Table

        with collecting() as said:
            frame, ids, types, missing = read_columns(self)
            table = Table.read(frame, column_types=types, guess_types=self.guess_types, missing=missing)
        model = self.mixture_for(table.n_rows, int(table.empty_rows.sum()))
        return Input(self, replace(table, origin=Origin()), ids, said, model)

    def mixture_for(self, n_rows: int, n_empty: int = 0) -> "Mixture":
        """The model of a table of this many rows, some without any cell."""
        from partita.mixture import Mixture

        model = Mixture(
            engine=self.engine_for(),
            prior=self.prior_for(n_rows, n_empty),
            n_clusters=self.n_clusters,
            **self.fit_options,
        )
        model.check()
        return model

    def engine_for(self) -> "Engine":
        """The engine; one that must be told the number of groups chooses it, and one that truncates has its limit."""
        from partita.priors.named import has_limit

        engine = self.engine_kind()
        if not engine.finds_number:
            return engine.set_params(select="bic")
        if engine.truncates and self.components is not None and not has_limit(self.prior_kind):
            return engine.set_params(truncation=self.components)
        return engine

    def prior_for(self, n_rows: int, n_empty: int = 0) -> "Prior":
        """The prior, for a table of this many rows; refused where the engine does not run it."""
        from partita.priors import FiniteDirichlet
        from partita.priors.named import has_limit

        kind = self.prior_kind
        if not self.engine_kind.finds_number:
            if (self.prior, self.expected_clusters, self.components) != (None, None, None):
                raise ValueError(
                    f"--engine {self.engine} tries 1 to {MOST_TRIED} groups and chooses by BIC: it has no prior of"
                    " their number. Leave out --prior, --expected-clusters and --components, or take another engine."
                )
            return FiniteDirichlet(n_components=range(1, max(1, min(MOST_TRIED, n_rows - n_empty)) + 1))
        self.refuse_prior()
        limit = {"n_components": self.components or MOST_COMPONENTS} if has_limit(kind) else {}
        if self.expected_clusters is None:
            return kind(**limit)
        return kind.from_expected_clusters(self.expected_clusters, n_rows, **limit)

    def describe(self, given: Input) -> Section:
        """Rows, columns by kind, missing cells, what was left out, and how long it may take."""
        from partita.runs.column_words import describe_input
        from partita.runs.words import budget_in_words

        words = [*describe_input(given), budget_in_words(self.max_time)]
        return Section("table", words, {"engine": self.engine})

    def sections(self, answer: Fit) -> list[Section]:
        """Groups, what is typical of each, and how it ended."""
        from partita.families.automatic import covariance_of
        from partita.runs.column_words import (
            column_table,
            describe_drivers,
            describe_family,
            describe_groups,
            drivers,
        )
        from partita.runs.columns import DIGITS, columns_of
        from partita.runs.groups import fitted_groups
        from partita.runs.words import how_it_ended
        from partita.table.kinds import why_guessed

        schema, family = answer.input.table.schema, answer.model.family_
        typical = describe_family(family) if len(schema.numeric) > 1 else []
        if note := getattr(answer.model, "family_note_", ""):
            typical += [f"That is by the shape of the table alone. {note} --max-time gives more."]
        if answer.model.n_clusters_ > 1:
            typical += [describe_drivers(answer.model), "", "What is typical of each group (in brackets: all rows):"]
            typical += [f"  {line}" for line in describe_groups(answer)]
        tables = {PROFILE: columns_of(answer.model.profile_), COLUMNS: column_table(answer)}
        return [
            fitted_groups(answer),
            Section("profile", typical, tables=tables),
            how_it_ended(
                answer,
                columns={column.name: column.kind for column in schema.used},
                guessed={column.name: why_guessed(column) for column in schema.used if column.guessed},
                steps={column.name: column.step for column in schema.numeric if column.step > 0.0},
                scales={column.name: column.scale for column in schema.numeric},
                covariance=covariance_of(family) if schema.numeric else None,
                drivers={name: round(share, DIGITS) for name, share in drivers(answer.model).items()},
                dropped=list(schema.dropped),
            ),
        ]
