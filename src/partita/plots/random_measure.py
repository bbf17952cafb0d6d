"""A draw G of a process: spikes at its atoms, over the density of the base distribution."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.parameters import whole_number
from partita.plots.canvas import PALETTE, axes_or_new, say_title
from partita.plots.prior_words import prior_in_words
from partita.priors import Prior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASE = "#7a5c3e"
"""Brown: the base density and its axis."""

GRID = 400
"""Points at which the density is drawn."""

MARGIN = 0.05
"""Share of the range of the atoms by which the density reaches beyond it."""


@dataclass(frozen=True)
class RandomMeasureData:
    """What the picture shows.

    Attributes
    ----------
    atoms, weights : (m,) arrays
        Where G has mass, ascending, and how much; atoms that were drawn twice are one.
    rest : float
        What is left of 1: mass on atoms that are not listed.
    grid, density : (g,) arrays
        Where the base density is drawn, and what it is there; empty where it is not known.
    """

    atoms: np.ndarray
    weights: np.ndarray
    rest: float
    grid: np.ndarray
    density: np.ndarray


def random_measure_data(
    prior: Prior, base: Any, n: int = 200, *, density: Callable[..., Any] | None = None, random_state: Any = None
) -> RandomMeasureData:
    """Draw the first n components of G = sum over k of weight_k at atom_k, and the density of the base.

    Parameters
    ----------
    prior : Prior
    base : distribution of scipy, or callable
        Of numbers: ``scipy.stats.norm(0, 3)``, or what `Prior.sample_measure` takes.
    n : int
        Components to draw.
    density : callable, optional
        Of an array of numbers; by default ``base.pdf`` where there is one.
    random_state : None, int, RandomState or Generator
        The draw is ``prior.sample_measure(base, n, random_state)``.

    Examples
    --------
    >>> from scipy import stats
    >>> from partita.priors import DirichletProcess
    >>> data = random_measure_data(DirichletProcess(concentration=1.0), stats.norm(0, 3), n=3, random_state=0)
    >>> data.atoms.round(2), data.weights.round(2)
    (array([-6.98, -3.74, -0.66]), array([0.7 , 0.09, 0.21]))
    """
    if not isinstance(prior, Prior):
        raise TypeError(f"prior must be a Prior; got {prior!r}.")
    atoms, weights = prior.sample_measure(base, whole_number("n", n, 1), random_state)
    if atoms.ndim != 1 or atoms.dtype.kind not in "iuf":
        raise ValueError(f"The atoms must be numbers to be drawn along a line; the base gives shape {atoms.shape[1:]}.")
    places, which = np.unique(atoms, return_inverse=True)
    density = getattr(base, "pdf", None) if density is None else density
    margin = MARGIN * (places[-1] - places[0]) or 1.0
    grid = np.linspace(places[0] - margin, places[-1] + margin, GRID) if density is not None else np.empty(0)
    height = np.asarray(density(grid), dtype=np.float64) if density is not None else np.empty(0)
    rest = max(0.0, 1.0 - float(weights.sum()))
    return RandomMeasureData(places, np.bincount(which, weights), rest, grid, height)


def random_measure(
    prior: Prior,
    base: Any,
    n: int = 200,
    *,
    density: Callable[..., Any] | None = None,
    random_state: Any = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw one G of a process as spikes, over the density of the base distribution.

    A spike stands at an atom and is as high as its weight. Where the base is dense atoms are many, but which of them
    weigh is luck: G is discrete however smooth the base is. The density has the axis on the right.

    Parameters
    ----------
    prior : Prior
        Such as ``DirichletProcess(concentration=5.0)``.
    base : distribution of scipy, or callable
        Of numbers: ``scipy.stats.norm(0, 3)``, or what `Prior.sample_measure` takes.
    n : int
        Components to draw; the title says what they leave of 1.
    density : callable, optional
        Of an array of numbers; by default ``base.pdf`` where there is one.
    random_state : None, int, RandomState or Generator
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from scipy import stats
    >>> from partita.priors import DirichletProcess
    >>> ax = random_measure(DirichletProcess(concentration=5.0), stats.norm(0, 3), random_state=0)
    >>> ax.get_ylabel()
    'weight of the atom'
    """
    data = random_measure_data(prior, base, n, density=density, random_state=random_state)
    ax = axes_or_new(ax)
    ax.vlines(data.atoms, 0.0, data.weights, color=PALETTE[0], linewidth=1.2, zorder=2)
    ax.scatter(data.atoms, data.weights, s=60.0 * np.sqrt(data.weights), color=PALETTE[0], linewidths=0, zorder=3)
    ax.set_ylim(0.0, 1.08 * data.weights.max())
    ax.set_xlabel("atom")
    ax.set_ylabel("weight of the atom")
    ax.spines["top"].set_visible(False)
    if data.grid.size:
        _draw_density(ax, data)
    else:
        ax.spines["right"].set_visible(False)
    say_title(ax, _title(prior, data))
    return ax


def _draw_density(ax: "Axes", data: RandomMeasureData) -> None:
    """Under the spikes, on an axis of its own."""
    right = ax.twinx()
    right.fill_between(data.grid, data.density, color=BASE, alpha=0.15, linewidth=0)
    right.plot(data.grid, data.density, color=BASE, linewidth=1.2)
    right.set_ylim(0.0, 1.08 * data.density.max())
    right.set_ylabel("density of the base", color=BASE)
    right.tick_params(axis="y", colors=BASE)
    right.spines["top"].set_visible(False)
    ax.set_zorder(right.get_zorder() + 1)
    ax.patch.set_visible(False)


def _title(prior: Prior, data: RandomMeasureData) -> str:
    n = np.count_nonzero(data.weights)
    atoms = "1 atom" if n == 1 else f"{n:,} atoms"
    rest = "" if data.rest < 5e-4 else f", {data.rest:.1%} on others"
    return f"A draw G: {atoms}{rest}\n({prior_in_words(prior)})"
