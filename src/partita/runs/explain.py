"""partita explain: why a row of an earlier run is where it is."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import typer

from partita.runs.command import Request, Tell, carry_out, command
from partita.runs.section import LABELS, Section

if TYPE_CHECKING:
    from partita.bayesian_mixture import BayesianMixture
    from partita.model.explanation import Explanation
    from partita.runs.earlier import EarlierRun


@command
def explain(
    run: Annotated[Path, typer.Argument(help="Folder that 'partita cluster' or 'partita consensus' wrote.")],
    row: Annotated[str, typer.Argument(help="The row's id as in labels.csv, or its number from 0 without ids.")],
    number: Annotated[
        bool, typer.Option("--number", help="ROW is a number from 0, also where the rows have ids.")
    ] = False,
) -> None:
    """Say why a row of an earlier run is in its group and not in the next best one, column by column.

    Nats are logs of odds: +1 makes the row's group 2.7 times as probable against the runner-up. Nothing is written.

    Example: partita explain partita-orders "customer 17"
    """
    from partita.runs.run_folder import Nowhere

    carry_out(ExplainRequest(run, row, number), Nowhere())


class RowLabels(NamedTuple):
    """What labels.csv says of the rows: their names, and of merged groups which one and how surely."""

    names: list[str]
    groups: list[tuple[str, str]] | None


class PlacedRow(NamedTuple):
    """A row of a run: its model, what labels.csv says, and where the row is in them."""

    model: "BayesianMixture"
    labels: RowLabels
    position: int


@dataclass(frozen=True)
class ExplainRequest(Request):
    """A run's folder, and a row by its id as in labels.csv; by its number from 0 without ids, or with ``number``."""

    run: Path
    row: str
    number: bool = False

    files: ClassVar[tuple[str, ...]] = ()

    def read(self) -> PlacedRow:
        """Open the run and find the row; refused when there is no such row, or several."""
        from partita.runs.earlier import open_run

        run = open_run(self.run)
        run.refuse_without("explain", "does not say why an object is where it is")
        labels, has_ids = _read_labels(run, self.run / LABELS), run.request["id"] is not None
        by_name = has_ids and not self.number
        position = _named(self.row, labels.names) if by_name else _numbered(self.row, len(labels.names), has_ids)
        return PlacedRow(run.model, labels, position)

    def compute(self, given: PlacedRow, tell: Tell | None = None) -> "tuple[PlacedRow, Explanation]":
        """What each column says for the row's group against the runner-up."""
        return given, given.model.explain(given.position)

    def sections(self, answer: "tuple[PlacedRow, Explanation]") -> list[Section]:
        """Label, confidence and runner-up of the row, and what each column says for it."""
        (model, labels, position), found = answer
        noun = "group" if labels.groups is None else "piece"
        first, *rest = str(found).splitlines()
        first = first.replace("Group", noun.capitalize()).replace("group", noun)
        where, notes = _where(model, labels, position, noun), _notes(model, position, found, noun)
        return [Section("row", [*where, "", first, *rest, *notes])]


def _read_labels(run: "EarlierRun", path: Path) -> RowLabels:
    if path not in run.paths:
        raise FileNotFoundError(f"{str(path.parent)!r} has no {LABELS} of this run: make the folder again.")
    try:
        with open(path, newline="", encoding="utf-8") as file:
            header, *lines = csv.reader(file)
        names = [line[0] for line in lines]
        columns = [header.index(name) for name in ("group", "group_confidence") if name in header[1:]]
        groups = [(str(int(line[columns[0]])), f"{float(line[columns[1]]):.2f}") for line in lines] if columns else None
    except (csv.Error, ValueError, IndexError):
        raise ValueError(f"{str(path)!r} is not as partita writes it: make the folder again.") from None
    if len(names) != run.model.labels_.size:
        raise ValueError(f"{str(path)!r} has not as many rows as the model: make the folder again.")
    return RowLabels(names, groups)


def _named(row: str, names: list[str]) -> int:
    import numpy as np

    from partita.table.row_positions import nearest_name
    from partita.wording import count_of, name_rows, shown

    found = [position for position, name in enumerate(names) if name == row]
    if len(found) == 1:
        return found[0]
    if found:
        told = f"{count_of(len(found), 'row')} are named {shown(row)} ({name_rows(np.array(found))})"
        raise ValueError(f"{told}: give one of these numbers with --number.")
    hint = " A row number is given with --number." if row.isdecimal() else ""
    raise ValueError(f"No row of the run is named {shown(row)}. {nearest_name(row, names)}{hint}")


def _numbered(row: str, n_rows: int, has_ids: bool) -> int:
    from partita.wording import shown

    if not row.isdecimal():
        why = "--number takes no ids" if has_ids else "the rows of this run have no ids"
        raise ValueError(f"{shown(row)} is no row number, and {why}: rows are numbered from 0 to {n_rows - 1}.")
    position = int(row) if len(row) <= len(str(n_rows)) else n_rows
    if position >= n_rows:
        raise ValueError(f"Row {shown(row)[1:-1]} does not exist: the run has rows 0 to {n_rows - 1}.")
    return position


def _where(model: "BayesianMixture", labels: RowLabels, position: int, noun: str) -> list[str]:
    """Label, confidence and runner-up, as in labels.csv."""
    label, runner_up = int(model.labels_[position]), _runner_up(model, position)
    sure = model.probabilities_[position, label]
    words = f"Row {labels.names[position]} is in {noun} {label} with confidence {sure:.2f}"
    lines = [f"{words}; the runner-up is {noun} {runner_up}." if runner_up >= 0 else f"{words}."]
    if labels.groups is not None:
        group, confidence = labels.groups[position]
        lines.append(f"Piece {label} is part of group {group}, in which the row is with confidence {confidence}.")
    if model.table_.empty_rows[position]:
        lines.append("It has no value at all: that is the prior's answer.")
    return lines


def _notes(model: "BayesianMixture", position: int, found: "Explanation", noun: str) -> list[str]:
    """How the draws, which confidence and runner-up come from, differ from the densities that columns speak of."""
    notes = []
    if found.total < 0:
        notes.append(
            f"By its values alone the row would be in {noun} {found.runner_up}, as 'partita predict' says; its label is"
            " where the draws place it."
        )
    runner_up = _runner_up(model, position)
    if runner_up != found.runner_up:
        notes.append(f"By the draws the runner-up is {noun} {runner_up}, by its values {noun} {found.runner_up}.")
    return ["", *notes] if notes else []


def _runner_up(model: "BayesianMixture", position: int) -> int:
    from partita.posterior.membership import runners_up

    one = slice(position, position + 1)
    return int(runners_up(model.labels_[one], model.probabilities_[one])[0])
