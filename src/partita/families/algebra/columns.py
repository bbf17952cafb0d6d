"""Turn an option given as a number or one number per column into an array, with a clear refusal."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from partita.table import Column, Table


def per_column(option: str, value: Any, n_columns: int, *, positive: bool = True) -> np.ndarray:
    """Broadcast a scalar over columns, or check one number per column."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{option} must be a number or one number per column, got {value!r}.") from None
    if array.ndim > 1 or (array.ndim == 1 and array.shape[0] != n_columns):
        raise ValueError(f"{option} must be a number or {n_columns} numbers (one per column), got shape {array.shape}.")
    if not np.all(np.isfinite(array)) or (positive and np.any(array <= 0)):
        kind = "positive and finite" if positive else "finite"
        raise ValueError(f"{option} must be {kind}, got {value!r}.")
    return np.array(np.broadcast_to(array, (n_columns,)))  # a copy: compiled code wants one array type


def scalar(option: str, value: Any, *, above: float = 0.0) -> float:
    """A finite number greater than ``above``."""
    if isinstance(value, str | Sequence) or np.ndim(value) != 0 or not hasattr(value, "__float__"):
        raise TypeError(f"{option} must be one number, got {value!r}.")
    number = float(value)
    if not np.isfinite(number) or number <= above:
        raise ValueError(f"{option} must be a finite number greater than {above:g}, got {value!r}.")
    return number


def refuse_other_kinds(table: Table, kind: str, family: str) -> None:
    """Refuse columns that a family of one kind cannot read."""
    others = [column.name for column in table.schema.used if column.block != kind]
    if others:
        raise ValueError(
            f"family={family} reads {kind} columns only, but {named(others)} of another kind: "
            "use family='auto' or Mixed(), or leave them out."
        )
    if not table.schema.used:
        raise ValueError("The table has no usable column.")


def refuse_logs(columns: Sequence[Column], family: str) -> None:
    """Refuse positive columns, whose cells are logs, where a family reads numbers as they are."""
    others = [column.name for column in columns if column.kind == "positive"]
    if others:
        raise ValueError(
            f"{family} reads numbers as they are, but {named(others)} read as positive numbers, by their logs: take "
            f"them as numbers, column_types={{{others[0]!r}: 'numeric'}}, or use Gaussian() or LogNormal()."
        )


def named(columns: list) -> str:
    """'a', 'b' and 3 more columns are."""
    shown = ", ".join(repr(str(c)) for c in columns[:3])
    more = f" and {len(columns) - 3} more columns" if len(columns) > 3 else ""
    return f"{shown}{more} {'are' if len(columns) > 1 else 'is'}"


def column_moments(x: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and variance of every column's observed cells; variance 1 where a column does not vary."""
    observed = ~np.isnan(x)
    n = np.maximum(weights @ observed, 1.0)
    mean = weights @ np.where(observed, x, 0.0) / n
    with np.errstate(over="ignore", invalid="ignore"):
        variance = weights @ np.where(observed, (x - mean) ** 2, 0.0) / n
    if not np.isfinite(variance).all():
        raise ValueError(
            "The squares of some numeric column leave the range of float64: standardize it, or change its unit."
        )
    return mean, np.where(variance > 0, variance, 1.0)
