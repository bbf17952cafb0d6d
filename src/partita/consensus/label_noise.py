"""Labelings made worse on purpose: wrong labels and missing ones."""

import math
from typing import Any

import numpy as np

from partita.consensus.label_table import NOT_LABELLED
from partita.labels import is_missing
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
    """
    _check_rate(rate)
    rng = generator_from(random_state)
    if isinstance(labels, Partitions):
        noisy = [_with_noise(row, rate, rng, f"Partition {i}") for i, row in enumerate(labels.flat)]
        return Partitions(np.reshape(noisy, labels.shape))
    given = _label_array(labels)
    if given.ndim == 1:
        return _with_noise(given, rate, rng, "The labelling")
    columns = [_with_noise(column, rate, rng, f"Column {m}") for m, column in enumerate(given.T)]
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
    """
    _check_rate(rate)
    rng = generator_from(random_state)
    if isinstance(Y, Partitions):
        return Partitions(_dropped(np.array(Y), rate, rng))
    return _dropped(_label_array(Y), rate, rng)


def _dropped(given: np.ndarray, rate: float, rng: np.random.Generator) -> np.ndarray:
    kind = given.dtype.kind
    dropped = given.astype(np.int64 if kind == "u" else given.dtype if kind in "if" else object)
    positions = np.flatnonzero(_is_labelled(given))
    chosen = rng.choice(positions, size=_rounded(rate * len(positions)), replace=False)
    dropped.flat[chosen] = -1 if kind in "iu" else np.nan if kind == "f" else None
    return dropped


def _with_noise(labels: np.ndarray, rate: float, rng: np.random.Generator, which: str) -> np.ndarray:
    positions = np.flatnonzero(_is_labelled(labels))
    chosen = rng.choice(positions, size=_rounded(rate * len(positions)), replace=False)
    noisy = labels.copy()
    if len(chosen) == 0:
        return noisy
    if labels.dtype == object:  # by first appearance: labels of several types have no order
        code_of: dict[Any, int] = {label: code for code, label in enumerate(dict.fromkeys(labels[positions]))}
        distinct = np.fromiter(code_of, dtype=object, count=len(code_of))
        codes = np.array([code_of[label] for label in labels[chosen]])
    else:
        distinct = np.unique(labels[positions])
        codes = np.searchsorted(distinct, labels[chosen])
    if len(distinct) < 2:
        raise ValueError(f"{which} has a single label, {distinct[0]!r}, which cannot become another one.")
    noisy[chosen] = distinct[(codes + rng.integers(1, len(distinct), size=len(chosen))) % len(distinct)]
    return noisy


def _label_array(labels: Any) -> np.ndarray:
    # As objects first: numpy would turn the numbers of [1, "a"] into text.
    given = labels if hasattr(labels, "__array__") else np.array(labels, dtype=object)
    given = np.asarray(given)
    if given.dtype == object and all(type(label) is int for label in given.flat):
        given = given.astype(np.int64)
    if given.ndim not in (1, 2):
        raise ValueError(f"Labels come as (n_objects,) or (n_objects, n_clusterings), got shape {given.shape}.")
    return given


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
