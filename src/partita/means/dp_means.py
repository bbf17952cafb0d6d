"""DPMeans: the estimator."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, validate_data

from partita.means.descent import Descent
from partita.means.penalised import End, PenalisedMeans, Start, checked_penalty, refuse_more_than
from partita.means.squared_distances import SquaredDistances
from partita.means.standing_out import standing_out
from partita.parameters import choose, generator_from
from partita.partitions import largest_first
from partita.table.distinct import n_distinct_rows
from partita.wording import printable_errors

INITS = ("mean", "random")
LARGEST = 1e150
"""Cells whose squares a float can hold."""


class DPMeans(PenalisedMeans):
    """k-means without a number of clusters: a cluster is opened where it saves more than the penalty.

    The sum of squared distances from the centres, plus ``penalty`` for every centre, falls in every pass to a minimum
    that depends on the start. It is the limit of a Dirichlet process mixture of Gaussians of one small variance.
    Columns count as they are, those with large numbers most: standardise them unless all are in the same units.

    Parameters
    ----------
    penalty : float or "auto"
        What a cluster costs, in squared units of the columns: an object that is farther than its root from all
        centres opens a cluster of its own. "auto": the least one that opens no cluster beside those that stand out
        (`partita.means.standing_out`), one where none do.
    n_clusters_hint : int, optional
        How many clusters are wanted: the penalty is searched at which so many come out, or the nearest number to it.
    init : "mean" or "random"
        Where the first cluster is: at the mean of all objects, or at a random one.
    parallel : bool
        The object farthest from all centres opens the next cluster, at the mean of all that it is nearer to. Else
        objects are looked at one after the other, in a random order by each start after the first, and a cluster is
        opened at the object itself.
    n_init : int
        Starts, of which the best is kept: with a penalty told that of the least objective, with a hint that of the
        least distances at a penalty of its own. All but the first begin at a random object. "auto" needs one.
    max_iter : int
        Passes of one start.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    labels_ : (n,) int64
        0 is the largest cluster, ties by first object.
    n_clusters_ : int
    cluster_centers_ : (n_clusters_, d) array
    penalty_ : float
    objective_ : float
        Squared distances from the nearest centres, summed, plus ``penalty_ * n_clusters_``.
    objective_path_ : (n_iter_,) array
        After every pass of the best start.
    n_iter_ : int
    counts_ : (n_clusters_,) int64
        How many objects every centre is the mean of; all that `partial_fit` has seen.
    n_features_in_, feature_names_in_

    References
    ----------
    Kulis and Jordan (2012), Revisiting k-means: new algorithms via Bayesian nonparametrics. Dinari and Freifeld (2022),
    Revisiting DP-means: fast scalable algorithms via parallelism and delayed cluster creation.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 2))
    >>> DPMeans(random_state=0).fit(rows).n_clusters_
    2
    """

    labels_: np.ndarray
    cluster_centers_: np.ndarray
    counts_: np.ndarray

    def __init__(
        self,
        *,
        penalty: float | str = "auto",
        n_clusters_hint: int | None = None,
        init: str = "mean",
        parallel: bool = True,
        n_init: int = 1,
        max_iter: int = 300,
        random_state: Any = None,
    ):
        self.penalty = penalty
        self.n_clusters_hint = n_clusters_hint
        self.init = init
        self.parallel = parallel
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : (n, d) table of numbers
            An array, a frame or a scipy sparse matrix, without missing cells.
        y : ignored
        """
        self._check_options()
        x = numbers(self, X, reset=True)
        costs, rng = SquaredDistances(x, 0.0), generator_from(self.random_state)
        if self.penalty == "auto" and self.n_clusters_hint is None:
            self.penalty_, end = self._settled(costs, standing_out(x, rng))
        else:
            starts = self._starts(x.shape[0], rng)
            self.penalty_, end = self._told(costs, starts) if self.penalty != "auto" else self._hinted(costs, x, starts)
        self._keep(end)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Go on with more rows: one too far from all centres opens a cluster; then all move the centre they are near.

        Clusters keep their numbers, in the order in which they were opened. ``labels_`` and the objective are of ``X``.
        The penalty is the one told, or that of the first rows, which are fitted where none is told.
        """
        self._check_options()
        begins = not hasattr(self, "cluster_centers_")
        if begins and self.penalty == "auto":
            return self.fit(X)
        x = numbers(self, X, reset=begins)
        self.penalty_ = checked_penalty(self.penalty) if begins or self.penalty != "auto" else self.penalty_
        costs = SquaredDistances(x, self.penalty_)
        centres = costs.best_for(np.zeros(1, np.int64)) if begins else self.cluster_centers_
        seen = np.zeros(1, np.int64) if begins else self.counts_
        labels, squares = costs.cheapest(centres)
        while squares.max() > self.penalty_:
            centres = np.concatenate([centres, costs.best_for(np.array([squares.argmax()]))])
            labels, squares = costs.cheapest(centres)
        occurring, compact = np.unique(labels, return_inverse=True)
        counts = np.bincount(labels, minlength=len(centres))
        self.counts_ = counts + np.pad(seen, (0, len(centres) - len(seen)))
        rates = (counts / np.maximum(self.counts_, 1))[occurring, None]
        means = costs.fitted(compact, len(occurring))
        self.cluster_centers_ = centres.copy()
        self.cluster_centers_[occurring] += rates * (means - centres[occurring])
        self.labels_, squares = costs.cheapest(self.cluster_centers_)
        self.n_clusters_ = len(self.cluster_centers_)
        cost = float(squares.sum()) + costs.of_clusters(self.cluster_centers_)
        self._note(Descent(self.labels_, self.cluster_centers_, [cost], True))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The nearest centre of every row (n,)."""
        check_is_fitted(self)
        return SquaredDistances(numbers(self, X, reset=False), 0.0).cheapest(self.cluster_centers_)[0]

    def _check_options(self) -> None:
        choose("init", self.init, dict.fromkeys(INITS))
        self._check_penalty()

    def _read_costs(self, X: Any) -> SquaredDistances:
        self._check_options()
        return SquaredDistances(numbers(self, X, reset=True), 0.0)

    def _starts(self, n_objects: int, rng: np.random.Generator) -> list[Start]:
        return [self._start(n_objects, i, rng) for i in range(self.n_init)]

    def _start(self, n: int, number: int, rng: np.random.Generator) -> Start:
        """The first as the options say; others from random objects."""
        random = number > 0 or self.init == "random"
        first = int(rng.integers(n)) if random else None
        if self.parallel:
            return Start(first, None)
        return Start(first, rng.permutation(n) if number > 0 else np.arange(n))

    def _hinted(self, costs: SquaredDistances, x: Any, starts: Sequence[Start]) -> End:
        """The start that ends with as many clusters as are wanted."""
        wanted: Any = self.n_clusters_hint
        refuse_more_than(n_distinct_rows(x, wanted), wanted, costs.n_objects)
        return self._nearest([self._bisected(costs, start, wanted) for start in starts], wanted)

    def _keep(self, end: Descent[np.ndarray]) -> None:
        order = largest_first(end.labels, np.ones(end.labels.size), end.n_clusters)
        self.cluster_centers_ = end.clusters[order]
        self.labels_ = np.argsort(order)[end.labels]
        self.counts_ = np.bincount(self.labels_)
        self.n_clusters_ = end.n_clusters
        self._note(end)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def numbers(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A dense or sparse matrix of finite numbers."""
    try:
        with printable_errors():
            x = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64, order="C")
    except ValueError as error:
        remedy = "partita.Mixture takes categories, missing cells and paths of files."
        raise ValueError(f"{error}\n{type(estimator).__name__} needs numbers without gaps. {remedy}") from None
    cells = x.data if issparse(x) else x
    if cells.size and max(cells.max(), -cells.min()) > LARGEST:
        raise ValueError(f"Some cells are beyond {LARGEST:g}, and their squares too large: rescale them.")
    return x
