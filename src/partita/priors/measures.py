"""A draw G of a process: atoms with weights, and how atoms are asked of a base distribution."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

GENERATOR_NAMES = ("rng", "random_state", "generator", "random", "seed")
COUNT_NAMES = ("n", "size", "n_samples", "num", "count")


class Measure(NamedTuple):
    """G = sum over k of weights[k] at atoms[k]; what the weights leave of 1 lies on atoms not listed."""

    atoms: np.ndarray  # (n, ...)
    weights: np.ndarray  # (n,)


def sample_atoms(base: Callable[..., Any], n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n atoms, (n, ...), from a sampler whatever its parameters are called.

    The parameter called rng, random_state, generator, random or seed gets the generator, the one called n, size,
    n_samples, num or count gets n; of several the first in this order. Other required parameters get what is left, n
    before the generator; optional ones keep their defaults, unless all there is are two of them, the second ``None``.
    A sampler that takes no number is called once per atom, one without a readable signature as ``base(size=n)``,
    one of ``*args`` as ``base(n, rng)``, and one of ``*args, **kwds`` as scipy's: ``base(size=n, random_state=rng)``.
    """
    base = getattr(base, "rvs", base)  # a distribution of scipy, frozen or not
    if not callable(base):
        raise TypeError(f"base must be a function base(n, rng) that returns n atoms; got {base!r}.")
    args, keywords = _arguments(base, n, rng)
    given = [*args, *keywords.values()]
    if not any(value is n for value in given):
        return np.array([base(*args, **keywords) for _ in range(n)])
    guessed = len(given) == 1 and not any(name in COUNT_NAMES for name in keywords)
    try:
        atoms = base(*args, **keywords)
    except (TypeError, AttributeError) as error:
        if not guessed:
            raise
        raise TypeError(
            f"base took {n}, the number of atoms, for its only argument and failed: name its parameter n if it is "
            "the number, or rng if it is the generator."
        ) from error
    return _counted(np.asarray(atoms), n)


def _arguments(base: Callable[..., Any], n: int, rng: np.random.Generator) -> tuple[list[Any], dict[str, Any]]:
    """Positional and named arguments for the sampler."""
    try:
        parameters = list(inspect.signature(base).parameters.values())
    except (TypeError, ValueError):
        return [], {"size": n}
    kinds = {parameter.kind for parameter in parameters}
    parameters = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        as_scipy = inspect.Parameter.VAR_KEYWORD in kinds and not any(_is_required(one) for one in parameters)
        return ([], {"size": n, "random_state": rng}) if as_scipy else ([n, rng], {})
    given = _by_name(parameters, n, rng)
    left = [value for value in (n, rng) if not any(value is one for one in given.values())]
    by_position = [one.name for one in parameters if one.name not in given and _is_required(one)]
    if len(by_position) > len(left):
        unknown = by_position[len(left)]
        raise TypeError(f"base takes more than a number of atoms and a generator: what should {unknown!r} be?")
    if not given and not by_position and len(parameters) == 2 and parameters[1].default is None:
        by_position = [one.name for one in parameters]
    given |= dict(zip(by_position, left, strict=False))
    args = [given.pop(one.name) for one in parameters if one.kind is one.POSITIONAL_ONLY and one.name in given]
    return args, given


def _by_name(parameters: list[inspect.Parameter], n: int, rng: np.random.Generator) -> dict[str, Any]:
    """What is known by the name of its parameter."""
    names = {parameter.name for parameter in parameters}
    given: dict[str, Any] = {}
    for known, value in ((COUNT_NAMES, n), (GENERATOR_NAMES, rng)):
        first = next((name for name in known if name in names), None)
        if first is not None:
            given[first] = value
    return given


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty


def _counted(atoms: np.ndarray, n: int) -> np.ndarray:
    """The atoms, if there are n; one atom may come without its leading axis, as from scipy."""
    if n == 1 and atoms.shape[:1] != (1,):
        atoms = atoms[None]
    if atoms.shape[:1] != (n,):
        raise ValueError(f"base must return {n} atoms, one per entry of the first axis; got shape {atoms.shape}.")
    return atoms
