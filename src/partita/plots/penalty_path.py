"""Penalties: how many clusters come out at each, and how stable they are."""

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.plots.canvas import PALETTE, axes_or_new, groups_in_words, open_frame, say_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.means import PenaltyPath


TICKS = (1, 2, 5)
"""Of every power of ten."""


def penalty_path(path: "PenaltyPath | Any", X: Any = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the number of clusters, and their stability, along penalties.

    A number of clusters that many penalties give, and that stays where other rows are looked at, is there in the table;
    one that passes is a choice. The title names the one of the widest range.

    Parameters
    ----------
    path : PenaltyPath, or a DPMeans, BinaryMeans or CRAFT
        What ``penalty_path`` of an estimator has found; or an estimator, whose own penalty is marked if it is fitted.
    X : optional
        With an estimator, the rows: its ``penalty_path(X)`` is drawn, which takes as long as some hundred fits.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes
        Of the number of clusters; those of the stability lie upon it.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import plots
    >>> from partita.means import DPMeans
    >>> rows = np.repeat([[0.0], [10.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 1))
    >>> path = DPMeans(random_state=0).penalty_path(rows, [1, 10, 20, 1000], n_repeats=2)
    >>> plots.penalty_path(path).get_title("left")
    '2 groups over the widest range of penalties, 10 to 20'
    """
    from matplotlib.ticker import MaxNLocator

    from partita.means import PenaltyPath

    model = None if isinstance(path, PenaltyPath) else path
    data: PenaltyPath = path if model is None else _path_of(model, X)
    ax = axes_or_new(ax)
    ax.plot(data.penalties, data.n_clusters, drawstyle="steps-mid", marker=".", color=PALETTE[0])
    if hasattr(model, "penalty_"):
        _mark(ax, model)
    _scale(ax, *data.penalties[[0, -1]])
    ax.set_ylim(0.0, 1.1 * data.n_clusters.max())
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("penalty")
    ax.set_ylabel("number of groups", color=PALETTE[0])
    open_frame(ax)
    if not np.isnan(data.stability).all():
        _draw_stability(ax, data)
    say_title(ax, _title(data))
    return ax


def _path_of(model: Any, X: Any) -> "PenaltyPath":
    if not hasattr(model, "penalty_path"):
        raise TypeError(
            f"A PenaltyPath is drawn, or that of a DPMeans, BinaryMeans or CRAFT, got a {type(model).__name__}."
        )
    if X is None:
        raise TypeError(f"The rows are needed too: penalty_path(model, X), or the PenaltyPath that {model} has found.")
    return model.penalty_path(X)


def _scale(ax: "Axes", first: float, last: float) -> None:
    """Equal ratios of penalties at equal distances, with round numbers where there are any."""
    decades = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
    ticks = [tick * 10.0**decade for decade in decades for tick in TICKS if first <= tick * 10.0**decade <= last]
    ax.set_xscale("log")
    ticks = ticks if len(ticks) > 1 else [first, last]
    ax.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    ax.minorticks_off()


def _mark(ax: "Axes", model: Any) -> None:
    """The penalty of the fit, and its number of clusters."""
    place = (model.penalty_, model.n_clusters_)
    ax.plot(*([number] for number in place), marker="D", markersize=8, color=PALETTE[2], linestyle="none")
    ax.annotate("this fit", place, (8, -14), textcoords="offset points", color=PALETTE[2])


def _draw_stability(ax: "Axes", data: "PenaltyPath") -> None:
    """On an axis of its own, from 0 to 1, on the right."""
    right = ax.twinx()
    right.plot(data.penalties, data.stability, marker=".", linestyle="--", color=PALETTE[1])
    right.set_ylim(min(0.0, np.nanmin(data.stability)), 1.1)
    right.set_ylabel("stability: adjusted Rand index of two halves", color=PALETTE[1])
    right.spines[["top"]].set_visible(False)


def _title(data: "PenaltyPath") -> str:
    """The number of clusters, more than one, that the widest range of penalties gives."""
    runs = [list(run) for _, run in groupby(zip(data.n_clusters, data.penalties), key=lambda pair: pair[0])]
    several = [run for run in runs if run[0][0] > 1]
    if not several:
        return "1 group at every penalty"
    widest = max(several, key=lambda run: run[-1][1] / run[0][1])
    first, last = (f"{penalty:.3g}" for penalty in (widest[0][1], widest[-1][1]))
    where = f"at penalty {first}" if first == last else f"over the widest range of penalties, {first} to {last}"
    return f"{groups_in_words(int(widest[0][0]))} {where}"
