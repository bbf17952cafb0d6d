"""What methods have that are models of labels with a number of components: they place new objects and tell labels."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from partita.consensus.canonical_table import CanonicalTable
from partita.consensus.ensemble import Ensemble
from partita.consensus.ensemble_estimator import EnsembleEstimator
from partita.consensus.perplexity import Perplexity
from partita.parameters import is_number, whole_number
from partita.table import Column, Schema, Table
from partita.table.unseen import checked_unseen

MOST_OFF_ONE = 1e-6
"""What shares and weights of a file may lack of a sum of 1."""


class LabelParameters(NamedTuple):
    """Components as they were fitted, columns and their labels in canonical order.

    Attributes
    ----------
    prior : (K,) array
        What the method knows of components before it sees a label.
    shares : (L, K) array
        Of the labels of all columns, one column after the other.
    path : (n_iterations,) array
        What was maximised.
    """

    prior: np.ndarray
    shares: np.ndarray
    path: np.ndarray


class Climbed(NamedTuple):
    """Where a fit has ended, and what it warns of."""

    parameters: LabelParameters
    converged: bool
    n_iter: int
    warnings: tuple[str, ...] = ()


class LabelModel(Perplexity, EnsembleEstimator):
    """A model of labels that is told the number of its components.

    It brings `_climb`, `_memberships` and `_log_predictive`, which take labels by their places among those of all
    columns, everything in canonical order: so objects of fit and new ones are answered to the last bit alike.
    """

    n_components: int
    smoothing: float
    n_init: int
    max_iter: int
    tol: float
    converged_: bool
    n_iter_: int

    _numbers: ClassVar[tuple[str, ...]] = ("converged_", "n_iter_")
    _told_by = "n_components"
    _left_by_fit = (*EnsembleEstimator._left_by_fit, "_parameters", "_clusters", "_places", "_kept_probabilities")
    _parameters: LabelParameters
    _of_kinds: np.ndarray  # (A,) component of every kind of object, until fit has put things back
    _clusters: np.ndarray  # (K,) the label that each component goes by
    _places: tuple[np.ndarray, np.ndarray]  # columns in canonical order, and places there of all labels

    def check(self) -> None:
        """Refuse options outside their range, as `fit` does, without an ensemble."""
        super().check()
        for name in ("n_components", "n_init", "max_iter"):
            whole_number(name, getattr(self, name), 1)
        for name in ("smoothing", "tol"):
            value = getattr(self, name)
            if not (is_number(value) and value >= 0):
                raise ValueError(f"{name} must be a number of at least 0, got {value!r}.")
        checked_unseen(self.unseen)

    @property
    def shares_(self) -> dict[str, np.ndarray]:
        """Name of a column to the shares (n_components, n_labels) of its labels, in the order of ``table_``'s."""
        check_is_fitted(self)
        shares = self._parameters.shares[self._places[1]][:, self._order].T
        ends = np.cumsum(self._table.schema.n_levels)
        return dict(zip(self._table.names, np.split(shares, ends[:-1], axis=1)))

    @property
    def probabilities_(self) -> np.ndarray:
        """`predict_proba` of the objects of fit, (n_objects, n_components); computed when first asked for."""
        check_is_fitted(self)
        if not hasattr(self, "_kept_probabilities"):
            self._kept_probabilities = self._of_rows(self._table, self._memberships)[:, self._order]
        return self._kept_probabilities

    def predict(self, X: Any) -> np.ndarray:
        """The cluster that each object most probably belongs to; of one without any label, the largest.

        Objects of fit are where ``labels_`` has them. Components that hold none of them are passed over.
        """
        table = self._read(X)
        memberships = self._of_rows(table, self._memberships)
        memberships[:, self._clusters >= self.n_clusters_] = -1.0
        return np.where(table.empty_rows, 0, self._clusters[memberships.argmax(axis=1)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """How much each object belongs to every component, (n, n_components): the clusters first, rows sum to 1."""
        return self._of_rows(self._read(X), self._memberships)[:, self._order]

    def score_samples(self, X: Any) -> np.ndarray:
        """Log predictive probability of the labels that each object has, parameters taken as known; 0 where none."""
        return self._of_rows(self._read(X), self._log_predictive)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of ``score_samples``."""
        return float(self.score_samples(X).mean())

    @abstractmethod
    def _climb(self, ensemble: Ensemble, rng: np.random.Generator) -> Climbed:
        """The best parameters that are found."""

    @abstractmethod
    def _memberships(self, position: np.ndarray) -> np.ndarray:
        """How much kinds of objects (A, M) belong to every component, (A, K)."""

    @abstractmethod
    def _log_predictive(self, position: np.ndarray) -> np.ndarray:
        """Log probabilities (A,) of the labels of kinds of objects (A, M)."""

    @abstractmethod
    def _is_prior(self, prior: np.ndarray) -> bool:
        """Whether these numbers, none below 0, can be what a fit leaves."""

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> np.ndarray:
        climbed = self._climb(ensemble, rng)
        self._parameters, self.converged_, self.n_iter_ = climbed[:3]
        for words in climbed.warnings:
            warnings.warn(words, ConvergenceWarning, stacklevel=3)
        self._of_kinds = self._memberships(ensemble.positions).argmax(axis=1)
        return self._of_kinds

    def _put_back(self, ensemble: Ensemble, canonical: CanonicalTable) -> None:
        self._places = canonical.columns, canonical.cells
        component = ensemble.of_objects(self._of_kinds)[canonical.place]
        del self._of_kinds
        seated = component >= 0
        self._clusters = np.full(self._parameters.prior.size, -1)
        self._clusters[component[seated]] = self.labels_[seated]
        others = np.flatnonzero(self._clusters < 0)
        largest = np.argsort(-self._parameters.prior[others], kind="stable")
        self._clusters[others[largest]] = self.n_clusters_ + np.arange(others.size)

    @property
    def _order(self) -> np.ndarray:
        """Components by the labels that they go by."""
        return np.argsort(self._clusters)

    def _of_rows(self, table: Table, answer: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """What is answered of the rows of a table, equal ones once."""
        first, kind = table.distinct_rows()
        columns, cells = self._places
        n_levels, codes = self._table.schema.n_levels, table.codes[first]
        says = (codes >= 0) & (n_levels > 1)  # as `Ensemble.positions` has it
        position = np.where(says, cells[np.maximum(codes, 0) + np.cumsum(n_levels) - n_levels], -1)
        return answer(np.ascontiguousarray(position[:, columns]))[kind]

    def _model_arrays(self) -> dict[str, np.ndarray]:
        prior, shares, path = self._parameters
        return {"prior": prior, "shares": shares[self._places[1]], "path": path, "clusters": self._clusters}

    def _restore_model(self, arrays: Mapping[str, np.ndarray]) -> None:
        if self.converged_ not in (0, 1):
            raise ValueError("converged_ is neither 0 nor 1")
        if not (is_number(self.n_iter_) and self.n_iter_ >= 1 and float(self.n_iter_).is_integer()):
            raise ValueError("n_iter_ is no whole number of at least 1")
        self.converged_, self.n_iter_ = bool(self.converged_), int(self.n_iter_)
        canonical = CanonicalTable(self._table)
        self._places, self._clusters = (canonical.columns, canonical.cells), arrays["clusters"]
        prior, given, path = arrays["prior"], arrays["shares"], arrays["path"]
        n_levels, shares = self._table.schema.n_levels, np.empty_like(given)
        if len(given) != n_levels.sum():
            raise ValueError("there are not as many shares as labels")
        sums = np.add.reduceat(given, np.cumsum(n_levels) - n_levels)
        if not (path.size and self._is_prior(prior) and (abs(sums - 1.0) <= MOST_OFF_ONE).all()):
            raise ValueError("shares or weights do not sum to 1, or there are none")
        if not np.array_equal(np.sort(self._clusters), np.arange(prior.size)) or self.n_clusters_ > prior.size:
            raise ValueError("components do not go by the labels that there are")
        shares[canonical.cells] = given
        self._parameters = LabelParameters(prior, shares, path)


def kinds_table(ensemble: Ensemble) -> Table:
    """The kinds of objects as a table of categorical columns."""
    columns = [Column(f"x{m}", "categorical", tuple(range(n))) for m, n in enumerate(ensemble.n_labels)]
    none = np.empty((ensemble.n_kinds, 0), dtype=np.int64)
    return Table(Schema(tuple(columns)), none.astype(np.float64), ensemble.codes.astype(np.int32), none)
