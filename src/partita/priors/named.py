"""The prior that an option stands for."""

from inspect import signature
from typing import Any

from partita.parameters import choose
from partita.priors.base import Prior
from partita.priors.dirichlet_process import DirichletProcess


def prior_from(value: Any) -> Prior:
    """The prior, or the default of the one that is named; None is a Dirichlet process."""
    prior = DirichletProcess() if value is None else _named_prior(value) if isinstance(value, str) else value
    if not isinstance(prior, Prior):
        raise TypeError(f"prior must be a prior of partita.priors or the name of one, got {prior!r}.")
    return prior


def has_limit(kind: type[Prior]) -> bool:
    """Whether the number of components is one of a prior's options."""
    return "n_components" in signature(kind).parameters


def _named_prior(name: str) -> Prior:
    kind = choose("prior", name, Prior.known)
    try:
        return kind()  # type: ignore[operator]
    except TypeError:
        raise ValueError(f"prior={name!r} needs options: pass {kind.__name__}(n_components=...).") from None
