"""A draw G of a process: atoms with weights, and how atoms are asked of a base distribution."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

GENERATOR_NAMES = ("rng", "random_state", "generator", "random", "seed")
COUNT_NAMES = ("n", "size", "n_samples", "num", "count", "shape")


class Measure(NamedTuple):
    """G = sum over k of weights[k] at atoms[k]; what the weights leave of 1 lies on atoms not listed."""

    atoms: np.ndarray  # (n, ...)
    weights: np.ndarray  # (n,)


def sample_atoms(base: Callable[..., Any], n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n atoms, (n, ...), from a sampler whatever its parameters are called.

    Parameters called rng, random_state, generator, random or seed get the generator, those called n, size, n_samples,
    num, count or shape get n. Other required parameters get what is left, n before the generator. A sampler that
    takes no number is called once per atom, one without a readable signature as ``base(size=n)``.
    """
    if not callable(base):
        hint = "; pass its method rvs" if hasattr(base, "rvs") else ""
        raise TypeError(f"base must be a function base(n, rng) that returns n atoms; got {base!r}{hint}.")
    args, keywords, counted = _arguments(base, n, rng)
    if counted:
        return _counted(np.asarray(base(*args, **keywords)), n)
    return np.array([base(*args, **keywords) for _ in range(n)])


def _arguments(base: Callable[..., Any], n: int, rng: np.random.Generator) -> tuple[list[Any], dict[str, Any], bool]:
    """Positional and named arguments for the sampler, and whether n is among them."""
    try:
        parameters = list(inspect.signature(base).parameters.values())
    except (TypeError, ValueError):
        return [], {"size": n}, True
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return [n, rng], {}, True
    parameters = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
    left: list[Any] = [n, rng]
    given: dict[str, Any] = {}
    for value, names in ((n, COUNT_NAMES), (rng, GENERATOR_NAMES)):
        known = [parameter.name for parameter in parameters if parameter.name in names]
        if known:
            given[known[0]] = value
            left.remove(value)
    required = [one.name for one in parameters if one.name not in given and one.default is one.empty]
    if len(required) > len(left):
        unknown = required[len(left)]
        raise TypeError(f"base takes more than a number of atoms and a generator: what should {unknown!r} be?")
    by_position = required if required or given else [one.name for one in parameters]
    given |= dict(zip(by_position, left, strict=False))
    args = [given.pop(one.name) for one in parameters if one.kind is one.POSITIONAL_ONLY and one.name in given]
    return args, given, any(value is n for value in (*args, *given.values()))


def _counted(atoms: np.ndarray, n: int) -> np.ndarray:
    """The atoms, if there are n; one atom may come without its leading axis, as from scipy."""
    if n == 1 and atoms.shape[:1] != (1,):
        atoms = atoms[None]
    if atoms.shape[:1] != (n,):
        raise ValueError(f"base must return {n} atoms, one per entry of the first axis; got shape {atoms.shape}.")
    return atoms
