"""The files of a summary of draws: labels, what was found, the draws, and a picture."""

import json
from typing import Any

import numpy as np

import partita
from partita.posterior.membership import is_large, runners_up
from partita.runs.columns import DIGITS, to_csv
from partita.runs.folder import LABELS, MODEL, SUMMARY, draw
from partita.runs.run_folder import RunFolder
from partita.runs.summarizing import Summary
from partita.runs.words import CONFIDENT

FILES = (LABELS, SUMMARY, MODEL, "coclustering.png")
COMMAND = "partita summarize"


def write_summary(summary: Summary, folder: RunFolder, *, safe_csv: bool = False) -> None:
    """Write all `FILES`, which become visible as a whole."""
    with folder.writing_run(FILES) as (labels, about, draws, picture):
        labels.write_text(labels_csv(summary, safe_csv), encoding="utf-8")
        about.write_text(json.dumps(summary_json(summary), indent=2) + "\n", encoding="utf-8")
        summary.given.posterior.save(draws)
        draw(summary.posterior, summary.estimate.labels, picture)


def labels_csv(summary: Summary, safe: bool = False) -> str:
    """Name or number of every object, label, confidence and runner-up; -1 and an empty cell where no draw labels it.

    Runners-up are left empty where the probabilities that they are read from would not fit in memory.
    """
    found = summary.estimate
    others: Any = [""] * len(found.labels)
    if not is_large(found.labels, found.draws):
        others = np.where(found.labels < 0, -1, runners_up(found.labels, found.probabilities))
    return to_csv(
        {
            "object": summary.object_names,
            "label": found.labels,
            "confidence": np.round(found.confidence, DIGITS),
            "runner_up": others,
        },
        safe=safe,
    )


def summary_json(summary: Summary) -> dict[str, Any]:
    """What was found, for programs."""
    posterior, found, request = summary.posterior, summary.estimate, summary.given.request
    return {
        "n_draws": posterior.n_draws,
        "n_chains": posterior.n_chains,
        "n_objects": posterior.n_objects,
        "loss": request.loss,
        "diffuse": found.diffuse,
        "groups_verdict": found.verdict,
        "expected_loss": found.expected_loss,
        "n_clusters": found.n_clusters,
        "n_clusters_probabilities": {str(k): round(p, 6) for k, p in posterior.n_clusters().items()},
        "sizes": summary.sizes.tolist(),
        "n_confident": int((found.confidence >= CONFIDENT).sum()),
        "n_unlabelled": int((found.labels < 0).sum()),
        "entropy": request.entropy,
        "ess": summary.ess,
        "warnings": summary.warnings,
        "request": request.to_dict(),
        "seed": request.seed,
        "seconds": round(summary.seconds, 3),
        "version": partita.__version__,
    }
