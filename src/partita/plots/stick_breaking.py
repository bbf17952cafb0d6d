"""Sticks of length 1, broken into the weights of a prior."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.parameters import seed_from, whole_number
from partita.plots.canvas import NOT_KNOWN, axes_or_new, cluster_colors, say_title
from partita.plots.prior_words import kind_in_words, options_in_words, prior_in_words
from partita.priors import Prior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BETWEEN = 0.6
"""Space between the sticks of two priors, in sticks."""

NARROWEST_NUMBERED = 0.045
"""Length of a piece from which its number has room in it."""


@dataclass(frozen=True)
class StickBreakingData:
    """What the picture shows of one prior.

    Attributes
    ----------
    name : str
    weights : (draws, n) array
        The pieces of every stick, in the order in which they were broken off.
    """

    name: str
    weights: np.ndarray

    @property
    def rest(self) -> np.ndarray:
        """What the n pieces leave of every stick."""
        return np.maximum(1.0 - self.weights.sum(axis=1), 0.0)


def stick_breaking_data(
    prior: Prior | Sequence[Prior] | Mapping[str, Prior], n: int = 20, *, draws: int = 3, random_state: Any = None
) -> tuple[StickBreakingData, ...]:
    """Draw the first n weights of one or more priors, several times each.

    Parameters
    ----------
    prior : Prior, sequence of Prior or mapping of str to Prior
        A mapping gives the names; otherwise the options of a prior are its name.
    n : int
        Pieces of a stick.
    draws : int
        Sticks per prior.
    random_state : None, int, RandomState or Generator
        Stick by stick the same random numbers serve every prior, so that they are compared and not their luck.

    Examples
    --------
    >>> from partita.priors import DirichletProcess
    >>> [data] = stick_breaking_data(DirichletProcess(concentration=1.0), n=3, draws=2, random_state=0)
    >>> data.weights.round(2)
    array([[0.85, 0.01, 0.04],
           [0.74, 0.05, 0.13]])
    """
    n, draws = whole_number("n", n, 1), whole_number("draws", draws, 1)
    seeds = seed_from(random_state).spawn(draws)
    return tuple(
        StickBreakingData(name, np.array([one.sample_weights(n, np.random.default_rng(seed)) for seed in seeds]))
        for name, one in _named(prior).items()
    )


def stick_breaking(
    prior: Prior | Sequence[Prior] | Mapping[str, Prior],
    n: int = 20,
    *,
    draws: int = 3,
    random_state: Any = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw sticks of length 1, each broken into the weights of one draw from a prior.

    A colour is the number of a piece: the first broken off, the second, and so on. Grey is what n pieces leave: the
    components that are not listed.

    Parameters
    ----------
    prior : Prior, sequence of Prior or mapping of str to Prior
        Such as ``{"alpha = 1": DirichletProcess(concentration=1.0), ...}``; the sticks of one stand under those of
        another.
    n : int
        Pieces of a stick.
    draws : int
        Sticks per prior.
    random_state : None, int, RandomState or Generator
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from partita.priors import DirichletProcess
    >>> print(stick_breaking(DirichletProcess(concentration=1.0), n=5, random_state=0).get_title("left"))
    3 sticks broken into weights: grey is what 5 pieces leave
    (Dirichlet process with concentration 1)
    """
    data = stick_breaking_data(prior, n, draws=draws, random_state=random_state)
    ax = axes_or_new(ax, height=min(1.2 + (0.34 * draws + 0.2) * len(data), 12.0))
    for group, one in enumerate(data):
        for draw, (weights, rest) in enumerate(zip(one.weights, one.rest, strict=True)):
            _draw_stick(ax, group * (draws + BETWEEN) + draw, weights, rest)
    middles = np.arange(len(data)) * (draws + BETWEEN) + (draws - 1) / 2
    ax.set_yticks(middles, ["" if isinstance(prior, Prior) else one.name for one in data])
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, 1)
    ax.set_ylim(middles[-1] + draws / 2 + 0.1, -0.6)
    ax.set_xlabel("share of the stick")
    ax.spines[["left", "top", "right"]].set_visible(False)
    say_title(ax, _title(prior, n, draws))
    return ax


def _draw_stick(ax: "Axes", place: float, weights: np.ndarray, rest: float) -> None:
    colors = cluster_colors()
    ends = np.cumsum(weights)
    ax.barh(
        np.full(weights.size, place),
        weights,
        left=ends - weights,
        height=0.8,
        color=[colors[k % len(colors)] for k in range(weights.size)],
        edgecolor="white",
        linewidth=0.3,
    )
    ax.barh(place, rest, left=1.0 - rest, height=0.8, color=NOT_KNOWN, edgecolor="white", linewidth=0.3)
    for k in np.flatnonzero(weights > NARROWEST_NUMBERED):
        middle = ends[k] - weights[k] / 2
        ax.text(middle, place, f"{weights[k]:.2f}", ha="center", va="center", fontsize="x-small", color="white")


def _named(prior: Any) -> dict[str, Prior]:
    if isinstance(prior, Mapping):
        named = {str(name): _checked(one) for name, one in prior.items()}
    else:
        priors = [_checked(one) for one in (prior if isinstance(prior, Iterable) else [prior])]
        one_kind = len({type(one) for one in priors}) == 1
        named = {_short(one, one_kind): one for one in priors}
        if len(named) < len(priors):
            raise ValueError("Two of the priors are the same: leave one out, or name them in a mapping.")
    if not named:
        raise ValueError("There is no prior to draw: give at least one.")
    return named


def _checked(prior: Any) -> Prior:
    if not isinstance(prior, Prior):
        raise TypeError(f"prior must be a Prior, a sequence or a mapping of them; got {prior!r}.")
    return prior


def _short(prior: Prior, one_kind: bool) -> str:
    options = options_in_words(prior, between="\n")
    return options if one_kind else f"{kind_in_words(prior)}\n{options}"


def _title(prior: Any, n: int, draws: int) -> str:
    sticks = "A stick" if draws == 1 else f"{draws} sticks"
    left = "grey is what 1 piece leaves" if n == 1 else f"grey is what {n} pieces leave"
    if isinstance(prior, Prior):
        return f"{sticks} broken into weights: {left}\n({prior_in_words(prior)})"
    return f"{sticks}{'' if draws == 1 else ' each'}, broken into weights: {left}"
