"""Compiled descent over partitions: move one unit at a time to the cluster where it costs least.

The objective is sum_r coefficients[r] sum_{T, C} phi(n_rTC), where n_rTC counts the objects that are in
cluster T of the partition sought and have label C in reference r, and ``phi`` is a table of a function with
phi(0) = 0. An object of label -1 does not count in that reference.

A unit is one or more members that move together; members of unit ``u`` are ``starts[u]`` to
``starts[u + 1]``. Member ``p`` stands for ``counts[p]`` objects with labels ``columns[p]``, one per reference.
"""

import numpy as np
from numba.extending import register_jitable

from partita.kernels.compiling import entry


@entry
def descend(labels, starts, counts, columns, coefficients, phi, tables, change, n_scans, tie):
    """Scan the units in order until none moves, ``n_scans`` times at most; the number of scans is returned.

    ``labels`` (unit) is read and written. ``tables`` (reference, label, cluster) starts at 0 and ends as the
    counts n_rTC; its last axis is the most clusters that may exist. ``change`` (cluster) is scratch. A unit moves only
    where that lowers the objective by more than ``tie``. Cost per scan: members x references x clusters.
    """
    n_slots = tables.shape[2]
    cells = tables.reshape(tables.shape[0], tables.shape[1] * n_slots)
    n_open = 1
    for u in range(labels.shape[0]):
        members = slice(starts[u], starts[u + 1])
        _shift(cells, n_slots, columns[members], counts[members], labels[u], labels[u] + 1, 1)
        n_open = max(n_open, min(n_slots, labels[u] + 2))
    for scan in range(n_scans):
        n_moved = 0
        for u in range(labels.shape[0]):
            own, members = labels[u], slice(starts[u], starts[u + 1])
            _shift(cells, n_slots, columns[members], counts[members], own, own + 1, -1)
            _score(cells, n_slots, columns[members], counts[members], coefficients, phi, change[:n_open])
            best = _least(change[:n_open], own, tie)
            _shift(cells, n_slots, columns[members], counts[members], best, best + 1, 1)
            if best != own:
                labels[u] = best
                n_moved += 1
                n_open = max(n_open, min(n_slots, best + 2))
        if n_moved == 0:
            return scan + 1
    return n_scans


@register_jitable
def _shift(cells, n_slots, columns, counts, low, high, sign):
    """Put members into the clusters from ``low`` to before ``high`` (``sign`` 1) or take them out (-1)."""
    for p in range(columns.shape[0]):
        amount = sign * counts[p]
        for r in range(columns.shape[1]):
            if columns[p, r] >= 0:
                corner = columns[p, r] * n_slots
                # An unsigned index spares the loop the test for one that counts from the end.
                for cluster in range(low, high):
                    cells[r, np.uint64(corner + cluster)] += amount


@register_jitable
def _score(cells, n_slots, columns, counts, coefficients, phi, change):
    """Write to ``change`` what the objective gains by putting the members into each cluster.

    Members may share a label, so each is counted on top of those before it, in every cluster at once.
    """
    change[:] = 0.0
    n_clusters, n_before = change.shape[0], columns.shape[0] - 1
    for p in range(columns.shape[0]):
        for r in range(columns.shape[1]):
            if columns[p, r] < 0:
                continue
            corner = columns[p, r] * n_slots
            for cluster in range(n_clusters):
                size = cells[r, np.uint64(corner + cluster)]
                change[cluster] += coefficients[r] * (phi[np.uint64(size + counts[p])] - phi[np.uint64(size)])
        if p < n_before:
            _shift(cells, n_slots, columns[p : p + 1], counts[p : p + 1], 0, n_clusters, 1)
    _shift(cells, n_slots, columns[:n_before], counts[:n_before], 0, n_clusters, -1)


@register_jitable
def _least(change, own, tie):
    """The first cluster of least change; the own one if none is better by more than ``tie``."""
    best = own
    for cluster in range(change.shape[0]):
        if change[cluster] < change[best] - tie:
            best = cluster
    return best
