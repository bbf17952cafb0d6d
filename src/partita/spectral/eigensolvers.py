"""The smallest eigenpairs of one connected graph's Laplacian: dense, by Lanczos, or by a factorisation."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import LinearOperator, eigsh, splu

DENSE_SIZE = 500
"""Objects up to which all is done densely."""

TOLERANCES = {True: 1e-10, False: 3e-9}
"""Residual of an eigenpair, relative to the largest eigenvalue of the operator that is iterated, for long graphs and
for others: an inverse has a far larger one."""

MISSED = 1e-8
"""Relative excess from which an eigenvalue outside of those found is one that was missed."""

KRYLOV_SIZES = {True: 20, False: 40}
"""Least number of Lanczos vectors, for long graphs and for others: plain Lanczos with fewer restarts often."""

LONG = 50
"""A graph is long when its mean profile width, in the Cuthill-McKee order, is at most this part of its objects."""

WIDEST = 5000
"""Mean profile width above which a factorisation is not tried."""

SHIFT = 1e-5
"""What is added to the diagonal before factorising, relative to its mean."""


def smallest_eigenpairs(laplacian: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest eigenvalues, ascending, and their orthonormal eigenvectors as columns.

    Up to 500 objects, or a third of them wanted: LAPACK. Otherwise ARPACK, in one of two ways. A *long* graph
    (neighbours on a curve or surface) has tiny eigenvalues, which plain Lanczos needs thousands of steps to tell
    apart, but narrow cuts, so that its factorisation stays sparse: shift-invert. A *compact* graph (neighbours in
    many dimensions) has a factorisation with about n^2 entries and eigenvalues well apart: plain Lanczos on c I - L.
    The profile of the reverse Cuthill-McKee order tells the two apart in linear time (George and Liu 1981).

    One-vector Lanczos may miss copies of a multiple eigenvalue; what was found is deflated and the next eigenvalue
    computed until none that is smaller is left. The start vector is fixed.

    Parameters
    ----------
    laplacian : (n, n) array or sparse array
        Symmetric, positive semi-definite.
    k : int
        1 to n.
    """
    n = laplacian.shape[0]
    if n <= DENSE_SIZE or 3 * k >= n:
        full = laplacian.toarray() if issparse(laplacian) else laplacian
        return eigh(full, subset_by_index=[0, k - 1])
    long = _is_long(laplacian)
    operator, value = _shift_invert(laplacian) if long else _reversed(laplacian)
    transformed, vectors = _all_largest(operator, k, min(n, max(2 * k + 1, KRYLOV_SIZES[long])), TOLERANCES[long])
    values = value(transformed)
    order = np.argsort(values, kind="stable")
    return values[order], vectors[:, order]


def _is_long(laplacian: Any) -> bool:
    if not issparse(laplacian):
        return False
    graph = csr_array(laplacian)
    n = graph.shape[0]
    place = np.empty(n, dtype=np.int64)
    place[reverse_cuthill_mckee(graph, symmetric_mode=True)] = np.arange(n)
    width = place - np.minimum.reduceat(place[graph.indices], graph.indptr[:-1])
    return bool(width.mean() <= min(n / LONG, WIDEST))


def _shift_invert(laplacian: Any) -> tuple[LinearOperator, Callable[[np.ndarray], np.ndarray]]:
    """The inverse of L + s I, and how its eigenvalues become those of L."""
    n = laplacian.shape[0]
    shift = SHIFT * laplacian.diagonal().mean()
    shifted = laplacian.tocsc(copy=True)
    shifted.setdiag(shifted.diagonal() + shift)
    factors = splu(
        shifted,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return LinearOperator((n, n), factors.solve, dtype=np.float64), lambda inverse: 1.0 / inverse - shift


def _reversed(laplacian: Any) -> tuple[LinearOperator, Callable[[np.ndarray], np.ndarray]]:
    """c I - L with c the largest possible eigenvalue, and how its eigenvalues become those of L."""
    n = laplacian.shape[0]
    bound = 2.0 * laplacian.diagonal().max()
    return LinearOperator((n, n), lambda x: bound * x - laplacian @ x, dtype=np.float64), lambda rest: bound - rest


def _all_largest(operator: LinearOperator, k: int, krylov_size: int, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenpairs of a positive operator, none left out."""
    n = operator.shape[0]
    rng = np.random.default_rng(0)
    values, vectors = eigsh(operator, k, which="LA", v0=rng.uniform(-1.0, 1.0, n), ncv=krylov_size, tol=tol)

    def without_found(x: np.ndarray) -> np.ndarray:
        return operator.matvec(x) - vectors @ (values * (vectors.T @ x))

    rest = LinearOperator((n, n), without_found, dtype=np.float64)
    while True:
        start = rng.uniform(-1.0, 1.0, n)  # a new one: what the first start found is all that it can find
        (most,), _ = eigsh(rest, 1, which="LA", v0=start, tol=1e-3)
        least = int(values.argmin())
        if most <= values[least] * (1.0 + MISSED):
            return values, vectors
        (values[least],), found = eigsh(rest, 1, which="LA", v0=start, tol=tol)
        vectors[:, least] = found[:, 0]
