"""SpectralClustering: the estimator."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from partita.parameters import check_random_state, choose, nearest, whole_number
from partita.spectral.affinity import (
    callable_affinity,
    given_affinity,
    neighbour_graph,
    rbf_affinity,
)
from partita.spectral.eigengap import LOOKED_AT, choose_n_clusters
from partita.spectral.embedding import LAPLACIANS, embed, labels_from_embedding
from partita.spectral.laplacian import Components, components, spectrum
from partita.table.distinct import n_distinct_rows
from partita.wording import count_of, printable_errors

AFFINITIES = ("nearest_neighbors", "rbf", "precomputed")
LARGEST = 1e150
"""Cells whose squares a float can hold."""

STRAY = 10
"""If there are too many components, one counts from this part of an equal share of max_clusters clusters."""


class SpectralClustering(ClusterMixin, BaseEstimator):
    """Clusters of a graph of similarities, from the eigenvectors of its Laplacian; how many, from its eigenvalues.

    With W the affinities, D the diagonal of their row sums and K clusters: embed object i as row i of the first K
    eigenvectors of the Laplacian, and run k-means on these points. An object's affinity to itself counts for nothing.

    Parameters
    ----------
    n_clusters : "eigengap" or int
        "eigengap": where the gap between two eigenvalues is clearest, see `choose_n_clusters`; never fewer than there
        are components.
    laplacian : "sym", "rw" or "unnormalized"
        "sym": I - D^-1/2 W D^-1/2 with rows of the embedding scaled to length 1 (Ng, Jordan and Weiss 2001). "rw":
        I - D^-1 W (Shi and Malik 2000, and scikit-learn). "unnormalized": D - W.
    affinity : "nearest_neighbors", "rbf", "precomputed" or callable
        "nearest_neighbors": a sparse graph, 1 between rows that are among each other's nearest, 0.5 if only one is.
        "rbf": exp(-gamma |x - y|^2), dense. "precomputed": X is W, dense or sparse. A function of two rows gives their
        affinity; one that requires a single argument takes X and gives W.
    n_neighbors : int
        Nearest neighbours of a row, itself included.
    gamma : float, optional
        For "rbf". By default 1 / s^2, s the median distance to the ``n_neighbors``-th neighbour.
    max_clusters : int
        The most clusters that "eigengap" considers; never more than there are different rows.
    random_state : int, RandomState, Generator or None
        For the starts of k-means; eigenvectors have a fixed start.

    Attributes
    ----------
    labels_ : (n,) int64
        0 is the largest cluster, ties by first object.
    n_clusters_ : int
    eigenvalues_ : (m,) array
        The smallest ones, ascending: ``max_clusters`` + 1 of them and at least 21 for "eigengap", else ``n_clusters``
        + 1; n at most.
        Where small components were left out (a warning says so), those of the others.
    mean_eigenvalue_ : float
        The mean of all n eigenvalues: 1 for a normalised Laplacian without isolated objects, else the mean degree.
    gap_ : float
        ``eigenvalues_[n_clusters_] - eigenvalues_[n_clusters_ - 1]``; nan if there are no more eigenvalues.
    embedding_ : (n, n_clusters_) array
    affinity_matrix_ : (n, n) array or csr array
    n_features_in_, feature_names_in_

    Notes
    -----
    Cost with "nearest_neighbors": that of the neighbours, then of `smallest_eigenpairs` and k-means, about linear in n.
    "rbf", functions and dense matrices need n^2 cells; above 2^27 (1 GiB) they are refused.

    If the graph has more components than clusters, the largest components are the clusters and the rest, similar
    to none of them, joins the largest cluster with a warning. "eigengap" then looks only at components with at least a
    tenth of an equal share, n / ``max_clusters``, and at least two objects.

    References
    ----------
    von Luxburg (2007), A tutorial on spectral clustering. Azran and Ghahramani (2006), Spectral methods for automatic
    multiscale data clustering.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 2))
    >>> SpectralClustering(random_state=0).fit(rows).n_clusters_
    2
    """

    def __init__(
        self,
        *,
        n_clusters: int | str = "eigengap",
        laplacian: str = "sym",
        affinity: str | Callable[..., Any] = "nearest_neighbors",
        n_neighbors: int = 10,
        gamma: float | None = None,
        max_clusters: int = 20,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.laplacian = laplacian
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.max_clusters = max_clusters
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "SpectralClustering":
        """Find the clusters of the rows of X, or of the objects of a precomputed matrix.

        Parameters
        ----------
        X : (n, d) table of numbers, or (n, n) affinities if ``affinity="precomputed"``
            An array, a frame or a scipy sparse matrix, without missing cells.
        y : ignored
        """
        normalised = choose("laplacian", self.laplacian, LAPLACIANS)
        limit = whole_number("max_clusters", self.max_clusters, 1)
        wanted = None if self.n_clusters == "eigengap" else self._given_number()
        check_random_state(self.random_state)
        X = _numbers(self, X)
        self.affinity_matrix_ = self._affinity_of(X)
        n = self.affinity_matrix_.shape[0]
        if wanted is not None and wanted > n:
            raise ValueError(f"n_clusters={wanted} is more than the {n} objects.")
        if wanted is None and self.affinity != "precomputed":
            limit = n_distinct_rows(X, limit)  # neighbours of equal rows are a matter of chance
        parts = components(self.affinity_matrix_)
        counted = _counted(parts, limit) if wanted is None else parts
        m = min((max(limit, LOOKED_AT) if wanted is None else wanted) + 1, int(counted.sizes.sum()))
        found = spectrum(self.affinity_matrix_, counted, m, normalised=normalised)
        self.eigenvalues_ = found.values
        self.mean_eigenvalue_ = found.mean
        self.n_clusters_ = wanted or choose_n_clusters(found.values, mean=found.mean, most=limit)
        following = found.values[self.n_clusters_] if self.n_clusters_ < m else np.nan
        self.gap_ = float(following - found.values[self.n_clusters_ - 1])
        _warn_of_left_out(parts, min(counted.sizes.size, self.n_clusters_), self.n_clusters_)
        self.embedding_ = embed(found, self.n_clusters_, self.laplacian)
        self.labels_ = labels_from_embedding(self.embedding_, self.n_clusters_, self.random_state)
        self._note_coinciding()
        return self

    def _note_coinciding(self) -> None:
        n_found = int(self.labels_.max()) + 1
        if n_found < self.n_clusters_:
            hint = "" if self.laplacian == "sym" else " laplacian='sym' often tells more apart."
            warnings.warn(
                f"Only {n_found} of {self.n_clusters_} clusters can be told apart: the embedded points of the others "
                f"coincide.{hint}",
                UserWarning,
                stacklevel=3,
            )
            self.n_clusters_ = n_found

    def _given_number(self) -> int:
        if nearest(self.n_clusters, ["eigengap"]):
            choose("n_clusters", self.n_clusters, {"eigengap": None})
        return whole_number("n_clusters", self.n_clusters, 1, also="'eigengap'")

    def _affinity_of(self, X: Any) -> Any:
        """The graph, all options about it checked."""
        n_neighbors = whole_number("n_neighbors", self.n_neighbors, 1)
        if not callable(self.affinity):
            choose("affinity", self.affinity, dict.fromkeys(AFFINITIES))
        if self.affinity == "precomputed":
            return given_affinity(X)
        _refuse_gaps(X)
        if callable(self.affinity):
            return callable_affinity(X, self.affinity)
        if self.affinity == "rbf":
            return rbf_affinity(X, self.gamma, n_neighbors)
        return neighbour_graph(X, n_neighbors)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags


def _numbers(estimator: SpectralClustering, X: Any) -> Any:
    try:
        with printable_errors():
            return validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise ValueError(
            f"X has cells that are no numbers ({error}). Spectral clustering needs numbers; partita.Mixture takes "
            "categories, and paths of files."
        ) from error


def _refuse_gaps(X: Any) -> None:
    cells = X.data if issparse(X) else X
    n_wrong = int(np.count_nonzero(~np.isfinite(cells)))
    if n_wrong:
        rows = np.unique(X.tocoo().row[~np.isfinite(cells)]) if issparse(X) else np.flatnonzero(~np.isfinite(X).all(1))
        named = ", ".join(map(str, rows[:3])) + (", ..." if rows.size > 3 else "")
        raise ValueError(
            f"X has missing or infinite cells (NaN, inf): {n_wrong} in all, in rows {named}. Spectral clustering needs "
            "every cell: fill them or leave the rows out; partita.Mixture takes missing cells as they are."
        )
    if cells.size and np.abs(cells).max() > LARGEST:
        raise ValueError(
            f"X has cells up to {np.abs(cells).max():.3g}, whose squares no float can hold: scale the columns first."
        )


def _counted(parts: Components, limit: int) -> Components:
    """The components that may be clusters: all, or, if they are too many, those of some size (if there are any)."""
    if parts.sizes.size <= limit:
        return parts
    least = max(2.0, parts.labels.size / (STRAY * limit))
    sizeable = int(np.count_nonzero(parts.sizes >= least))
    return Components(parts.labels, parts.sizes[: sizeable or None])


def _warn_of_left_out(parts: Components, n_shown: int, n_clusters: int) -> None:
    n_parts = parts.sizes.size
    if n_parts > n_shown:
        n_objects = int(parts.sizes[n_shown:].sum())
        rest = count_of(n_parts - n_shown, "component")
        warnings.warn(
            f"The graph has {n_parts} components and there {'is' if n_clusters == 1 else 'are'} "
            f"{count_of(n_clusters, 'cluster')}: the smallest {rest}, {count_of(n_objects, 'object')} in all, similar "
            "to no cluster, went into the largest. Raise n_clusters or max_clusters to keep components apart, "
            "n_neighbors or gamma's reach to join them.",
            UserWarning,
            stacklevel=3,
        )
