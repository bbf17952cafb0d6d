"""Ensembles to find a consensus of: many clusterings of one table."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.utils import check_array

from partita.parameters import is_number, seed_from, whole_number
from partita.partitions import Partitions
from partita.wording import printable_errors


def base_clusterings(
    X: Any,
    *,
    n: int = 10,
    shares: Sequence[float] = (0.5, 0.75, 1.0, 1.5, 2.0),
    n_classes: int,
    clusterer: Any = None,
    subspace: float = 1.0,
    subsample: float = 1.0,
    random_state: Any = None,
) -> Partitions:
    """Cluster a table n times, into coarser and finer clusters than there are classes.

    Member i is asked for K_i = max(2, shares[i mod len(shares)] n_classes) clusters, rounded half up and never more
    than the objects it sees. Wang, Domeniconi and Laskey (2010), section 6. Cost: n times that of the clusterer.

    Parameters
    ----------
    X : array-like or sparse matrix of numbers, (n_objects, n_columns)
        As the clusterer wants it: k-means wants columns on one scale and no missing cells.
    n : int
        How many clusterings.
    shares : sequence of float
        Numbers of clusters as shares of ``n_classes``, taken in turn.
    n_classes : int
        The number of classes that there are, or that one guesses.
    clusterer : scikit-learn clusterer, optional
        Anything with ``fit_predict``, by default `KMeans` from one start. Each member is a clone in which every
        ``n_clusters`` (or, where there is none, ``n_components``) and ``random_state`` is set, also inside a pipeline.
        Negative labels, such as noise, mean not labelled.
    subspace : float
        Share of the columns that each member sees, above 0 up to 1; at least one.
    subsample : float
        Share of the objects that each member sees, above 0 up to 1; at least two. The others are -1.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    Partitions
        Of shape (n, n_objects).

    Examples
    --------
    >>> base_clusterings([[0.0], [0.1], [5.0], [5.2]], n=2, shares=(1.0, 2.0), n_classes=2, random_state=0).flat
    array([[0, 0, 1, 1],
           [0, 1, 2, 3]], dtype=int8)
    """
    n, n_classes = whole_number("n", n, 1), whole_number("n_classes", n_classes, 1)
    wanted = [max(2, math.floor(share * n_classes + 0.5)) for share in _checked_shares(shares)]
    _check_share("subspace", subspace)
    _check_share("subsample", subsample)
    clusterer = KMeans(n_init=1) if clusterer is None else clusterer
    if not hasattr(clusterer, "fit_predict"):
        raise TypeError(f"clusterer must be a scikit-learn clusterer, which has fit_predict; got {clusterer!r}.")
    X = _numbers(X)
    labels = np.full((n, X.shape[0]), -1, np.int64)
    for i, child in enumerate(seed_from(random_state).spawn(n)):
        rng = np.random.default_rng(child)
        rows = _drawn(rng, X.shape[0], subsample, least=2)
        columns = _drawn(rng, X.shape[1], subspace, least=1)
        member = _member(clusterer, min(wanted[i % len(wanted)], len(rows)), rng)
        labels[i, rows] = member.fit_predict(_part(X, rows, columns))
    return Partitions(np.maximum(labels, -1))


def _numbers(X: Any) -> Any:
    """A matrix; whether nan will do is the clusterer's to say."""
    try:
        with printable_errors():
            return check_array(X, accept_sparse="csr", ensure_all_finite=False, ensure_min_samples=2)
    except ValueError as refusal:
        if "could not convert" not in str(refusal):
            raise
        raise ValueError(
            f"X must hold numbers only ({refusal}): turn categories into numbers first, for example with "
            "sklearn.preprocessing.OneHotEncoder."
        ) from None


def _checked_shares(shares: Any) -> list[float]:
    checked = list(shares) if np.iterable(shares) and not isinstance(shares, str) else [shares]
    if not checked or not all(is_number(share) and share > 0 for share in checked):
        raise ValueError(f"shares must be positive numbers, at least one, such as (0.5, 1.0, 2.0); got {shares!r}.")
    return checked


def _check_share(name: str, value: Any) -> None:
    if not (is_number(value) and 0 < value <= 1):
        raise ValueError(f"{name} must be a share above 0 and up to 1, got {value!r}.")


def _drawn(rng: np.random.Generator, total: int, share: float, *, least: int) -> np.ndarray:
    """Positions of a share of ``total`` things, in order."""
    if share == 1.0:
        return np.arange(total)
    size = max(least, math.floor(share * total + 0.5))
    return np.sort(rng.choice(total, size=min(size, total), replace=False))


def _part(X: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    if len(rows) == X.shape[0] and len(columns) == X.shape[1]:
        return X
    return X[rows][:, columns] if issparse(X) else X[np.ix_(rows, columns)]


def _member(clusterer: Any, n_clusters: int, rng: np.random.Generator) -> Any:
    """A clone with its number of clusters and its seeds."""
    member = clone(clusterer)
    options = sorted(member.get_params())
    asked = _called("n_clusters", options) or _called("n_components", options)
    seeds = {name: int(rng.integers(2**31 - 1)) for name in _called("random_state", options)}
    return member.set_params(**dict.fromkeys(asked, n_clusters), **seeds)


def _called(option: str, names: Sequence[str]) -> list[str]:
    """Options of this name, of the object itself or of the objects inside it."""
    return [name for name in names if name.rpartition("__")[2] == option]
