"""A row's log predictive density, column by column: the terms of the chain rule.

    log p(x | cluster) = sum_j log p(x_j | x_before j, cluster)

over the observed cells; the term of a missing cell is 0.
"""

from typing import Any

import numpy as np
from scipy.special import poch

from partita.families.algebra.gaps import rows_by_gaps

LEAST_PIVOT = 1e-14  # of its diagonal entry, as in the compiled factorisation
LOG_PI = np.log(np.pi)


def independent_terms(x: np.ndarray, predictive: Any, more: np.ndarray | float = 0.0) -> np.ndarray:
    """Terms (n, K, d) where columns are independent given the cluster.

    ``x`` (n, d) has nan where a cell is missing; ``predictive`` has ``logpdf`` and parameters (K, d); every observed
    cell adds ``more`` (K, d).
    """
    observed = ~np.isnan(x)[:, None]
    logs = predictive.logpdf(np.where(observed, x[:, None], 0.0)) + more
    return np.where(observed, logs, 0.0)


def student_terms(
    x: np.ndarray,
    missing: np.ndarray,
    mean: np.ndarray,
    precision: np.ndarray,
    dof: np.ndarray,
    scale: np.ndarray,
    *,
    rounding: np.ndarray,
    reverse: bool,
) -> np.ndarray:
    """Terms (n, K, d) under multivariate Student-t clusters; ``reverse`` conditions on the columns behind.

    ``x`` and ``missing`` are (n, d), ``mean`` (K, d), ``precision`` k and ``dof`` (K,), ``scale`` S (K, d, d): the
    Student-t has shape S (k + 1) / (k dof), and so have its margins with the rows and columns of S that they keep.
    Rows with the same missing cells share one factorisation. Cost O(patterns K d^3 + n K d^2).

    Where columns have a ``rounding`` (d,), S is S + R with that of the first cells on the diagonal, and so many of them
    have the factor (|S| / |S + R|)^(v/2), v = ``dof`` + d - 1, besides.
    """
    n, d = x.shape
    terms = np.zeros((n, mean.shape[0], d))
    for members, gaps in rows_by_gaps(missing):
        order = np.flatnonzero(~gaps)[:: -1 if reverse else 1]
        offset = x[members][:, None, order] - mean[:, order]
        white, root = _whiten(offset, scale[:, order][:, :, order] + np.diag(rounding[order]))
        own = np.zeros((white.shape[0], *mean.shape))
        own[:, :, order] = _prefix_terms(white, root, precision, dof)
        if rounding.any():
            own[:, :, order] -= 0.5 * (dof + d - 1.0)[:, None] * _log_determinant_steps(scale, rounding, order)
        terms[members] = own
    return terms


def _log_determinant_steps(scale: np.ndarray, rounding: np.ndarray, order: np.ndarray) -> np.ndarray:
    """By how much log |S + R| grows (K, p) when R gets the rounding of one column of ``order`` after the other.

    |S + R| = |S| |1 + R^(1/2) S^-1 R^(1/2)|, and a leading block of the second factor is that of the first columns.
    """
    root = np.sqrt(rounding[order])
    inverse = np.linalg.inv(scale)[:, order][:, :, order]
    lower = np.linalg.cholesky(np.eye(order.size) + root[:, None] * inverse * root)
    return 2.0 * np.log(np.einsum("kjj->kj", lower))


def _whiten(offset: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L^-1 offset (n, K, p) and the diagonal (K, p) of L, matrix = L L'.

    A pivot that rounding made non-positive is raised to the smallest that the diagonal can resolve.
    """
    lower, white = np.zeros_like(matrix), np.empty_like(offset)
    for j in range(matrix.shape[1]):
        before, diagonal = lower[:, j, :j], matrix[:, j, j]
        pivot = diagonal - (before * before).sum(axis=1)
        root = np.sqrt(np.maximum(pivot, LEAST_PIVOT * np.abs(diagonal) + 1e-300))
        lower[:, j, j] = root
        lower[:, j + 1 :, j] = matrix[:, j + 1 :, j] - np.einsum("krc,kc->kr", lower[:, j + 1 :, :j], before)
        lower[:, j + 1 :, j] /= root[:, None]
        white[:, :, j] = (offset[:, :, j] - np.einsum("kc,nkc->nk", before, white[:, :, :j])) / root
    return white, np.einsum("kjj->kj", lower)


def _prefix_terms(white: np.ndarray, root: np.ndarray, precision: np.ndarray, dof: np.ndarray) -> np.ndarray:
    """Differences of the log densities of the first 0, 1, ..., p coordinates.

    With r_j = k/(k + 1) sum_{i <= j} white_i^2 the density of the first j is, up to factors that do not depend on x,
    (1 + r_j)^(-(dof + j)/2).
    """
    stretch = (precision / (precision + 1.0))[:, None]
    log_ratio = np.log1p(stretch * np.cumsum(white * white, axis=2))
    log_ratio_before = np.concatenate([np.zeros_like(log_ratio[:, :, :1]), log_ratio[:, :, :-1]], axis=2)
    reach = dof[:, None] + np.arange(root.shape[1])  # dof + j - 1
    constant = np.log(poch(0.5 * reach, 0.5)) - 0.5 * (LOG_PI - np.log(stretch)) - np.log(root)
    return constant - 0.5 * (reach + 1.0) * log_ratio + 0.5 * reach * log_ratio_before
