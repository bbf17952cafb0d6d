"""A restaurant: customers around tables, and where the next one sits."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from partita.parameters import whole_number
from partita.plots.canvas import axes_or_new, cluster_colors, say_title
from partita.plots.prior_words import prior_in_words
from partita.priors import Prior
from partita.priors.base import block_sizes, in_order_of_appearance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEAT = 1.0
"""Diameter of a customer, the unit of length."""

NEW_TABLE = 0.75 * SEAT
GAP = 0.7 * SEAT
SHAPE = 1.5  # of the room, width by height
N_WIDTHS = 40  # of lines of tables that are tried
MOST_IN_FIRST_RING = 14
SMALLEST_LETTERS, LARGEST_LETTERS = 3.0, 11.0
"""In points."""


@dataclass(frozen=True)
class RestaurantData:
    """What the picture shows.

    Attributes
    ----------
    labels : (n,) int array
        The table of every customer, tables numbered in the order in which they were opened.
    sizes : (K,) int array
        Customers at every table.
    next_customer : (K + 1,) array
        Probability that one more customer sits at each table, and last that they open one.
    centres : (K + 1, 2) array
        Where the tables stand, the one not yet opened last.
    radii, reach : (K + 1,) array
        How large the tables are, alone and with their customers.
    seats : (n, 2) array
        Where the customers sit: around their table, in the order in which they came.
    """

    labels: np.ndarray
    sizes: np.ndarray
    next_customer: np.ndarray
    centres: np.ndarray
    radii: np.ndarray
    reach: np.ndarray
    seats: np.ndarray


def restaurant_data(prior: Prior, n: int = 20, *, labels: Any = None, random_state: Any = None) -> RestaurantData:
    """Seat n customers, and give the probabilities of where the next one sits.

    Parameters
    ----------
    prior : Prior
    n : int
        Customers; not used where ``labels`` are given.
    labels : (n,) array-like of int, optional
        The table of every customer; drawn from the prior by default.
    random_state : None, int, RandomState or Generator

    Notes
    -----
    The probabilities are ratios p(partition with one more) / p(partition). A learned concentration is integrated out of
    both, so what the seating says about it is used. Only where ``log_probability`` refuses a seating as too costly
    (``StickBreaking`` with some 15 tables of distinct sizes) they are those of the prior's ``log_seats``, right to a
    few in a hundred there, at the mean of a learned concentration.

    Examples
    --------
    >>> from partita.priors import DirichletProcess
    >>> restaurant_data(DirichletProcess(concentration=1.0), labels=[0, 0, 1]).next_customer
    array([0.5 , 0.25, 0.25])
    """
    if not isinstance(prior, Prior):
        raise TypeError(f"prior must be a Prior, such as DirichletProcess(concentration=1.0); got {prior!r}.")
    prior.check()
    if labels is None:
        labels = prior.sample_partition(whole_number("n", n, 1), random_state)
    labels = np.asarray(labels)
    if labels.size == 0 or not prior.possible(block_sizes(labels)):
        raise ValueError("labels must seat at least one customer, at no more tables than the prior has components.")
    labels = in_order_of_appearance(labels)
    sizes = np.bincount(labels)
    tables = [_table(size) for size in sizes]
    reach = np.array([*(np.linalg.norm(around[-1]) + SEAT / 2 for _, around in tables), NEW_TABLE + SEAT])
    centres = _placed(reach)
    seats = np.empty((labels.size, 2))
    for table, (_, around) in enumerate(tables):
        seats[labels == table] = centres[table] + around
    return RestaurantData(
        labels=labels,
        sizes=sizes,
        next_customer=_next_customer(prior, sizes),
        centres=centres,
        radii=np.array([*(radius for radius, _ in tables), NEW_TABLE]),
        reach=reach,
        seats=seats,
    )


def restaurant(
    prior: Prior, n: int = 20, *, labels: Any = None, random_state: Any = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw customers around round tables, and in every table the probability that the next one sits there.

    The Chinese restaurant of the Dirichlet process, and its relative for any other prior. Customers are numbered as
    they came; the dashed table is the one that the next customer would open.

    Parameters
    ----------
    prior : Prior
    n : int
        Customers; not used where ``labels`` are given.
    labels : (n,) array-like of int, optional
        The table of every customer; drawn from the prior by default.
    random_state : None, int, RandomState or Generator
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from partita.priors import DirichletProcess
    >>> print(restaurant(DirichletProcess(concentration=1.0), labels=[0, 0, 1]).get_title("left"))
    3 customers at 2 tables, and where the next one sits
    (Dirichlet process with concentration 1)
    """
    data = restaurant_data(prior, n, labels=labels, random_state=random_state)
    ax = axes_or_new(ax, height=4.4)
    ax.set_aspect("equal", anchor="W")
    reach = data.reach[:, None]
    low, high = (data.centres - reach).min(axis=0), (data.centres + reach).max(axis=0)
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_axis_off()
    _draw_tables(ax, data)
    _draw_customers(ax, data)
    who = "1 customer" if data.labels.size == 1 else f"{data.labels.size:,} customers"
    tables = "1 table" if data.sizes.size == 1 else f"{data.sizes.size:,} tables"
    say_title(ax, f"{who} at {tables}, and where the next one sits\n({prior_in_words(prior)})")
    return ax


