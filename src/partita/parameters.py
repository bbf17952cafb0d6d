"""Small parameter objects (families, priors, losses, engines) and the words for a wrong choice."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

T = TypeVar("T")


class Parameters(BaseEstimator):
    """Base of objects that are nothing but their parameters.

    A subclass's ``__init__`` stores its arguments and nothing else; values are checked where they
    are used. ``get_params``, ``set_params``, ``clone`` and ``repr`` are scikit-learn's. Two objects
    are equal when they are of one class and their parameters are equal; being mutable, they have no
    hash.
    """

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return _same(self.get_params(deep=False), other.get_params(deep=False))  # type: ignore[attr-defined]


def nearest(name: object, allowed: Iterable[str]) -> str:
    """Return the question "Did you mean 'vi'?", or nothing when no allowed name is close."""
    close = get_close_matches(str(name).lower(), list(allowed), n=1)
    return f"Did you mean {close[0]!r}?" if close else ""


def choose(what: str, value: object, allowed: Mapping[str, T]) -> T:
    """Look up an option by name; a wrong name raises an error that lists the right ones."""
    if isinstance(value, str) and value in allowed:
        return allowed[value]
    names = ", ".join(repr(name) for name in allowed)
    raise ValueError(f"{what} must be one of {names}; got {value!r}. {nearest(value, allowed)}".rstrip())


def _same(first: Any, second: Any) -> bool:
    if first is second:
        return True
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return type(first) is type(second) and np.array_equal(first, second)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(_same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return (
            type(first) is type(second)
            and len(first) == len(second)
            and all(_same(a, b) for a, b in zip(first, second))
        )
    return bool(first == second)
