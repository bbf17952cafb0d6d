"""The affinity matrix of a graph, objects ordered by cluster."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from partita.partitions import by_size
from partita.plots.blocks import COLORS, draw_blocks
from partita.plots.canvas import axes_or_new, groups_in_words, rows_in_words, say_title
from partita.plots.cells import codes_and_words
from partita.spectral import SpectralClustering
from partita.spectral.affinity import given_affinity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 500
"""Lines and columns of the picture: of more objects, each stands for several that follow each other in a cluster."""


@dataclass(frozen=True)
class AffinityData:
    """What the picture shows.

    Attributes
    ----------
    means : (m, m) array
        Mean affinity between the objects of two lines, without that of an object to itself; nan where no pair is left.
    order : (n,) int array
        The objects by cluster, and within it in the order given.
    lines : (m + 1,) int array
        Line i stands for ``order[lines[i]:lines[i + 1]]``, objects of one cluster.
    boundaries : (K + 1,) int array
        Cluster k has the lines from ``boundaries[k]`` up to and without ``boundaries[k + 1]``.
    names : tuple of K str
        What the clusters are called.
    sizes : (K,) int array
        Objects of every cluster, whether shown or not.
    """

    means: np.ndarray
    order: np.ndarray
    lines: np.ndarray
    boundaries: np.ndarray
    names: tuple[str, ...]
    sizes: np.ndarray


def affinity_data(graph: SpectralClustering | Any, labels: Any = None, *, most_lines: int = MOST_LINES) -> AffinityData:
    """Order a graph by cluster and average it over neighbouring objects where there are too many to be drawn.

    Parameters
    ----------
    graph : fitted SpectralClustering, or (n, n) array or sparse matrix
        Symmetric and without negative affinities.
    labels : (n,) array-like, optional
        Groups of any kind; -1, None and nan mean not labelled and are left out. By default those of the
        SpectralClustering.
    most_lines : int
        Of more objects every line stands for several of one cluster. Every cluster keeps its share of the lines, at
        least one; where there are more clusters than lines, the largest are shown.

    Notes
    -----
    Clusters come from the largest to the smallest. A sparse graph stays sparse: cost O(edges + m^2) for m lines.

    Examples
    --------
    >>> data = affinity_data([[0, 0, 1], [0, 0, 0], [1, 0, 0]], labels=["a", "b", "a"])
    >>> data.order, data.names, data.sizes
    (array([0, 2, 1]), ('a', 'b'), array([2, 1]))
    """
    matrix, labels = _graph(graph, labels)
    codes, words = codes_and_words(labels, matrix.shape[0])
    clusters = by_size(codes)
    if clusters.max(initial=-1) < 0:
        raise ValueError("All labels are -1: there is no cluster to show.")
    sizes = np.bincount(clusters[clusters >= 0])
    shown = np.arange(min(len(sizes), most_lines))
    order = np.argsort(clusters, kind="stable")[(clusters < 0).sum() :][: sizes[shown].sum()]
    share = min(1.0, most_lines / sizes.sum())
    n_lines = np.maximum(1, np.round(sizes[shown] * share)).astype(int)
    starts = np.cumsum(sizes[shown]) - sizes[shown]
    cuts = [start + np.arange(n) * size // n for start, n, size in zip(starts, n_lines, sizes)]
    lines = np.concatenate([*cuts, [len(order)]])
    return AffinityData(
        means=_means(matrix, order, np.diff(lines)),
        order=order,
        lines=lines,
        boundaries=np.concatenate([[0], np.cumsum(n_lines)]),
        names=tuple(words[codes[order[start]]] for start in starts),
        sizes=sizes,
    )


def affinity(graph: SpectralClustering | Any, labels: Any = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the affinity matrix ordered by cluster: dark blocks on the diagonal, pale between them.

    Colour outside the blocks are ties between clusters, a pale corner inside one a cluster that could be two. The
    scale of the colours is that of square roots, so that weak ties are seen.

    Parameters
    ----------
    graph : fitted SpectralClustering, or (n, n) array or sparse matrix
        Symmetric and without negative affinities.
    labels : (n,) array-like, optional
        Groups of any kind; -1, None and nan mean not labelled and are left out. By default those of the
        SpectralClustering.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> affinity([[0, 0, 1], [0, 0, 0], [1, 0, 0]], labels=["a", "b", "a"]).get_title("left")
    '3 rows, 2 groups'
    """
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    data = affinity_data(graph, labels)
    ax = axes_or_new(ax, height=5.6)
    m = len(data.means)
    highest = np.nanmax(data.means, initial=0.0) or 1.0
    image = ax.imshow(
        data.means,
        cmap=LinearSegmentedColormap.from_list("affinity", COLORS).with_extremes(bad=COLORS[0]),
        norm=PowerNorm(0.5, vmin=0.0, vmax=highest),
        interpolation="nearest",
        extent=(0, m, m, 0),
    )
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03)
    bar.set_label("affinity" if m == len(data.order) else "mean affinity of the pairs")
    bar.outline.set_visible(False)
    draw_blocks(ax, data.boundaries, data.names, data.sizes)
    say_title(ax, _title(data))
    return ax


def _graph(graph: Any, labels: Any) -> tuple[Any, Any]:
    """The matrix, checked, and the labels that order it."""
    if not isinstance(graph, SpectralClustering):
        if labels is None:
            raise ValueError("A matrix alone has no clusters to be ordered by: pass labels=...")
        return given_affinity(graph), labels
    if not hasattr(graph, "affinity_matrix_"):
        raise ValueError("This SpectralClustering has no affinity matrix yet: call fit first.")
    return graph.affinity_matrix_, graph.labels_ if labels is None else labels


def _means(matrix: Any, order: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Mean affinity of the pairs of objects of every two lines, (m, m), by sums over the objects of each."""
    n, m = matrix.shape[0], len(heights)
    line = np.repeat(np.arange(m), heights)
    member = csr_array((np.ones(len(order)), (order, line)), shape=(n, m))
    sums = member.T @ (matrix @ member)
    sums = sums.toarray() if hasattr(sums, "toarray") else np.asarray(sums)
    sums[np.diag_indices(m)] -= np.bincount(line, matrix.diagonal()[order], m)
    pairs = heights[:, None] * heights - np.diag(heights)
    return np.divide(sums, pairs, out=np.full((m, m), np.nan), where=pairs > 0)


def _title(data: AffinityData) -> str:
    n = int(data.sizes.sum())
    title = f"{rows_in_words(n)}, {groups_in_words(len(data.sizes))}"
    if len(data.names) < len(data.sizes):
        return f"{title} (the largest {len(data.names):,} shown)"
    return title if len(data.means) == n else f"{title} ({len(data.means):,} lines, each the mean of several)"
