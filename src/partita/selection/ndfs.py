"""NDFS: the columns that tell clusters which are found together with them."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import solve
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from partita.parameters import check_random_state, is_number, whole_number
from partita.selection.selector import Selector
from partita.spectral import components, embed, labels_from_embedding, spectrum
from partita.spectral.affinity import MOST_CELLS

OUTSIDE = 0.1
"""What a row has of every other cluster at the start, where it has 1 of its own: a product never moves a zero."""

LEAST = 1e-100
"""Of an indicator: what is less could not be told from zero, from which nothing comes back."""

ROUNDING = 1e-13
"""Least ridge, relative to the trace of the matrix that it is added to."""


class NDFS(Selector):
    """Nonnegative Discriminative Feature Selection: indicators of clusters, and the columns that they are linear in.

    Minimises, over indicators F >= 0 (n, K) of ``n_clusters`` clusters and coefficients W (p, K) of the columns X,

        tr(F'LF) + alpha (|XW - F|^2 + beta sum_j |w_j|) + gamma / 2 |F'F - I|^2,    L = D - S,

    where S is 1 where one of two rows is among the ``n_neighbors`` nearest of the other, D is the diagonal of its row
    sums and w_j is the row of W of column j. The score of a column is |w_j|. Columns are put into units of mean 0 and
    standard deviation 1 first.

    Good for: columns that tell compact groups apart. Not for: columns that matter in one group only, which
    `partita.CRAFT` finds; many rows and columns, at min(n, p)^3 per iteration.

    Parameters
    ----------
    n_features_to_select : float or int
        The share of the columns that vary, or how many.
    n_clusters : int
        From 1 to n - 1.
    alpha : float
        What the regression counts beside the graph.
    beta : float
        What coefficients cost: the more, the more columns have none.
    gamma : float
        What it costs that indicators are not orthonormal. The default leaves them at the clusters of the start;
        with 1 they move.
    n_neighbors : int
        Nearest neighbours of a row, itself left out, from 1 to n - 1.
    max_iter : int
    tol : float
        Iterations end where the objective falls by no more than this part of itself.
    random_state : int, RandomState, Generator or None
        For the k-means of the start.

    Attributes
    ----------
    scores_ : (p,) array
        0 for a constant column, which is never selected.
    support_ : (p,) bool
        The columns of the highest scores, ties by the first.
    coefficients_ : (p, n_clusters) array
        W.
    indicators_ : (n, n_clusters) array
        F.
    objective_ : float
    objective_path_ : (n_iter_,) array
        After every iteration; it never rises.
    n_iter_ : int
    n_features_in_, feature_names_in_

    Notes
    -----
    The start is spectral clustering of the graph: 1 / sqrt(n_k) in the cluster of a row, and a tenth of it elsewhere.
    Then both halves in turn, neither of which can raise the objective:

        F <- F * ((S F + alpha P+ + gamma F) / (D F + alpha (F + P-) + gamma F F'F))^(1/4),    P = XW = P+ - P-,
        W <- R (R X'X R + beta I)^-1 R X'F,    R = diag(2 |w_j|)^(1/2).

    The first bounds the powers of F by fourth powers and logarithms (Ding, Li, Peng and Park 2006), the second a length
    by a square. With the paper's M, M F = L F + alpha (F - P), so that the split of M costs no n x n matrix. The
    paper takes the first without the root and divides columns by their lengths, after which the objective may rise.

    Cost of an iteration: n p K, the edges of the graph, and min(n, p)^3. Where min(n, p) is more than 11 585, matrices
    of more than 2^27 cells (1 GiB), it is refused.

    References
    ----------
    Li, Yang, Liu, Zhou and Lu (2012), Unsupervised feature selection using nonnegative spectral analysis. Ding, Li,
    Peng and Park (2006), Orthogonal nonnegative matrix tri-factorizations for clustering.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(60, 5))
    >>> rows[30:, 1] += 6.0
    >>> rows[::2, 3] += 6.0
    >>> NDFS(n_features_to_select=2, n_clusters=4, random_state=0).fit(rows).get_support(indices=True)
    array([1, 3])
    """

    indicators_: np.ndarray
    objective_path_: np.ndarray

    def __init__(
        self,
        *,
        n_features_to_select: float,
        n_clusters: int,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 1e8,
        n_neighbors: int = 5,
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: Any = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_options(self) -> None:
        super()._check_options()
        for name in ("alpha", "beta", "gamma"):
            value = getattr(self, name)
            if not (is_number(value) and value > 0.0):
                raise ValueError(f"{name} must be a positive number, got {value!r}.")
        if not (is_number(self.tol) and self.tol >= 0.0):
            raise ValueError(f"tol must be a number of at least 0, got {self.tol!r}.")
        whole_number("max_iter", self.max_iter, 1)
        check_random_state(self.random_state)

    def _coefficients(self, x: np.ndarray, graph: csr_array, n_chosen: int) -> np.ndarray:
        regress = regression(x, self.beta)
        f = first_indicators(graph, self.n_clusters, self.random_state)
        w = regress(np.ones(x.shape[1]), f)
        path = [self._objective(x, graph, f, w)]
        while len(path) <= self.max_iter:
            f = self._moved(f, x @ w, graph)
            w = regress(2.0 * _lengths(w), f)
            path.append(self._objective(x, graph, f, w))
            if path[-2] - path[-1] <= self.tol * path[-1]:
                break
        else:
            warnings.warn(
                f"The objective still fell after {self.max_iter} iterations: raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.indicators_, self.objective_path_ = f, np.array(path[1:])
        self.objective_, self.n_iter_ = path[-1], len(path) - 1
        return w

    def _moved(self, f: np.ndarray, linear: np.ndarray, graph: csr_array) -> np.ndarray:
        """The indicators after one product."""
        degrees = graph.sum(axis=1)[:, None]
        more = graph @ f + self.alpha * np.maximum(linear, 0.0) + self.gamma * f
        less = (degrees + self.alpha) * f + self.alpha * np.maximum(-linear, 0.0) + self.gamma * (f @ (f.T @ f))
        return np.maximum(f * (more / less) ** 0.25, LEAST)

    def _objective(self, x: np.ndarray, graph: csr_array, f: np.ndarray, w: np.ndarray) -> float:
        degrees = graph.sum(axis=1)[:, None]
        cut = np.sum(f * (degrees * f - graph @ f))
        fit = np.square(x @ w - f).sum() + self.beta * _lengths(w).sum()
        return float(cut + self.alpha * fit + self.gamma / 2.0 * np.square(f.T @ f - np.eye(f.shape[1])).sum())

    @staticmethod
    def _scores(coefficients: np.ndarray) -> np.ndarray:
        return _lengths(coefficients)


def first_indicators(graph: csr_array, n_clusters: int, random_state: Any) -> np.ndarray:
    """Spectral clusters as columns of about length 1, without zeros (n, K)."""
    found = spectrum(graph, components(graph), n_clusters, normalised=True)
    labels = labels_from_embedding(embed(found, n_clusters, "sym"), n_clusters, random_state)
    member = np.where(labels[:, None] == np.arange(n_clusters), 1.0, OUTSIDE)
    return member / np.sqrt(np.square(member).sum(axis=0))


def regression(x: np.ndarray, beta: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A function of squares r (p,) and targets F: the W of least |XW - F|^2 + beta sum_j |w_j|^2 / r_j.

    The matrix to solve is p x p or n x n, whichever is smaller: R (R X'X R + beta I)^-1 R X' = R^2 X' (X R^2 X' +
    beta I)^-1.
    """
    n, p = x.shape
    size = min(n, p)
    if size * size > MOST_CELLS:
        raise ValueError(
            f"NDFS of {n:,} rows and {p:,} columns solves a dense matrix of {size:,} x {size:,} cells, "
            f"{8 * size * size / 2**30:.1f} GiB, more than 1 GiB: use MCFS, or fewer columns."
        )
    if p > n:
        return lambda squares, f: squares[:, None] * (x.T @ _solve((x * squares) @ x.T, beta, f))
    gram = x.T @ x

    def from_gram(squares: np.ndarray, f: np.ndarray) -> np.ndarray:
        root = np.sqrt(squares)[:, None]
        return root * _solve(root * gram * root.T, beta, root * (x.T @ f))

    return from_gram


def _solve(matrix: np.ndarray, ridge: float, target: np.ndarray) -> np.ndarray:
    """(matrix + ridge I)^-1 target, the ridge no less than the rounding of a matrix that may be singular."""
    least = ROUNDING * float(np.trace(matrix))
    return solve(matrix + max(ridge, least) * np.eye(len(matrix)), target, assume_a="pos")


def _lengths(w: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(w).sum(axis=1))
