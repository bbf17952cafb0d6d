"""Row weights: how often each row counts."""

from typing import Any

import numpy as np

from partita.table.wording import name_rows


def check_weights(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Weights as float64 of shape (n_rows,), or None when none are given.

    Raises
    ------
    ValueError
        Weights of the wrong length, weights that are no non-negative whole numbers, or all 0.
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, but X has {n_rows} rows: pass one weight per row.")
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0) | (weights != np.floor(weights)))
    if len(bad):
        raise ValueError(
            f"sample_weight must hold non-negative whole numbers, but {name_rows(bad)} hold "
            f"others (first {weights[bad[0]].item()!r}). A weight says how often a row counts."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for every row. Give at least one row a positive weight.")
    return weights
