"""Normal rows given means and covariances, some cells missing, in plain numpy: the full covariance as EM needs it.

A covariance is its lower Cholesky factor L. Taking columns in another order, or only some of them, is a QR
decomposition of the rows of L that remain, which squares nothing and so cannot fail: with the observed columns first,

    T = [T_oo 0; T_mo T_mm],   z = T_oo^-1 (x_o - m_o),   E[x_m | x_o] = m_m + T_mo z,   Cov[x_m | x_o] = T_mm T_mm'.

Rows with the same missing cells share one decomposition. Cost O(patterns K d^3 + n K d^2).
"""

import numpy as np

from partita.families.gaps import rows_by_gaps
from partita.families.moments import LEAST_VARIANCE, LOG_2PI, singular_covariance


def normal_log_densities(x: np.ndarray, missing: np.ndarray, means: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Log density (n, K) of every row's observed cells; 0 where none is."""
    logs = np.zeros((x.shape[0], means.shape[0]))
    for members, gaps in rows_by_gaps(missing):
        own, centers, lower = x[members], means, factors
        if gaps.any():
            seen = np.flatnonzero(~gaps)
            own, centers, lower = own[:, seen], means[:, seen], in_order(factors, seen)
        white = _whitened(own, centers, lower)
        constant = (LOG_2PI + 2.0 * np.log(np.einsum("kjj->kj", lower))).sum(axis=1)
        logs[members] = -0.5 * (np.einsum("nkj,nkj->nk", white, white) + constant)
    return logs


def normal_terms(
    x: np.ndarray, missing: np.ndarray, means: np.ndarray, factors: np.ndarray, *, reverse: bool
) -> np.ndarray:
    """Terms (n, K, d) of the chain rule; ``reverse`` conditions on the columns behind."""
    terms = np.zeros((x.shape[0], *means.shape))
    for members, gaps in rows_by_gaps(missing):
        order = np.flatnonzero(~gaps)[:: -1 if reverse else 1]
        lower = in_order(factors, order)
        white = _whitened(x[members][:, order], means[:, order], lower)
        own = np.zeros((white.shape[0], *means.shape))
        own[:, :, order] = -0.5 * (LOG_2PI + white * white) - np.log(np.einsum("kjj->kj", lower))
        terms[members] = own
    return terms


def expected_rows(
    x: np.ndarray, gaps: np.ndarray, means: np.ndarray, factors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows (K, n, d) that all lack the cells ``gaps`` (d,), completed at their conditional means in every cluster.

    And the conditional covariance (K, d, d) of what was filled in, 0 at observed cells.
    """
    seen, lost = np.flatnonzero(~gaps), np.flatnonzero(gaps)
    lower = in_order(factors, np.concatenate([seen, lost]))
    p = seen.size
    white = _whitened(x[:, seen], means[:, seen], lower[:, :p, :p])
    completed = np.empty((means.shape[0], *x.shape))
    completed[:, :, seen] = x[:, seen]
    completed[:, :, lost] = means[:, None, lost] + np.swapaxes(white, 0, 1) @ np.swapaxes(lower[:, p:, :p], 1, 2)
    spread = np.zeros_like(factors)
    spread[:, lost[:, None], lost] = lower[:, p:, p:] @ np.swapaxes(lower[:, p:, p:], 1, 2)
    return completed, spread


def in_order(roots: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Lower Cholesky factors (K, p, p) of the columns ``order`` of the covariances A A', A the ``roots`` (K, d, d)."""
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
    """Lower Cholesky factors of sum xx' / n - m m' + reg_covar I.

    Where rounding left eigenvalues below 0 before ``reg_covar`` was added, they are taken as 0.
    """
    moment = second / n[:, None, None]
    covariance = moment - means[:, :, None] * means[:, None, :]
    try:
        factors = np.linalg.cholesky(covariance + reg_covar * np.eye(means.shape[1]))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(covariance)
        roots = vectors * np.sqrt(np.maximum(values, 0.0) + reg_covar)[:, None]
        factors = in_order(roots, np.arange(means.shape[1]))
    resolved = LEAST_VARIANCE * np.einsum("kjj->kj", moment)
    if reg_covar == 0.0 and (np.einsum("kjj->kj", factors) ** 2 <= resolved).any():
        raise singular_covariance()
    return factors


def _whitened(x: np.ndarray, means: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """L_k^-1 (x_i - m_k), (n, K, p), in one product of matrices."""
    n_clusters, p = means.shape
    inverse = inverse_of_lower(lower)
    white = x @ inverse.reshape(n_clusters * p, p).T
    white -= np.einsum("kij,kj->ki", inverse, means).ravel()
    return white.reshape(x.shape[0], n_clusters, p)
