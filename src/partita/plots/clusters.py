"""Clusters: the rows of a fitted Mixture in two of its columns, coloured by group."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partita.plots.canvas import axes_or_new, cluster_colors, groups_in_words, open_frame, rows_in_words, say_title
from partita.plots.rows import spread
from partita.table import Table
from partita.wording import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.mixture import Mixture

MOST_ROWS = 5000
"""Rows that are drawn: more would not be told apart."""

STANDARD_DEVIATIONS = 2.0
"""How far the ellipse of a cluster reaches; 86 % of the rows of a Gaussian are inside."""

PALEST = 0.2
"""Share of its colour that the least certain row keeps; the rest is white."""

DARKER = 0.75
"""Share of their colour that ellipses and numbers have, so that they stand out from the rows; the rest is black."""


@dataclass(frozen=True)
class ClustersData:
    """What the picture shows, in the units of the table.

    Attributes
    ----------
    columns : tuple of two str
        The columns of the horizontal and of the vertical axis.
    positions : (m,) int array
        The rows shown, by position in the table.
    points : (m, 2) array
        Their cells in the two columns.
    labels, confidence : (m,) arrays
        Their clusters, and how probable these are.
    sizes : (K,) int array
        Rows of every cluster that have both cells, whether shown or not.
    means, covariances : (K, 2), (K, 2, 2) arrays
        Of these rows, counted by their weights; nan for a cluster without any.
    n_rows : int
        Rows of the table, with both cells or not.
    """

    columns: tuple[str, str]
    positions: np.ndarray
    points: np.ndarray
    labels: np.ndarray
    confidence: np.ndarray
    sizes: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    n_rows: int

    def outlines(self, deviations: float = STANDARD_DEVIATIONS, n_points: int = 121) -> np.ndarray:
        """Ellipses (K, n_points, 2) at so many standard deviations from the means: m + deviations L (cos t, sin t).

        L is the Cholesky factor of the covariance by way of the correlation, so that columns of very different units
        and clusters that lie on a line are drawn as what they are.
        """
        angle = np.linspace(0.0, 2.0 * np.pi, n_points)
        sd = np.sqrt(np.einsum("kjj->kj", self.covariances))
        product = sd.prod(axis=1)
        correlation = np.divide(self.covariances[:, 0, 1], product, out=np.zeros_like(product), where=product > 0.0)
        correlation = np.clip(correlation, -1.0, 1.0)[:, None]
        across = correlation * np.cos(angle) + np.sqrt(1.0 - correlation**2) * np.sin(angle)
        unit = np.stack([np.broadcast_to(np.cos(angle), across.shape), across], axis=2)
        return self.means[:, None, :] + deviations * sd[:, None, :] * unit


def clusters_data(
    mixture: "Mixture", columns: Sequence[Any] | None = None, *, most_rows: int = MOST_ROWS
) -> ClustersData:
    """Cells, clusters and confidence of the rows in two columns; mean and covariance of every cluster there.

    Parameters
    ----------
    mixture : Mixture
        Fitted, with at least two columns of numbers.
    columns : two column names or positions, optional
        Numeric or count columns; by default the first two numeric ones, or counts where there are fewer.
    most_rows : int
        Of more rows, about as many are shown: the same share of every cluster, at least one row of each.

    Notes
    -----
    A row without one of the two cells is left out. Mean and covariance are those of all rows of the cluster that have
    both cells, with divisor n, rows counted by their weights in `fit`. Cost O(n log n).
    """
    _require_fitted(mixture)
    table, weights = mixture._model.table, mixture._model.row_weights
    names, numbers = _numbers(table)
    chosen = _two_columns(columns, names, table.names)
    cells = numbers[:, [names.index(name) for name in chosen]]
    observed = np.flatnonzero(~np.isnan(cells).any(axis=1))
    if observed.size == 0:
        raise ValueError(f"No row has a cell in both columns {chosen[0]!r} and {chosen[1]!r}: choose other columns.")
    labels, n_clusters = mixture.labels_, mixture.n_clusters_
    _, compact = np.unique(labels[observed], return_inverse=True)
    rows = observed[spread(compact, np.bincount(compact), most_rows)]
    means, covariances = _moments(cells[observed], labels[observed], weights[observed], n_clusters)
    return ClustersData(
        columns=chosen,
        positions=rows,
        points=cells[rows],
        labels=labels[rows],
        confidence=mixture.probabilities_[rows, labels[rows]],
        sizes=np.bincount(labels[observed], minlength=n_clusters),
        means=means,
        covariances=covariances,
        n_rows=table.n_rows,
    )


def clusters(mixture: "Mixture", columns: Sequence[Any] | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the rows in two columns, coloured by their cluster and paler the less sure that is.

    The ellipse of a cluster is that of the mean and covariance of its rows, at two standard deviations. Every cluster
    has its number at its mean.

    Parameters
    ----------
    mixture : Mixture
        Fitted, with at least two columns of numbers.
    columns : two column names or positions, optional
        Numeric or count columns; by default the first two numeric ones, or counts where there are fewer.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes
    """
    data = clusters_data(mixture, columns)
    ax = axes_or_new(ax, height=4.8)
    palette = np.array(cluster_colors())
    strength = np.maximum(data.confidence, PALEST)[:, None]
    colors = np.clip(strength * palette[data.labels % len(palette)] + 1.0 - strength, 0.0, 1.0)
    order = np.argsort(-data.confidence, kind="stable")  # the few uncertain ones on top
    area = 14.0 if len(order) <= 500 else 6.0
    across, up = data.points[order].T
    ax.scatter(across, up, s=area, c=colors[order], linewidths=0, zorder=2)
    _draw_ellipses(ax, data, palette)
    ax.set_xlabel(printable(data.columns[0]))
    ax.set_ylabel(printable(data.columns[1]))
    open_frame(ax)
    say_title(ax, _title(data))
    return ax


