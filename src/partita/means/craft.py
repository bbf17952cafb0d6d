"""CRAFT: the estimator."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partita.files.layouts import CRAFT as LAYOUT
from partita.means.cells import SMOOTHING, Categories, Numbers
from partita.means.choices import Choice, SoMany
from partita.means.craft_files import arrays_of, clusters_from
from partita.means.descent import Descent, descend
from partita.means.flips import with_single_flips
from partita.means.indicators import Indicators
from partita.means.locality import locality_costs
from partita.means.n_selected import checked_locality, is_count, n_selected
from partita.means.penalised import End, PenalisedMeans, Start, checked_penalty, refuse_more_than
from partita.means.printed import PRINTED_SMOOTHING, Budget, PrintedCraft, printed_locality
from partita.means.printed_starts import best_printed
from partita.means.subspaces import SelectedColumns, Subspaces, by_size, free_numbers
from partita.means.thresholds import Thresholds, checked_thresholds
from partita.parameters import choose, generator_from, jobs, whole_number
from partita.partitions import largest_first
from partita.table import Table
from partita.table.column_keys import by_column
from partita.table_estimator import TableEstimator
from partita.wording import name_some

BUDGETS = ("fixed", "approximate")
VARIANCES = ("map", "fixed")
DISTANCES = ("auto", "euclidean")
NEAR = 1e-9
"""What a 0 or 1 may be off by."""


class CRAFT(PenalisedMeans, TableEstimator, layout=LAYOUT):
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
    gain_threshold : float, optional
        epsilon_c of the approximate budget, in (0, 1): the columns of categories that save more than this share of
        what their cells cost elsewhere are chosen instead. With it the objective may rise.
    variance_threshold : float, optional
        epsilon_v of the approximate budget, in squared units of the columns (``standardize=False``): numbers of a
        lower variance are chosen instead. With it the objective may rise.
    variance : "map" or "fixed"
        The variance of a column of numbers in a cluster is the most probable one, or 1/2 everywhere, which makes what
        numbers cost the squared distance.
    distance : "auto" or "euclidean"
        A row costs minus its log density; or its squared distance, of numbers, and of categories as corners that are 1
        apart (`partita.means.indicators`): DP-means with columns chosen by cluster, the DP-RF of the paper.
    standardize : bool
        Whether numbers are put into units of mean 0 and standard deviation 1 first.
    as_printed : bool
        Algorithm 1 of the paper to the letter (`partita.means.printed`), whose objective may rise, and which may go
        round in a cycle: then it stops with a warning. It needs a penalty or a hint; the penalty of a hint is that of
        farthest-first from a random row, at which another number of clusters may come out.
    column_types : mapping, optional
        Kinds of columns, as `partita.Mixture` takes them: "numeric", "positive", "date" or "categorical". Text, truth
        values and columns of 0 and 1 are categories by default, other numbers are numbers.
    n_init : int
        Starts, of which the best is kept: the first from one cluster of all rows, others from random labels, with a
        penalty told into 2, 3, ... clusters.
    max_iter : int
        Passes of one start.
    n_jobs : int, optional
        Starts that run at the same time, as in joblib: None is 1, -1 all cores. The answer does not depend on it.
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
        After every pass of the best start; it never rises, but with thresholds or ``as_printed``.
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
        gain_threshold: float | None = None,
        variance_threshold: float | None = None,
        variance: str = "map",
        distance: str = "auto",
        standardize: bool = True,
        as_printed: bool = False,
        column_types: Mapping[Any, str] | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.locality = locality
        self.penalty = penalty
        self.n_clusters_hint = n_clusters_hint
        self.budget = budget
        self.gain_threshold = gain_threshold
        self.variance_threshold = variance_threshold
        self.variance = variance
        self.distance = distance
        self.standardize = standardize
        self.as_printed = as_printed
        self.column_types = column_types
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
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
        find = self._by_algorithm_1 if self.as_printed else self._found
        self.penalty_, end = find(costs, Start(None), lambda: len(table.distinct_rows()[0]), rng)
        self._keep(costs.with_penalty(self.penalty_), end)
        self._keep_table(table, X)
        self._keep_features()
        self._note_single_rows()
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

    def _read_costs(self, X: Any) -> SelectedColumns:
        self._check_options()
        if self.as_printed:
            raise ValueError("penalty_path goes along penalties of the corrected objective: pass as_printed=False.")
        return self._costs(self._read_anew(X))

    def _check_options(self) -> None:
        choose("budget", self.budget, dict.fromkeys(BUDGETS))
        choose("variance", self.variance, dict.fromkeys(VARIANCES))
        choose("distance", self.distance, dict.fromkeys(DISTANCES))
        for name in ("standardize", "as_printed"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise TypeError(f"{name} must be True or False, got {getattr(self, name)!r}.")
        checked_thresholds(
            self.gain_threshold, self.variance_threshold, budget=self.budget, standardize=bool(self.standardize)
        )
        jobs(self.n_jobs)
        self._check_penalty()
        if self.as_printed and self.penalty == "auto" and self.n_clusters_hint is None:
            raise ValueError(
                "as_printed=True has nothing that says how many clusters there are: pass n_clusters_hint or penalty."
            )

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

    def _costs(self, table: Table) -> Any:
        """What the rows of a table cost, or with ``as_printed`` the steps of Algorithm 1 on them."""
        n_columns = table.numeric.shape[1] + table.codes.shape[1]
        n_chosen = n_selected(self.n_features_to_select, n_columns)
        share = n_chosen / n_columns if n_columns else 1.0
        if not self.as_printed:
            return self._corrected(table, n_chosen, share)
        return self._printed(table, share if is_count(self.n_features_to_select) else float(self.n_features_to_select))

    def _corrected(self, table: Table, n_chosen: int, share: float) -> SelectedColumns:
        locality = locality_costs(share, checked_locality(self.locality, share))
        numbers, categories = self._blocks(table)
        prices = np.full(numbers.n_columns + categories.n_columns, locality.chosen_more)
        if self.budget == "approximate":
            prices += 0.5 * np.log(table.n_rows) * free_numbers(numbers, categories)
        choice: Choice = SoMany(n_chosen)
        if self.budget == "approximate":
            choice = Thresholds(numbers.n_columns, self.gain_threshold, self.variance_threshold, prices)
        return SelectedColumns(numbers, categories, penalty=1.0, choice=choice, ignored=locality.ignored, prices=prices)

    def _printed(self, table: Table, share: float) -> PrintedCraft:
        locality = printed_locality(share) if self.locality is None else checked_locality(self.locality, share)
        numbers, categories = self._blocks(table)
        p, c = numbers.n_columns, categories.n_columns
        budget = Budget(n_selected(share, p), n_selected(share, c))
        if self.budget == "approximate":
            budget = Budget(p, c, Thresholds(p, self.gain_threshold, self.variance_threshold))
            needed = {"variance_threshold": p, "gain_threshold": c}
            missing = [name for name, n in needed.items() if n and getattr(self, name) is None]
            if missing:
                raise ValueError(f"The approximate budget of as_printed=True needs {' and '.join(missing)}.")
        return PrintedCraft(numbers, categories, share=share, locality=locality, budget=budget)

    def _blocks(self, table: Table) -> tuple[Numbers, Categories]:
        squared, levels = self.distance == "euclidean", table.schema.n_levels
        rounding = 0.0 if self.as_printed else table.rounding
        numbers = Numbers(table.numeric, rounding, fixed=squared or self.variance == "fixed")
        if squared:
            return numbers, Indicators(table.codes, levels)
        return numbers, Categories(table.codes, levels, PRINTED_SMOOTHING if self.as_printed else SMOOTHING)

    def _by_algorithm_1(
        self, rows: PrintedCraft, first: Start, n_different: Callable[[], int], rng: np.random.Generator
    ) -> End:
        """The best of the starts from random rows."""
        wanted = self.n_clusters_hint
        if wanted is not None:
            refuse_more_than(n_different(), wanted, rows.n_objects)
        told = checked_penalty(self.penalty) if wanted is None else None
        starts = [np.random.default_rng(rng.integers(2**63, size=4)) for _ in range(self.n_init)]
        return best_printed(rows, starts, told, wanted, self.max_iter, self._each)

    def _opening(self, costs: SelectedColumns) -> SelectedColumns:
        """Costs with a fixed budget: of labels that mean nothing yet no column pays."""
        n_chosen = n_selected(self.n_features_to_select, costs.n_columns)
        return costs if self.budget == "fixed" else costs.choosing(SoMany(n_chosen))

    def _descent(self, costs: Any, start: Start) -> Descent[Subspaces]:
        first = super()._descent(self._opening(costs), start)
        if self.budget == "fixed":
            return first
        return descend(costs, self._chosen_anew(costs, first), max_iter=self.max_iter)

    def _settled(self, costs: Any, clusters: Any) -> End:
        first = super()._settled(self._opening(costs), clusters)
        if self.budget == "fixed":
            return first
        return super()._settled(costs, self._chosen_anew(costs, first[1]))

    def _chosen_anew(self, costs: SelectedColumns, first: Descent[Subspaces]) -> Subspaces:
        """The clusters that a fixed budget has led to, with every column that pays or is within the thresholds."""
        start = costs.fitted(first.labels, first.n_clusters)
        if self.gain_threshold is None and self.variance_threshold is None:
            start = with_single_flips(costs, first.labels, start)
        return start

    def _keep(self, costs: Any, end: Descent[Subspaces]) -> None:
        if self.as_printed:
            order = largest_first(end.labels, np.ones(end.labels.size), end.n_clusters)
            self.labels_, self._clusters_ = np.argsort(order)[end.labels], end.clusters.taken(order)
        else:
            self.labels_, self._clusters_ = by_size(costs, end.labels, end.clusters)
        self._costs_, self.n_clusters_ = costs, end.n_clusters
        self._note(end)

    def _note_single_rows(self) -> None:
        """Warn of a penalty so small that most rows are clusters of their own."""
        n_single = int((np.bincount(self.labels_) == 1).sum())
        if self.penalty != "auto" and self.n_clusters_ > 1 and 2 * n_single > self.labels_.size:
            warnings.warn(
                f"At the penalty {self.penalty_:.4g}, {n_single} of {self.labels_.size} rows are clusters of their "
                "own: raise it, or say n_clusters_hint.",
                UserWarning,
                stacklevel=3,
            )

    def _keep_features(self) -> None:
        """Put what clusters have chosen, and what they gain by it, into the order of the columns of X."""
        places = _places(self._table)
        gains = self._costs_.gains(self.labels_, self._clusters_) / np.bincount(self.labels_)[:, None]
        self.features_ = np.zeros((self.n_clusters_, len(self._table.names)), bool)
        self.gains_ = np.zeros(self.features_.shape)
        self.features_[:, places], self.gains_[:, places] = self._clusters_.chosen, gains

    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        header, arrays = super()._contents()
        header[self._layout.kind]["penalty"] = self.penalty_
        return header, arrays | arrays_of(self._clusters_) | {"labels": self.labels_, "path": self.objective_path_}

    @classmethod
    def _from_contents(cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Any:
        estimator = super()._from_contents(header, arrays)
        estimator._check_options()
        estimator._restore(float(header[cls._layout.kind]["penalty"]), arrays)
        return estimator

    def _restore(self, penalty: float, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what a file holds of a fit to the table; what does not fit it is refused."""
        self.penalty_, self.labels_, self.objective_path_ = penalty, arrays["labels"], arrays["path"]
        self._costs_ = self._costs(self._table).with_penalty(penalty)
        self._clusters_ = clusters_from(arrays, self._costs_.blocks)
        self.n_clusters_ = len(self._clusters_.chosen)
        if np.unique(self.labels_).size != self.n_clusters_:
            raise ValueError("some clusters have no rows")
        if not self.objective_path_.size:
            raise ValueError("there is no objective")
        self.objective_, self.n_iter_ = float(self.objective_path_[-1]), self.objective_path_.size
        self._keep_features()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def zeros_and_ones(table: Table) -> list[str]:
    """The names of the columns of numbers that hold nothing but 0 and 1."""
    cells = table.to_units(table.numeric)
    near = np.abs(cells - (cells > 0.5)) < NEAR  # they were put into other units and back
    binary = (near | np.isnan(cells)).all(axis=0)
    return [column.name for column, is_binary in zip(table.schema.numeric, binary) if is_binary]


def _places(table: Table) -> np.ndarray:
    """Where in X the columns of numbers are, and those of categories after them."""
    place = {name: i for i, name in enumerate(table.names)}
    return np.array([place[c.name] for c in (*table.schema.numeric, *table.schema.categorical)], dtype=np.int64)
