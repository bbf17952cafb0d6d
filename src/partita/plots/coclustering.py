"""Co-clustering: how often every two rows are in one cluster, rows ordered by the estimate."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.plots.blocks import COLORS, draw_blocks
from partita.plots.canvas import NOT_KNOWN, axes_or_new, groups_in_words, rows_in_words, say_title
from partita.plots.rows import labels_or_estimate, spread
from partita.posterior import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 1000
"""Rows that are drawn: more would not be told apart."""


@dataclass(frozen=True)
class CoclusteringData:
    """What the picture shows.

    Attributes
    ----------
    similarity : (m, m) array
        Co-clustering probabilities of the rows shown, in the order shown; nan where no draw labels both rows.
    order : (m,) int array
        The rows shown, by position in the table.
    labels : (m,) int array
        Their clusters: 0 is the largest, in blocks.
    boundaries : (K + 1,) int array
        Cluster k is shown from ``boundaries[k]`` up to and without ``boundaries[k + 1]``.
    sizes : (K,) int array
        Rows of every cluster, whether shown or not.
    """

    similarity: np.ndarray
    order: np.ndarray
    labels: np.ndarray
    boundaries: np.ndarray
    sizes: np.ndarray

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.sizes)

    @property
    def n_rows(self) -> int:
        """Rows that have a cluster, whether shown or not."""
        return int(self.sizes.sum())


def coclustering_data(posterior: Posterior, labels: Any = None, *, most_rows: int = MOST_ROWS) -> CoclusteringData:
    """Order rows by cluster, and within it from its core to its edge: by mean similarity to its other rows.

    Parameters
    ----------
    posterior : Posterior
    labels : (n_objects,) array-like, optional
        A partition to order by, of any kind of labels, ``posterior.estimate().labels`` by default. Rows labelled -1,
        None or nan are left out.
    most_rows : int
        Of more rows, about as many are shown: the same share of every cluster, at least one row of each.

    Notes
    -----
    Cost O(draws x m^2) for the m rows shown; never an n x n array.

    Examples
    --------
    >>> from partita import Posterior
    >>> coclustering_data(Posterior([[0, 1, 0], [0, 1, 0], [0, 1, 1]])).similarity.round(2)
    array([[1.  , 0.67, 0.  ],
           [0.67, 1.  , 0.33],
           [0.  , 0.33, 1.  ]])
    """
    clusters = labels_or_estimate(posterior, labels)
    if clusters.max() < 0:
        raise ValueError("All labels are -1: there is no cluster to show.")
    sizes = np.bincount(clusters[clusters >= 0])
    rows = spread(clusters, sizes, most_rows)
    similarity = _similarity(posterior, rows)
    shown = clusters[rows]
    inner = np.lexsort((rows, -_closeness(similarity, shown), shown))
    return CoclusteringData(
        similarity=similarity[np.ix_(inner, inner)],
        order=rows[inner],
        labels=shown[inner],
        boundaries=np.concatenate([[0], np.cumsum(np.bincount(shown))]),
        sizes=sizes,
    )


def coclustering(posterior: Posterior, labels: Any = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the co-clustering probabilities; blocks on the diagonal are the clusters of the estimate.

    A dark block is a group whose rows belong together in nearly all draws; colour outside the blocks
    shows which groups could as well be one, a pale edge which rows are uncertain.

    Parameters
    ----------
    posterior : Posterior
    labels : (n_objects,) array-like, optional
        A partition to order by, ``posterior.estimate().labels`` by default.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from partita import Posterior
    >>> coclustering(Posterior([[0, 1, 0], [0, 1, 0], [0, 1, 1]])).get_title("left")
    '3 rows, 2 groups'
    """
    from matplotlib.colors import LinearSegmentedColormap

    data = coclustering_data(posterior, labels)
    ax = axes_or_new(ax, height=5.6)
    colors = LinearSegmentedColormap.from_list("coclustering", COLORS).with_extremes(bad=NOT_KNOWN)
    size = len(data.order)
    image = ax.imshow(
        data.similarity, cmap=colors, vmin=0.0, vmax=1.0, interpolation="nearest", extent=(0, size, size, 0)
    )
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03, ticks=[0, 0.25, 0.5, 0.75, 1])
    bar.set_label("probability of being in one group")
    bar.outline.set_visible(False)
    draw_blocks(ax, data.boundaries, list(map(str, range(data.n_clusters))), data.sizes)
    say_title(ax, _title(data))
    return ax


def _title(data: CoclusteringData) -> str:
    title = f"{rows_in_words(data.n_rows)}, {groups_in_words(data.n_clusters)}"
    return title if len(data.order) == data.n_rows else f"{title} ({len(data.order):,} of the rows shown)"


def _similarity(posterior: Posterior, rows: np.ndarray) -> np.ndarray:
    some = np.asarray(posterior.partitions)[..., rows]
    return Posterior(some, weights=posterior.weights).similarity()


def _closeness(similarity: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Mean similarity of every row to the other rows of its cluster; 0 where nothing is known."""
    same = (clusters[:, None] == clusters) & ~np.isnan(similarity)
    np.fill_diagonal(same, False)
    total = np.where(same, similarity, 0.0).sum(axis=1)
    return total / np.maximum(same.sum(axis=1), 1)
