"""CRAFT: the estimator."""

import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partita.means.cells import Categories, Numbers
from partita.means.choices import SoMany, WhatPays
from partita.means.descent import Descent, descend
from partita.means.locality import default_locality, locality_costs
from partita.means.penalised import End, PenalisedMeans, Start
from partita.means.subspaces import SelectedColumns, Subspaces, by_size, free_numbers
from partita.parameters import choose, generator_from, is_number, whole_number
from partita.table import Table
from partita.table.column_keys import by_column
from partita.table_estimator import TableEstimator
from partita.wording import name_some

BUDGETS = ("fixed", "approximate")
VARIANCES = ("map", "fixed")


class CRAFT(PenalisedMeans, TableEstimator):
    """k-means without a number of clusters, in which every cluster chooses the columns that define it.

    Rows of a cluster agree in the columns that it has chosen; everything else is said by one background for all
    clusters. What is minimised is minus a log posterior, in nats: see `partita.means.subspaces`. Columns are taken as
    independent within a cluster: of numbers that depend on each other there `partita.Mixture` knows more.

    Parameters
    ----------
    n_features_to_select : float or int
        m, the share of the columns that each cluster chooses, or how many.
    locality : float, optional
        rho, from 0 (all clusters choose alike) to m (1 - m) (each for itself); by default m (1 - m) - 0.01. Where all
        clusters choose as many columns it moves the penalty and nothing else.
    penalty : float or "auto"
        What a cluster costs, in nats. "auto": the number of clusters is the one of the least integrated classification
        likelihood (Biernacki, Celeux and Govaert 2000), and the penalty the least that opens no cluster beside these.
    n_clusters_hint : int, optional
        How many clusters are wanted.
    budget : "fixed" or "approximate"
        Every cluster chooses as many columns, those that save most; or all that save more than they cost: F_1 - F_0
        (`partita.means.locality`) and half of log n for every number that says them.
    variance : "map" or "fixed"
        The variance of a column of numbers in a cluster is the most probable one, or 1/2 everywhere, which makes what
        numbers cost the squared distance.
    standardize : bool
        Whether numbers are put into units of mean 0 and standard deviation 1 first.
    column_types : mapping, optional
        Kinds of columns, as `partita.Mixture` takes them: "numeric", "positive", "date" or "categorical". Text, truth
        values and columns of 0 and 1 are categories by default, other numbers are numbers.
    n_init : int
        Starts, of which the best is kept: the first from one cluster of all rows, others from random labels, or with a
        penalty told from random rows.
    max_iter : int
        Passes of one start.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    labels_ : (n,) int64
        0 is the largest cluster, ties by first row.
    n_clusters_ : int
    features_ : (n_clusters_, n_columns) bool
        Which columns of X, in its order, each cluster has chosen. A constant column is never chosen.
    gains_ : (n_clusters_, n_columns)
        Nats per row that a cluster saves by saying a column itself.
    penalty_, objective_ : float
    objective_path_ : (n_iter_,) array
        After every pass of the best start; it never rises.
    n_iter_ : int
    table_ : Table
    n_features_in_, feature_names_in_

    References
    ----------
    Garg, Rudin and Jaakkola (2016), CRAFT: ClusteR-specific Assorted Feature selecTion.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(0.0, 3.0, size=(60, 4))
    >>> rows[:30, :2], rows[30:, 2:] = rng.normal(5.0, 0.3, (30, 2)), rng.normal(2.0, 0.3, (30, 2))
    >>> CRAFT(random_state=0).fit(rows).features_.astype(int)
    array([[1, 1, 0, 0],
           [0, 0, 1, 1]])
    """

    features_: np.ndarray
    gains_: np.ndarray

    def __init__(
        self,
        *,
        n_features_to_select: float = 0.5,
        locality: float | None = None,
        penalty: float | str = "auto",
        n_clusters_hint: int | None = None,
        budget: str = "fixed",
        variance: str = "map",
        standardize: bool = True,
        column_types: Mapping[Any, str] | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: Any = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.locality = locality
        self.penalty = penalty
        self.n_clusters_hint = n_clusters_hint
        self.budget = budget
        self.variance = variance
        self.standardize = standardize
        self.column_types = column_types
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of the rows of X, and their columns.

        Parameters
        ----------
        X : frame, array, path of a CSV or Parquet file, or Table
            Numbers and categories; cells may be missing.
        y
            Ignored.
        """
        self._check_options()
        rng = generator_from(self.random_state)
        table = self._read_anew(X)
        self._forget()
        costs = self._costs(table)
        self.penalty_, end = self._found(costs, Start(None), lambda: len(table.distinct_rows()[0]), rng)
        self._keep(costs.with_penalty(self.penalty_), end)
        self._keep_table(table, X)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The cluster in which each row costs least (n,)."""
        table = self._read(X)
        return self._costs_.of_rows(table.numeric, table.codes).cheapest(self._clusters_)[0]

    def get_support(self, indices: bool = False, *, cluster: int | None = None) -> np.ndarray:
        """Which columns a cluster has chosen, or any of them: a mask, or the positions (``indices``)."""
        check_is_fitted(self)
        if cluster is not None and not 0 <= whole_number("cluster", cluster, 0) < self.n_clusters_:
            raise ValueError(f"cluster must be a whole number from 0 to {self.n_clusters_ - 1}, got {cluster!r}.")
        mask = self.features_.any(axis=0) if cluster is None else self.features_[cluster]
        return np.flatnonzero(mask) if indices else np.array(mask)

    def _check_options(self) -> None:
        choose("budget", self.budget, dict.fromkeys(BUDGETS))
        choose("variance", self.variance, dict.fromkeys(VARIANCES))
        if not isinstance(self.standardize, bool | np.bool_):
            raise TypeError(f"standardize must be True or False, got {self.standardize!r}.")
        self._check_penalty()

    def _read_anew(self, X: Any) -> Table:
        """Numbers and categories; of 0 and 1 alone they are categories, unless they are told to be numbers."""
        table = self._with_kinds(X, self.column_types)
        told = by_column(self.column_types or {}, table.names, by_position=table.origin.library is None)
        flags = [name for name in zeros_and_ones(table) if name not in told]
        if flags and not isinstance(X, Table):
            kinds = {**(self.column_types or {}), **dict.fromkeys(flags, "categorical")}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they were said
                table = self._with_kinds(X, kinds)
        if table.counts.shape[1]:
            names = [column.name for column in table.schema.used if column.block == "count"]
            raise ValueError(
                f"CRAFT has numbers and categories, and {name_some(names, len(names))} are counts: call them numeric."
            )
        return table

    def _with_kinds(self, X: Any, kinds: Mapping[Any, str] | None) -> Table:
        return Table.read(X, column_types=kinds, standardize=self.standardize, guess_types=False)

    def _costs(self, table: Table) -> SelectedColumns:
        n_columns = table.numeric.shape[1] + table.codes.shape[1]
        n_chosen = n_selected(self.n_features_to_select, n_columns)
        share = n_chosen / n_columns if n_columns else 1.0
        locality = locality_costs(share, checked_locality(self.locality, share))
        blocks = (
            Numbers(table.numeric, table.rounding, fixed=self.variance == "fixed"),
            Categories(table.codes, table.schema.n_levels),
        )
        prices = np.full(n_columns, locality.chosen_more)
        if self.budget == "approximate":
            prices += 0.5 * np.log(table.n_rows) * free_numbers(*blocks)
        choice = SoMany(n_chosen) if self.budget == "fixed" else WhatPays(prices)
        return SelectedColumns(*blocks, penalty=1.0, choice=choice, ignored=locality.ignored, prices=prices)

    def _opening(self, costs: SelectedColumns) -> SelectedColumns:
        """Costs with a fixed budget: of labels that mean nothing yet no column pays."""
        n_chosen = n_selected(self.n_features_to_select, costs.n_columns)
        return costs if self.budget == "fixed" else costs.choosing(SoMany(n_chosen))

    def _descent(self, costs: Any, start: Start) -> Descent[Subspaces]:
        first = super()._descent(self._opening(costs), start)
        return first if self.budget == "fixed" else self._going_on(costs, first)

    def _settled(self, costs: Any, clusters: Any) -> End:
        first = super()._settled(self._opening(costs), clusters)
        if self.budget == "fixed":
            return first
        return super()._settled(costs, self._going_on(costs.with_penalty(first[0]), first[1]).clusters)

    def _going_on(self, costs: SelectedColumns, first: Descent[Subspaces]) -> Descent[Subspaces]:
        """From where a fixed budget has led, with every column that pays."""
        return descend(costs, costs.fitted(first.labels, first.n_clusters), max_iter=self.max_iter)

    def _keep(self, costs: SelectedColumns, end: Descent[Subspaces]) -> None:
        self.labels_, self._clusters_ = by_size(costs, end.labels, end.clusters)
        self._costs_, self.n_clusters_ = costs, end.n_clusters
        self._note(end)

    def _keep_table(self, table: Table, X: Any = None) -> None:
        super()._keep_table(table, X)
        places = _places(table)
        gains = self._costs_.gains(self.labels_, self._clusters_) / np.bincount(self.labels_)[:, None]
        self.features_ = np.zeros((self.n_clusters_, len(table.names)), bool)
        self.gains_ = np.zeros(self.features_.shape)
        self.features_[:, places], self.gains_[:, places] = self._clusters_.chosen, gains

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def n_selected(asked: Any, n_columns: int) -> int:
    """How many columns a share of them is, one at least; or a number of them."""
    if isinstance(asked, Integral) and not isinstance(asked, bool | np.bool_):
        if not 1 <= int(asked) <= n_columns:
            raise ValueError(
                f"n_features_to_select must be a share in (0, 1] or a whole number from 1 to {n_columns}, the columns "
                f"that vary, got {asked!r}."
            )
        return int(asked)
    if not (is_number(asked) and 0.0 < asked <= 1.0):
        raise ValueError(
            f"n_features_to_select must be a share in (0, 1] or a whole number from 1 to {n_columns}, got {asked!r}."
        )
    return min(n_columns, max(1, round(float(asked) * n_columns)))


def checked_locality(asked: Any, share: float) -> float:
    """rho, refused outside (0, m (1 - m)); of all columns it says nothing."""
    if asked is None or share == 1.0:
        return default_locality(share)
    limit = share * (1.0 - share)
    if not (is_number(asked) and 0.0 < asked < limit):
        raise ValueError(
            f"locality must be between 0 and {limit:.4g}, m (1 - m) for the share m = {share:.4g} of the columns, got "
            f"{asked!r}."
        )
    return float(asked)


def zeros_and_ones(table: Table) -> list[str]:
    """The names of the columns of numbers that hold nothing but 0 and 1."""
    cells = table.to_units(table.numeric)
    binary = ((cells == 0.0) | (cells == 1.0) | np.isnan(cells)).all(axis=0)
    return [column.name for column, is_binary in zip(table.schema.numeric, binary) if is_binary]


def _places(table: Table) -> np.ndarray:
    """Where in X the columns of numbers are, and those of categories after them."""
    place = {name: i for i, name in enumerate(table.names)}
    return np.array([place[c.name] for c in (*table.schema.numeric, *table.schema.categorical)], dtype=np.int64)
