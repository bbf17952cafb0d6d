"""Small parameter objects (families, priors, losses, engines), checked options, and the words for a wrong choice."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

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


REGISTRY: dict[str, dict[str, type["Named"]]] = {}
"""Every kind of named objects, and its members by name."""


class Named(Parameters):
    """Base of the parameter objects that have a name: families, priors, hyperpriors, engines, losses.

    ``class Prior(Named, kind="prior")`` begins a kind; ``class PitmanYor(Prior, name="pitman-yor")`` is known by its
    name from then on: as an option, in files, in the words for a wrong choice. A class without a name of its own may
    be used, but not saved.
    """

    kind_of: ClassVar[str]
    known: ClassVar[dict[str, type["Named"]]] = {}
    name: ClassVar[str] = ""

    def __init_subclass__(cls, *, kind: str | None = None, name: str | None = None, **options: Any):
        super().__init_subclass__(**options)
        if kind is not None:
            cls.kind_of, cls.known = kind, REGISTRY.setdefault(kind, {})
        if name is not None:
            cls.name = name
            cls.known[name] = cls

    @classmethod
    def is_known(cls) -> bool:
        """Whether this very class has a name."""
        return cls.known.get(cls.name) is cls


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


def check_random_state(value: Any) -> None:
    """Refuse what is no source of random numbers, without taking any from it."""
    is_seed = isinstance(value, Integral) and int(value) >= 0
    if not (value is None or is_seed or isinstance(value, np.random.RandomState | np.random.Generator)):
        raise ValueError(
            f"random_state must be None, a whole number >= 0, a RandomState or a Generator, got {value!r}."
        )


def seed_from(random_state: Any) -> np.random.SeedSequence:
    """The root of all random numbers of a fit."""
    check_random_state(random_state)
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(0, 2**31 - 1, size=4).tolist())
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(0, 2**63 - 1, size=4).tolist())
    return np.random.SeedSequence(int(random_state))


def generator_from(random_state: Any) -> np.random.Generator:
    """Random numbers of what is called once: a Generator goes on where it stands, anything else is a seed."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(seed_from(random_state))


def stream_of(entropy: Any, number: int) -> np.random.Generator:
    """Random numbers of one purpose of a fit, apart from those of its chains or starts."""
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(2**20 + number,)))


def whole_number(name: str, value: Any, least: int, also: str = "") -> int:
    """A whole number of at least ``least``, or a clear refusal."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        alternative = f" or {also}" if also else ""
        raise ValueError(f"{name} must be a whole number of at least {least}{alternative}, got {value!r}.")
    return int(value)


def is_number(value: Any) -> bool:
    """Whether ``value`` is a finite real number that a float can hold, and no bool."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return False
    try:
        return isfinite(value)
    except OverflowError:
        return False


def jobs(value: Any) -> int | None:
    """``n_jobs`` as joblib has it, checked."""
    if value is not None and (not isinstance(value, Integral) or value == 0):
        raise ValueError(f"n_jobs must be None or a whole number other than 0, got {value!r}.")
    return None if value is None else int(value)


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
