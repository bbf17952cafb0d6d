"""MCFS: the columns by which eigenvectors of a graph of neighbours can be told."""

import warnings

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path

from partita.selection.selector import Selector
from partita.spectral import components, embed, spectrum

COMPLETE = 1e-10
"""Part of the first correlation at which a regression is complete, and of the largest coefficient that is rounding."""

DOUBLINGS = 4
"""How often a path that took too few steps is taken again with twice as many."""


class MCFS(Selector):
    """Multi-Cluster Feature Selection: the columns of sparse regressions on the eigenvectors of a graph.

    W is 1 where one of two rows is among the ``n_neighbors`` nearest of the other, D the diagonal of its row sums and
    L = D - W. Each of the ``n_clusters`` smallest solutions of L y = lambda D y after the constant one, with y'Dy = 1,
    is regressed on the columns: the lasso, at the least angle regression's first knot with as many coefficients as
    columns are wanted. The score of column j is max_k |a_kj|, its largest coefficient.

    Columns are put into units of mean 0 and standard deviation 1 first.

    Good for: columns by which groups of any shape differ, fast. Not for: columns that matter in one group only, which
    `partita.CRAFT` finds; much noise, which decides who is a neighbour where most columns are noise.

    Parameters
    ----------
    n_features_to_select : float or int
        The share of the columns that vary, or how many.
    n_clusters : int
        How many eigenvectors, from 1 to n - 1: as many as there are clusters, says the paper.
    n_neighbors : int
        Nearest neighbours of a row, itself left out, from 1 to n - 1.

    Attributes
    ----------
    scores_ : (p,) array
        0 for a constant column, which is never selected.
    support_ : (p,) bool
        The columns of the highest scores, ties by the first.
    coefficients_ : (p, m) array
        Of the regressions, one for each of the m eigenvectors.
    n_features_in_, feature_names_in_

    Notes
    -----
    A graph of several components has as many solutions with lambda = 0: the indicators of components, of which none is
    constant. They stand for the constant one and those that follow it, so that there are ``n_clusters`` + 1
    regressions, on the largest components first.

    Cost: that of the neighbours and of the eigenvectors of a sparse graph (`partita.spectral`), n p^2 once where n > p,
    and about n p + d^2 for each of d columns and each eigenvector. Nothing of the size n x n is made.

    References
    ----------
    Cai, Zhang and He (2010), Unsupervised feature selection for multi-cluster data. Efron, Hastie, Johnstone and
    Tibshirani (2004), Least angle regression.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(60, 5))
    >>> rows[30:, 1] += 6.0
    >>> rows[::2, 3] += 6.0
    >>> MCFS(n_features_to_select=2, n_clusters=4).fit(rows).get_support(indices=True)
    array([1, 3])
    """

    def __init__(self, *, n_features_to_select: float, n_clusters: int, n_neighbors: int = 5):
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors

    def _coefficients(self, x: np.ndarray, graph: csr_array, n_chosen: int) -> np.ndarray:
        length = np.sqrt(len(x))
        x = x / length
        gram = x.T @ x if x.shape[0] > x.shape[1] else None
        vectors = eigenvectors(graph, self.n_clusters)
        return np.column_stack([sparse_regression(x, y, gram, n_chosen) for y in vectors.T]) / length

    @staticmethod
    def _scores(coefficients: np.ndarray) -> np.ndarray:
        return np.abs(coefficients).max(axis=1)


def eigenvectors(graph: csr_array, n_clusters: int) -> np.ndarray:
    """The smallest solutions of L y = lambda D y that are not constant, as columns with y'Dy = 1."""
    parts = components(graph)
    smallest = embed(spectrum(graph, parts, n_clusters + 1, normalised=True), n_clusters + 1, "rw")
    return smallest[:, 1:] if parts.sizes.size == 1 else smallest


def sparse_regression(x: np.ndarray, y: np.ndarray, gram: np.ndarray | None, n_nonzero: int) -> np.ndarray:
    """Coefficients (p,) on columns of mean 0 and length 1 at the first knot of the lasso path that has so many.

    Where the path ends with fewer, as of columns that others make up, they are those of its end.
    """
    y = y - y.mean()
    least = COMPLETE * np.abs(x.T @ y).max() / y.size
    for n_steps in n_nonzero * 2 ** np.arange(DOUBLINGS):  # a coefficient that returns to zero costs two steps
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a column that others make up gets no coefficient
            path = lars_path(x, y, Gram=gram, max_iter=n_steps, alpha_min=least, method="lasso")[2]
        n_found = np.count_nonzero(np.abs(path) > COMPLETE * np.abs(path).max(), axis=0)
        if n_found.max() >= n_nonzero or path.shape[1] <= n_steps:
            break
    knot = int(np.argmax(n_found >= n_nonzero)) if n_found.max() >= n_nonzero else -1
    return np.where(np.abs(path[:, knot]) > COMPLETE * np.abs(path).max(), path[:, knot], 0.0)
