"""BinaryMeans: the estimator."""

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from partita.means.cells import Categories, Numbers
from partita.means.choices import SoMany
from partita.means.descent import Descent
from partita.means.penalised import PenalisedMeans, Start
from partita.means.subspaces import SelectedColumns, Subspaces, by_size
from partita.parameters import choose, generator_from, is_number
from partita.table.distinct import n_distinct_rows
from partita.wording import printable_errors

INITS = ("mean", "random")


class BinaryMeans(PenalisedMeans):
    """k-means of rows of 0 and 1 without a number of clusters, by entropy: Algorithm 2 of Garg, Rudin and Jaakkola.

    A row costs sum_d H(mu_kd) + (mu_kd - x_d) log(mu_kd / (1 - mu_kd)) in a cluster k, which is -log p(x | mu_k), mu
    the shares of 1, and a cluster costs the penalty. Shares are (n_1 + epsilon) / (n + 2 epsilon), so that what no row
    of a cluster has yet costs a finite amount, and their prior is a part of the objective, which never rises. It is
    `CRAFT` with all columns.

    Parameters
    ----------
    penalty : float or "auto"
        What a cluster costs, in nats. "auto": the number of clusters is the one of the least integrated classification
        likelihood, and the penalty the least that opens no cluster beside these.
    n_clusters_hint : int, optional
        How many clusters are wanted: the penalty is searched at which so many come out, or the nearest number to it.
    init : "mean" or "random"
        Where the first cluster is: at the mean of all rows, or at a random one.
    smoothing : float
        epsilon: as many rows of 1, and of 0, are added to each cluster.
    n_init : int
        Starts, of which the best is kept. All but the first begin with random labels, with a penalty told into 2,
        3, ... clusters.
    max_iter : int
        Passes of one start.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    labels_ : (n,) int64
        0 is the largest cluster, ties by first row.
    n_clusters_ : int
    cluster_centers_ : (n_clusters_, d)
        The shares of 1.
    penalty_, objective_ : float
    objective_path_ : (n_iter_,) array
        After every pass of the best start.
    n_iter_ : int
    n_features_in_, feature_names_in_

    References
    ----------
    Garg, Rudin and Jaakkola (2016), CRAFT: ClusteR-specific Assorted Feature selecTion, section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.repeat([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 10, axis=0)
    >>> BinaryMeans(random_state=0).fit(rows).n_clusters_
    2
    """

    cluster_centers_: np.ndarray
    labels_: np.ndarray

    def __init__(
        self,
        *,
        penalty: float | str = "auto",
        n_clusters_hint: int | None = None,
        init: str = "mean",
        smoothing: float = 1.0,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: Any = None,
    ):
        self.penalty = penalty
        self.n_clusters_hint = n_clusters_hint
        self.init = init
        self.smoothing = smoothing
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of rows of 0 and 1.

        Parameters
        ----------
        X : (n, d) array or frame
            Numbers 0 and 1, or truth values, without missing cells.
        y
            Ignored.
        """
        self._check_options()
        rows, rng = self._rows(X, reset=True), generator_from(self.random_state)
        costs = self._costs(rows)
        first = self._first(costs.n_objects, rng)
        different = partial(n_distinct_rows, rows.astype(float), self.n_clusters_hint or 1)
        self.penalty_, end = self._found(costs, first, different, rng)
        self._keep(costs, end)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The cluster in which each row costs least (n,)."""
        check_is_fitted(self)
        return self._costs(self._rows(X, reset=False)).cheapest(self._clusters_)[0]

    def _check_options(self) -> None:
        choose("init", self.init, dict.fromkeys(INITS))
        if not (is_number(self.smoothing) and self.smoothing > 0.0):
            raise ValueError(f"smoothing must be a positive number, got {self.smoothing!r}.")
        self._check_penalty()

    def _read_costs(self, X: Any) -> SelectedColumns:
        self._check_options()
        return self._costs(self._rows(X, reset=True))

    def _first(self, n_objects: int, rng: np.random.Generator) -> Start:
        return Start(None if self.init == "mean" else int(rng.integers(n_objects)))

    def _rows(self, X: Any, *, reset: bool) -> np.ndarray:
        with printable_errors():
            rows = validate_data(self, X, reset=reset, dtype="numeric")
        strange = np.argwhere((rows != 0) & (rows != 1))
        if len(strange):
            row, column = strange[0]
            raise ValueError(
                f"BinaryMeans takes 0 and 1, and row {row}, column {column} holds {rows[row, column]}. CRAFT takes "
                "categories and numbers, DPMeans numbers."
            )
        return rows.astype(np.int32)

    def _costs(self, rows: np.ndarray) -> SelectedColumns:
        n, d = rows.shape
        blocks = Numbers(np.empty((n, 0))), Categories(rows, np.full(d, 2), self.smoothing)
        return SelectedColumns(*blocks, penalty=1.0, choice=SoMany(d))

    def _keep(self, costs: SelectedColumns, end: Descent[Subspaces]) -> None:
        self.labels_, self._clusters_ = by_size(costs, end.labels, end.clusters)
        self.n_clusters_ = end.n_clusters
        self.cluster_centers_ = np.exp(-self._clusters_.shapes[1][:, 1::2])
        self._note(end)
