"""Where a posterior comes from: what every engine's result records of itself."""

import platform
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from partita.files.json_options import record_of
from partita.model.model import Model

PACKAGES = ("partita", "numpy", "scipy", "numba", "scikit-learn")


def provenance_of(engine: Any, model: Model, seed: np.random.SeedSequence) -> dict[str, Any]:
    """Engine, prior, likelihood, data, seed and versions, in types that JSON has."""
    return {
        "engine": repr(engine),
        **record_of(model.prior),
        "likelihood": model.likelihood.title,
        "power": model.likelihood.power,
        "column_weights": list(model.likelihood.column_weights),
        "data": model.table.fingerprint(),
        "n_rows": model.table.n_rows,
        "total_weight": model.total,
        "seed": {"entropy": str(seed.entropy), "spawn_key": list(seed.spawn_key)},
        "versions": dict(_versions()),
    }


@cache
def _versions() -> dict[str, str]:
    """Looked up once: reading the metadata of a package takes milliseconds."""
    return {name: version(name) for name in PACKAGES} | {"python": platform.python_version()}
