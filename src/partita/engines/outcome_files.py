"""What a file keeps of an outcome: the posterior, the estimate, the clusters, and what the engine noted."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from partita.engines.outcome import Kept, Outcome
from partita.files.json_options import from_json, to_json
from partita.posterior import Posterior

_ARRAYS = {
    "log_seats": "clusters/log_seats",
    "stats": "clusters/stats",
    "labels": "estimate/labels",
    "probabilities": "estimate/probabilities",
}


def outcome_contents(outcome: Outcome) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Part of a header, and arrays."""
    arrays = {
        "table/weights": outcome.model.row_weights,
        _ARRAYS["labels"]: outcome.labels,
        _ARRAYS["probabilities"]: outcome.probabilities,
        _ARRAYS["log_seats"]: outcome.clusters.log_seats,
        _ARRAYS["stats"]: outcome.clusters.stats,
    }
    return {"notes": to_json(outcome.kept_notes())}, arrays


def kept_outcome(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], posterior: Posterior) -> Kept:
    """What was kept; nothing of it has been checked but types, shapes and ranges."""
    kept = {name: arrays[member] for name, member in _ARRAYS.items()}
    return Kept(posterior=posterior, notes=_notes_from_json(header), **kept)


def _notes_from_json(header: Mapping[str, Any]) -> dict[str, Any]:
    """What an engine noted; earlier versions had a place of its own for each kind of engine."""
    if "notes" in header:
        if header.get("maximum") is not None or header.get("approximation") is not None:
            raise ValueError("there are notes of two versions")
        return from_json(header["notes"])
    maximum, approximation = from_json(header.get("maximum")), from_json(header.get("approximation"))
    try:
        if maximum is not None:
            found = dict(maximum["found"])
            notes = {"loglik_path": found.pop("path"), **found.pop("criteria"), **found, "learned": None}
            return notes | {"n_components": maximum["n_components"]}
        if approximation is not None:
            found = dict(approximation)
            return {"elbo_path": found.pop("path"), **found}
    except (KeyError, TypeError, ValueError):
        raise ValueError("maximum or approximation is not what an engine notes") from None
    return {"converged": False, "learned": {}, "support_cost": header.get("support_cost") or 0.0}
