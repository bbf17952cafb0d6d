"""The pieces of a mixture and how they merge into groups, as a dendrogram."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.plots.canvas import axes_or_new, cluster_colors, groups_in_words, open_frame, say_title
from partita.posterior.hierarchy import SMALL_SHARE, Hierarchy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED = 40
"""Pieces up to which each has room for its size."""

TICKS = (0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0)
TICK_ROOM = 0.09  # of the axis
BEYOND_THE_CUT = "0.6"
LINE: dict[str, Any] = {"lw": 1.6, "solid_capstyle": "butt"}


@dataclass(frozen=True)
class HierarchyData:
    """What the picture shows.

    Attributes
    ----------
    pieces : (K,) int array
        The pieces from top to bottom; the larger part of every merge comes first.
    sizes : (K,) array
        Rows of each of them, with weights.
    groups : (K,) int array
        The group of each of them at the cut.
    brackets : (K - 1, 2, 2) array
        Of every merge the two ends of its bracket, each as (overlap where the part was formed, place); a piece is
        formed at ``start``. Places are 0 for the first piece, 1 for the second; of a merged group the middle of its
        parts.
    overlaps : (K - 1,) array
        Heights of the merges, falling; see `Hierarchy.overlaps`.
    merged : (K - 1,) bool array
        Whether the merge is part of the cut.
    start : float
        Where the pieces stand, above all overlaps.
    cut : float
        The overlap that the line is drawn at.
    criterion : str
    """

    pieces: np.ndarray
    sizes: np.ndarray
    groups: np.ndarray
    brackets: np.ndarray
    overlaps: np.ndarray
    merged: np.ndarray
    start: float
    cut: float
    criterion: str

    @property
    def n_groups(self) -> int:
        """Number of groups at the cut."""
        return int(self.groups.max()) + 1


def hierarchy_data(found: Any, n_groups: int | None = None) -> HierarchyData:
    """The brackets of a dendrogram.

    Parameters
    ----------
    found : Hierarchy, or what has one: a fitted estimator or a Posterior
    n_groups : int, optional
        Where the cut is; by default ``suggested``.

    Examples
    --------
    >>> from partita import Posterior
    >>> data = hierarchy_data(Posterior([[0, 0, 1, 1, 2], [0, 0, 1, 1, 1], [0, 0, 1, 1, 2]]))
    >>> data.n_groups, data.overlaps.round(2)
    (2, array([0.33, 0.  ]))
    """
    merges = found if isinstance(found, Hierarchy) else found.hierarchy()
    n_pieces, overlaps = merges.n_pieces, merges.overlaps
    by_piece = merges.groups(n_groups)
    kept = n_pieces - (int(by_piece.max()) + 1)
    start = max(float(overlaps.max(initial=0.0)), SMALL_SHARE) * 1.15
    order, brackets = _brackets(merges, start)
    return HierarchyData(
        pieces=order,
        sizes=merges.sizes[order],
        groups=by_piece[order],
        brackets=brackets,
        overlaps=overlaps,
        merged=np.arange(n_pieces - 1) < kept,
        start=start,
        cut=_between(overlaps, kept, start),
        criterion=merges.criterion,
    )


def _between(overlaps: np.ndarray, kept: int, start: float) -> float:
    """An overlap that parts the merges before the cut from those after it."""
    edges = np.concatenate([[start], overlaps, [0.0]])
    return float(edges[kept] + edges[kept + 1]) / 2


def _brackets(merges: Hierarchy, start: float) -> tuple[np.ndarray, np.ndarray]:
    """The pieces in an order in which no two brackets cross, and the two ends of every bracket."""
    n_pieces, parts = merges.n_pieces, merges.merges[:, :2].astype(np.int64)
    sizes = np.append(merges.sizes, merges.merges[:, 3])
    order, waiting = [], [2 * n_pieces - 2]
    while waiting:
        group = waiting.pop()
        if group < n_pieces:
            order.append(group)
        else:
            waiting.extend(sorted(parts[group - n_pieces], key=lambda part: sizes[part]))
    place, formed = np.empty(2 * n_pieces - 1), np.full(2 * n_pieces - 1, start)
    place[order] = np.arange(n_pieces)
    formed[n_pieces:] = merges.overlaps
    for t, pair in enumerate(parts):
        place[n_pieces + t] = place[pair].mean()
    return np.array(order), np.stack([formed[parts], place[parts]], axis=2)


def hierarchy(found: Any, n_groups: int | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the pieces on the left and how they merge towards the right, where overlap ends.

    Merges left of the dashed line are made, in the colour of the group; those to the right are not. Pieces that do
    not overlap at all meet at 0.

    Parameters
    ----------
    found : Hierarchy, or what has one: a fitted estimator or a Posterior
    n_groups : int, optional
        Where the line is; by default at the number of groups that is suggested.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from partita import Posterior
    >>> hierarchy(Posterior([[0, 0, 1, 1, 2], [0, 0, 1, 1, 1], [0, 0, 1, 1, 2]])).get_title("left")
    '3 pieces form 2 groups'
    """
    data = hierarchy_data(found, n_groups)
    n_pieces = data.pieces.size
    ax = axes_or_new(ax, height=min(max(2.5, 0.22 * n_pieces + 1.2), 10.0))
    colors = cluster_colors()
    for bracket, overlap, merged in zip(data.brackets, data.overlaps, data.merged):
        (near, low), (far, high) = bracket
        color = colors[_group_at(data, low) % len(colors)] if merged else BEYOND_THE_CUT
        ax.plot([near, overlap, overlap, far], [low, low, high, high], color=color, **LINE)
        for formed, place in () if merged else bracket:
            if formed > data.cut:
                ax.plot([formed, data.cut], [place, place], color=colors[_group_at(data, place) % len(colors)], **LINE)
    if n_pieces == 1:
        ax.plot([data.start, 0.0], [0.0, 0.0], color=colors[0], **LINE)
    ax.axvline(data.cut, color="black", lw=0.9, ls="--")
    _draw_axes(ax, data)
    say_title(ax, _title(data))
    return ax


