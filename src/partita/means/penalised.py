"""What estimators share whose clusters cost a penalty: their options, and how the penalty is found."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from partita.means.costs import Costs
from partita.means.descent import Descent, descend
from partita.means.penalties import farthest_first, penalty_for
from partita.means.subspaces import SelectedColumns, random_clusters
from partita.parameters import is_number, whole_number
from partita.wording import count_of

MOST_CLUSTERS = 30
PATIENCE = 3  # numbers of clusters in a row that are worse than the best, after which "auto" looks no further

End = tuple[float, Descent[Any]]
"""A penalty and where a start ended with it."""


class Start(NamedTuple):
    """Where a descent begins, and how it goes."""

    first: int | None  # the object that the first cluster is at; None: all objects are in it
    order: np.ndarray | None = None  # in which objects are looked at; None: all at once

    def clusters(self, costs: Costs) -> Any:
        """The first cluster."""
        if self.first is None:
            return costs.fitted(np.zeros(costs.n_objects, np.int64), 1, None)
        return costs.best_for(np.array([self.first]), None)


class PenalisedMeans(ClusterMixin, BaseEstimator):
    """Clusters are opened where they save more than they cost; an estimator brings costs and keeps where they end."""

    penalty: float | str
    n_clusters_hint: int | None
    n_init: int
    max_iter: int
    penalty_: float
    objective_: float
    n_clusters_: int

    def _check_penalty(self) -> None:
        whole_number("n_init", self.n_init, 1)
        whole_number("max_iter", self.max_iter, 1)
        if self.n_clusters_hint is not None:
            whole_number("n_clusters_hint", self.n_clusters_hint, 1, also="None")
            if self.penalty != "auto":
                raise ValueError("penalty and n_clusters_hint both say how many clusters there are: pass one of them.")
        elif self.penalty != "auto":
            checked_penalty(self.penalty)

    def _found(
        self, costs: SelectedColumns, first: Start, n_different: Callable[[], int], rng: np.random.Generator
    ) -> End:
        """The best of the starts: at the penalty told, with as many clusters as wanted, or as there seem to be.

        The first start is bisected where a number is wanted, and the others are random labels.
        """
        if self.penalty != "auto":
            others = [Start(int(rng.integers(costs.n_objects))) for _ in range(self.n_init - 1)]
            return self._told(costs, [first, *others])
        wanted = self.n_clusters_hint
        if wanted is None:
            return self._by_classification(costs, rng)
        refuse_more_than(n_different(), wanted, costs.n_objects)
        ends = [self._bisected(costs, first, wanted)]
        for _ in range(self.n_init - 1):
            ends.append(self._settled(costs, random_clusters(self._opening(costs), wanted, rng)))
        return self._nearest(ends, wanted)

    def _opening(self, costs: SelectedColumns) -> SelectedColumns:
        """The costs by which random labels become clusters."""
        return costs

    def _descent(self, costs: Costs, start: Start) -> Descent[Any]:
        return descend(costs, start.clusters(costs), max_iter=self.max_iter, order=start.order)

    def _settled(self, costs: Costs, clusters: Any) -> End:
        """The least penalty at which nothing opens a cluster beside these, once they have settled."""
        free = costs.with_penalty(0.0)
        no_more = 2.0 * float(np.abs(free.cheapest(clusters)[1]).sum()) or 1.0  # more than there is to save
        settled = descend(costs.with_penalty(no_more), clusters, max_iter=self.max_iter)
        savings = free.cheapest(settled.clusters)[1] - free.alone(settled.clusters)
        penalty = max(float(savings.max()), 0.0) or no_more
        return penalty, descend(costs.with_penalty(penalty), settled.clusters, max_iter=self.max_iter)

    def _told(self, costs: Costs, starts: Sequence[Start]) -> End:
        """The start of the least objective."""
        penalty = checked_penalty(self.penalty)
        ends = [self._descent(costs.with_penalty(penalty), start) for start in starts]
        return penalty, min(ends, key=lambda end: end.path[-1])

    def _bisected(self, costs: Costs, start: Start, wanted: int) -> End:
        path = farthest_first(costs.with_penalty(0.0), start.clusters(costs), wanted)
        guess = path[-1] if path.size else 1.0  # where all rows are equal any penalty does
        return penalty_for(wanted, guess, lambda penalty: self._descent(costs.with_penalty(penalty), start))

    def _by_classification(self, costs: SelectedColumns, rng: np.random.Generator) -> End:
        """The clusters of the least integrated classification likelihood, each number of them from random labels."""
        best, least, since = self._settled(costs, random_clusters(self._opening(costs), 1, rng)), np.inf, 0
        for n_clusters in range(1, min(MOST_CLUSTERS, costs.n_objects) + 1):
            for _ in range(self.n_init if n_clusters > 1 else 1):
                found = self._settled(costs, random_clusters(self._opening(costs), n_clusters, rng))
                cost = costs.classification_cost(found[1].labels, found[1].clusters)
                if cost < least:
                    best, least, since = found, cost, -1
            since += 1
            if since >= PATIENCE:
                break
        return best

    def _nearest(self, ends: Sequence[End], wanted: int) -> End:
        """The end with as many clusters as are wanted, or nearly, and of those the one of the least other costs."""
        penalty, end = min(
            ends, key=lambda end: (abs(end[1].n_clusters - wanted), end[1].path[-1] - end[0] * end[1].n_clusters)
        )
        if end.n_clusters != wanted:
            warnings.warn(
                f"No penalty was found at which {count_of(wanted, 'cluster')} come out: at {penalty:.4g} there are "
                f"{end.n_clusters}.",
                UserWarning,
                stacklevel=4,
            )
        return penalty, end

    def _note(self, end: Descent[Any]) -> None:
        """Keep the objective, and warn of a descent that was cut short."""
        self.n_iter_, self.objective_path_ = len(end.path), np.array(end.path)
        self.objective_ = end.path[-1]
        if not end.converged:
            warnings.warn(
                f"Labels still changed after {self.max_iter} passes: raise max_iter.", ConvergenceWarning, stacklevel=4
            )


def checked_penalty(penalty: Any) -> float:
    """What a cluster costs, refused where it is no positive number."""
    if not (is_number(penalty) and penalty > 0.0):
        raise ValueError(f"penalty must be 'auto' or a positive number, got {penalty!r}.")
    return float(penalty)


def refuse_more_than(n_different: int, wanted: int, n_rows: int) -> None:
    """Refuse more clusters than there are different rows."""
    if n_different < wanted:
        raise ValueError(
            f"n_clusters_hint={wanted} is more than the {count_of(n_different, 'different row')} of X "
            f"(n_samples={n_rows})."
        )
