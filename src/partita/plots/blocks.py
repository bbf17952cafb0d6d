"""A square matrix whose rows are ordered by cluster: its colours, and the blocks of the clusters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from partita.plots.canvas import rows_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#f1faf5", "#b4e4d3", "#5cc5ad", "#36a0ab", "#3879a3", "#3c5397", "#372f60", "#1d1528")
"""Equal steps of lightness from pale (nothing) to dark (most)."""

NARROWEST_NAMED, NARROWEST_SIZED = 0.04, 0.09
"""Shares of the lines from which a cluster has room for its name, and for its size too."""


def draw_blocks(ax: "Axes", boundaries: np.ndarray, names: Sequence[str], sizes: np.ndarray) -> None:
    """Outline every cluster's block, from one boundary to the next, and name it on the left."""
    from matplotlib.patches import Rectangle

    starts, widths = boundaries[:-1], np.diff(boundaries)
    for start, width in zip(starts, widths):
        ax.add_patch(Rectangle((start, start), width, width, fill=False, edgecolor="0.35", linewidth=0.8))
    ax.set_yticks(starts + widths / 2, list(map(block_words, names, sizes, widths / boundaries[-1])))
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def block_words(name: str, size: int, share: float) -> str:
    """What there is room for beside a cluster with such a share of the lines."""
    if share < NARROWEST_NAMED:
        return ""
    return f"group {name}\n{rows_in_words(size)}" if share >= NARROWEST_SIZED else f"group {name}"
