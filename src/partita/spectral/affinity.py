"""Who is similar to whom: from a table, a function or a given matrix to a weighted graph."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from partita.parameters import is_number

MOST_CELLS = 2**27
"""Cells of the largest dense affinity matrix: 1 GiB."""

ROUNDING = 1e-8
"""Asymmetry, relative to the largest affinity, that passes for rounding."""


def neighbour_graph(X: Any, n_neighbors: int) -> csr_array:
    """The graph of the nearest neighbours, 0.5 (A + A'): 1 where both rows are near each other, 0.5 where only one is.

    A is scikit-learn's ``kneighbors_graph``, in which every row is its own first neighbour.
    """
    n = X.shape[0]
    if n_neighbors > n:
        warnings.warn(
            f"n_neighbors={n_neighbors} is more than there are rows ({n}): every two of them are neighbours.",
            UserWarning,
            stacklevel=4,
        )
    near = kneighbors_graph(X, min(n_neighbors, n), include_self=True)
    return csr_array(0.5 * (near + near.T))


def rbf_affinity(X: Any, gamma: float | None, n_neighbors: int) -> np.ndarray:
    """exp(-gamma |x - y|^2) for every two rows."""
    refuse_large(X.shape[0], "affinity='rbf'")
    return rbf_kernel(X, gamma=default_gamma(X, n_neighbors) if gamma is None else checked_gamma(gamma))


def default_gamma(X: Any, n_neighbors: int) -> float:
    """1 / s^2, with s the median distance to the n_neighbors-th neighbour; 1 if that is zero.

    The width of the kernel is then that of the neighbourhoods (von Luxburg 2007, section 8.1), not that of the table: a
    width taken from all distances joins clusters whose number is not small.
    """
    n = X.shape[0]
    if n == 1:
        return 1.0
    nearest = NearestNeighbors(n_neighbors=min(n_neighbors, n - 1)).fit(X)
    reach = float(np.median(nearest.kneighbors()[0][:, -1]))
    return 1.0 / reach**2 if reach > 0.0 else 1.0


def checked_gamma(gamma: Any) -> float:
    """A positive number, or a clear refusal."""
    if not (is_number(gamma) and gamma > 0):
        raise ValueError(f"gamma must be None or a positive number, got {gamma!r}.")
    return float(gamma)


def callable_affinity(X: Any, affinity: Callable[..., Any]) -> Any:
    """What the function says: of X, a matrix; or, if it requires two arguments, of every two rows a number."""
    if _required_arguments(affinity) >= 2:
        refuse_large(X.shape[0], "affinity of two rows")
        return given_affinity(pairwise_kernels(X, metric=affinity), what="The affinity function's matrix")
    found = given_affinity(affinity(X), what="The affinity function's matrix")
    if found.shape[0] != X.shape[0]:
        raise ValueError(f"The affinity function made a matrix of {found.shape[0]} rows from {X.shape[0]} rows.")
    return found


def given_affinity(matrix: Any, *, what: str = "The affinity matrix") -> Any:
    """A square, finite, symmetric matrix without negative cells, dense or csr; asymmetry of rounding is averaged."""
    matrix = csr_array(matrix, dtype=np.float64) if issparse(matrix) else np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{what} must be square, a row and a column for every object; its shape is {matrix.shape}.")
    if issparse(matrix):
        matrix.sum_duplicates()
    else:
        refuse_large(matrix.shape[0], what)
    _refuse_cells(matrix, lambda cells: ~np.isfinite(cells), f"{what} must be finite")
    _refuse_cells(matrix, lambda cells: cells < 0.0, f"{what} must not be negative (0 is no similarity at all)")
    return _symmetric(matrix, what)


def refuse_large(n: int, what: str) -> None:
    """Refuse a dense matrix of more than 2^27 cells."""
    if n * n > MOST_CELLS:
        raise ValueError(
            f"{what} needs a dense matrix of {n:,} x {n:,} cells, {8 * n * n / 2**30:.1f} GiB, more than 1 GiB: "
            "use affinity='nearest_neighbors' or a sparse precomputed matrix."
        )


def _required_arguments(function: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # compiled functions may not say
        return 2
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in positional and one.default is inspect.Parameter.empty for one in parameters)


def _refuse_cells(matrix: Any, wrong: Callable[[np.ndarray], np.ndarray], rule: str) -> None:
    count = int(np.count_nonzero(wrong(matrix.data if issparse(matrix) else matrix)))
    if count:
        i, j, value = _first(matrix, wrong)
        raise ValueError(f"{rule}; the first wrong cell of {count:,} is {value} at row {i}, column {j}.")


def _first(matrix: Any, wrong: Callable[[np.ndarray], np.ndarray]) -> tuple[int, int, float]:
    """Row, column and value of the first wrong cell."""
    if issparse(matrix):
        cells = matrix.tocoo()
        at = np.flatnonzero(wrong(cells.data))[0]
        return int(cells.row[at]), int(cells.col[at]), float(cells.data[at])
    i, j = np.argwhere(wrong(matrix))[0]
    return int(i), int(j), float(matrix[i, j])


def _symmetric(matrix: Any, what: str) -> Any:
    difference = abs(matrix - matrix.T)
    largest = float(difference.max()) if matrix.shape[0] else 0.0
    if largest == 0.0:
        return matrix
    if largest > ROUNDING * float(matrix.max()):
        i, j, _ = _first(difference, lambda cells: cells == largest)
        raise ValueError(
            f"{what} must be symmetric; cell ({i}, {j}) is {matrix[i, j]:g} and cell ({j}, {i}) is {matrix[j, i]:g}. "
            "If similarity has a direction, pass 0.5 * (W + W.T)."
        )
    return 0.5 * (matrix + matrix.T)
