"""What the options of `NBCE` mean: its prior and its family, with what is learned and what is fixed."""

from collections.abc import Iterable
from typing import Any

from sklearn.base import clone

from partita.families import Categorical
from partita.parameters import choose, is_number, nearest
from partita.priors import PRIORS, Gamma, Prior
from partita.priors.named import has_limit

LEARNABLE = ("concentration", "pseudocount")

BEFOREHAND = 4.0
"""Objects that a cluster holds of a base clustering beforehand, at most. Chosen by ``python -m benchmarks.votes``."""


def learned_from(value: Any) -> tuple[str, ...]:
    """The names in ``learn``, checked."""
    given = tuple(value) if isinstance(value, tuple | list | set | frozenset) else None
    if given is None:
        one = f" Did you mean ({value!r},)?" if value in LEARNABLE else ""
        raise TypeError(f"learn must be a tuple of names out of {LEARNABLE}, or () for none; got {value!r}.{one}")
    for name in given:
        if name not in LEARNABLE:
            hint = nearest(name, LEARNABLE)
            raise ValueError(f"learn may hold {' and '.join(map(repr, LEARNABLE))}; got {name!r}. {hint}".rstrip())
    return given


def consensus_prior(prior: Any, n_components: Any, concentration: Any, learned: tuple[str, ...]) -> Prior:
    """The prior that is named, with these options; or the prior given, its concentration fixed if not to be learned."""
    learns = "concentration" in learned
    if isinstance(prior, str):
        kind = choose("prior", prior, PRIORS)
        limit = {"n_components": n_components} if has_limit(kind) else {}
        return kind(**limit, concentration=hyperparameter("concentration", concentration, learns))
    if not isinstance(prior, Prior):
        names = ", ".join(map(repr, PRIORS))
        raise TypeError(f"prior must be one of {names} or a prior of partita.priors; got {prior!r}.")
    if concentration is not None:
        raise ValueError(
            f"concentration={concentration!r} beside a prior object: give it to the prior, as in "
            f"{type(prior).__name__}(..., concentration={concentration!r})."
        )
    if prior.learns_concentration and not learns:
        prior.hyperprior.check()
        return clone(prior).set_params(concentration=prior.hyperprior.mean)
    return prior


def few_beforehand(n_labels: Iterable[int]) -> tuple[float, ...]:
    """The pseudocounts of base clusterings with so many labels, where none is told.

    A pseudocount of 1 says that a cluster holds J objects of every base clustering beforehand, one of each label. Where
    J is large that is more than small clusters have, which then cost more than they tell, and less so the more votes
    there are. With at most four objects beforehand, clusters of any size are found by the same votes.
    """
    return tuple(min(1.0, BEFOREHAND / max(int(n), 1)) for n in n_labels)


def consensus_family(pseudocount: Any, learned: tuple[str, ...]) -> Categorical:
    """Categorical columns with this pseudocount, fixed or learned."""
    learns = "pseudocount" in learned
    if learns or pseudocount is None or isinstance(pseudocount, Gamma):
        pseudocount = hyperparameter("pseudocount", pseudocount, learns)
    return Categorical(pseudocount=pseudocount)


def hyperparameter(name: str, value: Any, learns: bool) -> float | Gamma:
    """A positive number that is fixed, or the hyperprior under which it is learned; a number is then its mean."""
    if isinstance(value, Gamma):
        if not learns:
            raise ValueError(
                f"{name} is a {value!r}, under which it is to be learned, but learn does not hold {name!r}: "
                "add it to learn, or pass a number."
            )
        return value
    number = 1.0 if value is None else value
    if not (is_number(number) and number > 0):
        raise ValueError(f"{name} must be a positive number, None or a Gamma; got {value!r}.")
    return Gamma(1.0, 1.0 / number) if learns else float(number)
