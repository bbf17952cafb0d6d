"""From a spectrum to points, and from points to labels."""

import warnings
from typing import Any

import numpy as np
from sklearn.cluster import k_means
from sklearn.exceptions import ConvergenceWarning

from partita.parameters import seed_from
from partita.partitions import by_size
from partita.spectral.laplacian import Spectrum

LAPLACIANS = {"sym": True, "rw": True, "unnormalized": False}
"""The names of the Laplacians, and whether they are normalised."""


def embed(found: Spectrum, n_clusters: int, laplacian: str) -> np.ndarray:
    """Every object as a point in ``n_clusters`` dimensions: its entries in the first eigenvectors.

    "unnormalized": of L = D - W. "rw": of I - D^-1 W, that is of the symmetric form, divided by the square root of the
    degree (Shi and Malik 2000). "sym": of I - D^-1/2 W D^-1/2, every row scaled to length 1 (Ng, Jordan and Weiss
    2001); a row of zeros, an object outside of the chosen components, stays.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.spectral import components, spectrum
    >>> graph = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> embed(spectrum(graph, components(graph), 2, normalised=True), 2, "sym")
    array([[1., 0.],
           [1., 0.],
           [0., 1.]])
    """
    points = found.vectors[:, :n_clusters]
    if laplacian == "unnormalized":
        return points.copy()
    if laplacian == "rw":
        return points / found.scale[:, None]
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.where(lengths > 0.0, lengths, 1.0)


def labels_from_embedding(points: np.ndarray, n_clusters: int, random_state: Any) -> np.ndarray:
    """k-means (scikit-learn's, the best of 10 starts) on the points; 0 is the largest cluster, ties by first object.

    Points at the origin are objects outside of the components that the embedding shows: k-means does not see them,
    and they join the largest cluster.

    Examples
    --------
    >>> import numpy as np
    >>> labels_from_embedding(np.array([[0.0, 1.0], [0.1, 1.0], [0.2, 1.0], [1.0, 0.0]]), 2, random_state=0)
    array([0, 0, 0, 1])
    """
    shown = points.any(axis=1)
    labels = np.zeros(points.shape[0], dtype=np.int64)
    if n_clusters > 1:
        seed = int(seed_from(random_state).generate_state(1)[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # points may coincide: the estimator says so
            _, found, _ = k_means(points[shown], n_clusters, n_init=10, random_state=seed)
        labels[shown] = by_size(found)
    return by_size(labels)
