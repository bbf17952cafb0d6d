"""From a partition to one whose every cluster the draws hold together and apart."""

from dataclasses import replace

import numpy as np

from partita.posterior.condensing import Condensed
from partita.posterior.descent import Problem
from partita.posterior.expected import evenly_spaced
from partita.posterior.support import MOST_CLUSTERS, Support, support_of

CELLS_READ = 2e7
"""Labels up to which all draws are read at every step; of more, some are, and all at the end."""

_FEWEST_DRAWS = 100


def held(problem: Problem, labels: np.ndarray, min_support: float) -> np.ndarray:
    """Dissolve the cluster of least support as long as that is below ``min_support``, and seat its units elsewhere.

    After every step all units move to where the expected loss is least, among as many clusters as are left, so that
    the number of clusters falls by at least one. Single objects below ``min_support`` go together. One cluster is what
    is left where nothing holds. Above `MOST_CLUSTERS` clusters nothing is dissolved but single objects.
    """
    for draws in _fewer_then_all(problem.draws):
        while labels.max() > 0:
            weak = _weak(labels, draws, min_support)
            if len(weak) == 0:
                break
            labels = problem.without(labels, weak)
    return labels


def _fewer_then_all(draws: Condensed) -> list[Condensed]:
    n_read = int(max(_FEWEST_DRAWS, CELLS_READ // len(draws.counts)))
    if n_read >= len(draws.labels):
        return [draws]
    some, weights = evenly_spaced(draws.weights, n_read)
    return [replace(draws, labels=draws.labels[some], weights=weights, draws=draws.draws[some]), draws]


def _weak(labels: np.ndarray, draws: Condensed, min_support: float) -> np.ndarray:
    """The clusters to dissolve next: that of least support, of equal ones the smallest; single objects all at once."""
    seen = labels >= 0
    sizes = np.bincount(labels[seen], weights=draws.counts[seen])
    if len(sizes) > MOST_CLUSTERS:
        return np.empty(0, np.int64)
    support = support_of(labels, draws)
    weak = np.flatnonzero(support.least < min_support)
    if len(weak) == 0:
        return weak
    first = weak[np.lexsort((-weak, sizes[weak], support.least[weak]))[0]]
    if sizes[first] > 1:
        return np.array([first])
    singles = weak[sizes[weak] == 1]
    return singles if len(singles) < len(sizes) else singles[:-1]


def holds(support: Support, min_support: float) -> bool:
    """Whether all clusters have the support; a single cluster needs none."""
    return len(support.together) == 1 or bool((support.least >= min_support).all())
