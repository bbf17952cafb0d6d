"""Labels of many draws as whole numbers; what is not observed is -1, and a refusal names the draw and the object."""

import warnings
from collections.abc import Sequence
from math import floor, isfinite, prod
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from partita.labels.codes import hashed, is_missing

_NOT_OBSERVED = "-1, None and nan mean not observed"
_MISTAKABLE = ("", "-1", "NA", "nan", "NaN", "None")


def code_numbers(values: np.ndarray) -> np.ndarray:
    """Whole numbers as integers; nan is -1. Integers are returned as they are, without a copy.

    Raises
    ------
    ValueError
        A number that is not whole or is below -1, with the draw and the object.
    """
    if values.dtype.kind == "f":
        values = _whole(values)
    if values.dtype.kind == "i" and values.min(initial=0) < -1:
        _refuse(values < -1, values)
    return values


def code_labels(labels: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Hashable labels, draw after draw, as integers: 0, 1, ... by first appearance among all draws.

    One dictionary look-up per label.
    """
    try:
        positions, values = hashed(labels, prod(shape))
    except TypeError:
        _refuse_unhashable(labels, shape)
    words = {value for value in values if isinstance(value, str)}
    _warn_of_words([word for word in _MISTAKABLE if word in words])
    return code_values(values, positions.reshape(shape))


def code_values(values: Sequence[Any], positions: np.ndarray) -> np.ndarray:
    """The codes of labels that are given as positions among distinct values; missing values become -1."""
    missing = np.zeros(len(values), bool)
    for position, value in enumerate(values):
        if type(value) is str:
            continue
        missing[position] = is_missing(value)
        if not missing[position] and _is_bad_number(value):
            _refuse(positions == position, np.full(1, value, object))
    return np.where(missing[positions], -1, positions) if missing.any() else positions


def place(position: int, shape: tuple[int, ...]) -> str:
    """The draw and the object at a position of the flattened labels: ``draw 3, object 2``."""
    *chain, draw, item = (int(i) for i in np.unravel_index(position, shape))
    return f"{f'chain {chain[0]}, ' if chain else ''}draw {draw}, object {item}"


def _whole(values: np.ndarray) -> np.ndarray:
    observed = ~np.isnan(values)
    bad = observed & ((values != np.floor(values)) | np.isinf(values))
    if bad.any():
        _refuse(bad, values)
    if (values < -1).any():
        _refuse(values < -1, values)
    largest = np.max(values, initial=0, where=observed)
    return np.where(observed, values, -1).astype(np.int32 if largest < np.iinfo(np.int32).max else np.int64)


def _is_bad_number(value: Any) -> bool:
    return isinstance(value, Real) and (value < 0 or not isfinite(value) or value != floor(value))


def _refuse(bad: np.ndarray, values: np.ndarray) -> NoReturn:
    """Say what the first bad label is; ``values`` are all labels, or one that all bad ones have."""
    position = int(np.flatnonzero(bad)[0])
    value = values.ravel()[position if values.size > 1 else 0]
    value = value.item() if isinstance(value, np.generic) else value
    whole = isfinite(value) and value == int(value)
    rule = f"numbers must be 0 or more ({_NOT_OBSERVED})" if whole else "labels that are numbers must be whole"
    remedy = "" if whole else " Pass the clusters that objects were assigned to, not measurements or probabilities."
    raise ValueError(f"The label at {place(position, bad.shape)} (counted from 0) is {value}: {rule}.{remedy}")


def _refuse_unhashable(labels: Sequence[Any], shape: tuple[int, ...]) -> NoReturn:
    for position, label in enumerate(labels):
        try:
            hash(label)
        except TypeError:
            raise TypeError(
                f"The label at {place(position, shape)} (counted from 0) is a {type(label).__name__}, which cannot"
                " be a label: use numbers, text or tuples."
            ) from None
    raise TypeError("Labels must be hashable: use numbers, text or tuples.")


def _warn_of_words(words: list[str]) -> None:
    if words:
        some = ", ".join(map(repr, words))
        warnings.warn(
            f"The text {some} is taken as a label like any other: the number {_NOT_OBSERVED}.",
            UserWarning,
            stacklevel=2,
        )
