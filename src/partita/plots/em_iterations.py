"""EM at work: the rows and the ellipses of every component at some of its iterations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import softmax

from partita.parameters import whole_number
from partita.plots.canvas import NOT_KNOWN, cluster_colors, open_frame, say_title
from partita.plots.cells import columns_from, table_of
from partita.plots.clusters import MOST_ROWS
from partita.plots.ellipses import draw_ellipses
from partita.plots.objective_path import objective_in_words
from partita.plots.rows import spread
from partita.table import Column
from partita.wording import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STANDARD_DEVIATIONS = (1.0, 2.0)
"""How far the two ellipses of a component reach."""

PANELS_PER_LINE = 2
"""Iterations side by side."""


@dataclass(frozen=True)
class EMIterationsData:
    """What one panel shows, in the units of the table, of positive columns in logs.

    Attributes
    ----------
    number : int
        Of the iteration; the first is 1.
    objective : float
        What EM maximises, there.
    columns : tuple of two str
        The columns of the horizontal and of the vertical axis.
    points : (m, 2) array
        Cells of the rows shown, the same in every panel.
    responsibilities : (m, K) array
        How probable every component is for these rows; nan where the cells do not say: of a row without some numeric
        cell, and of all rows of a table that has columns of other kinds.
    weights, means, covariances : (K,), (K, 2), (K, 2, 2) arrays
        Of the components.
    """

    number: int
    objective: float
    columns: tuple[str, ...]
    points: np.ndarray
    responsibilities: np.ndarray
    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


def em_iterations_data(
    fitted: Any, X: Any = None, columns: Any = None, *, n_panels: int = 4, most_rows: int = MOST_ROWS
) -> tuple[EMIterationsData, ...]:
    """Components and responsibilities at the first iteration, some between, and the last.

    Parameters
    ----------
    fitted : Mixture, or sequence of records
        Fitted with ``engine=EM(keep_iterations=True)``. Or its ``iterations_``: records with ``weights`` (K,),
        ``means`` (K, d), ``covariances`` (K, d, d) of the d numeric columns in the units of the table, and
        ``objective``.
    X : table, optional
        The rows; by default those of `fit`.
    columns : two column names or positions, optional
        Numeric columns, by default the first two.
    n_panels : int
        How many iterations: the steps between them grow, as those of EM shrink.
    most_rows : int
        Of more rows, as many evenly spaced ones are shown.

    Notes
    -----
    The ellipses of two columns are those of the 2 x 2 block of every covariance. Responsibilities are
    weight_k N(x; mean_k, covariance_k), normalised, in all d columns. Cost O(m K d^2) a panel.

    Examples
    --------
    >>> from partita import Mixture
    >>> from partita.engines import EM
    >>> rows = [[0, 0], [1, 2], [2, 1], [2, 3], [6, 7], [7, 6], [7, 8], [9, 8]]
    >>> model = Mixture(engine=EM(keep_iterations=True), n_clusters=2, random_state=0).fit(rows)
    >>> em_iterations_data(model)[-1].means.round(1)
    array([[1.3, 1.6],
           [7.2, 7.2]])
    """
    n_panels = whole_number("n_panels", n_panels, 1)
    records = _records(fitted)
    table, _ = table_of(fitted if X is None else X)
    names = [column.name for column in table.schema.numeric]
    chosen = columns_from(columns, names, table.names)
    if len(chosen) != 2:
        raise ValueError(f"em_iterations draws ellipses, which need two numeric columns; got {', '.join(chosen)} only.")
    _require_columns(records, names)
    pair = [names.index(name) for name in chosen]
    fitted_columns = (table_of(fitted)[0] if hasattr(fitted, "iterations_") else table).schema.numeric
    cells = _logs(table.to_units(table.numeric), fitted_columns)
    complete = np.flatnonzero(~np.isnan(cells[:, pair]).any(axis=1))
    if complete.size == 0:
        raise ValueError(f"No row has a cell in both columns {chosen[0]!r} and {chosen[1]!r}: choose other columns.")
    cells = cells[complete[spread(np.zeros(complete.size, int), np.array([complete.size]), most_rows)]]
    means = [_logs(record.means, fitted_columns) for record in records]
    only_numbers = len(table.schema.used) == len(names)
    return tuple(
        EMIterationsData(
            number=int(i) + 1,
            objective=float(records[i].objective),
            columns=tuple(
                f"log {name}" if fitted_columns[names.index(name)].kind == "positive" else name for name in chosen
            ),
            points=cells[:, pair],
            responsibilities=_responsibilities(
                records[i], means[i], cells if only_numbers else np.full_like(cells, np.nan)
            ),
            weights=np.asarray(records[i].weights),
            means=means[i][:, pair],
            covariances=np.asarray(records[i].covariances)[:, pair][:, :, pair],
        )
        for i in np.unique(np.geomspace(1, len(records), min(n_panels, len(records))).round().astype(int)) - 1
    )


def em_iterations(
    fitted: Any,
    X: Any = None,
    columns: Any = None,
    *,
    n_panels: int = 4,
    axes: "Sequence[Axes] | None" = None,
) -> "np.ndarray":
    """Draw the rows and the components at the first iteration of EM, some between, and the last.

    A component is its two ellipses, at one and two standard deviations of its covariance, with its number at its mean.
    A row has the colours of the components, mixed by their responsibilities; grey where numbers alone do not give them.

    Parameters
    ----------
    fitted : Mixture, or sequence of records
        Fitted with ``engine=EM(keep_iterations=True)``; or its ``iterations_``.
    X : table, optional
        The rows; by default those of `fit`.
    columns : two column names or positions, optional
        Numeric columns, by default the first two.
    n_panels : int
        How many iterations at most.
    axes : sequence of matplotlib Axes, optional
        Where to draw, one per panel; by default on a new figure that belongs to no window:
        ``axes[0].figure.savefig(path)``.

    Returns
    -------
    array of matplotlib Axes
        One per panel.

    Examples
    --------
    >>> from partita import Mixture
    >>> from partita.engines import EM
    >>> rows = [[0, 0], [1, 2], [2, 1], [2, 3], [6, 7], [7, 6], [7, 8], [9, 8]]
    >>> model = Mixture(engine=EM(keep_iterations=True), n_clusters=2, random_state=0).fit(rows)
    >>> em_iterations(model)[0].get_title("left")
    'Iteration 1: log posterior density -31.0'
    """
    data = em_iterations_data(fitted, X, columns, n_panels=n_panels)
    panels = _panels(len(data)) if axes is None else np.ravel(np.asarray(axes, dtype=object))
    if len(panels) < len(data):
        raise ValueError(f"axes must be one per panel: {len(data)} are needed, got {len(panels)}.")
    words = objective_in_words(fitted)
    for ax, one in zip(panels, data):
        across, up = one.points.T
        ax.scatter(across, up, s=14.0 if len(across) <= 500 else 6.0, c=_mixed_colors(one), linewidths=0, zorder=2)
        draw_ellipses(ax, one.means, one.covariances, [str(k) for k in range(len(one.weights))], STANDARD_DEVIATIONS)
        ax.set_xlabel(printable(one.columns[0]))
        ax.set_ylabel(printable(one.columns[1]))
        open_frame(ax)
        say_title(ax, f"Iteration {one.number:,}: {words} {one.objective:,.1f}")
    return panels[: len(data)]


def _panels(n: int) -> np.ndarray:
    """Axes of a new figure, two in a line, all of the same limits."""
    from matplotlib.figure import Figure

    lines = -(-n // PANELS_PER_LINE)
    size = (5.2 * min(n, PANELS_PER_LINE), 4.2 * lines)
    figure = Figure(figsize=size, dpi=150, layout="constrained")
    grid = figure.subplots(lines, min(n, PANELS_PER_LINE), sharex=True, sharey=True, squeeze=False).ravel()
    for ax in grid:
        ax.tick_params(labelbottom=True, labelleft=True)
    for unused in grid[n:]:
        unused.set_visible(False)
    return grid


def _mixed_colors(data: EMIterationsData) -> np.ndarray:
    """Colours of the components, mixed by responsibility."""
    from matplotlib.colors import to_rgb

    palette = np.array(cluster_colors())
    own = palette[np.arange(len(data.weights)) % len(palette)]
    mixed = data.responsibilities @ own
    return np.where(np.isnan(mixed), to_rgb(NOT_KNOWN), np.clip(mixed, 0.0, 1.0))


def _logs(values: Any, columns: Sequence[Column]) -> np.ndarray:
    """Values (..., d) in the user's units with log(x + offset) in positive columns: components are ellipses there."""
    found = np.array(values, dtype=np.float64)
    for j, column in enumerate(columns):
        if column.kind == "positive":
            found[..., j] = np.log(found[..., j] + column.offset)
    return found


