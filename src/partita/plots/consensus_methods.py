"""Consensus methods side by side: how near each comes to the truth, how far it agrees, what it finds and costs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from partita.plots.canvas import PALETTE, axes_or_new, open_frame, say_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 0.34
"""Height of a method's line, in inches."""

FADED = "0.55"
"""Grey of what could not run."""

LONGEST_NAME, LONGEST_REASON = 36, 72
"""Letters that there is room for."""

GROUPS, SECONDS, MEGABYTES, WIDEST = 1.22, 1.42, 1.56, 1.58
"""Where the columns on the right end, and the picture, where an index of 1 is at 1."""


@dataclass(frozen=True)
class ConsensusMethodsData:
    """What the picture shows: a line per method, the best first, those that could not run last.

    Attributes
    ----------
    methods : tuple of str
    adjusted_rand : (m,) array or None
        With the truth; None where it is not known.
    agreement : (m,) array
        Mean adjusted Rand index with the base clusterings.
    n_clusters, seconds, megabytes : (m,) array
        nan where a method could not run; megabytes also where the system does not say.
    told : (m,) bool array
        Which were told the number of clusters.
    notes : tuple of str
    """

    methods: tuple[str, ...]
    adjusted_rand: np.ndarray | None
    agreement: np.ndarray
    n_clusters: np.ndarray
    seconds: np.ndarray
    megabytes: np.ndarray
    told: np.ndarray
    notes: tuple[str, ...]

    @property
    def scores(self) -> np.ndarray:
        """By what they are ordered: nearness to the truth, or agreement where it is not known."""
        return self.agreement if self.adjusted_rand is None else self.adjusted_rand

    @property
    def ran(self) -> np.ndarray:
        """Which methods found anything, (m,)."""
        return ~np.isnan(self.n_clusters)


def consensus_methods_data(frame: Any) -> ConsensusMethodsData:
    """The columns of a frame of `partita.consensus.compare`, its lines ordered by score.

    Parameters
    ----------
    frame : frame of any library

    Examples
    --------
    >>> import numpy as np
    >>> from partita.consensus import compare
    >>> halves = np.repeat([0, 1], 10)
    >>> frame = compare(np.column_stack([halves, 1 - halves, halves]), halves, ["eac", "hbgf"], n_clusters=2)
    >>> consensus_methods_data(frame).adjusted_rand
    array([1., 1.])
    """
    columns = {column.name: column for column in nw.from_native(frame, eager_only=True).iter_columns()}
    expected = ("method", "n_clusters", "told", "agreement", "seconds", "megabytes", "note")
    missing = [name for name in expected if name not in columns]
    if missing:
        raise ValueError(f"The frame has no column {missing[0]!r}: pass what partita.consensus.compare returns.")
    numbers = {
        name: np.array(columns[name].to_list(), dtype=float)
        for name in ("adjusted_rand", "agreement", "n_clusters", "seconds", "megabytes")
        if name in columns
    }
    scores = numbers.get("adjusted_rand", numbers["agreement"])
    order = np.lexsort((-np.nan_to_num(numbers["agreement"]), -scores, np.isnan(numbers["n_clusters"])))
    words = {name: columns[name].to_list() for name in ("method", "note")}
    return ConsensusMethodsData(
        methods=tuple(words["method"][i] for i in order),
        adjusted_rand=numbers["adjusted_rand"][order] if "adjusted_rand" in numbers else None,
        told=np.array(columns["told"].to_list(), dtype=bool)[order],
        notes=tuple(words["note"][i] for i in order),
        **{name: numbers[name][order] for name in ("agreement", "n_clusters", "seconds", "megabytes")},
    )