def _next_customer(prior: Prior, sizes: np.ndarray) -> np.ndarray:
    _, first, of_size = np.unique(sizes, return_index=True, return_inverse=True)
    opened, *joined = (prior.log_probability(_with_one_more(sizes, k)) for k in (sizes.size, *first))
    logs = np.append(np.array(joined)[of_size], opened)
    return np.exp(logs - logsumexp(logs))


def _with_one_more(sizes: np.ndarray, table: int) -> np.ndarray:
    return np.append(np.repeat(np.arange(sizes.size), sizes), table)


def _placed(reach: np.ndarray) -> np.ndarray:
    """Centres of circles in lines, left to right and top to bottom, as large as the room allows."""
    least, most = 2 * reach.max(), np.sum(2 * reach + GAP)
    rooms = [_in_lines(reach, width) for width in np.geomspace(least, most, N_WIDTHS)]

    def scale(centres: np.ndarray) -> float:
        width, height = np.ptp(np.vstack([centres - reach[:, None], centres + reach[:, None]]), axis=0)
        return min(SHAPE / width, 1.0 / height)

    return max(rooms, key=scale)


def _in_lines(reach: np.ndarray, width: float) -> np.ndarray:
    """Centres of circles in lines of at most this width, or of one circle."""
    centres = np.empty((reach.size, 2))
    x, top = 0.0, 0.0
    line: list[int] = []
    for k, radius in enumerate(reach):
        if line and x + 2 * radius > width:
            top = _close(centres, reach, line, top)
            x, line = 0.0, []
        centres[k, 0] = x + radius
        x += 2 * radius + GAP
        line.append(k)
    _close(centres, reach, line, top)
    return centres


def _close(centres: np.ndarray, reach: np.ndarray, line: list[int], top: float) -> float:
    """Set the height of a line of circles; the top of the next one."""
    tallest = reach[line].max()
    centres[line, 1] = top - tallest
    return top - 2 * tallest - GAP


def _table(size: int) -> tuple[float, np.ndarray]:
    """Radius of a table, and where its customers sit around it: clockwise from the top, in rings when they are many."""
    # In the first ring there is room for one more, so that the next customer could sit down.
    radius = max(min(size + 1, MOST_IN_FIRST_RING) * 1.15 * SEAT / (2 * np.pi), NEW_TABLE)
    rings: list[np.ndarray] = []
    left, ring = size, radius + SEAT / 2
    while left:
        room = max(int(2 * np.pi * ring / SEAT), 1) if rings else max(min(size + 1, MOST_IN_FIRST_RING), 2)
        angle = np.pi / 2 - 2 * np.pi * np.arange(min(left, room)) / room
        rings.append(ring * np.stack([np.cos(angle), np.sin(angle)], axis=1))
        left -= len(angle)
        ring += SEAT
    return radius, np.concatenate(rings)


def _draw_tables(ax: "Axes", data: RestaurantData) -> None:
    from matplotlib.patches import Circle

    colors = [cluster_colors()[table % len(cluster_colors())] for table in range(data.sizes.size)]
    for (x, y), radius, color in zip(data.centres, data.radii, colors):
        ax.add_patch(Circle((x, y), radius, edgecolor=color, facecolor=(*color[:3], 0.18), linewidth=1.2))
    x, y = data.centres[-1]
    ax.add_patch(Circle((x, y), data.radii[-1], edgecolor="0.4", facecolor="white", linestyle="--", linewidth=1.2))
    _write(ax, (x, y - data.radii[-1] - SEAT / 2), "new", height=0.6, color="0.4")
    for centre, share in zip(data.centres, data.next_customer, strict=True):
        percent = f"{share:.0%}" if share >= 0.095 or share == 0 else f"{share:.1%}"
        _write(ax, centre, percent, height=0.62, color="black", fontweight="bold")


def _draw_customers(ax: "Axes", data: RestaurantData) -> None:
    from matplotlib.collections import EllipseCollection

    colors = cluster_colors()
    n = data.labels.size
    face = [colors[table % len(colors)] for table in data.labels]
    size = np.full(n, 0.86 * SEAT)
    ax.add_collection(
        EllipseCollection(
            size, size, np.zeros(n), units="xy", offsets=data.seats, offset_transform=ax.transData, facecolors=face
        )
    )
    for customer, seat in enumerate(data.seats, start=1):
        _write(ax, seat, str(customer), height=0.45, color="white")


def _write(ax: "Axes", place: Any, text: str, *, height: float, **style: Any) -> None:
    """Write letters as high as ``height`` in the units of the axes, where that is large enough to read."""
    box = ax.get_window_extent()
    scale = min(box.width / np.ptp(ax.get_xlim()), box.height / np.ptp(ax.get_ylim())) / ax.figure.dpi
    points = min(72 * height * scale, LARGEST_LETTERS)
    if points >= SMALLEST_LETTERS:
        ax.text(place[0], place[1], text, ha="center", va="center", fontsize=points, **style)
