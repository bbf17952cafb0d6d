"""What plots share: where to draw, which colours, and the words for counts."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5c3e")
"""Told apart with any kind of colour vision (Okabe and Ito 2008; brown instead of its yellow, too pale for lines)."""

NOT_KNOWN = "0.8"
"""Grey for what no draw says."""


def axes_or_new(ax: "Axes | None", *, width: float = 6.4, height: float = 4.0) -> "Axes":
    """The given axes, or those of a new figure of ``width`` x ``height`` inches that belongs to no window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=150, layout="constrained").subplots() if ax is None else ax


def say_title(ax: "Axes", title: str) -> None:
    """Put the title where the eye starts to read: on the left."""
    ax.set_title(title, loc="left", fontsize="medium")


def open_frame(ax: "Axes") -> None:
    """Leave only the two lines that carry numbers."""
    ax.spines[["top", "right"]].set_visible(False)


def cluster_colors() -> list[tuple[float, ...]]:
    """Colours of clusters 0, 1, ...: the palette, then paler, then darker; after the last they start again."""
    from matplotlib.colors import to_rgb

    mixed = ((1.0, 0.0), (0.5, 0.5), (0.6, 0.0))  # share of the colour, and of white; the rest is black
    return [tuple(share * c + white for c in to_rgb(color)) for share, white in mixed for color in PALETTE]


def rows_in_words(n: int) -> str:
    """1 row, 2,500 rows."""
    return "1 row" if n == 1 else f"{n:,} rows"


def groups_in_words(n: int) -> str:
    """1 group, 12 groups."""
    return "1 group" if n == 1 else f"{n:,} groups"
