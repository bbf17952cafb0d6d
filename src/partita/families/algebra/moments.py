"""Per-column count, sum and sum of squares: the statistics of Gaussian columns, missing cells left out.

A number that was recorded in steps of h stands for what lies within h/2 of it. Its expected log density is

    log N(x; m, s2) - r / (2 s2),   r = h^2 / 12,

that of x^2 + r in place of x^2 (by Jensen a lower bound on the log probability of the interval, but for log h). So a
cell adds r, the column's ``rounding``, to the sum of squares, and what is asked of statistics needs no other change.
"""

from typing import NamedTuple

import numpy as np

from partita.families.base import ROUNDING
from partita.kernels.compiling import inner

LOG_2PI = np.log(2.0 * np.pi)
LEAST_VARIANCE = 1e-14  # of the mean square, below which a variance is rounding


class NumericRows(NamedTuple):
    """Cells relative to the prior mean, NaN where missing."""

    x: np.ndarray  # (n, d)
    complete: np.ndarray  # (n,) bool


def numeric_rows(numeric: np.ndarray, columns: np.ndarray, mean: np.ndarray) -> NumericRows:
    """Take ``columns`` of a numeric block and centre them at ``mean``."""
    x = np.ascontiguousarray(numeric[:, columns]) - mean
    return NumericRows(x, ~np.isnan(x).any(axis=1))


def no_rounding(rounding: np.ndarray | None, n_columns: int) -> np.ndarray:
    """The ``rounding`` of every column; that of continuous numbers is 0."""
    return np.zeros(n_columns) if rounding is None else rounding


def moments(rows: NumericRows, resp: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Statistics (K, 3 d): observed weight, sum and sum of squares of every column."""
    observed = ~np.isnan(rows.x)
    x = np.where(observed, rows.x, 0.0)
    n = resp.T @ observed.astype(np.float64)
    return np.hstack([n, resp.T @ x, resp.T @ (x * x) + n * rounding])


def possible_moments(stats: np.ndarray) -> np.ndarray:
    """Which of these statistics (..., 3 d) some cells have: (sum x)^2 <= n sum x^2, up to rounding."""
    n, total, squares = np.split(stats, 3, axis=-1)
    with np.errstate(over="ignore", invalid="ignore"):
        fits = np.abs(total) <= np.sqrt(n + ROUNDING) * np.sqrt(squares + ROUNDING) * (1.0 + ROUNDING)
    return (fits & np.isfinite(total) & np.isfinite(squares)).all(axis=-1)


def gaussian_log_likelihood(stats: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Log density (K, d) of the cells behind ``stats`` in Gaussian columns of these means and variances."""
    n, total, squares = np.split(stats, 3, axis=-1)
    spread = squares - 2.0 * mean * total + n * mean**2
    return -0.5 * n * (LOG_2PI + np.log(variance)) - 0.5 * spread / variance


def normal_log_likelihood(
    x: np.ndarray, means: np.ndarray, deviations: np.ndarray, rounding: np.ndarray | float = 0.0
) -> np.ndarray:
    """Log density (n, K) of rows with independent Gaussian columns, missing cells (NaN) left out."""
    lost = np.isnan(x)
    distance = np.zeros((x.shape[0], means.shape[0]))
    for j in range(x.shape[1]):
        z = np.subtract.outer(x[:, j], means[:, j])
        z /= deviations[:, j]
        z *= z
        z[lost[:, j]] = 0.0
        distance += z
    constants = LOG_2PI + 2.0 * np.log(deviations) + rounding / deviations**2
    return -0.5 * (distance + (~lost).astype(np.float64) @ constants.T)


def diagonal(variances: np.ndarray) -> np.ndarray:
    """Matrices (K, d, d) with these diagonals (K, d)."""
    return variances[:, :, None] * np.eye(variances.shape[1])


class ExpectedNormal(NamedTuple):
    """Cells that expect exp(offset) N(x; mean, deviation^2) of a Gaussian column, each (K, d).

    What the column's ``rounding`` costs, r / (2 deviation^2), is in the offset.
    """

    mean: np.ndarray
    deviation: np.ndarray
    offset: np.ndarray


def expected_normal_loglik(x: np.ndarray, expected: ExpectedNormal) -> np.ndarray:
    """E log p (n, K) of rows with independent Gaussian columns, missing cells (NaN) left out."""
    observed = (~np.isnan(x)).astype(np.float64)
    return normal_log_likelihood(x, expected.mean, expected.deviation) + observed @ expected.offset.T


def ml_variances(stats: np.ndarray, means: np.ndarray, reg_covar: float) -> np.ndarray:
    """Variances (K, d) of the cells behind ``stats`` around their means, plus ``reg_covar``."""
    n, _, squares = np.split(stats, 3, axis=-1)
    second = np.divide(squares, n, out=np.zeros_like(squares), where=n > 0.0)
    variances = np.where(n > 0.0, np.maximum(second - means**2, 0.0), 0.0) + reg_covar
    if reg_covar == 0.0 and (variances <= LEAST_VARIANCE * second)[n > 0.0].any():
        raise singular_covariance()
    return variances


def singular_covariance() -> ValueError:
    """What to say where maximum likelihood has no finite maximum."""
    return ValueError(
        "The covariance of a component is singular, so the likelihood has no maximum: raise reg_covar or use "
        "estimate='map'."
    )


@inner
def add_moments(stats, x, w, rounding):
    """Add ``w`` copies of a row to flat statistics; missing cells add nothing."""
    d = x.shape[0]
    for j in range(d):
        if not np.isnan(x[j]):
            stats[j] += w
            stats[d + j] += w * x[j]
            stats[2 * d + j] += w * x[j] * x[j] + w * rounding[j]
