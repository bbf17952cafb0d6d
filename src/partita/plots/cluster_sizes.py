"""Cluster sizes of several partitions side by side, such as before and after regularisation."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.labels import label_codes
from partita.partitions import by_size
from partita.plots.canvas import PALETTE, axes_or_new, groups_in_words, open_frame, rows_in_words, say_title
from partita.posterior.alignment import align

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CLUSTERS = 40
"""Clusters that are drawn: more would not be told apart."""

MOST_NUMBERED = 24
"""Bars up to which each has room for its number."""


NAMES_PER_LINE = 3
"""Partitions that one line of the legend has room for."""


@dataclass(frozen=True)
class ClusterSizesData:
    """What the picture shows.

    Attributes
    ----------
    names : tuple of str
        The partitions, in the order given.
    sizes : (n_partitions, K) int array
        Rows of every cluster; a column is one cluster and its counterparts, 0 where there is none.
    labels : (n_partitions, n_objects) int array
        The labels that the columns count.
    """

    names: tuple[str, ...]
    sizes: np.ndarray
    labels: np.ndarray

    @property
    def n_clusters(self) -> np.ndarray:
        """Number of clusters of every partition."""
        return np.count_nonzero(self.sizes, axis=1)


def cluster_sizes_data(before: Any, after: Any = None) -> ClusterSizesData:
    """Sizes of the clusters of one or more partitions, clusters matched to those of the first.

    Parameters
    ----------
    before : labels, Estimate or mapping of str to labels or Estimate
        Labels of any kind, one per row; -1, None and nan mean not labelled. A mapping names any number of partitions.
    after : labels or Estimate, optional
        A second partition of the same rows; not with a mapping.

    Notes
    -----
    The clusters of the first partition are numbered from the largest to the smallest. Those of the others take over
    the numbers of their counterparts, so that as many rows as possible keep theirs; what has no counterpart comes
    after, by size. Cost O(n + K^3).

    Examples
    --------
    >>> cluster_sizes_data([0, 0, 0, 1, 2], [5, 5, 5, 3, 3]).sizes
    array([[3, 1, 1],
           [3, 2, 0]])
    """
    partitions = _named(before, after)
    first, *others = [by_size(label_codes(_labels_of(partition))) for partition in partitions.values()]
    labels = np.stack([first, *(align(other, first, len(first)) for other in others)])
    if labels.max() < 0:
        raise ValueError("All labels are -1: there is no cluster to show.")
    sizes = [np.bincount(row[row >= 0], minlength=labels.max() + 1) for row in labels]
    return ClusterSizesData(names=tuple(partitions), sizes=np.stack(sizes), labels=labels)


def cluster_sizes(before: Any, after: Any = None, ax: "Axes | None" = None) -> "Axes":
    """Draw how many rows every cluster has, partitions side by side.

    Bars at one number are one cluster and its counterparts: what shrinks to nothing was merged into another.

    Parameters
    ----------
    before : labels, Estimate or mapping of str to labels or Estimate
        Such as ``{"before": ..., "entropy = 10": ..., "entropy = 20": ...}``.
    after : labels or Estimate, optional
        A second partition of the same rows; not with a mapping.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> cluster_sizes([0, 0, 0, 1, 2], [0, 0, 0, 1, 1]).get_legend_handles_labels()[1]
    ['before: 3 groups', 'after: 2 groups']
    """
    from matplotlib.ticker import MaxNLocator

    data = cluster_sizes_data(before, after)
    ax = axes_or_new(ax)
    shown = data.sizes[:, :MOST_CLUSTERS]
    width = 0.85 / len(data.names)
    for i, (sizes, color) in enumerate(zip(shown, cycle(PALETTE))):
        places = np.flatnonzero(sizes)
        offset = (i - (len(data.names) - 1) / 2) * width
        bars = ax.bar(places + offset, sizes[places], width=width, color=color, label=_name(data, i))
        if shown.size <= MOST_NUMBERED:
            ax.bar_label(bars, [f"{size:,}" for size in sizes[places]], padding=1, fontsize="small")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlim(-0.6, shown.shape[1] - 0.4)
    ax.set_xlabel("group")
    ax.set_ylabel("rows")
    if len(data.names) > 1:
        _draw_legend(ax, len(data.names))
    open_frame(ax)
    say_title(ax, _title(data))
    return ax


def _draw_legend(ax: "Axes", n_names: int) -> None:
    """Name the bars above all of them."""
    lines = -(-n_names // NAMES_PER_LINE)
    ax.set_ylim(0.0, ax.get_ylim()[1] * (1.0 + 0.08 * lines))
    ax.legend(frameon=False, loc="upper right", ncols=NAMES_PER_LINE, fontsize="small", borderpad=0.0)


def _named(before: Any, after: Any) -> dict[str, Any]:
    if not isinstance(before, Mapping):
        return {"partition": before} if after is None else {"before": before, "after": after}
    if after is not None:
        raise TypeError("Pass either a mapping of names to partitions, or before and after; not both.")
    if not before:
        raise ValueError("The mapping is empty: it needs at least one name with its partition.")
    return {str(name): labels for name, labels in before.items()}


def _labels_of(partition: Any) -> Any:
    """The labels of an estimate or of anything else that has them; labels themselves otherwise."""
    return getattr(partition, "labels", partition)


def _name(data: ClusterSizesData, i: int) -> str:
    return f"{data.names[i]}: {groups_in_words(int(data.n_clusters[i]))}"


def _title(data: ClusterSizesData) -> str:
    title = rows_in_words(int(data.sizes.sum(axis=1).max()))
    if len(data.names) == 1:
        title = f"{title}, {groups_in_words(int(data.n_clusters[0]))}"
    n_clusters = data.sizes.shape[1]
    return title if n_clusters <= MOST_CLUSTERS else f"{title} (the first {MOST_CLUSTERS} groups shown)"
