"""From a table to columns of numbers that vary, in comparable units."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from partita.wording import count_of, name_rows, printable_errors, shown

LARGEST = 1e300
"""Cells whose differences a float can hold."""


def finite_numbers(estimator: Any, X: Any) -> np.ndarray:
    """The table (n, p), with its number and names of columns noted; refused where it has gaps or text."""
    who = type(estimator).__name__
    try:
        with printable_errors():
            x = validate_data(
                estimator, X, dtype=np.float64, order="C", ensure_all_finite=False, ensure_min_samples=3, copy=True
            )
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise ValueError(
            f"X has cells that are no numbers ({error}). {who} needs numbers; partita.CRAFT takes categories."
        ) from error
    _refuse_gaps(estimator, x)
    if max(x.max(), -x.min()) > LARGEST:
        raise ValueError(f"Some cells are beyond {LARGEST:g}, and their differences too large: rescale them.")
    return x


def in_units(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The columns that vary (n, m), of mean 0 and standard deviation 1; and which they are (p,)."""
    lowest, reach = x.min(axis=0), np.ptp(x, axis=0)
    varies = reach > 0.0
    if not varies.any():
        raise ValueError("Every column of X is constant: there is none to select.")
    x = (x[:, varies] - lowest[varies]) / reach[varies]  # from 0 to 1: squares neither over- nor underflow
    x -= x.mean(axis=0)
    return x / x.std(axis=0), varies


def _refuse_gaps(estimator: Any, x: np.ndarray) -> None:
    wrong = ~np.isfinite(x)
    counts = wrong.sum(axis=0)
    columns = np.flatnonzero(counts)
    if columns.size:
        first = int(columns[0])
        names = getattr(estimator, "feature_names_in_", range(x.shape[1]))
        others = f", and so have {count_of(columns.size - 1, 'other column')}" if columns.size > 1 else ""
        raise ValueError(
            f"Column {shown(names[first])} has {count_of(int(counts[first]), 'missing or infinite cell')} (NaN or inf; "
            f"{name_rows(np.flatnonzero(wrong[:, first]))}){others}. {type(estimator).__name__} needs every cell: fill "
            "them or leave the rows out; partita.CRAFT takes missing cells as they are."
        )
