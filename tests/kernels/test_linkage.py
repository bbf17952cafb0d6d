"""Trees of leaves that stand for several objects, against scipy's trees of all objects."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

from partita.kernels.linkage import AVERAGE, COMPLETE, SINGLE, link

RULES = pytest.mark.parametrize(
    ("kind", "rule"), [("single", SINGLE), ("average", AVERAGE), ("complete", COMPLETE)], ids=str
)


def linked(distances, sizes, rule):
    """The pairs and heights, lowest first, from copies of distances and sizes."""
    n = sizes.size
    pairs, heights = np.full((n - 1, 2), -1), np.full(n - 1, np.nan)
    link(distances.copy(), sizes.copy(), rule, np.empty(n, np.int64), pairs, heights)
    order = np.argsort(heights, kind="stable")
    return pairs[order], heights[order]


def heights_of_leaves(pairs, heights):
    """At which height every two leaves (n, n) are first in one cluster."""
    n = len(pairs) + 1
    cluster, met = np.arange(n), np.zeros((n, n))
    for (one, other), height in zip(pairs, heights):
        mine, theirs = (np.flatnonzero(cluster == cluster[leaf]) for leaf in (one, other))
        assert mine[0] != theirs[0]
        met[np.ix_(mine, theirs)] = met[np.ix_(theirs, mine)] = height
        cluster[theirs] = cluster[one]
    return met


def of_objects(distances, sizes):
    """The distances of all objects, 0 within a leaf; condensed."""
    leaves = np.repeat(np.arange(sizes.size), sizes)
    return squareform(squareform(distances)[np.ix_(leaves, leaves)], checks=False)


@RULES
@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_leaves_meet_where_scipy_lets_their_objects_meet(kind, rule, n):
    rng = np.random.default_rng(n)
    distances, sizes = rng.random(n * (n - 1) // 2), rng.integers(1, 6, n)
    theirs = squareform(cophenet(linkage(of_objects(distances, sizes), kind)))
    first = np.cumsum(sizes) - sizes
    met = heights_of_leaves(*linked(distances, sizes, rule))
    np.testing.assert_allclose(met, theirs[np.ix_(first, first)], atol=1e-12)


@RULES
@pytest.mark.parametrize("seed", range(5))
def test_of_equal_distances_too_every_merge_is_one_of_the_nearest_two(kind, rule, seed):
    rng = np.random.default_rng(seed)
    n = 14
    distances, sizes = rng.integers(1, 4, n * (n - 1) // 2) / 3, rng.integers(1, 4, n)
    between = {"single": np.min, "average": np.mean, "complete": np.max}[kind]
    all_of_them, leaves = squareform(of_objects(distances, sizes)), np.repeat(np.arange(n), sizes)
    cluster = np.arange(n)
    for (one, other), height in zip(*linked(distances, sizes, rule)):
        groups = [np.flatnonzero(cluster[leaves] == c) for c in np.unique(cluster)]
        least = min(between(all_of_them[np.ix_(a, b)]) for i, a in enumerate(groups) for b in groups[:i])
        mine, theirs = (np.flatnonzero(cluster[leaves] == cluster[leaf]) for leaf in (one, other))
        assert between(all_of_them[np.ix_(mine, theirs)]) == pytest.approx(least, abs=1e-12)
        assert height == pytest.approx(least, abs=1e-12)
        cluster[cluster == cluster[other]] = cluster[one]


def test_of_single_link_heights_are_the_edges_of_the_shortest_tree_however_often_they_tie():
    rng = np.random.default_rng(0)
    distances = rng.integers(1, 5, 40 * 39 // 2) / 4
    _, heights = linked(distances, np.ones(40, np.int64), SINGLE)
    np.testing.assert_array_equal(heights, linkage(distances, "single")[:, 2])


def test_one_leaf_has_nothing_to_merge():
    pairs, heights = linked(np.empty(0), np.array([7]), AVERAGE)
    assert (pairs.shape, heights.shape) == ((0, 2), (0,))