def consensus_methods(frame: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw what `partita.consensus.compare` found: a line per method, the best on top.

    A dot is the adjusted Rand index with the truth, where it is known; a diamond the mean one with the base
    clusterings. A diamond far to the right with a dot far to the left is a method that follows its ensemble where that
    is wrong. On the right the number of groups, in brackets where it was told, seconds, and megabytes.

    Parameters
    ----------
    frame : frame of any library
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from partita import plots
    >>> from partita.consensus import compare
    >>> halves = np.repeat([0, 1], 10)
    >>> frame = compare(np.column_stack([halves, 1 - halves, halves]), halves, ["hbgf"], n_clusters=2)
    >>> plots.consensus_methods(frame).get_title("left")
    'hbgf comes nearest to the truth: adjusted Rand index 1.00'
    """
    data = consensus_methods_data(frame)
    lines = np.arange(len(data.methods))
    ax = axes_or_new(ax, height=1.2 + LINE * len(lines))
    _draw_scores(ax, data, lines[data.ran])
    _write_columns(ax, data, lines[data.ran])
    for line in lines[~data.ran]:
        reason = _short(f"could not run: {data.notes[line]}", LONGEST_REASON)
        ax.text(0.0, line, reason, va="center", color=FADED, fontsize="small")
    ax.set_yticks(lines, [_short(name, LONGEST_NAME) for name in data.methods])
    ax.set_ylim(len(lines) - 0.4, -1.1)
    ax.tick_params(axis="y", length=0)
    open_frame(ax)
    ax.spines["left"].set_visible(False)
    say_title(ax, _title(data))
    return ax


def _draw_scores(ax: "Axes", data: ConsensusMethodsData, lines: np.ndarray) -> None:
    """Dots and diamonds, those of one method joined, and under them what they are."""
    words = "\N{WHITE DIAMOND} with the base clusterings, on average"
    if data.adjusted_rand is not None:
        ends = np.sort([data.adjusted_rand[lines], data.agreement[lines]], axis=0)
        ax.hlines(lines, *ends, color="0.8", linewidth=1.5, zorder=1)
        ax.scatter(data.adjusted_rand[lines], lines, s=48, color=PALETTE[0], zorder=3)
        words = f"\N{BLACK CIRCLE} with the truth   {words}"
    ax.scatter(
        data.agreement[lines], lines, s=36, marker="D", facecolor="white", edgecolor=PALETTE[1], linewidth=1.5, zorder=2
    )
    least = float(np.nanmin([0.0, *data.agreement, *data.scores]))
    ticks = np.arange(np.floor(5.0 * least), 6.0) / 5.0
    ax.set_xlim(ticks[0] - 0.03, WIDEST)
    ax.set_xticks(ticks)
    ax.vlines(ticks, -0.6, len(data.methods) - 0.4, color="0.92", linewidth=0.8, zorder=0)
    ax.spines["bottom"].set_bounds(ticks[0], 1.0)
    ax.set_xlabel(f"adjusted Rand index:   {words}", loc="left", fontsize="small")


def _write_columns(ax: "Axes", data: ConsensusMethodsData, lines: np.ndarray) -> None:
    """Numbers of groups, seconds and megabytes, on the right."""
    numbers = [f"({k:.0f})" if told else f"{k:.0f}" for k, told in zip(data.n_clusters[lines], data.told[lines])]
    columns = {
        (GROUPS, "groups"): numbers,
        (SECONDS, "seconds"): [f"{value:.2f}" if value < 10 else f"{value:,.0f}" for value in data.seconds[lines]],
        (MEGABYTES, "MB"): ["-" if np.isnan(value) else f"{value:,.0f}" for value in data.megabytes[lines]],
    }
    for (x, head), cells in columns.items():
        ax.text(x, -0.75, head, ha="right", va="center", color="0.35", fontsize="small")
        for line, cell in zip(lines, cells):
            ax.text(x, line, cell, ha="right", va="center", fontsize="small")


def _short(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 3]}..."


def _title(data: ConsensusMethodsData) -> str:
    if not data.ran.any():
        return "No method could run"
    best, name = data.scores[0], _short(data.methods[0], LONGEST_NAME)
    if np.isnan(best):
        return "The base clusterings tell no objects apart"
    n_others = int(np.count_nonzero(data.scores == best)) - 1
    who = f"{name} and {n_others} more" if n_others else name
    come, agree = ("come", "agree") if n_others else ("comes", "agrees")
    if data.adjusted_rand is None:
        return f"{who} {agree} most with the base clusterings: {best:.2f}"
    return f"{who} {come} nearest to the truth: adjusted Rand index {best:.2f}"
