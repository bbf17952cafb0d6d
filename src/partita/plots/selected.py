"""Selected: the cells of a table, rows by cluster, with the columns that each cluster has chosen in colour."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partita.plots.blocks import block_words
from partita.plots.canvas import axes_or_new, groups_in_words, rows_in_words, say_title
from partita.plots.rows import spread
from partita.table import Table
from partita.wording import count_of, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.means import CRAFT

MOST_ROWS = 600
"""That the picture shows."""
EDGES = (5.0, 95.0)
"""Percentiles of a column of numbers that are its palest and its darkest shade."""
GREYS = ("0.97", "0.62")
COLOURS = ("#fde3c8", "#8c2d04")
"""From the least value to the largest, of cells that are not chosen and of those that are."""
MISSING = "#cfe3f5"
MOST_NAMES, LONGEST_NAME, LEFT = 40, 18, 9
"""Columns that are named under the picture, letters of a name, and how many of a longer one are its first."""
MOST_LETTERS = 70
"""Of names that stand side by side; more are turned."""


@dataclass(frozen=True)
class SelectedData:
    """What the picture shows.

    Attributes
    ----------
    shades : (m, d) array
        Of the rows that are shown, cluster after cluster, and of the columns that vary in their order: 0 is the least
        value, 1 the largest, nan a missing one. Numbers are cut at the 5th and the 95th percentile of their column;
        categories are evenly apart in the order of their levels.
    clusters : (m,) int array
    chosen : (K, d) bool array
    names : tuple of str
        Of the columns.
    sizes : (K,) int array
        Rows of the table in each cluster.
    """

    shades: np.ndarray
    clusters: np.ndarray
    chosen: np.ndarray
    names: tuple[str, ...]
    sizes: np.ndarray


def selected_data(craft: "CRAFT", *, most_rows: int = MOST_ROWS) -> SelectedData:
    """The cells of some rows, evenly spaced within every cluster, in shades, and which clusters have chosen what.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.means import CRAFT
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(0.0, 3.0, size=(60, 4))
    >>> rows[:30, :2], rows[30:, 2:] = rng.normal(5.0, 0.3, (30, 2)), rng.normal(2.0, 0.3, (30, 2))
    >>> data = selected_data(CRAFT(random_state=0).fit(rows), most_rows=20)
    >>> data.shades.shape, data.chosen.tolist()
    ((20, 4), [[True, True, False, False], [False, False, True, True]])
    """
    from partita.means import CRAFT

    if not isinstance(craft, CRAFT):
        raise TypeError(f"Only clusters of a CRAFT have chosen columns, got a {type(craft).__name__}.")
    check_is_fitted(craft)
    table = craft.table_
    sizes = np.bincount(craft.labels_)
    rows = spread(craft.labels_, sizes, most_rows)
    used = [table.names.index(column.name) for column in table.schema.used]
    return SelectedData(
        shades=_shades(table)[rows],
        clusters=craft.labels_[rows],
        chosen=craft.features_[:, used],
        names=tuple(table.names[j] for j in used),
        sizes=sizes,
    )


def selected(craft: "CRAFT | SelectedData", ax: "Axes | None" = None) -> "Axes":
    """Draw the table, rows sorted by cluster: the darker, the larger; in colour where a cluster has chosen the column.

    In colour, the rows of a cluster should be alike: a block of one shade. Of a large table some rows are drawn.

    Parameters
    ----------
    craft : CRAFT or SelectedData
        Fitted; or what `selected_data` has found of one.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from partita import plots
    >>> from partita.means import CRAFT
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(0.0, 3.0, size=(60, 4))
    >>> rows[:30, :2], rows[30:, 2:] = rng.normal(5.0, 0.3, (30, 2)), rng.normal(2.0, 0.3, (30, 2))
    >>> plots.selected(CRAFT(random_state=0).fit(rows)).get_title("left")
    '60 rows, 2 groups: in colour the 2 of 4 columns that each has selected'
    """
    data = craft if isinstance(craft, SelectedData) else selected_data(craft)
    ax = axes_or_new(ax, width=_width(len(data.names)), height=4.8)
    ax.imshow(_colours(data), aspect="auto", interpolation="nearest")
    boundaries = np.concatenate([[0], np.flatnonzero(np.diff(data.clusters)) + 1, [len(data.clusters)]])
    ax.hlines(boundaries[1:-1] - 0.5, -0.5, len(data.names) - 0.5, color="0.2", linewidth=0.8)
    _name_clusters(ax, data, boundaries)
    _name_columns(ax, data.names)
    ax.set_xlabel(_legend(data), fontsize="small")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    say_title(ax, _title(data))
    return ax


def _shades(table: Table) -> np.ndarray:
    """All cells (n, d) of the columns that vary, in the order that they have in the table."""
    blocks = {"numeric": iter(_of_numbers(table.numeric).T), "categorical": iter(_of_codes(table).T)}
    return np.column_stack([next(blocks[column.block]) for column in table.schema.used])


def _of_numbers(cells: np.ndarray) -> np.ndarray:
    if not cells.shape[1]:
        return cells
    low, high = np.nanpercentile(cells, EDGES, axis=0)
    least, most = np.nanmin(cells, axis=0), np.nanmax(cells, axis=0)
    flat = low == high  # nearly all cells are one number
    low, high = np.where(flat, least, low), np.where(flat, most, high)
    return np.clip((cells - low) / (high - low), 0.0, 1.0)


def _of_codes(table: Table) -> np.ndarray:
    return np.where(table.codes < 0, np.nan, table.codes / np.maximum(table.schema.n_levels - 1, 1))


def _colours(data: SelectedData) -> np.ndarray:
    """The colour of every cell (m, d, 3)."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    greys, colours = (LinearSegmentedColormap.from_list("", ends) for ends in (GREYS, COLOURS))
    shades = np.nan_to_num(data.shades)
    cells = np.where(data.chosen[data.clusters][:, :, None], colours(shades)[:, :, :3], greys(shades)[:, :, :3])
    cells[np.isnan(data.shades)] = to_rgb(MISSING)
    return cells


