"""The files of a run: labels, summary, profile, the model with its posterior, and a picture."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

import partita
from partita.posterior import Posterior
from partita.posterior.support import MOST_CLUSTERS, Support
from partita.runs.clustering import Run
from partita.runs.columns import DIGITS, columns_of, to_csv
from partita.runs.run_folder import RunFolder
from partita.runs.words import CONFIDENT, confidence, group_sizes

LABELS = "labels.csv"
MODEL = "posterior.partita"
SUMMARY = "summary.json"
PREDICTIONS = "predictions.csv"
FILES = (LABELS, SUMMARY, "profile.csv", MODEL, "coclustering.png")
COMMAND = "partita cluster"
RESERVED = ("label", "confidence", "group", "group_confidence", "probability", "runner_up", "novelty", "empty")
"""Names of columns that are partita's own."""


def write_run(run: Run, folder: RunFolder, *, safe_csv: bool = False) -> None:
    """Write all `FILES` of a run, which become visible as a whole."""
    with folder.writing_run(FILES) as (labels, about, profile, model, picture):
        labels.write_text(labels_csv(run, safe_csv), encoding="utf-8")
        about.write_text(json.dumps(summary(run), indent=2) + "\n", encoding="utf-8")
        profile.write_text(to_csv(columns_of(run.model.profile_), safe=safe_csv), encoding="utf-8")
        run.model.save(model)
        draw(run.model.posterior_, run.model.labels_, picture)


def labels_csv(run: Run, safe: bool = False) -> str:
    """Id or row number, label, confidence and runner-up of every row, and whether it has no observed cell.

    Where clusters were merged, also the group and the confidence in that.
    """
    names = row_names(run.input.ids, run.input.request.id, run.model.labels_.size)
    columns: dict[str, Any] = columns_of(run.model.to_frame())
    columns["confidence"] = np.round(columns["confidence"], DIGITS)
    if run.groups is not None:
        columns |= {"group": run.groups.labels, "group_confidence": np.round(run.groups.confidence, DIGITS)}
    return to_csv(names | columns, safe=safe)


def row_names(ids: Sequence[Any] | None, name: str | None, n_rows: int) -> dict[str, Any]:
    """The first column of a file of rows: the ids under their own name, or row numbers from 0."""
    if ids is None or name is None:
        return {"row": np.arange(n_rows)}
    taken = name in RESERVED
    return {"id" if taken else name: [_id_text(value) for value in ids]}


def _id_text(value: Any) -> str:
    """An id in full; numbers that a missing one turned into floats as the whole numbers they were."""
    if value is None or value != value:  # noqa: PLR0124  (nan)
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def summary(run: Run) -> dict[str, Any]:
    """What was found, for programs."""
    model, table, request = run.model, run.input.table, run.input.request
    return {
        "engine": request.engine,
        "n_rows": table.n_rows,
        "n_clusters": int(model.n_clusters_),
        **_number(run),
        "sizes": group_sizes(model).tolist(),
        **_merged(run),
        "n_confident": int((confidence(model) >= CONFIDENT).sum()),
        "n_empty_rows": int(table.empty_rows.sum()),
        "converged": bool(model.converged_),
        "verdict": model.diagnostics_.verdict if request.samples else None,
        "stopped": model.posterior_.provenance.get("stopped"),
        "warnings": run.warnings,
        "columns": {column.name: column.kind for column in table.schema.used},
        "dropped": list(table.schema.dropped),
        "request": request.to_dict(),
        "seed": request.seed,
        "seconds": round(run.seconds, 3),
        "version": partita.__version__,
    }


def _merged(run: Run) -> dict[str, Any]:
    """The groups that clusters form, and of sampling what the draws say for the clusters."""
    merged = {"group_sizes": None if run.groups is None else run.groups.sizes.tolist()}
    if not run.input.request.samples:
        return merged
    found = run.model.estimate_
    return merged | {
        "diffuse": found.diffuse,
        "groups_verdict": found.verdict,
        "support": None if found.n_clusters > MOST_CLUSTERS else _support(found.support),
        "support_cost": round(found.support_cost, DIGITS),
    }


def _support(support: Support) -> dict[str, list[float]]:
    """Both shares of every cluster."""
    return {name: np.round(getattr(support, name), DIGITS).tolist() for name in ("company", "together", "apart")}


def _number(run: Run) -> dict[str, Any]:
    """Probabilities of the number of groups, or of EM what its criterion says of every number that it tried."""
    if run.input.request.engine == "em":
        return {"n_clusters_probabilities": None, "bic": {str(k): value for k, value in run.model.selection_.items()}}
    chances = run.model.posterior_.n_clusters()
    return {"n_clusters_probabilities": {str(k): round(p, 6) for k, p in chances.items()}}


def draw(posterior: Posterior, labels: np.ndarray, path: Path) -> None:
    """The co-clustering picture as PNG."""
    from matplotlib.figure import Figure

    from partita.plots import coclustering

    axes = coclustering(posterior, labels)
    cast(Figure, axes.figure).savefig(path, format="png")
