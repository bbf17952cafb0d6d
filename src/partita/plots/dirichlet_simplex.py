"""Dirichlet distributions over three weights, as shaded triangles."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from partita.parameters import generator_from, whole_number
from partita.plots.canvas import PALETTE, axes_or_new, say_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXAMPLES = ((2.0, 2.0, 2.0), (20.0, 2.0, 2.0), (0.1, 0.1, 0.1))
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
BETWEEN = 0.3
"""Space between two triangles, in sides of a triangle."""

DARKEST = 0.98
"""Cells denser than this share of all are drawn alike: below a parameter of 1 the density is infinite at the edge."""


@dataclass(frozen=True)
class DirichletSimplexData:
    """What the picture shows of one distribution.

    Attributes
    ----------
    alpha : (3,) array
    cells : (m, 3) array
        Middles of small triangles that cover the simplex: weights that sum to 1, all positive.
    density : (m,) array
        The density at these points, with respect to the first two weights.
    draws : (n, 3) array
    """

    alpha: np.ndarray
    cells: np.ndarray
    density: np.ndarray
    draws: np.ndarray


def dirichlet_simplex_data(
    alphas: ArrayLike = EXAMPLES, *, draws: int = 60, resolution: int = 120, random_state: Any = None
) -> tuple[DirichletSimplexData, ...]:
    """Density and draws of Dirichlet distributions over three weights.

    Gamma(a_1 + a_2 + a_3) / prod_k Gamma(a_k) * prod_k weight_k^(a_k - 1).

    Parameters
    ----------
    alphas : (3,) or (m, 3) array-like
        The parameters of one or more distributions.
    draws : int
        Draws of each.
    resolution : int
        Small triangles along a side.
    random_state : None, int, RandomState or Generator

    Examples
    --------
    >>> [data] = dirichlet_simplex_data([1.0, 1.0, 1.0], draws=2, resolution=2, random_state=0)
    >>> data.density, data.draws.sum(axis=1)
    (array([2., 2., 2., 2.]), array([1., 1.]))
    """
    alphas = _checked(alphas)
    draws, resolution = whole_number("draws", draws, 0), whole_number("resolution", resolution, 2)
    rng = generator_from(random_state)
    cells = _corners(resolution).mean(axis=1)
    return tuple(
        DirichletSimplexData(alpha, cells, _density(cells, alpha), rng.dirichlet(alpha, draws)) for alpha in alphas
    )


def dirichlet_simplex(
    alphas: ArrayLike = EXAMPLES,
    *,
    draws: int = 60,
    resolution: int = 120,
    random_state: Any = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw Dirichlet distributions over three weights as triangles, side by side within one axes.

    A corner is a weight of 1; dark is dense, every triangle on its own scale; dots are draws. The sum of the
    parameters says how strong the peak is and their shares where its mean lies; below 1 the mass lies on the edges.

    Parameters
    ----------
    alphas : (3,) or (m, 3) array-like
        The parameters of one or more distributions.
    draws : int
        Draws of each.
    resolution : int
        Small triangles along a side.
    random_state : None, int, RandomState or Generator
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = dirichlet_simplex([[2.0, 2.0, 2.0], [0.1, 0.1, 0.1]], draws=5, random_state=0)
    >>> ax.get_title("left")
    'Dirichlet distributions over three weights: dark is dense, dots are 5 draws'
    """
    data = dirichlet_simplex_data(alphas, draws=draws, resolution=resolution, random_state=random_state)
    ax = axes_or_new(ax, height=max(2.6, 4.6 - len(data)))
    for place, one in enumerate(data):
        _draw_triangle(ax, one, place * (1 + BETWEEN), resolution)
    ax.set_aspect("equal", anchor="W")
    ax.set_xlim(-0.16, len(data) * (1 + BETWEEN) - BETWEEN + 0.16)
    ax.set_ylim(-0.32, CORNERS[2, 1] + 0.16)
    ax.set_axis_off()
    one_or_many = "A Dirichlet distribution" if len(data) == 1 else "Dirichlet distributions"
    dots = "" if draws == 0 else f", dots are {draws} draws"
    say_title(ax, f"{one_or_many} over three weights: dark is dense{dots}")
    return ax


def _draw_triangle(ax: "Axes", one: DirichletSimplexData, shift: float, resolution: int) -> None:
    from matplotlib.collections import PolyCollection

    offset = np.array([shift, 0.0])
    cells = _corners(resolution) @ CORNERS + offset
    bounded = bool((one.alpha >= 1).all())
    top = max(one.density.max() if bounded else np.quantile(one.density, DARKEST), np.finfo(float).tiny)
    shades = PolyCollection(cells, array=np.minimum(one.density / top, 1.0), cmap="Blues", linewidth=0.1)
    shades.set_edgecolor("face")
    shades.set_clim(0.0, 1.25)
    ax.add_collection(shades)
    corners = CORNERS + offset
    ax.fill(*corners.T, facecolor="none", edgecolor="0.3", linewidth=1.0)
    x, y = (one.draws @ CORNERS + offset).T
    ax.scatter(x, y, s=5, color=PALETTE[1], linewidth=0, zorder=3)
    for k, (corner, away) in enumerate(zip(corners, CORNERS - CORNERS.mean(axis=0), strict=True), start=1):
        x, y = corner + 0.16 * away
        ax.text(x, y, rf"$\pi_{k}$", ha="center", va="center")
    alpha = ", ".join(f"{value:g}" for value in one.alpha)
    ax.text(shift + 0.5, -0.24, rf"$\alpha$ = ({alpha})", ha="center", va="center")


def _checked(alphas: Any) -> np.ndarray:
    try:
        values = np.asarray(alphas, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"alphas must be three numbers, or rows of three; got {alphas!r}.") from error
    if values.ndim == 1:
        values = values[None]
    if values.ndim != 2 or values.shape[0] == 0 or values.shape[1] != 3:
        raise ValueError(f"alphas must be three numbers, or rows of three; got shape {values.shape}.")
    if not np.all(np.isfinite(values) & (values > 0)):
        raise ValueError(f"alphas must be positive and finite; got {values[~(np.isfinite(values) & (values > 0))][0]}.")
    return values


def _density(cells: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    return np.exp(gammaln(alpha.sum()) - gammaln(alpha).sum() + np.log(cells) @ (alpha - 1.0))


def _corners(resolution: int) -> np.ndarray:
    """Corners (m, 3, 3) of the small triangles, as weights: those that point up, then those that point down."""
    i, j = np.mgrid[:resolution, :resolution]
    up = np.stack([i, j], axis=-1)[i + j < resolution]
    down = np.stack([i, j], axis=-1)[i + j < resolution - 1]
    first = up[:, None] + [[0, 0], [1, 0], [0, 1]]
    second = down[:, None] + [[1, 1], [1, 0], [0, 1]]
    two = np.concatenate([first, second]) / resolution
    return np.concatenate([two, 1.0 - two.sum(axis=-1, keepdims=True)], axis=-1)
