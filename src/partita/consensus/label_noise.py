"""Labelings made worse on purpose: wrong labels and missing ones."""

import math
from typing import Any

import numpy as np

from partita.consensus.label_table import NOT_LABELLED
from partita.labels import coded, is_missing
from partita.parameters import generator_from, is_number
from partita.partitions import Partitions


def add_label_noise(labels: Any, rate: float, random_state: Any = None) -> Any:
    """Change a share of the labels of a labelling, each to another of its labels.

    Exactly round(rate n) of its n labels change (half up), drawn without replacement; each becomes one of the other
    labels that occur in the labelling, all equally probable. Missing labels stay missing. Wang, Domeniconi and Laskey
    (2010), section 6: noisy copies of the true labels. Cost O(n log n) per labelling.

    Parameters
    ----------
    labels : array-like of shape (n_objects,) or (n_objects, n_clusterings), or Partitions
        One labelling, or one per column; of a `Partitions` one per row.
    rate : float
        From 0 to 1.
    random_state : int, Generator or RandomState, optional

    Returns
    -------
    ndarray, or Partitions where one came in
        Of the same shape and type.

    Examples
    --------
    >>> add_label_noise(["a", "a", "a", "b", "b", "b"], 1 / 3, random_state=1)
    array(['a', 'a', 'b', 'a', 'b', 'b'], dtype=object)
    """
    _check_rate(rate)
    rng = generator_from(random_state)
    if isinstance(labels, Partitions):
        noisy = [_with_noise(row, rate, rng, f"Partition {i}") for i, row in enumerate(labels.flat)]
        return Partitions(np.reshape(noisy, labels.shape))
    array = _label_array(labels)
    if array.ndim == 1:
        return _with_noise(array, rate, rng, "The labelling")
    columns = [_with_noise(column, rate, rng, f"Column {m}") for m, column in enumerate(array.T)]
    return np.stack(columns, axis=1)


def drop_labels(Y: Any, rate: float, random_state: Any = None) -> Any:
    """Set a share of the entries of a label matrix to missing.

    Exactly round(rate e) of the e entries that have a label are dropped (half up), drawn without replacement from the
    whole matrix. Cost O(e).

    Parameters
    ----------
    Y : array-like of shape (n_objects, n_clusterings) or (n_objects,), or Partitions
    rate : float
        From 0 to 1.
    random_state : int, Generator or RandomState, optional

    Returns
    -------
    ndarray, or Partitions where one came in
        Of the same shape. Missing is -1 among integers, nan among floats and otherwise None, in an array of objects.

    Examples
    --------
    >>> drop_labels([[0, 0], [0, 1], [1, 1]], 1 / 3, random_state=0)
    array([[ 0,  0],
           [ 0, -1],
           [-1,  1]])
    """
    _check_rate(rate)
    rng = generator_from(random_state)
    if isinstance(Y, Partitions):
        return Partitions(_dropped(np.array(Y), rate, rng))
    return _dropped(_label_array(Y), rate, rng)


def _dropped(labels: np.ndarray, rate: float, rng: np.random.Generator) -> np.ndarray:
    kind = labels.dtype.kind
    dropped = labels.astype(np.int64 if kind == "u" else labels.dtype if kind in "if" else object)
    positions = np.flatnonzero(_is_labelled(labels))
    chosen = rng.choice(positions, size=_rounded(rate * len(positions)), replace=False)
    dropped.flat[chosen] = -1 if kind in "iu" else np.nan if kind == "f" else None
    return dropped


def _with_noise(labels: np.ndarray, rate: float, rng: np.random.Generator, which: str) -> np.ndarray:
    positions = np.flatnonzero(_is_labelled(labels))
    chosen = rng.choice(positions, size=_rounded(rate * len(positions)), replace=False)
    noisy = labels.copy()
    if len(chosen) == 0:
        return noisy
    codes, values = coded(labels[positions])
    n_labels = len(values)
    if n_labels < 2:
        raise ValueError(f"{which} has a single label, {values[0]!r}, which cannot become another one.")
    steps = rng.integers(1, n_labels, size=len(chosen))
    others = (codes[np.searchsorted(positions, chosen)] + steps) % n_labels
    noisy[chosen] = np.fromiter(values, labels.dtype, n_labels)[others]
    return noisy


def _label_array(labels: Any) -> np.ndarray:
    # As objects first: numpy would turn the numbers of [1, "a"] into text.
    array = np.asarray(labels) if hasattr(labels, "__array__") else np.array(labels, dtype=object)
    if array.dtype == object and all(type(label) is int for label in array.flat):
        array = array.astype(np.int64)
    if array.ndim not in (1, 2):
        raise ValueError(f"Labels come as (n_objects,) or (n_objects, n_clusterings), got shape {array.shape}.")
    return array


def _is_labelled(labels: np.ndarray) -> np.ndarray:
    kind = labels.dtype.kind
    if kind in "iub":
        return labels != -1 if kind == "i" else np.ones(labels.shape, bool)
    if kind == "f":
        return (labels != -1) & ~np.isnan(labels)
    flat = (not is_missing(label) and label not in (*NOT_LABELLED, "") for label in labels.flat)
    return np.fromiter(flat, bool, labels.size).reshape(labels.shape)


def _rounded(number: float) -> int:
    return math.floor(number + 0.5)


def _check_rate(rate: Any) -> None:
    if not (is_number(rate) and 0 <= rate <= 1):
        raise ValueError(f"rate must be a share from 0 to 1, got {rate!r}.")
