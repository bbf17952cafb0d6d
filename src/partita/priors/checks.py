"""Refusals of parameters: each names the parameter, its value and what is allowed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from partita.parameters import is_number

_INTEGERS = (int, np.integer)


def require_integer(name: str, value: Any, *, at_least: int, at_most: int | None = None) -> int:
    """Return ``value`` as an int, or refuse it."""
    if not isinstance(value, _INTEGERS) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"{name} must be an integer of at least {at_least}; got {value!r}.")
    if at_most is not None and value > at_most:
        raise ValueError(f"{name} must be an integer of at most {at_most}; got {value!r}.")
    return int(value)


def require_above(name: str, value: Any, bound: float, *, hint: str = "") -> float:
    """Return ``value`` as a float greater than ``bound``, or refuse it."""
    if is_number(value) and value > bound:
        return float(value)
    note = f" ({hint})" if hint else ""
    raise ValueError(f"{name} must be a number greater than {bound:g}; got {value!r}{note}.")


def require_reachable(k: Any, n: Any, *, most: float | None = None) -> tuple[float, int]:
    """Return (k, n) when some parameter value gives k expected clusters: 1 < k < most (default n)."""
    n = require_integer("n", n, at_least=1)
    most = float(n) if most is None else most
    if is_number(k) and 1 < k < most:
        return float(k), n
    raise ValueError(
        f"k, the expected number of clusters, must lie strictly between 1 and {most:.6g} for n={n}; got {k!r}."
    )


def refuse_solved(solved: str, given: Mapping[str, Any]) -> None:
    """Refuse a value for the parameter that ``from_expected_clusters`` solves for."""
    if solved in given:
        raise TypeError(f"from_expected_clusters solves for {solved}: do not pass {solved} as well.")
