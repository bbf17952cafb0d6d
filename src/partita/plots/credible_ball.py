"""Credible ball: the partitions at its edges beside its centre, row by row."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.partitions import Partitions, by_size
from partita.plots.canvas import (
    NOT_KNOWN,
    axes_or_new,
    cluster_colors,
    groups_in_words,
    rows_in_words,
    say_title,
)
from partita.plots.rows import spread
from partita.posterior.alignment import align
from partita.posterior.estimate.expected import losses_to_draws

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 500
"""Rows that are drawn: each is a column, and more would be narrower than a dot."""

NARROWEST_NAMED = 0.04
"""Share of the columns from which a cluster of the centre has room for its name."""

WORDS = {
    "centre": "centre",
    "horizontal": "farthest\n(horizontal bound)",
    "upper": "fewest groups\n(upper bound)",
    "lower": "most groups\n(lower bound)",
}


@dataclass(frozen=True)
class CredibleBallData:
    """What the picture shows.

    Attributes
    ----------
    names : tuple of str
        The partitions: centre, horizontal, upper, lower.
    order : (m,) int array
        The rows shown, by position in the table.
    labels : (4, m) int array
        Their clusters: those of the centre 0, 1, ... by size, the others numbered like their counterparts in it.
    boundaries : (K + 1,) int array
        Cluster k of the centre is shown from ``boundaries[k]`` up to and without ``boundaries[k + 1]``.
    n_clusters : (4,) int array
    distances : (4,) array
        Loss of the centre from each, in the ball's own loss.
    n_rows : int
        Rows that have a cluster in the centre, whether shown or not.
    """

    names: tuple[str, ...]
    order: np.ndarray
    labels: np.ndarray
    boundaries: np.ndarray
    n_clusters: np.ndarray
    distances: np.ndarray
    n_rows: int


def credible_ball_data(ball: Any, *, most_rows: int = MOST_ROWS) -> CredibleBallData:
    """Order rows by the centre's clusters, and within each by what the bounds make of it.

    Parameters
    ----------
    ball : CredibleBall
        With ``labels`` (the centre), ``horizontal``, ``upper`` and ``lower``, one label per row each; -1 means not
        labelled, and rows without a label in the centre are left out.
    most_rows : int
        Of more rows, about as many are shown: the same share of every cluster of the centre, at least one of each.

    Notes
    -----
    Cost O(n log n + K^3); never an n x n array.

    Examples
    --------
    >>> from partita import Posterior
    >>> ball = Posterior([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]).credible_ball()
    >>> credible_ball_data(ball).distances.round(2)
    array([0.  , 0.82, 0.82, 0.82])
    """
    centre = by_size(ball.labels)
    if centre.max() < 0:
        raise ValueError("All labels of the centre are -1: there is no cluster to show.")
    bounds = [align(labels, centre, len(centre)) for labels in (ball.horizontal, ball.upper, ball.lower)]
    labels = np.stack([centre, *bounds])
    order = _order(*labels)
    sizes = np.bincount(centre[centre >= 0])
    rows = order[spread(centre[order], sizes, most_rows)]
    return CredibleBallData(
        names=tuple(WORDS),
        order=rows,
        labels=labels[:, rows],
        boundaries=np.concatenate([[0], np.cumsum(np.bincount(centre[rows]))]),
        n_clusters=np.array([len(np.unique(row[row >= 0])) for row in labels]),
        distances=losses_to_draws(ball.loss, centre, Partitions(labels)),
        n_rows=int(sizes.sum()),
    )


def credible_ball(ball: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the centre of a credible ball above its three bounds: every column is a row of the table.

    A colour is a cluster of the centre and its counterpart in every bound. A block that keeps its colour all the way
    down is certain; one that changes in the upper bound could be part of another, one that falls apart in
    the lower bound could be several. Of many rows about 500 are shown.

    Parameters
    ----------
    ball : CredibleBall
        What ``posterior.credible_ball()`` gives.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Wade and Ghahramani (2018), section 4.

    Examples
    --------
    >>> from partita import Posterior
    >>> ball = Posterior([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]).credible_ball()
    >>> credible_ball(ball).get_title("left")
    '95% credible ball of 4 rows, radius 0.824'
    """
    from matplotlib.colors import ListedColormap

    data = credible_ball_data(ball)
    ax = axes_or_new(ax)
    colors = cluster_colors()
    ax.imshow(
        np.ma.masked_where(data.labels < 0, data.labels % len(colors)),
        cmap=ListedColormap(colors).with_extremes(bad=NOT_KNOWN),
        vmin=-0.5,
        vmax=len(colors) - 0.5,
        aspect="auto",
        interpolation="nearest",
        extent=(0, len(data.order), len(data.names), 0),
    )
    _draw_names(ax, data)
    note = "" if len(data.order) == data.n_rows else f" ({len(data.order):,} shown)"
    say_title(
        ax, f"{100 * ball.level:.4g}% credible ball of {rows_in_words(data.n_rows)}{note}, radius {ball.radius:.3g}"
    )
    return ax


def _order(centre: np.ndarray, horizontal: np.ndarray, upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """Rows by the centre's cluster; in it, rows that stay come before rows that move, bound after bound."""
    keys = [key for bound in (upper, horizontal, lower) for key in (bound != centre, bound)]
    return np.lexsort([*reversed(keys), centre])


def _draw_names(ax: "Axes", data: CredibleBallData) -> None:
    """Separate the partitions and the centre's clusters, and name both."""
    ax.hlines(np.arange(1, len(data.names)), 0, len(data.order), color="white", linewidth=5)
    ax.vlines(data.boundaries[1:-1], 0, len(data.names), color="white", linewidth=0.6)
    widths = np.diff(data.boundaries)
    names = [str(k) if width >= NARROWEST_NAMED * len(data.order) else "" for k, width in enumerate(widths)]
    ax.set_xticks(data.boundaries[:-1] + widths / 2, names)
    ax.set_yticks(np.arange(len(data.names)) + 0.5, _captions(data), fontsize="small")
    ax.set_xlabel("rows, in the order of the centre's groups")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _captions(data: CredibleBallData) -> list[str]:
    """Each partition in words: what it is, how many groups it has, how far it is from the centre."""
    words = [f"{WORDS[name]}\n{groups_in_words(k)}" for name, k in zip(data.names, data.n_clusters)]
    return [words[0], *(f"{text}, distance {far:.2f}" for text, far in zip(words[1:], data.distances[1:]))]