def _draw_ellipses(ax: "Axes", data: ClustersData, palette: np.ndarray) -> None:
    """Outline every cluster, and write its number at its mean."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground="white")]
    for k, outline in enumerate(data.outlines()):
        if np.isnan(outline).any():
            continue
        color = DARKER * palette[k % len(palette)]
        ax.plot(*outline.T, color=color, linewidth=1.5, path_effects=halo, zorder=3)
        disc = {"boxstyle": "circle,pad=0.2", "facecolor": color, "edgecolor": "white"}
        ax.annotate(
            str(k), data.means[k], color="white", ha="center", va="center", fontsize="small", bbox=disc, zorder=4
        )


def _title(data: ClustersData) -> str:
    title = f"{rows_in_words(data.n_rows)}, {groups_in_words(len(data.sizes))}"
    n_observed = int(data.sizes.sum())
    notes = []
    if n_observed < data.n_rows:
        notes.append(f"{data.n_rows - n_observed:,} with a missing cell left out")
    if len(data.positions) < n_observed:
        notes.append(f"{len(data.positions):,} of the rows shown")
    return f"{title} ({'; '.join(notes)})" if notes else title


def _require_fitted(mixture: Any) -> None:
    from partita.mixture import Mixture

    if not isinstance(mixture, Mixture):
        raise TypeError(f"clusters draws a fitted Mixture, got {type(mixture).__name__}.")
    check_is_fitted(mixture)


def _numbers(table: Table) -> tuple[list[str], np.ndarray]:
    """Names and cells of all columns of numbers, numeric ones first, in the user's units; nan = missing."""
    names = [column.name for column in (*table.schema.numeric, *table.schema.counts)]
    counts = np.where(table.counts < 0, np.nan, table.counts)
    return names, np.hstack([table.to_units(table.numeric), counts])


def _two_columns(columns: Sequence[Any] | None, numbers: list[str], names: Sequence[str]) -> tuple[str, str]:
    """The two chosen names; an integer is a position among all columns of the table."""
    if len(numbers) < 2:
        found = f"only {numbers[0]!r}" if numbers else "none"
        raise ValueError(f"clusters needs two columns of numbers, and the table has {found}.")
    if columns is None:
        return numbers[0], numbers[1]
    if isinstance(columns, str) or len(columns) != 2:
        raise ValueError(f"columns must be two column names or positions; got {columns!r}.")
    first, second = (_name_of(column, numbers, names) for column in columns)
    if first == second:
        raise ValueError(f"columns must be two different columns; got {first!r} twice.")
    return first, second


def _name_of(column: Any, numbers: list[str], names: Sequence[str]) -> str:
    is_position = isinstance(column, int | np.integer) and 0 <= column < len(names)
    name = names[column] if is_position else column
    if name not in numbers:
        raise ValueError(f"{column!r} is no column of numbers in use; these are {', '.join(map(repr, numbers))}.")
    return name


def _moments(
    cells: np.ndarray, labels: np.ndarray, weights: np.ndarray, n_clusters: int
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean (K, 2) and covariance (K, 2, 2) of every cluster, in two passes; nan where nothing weighs."""
    total = np.bincount(labels, weights, n_clusters)[:, None]
    total[total == 0.0] = np.nan

    def average(values: np.ndarray) -> np.ndarray:
        return np.stack([np.bincount(labels, weights * value, n_clusters) for value in values.T], axis=1) / total

    means = average(cells)
    deviations = cells - means[labels]
    products = (deviations[:, :, None] * deviations[:, None, :]).reshape(-1, 4)
    return means, average(products).reshape(-1, 2, 2)
