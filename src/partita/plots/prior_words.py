"""The words for a prior: its kind and its options."""

from typing import Any

from partita.priors import Flat, Gamma, Prior


def kind_in_words(prior: Prior) -> str:
    """Dirichlet process, Pitman-Yor process, ...; the name of the class where it has no title."""
    return getattr(prior, "title", type(prior).__name__)


def options_in_words(prior: Prior, *, between: str = ", ") -> str:
    """Concentration 1, discount 0.25; or concentration learned, 10 components. What is not so is left out."""
    options = prior.get_params(deep=False)
    options = {"concentration": options.pop("concentration", None)} | options
    return between.join(_option(name, value) for name, value in options.items() if value is not False)


def prior_in_words(prior: Prior) -> str:
    """Dirichlet process with concentration 1."""
    return f"{kind_in_words(prior)} with {options_in_words(prior)}"


def _option(name: str, value: Any) -> str:
    words = name.removeprefix("n_").replace("_", " ")
    if value is True:
        return words
    return f"{_value(value)} {words}" if name.startswith("n_") else f"{words} {_value(value)}"


def _value(value: Any) -> str:
    if value is None:
        return "learned"
    if isinstance(value, Flat):
        return "learned under a flat hyperprior"
    if isinstance(value, Gamma):
        return f"from Gamma({value.shape:g}, {value.rate:g})"
    return f"{value:g}" if isinstance(value, int | float) else str(value)
