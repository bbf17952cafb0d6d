"""Label the rows of another table by an earlier run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partita.bayesian_mixture import BayesianMixture
from partita.files.atomic import replacing
from partita.posterior.membership import runners_up
from partita.runs.columns import DIGITS, to_csv
from partita.runs.folder import MODEL, PREDICTIONS, SUMMARY, row_names
from partita.runs.manifest import MANIFEST, Manifest, UnusableManifestError, read_manifest, recognise
from partita.runs.run_folder import RunFolder
from partita.runs.strict_json import read_json
from partita.runs.words import CONFIDENT, NOVEL
from partita.saving import load
from partita.table import read_file
from partita.wording import count_of

_RUN = "RUN is the folder that 'partita cluster' or 'partita consensus' wrote."
_AGAIN = "make the folder again."
_MOST_BYTES = 1 << 26  # of a summary


@dataclass(frozen=True)
class Predictions:
    """Labels of new rows: ``columns`` are those of predictions.csv."""

    columns: dict[str, Any]
    n_clusters: int

    def describe(self) -> list[str]:
        """How many rows fall into each group, how surely, and how many seem to belong to none."""
        labels, sure, novelty = (self.columns[name] for name in ("label", "probability", "novelty"))
        sizes = np.bincount(labels, minlength=self.n_clusters)
        groups = ", ".join(f"{size} in group {k}" for k, size in enumerate(sizes) if size)
        lines = [
            f"{count_of(len(labels), 'row')}: {groups}.",
            f"{int((sure >= CONFIDENT).sum())} of {len(labels)} rows belong to their group with probability {CONFIDENT}"
            " or more.",
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


@dataclass(frozen=True)
class EarlierRun:
    """A run that was read from its folder.

    Attributes
    ----------
    command : str
        That made it.
    paths : list of Path
        Its files.
    model : BayesianMixture
    request : dict
        The columns that were set aside when it was made: ``id`` and ``ignore``.
    """

    command: str
    paths: list[Path]
    model: BayesianMixture
    request: dict[str, Any]


def open_run(run: Path) -> EarlierRun:
    """Read a run, after making sure that its files are those that its manifest names.

    Raises
    ------
    OSError, ValueError
        With a sentence, when the folder is not one that ``partita cluster`` or ``partita consensus`` wrote.
    """
    if not run.is_dir():
        what = "is a file, not a folder" if run.exists() else "does not exist"
        raise FileNotFoundError(f"{str(run)!r} {what}: {_RUN}")
    manifest = _complete_manifest(run)
    return EarlierRun(
        command=manifest.command,
        paths=[run / name for name in (*manifest.files, MANIFEST)],
        model=_load_model(run / MODEL),
        request=_read_request(run / SUMMARY),
    )


def _complete_manifest(run: Path) -> Manifest:
    try:
        manifest = read_manifest(run)
    except UnusableManifestError as refusal:
        raise ValueError(f"{refusal}: {_AGAIN}") from None
    if manifest is None:
        raise FileNotFoundError(f"{str(run)!r} has no {MANIFEST}: {_RUN}")
    if not manifest.complete:
        raise ValueError(f"The run in {str(run)!r} was interrupted while it was written: {_AGAIN}")
    for name in {MODEL, SUMMARY, *manifest.files}:
        path = run / name
        if not path.is_file():
            raise FileNotFoundError(f"{str(run)!r} has no {name}: {_RUN}")
        if recognise(path, manifest.fingerprints(name)) is None:
            raise ValueError(f"{str(path)!r} is damaged or was changed after the run: {_AGAIN}")
    return manifest


def _load_model(path: Path) -> BayesianMixture:
    model = load(path)
    if not isinstance(model, BayesianMixture):
        raise ValueError(f"{str(path)!r} holds draws without a model. {_RUN}")
    return model


def _read_request(path: Path) -> dict[str, Any]:
    try:
        request = read_json(path, _MOST_BYTES)["request"]
        name, ignored = request["id"], request["ignore"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{str(path)!r} is damaged: {_AGAIN}") from None
    is_text = isinstance(ignored, list) and all(isinstance(column, str) for column in ignored)
    if not is_text or not (name is None or isinstance(name, str)):
        raise ValueError(f"{str(path)!r} is damaged: {_AGAIN}")
    return {"id": name, "ignore": ignored}


def predict(
    model: BayesianMixture, request: dict[str, Any], table: Path, max_unpacked: int | None = None
) -> Predictions:
    """Label, its probability given the groups of the run, runner-up and novelty of every row of the table's file.

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
        "probability": np.round(probabilities.max(axis=1), DIGITS),
        "runner_up": runners_up(labels, probabilities),
        "novelty": np.round(model.novelty(rows), DIGITS),
    }
    if rows.empty_rows.any():
        columns["empty"] = rows.empty_rows
    return Predictions(columns, model.n_clusters_)


def is_beside(target: Path, run: Path) -> bool:
    """Whether a file is the predictions in the run's own folder, which the manifest speaks of."""
    return target.name == PREDICTIONS and target.parent.is_dir() and target.parent.samefile(run)


def write_predictions(
    predictions: Predictions, path: Path, folder: RunFolder | None = None, *, safe_csv: bool = False
) -> None:
    """Write the predictions as CSV, the old file or the whole new one; into a run's folder as partita's own."""
    writing = replacing(path) if folder is None else folder.writing_beside(path.name)
    with writing as (temporary,):
        temporary.write_text(to_csv(predictions.columns, safe=safe_csv), encoding="utf-8")
