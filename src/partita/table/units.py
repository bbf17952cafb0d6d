"""Standard units: where a column's center and scale come from, and the way there and back."""

from collections.abc import Sequence

import numpy as np

from partita.table.schema import Column

# Beyond this a difference or a product of two cells may leave the range of float64.
_HUGE = 1e290
_SHRINK_EXPONENT = 8
_LARGEST = np.finfo(np.float64).max
_LARGEST_LOG = np.log(_LARGEST) * (1.0 - 1e-15)


def center_and_scale(values: np.ndarray, weights: np.ndarray | None) -> tuple[float, float]:
    """Weighted mean and population standard deviation of observed cells.

    mean = sum_i w_i x_i / W and sd^2 = sum_i w_i (x_i - mean)^2 / W with W = sum_i w_i, computed in two
    passes on cells multiplied by a power of two, which is exact and keeps the sums of cells near
    1e300 finite. A spread that is 0 in float64 gives scale 1. Cost O(n).
    """
    exponent = int(np.frexp(np.abs(values).max())[1])
    unit = np.ldexp(values, -exponent)
    if weights is None:
        weights = np.ones(len(unit))
    total = weights.sum()
    mean = (weights * unit).sum() / total
    deviation = np.sqrt((weights * (unit - mean) ** 2).sum() / total)
    scale = float(np.ldexp(deviation, exponent))
    return float(np.ldexp(mean, exponent)), scale if scale > 0.0 else 1.0


def to_standard(values: np.ndarray, column: Column) -> np.ndarray:
    """Cells of one column in standard units: (x - center) / scale, at most the largest float64.

    Of a positive column (log(x + offset) - center) / scale, nan where x + offset is not above 0.
    """
    if column.kind == "positive":
        shifted = np.minimum(values + column.offset, _LARGEST)
        values = np.log(shifted, out=np.full(len(values), np.nan), where=shifted > 0.0)
    shrink = -_SHRINK_EXPONENT if max(abs(column.center), column.scale) > _HUGE else 0
    with np.errstate(over="ignore"):  # a new cell that is 1e308 scales away is as far as a cell can be
        difference = np.ldexp(values, shrink) - np.ldexp(column.center, shrink)
        standard = difference / np.ldexp(column.scale, shrink)
    np.clip(standard, -_LARGEST, _LARGEST, out=standard)
    # Adding 0 turns -0.0 into 0.0: equal cells must have equal bits.
    return standard + 0.0


def from_standard(block: np.ndarray, columns: Sequence[Column]) -> np.ndarray:
    """Columns of a block in the user's units: z * scale + center, of positive columns exp of that less the offset.

    What is positive is at most the largest float64.
    """
    center = np.array([column.center for column in columns])
    scale = np.array([column.scale for column in columns])
    shrink = np.where(np.maximum(np.abs(center), scale) > _HUGE, -_SHRINK_EXPONENT, 0).astype(np.intc)
    units = np.ldexp(block * np.ldexp(scale, shrink) + np.ldexp(center, shrink), -shrink)
    logs = positive_columns(columns)
    if logs.size:
        offset = np.array([columns[j].offset for j in logs])
        units[..., logs] = np.exp(np.minimum(units[..., logs], _LARGEST_LOG)) - offset
    return units


def log_jacobian(block: np.ndarray, columns: Sequence[Column]) -> np.ndarray:
    """Per row -sum of log(scale) over its observed cells, and of log(x + offset) over those of positive columns."""
    center = np.array([column.center for column in columns], dtype=np.float64)
    scale = np.array([column.scale for column in columns], dtype=np.float64)
    density = -(~np.isnan(block) @ np.log(scale))
    logs = positive_columns(columns)
    return density - np.nansum(block[:, logs] * scale[logs] + center[logs], axis=1) if logs.size else density


def positive_columns(columns: Sequence[Column]) -> np.ndarray:
    """Positions of those whose cells are stored as logs."""
    return np.array([j for j, column in enumerate(columns) if column.kind == "positive"], dtype=np.int64)
