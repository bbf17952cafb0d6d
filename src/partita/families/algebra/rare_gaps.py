"""Normal rows whose missing cells few other rows share, many at a time: all that lack equally many cells.

With the precision P = F'F, and r = x - m with zeros at the missing cells,

    E[x_m | x_o] = m_m - P_mm^-1 (P r)_m,   Cov[x_m | x_o] = P_mm^-1,   |S_oo| = |P_mm| / |P|,

and |F (x* - m)|^2 is the quadratic form of the observed cells, x* the row completed at its conditional mean. The
blocks P_mm of all rows and clusters are gathered and inverted at once: cost O(n K (d^2 + q^3)) in few calls. P squares
the condition number of F, so this is for covariances that are not nearly singular.
"""

from collections.abc import Iterator

import numpy as np

from partita.families.algebra.factors import inverse_of_lower
from partita.families.algebra.gaps import batches_by_number
from partita.families.algebra.moments import LOG_2PI

FEWEST_ROWS = 16  # that share their missing cells: fewer are faster in batches
LARGEST_INFLATION = 1e8  # of variances by collinear columns, so that half of the figures are left
LARGEST_BATCH = 2**18  # numbers in an array


def can_be_squared(factors: np.ndarray, inverse: np.ndarray) -> bool:
    """Whether no correlation matrix of the covariances L L', L the ``factors``, is nearly singular.

    The variance inflation factors S_jj P_jj of its columns sum to the trace of its inverse, so its smallest
    eigenvalue is at least 1 through that sum.
    """
    inflation = np.einsum("kji,kji->kj", factors, factors) * np.einsum("kij,kij->kj", inverse, inverse)
    return bool((inflation.sum(axis=1) <= LARGEST_INFLATION).all())


def rare_log_densities(
    x: np.ndarray, missing: np.ndarray, rows: np.ndarray, means: np.ndarray, inverse: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Some of the ``rows`` and the log densities (n, K) of their observed cells less log |F|, F the ``inverse``."""
    precision = np.swapaxes(inverse, 1, 2) @ inverse
    for members, cells in batches_by_number(missing, rows, means.shape[0], LARGEST_BATCH):
        residual, root = _completed_residuals(x[members], cells, means, precision)
        white = residual @ np.swapaxes(inverse, 1, 2)
        n_seen = x.shape[1] - cells.shape[1]
        log_root = np.log(np.einsum("knjj->knj", root)).sum(axis=2)
        logs = log_root - 0.5 * (LOG_2PI * n_seen + np.einsum("knj,knj->kn", white, white))
        yield members, logs.T


def rare_moments(
    x: np.ndarray, missing: np.ndarray, rows: np.ndarray, resp: np.ndarray, means: np.ndarray, inverse: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Expected sum x (K, d) and sum xx' (K, d, d) of the ``rows``, shared out by ``resp`` (n, K)."""
    n_clusters, d = means.shape
    first, second = np.zeros((n_clusters, d)), np.zeros((n_clusters, d, d))
    precision = np.swapaxes(inverse, 1, 2) @ inverse
    for members, cells in batches_by_number(missing, rows, n_clusters, LARGEST_BATCH):
        completed, root = _completed_residuals(x[members], cells, means, precision)
        completed += means[:, None]
        weighted = completed * resp[members].T[:, :, None]
        first += weighted.sum(axis=1)
        second += np.swapaxes(weighted, 1, 2) @ completed
        second += _summed_spread(root, cells, resp[members], d)
    return first, second


def _completed_residuals(
    x: np.ndarray, cells: np.ndarray, means: np.ndarray, precision: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """x* - m (K, n, d) of rows without the ``cells`` (n, q), and inverse Cholesky factors (K, n, q, q) of P_mm."""
    lost = np.broadcast_to(cells, (means.shape[0], *cells.shape))
    residual = x - means[:, None]
    np.put_along_axis(residual, lost, 0.0, axis=2)
    pull = np.take_along_axis(residual @ precision, lost, axis=2)[..., None]
    blocks = precision[:, cells[:, :, None], cells[:, None, :]]
    q = cells.shape[1]
    root = inverse_of_lower(np.linalg.cholesky(blocks).reshape(-1, q, q)).reshape(blocks.shape)
    np.put_along_axis(residual, lost, -(np.swapaxes(root, 2, 3) @ (root @ pull))[..., 0], axis=2)
    return residual, root


def _summed_spread(root: np.ndarray, cells: np.ndarray, resp: np.ndarray, d: int) -> np.ndarray:
    """Conditional covariances of all rows' missing cells, weighted and added up where they belong (K, d, d)."""
    spread = (np.swapaxes(root, 2, 3) @ root) * resp.T[:, :, None, None]
    pairs = (cells[:, :, None] * d + cells[:, None, :]).ravel()
    return np.stack([np.bincount(pairs, own.ravel(), d * d).reshape(d, d) for own in spread])
