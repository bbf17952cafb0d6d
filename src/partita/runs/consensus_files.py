"""The files of a consensus: labels, agreement of the clusterings, what was found, the model, and a picture."""

import json
from typing import Any

import numpy as np

import partita
from partita.runs.agreement import Agreement, agreement_of
from partita.runs.clustering import Run
from partita.runs.columns import DIGITS, columns_of, to_csv
from partita.runs.folder import LABELS, MODEL, SUMMARY, draw, row_names
from partita.runs.run_folder import RunFolder
from partita.runs.words import CONFIDENT, confidence

FILES = (LABELS, "agreement.csv", SUMMARY, MODEL, "coclustering.png")
COMMAND = "partita consensus"


def write_consensus(run: Run, folder: RunFolder, *, safe_csv: bool = False) -> None:
    """Write all `FILES`, which become visible as a whole."""
    agreement = agreement_of(run)
    with folder.writing_run(FILES) as (labels, clusterings, about, model, picture):
        labels.write_text(labels_csv(run, safe_csv), encoding="utf-8")
        clusterings.write_text(agreement_csv(agreement, safe_csv), encoding="utf-8")
        about.write_text(json.dumps(consensus_json(run, agreement), indent=2) + "\n", encoding="utf-8")
        run.model.save(model)
        draw(run.model.posterior_, run.model.labels_, picture)


def labels_csv(run: Run, safe: bool = False) -> str:
    """Id or row number, label, confidence and runner-up of every object, and whether it has no label anywhere."""
    names = row_names(run.input.ids, run.input.request.id, run.model.labels_.size)
    columns: dict[str, Any] = columns_of(run.model.to_frame())
    columns["confidence"] = np.round(columns["confidence"], DIGITS)
    return to_csv(names | columns, safe=safe)


def agreement_csv(found: Agreement, safe: bool = False) -> str:
    """A line per base clustering."""
    return to_csv(
        {
            "clustering": found.names,
            "n_clusters": found.n_clusters,
            "n_labelled": found.n_labelled,
            "nats": found.nats,
            "entropy": found.entropy,
        },
        safe=safe,
    )


def consensus_json(run: Run, agreement: Agreement) -> dict[str, Any]:
    """What was found, for programs."""
    model, table, request = run.model, run.input.table, run.input.request
    return {
        "n_objects": table.n_rows,
        "n_clusterings": len(agreement.names),
        "n_missing": int((table.codes < 0).sum()),
        "n_unlabelled": int(table.empty_rows.sum()),
        "method": request.method,
        "n_clusters": int(model.n_clusters_),
        "n_clusters_probabilities": {str(k): round(p, 6) for k, p in model.posterior_.n_clusters().items()},
        "sizes": np.bincount(model.labels_).tolist(),
        "n_confident": int((confidence(model) >= CONFIDENT).sum()),
        "agreement": dict(zip(agreement.names, agreement.nats.tolist())),
        "converged": bool(model.converged_),
        "verdict": model.diagnostics_.verdict if request.samples else None,
        "stopped": model.posterior_.provenance.get("stopped"),
        "warnings": run.warnings,
        "request": request.to_dict(),
        "seed": request.seed,
        "seconds": round(run.seconds, 3),
        "version": partita.__version__,
    }
