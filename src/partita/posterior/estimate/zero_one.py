"""The most probable partition: the one that the most draws agree with."""

import itertools

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from partita.posterior.condensing import Condensed
from partita.posterior.estimate.limits import Limits

_STARTS = 64
_ALL_PAIRS = 16


def most_probable(draws: Condensed, limits: Limits) -> list[np.ndarray]:
    """Partitions of the atoms that agree with many draws and obey the limits; there may be none.

    A partition agrees with a draw if it is equal to it on the atoms that the draw labels. Where all draws label all
    atoms it is the heaviest draw. Otherwise draws are joined that fit together, that is if some partition agrees with
    all of them: each of the heaviest 64 (of up to 16 every pair) with all others that fit, heaviest first. Atoms that
    none of these label go to the largest cluster. Cost with gaps O(64 x draws x joined draws x atoms).
    """
    heaviest = np.argsort(-draws.weights, kind="stable")
    if not draws.partial:
        by_weight = (draws.labels[b].astype(np.int64) for b in heaviest)
        found = next((labels for labels in by_weight if limits.allow(labels, draws.counts)), None)
        return [] if found is None else [found]
    starts = [(b,) for b in heaviest[:_STARTS]]
    if len(heaviest) <= _ALL_PAIRS:
        starts = list(itertools.permutations(heaviest, min(2, len(heaviest))))
    joined = (_joined(draws, [*start, *heaviest], limits) for start in starts)
    return [labels for labels in joined if limits.allow(labels, draws.counts)]


def _joined(draws: Condensed, order: list[int], limits: Limits) -> np.ndarray:
    """Join draws in this order where they fit, and label all atoms that any draw labels."""
    groups = np.arange(draws.labels.shape[1])
    joined: list[int] = []
    for b in order:
        closed, wider = _closed(groups, draws.labels[b]), [*joined, b]
        if all(_keeps_apart(closed, draws.labels[d]) for d in wider) and _few_enough(draws, closed, wider, limits):
            groups, joined = closed, wider
    labels, seen = _labelled(draws, groups, joined, limits.max_clusters)
    if joined:
        rest = ~seen & (draws.labels >= 0).any(axis=0)
        labels[rest] = np.bincount(labels[seen], weights=draws.counts[seen]).argmax()
    return labels


def _few_enough(draws: Condensed, groups: np.ndarray, joined: list[int], limits: Limits) -> bool:
    return not limits.bind or int(_labelled(draws, groups, joined, limits.max_clusters)[0].max()) < limits.max_clusters


def _labelled(draws: Condensed, groups: np.ndarray, joined: list[int], most: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the atoms that the joined draws label, and which these are."""
    seen = np.asarray(np.any(draws.labels[joined] >= 0, axis=0))
    labels = np.full(len(groups), -1)
    if seen.any():
        labels[seen] = _merged(groups[seen], draws.labels[joined][:, seen], draws.counts[seen], most)
    return labels, seen


def _closed(groups: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Groups of atoms after those that share a label in a draw have come together."""
    seen = row >= 0
    n_groups = int(groups.max()) + 1
    size = n_groups + int(row.max()) + 1
    links = coo_array((np.ones(seen.sum()), (groups[seen], n_groups + row[seen])), shape=(size, size))
    return connected_components(links, directed=False)[1][groups]


def _keeps_apart(groups: np.ndarray, row: np.ndarray) -> bool:
    """Whether the labels of a draw lie in different groups."""
    seen = row >= 0
    labels, first = np.unique(row[seen], return_index=True)
    return len(np.unique(groups[seen][first])) == len(labels)


def _merged(groups: np.ndarray, rows: np.ndarray, counts: np.ndarray, most: int) -> np.ndarray:
    """Merge groups that no draw keeps apart, largest first, until there are no more than ``most`` (if that can be)."""
    names, groups = np.unique(groups, return_inverse=True)
    excess, clusters = len(names) - most, np.full(len(names), -1)
    used: list[np.ndarray] = []
    for group in np.argsort(-np.bincount(groups, weights=counts), kind="stable"):
        present = np.any(rows[:, groups == group] >= 0, axis=1)
        fits = [k for k, draws in enumerate(used) if not np.any(draws & present)] if excess > 0 else []
        if fits:
            clusters[group], excess = fits[0], excess - 1
            used[fits[0]] = used[fits[0]] | present
        else:
            clusters[group] = len(used)
            used.append(present)
    return clusters[groups]
