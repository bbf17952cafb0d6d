"""Label the rows of another table by an earlier run."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partita.atomic import replacing
from partita.fitting import Fitting
from partita.posterior.membership import runners_up
from partita.runs.columns import to_csv
from partita.runs.folder import MODEL, SUMMARY, row_names
from partita.runs.words import CONFIDENT, NOVEL
from partita.saving import load
from partita.table import read_file
from partita.table.wording import count_of

_RUN = "RUN is the folder that 'partita cluster' or 'partita consensus' wrote."


@dataclass(frozen=True)
class Predictions:
    """Labels of new rows: ``columns`` are those of predictions.csv."""

    columns: dict[str, Any]
    n_clusters: int

    def describe(self) -> list[str]:
        """How many rows fall into each group, how surely, and how many seem to belong to none."""
        labels, sure, novelty = (self.columns[name] for name in ("label", "confidence", "novelty"))
        sizes = np.bincount(labels, minlength=self.n_clusters)
        groups = ", ".join(f"{size} in group {k}" for k, size in enumerate(sizes) if size)
        lines = [
            f"{count_of(len(labels), 'row')}: {groups}.",
            f"{int((sure >= CONFIDENT).sum())} of {len(labels)} rows are placed with confidence {CONFIDENT} or more.",
        ]
        n_novel = int((novelty >= NOVEL).sum())
        if n_novel:
            lines.append(
                f"{count_of(n_novel, 'row')} probably {'belongs' if n_novel == 1 else 'belong'} to a group not seen "
                f"before (novelty {NOVEL} or more)."
            )
        if "empty" in self.columns:
            lines.append(f"{count_of(int(self.columns['empty'].sum()), 'row')} without any value: the prior's answer.")
        return lines


def open_run(run: Path) -> tuple[Fitting, dict[str, Any]]:
    """The model of a run's folder, and the columns that were set aside when it was made.

    Raises
    ------
    OSError, ValueError
        With a sentence, when the folder is not one that ``partita cluster`` or ``partita consensus`` wrote.
    """
    if not run.is_dir():
        what = "is a file, not a folder" if run.exists() else "does not exist"
        raise FileNotFoundError(f"{str(run)!r} {what}: {_RUN}")
    for name in (MODEL, SUMMARY):
        if not (run / name).is_file():
            raise FileNotFoundError(f"{str(run)!r} has no {name}: {_RUN}")
    model = load(run / MODEL)
    if not isinstance(model, Fitting):
        raise ValueError(f"{str(run / MODEL)!r} holds draws without a model. {_RUN}")
    try:
        request = json.loads((run / SUMMARY).read_text(encoding="utf-8"))["request"]
        return model, {"id": request["id"], "ignore": list(request["ignore"])}
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{str(run / SUMMARY)!r} is damaged: make the folder again.") from None


def predict(model: Fitting, request: dict[str, Any], table: Path, max_unpacked: int | None = None) -> Predictions:
    """Label, confidence, runner-up and novelty of every row of the table's file.

    The columns that the run ignored, and the one that named its rows, may be there or not. ``max_unpacked`` is that of
    `read_file`.
    """
    schema = model._model.table.schema
    names_rows = () if request["id"] is None else (request["id"],)
    frame = read_file(table, schema=schema, text=names_rows, max_unpacked=max_unpacked)
    name = request["id"] if request["id"] in frame.column_names else None
    set_aside = {request["id"], *request["ignore"]}
    kept = [column for column in frame.column_names if column not in set_aside]
    rows = model._read_table(frame.select(kept), schema)
    probabilities = model.predict_proba(rows)
    labels = probabilities.argmax(axis=1)
    ids = frame.column(name).to_pylist() if name else None
    columns = row_names(ids, name, len(labels)) | {
        "label": labels,
        "confidence": probabilities.max(axis=1),
        "runner_up": runners_up(labels, probabilities),
        "novelty": model.novelty(rows),
    }
    if rows.empty_rows.any():
        columns["empty"] = rows.empty_rows
    return Predictions(columns, model.n_clusters_)


def write_predictions(predictions: Predictions, path: Path) -> None:
    """Write the predictions as CSV: the old file or the whole new one."""
    with replacing(path) as (temporary,):
        temporary.write_text(to_csv(predictions.columns), encoding="utf-8")
