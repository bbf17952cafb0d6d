"""Clusters: rows in one or two columns of numbers, coloured by group."""

from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.plots.canvas import (
    NOT_KNOWN,
    axes_or_new,
    cluster_colors,
    groups_in_words,
    open_frame,
    rows_in_words,
    say_title,
)
from partita.plots.cells import codes_and_words, columns_from, numbers_of, table_of
from partita.plots.ellipses import draw_ellipses, outlines
from partita.plots.rows import spread
from partita.wording import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.mixture import Mixture

MOST_ROWS = 5000
"""Rows of which a point is drawn: more would not be told apart. Rows of one column are counted, all of them."""

STANDARD_DEVIATIONS = 2.0
"""How far the ellipse of a cluster reaches; 86 % of the rows of a Gaussian are inside."""

PALEST = 0.2
"""Share of its colour that the least certain row keeps; the rest is white."""

FEWEST_BINS, MOST_BINS = 15, 60
"""Bars of a histogram; between them 3 n^(1/3) of n rows."""

MOST_NAMED = 21
"""Groups that the legend of a histogram names: as many as there are colours."""


@dataclass(frozen=True)
class ClustersData:
    """What the picture shows, in the units of the table; D is 1 or 2, the number of columns.

    Attributes
    ----------
    columns : tuple of D str
        The columns of the horizontal and of the vertical axis.
    positions : (m,) int array
        The rows shown, by position in the table.
    points : (m, D) array
        Their cells in these columns.
    labels, confidence : (m,) arrays
        Their clusters, -1 where not labelled, and how probable these are (1 for labels that were given).
    names : tuple of K str
        What the clusters are called.
    sizes : (K,) int array
        Rows of every cluster that have all D cells, whether shown or not.
    means, covariances : (K, D), (K, D, D) arrays
        Of these rows, counted by their weights; nan for a cluster without any.
    n_rows, n_observed : int
        Rows of the table, and those with all D cells.
    """

    columns: tuple[str, ...]
    positions: np.ndarray
    points: np.ndarray
    labels: np.ndarray
    confidence: np.ndarray
    names: tuple[str, ...]
    sizes: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    n_rows: int
    n_observed: int

    def outlines(self, deviations: float = STANDARD_DEVIATIONS, n_points: int = 121) -> np.ndarray:
        """Ellipses (K, n_points, 2) at so many standard deviations from the means, of two columns."""
        return outlines(self.means, self.covariances, deviations, n_points)

    def histogram(self) -> tuple[np.ndarray, np.ndarray]:
        """Edges (B + 1,) of bars along the first column, and rows (K + 1, B) per cluster; last those not labelled.

        Whole numbers that are near each other have a bar each.
        """
        cells = self.points[:, 0]
        low, high = cells.min(), cells.max()
        whole = high - low < MOST_BINS and bool((cells == np.floor(cells)).all())
        bars = int(np.clip(np.ceil(3.0 * len(cells) ** (1 / 3)), FEWEST_BINS, MOST_BINS))
        edges = np.arange(low, high + 2.0) - 0.5 if whole else np.histogram_bin_edges(cells, bars)
        groups = [*range(len(self.names)), -1]
        return edges, np.array([np.histogram(cells[self.labels == k], edges)[0] for k in groups])


def clusters_data(
    X: "Mixture | Any", columns: Any = None, *, labels: Any = None, most_rows: int = MOST_ROWS
) -> ClustersData:
    """Cells, clusters and confidence of the rows in one or two columns; mean and covariance of every cluster there.

    Parameters
    ----------
    X : fitted Mixture, or any table with ``labels``
        With at least one column of numbers. A table is anything that `Mixture.fit` takes, or a list of numbers.
    columns : one or two column names or positions, optional
        Numeric or count columns; by default the first two numeric ones, or counts where there are fewer.
    labels : (n_rows,) array-like, optional
        Groups of any making and of any kind: numbers, words; -1, None and nan mean not labelled. By default those of
        the Mixture.
    most_rows : int
        Of more rows, about as many points are shown: the same share of every cluster, at least one row of each.

    Notes
    -----
    A row without one of the cells is left out. Mean and covariance are those of all rows of the cluster that have
    them, with divisor n, rows counted by their weights in `fit`. Cost O(n log n).

    Examples
    --------
    >>> data = clusters_data([1.0, 1.2, 7.9, 8.3], labels=["low", "low", "high", "high"])
    >>> data.names, data.means[:, 0].round(2)
    (('low', 'high'), array([1.1, 8.1]))
    """
    _require_groups(X, labels)
    table, weights = table_of(X)
    codes, names, confidence = _groups(X, labels, table.n_rows)
    numbers, cells = numbers_of(table)
    chosen = columns_from(columns, numbers, table.names)
    cells = cells[:, [numbers.index(name) for name in chosen]]
    observed = np.flatnonzero(~np.isnan(cells).any(axis=1))
    if observed.size == 0:
        both = " in both columns " if len(chosen) == 2 else " in column "
        raise ValueError(f"No row has a cell{both}{' and '.join(map(repr, chosen))}: choose other columns.")
    _, compact = np.unique(codes[observed], return_inverse=True)
    rows = observed if len(chosen) == 1 else observed[spread(compact, np.bincount(compact), most_rows)]
    labelled = observed[codes[observed] >= 0]
    means, covariances = _moments(cells[labelled], codes[labelled], weights[labelled], len(names))
    return ClustersData(
        columns=chosen,
        positions=rows,
        points=cells[rows],
        labels=codes[rows],
        confidence=confidence[rows],
        names=names,
        sizes=np.bincount(codes[labelled], minlength=len(names)),
        means=means,
        covariances=covariances,
        n_rows=table.n_rows,
        n_observed=len(observed),
    )


