"""The most probable partition: the one that the most draws agree with."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from partita.posterior.condensing import Condensed
from partita.posterior.descent import Limits

_STARTS = 64


def most_probable(draws: Condensed, limits: Limits) -> list[np.ndarray]:
    """Partitions of the atoms that agree with many draws and obey the limits; there may be none.

    A partition agrees with a draw if it is equal to it on the atoms that the draw labels. Where all draws label all
    atoms the candidates are the draws. Otherwise each of the heaviest 64 draws is joined with all others that
    fit, heaviest first: draws fit together if some partition agrees with all of them. Atoms that none of these label
    go to the largest cluster. Cost with gaps O(64 x draws x joined draws x atoms).
    """
    if not draws.partial:
        found = list(draws.labels.astype(np.int64))
    else:
        heaviest = np.argsort(-draws.weights, kind="stable")
        found = [_joined(draws, [start, *heaviest], limits) for start in heaviest[:_STARTS]]
    return [labels for labels in found if limits.allow(labels, draws.counts)]


def _joined(draws: Condensed, order: list[int], limits: Limits) -> np.ndarray:
    """Join draws in this order where they fit, and label all atoms that any draw labels."""
    groups = np.arange(draws.labels.shape[1])
    joined: list[int] = []
    for b in order:
        closed = _closed(groups, draws.labels[b])
        if all(_keeps_apart(closed, draws.labels[d]) for d in [*joined, b]):
            groups, joined = closed, [*joined, b]
    seen = (draws.labels[joined] >= 0).any(axis=0)
    labels = np.full(len(groups), -1)
    labels[seen] = _merged(groups[seen], draws.labels[joined][:, seen], draws.counts[seen], limits.max_clusters)
    rest = ~seen & (draws.labels >= 0).any(axis=0)
    labels[rest] = np.bincount(labels[seen], weights=draws.counts[seen]).argmax()
    return labels


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
