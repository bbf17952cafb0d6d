"""partita predict: rows never seen, labelled by the groups of an earlier run."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import typer

from partita.runs import options
from partita.runs.command import Request, Tell, carry_out, command
from partita.runs.console import collecting, refusing
from partita.runs.section import PREDICTIONS, Section

if TYPE_CHECKING:
    from partita.runs.earlier import EarlierRun
    from partita.table import Table

NOVEL = 0.5


@command
def predict(
    run: Annotated[
        Path, typer.Argument(help="Folder that 'partita cluster', 'partita select' or 'partita consensus' wrote.")
    ],
    table: Annotated[Path, typer.Argument(help="CSV or Parquet with the same columns.")],
    out: Annotated[
        Path | None, typer.Option(help="CSV file for the results; default: predictions.csv in the run's folder.")
    ] = None,
    unseen: Annotated[
        str | None,
        typer.Option(
            help="Categories that the run did not see: missing (the cell counts as empty; default), or error."
        ),
    ] = None,
    max_unpacked: options.MaxUnpacked = None,
    force: options.Force = False,
    safe_csv: options.SafeCsv = False,
    quiet: options.Quiet = False,
) -> None:
    """Label rows never seen by the groups of an earlier run.

    Columns that the run did not see are ignored. Writes id or row number, label, its probability, runner-up and
    novelty: the probability that a row belongs to a group that the run did not see; of a run of 'partita select' the
    label alone.
    """
    with refusing():
        from partita.runs.earlier import open_run
        from partita.runs.run_folder import OneFile, RunFolder

        target = out or run / PREDICTIONS
        if target.is_dir():
            raise IsADirectoryError(f"{str(target)!r} is a folder: name a file in it with --out.")
        request = PredictRequest(open_run(run), table, unseen, options.bytes_of(max_unpacked))
        is_beside = target.name == PREDICTIONS and target.parent.is_dir() and target.parent.samefile(run)
        folder = RunFolder(run, request.run.command, force or out is not None) if is_beside else None
    carry_out(request, OneFile(target, folder), quiet=quiet, safe_csv=safe_csv)


class NewRows(NamedTuple):
    """Rows as the model reads them, the column that names them, its cells, and what is to be said of the file."""

    rows: "Table"
    name: str | None
    ids: list[Any] | None
    warnings: list[str]


@dataclass(frozen=True)
class PredictRequest(Request):
    """A run, and the file of the rows that its groups are to label; ``unseen`` None: as the run's model has it."""

    run: "EarlierRun"
    table: Path
    unseen: str | None = None
    max_unpacked: int | None = None

    files: ClassVar[tuple[str, ...]] = (PREDICTIONS,)

    @property
    def kept(self) -> tuple[Path, ...]:
        """The table and the files of the run."""
        return (self.table, *self.run.paths)

    def read(self) -> NewRows:
        """The rows; the column that names them, and those that the run ignored, may be there or not."""
        from partita.table import read_file
        from partita.table.unseen import checked_unseen

        self.run.refuse_without("predict", "places no new objects")
        id, model = self.run.request["id"], self.run.model
        if self.unseen is not None:
            model.unseen = checked_unseen(self.unseen, "--unseen")
        names_rows = () if id is None else (id,)
        with collecting() as said:
            frame = read_file(self.table, schema=model.table_.schema, text=names_rows, max_unpacked=self.max_unpacked)
            name = id if id in frame.column_names else None
            left_out = {id, *self.run.request["ignore"]}
            kept = [column for column in frame.column_names if column not in left_out]
            rows = model.read_rows(frame.select(kept))
        return NewRows(rows, name, frame.column(name).to_pylist() if name else None, said)

    def compute(self, given: NewRows, tell: Tell | None = None) -> tuple[dict[str, Any], list[str]]:
        """Label, its probability given the groups of the run, runner-up and novelty of every row, by column.

        Novelty is that of a model which knows that there are groups it did not see; of one without probabilities there
        are labels alone.
        """
        import numpy as np

        from partita.posterior.membership import runners_up
        from partita.runs.columns import DIGITS
        from partita.runs.labels import row_names

        model, (rows, name, ids, said) = self.run.model, given
        probabilities = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
        knows_all = not hasattr(model, "novelty")
        labels = model.predict(rows) if knows_all or probabilities is None else probabilities.argmax(axis=1)
        columns: dict[str, Any] = row_names(ids, name, len(labels)) | {"label": labels}
        if probabilities is not None:
            columns["probability"] = np.round(probabilities[np.arange(labels.size), labels], DIGITS)
            columns["runner_up"] = runners_up(labels, probabilities)
        if not knows_all:
            columns["novelty"] = np.round(model.novelty(rows), DIGITS)
        return columns | ({"empty": rows.empty_rows} if rows.empty_rows.any() else {}), said

    def sections(self, answer: tuple[dict[str, Any], list[str]]) -> list[Section]:
        """How many rows fall into each group, how surely, and how many seem to belong to none."""
        from partita.runs.words import CONFIDENT, described_warnings
        from partita.wording import count_of

        columns, said = answer
        labels, sure, novelty = columns["label"], columns.get("probability"), columns.get("novelty")
        sizes = sorted(Counter(labels.tolist()).items())
        words = [f"{count_of(len(labels), 'row')}: {', '.join(f'{size} in group {k}' for k, size in sizes)}."]
        if sure is not None:
            n_sure = int((sure >= CONFIDENT).sum())
            words.append(f"{n_sure} of {len(labels)} rows belong to their group with probability {CONFIDENT} or more.")
        n_novel = 0 if novelty is None else int((novelty >= NOVEL).sum())
        if n_novel:
            words.append(
                f"{count_of(n_novel, 'row')} probably {'belongs' if n_novel == 1 else 'belong'} to a group not seen "
                f"before (novelty {NOVEL} or more)."
            )
        if "empty" in columns:
            words.append(f"{count_of(int(columns['empty'].sum()), 'row')} without any value: the prior's answer.")
        return [Section("predictions", [*words, *described_warnings(said, None)], tables={PREDICTIONS: columns})]