def clusters(
    X: "Mixture | Any", columns: Any = None, ax: "Axes | None" = None, *, labels: Any = None, ellipses: bool = True
) -> "Axes":
    """Draw the rows in one or two columns, coloured by their cluster.

    Of two columns every row is a point, paler the less sure its cluster is, and grey where it is not labelled. The
    ellipse of a cluster is that of the mean and covariance of its rows, at two standard deviations, and its name
    stands at its mean. Of one column the rows are bars of a histogram, clusters on top of each other.

    Parameters
    ----------
    X : fitted Mixture, or any table with ``labels``
        With at least one column of numbers. A table is anything that `Mixture.fit` takes, or a list of numbers.
    columns : one or two column names or positions, optional
        Numeric or count columns; by default the first two numeric ones, or counts where there are fewer.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.
    labels : (n_rows,) array-like, optional
        Groups of any making and of any kind: numbers, words; -1, None and nan mean not labelled. By default those of
        the Mixture.
    ellipses : bool
        Whether groups of two columns are outlined.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = clusters([1.0, 1.2, 7.9, 8.3], labels=["low", "low", "high", "high"])
    >>> ax.get_title("left")
    '4 rows, 2 groups'
    """
    data = clusters_data(X, columns, labels=labels)
    ax = axes_or_new(ax, height=4.8 if len(data.columns) == 2 else 3.6)
    if len(data.columns) == 2:
        _draw_points(ax, data)
        draw_ellipses(ax, data.means, data.covariances, data.names, [STANDARD_DEVIATIONS] * bool(ellipses))
    else:
        _draw_bars(ax, data)
    ax.set_xlabel(printable(data.columns[0]))
    ax.set_ylabel(printable(data.columns[1]) if len(data.columns) == 2 else "rows")
    open_frame(ax)
    say_title(ax, _title(data))
    return ax


def _draw_points(ax: "Axes", data: ClustersData) -> None:
    """A point for every row, the few uncertain ones on top; those not labelled under all others."""
    from matplotlib.colors import to_rgb

    palette = np.array([*cluster_colors(), to_rgb(NOT_KNOWN)])
    strength = np.maximum(data.confidence, PALEST)[:, None]
    places = np.where(data.labels < 0, -1, data.labels % (len(palette) - 1))
    colors = np.clip(strength * palette[places] + 1.0 - strength, 0.0, 1.0)
    order = np.lexsort((-data.confidence, data.labels >= 0))
    area = 14.0 if len(order) <= 500 else 6.0
    across, up = data.points[order].T
    ax.scatter(across, up, s=area, c=colors[order], linewidths=0, zorder=2)


def _draw_bars(ax: "Axes", data: ClustersData) -> None:
    """Rows counted along the column, clusters on top of each other, and a legend that names them."""
    from matplotlib.ticker import MaxNLocator

    edges, counts = data.histogram()
    colors = [*(color for color, _ in zip(cycle(cluster_colors()), data.names)), NOT_KNOWN]
    under = np.cumsum(counts, axis=0) - counts
    names = [name if k < MOST_NAMED else "_" for k, name in enumerate(data.names)]
    for count, low, color, name in zip(counts, under, colors, [*names, "not labelled"]):
        if count.any():
            look: Any = {"color": color, "edgecolor": "white", "linewidth": 0.3}
            ax.bar(edges[:-1], count, np.diff(edges), low, align="edge", label=name, **look)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.legend(title="group", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small")


def _title(data: ClustersData) -> str:
    title = f"{rows_in_words(data.n_rows)}, {groups_in_words(len(data.names))}"
    n_unlabelled = data.n_observed - int(data.sizes.sum())
    notes = []
    if data.n_observed < data.n_rows:
        notes.append(f"{data.n_rows - data.n_observed:,} with a missing cell left out")
    if n_unlabelled:
        notes.append(f"{n_unlabelled:,} not labelled")
    if len(data.positions) < data.n_observed:
        notes.append(f"{len(data.positions):,} of the rows shown")
    return f"{title} ({'; '.join(notes)})" if notes else title


def _require_groups(X: Any, labels: Any) -> None:
    from partita.mixture import Mixture

    if labels is None and not isinstance(X, Mixture):
        raise TypeError(
            f"clusters draws a fitted Mixture, got {type(X).__name__}. Of any other table pass its groups: labels=..."
        )


def _groups(X: Any, labels: Any, n_rows: int) -> tuple[np.ndarray, tuple[str, ...], np.ndarray]:
    """The cluster of every row, the names of clusters, and how probable it is that the row is in its own."""
    if labels is not None:
        return *codes_and_words(labels, n_rows), np.ones(n_rows)
    own = X.labels_
    return own, tuple(map(str, range(X.n_clusters_))), X.probabilities_[np.arange(n_rows), own]


def _moments(
    cells: np.ndarray, labels: np.ndarray, weights: np.ndarray, n_clusters: int
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean (K, D) and covariance (K, D, D) of every cluster, in two passes; nan where nothing weighs."""
    total = np.bincount(labels, weights, n_clusters)[:, None]
    total[total == 0.0] = np.nan

    def average(values: np.ndarray) -> np.ndarray:
        return np.stack([np.bincount(labels, weights * value, n_clusters) for value in values.T], axis=1) / total

    means = average(cells)
    deviations, n_columns = cells - means[labels], cells.shape[1]
    products = (deviations[:, :, None] * deviations[:, None, :]).reshape(-1, n_columns**2)
    return means, average(products).reshape(-1, n_columns, n_columns)
