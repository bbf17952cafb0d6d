"""Normal rows given means and covariances, some cells missing, in plain numpy: the full covariance as EM needs it.

A covariance is its lower Cholesky factor L, with F = L^-1. Missing cells x_m minimise |F (x - m)|^2, a least-squares
problem in the columns F_m = Q R of F. With y = F_o (x_o - m_o),

    E[x_m | x_o] = m_m - R^-1 Q'y,   Cov[x_m | x_o] = (R'R)^-1,   |y - Q Q'y|^2 = (x_o - m_o)' S_oo^-1 (x_o - m_o)

and |S_oo| = |R|^2 / |F|^2. No matrix is squared, so none loses its rank to rounding. Rows with the same missing cells
share one decomposition: cost O(patterns K d q^2 + n K d^2) with q missing cells. Where nearly every row has its own
pattern, the calls would cost more than the arithmetic: rows of rare patterns are solved in batches by `rare_gaps`,
unless a covariance is too near to singular for that.
"""

import numpy as np

from partita.families.algebra.factors import in_order, inverse_of_lower
from partita.families.algebra.gaps import common_and_rare, rows_by_gaps
from partita.families.algebra.moments import LOG_2PI
from partita.families.algebra.rare_gaps import FEWEST_ROWS, can_be_squared, rare_log_densities, rare_moments


def normal_log_densities(x: np.ndarray, missing: np.ndarray, means: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Log density (n, K) of every row's observed cells; 0 where none is."""
    logs = np.zeros((x.shape[0], means.shape[0]))
    inverse = inverse_of_lower(factors)
    log_factor = _log_diagonal(inverse)
    common, rare = common_and_rare(missing, _fewest_rows(missing, factors, inverse))
    for members, gaps in common:
        if gaps.all():
            continue
        seen = ~gaps if gaps.any() else slice(None)
        white = _whitened(x[members][:, seen], means[:, seen], inverse[:, :, seen])
        constant = log_factor - 0.5 * LOG_2PI * np.sum(~gaps)
        if gaps.any():
            basis, root = np.linalg.qr(inverse[:, :, gaps])
            constant -= _log_diagonal(root)
            by_cluster = np.swapaxes(white, 0, 1)
            by_cluster -= (by_cluster @ basis) @ np.swapaxes(basis, 1, 2)
        logs[members] = constant - 0.5 * np.einsum("nkj,nkj->nk", white, white)
    for members, own in rare_log_densities(x, missing, rare, means, inverse):
        logs[members] = own + log_factor
    return logs


def normal_terms(
    x: np.ndarray, missing: np.ndarray, means: np.ndarray, factors: np.ndarray, *, reverse: bool
) -> np.ndarray:
    """Terms (n, K, d) of the chain rule; ``reverse`` conditions on the columns behind."""
    terms = np.zeros((x.shape[0], *means.shape))
    for members, gaps in rows_by_gaps(missing):
        order = np.flatnonzero(~gaps)[:: -1 if reverse else 1]
        lower = in_order(factors, order)
        white = _whitened(x[members][:, order], means[:, order], inverse_of_lower(lower))
        own = np.zeros((white.shape[0], *means.shape))
        own[:, :, order] = -0.5 * (LOG_2PI + white * white) - np.log(np.einsum("kjj->kj", lower))
        terms[members] = own
    return terms


def expected_moments(
    x: np.ndarray, missing: np.ndarray, resp: np.ndarray, means: np.ndarray, factors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Expected sum x (K, d) and sum xx' (K, d, d) of rows shared out by ``resp`` given their observed cells."""
    inverse = inverse_of_lower(factors)
    common, rare = common_and_rare(missing, _fewest_rows(missing, factors, inverse))
    first, second = rare_moments(x, missing, rare, resp, means, inverse)
    for members, gaps in common:
        completed, spread = _expected_rows(x[members], gaps, means, inverse)
        shares = resp[members].T[:, None]
        first += (shares @ completed)[:, 0]
        second += (np.swapaxes(completed, 1, 2) * shares) @ completed + shares.sum(axis=2)[:, :, None] * spread
    return first, second


def _expected_rows(
    x: np.ndarray, gaps: np.ndarray, means: np.ndarray, inverse: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows (K, n, d) that all lack the cells ``gaps`` (d,), completed at their conditional means in every cluster.

    And the conditional covariance (K, d, d) of what was filled in, 0 at observed cells. ``inverse`` is F.
    """
    basis, root = np.linalg.qr(inverse[:, :, gaps])
    back = np.linalg.inv(root)
    along = np.swapaxes(_whitened(x[:, ~gaps], means[:, ~gaps], inverse[:, :, ~gaps]), 0, 1) @ basis
    completed = np.empty((means.shape[0], *x.shape))
    completed[:] = x
    completed[:, :, gaps] = means[:, None, gaps] - along @ np.swapaxes(back, 1, 2)
    spread = np.zeros_like(inverse)
    spread[:, np.outer(gaps, gaps)] = (back @ np.swapaxes(back, 1, 2)).reshape(means.shape[0], -1)
    return completed, spread


def _fewest_rows(missing: np.ndarray, factors: np.ndarray, inverse: np.ndarray) -> int:
    """How many rows must share their missing cells to be decomposed on their own."""
    return FEWEST_ROWS if missing.any() and can_be_squared(factors, inverse) else 1


def _whitened(x: np.ndarray, means: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """F_o (x_o - m_o) in every cluster, (n, K, d), ``columns`` F_o (K, d, p); one product of matrices."""
    n_clusters, d, p = columns.shape
    white = x @ columns.reshape(n_clusters * d, p).T
    white -= np.einsum("kij,kj->ki", columns, means).ravel()
    return white.reshape(x.shape[0], n_clusters, d)


def _log_diagonal(triangular: np.ndarray) -> np.ndarray:
    """Log absolute determinants (K,)."""
    return np.log(np.abs(np.einsum("kjj->kj", triangular))).sum(axis=1)