def _responsibilities(record: Any, means: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """(m, K), nan for rows with a missing cell."""
    log_joint = np.empty((len(cells), len(record.weights)))
    with np.errstate(divide="ignore"):
        log_weights = np.log(record.weights)
    for k, (mean, covariance) in enumerate(zip(means, record.covariances)):
        root = np.linalg.cholesky(covariance)
        away = solve_triangular(root, (cells - mean).T, lower=True, check_finite=False)
        log_joint[:, k] = log_weights[k] - np.log(np.diag(root)).sum() - 0.5 * (away**2).sum(axis=0)
    return softmax(log_joint, axis=1)


def _records(fitted: Any) -> Sequence[Any]:
    from partita.mixture import Mixture

    if isinstance(fitted, Mixture) and not hasattr(fitted, "iterations_"):
        raise ValueError(
            "There are no iterations to draw: fit a table of numeric columns with engine=EM(keep_iterations=True)."
        )
    records = list(fitted.iterations_ if isinstance(fitted, Mixture) else fitted)
    if not records:
        raise ValueError("There are no iterations to draw: the list is empty.")
    return records


def _require_columns(records: Sequence[Any], names: Sequence[str]) -> None:
    d = np.shape(records[0].means)[1]
    if d != len(names):
        raise ValueError(
            f"The iterations have means of {d} columns, and X has {len(names)} numeric ones: pass their X."
        )
