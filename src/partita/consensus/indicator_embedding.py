"""Objects as points, from the spectrum of the graph that joins every object to the clusters it is in.

The graph has one side for objects and one for clusters, so that nothing of the size n x n is ever made.
"""

import warnings

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import svds
from sklearn.cluster import k_means
from sklearn.exceptions import ConvergenceWarning

from partita.consensus.ensemble import parts_of
from partita.partitions import largest_first

DENSE_SIZE = 2000
"""Objects or clusters, whichever are fewer, up to which all is done densely."""

STARTS = 10
"""Of k-means, of which the best counts."""

LEAST_VALUE = 1e-6
"""Singular values below this are rounding: the largest is 1, and they are roots of eigenvalues."""


def embed(
    indicators: csr_array,
    row_weights: np.ndarray,
    n_vectors: int,
    member_weights: np.ndarray | None = None,
    *,
    transferred: bool = False,
) -> np.ndarray:
    """The leading left singular vectors of the normalised indicator matrix, as columns.

    Of B = D_r^-1/2 W^1/2 H C^1/2 D_c^-1/2, with W the weights of rows, C those of columns, D_r = diag(H C 1) the
    degrees of objects and D_c = diag(H' W 1) the sizes of clusters. The graph that joins every object to the clusters
    it is in has these vectors for its smallest normalised cut (Dhillon 2001). With weights C = D_c they are those of
    co-association H H': D_r is then the degrees of that matrix, and B = D_r^-1/2 W^1/2 H.

    A row of weight w stands for w equal objects, of which each has 1 / sqrt(w) of the row's entry. Every component of
    the graph is solved alone, so that each vector is zero outside of one component. If there are more components than
    vectors, the largest are shown and the others are zero; so are vectors beyond the rank.

    Parameters
    ----------
    indicators : (n_rows, n_columns) csr array
        H: 1 where a row is in a cluster. Rows have one at least; empty columns say nothing.
    row_weights : (n_rows,) array
        Objects that a row stands for.
    n_vectors : int
    member_weights : (n_columns,) array, optional
        Weight of every cluster of every member, above 0; by default 1.
    transferred : bool
        Whether vectors count by their singular values, as in the transfer cut, which carries right singular vectors
        over to the objects, B v = sigma u.

    Returns
    -------
    vectors : (n_rows, n_vectors) array

    Notes
    -----
    Deterministic: eigenvectors of the smaller of B'B and BB', by LAPACK, or, where both are larger than 2000 x 2000, by
    Lanczos on B itself. Cost: O(n M^2) for B'B of n rows with M labels each, and that of its eigenvectors.

    References
    ----------
    Dhillon (2001), Co-clustering documents and words using bipartite spectral graph partitioning. Fern and Brodley
    (2004), Solving cluster ensemble problems by bipartite graph partitioning. Li, Wu and Chang (2012), Segmentation
    using superpixels: a bipartite graph partitioning approach (the transfer cut).

    Examples
    --------
    >>> H = csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> abs(embed(H, np.array([1, 1, 4]), 2)).round(2)
    array([[0.  , 0.71],
           [0.  , 0.71],
           [1.  , 0.  ]])
    """
    matrix = _normalised(indicators, row_weights, member_weights)
    part_of_row = parts_of(matrix)
    shown = largest_first(part_of_row, row_weights, part_of_row.max() + 1)[:n_vectors]
    vectors = np.zeros((matrix.shape[0], n_vectors))
    found = []
    for part in shown:
        rows = np.flatnonzero(part_of_row == part)
        values, columns = _leading(matrix[rows], n_vectors - len(shown) + 1)
        found += [(value, rows, column) for value, column in zip(values, columns.T)]
    best = sorted(found, key=lambda pair: -pair[0])[:n_vectors]
    for place, (value, rows, column) in enumerate(best):
        vectors[rows, place] = value * column if transferred else column
    return vectors


def spectral_cut(
    indicators: csr_array,
    row_weights: np.ndarray,
    n_clusters: int,
    rng: np.random.Generator,
    member_weights: np.ndarray | None = None,
    *,
    transferred: bool = False,
) -> np.ndarray:
    """Labels of rows: k-means of all their objects on the embedding, points scaled to length 1; 0 is the largest.

    Rows of components that are not shown, since there are more components than clusters, join the largest cluster. See
    `embed` for the parameters; Ng, Jordan and Weiss (2001) for the scaling.

    Examples
    --------
    >>> H = csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> spectral_cut(H, np.array([1, 1, 4]), 2, np.random.default_rng(0))
    array([1, 1, 0])
    """
    points = embed(indicators, row_weights, n_clusters, member_weights, transferred=transferred)
    lengths = np.linalg.norm(points, axis=1)
    shown = lengths > 0.0  # all rows of a component have an entry in its first vector, none of which is 0
    scaled = points[shown] / lengths[shown, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # points may coincide: the estimator says so
        seed = int(rng.integers(2**31 - 1))
        _, found, _ = k_means(scaled, n_clusters, sample_weight=row_weights[shown], n_init=STARTS, random_state=seed)
    labels = np.full(shown.size, np.bincount(found, row_weights[shown]).argmax())
    labels[shown] = found
    order = largest_first(labels, row_weights, n_clusters)
    return np.argsort(order)[labels]


def _normalised(indicators: csr_array, row_weights: np.ndarray, member_weights: np.ndarray | None) -> csr_array:
    """B, without its empty columns."""
    sizes = indicators.T @ row_weights
    columns = np.flatnonzero(sizes)
    H = indicators[:, columns]
    weights = np.ones(columns.size) if member_weights is None else member_weights[columns]
    of_rows = diags_array(np.sqrt(row_weights / (H @ weights)))
    return csr_array(of_rows @ H @ diags_array(np.sqrt(weights / sizes[columns])))


def _leading(matrix: csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Leading singular values and left singular vectors of a connected graph's B, k or as many as its rank."""
    matrix = matrix[:, np.unique(matrix.indices)]
    values, vectors = _singular(matrix, k)
    values[0] = 1.0  # of every component, and no rounding may decide which is shown
    seen = values > LEAST_VALUE
    return values[seen], vectors[:, seen]


def _singular(matrix: csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest singular values, or all, and their left vectors; those of values of 0 are none."""
    smaller = min(matrix.shape)
    if smaller > DENSE_SIZE:
        start = np.random.default_rng(0).uniform(-1.0, 1.0, smaller)
        left, values, _ = svds(matrix, k=min(k, smaller - 1), v0=start)
        order = np.argsort(-values)
        return values[order], left[:, order]
    tall = matrix.shape[0] > smaller
    square = (matrix.T @ matrix if tall else matrix @ matrix.T).toarray()
    shares, vectors = eigh(square, subset_by_index=[max(0, smaller - k), smaller - 1])
    values, vectors = np.sqrt(np.maximum(shares[::-1], 0.0)), vectors[:, ::-1]
    return values, matrix @ vectors / np.maximum(values, LEAST_VALUE) if tall else vectors
