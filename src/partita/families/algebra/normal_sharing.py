"""Compiled part of ``share_out`` for Gaussian clusters: densities of one row in all clusters at once.

Means and roots of precisions lie in tables whose last axis is the cluster, so that the loops over clusters are
innermost and contiguous. Statistics are added to clusters that get a share of the row.
"""

import numpy as np

from partita.families.algebra.moments import LOG_2PI, ExpectedNormal, NumericRows, add_moments, expected_normal_loglik
from partita.families.base import Shared
from partita.kernels.algebra import add_outer
from partita.kernels.compiling import entry, inner
from partita.kernels.exponentials import softmax


@entry
def share_out_gaussian(x, row_weights, constant, mean, root, scratch, sizes, stats):
    """Add every row's shares to ``sizes`` (K,) and ``stats`` (K, 1 + d + d d); return the summed log totals.

    The log term of cluster k is constant_k - |F_k (x - m_k)|^2 / 2; ``mean`` (d, K), ``root`` (d, d, K) the lower
    triangular F, ``scratch`` from `new_scratch`. Rows ``x`` (n, d) are complete, or have weight 0. Cost: n K d^2 / 2
    multiply-adds.
    """
    logs, white, away, powers, bits = scratch
    n_clusters = mean.shape[1]
    log_total = 0.0
    for i in range(x.shape[0]):
        if row_weights[i] == 0.0:
            continue
        for k in range(n_clusters):
            logs[k] = constant[k]
        for a in range(mean.shape[0]):
            _whiten(x[i, a], a, mean, root, away, white)
            for k in range(n_clusters):
                logs[k] -= 0.5 * white[k] * white[k]
        log_total += row_weights[i] * softmax(logs, powers, bits)[0]
        for k in range(n_clusters):
            if logs[k] > 0.0:
                share = row_weights[i] * logs[k]
                sizes[k] += share
                add_outer(stats[k], x[i], share)
    return log_total


@inner(fastmath={"contract"})
def _whiten(cell, a, mean, root, away, white):
    """Cell a of F (x - m) in every cluster, two earlier columns at a time; its own joins ``away`` (d, K)."""
    n_clusters = white.shape[0]
    for k in range(n_clusters):
        away[a, k] = cell - mean[a, k]
        white[k] = root[a, a, k] * away[a, k]
    even = a - a % 2
    for b in range(0, even, 2):
        for k in range(n_clusters):
            white[k] += root[a, b, k] * away[b, k] + root[a, b + 1, k] * away[b + 1, k]
    if even < a:
        for k in range(n_clusters):
            white[k] += root[a, even, k] * away[even, k]


@entry
def share_out_columns(x, row_weights, log_weights, mean, root, offset, rounding, scratch, sizes, stats):
    """As `share_out_gaussian` where columns are independent, ``stats`` (K, 3 d); cells that are NaN are left out.

    A cell adds offset - ((x - m) root)^2 / 2, all of them (d, K). Cost: n K d multiply-adds.
    """
    logs, _, _, powers, bits = scratch
    d, n_clusters = mean.shape
    log_total = 0.0
    for i in range(x.shape[0]):
        for k in range(n_clusters):
            logs[k] = log_weights[k]
        for a in range(d):
            cell = x[i, a]
            if not np.isnan(cell):
                for k in range(n_clusters):
                    white = (cell - mean[a, k]) * root[a, k]
                    logs[k] += offset[a, k] - 0.5 * white * white
        log_total += row_weights[i] * softmax(logs, powers, bits)[0]
        for k in range(n_clusters):
            if logs[k] > 0.0:
                share = row_weights[i] * logs[k]
                sizes[k] += share
                add_moments(stats[k], x[i], share, rounding)
    return log_total


class NormalColumns:
    """What families with independent Gaussian columns have in common, whatever their prior."""

    rounding: np.ndarray  # (d,) of the columns

    @property
    def column_of_stats(self) -> np.ndarray:
        """Weights, sums and sums of squares."""
        return np.tile(np.arange(self.rounding.size), 3)

    def expected_loglik(self, rows: NumericRows, expected: ExpectedNormal) -> np.ndarray:
        """Expected log densities of the observed cells."""
        return expected_normal_loglik(rows.x, expected)

    def share_out(
        self, rows: NumericRows, row_weights: np.ndarray, log_weights: np.ndarray, expected: ExpectedNormal
    ) -> Shared:
        """As every family, in one compiled loop over the rows."""
        d, n_clusters = rows.x.shape[1], log_weights.shape[0]
        sizes, stats = np.zeros(n_clusters), np.zeros((n_clusters, 3 * d))
        root = np.ascontiguousarray(1.0 / expected.deviation.T)
        offset = np.ascontiguousarray((expected.offset - np.log(expected.deviation) - 0.5 * LOG_2PI).T)
        log_total = share_out_columns(
            rows.x,
            np.asarray(row_weights, dtype=np.float64),
            log_weights,
            np.ascontiguousarray(expected.mean.T),
            root,
            offset,
            self.rounding,
            new_scratch(d, n_clusters),
            sizes,
            stats,
        )
        return Shared(log_total, sizes, stats)


def new_scratch(n_columns: int, n_clusters: int) -> tuple[np.ndarray, ...]:
    """A row's terms, its whitened cells and distances from the means, and the work of `softmax`."""
    powers = np.empty(n_clusters)
    away = np.empty((n_columns, n_clusters))
    return np.empty(n_clusters), np.empty(n_clusters), away, powers, powers.view(np.int64)
