"""What estimators share whose clusters cost a penalty: their options, and how the penalty is found."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.exceptions import ConvergenceWarning

from partita.means.costs import Costs
from partita.means.descent import Descent, descend
from partita.means.penalties import farthest_first, penalty_for
from partita.means.penalty_path import PenaltyPath, path_along
from partita.means.subspaces import SelectedColumns, random_clusters, random_labels
from partita.parameters import generator_from, is_number, whole_number
from partita.places.here import Here
from partita.wording import count_of

MOST_CLUSTERS = 30
PATIENCE = 3  # numbers of clusters in a row that are worse than the best, after which "auto" looks no further

End = tuple[float, Descent[Any]]
"""A penalty and where a start ended with it."""


class Start(NamedTuple):
    """Where a descent begins, and how it goes."""

    first: int | None  # the object that the first cluster is at; None: all objects are in it
    order: np.ndarray | None = None  # in which objects are looked at; None: all at once
    labels: np.ndarray | None = None  # 0 to K - 1, whose clusters it begins with instead

    def clusters(self, costs: Costs) -> Any:
        """The first cluster, or those of labels."""
        if self.labels is not None:
            return costs.fitted(self.labels, int(self.labels.max()) + 1, None)
        if self.first is None:
            return costs.fitted(np.zeros(costs.n_objects, np.int64), 1, None)
        return costs.best_for(np.array([self.first]), None)


class PenalisedMeans(ClusterMixin, BaseEstimator):
    """Clusters are opened where they save more than they cost; an estimator brings costs and keeps where they end."""

    penalty: float | str
    n_clusters_hint: int | None
    n_init: int
    max_iter: int
    random_state: Any
    n_jobs: int | None = None
    penalty_: float
    objective_: float
    n_clusters_: int

    def penalty_path(self, X: Any, penalties: Any = None, *, n_repeats: int = 5) -> PenaltyPath:
        """How many clusters come out along penalties, at what objective, and how stable they are.

        Every penalty is fitted as `fit` does it with that ``penalty``, and then two halves of the rows ``n_repeats``
        times, of at most 10 000 rows. So the cost is that of ``n_repeats`` + 1 fits for every penalty, and a few to
        find the range. The estimator stays as it is.

        Parameters
        ----------
        X : as `fit` takes it
        penalties : array-like, optional
            By default twenty in equal ratios, from what opens the 30th cluster by farthest-first (Kulis and Jordan
            2012) to one that leaves a single cluster.
        n_repeats : int
            Pairs of halves that ``stability`` is the mean of; 0 leaves it nan.

        Returns
        -------
        PenaltyPath
            ``penalties``, ``n_clusters``, ``objective`` and ``stability``; `partita.plots.penalty_path` draws it.
        """
        whole_number("n_repeats", n_repeats, 0)
        reader, rng = clone(self), generator_from(self.random_state)
        costs = reader._read_costs(X).with_penalty(0.0)

        def fit_of(n_objects: int) -> Callable[[Costs[Any]], Descent[Any]]:
            starts = reader._starts(n_objects, rng)
            return lambda told: reader._best(told, starts)

        return path_along(costs, penalties, fit_of, n_repeats, rng)

    @abstractmethod
    def _read_costs(self, X: Any) -> Costs[Any]:
        """What the rows of a table to be fitted cost; options that are none, and rows, are refused as `fit` does."""

    def _first(self, n_objects: int, rng: np.random.Generator) -> Start:
        """Where the first start begins."""
        return Start(None)

    def _starts(self, n_objects: int, rng: np.random.Generator) -> list[Start]:
        """Where all starts begin at a penalty that is told."""
        return [self._first(n_objects, rng), *self._others(n_objects, rng)]

    def _others(self, n_objects: int, rng: np.random.Generator) -> list[Start]:
        """The starts after the first, from random labels into 2, 3, ... clusters: no row need pay for one by itself."""
        numbers = range(2, max(min(self.n_init, n_objects), 2) + 1)
        return [
            Start(None, labels=random_labels(n_objects, numbers[i % len(numbers)], rng)) for i in range(self.n_init - 1)
        ]

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
            return self._told(costs, [first, *self._others(costs.n_objects, rng)])
        wanted = self.n_clusters_hint
        if wanted is None:
            return self._by_classification(costs, rng)
        refuse_more_than(n_different(), wanted, costs.n_objects)
        others = self._random(costs, wanted, self.n_init - 1, rng)

        def end(start: Any) -> End:
            return self._bisected(costs, first, wanted) if start is first else self._settled(costs, start)

        return self._nearest(self._each(end, [first, *others]), wanted)

    def _each(self, function: Callable[[Any], Any], starts: Sequence[Any]) -> list[Any]:
        """Where every start ends, in their order; nothing random is left to draw."""
        return Here(self.n_jobs).map(function, starts)

    def _random(self, costs: SelectedColumns, n_clusters: int, n: int, rng: np.random.Generator) -> list[Any]:
        """The clusters of random labels, n times."""
        return [random_clusters(self._opening(costs), n_clusters, rng) for _ in range(n)]

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
        return penalty, self._best(costs.with_penalty(penalty), starts)

    def _best(self, costs: Costs, starts: Sequence[Start]) -> Descent[Any]:
        """The descent of the least objective."""
        return min(self._each(lambda start: self._descent(costs, start), starts), key=lambda end: end.path[-1])

    def _bisected(self, costs: Costs, start: Start, wanted: int) -> End:
        path = farthest_first(costs.with_penalty(0.0), start.clusters(costs), wanted)
        guess = float(path[-1]) if path.size else 1.0  # where all rows are equal any penalty does
        return penalty_for(wanted, guess, lambda penalty: self._descent(costs.with_penalty(penalty), start))

    def _by_classification(self, costs: SelectedColumns, rng: np.random.Generator) -> End:
        """The clusters of the least integrated classification likelihood, each number of them from random labels."""
        best, least, since = self._settled(costs, self._random(costs, 1, 1, rng)[0]), np.inf, 0
        for n_clusters in range(1, min(MOST_CLUSTERS, costs.n_objects) + 1):
            starts = self._random(costs, n_clusters, self.n_init if n_clusters > 1 else 1, rng)
            for end in self._each(lambda start: self._settled(costs, start), starts):
                cost = costs.classification_cost(end[1].labels, end[1].clusters)
                if cost < least:
                    best, least, since = end, cost, -1
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