def _width(n_columns: int) -> float:
    """Of a new figure, in inches."""
    return float(np.clip(2.4 + 0.16 * n_columns, 6.4, 12.0))


def _name_clusters(ax: "Axes", data: SelectedData, boundaries: np.ndarray) -> None:
    widths = np.diff(boundaries)
    words = [block_words(str(k), data.sizes[k], share) for k, share in enumerate(widths / boundaries[-1])]
    ax.set_yticks(boundaries[:-1] + widths / 2 - 0.5, words)


def _name_columns(ax: "Axes", names: tuple[str, ...]) -> None:
    """Names under the columns, or under some of many."""
    shown = range(0, len(names), _step(names))
    words = [_short(names[j]) for j in shown]
    turned = len(words) * max(map(len, words)) > MOST_LETTERS
    ax.set_xticks(shown, words, rotation=90 if turned else 0, fontsize="small")


def _step(names: tuple[str, ...]) -> int:
    """Of every so many columns one is named."""
    return -(-len(names) // MOST_NAMES)


def _legend(data: SelectedData) -> str:
    missing = "; pale blue is missing" if np.isnan(data.shades).any() else ""
    step = _step(data.names)
    named = f"; of {step} columns one is named" if step > 1 else ""
    return f"dark is large, of categories late in their order{missing}{named}"


def _short(name: str) -> str:
    words = printable(name)
    return words if len(words) <= LONGEST_NAME else f"{words[:LEFT]}…{words[LEFT + 1 - LONGEST_NAME :]}"


def _title(data: SelectedData) -> str:
    n_clusters, n_columns = data.chosen.shape
    numbers = sorted(set(data.chosen.sum(axis=1).tolist()))
    many = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    which = f"in colour the {many} of {count_of(n_columns, 'column')} that each has selected"
    n_rows = int(data.sizes.sum())
    shown = "" if len(data.clusters) == n_rows else f" ({len(data.clusters)} shown)"
    rows = f"{rows_in_words(n_rows)}{shown}"
    if n_clusters == 1:
        return f"{rows}, 1 group: nothing tells rows apart"
    return f"{rows}, {groups_in_words(n_clusters)}: {which}"
