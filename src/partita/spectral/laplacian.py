"""The spectrum of a graph: its components, and the smallest eigenpairs of its Laplacian."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.csgraph import laplacian as graph_laplacian

from partita.partitions import by_size
from partita.spectral.eigensolvers import smallest_eigenpairs


class Components(NamedTuple):
    """The connected components of a graph, the largest first, ties by their first object.

    Attributes
    ----------
    labels : (n,) int array
        The component of every object.
    sizes : (n_components,) int array
        Decreasing.
    """

    labels: np.ndarray
    sizes: np.ndarray


class Spectrum(NamedTuple):
    """The smallest eigenpairs of a graph Laplacian.

    Attributes
    ----------
    values : (m,) array
        Ascending, exactly 0 once per component.
    vectors : (n, m) array
        Orthonormal columns, each of them zero outside of one component. For a normalised Laplacian, eigenvectors of
        the symmetric form.
    scale : (n,) array
        Square roots of the degrees for a normalised Laplacian (1 for an isolated object), ones otherwise: ``vectors``
        divided by it are eigenvectors of I - D^-1 W.
    mean : float
        The mean of all n eigenvalues: the mean degree, or for a normalised Laplacian the share of objects that are
        not isolated.
    """

    values: np.ndarray
    vectors: np.ndarray
    scale: np.ndarray
    mean: float


def components(affinity: Any) -> Components:
    """Connected components; edges below the rounding error of the degrees they join are no edges.

    An edge is dropped when w_ij <= eps sqrt(d_i d_j): no eigenvalue in double precision shows it. Cost O(edges).

    Examples
    --------
    >>> import numpy as np
    >>> components(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])).labels
    array([0, 0, 1])
    """
    degrees = np.asarray(affinity.sum(axis=1), dtype=np.float64).ravel()
    roots = np.sqrt(degrees) * np.sqrt(np.finfo(np.float64).eps)
    if issparse(affinity):
        edges = affinity.tocoo()
        seen = edges.data > roots[edges.row] * roots[edges.col]
        edges = csr_array((seen[seen], (edges.row[seen], edges.col[seen])), shape=affinity.shape)
    else:
        edges = csr_array(affinity > roots[:, None] * roots)
    _, found = connected_components(edges, directed=False)
    labels = by_size(found)
    return Components(labels, np.bincount(labels))


def spectrum(affinity: Any, parts: Components, m: int, *, normalised: bool) -> Spectrum:
    """The m smallest eigenpairs of L = D - W, or of D^-1/2 L D^-1/2 (which has the eigenvalues of I - D^-1 W).

    The spectrum of a graph is the union of its components' spectra, so every component is solved alone: zeros are
    exact and as many as there are components. With C components at most m - C + 1 eigenvalues of one are among the m
    smallest, and if C >= m none has to be computed. An object's similarity to itself counts for nothing. Cost: that
    of `smallest_eigenpairs`.

    Parameters
    ----------
    affinity : (n, n) array or csr array
        Symmetric, not negative.
    parts : Components
        Of this graph, see `components`.
    m : int
        1 to n.
    normalised : bool

    References
    ----------
    von Luxburg (2007), A tutorial on spectral clustering, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.spectral import components
    >>> graph = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> spectrum(graph, components(graph), 3, normalised=True).values
    array([0., 0., 2.])
    """
    matrix, scale = graph_laplacian(affinity, normed=normalised, return_diag=True)
    scale = np.asarray(scale, dtype=np.float64) if normalised else np.ones(matrix.shape[0])
    matrix = csr_array(matrix) if issparse(matrix) else matrix
    pairs = [_of_part(matrix, scale, parts, c, m) for c in range(min(parts.sizes.size, m))]
    values = np.concatenate([values for values, _, _ in pairs])
    chosen = np.argsort(values, kind="stable")[:m]
    vectors = np.zeros((matrix.shape[0], m))
    column = 0
    place = np.full(values.size, -1)
    place[chosen] = np.arange(m)
    for part_values, part_vectors, members in pairs:
        target = place[column : column + part_values.size]
        kept = target >= 0
        vectors[np.ix_(members, target[kept])] = part_vectors[:, kept]
        column += part_values.size
    return Spectrum(values[chosen], vectors, scale, float(matrix.diagonal().mean()))


def _of_part(
    matrix: Any, scale: np.ndarray, parts: Components, c: int, m: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues, eigenvectors and objects of one component."""
    members = np.flatnonzero(parts.labels == c)
    wanted = min(members.size, m - min(parts.sizes.size, m) + 1)
    if wanted == 1:
        constant = scale[members] / np.linalg.norm(scale[members])
        return np.zeros(1), constant[:, None], members
    alone = matrix if members.size == matrix.shape[0] else matrix[members][:, members]
    values, vectors = smallest_eigenpairs(alone, wanted)
    values = np.maximum(values, 0.0)
    values[0] = 0.0
    return values, vectors, members
