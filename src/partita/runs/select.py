"""partita select: the groups in a table, each with the columns that define it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

import typer

from partita.runs import options
from partita.runs.command import Request, Tell, carry_out_words, command, default_folder
from partita.runs.console import collecting
from partita.runs.fits import Columns, Fit, Input, read_columns
from partita.runs.section import ESTIMATOR, LABELS, SUMMARY, Section

if TYPE_CHECKING:
    from partita.means import CRAFT
    from partita.runs.run_folder import RunFolder
    from partita.table import Table

FEATURES = "features.csv"
FEATURES_PICTURE = "features.png"

_OPTIONS = {"n_clusters_hint": "--clusters-hint", "n_init": "--n-init"}
_OPTION = re.compile(rf"\b({'|'.join(_OPTIONS)})(=(\d+))?")


@command
def select(
    table: options.TableFile,
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: partita-NAME-select for a table NAME.csv.")
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            help="Types that the values do not show: zip,area=categorical (or numeric, positive, date, month-first);"
            " names may be patterns: 'item_*=categorical'."
        ),
    ] = None,
    missing: options.Missing = None,
    ignore: options.Ignore = None,
    id: Annotated[str | None, typer.Option(help="Column that names the rows; it is not clustered by.")] = None,
    share: Annotated[float, typer.Option(help="Share of the columns that each group selects, up to 1.")] = 0.5,
    budget: Annotated[
        str, typer.Option(help="fixed (as many columns for every group) or approximate (all that pay).")
    ] = "fixed",
    clusters_hint: Annotated[
        int | None, typer.Option(min=1, help="About so many groups; default: as many as the table shows.")
    ] = None,
    penalty: Annotated[
        float | None, typer.Option(help="What a group costs, in nats: the larger, the fewer; default: found.")
    ] = None,
    n_init: Annotated[int, typer.Option(min=1, help="Starts, of which the best is kept.")] = 10,
    seed: options.Seed = 0,
    max_unpacked: options.MaxUnpacked = None,
    force: options.Force = False,
    safe_csv: options.SafeCsv = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the groups in a table, each with the columns in which its rows agree, and write them to a folder.

    Fast, one answer and no word of doubt: for that there is 'partita cluster'. Numbers are numeric columns, text and
    columns of 0 and 1 are categorical, empty cells are missing. Writes labels.csv (id or row number from 0, label),
    features.csv (for every group and column whether it is selected, and the nats a row that it saves), summary.json,
    model.partita (for 'partita predict') and features.png: the table by groups, what they have selected in colour.

    Example: partita select customers.csv --id customer --share 0.3
    """
    carry_out_words(SelectRequest, **locals())


@dataclass(frozen=True)
class SelectRequest(Request):
    """A table's file and how groups select its columns: the options above, understood; they are those of `CRAFT`."""

    table: Path
    types: Mapping[str, str]
    missing: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    id: str | None = None
    share: float = 0.5
    budget: str = "fixed"
    clusters_hint: int | None = None
    penalty: float | None = None
    n_init: int = 10
    seed: int = 0
    max_unpacked: int | None = None

    command: ClassVar[str] = "partita select"
    files: ClassVar[tuple[str, ...]] = (LABELS, FEATURES, SUMMARY, ESTIMATOR, FEATURES_PICTURE)

    def folder(self, out: Path | None = None, *, force: bool = False) -> "RunFolder":
        """The folder of the run: ``out``, or one that is named after what is read, beside that of `cluster`."""
        named = default_folder(self.table)
        return super().folder(out or named.with_name(f"{named.name}-select"), force=force)

    def read(self) -> Input:
        """Check the options, read the file and learn its columns."""
        from partita.table import Origin

        model = self.estimator()
        with collecting() as said:
            columns = read_columns(self)
            table = with_flags(columns)
        if table.counts.shape[1]:
            raise ValueError("--types with count is for 'partita cluster': here counts are numeric.")
        return Input(self, replace(table, origin=Origin()), columns.ids, said, model)

    def estimator(self) -> "CRAFT":
        """The estimator; it runs on all cores."""
        from partita.means import CRAFT
        from partita.means.craft import BUDGETS
        from partita.parameters import choose

        choose("--budget", self.budget, dict.fromkeys(BUDGETS))
        if not 0.0 < self.share <= 1.0:
            raise ValueError(f"--share must be above 0 and at most 1; got {self.share:g}.")
        if self.penalty is not None and not 0.0 < self.penalty < float("inf"):
            raise ValueError(f"--penalty must be a positive number of nats; got {self.penalty:g}.")
        if self.penalty is not None and self.clusters_hint is not None:
            raise ValueError("--penalty and --clusters-hint both say how many groups there are: leave out one of them.")
        return CRAFT(
            n_features_to_select=self.share,
            penalty="auto" if self.penalty is None else self.penalty,
            n_clusters_hint=self.clusters_hint,
            budget=self.budget,
            n_init=self.n_init,
            n_jobs=-1,
            random_state=self.seed,
        )

    def describe(self, given: Input) -> Section:
        """Rows, columns by kind, missing cells and what was left out."""
        from partita.runs.column_words import describe_input

        return Section("table", describe_input(given))

    def compute(self, given: Input, tell: Tell | None = None) -> Fit:
        """Find the groups and their columns."""
        from partita.running.clock import running_seconds

        started = running_seconds()
        try:
            with collecting() as said:
                given.model.fit(given.table)
        except ValueError as error:
            raise ValueError(in_options(str(error))) from None
        seconds = running_seconds() - started
        return Fit(given, given.model, seconds, [*given.warnings, *map(in_options, said)])

    def sections(self, answer: Fit) -> list[Section]:
        """Groups, what each has selected, and what was warned of."""
        from partita.runs.features import features_section, selected_groups
        from partita.runs.words import described_warnings

        words = described_warnings(answer.warnings, None)
        files = {ESTIMATOR: answer.model.save, FEATURES_PICTURE: partial(_draw, answer.model)}
        return [
            selected_groups(answer, LABELS),
            features_section(answer, FEATURES),
            Section("end", words, {"warnings": answer.warnings}, files=files),
        ]


def with_flags(columns: Columns) -> "Table":
    """The table, in which columns of 0 and 1 alone are categories if nobody says what they are, as in `CRAFT`."""
    from partita.means.craft import zeros_and_ones
    from partita.table import Table
    from partita.table.column_keys import by_column

    read = partial(Table.read, columns.frame, guess_types=False, missing=columns.missing)
    table = read(column_types=columns.types)
    told = by_column(columns.types, table.names, by_position=False)
    flags = [name for name in zeros_and_ones(table) if name not in told]
    return read(column_types=columns.types | dict.fromkeys(flags, "categorical")) if flags else table


def in_options(words: str) -> str:
    """What the library says, with the names that options have on the command line.

    Examples
    --------
    >>> in_options("n_clusters_hint=70 is more than the 60 different rows of X (n_samples=60).")
    '--clusters-hint 70 is more than the 60 different rows of the table.'
    """
    words = re.sub(r" of X \(n_samples=\d+\)", " of the table", words)
    return _OPTION.sub(lambda found: " ".join(filter(None, (_OPTIONS[found[1]], found[3]))), words)


def _draw(model: "CRAFT", path: Path) -> None:
    from matplotlib.figure import Figure

    from partita.plots import selected

    cast(Figure, selected(model).figure).savefig(path, format="png")
