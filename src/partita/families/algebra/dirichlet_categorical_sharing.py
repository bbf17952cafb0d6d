"""Compiled part of `DirichletCategorical.share_out`: rows of categories given to all clusters at once.

The expected log shares lie in a table [column and category][cluster], so that the loop over clusters is innermost and
contiguous; so do the weights that are summed up. Where few clusters get a share of a row, only those are visited.
"""

import numpy as np

from partita.kernels.compiling import entry, inner
from partita.kernels.exponentials import softmax

FEW = 4  # a row with shares in less than one of so many clusters visits these alone


@entry
def share_out_categories(position, row_weights, log_weights, table, scratch, sizes, weights):
    """Add every row's shares to ``sizes`` (K,) and ``weights`` (L, K); return the summed log totals.

    ``position`` (n, M) are categories, negative where missing, ``table`` (L + 1, K) expected log shares, ``scratch``
    from `new_scratch`. Cost: n M K additions and n K exponentials.
    """
    cells, logs, powers, bits = scratch
    log_total = 0.0
    for i in range(position.shape[0]):
        n_cells = _observed(position, i, cells)
        _add_logs(cells, n_cells, log_weights, table, logs)
        log_sum, n_chosen = softmax(logs, powers, bits)
        log_total += row_weights[i] * log_sum
        if FEW * n_chosen < logs.shape[0]:
            _add_to_few(cells, n_cells, logs, row_weights[i], sizes, weights)
        else:
            _add_to_all(cells, n_cells, logs, row_weights[i], sizes, weights)
    return log_total


@inner
def _observed(position, i, cells):
    """Copy the categories of one row that are not missing; how many they are."""
    n_cells = 0
    for m in range(position.shape[1]):
        cells[n_cells] = position[i, m]
        n_cells += position[i, m] >= 0
    return n_cells


@inner
def _add_logs(cells, n_cells, log_weights, table, logs):
    """Expected log densities of one row in every cluster, four columns at a time."""
    for k in range(logs.shape[0]):
        logs[k] = log_weights[k]
    whole = n_cells - n_cells % 4
    for m in range(0, whole, 4):
        a, b, c, d = cells[m], cells[m + 1], cells[m + 2], cells[m + 3]
        for k in range(logs.shape[0]):
            logs[k] += (table[a, k] + table[b, k]) + (table[c, k] + table[d, k])
    for m in range(whole, n_cells):
        a = cells[m]
        for k in range(logs.shape[0]):
            logs[k] += table[a, k]


@inner
def _add_to_few(cells, n_cells, shares, copies, sizes, weights):
    for k in range(shares.shape[0]):
        if shares[k] > 0.0:
            share = copies * shares[k]
            sizes[k] += share
            for m in range(n_cells):
                weights[cells[m], k] += share


@inner
def _add_to_all(cells, n_cells, shares, copies, sizes, weights):
    for k in range(shares.shape[0]):
        shares[k] *= copies
        sizes[k] += shares[k]
    for m in range(n_cells):
        r = cells[m]
        for k in range(shares.shape[0]):
            weights[r, k] += shares[k]


def new_scratch(n_columns: int, n_clusters: int) -> tuple[np.ndarray, ...]:
    """A row's observed categories, its terms, and the work of `softmax`."""
    powers = np.empty(n_clusters)
    return np.empty(n_columns, dtype=np.int64), np.empty(n_clusters), powers, powers.view(np.int64)
