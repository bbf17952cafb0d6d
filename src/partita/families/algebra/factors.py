"""Triangular roots of covariances: reordered, inverted, and made from sums that rounding may have left indefinite."""

import numpy as np

from partita.families.algebra.moments import LEAST_VARIANCE, singular_covariance


def in_order(roots: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Lower Cholesky factors (K, p, p) of the columns ``order`` of the covariances A A', A the ``roots`` (K, d, r)."""
    upper = np.linalg.qr(np.swapaxes(roots[:, order], 1, 2), mode="r")
    signs = np.where(np.einsum("kjj->kj", upper) < 0.0, -1.0, 1.0)
    return np.swapaxes(upper, 1, 2) * signs[:, None]


def inverse_of_lower(lower: np.ndarray) -> np.ndarray:
    """Inverses (K, d, d) of lower triangular matrices, row by row."""
    inverse = np.zeros_like(lower)
    for j in range(lower.shape[1]):
        pivot = lower[:, j, j]
        inverse[:, j, :j] = -np.einsum("kc,kcb->kb", lower[:, j, :j], inverse[:, :j, :j]) / pivot[:, None]
        inverse[:, j, j] = 1.0 / pivot
    return inverse


def covariance_factors(n: np.ndarray, means: np.ndarray, second: np.ndarray, reg_covar: float) -> np.ndarray:
    """Lower Cholesky factors of sum xx' / n - m m' + reg_covar I; raise ValueError where that is singular."""
    mean_square = second / n[:, None, None]
    ridge = np.sqrt(reg_covar) * np.eye(means.shape[1])
    factors = factors_of_sum(mean_square - means[:, :, None] * means[:, None, :], ridge)
    resolved = LEAST_VARIANCE * np.einsum("kjj->kj", mean_square)
    if reg_covar == 0.0 and (np.einsum("kjj->kj", factors) ** 2 <= resolved).any():
        raise singular_covariance()
    return factors


def factors_of_sum(scatter: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Lower Cholesky factors (K, d, d) of ``scatter`` + A A', A the ``root`` (d, d), however scatter was rounded.

    A difference of large sums need not be positive semidefinite. Negative variances are taken as 0, correlations as
    at most 1 and negative eigenvalues of the correlations as 0; then the roots of both parts are made triangular
    together, which cannot fail.
    """
    deviations = np.sqrt(np.maximum(np.einsum("kjj->kj", scatter), 0.0))
    per_deviation = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0.0)
    correlations = per_deviation[:, :, None] * scatter * per_deviation[:, None, :]
    values, vectors = np.linalg.eigh(np.clip(correlations, -1.0, 1.0))
    roots = deviations[:, :, None] * vectors * np.sqrt(np.maximum(values, 0.0))[:, None]
    both = np.concatenate([roots, np.broadcast_to(root, roots.shape)], axis=2)
    return in_order(both, np.arange(root.shape[0]))