def _group_at(data: HierarchyData, place: float) -> int:
    """The group of the pieces that meet at a place."""
    return int(data.groups[int(place)])


def _draw_axes(ax: "Axes", data: HierarchyData) -> None:
    ax.set_xscale("function", functions=(_root, np.square))
    ax.set_xlim(data.start, 0.0)
    ax.set_xticks(_ticks_to(data.start), minor=False)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    ax.set_xlabel(f"overlap ({data.criterion})")
    ax.set_ylim(data.pieces.size - 0.4, -0.6)
    ax.set_ylabel("piece: rows")
    named = data.pieces.size <= MOST_NAMED
    ax.set_yticks(np.arange(data.pieces.size) if named else [])
    if named:
        ax.set_yticklabels([f"{piece}: {size:,.0f}" for piece, size in zip(data.pieces, data.sizes)], fontsize="small")
    ax.tick_params(axis="y", length=0)
    open_frame(ax)


def _ticks_to(start: float) -> list[float]:
    """The ticks below ``start`` that have room beside each other, 0 among them."""
    chosen = [0.0]
    for tick in TICKS:
        if tick < start and tick**0.5 - chosen[-1] ** 0.5 > TICK_ROOM * start**0.5:
            chosen.append(tick)
    return chosen


def _root(overlap: np.ndarray) -> np.ndarray:
    """Small overlaps are told apart better on the scale of their root."""
    return np.sqrt(np.maximum(overlap, 0.0))


def _title(data: HierarchyData) -> str:
    if data.pieces.size == 1:
        return "1 piece, nothing to merge"
    verb = "stay" if data.n_groups == data.pieces.size else "form"
    return f"{data.pieces.size} pieces {verb} {groups_in_words(data.n_groups)}"
