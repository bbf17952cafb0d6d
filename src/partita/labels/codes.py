"""One labelling as codes, and what counts as no label: -1, None, nan and their kin.

Labels are equal where Python says so: 1, 1.0 and True are one label, "1" is another.
"""

from collections import defaultdict
from collections.abc import Iterable
from itertools import count
from numbers import Number
from typing import Any

import numpy as np

EXACT = 2.0**53  # up to here floats hold every whole number


def is_missing(label: Any) -> bool:
    """Whether it is -1, None, or does not equal itself (nan and its kin; pandas' NA will not say)."""
    if label is None:
        return True
    itself = label == label  # noqa: PLR0124
    if not isinstance(itself, bool | np.bool_):
        return True
    return not itself or (isinstance(label, Number) and bool(label == -1))


def holds_numbers(values: np.ndarray) -> bool:
    """Whether the array tells all its numbers apart: integers, truth values, and floats that are exact."""
    if values.dtype.kind == "f":
        return not np.any(np.abs(values, where=np.isfinite(values), out=np.zeros_like(values)) >= EXACT)
    return values.dtype.kind in "bi" or (values.dtype.kind == "u" and values.max(initial=0) <= np.iinfo(np.int64).max)


def label_codes(labels: Any, n_objects: int | None = None) -> np.ndarray:
    """Labels of any hashable kind as 0, 1, ...; -1 for those that are missing."""
    return coded(labels, n_objects)[0]


def coded(labels: Any, n_objects: int | None = None, *, option: str = "labels") -> tuple[np.ndarray, list[Any]]:
    """Codes 0, 1, ... (-1: missing) of one labelling, and the label behind every code.

    Numbers are counted by size, other labels by first appearance. Where ``n_objects`` is known, labels of another
    number of objects are refused, by the name of the option that holds them.
    """
    if isinstance(labels, str | bytes) or not (hasattr(labels, "__array__") or isinstance(labels, Iterable)):
        raise TypeError(f"A labelling is a sequence with one label per object; got {type(labels).__name__}.")
    array = np.asarray(labels) if hasattr(labels, "__array__") else _array(list(labels))
    if array.ndim != 1:
        raise ValueError(f"A labelling has one dimension; got shape {array.shape}.")
    if n_objects is not None and len(array) != n_objects:
        raise ValueError(f"{option} must be one per object, {n_objects}, in the same order; got {len(array)}.")
    if array.dtype.kind in "biuf":
        return counted(array)
    try:
        positions, values = hashed(array.tolist() if array.dtype.kind in "SU" else array, len(array))
    except TypeError as error:
        raise ValueError(f"A labelling has one dimension and hashable labels, one per object: {error}.") from error
    kept = np.array([not is_missing(value) for value in values], bool)
    codes = np.where(kept, np.cumsum(kept) - 1, -1)
    return codes[positions], [value for value, keep in zip(values, kept) if keep]


def counted(numbers: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Codes of numbers by size (-1 where they are -1 or nan), and the numbers that occur.

    Cost O(n) for whole numbers that are not spread over a wide range, O(n log n) for others.
    """
    codes = np.full(len(numbers), -1, np.int32)
    of_floats = numbers.dtype.kind == "f"
    labelled = (numbers != -1) & ~np.isnan(numbers) if of_floats else numbers != -1
    present = numbers[labelled]
    if len(present) == 0:
        return codes, []
    low, high = present.min().item(), present.max().item()
    is_wide = high - low > 2 * len(numbers) + 1024 or max(-low, high) >= 2**62
    if is_wide or (of_floats and (present != np.floor(present)).any()):
        values, codes[labelled] = np.unique(present, return_inverse=True)
        return codes, values.tolist()
    from_low = present.astype(np.int64) - int(low)
    met = np.bincount(from_low) > 0
    codes[labelled] = (np.cumsum(met, dtype=np.int32) - 1)[from_low]
    return codes, (np.flatnonzero(met) + int(low)).tolist()


def hashed(labels: Iterable[Any], n: int) -> tuple[np.ndarray, list[Any]]:
    """Positions of n labels among the different ones, and these by first appearance: one dictionary look-up each.

    Raises
    ------
    TypeError
        A label that is not hashable.
    """
    position_of: defaultdict[Any, int] = defaultdict(count().__next__)
    positions = np.fromiter(map(position_of.__getitem__, labels), np.int64, n)
    return positions, list(position_of)


def _array(labels: list[Any]) -> np.ndarray:
    """Numbers as numbers, anything else as objects: words beside numbers stay what they are."""
    if all(issubclass(kind, int | float | np.number | np.bool_) for kind in set(map(type, labels))):
        numbers = np.array(labels)
        if holds_numbers(numbers):
            return numbers
    return np.fromiter(labels, object, len(labels))
