"""Methods by their short names, each told the number of clusters by the option that it has for that."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from partita.consensus.ensemble_estimator import METHODS
from partita.consensus.nbce import NBCE

FINDERS: dict[str, dict[str, Any]] = {"nbce": {}, "nbce-auto": {"votes": "auto"}, "nbce-all": {"votes": "all"}}
"""Names under which `NBCE` is known, and its options under them."""


def known_methods() -> Mapping[str, Callable[..., Any]]:
    """The class of every method by its short name."""
    return dict.fromkeys(FINDERS, NBCE) | METHODS


def number_option(kind: Callable[..., Any]) -> str | None:
    """The option by which a method is told how many clusters there are; None where it finds their number."""
    options = inspect.signature(kind).parameters
    required = [name for name in ("n_clusters", "n_components") if name in options and _is_required(options[name])]
    return required[0] if required else None


def method_named(name: str, n_clusters: Any, random_state: Any) -> Any:
    """A method with its defaults, told the number of clusters where it must be."""
    kind = known_methods()[name]
    told = number_option(kind)
    options = FINDERS.get(name, {}) | ({} if told is None else {told: n_clusters})
    if "random_state" in inspect.signature(kind).parameters:
        options |= {"random_state": random_state}
    return kind(**options)


def _is_required(option: inspect.Parameter) -> bool:
    return option.default is inspect.Parameter.empty
