"""Row weights: how often each row counts."""

from typing import Any

import numpy as np

from partita.wording import name_rows


def check_weights(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Weights as float64 of shape (n_rows,), or None when none are given.

    Raises
    ------
    ValueError
        Weights of the wrong length, weights that are no non-negative whole numbers, or all 0.
    """
    if sample_weight is None:
        return None
    weights = _as_numbers(sample_weight)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, but X has {n_rows} rows: pass one weight per row.")
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0) | (weights != np.floor(weights)))
    if len(bad):
        raise ValueError(
            f"sample_weight must hold non-negative whole numbers, but {name_rows(bad)} "
            f"{'holds another' if len(bad) == 1 else 'hold others'} (first {weights[bad[0]].item()!r}). "
            "A weight says how often a row counts."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for every row. Give at least one row a positive weight.")
    return weights


def _as_numbers(sample_weight: Any) -> np.ndarray:
    try:
        return np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        cells = np.atleast_1d(np.asarray(sample_weight, dtype=object))
        row = next((i for i, cell in enumerate(cells) if not _is_number(cell)), 0)
        raise ValueError(
            f"sample_weight must hold non-negative whole numbers, but row {row} holds {cells[row]!r}. "
            "Pass one number per row."
        ) from None


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True
