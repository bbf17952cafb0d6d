"""What selectors of columns share: their options, the graph of neighbours, and how scores become a choice."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.validation import check_is_fitted

from partita.means.n_selected import n_selected
from partita.parameters import whole_number
from partita.selection.columns import finite_numbers, in_units


class Selector(SelectorMixin, BaseEstimator):
    """A method brings scores of the columns; the highest are selected, ties by the first column."""

    n_features_to_select: float
    n_clusters: int
    n_neighbors: int
    scores_: np.ndarray
    support_: np.ndarray

    def fit(self, X: Any, y: Any = None) -> Self:
        """Score the columns of X, and select the highest.

        Parameters
        ----------
        X : (n, p) table of numbers
            An array or a frame, without missing cells.
        y : ignored
        """
        self._check_options()
        cells = finite_numbers(self, X)
        for name in ("n_clusters", "n_neighbors"):
            _refuse_as_many(name, getattr(self, name), len(cells))
        x, varies = in_units(cells)
        n_chosen = n_selected(self.n_features_to_select, x.shape[1])
        coefficients = self._coefficients(x, nearest_graph(x, self.n_neighbors), n_chosen)
        self.coefficients_ = np.zeros((varies.size, coefficients.shape[1]))
        self.coefficients_[varies] = coefficients
        self.scores_ = self._scores(self.coefficients_)
        self.support_ = highest(self.scores_, varies, n_chosen)
        return self

    @abstractmethod
    def _coefficients(self, x: np.ndarray, graph: csr_array, n_chosen: int) -> np.ndarray:
        """What each of the columns (n, p) says of each cluster or eigenvector (p, m)."""

    @staticmethod
    @abstractmethod
    def _scores(coefficients: np.ndarray) -> np.ndarray:
        """One number for each row (p,) of them."""

    def _check_options(self) -> None:
        whole_number("n_clusters", self.n_clusters, 1)
        whole_number("n_neighbors", self.n_neighbors, 1)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_


def nearest_graph(x: np.ndarray, n_neighbors: int) -> csr_array:
    """The affinities (n, n): 1 where one of two rows is among the other's nearest, itself left out, and 0 elsewhere."""
    near = kneighbors_graph(x, n_neighbors, include_self=False)
    return csr_array(near.maximum(near.T))


def highest(scores: np.ndarray, varies: np.ndarray, n_chosen: int) -> np.ndarray:
    """The mask of the highest scores, of columns that vary."""
    order = np.argsort(np.where(varies, -scores, np.inf), kind="stable")
    support = np.zeros(scores.size, bool)
    support[order[:n_chosen]] = True
    return support


def _refuse_as_many(name: str, value: int, n: int) -> None:
    if value >= n:
        raise ValueError(f"{name} must be a whole number from 1 to {n - 1}, of {n} rows, got {value!r}.")
