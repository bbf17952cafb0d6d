"""From a partition to one whose every cluster the draws hold together and apart."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from partita.partitions import canonical
from partita.posterior.condensing import Condensed
from partita.posterior.estimate.comparing import evenly_spaced
from partita.posterior.estimate.descent import Problem
from partita.posterior.support import MOST_CLUSTERS, Support, support_of

CELLS_READ = 1e6
"""Labels up to which all draws are read at every step; of more, some are, and all at the end."""

_FEWEST_DRAWS = 100
_AT_ONCE = 0.25  # of the clusters below the support
_FEW_WEAK = 16  # clusters that are joined one by one
_MANY_SINGLES = 20  # single objects below the support from which all are dissolved at once


def held(
    problem: Problem, labels: np.ndarray, min_support: float, is_over: Callable[[], bool] = lambda: False
) -> np.ndarray:
    """Give up the cluster of least support as long as that is below ``min_support``, in two ways; the better result.

    One cluster is what is left where nothing holds. Above `MOST_CLUSTERS` clusters nothing is given up. When the time
    ``is_over``, the slower way is left.
    """
    holding = _Holding(problem, labels, min_support)
    joined, reseated = holding.joined(), holding.reseated(is_over)
    if reseated is None or np.array_equal(joined, reseated):
        return joined
    found = [reseated, joined]
    return found[int(np.argmin(problem.loss.expected(np.stack(found), problem.draws)))]


class _Holding:
    """Two ways to a support that every cluster has; both begin with the support of the first labels, read once."""

    def __init__(self, problem: Problem, labels: np.ndarray, min_support: float):
        self.problem, self.first, self.min_support = problem, labels, min_support
        self.readings = _fewer_then_all(problem.draws)
        self.of_first: dict[int, tuple[Support, np.ndarray]] = {}  # by the number of draws

    def reseated(self, is_over: Callable[[], bool]) -> np.ndarray | None:
        """Clusters dissolved, of many weak ones a quarter at once; None where the time is over before all have support.

        Their units go each to the cluster where the expected loss is least, or all to the nearest cluster, whichever is
        better; then all units move to where they do best, among as many clusters as are left, so that the number of
        clusters falls with every step. Many single objects go together.
        """
        problem, labels = self.problem, self.first
        for draws in self.readings:
            while labels.max() > 0:
                support, weak = self.weak(labels, draws)
                if len(weak) == 0:
                    break
                if is_over():
                    return None
                tried = [problem.without(labels, weak)]
                if len(weak) == 1:
                    tried.append(problem.without(_with_nearest(labels, weak, support), weak))
                labels = tried[int(np.argmin(problem.loss.expected(np.stack(tried), draws)))]
        return labels

    def joined(self) -> np.ndarray:
        """Clusters joined with the one whose objects theirs are most often together with, and no object moved.

        Where chains disagree on how a group is cut up, moving objects to where they do best makes new pieces that no
        chain but one has; their union is what the draws agree on.
        """
        labels = self.first
        for draws in self.readings:
            while labels.max() > 0:
                support, weak = self.weak(labels, draws)
                if len(weak) == 0:
                    break
                labels = canonical(_with_nearest(labels, weak if len(weak) > _FEW_WEAK else weak[:1], support))
        return labels

    def weak(self, labels: np.ndarray, draws: Condensed) -> tuple[Support, np.ndarray]:
        """The support, and the clusters to give up next: those of least support, of equal ones the smallest."""
        if labels is not self.first:
            return _weak(labels, draws, self.min_support)
        n_draws = len(draws.labels)
        if n_draws not in self.of_first:
            self.of_first[n_draws] = _weak(labels, draws, self.min_support)
        return self.of_first[n_draws]


def _with_nearest(labels: np.ndarray, weak: np.ndarray, support: Support) -> np.ndarray:
    """Labels after every weak cluster, one after the other, has become part of its nearest one."""
    part_of = np.arange(len(support.nearest) + 1)  # the last stays -1, for those in no cluster
    part_of[-1] = -1
    for cluster in weak:
        part_of[part_of == part_of[cluster]] = part_of[support.nearest[cluster]]
    return part_of[labels]


def _fewer_then_all(draws: Condensed) -> list[Condensed]:
    n_read = int(max(_FEWEST_DRAWS, CELLS_READ // len(draws.counts)))
    if n_read >= len(draws.labels):
        return [draws]
    some, weights = evenly_spaced(draws.weights, n_read)
    return [replace(draws, labels=draws.labels[some], weights=weights, draws=draws.draws[some]), draws]


def _weak(labels: np.ndarray, draws: Condensed, min_support: float) -> tuple[Support, np.ndarray]:
    """What `_Holding.weak` gives."""
    seen = labels >= 0
    sizes = np.bincount(labels[seen], weights=draws.counts[seen])
    if len(sizes) > MOST_CLUSTERS:
        return Support(*np.empty((5, 0))), np.empty(0, np.int64)
    support = support_of(labels, draws)
    weak = np.flatnonzero(support.least < min_support)
    singles = weak[sizes[weak] == 1]
    if len(singles) > _MANY_SINGLES:
        return support, singles if len(singles) < len(sizes) else singles[:-1]
    weakest_first = weak[np.lexsort((-weak, sizes[weak], support.least[weak]))]
    return support, weakest_first[: max(1, int(_AT_ONCE * len(weak)))]


def holds(support: Support, min_support: float) -> bool:
    """Whether all clusters have the support; a single cluster needs none."""
    return len(support.together) == 1 or bool((support.least >= min_support).all())
