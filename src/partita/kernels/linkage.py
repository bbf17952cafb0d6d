"""Agglomerative clustering of leaves that stand for several objects each, by chains of nearest neighbours."""

import numpy as np

from partita.kernels.compiling import entry, inner

SINGLE, AVERAGE, COMPLETE = range(3)


@entry
def link(distances, sizes, rule, chain, pairs, heights):  # OUT: distances, sizes, chain, pairs, heights
    """Merge n leaves: walk from neighbour to nearest neighbour until two are each other's, which are merged.

    ``distances`` (n (n - 1) / 2,) are condensed as scipy has them and overwritten, as are ``sizes`` (n,), the objects
    of every leaf. A cluster goes by one of its leaves; merge t joins those of ``pairs[t]`` at ``heights[t]``, which are
    in no order. Of equal neighbours the one the walk came from is nearest, or else the first.
    """
    n = sizes.shape[0]
    first, length = 0, 0
    for t in range(n - 1):
        if length == 0:
            while sizes[first] == 0:
                first += 1
            chain[0], length = first, 1
        came_from, own = chain[length - 2] if length > 1 else -1, chain[length - 1]
        nearest, height = _nearest(distances, sizes, own, came_from)
        while nearest != came_from:
            chain[length] = nearest
            length += 1
            came_from, own = own, nearest
            nearest, height = _nearest(distances, sizes, own, came_from)
        length -= 2
        pairs[t, 0], pairs[t, 1], heights[t] = came_from, own, height
        _join(distances, sizes, rule, own, came_from)


@inner
def _nearest(distances, sizes, own, came_from):
    """The cluster nearest to ``own``, and its distance."""
    n = sizes.shape[0]
    nearest, least = came_from, np.inf
    if came_from >= 0:
        least = distances[_cell(n, own, came_from)]
    cell = own - 1
    for other in range(own):
        if sizes[other] > 0 and distances[cell] < least:
            nearest, least = other, distances[cell]
        cell += n - 2 - other
    cell = _cell(n, own, own + 1)
    for other in range(own + 1, n):
        if sizes[other] > 0 and distances[cell] < least:
            nearest, least = other, distances[cell]
        cell += 1
    return nearest, least


@inner
def _join(distances, sizes, rule, kept, gone):
    """Let ``gone`` become part of ``kept`` (Lance and Williams 1967)."""
    n = sizes.shape[0]
    share = sizes[gone] / (sizes[gone] + sizes[kept])
    sizes[kept] += sizes[gone]
    sizes[gone] = 0
    for other in range(n):
        if sizes[other] > 0 and other != kept:
            cell = _cell(n, kept, other)
            near, far = distances[cell], distances[_cell(n, gone, other)]
            if rule == AVERAGE:
                distances[cell] = near + share * (far - near)
            elif rule == SINGLE:
                distances[cell] = min(near, far)
            else:
                distances[cell] = max(near, far)


@inner
def _cell(n, one, other):
    """Where the distance of two leaves is."""
    i, j = min(one, other), max(one, other)
    return i * (2 * n - i - 1) // 2 + j - i - 1
