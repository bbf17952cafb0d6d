"""Ellipses of a mean and a covariance, drawn as outlines with a name at the mean."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from partita.plots.canvas import cluster_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DARKER = 0.75
"""Share of their colour that ellipses and names have, so that they stand out from the rows; the rest is black."""


def outlines(means: np.ndarray, covariances: np.ndarray, deviations: float, n_points: int = 121) -> np.ndarray:
    """Outlines (K, n_points, 2) at so many standard deviations from the means: m + deviations L (cos t, sin t).

    Every point has Mahalanobis distance ``deviations``. L is the Cholesky factor of the covariance by way of the
    correlation, so that columns of very different units and clusters that lie on a line are drawn as what they are.
    """
    angle = np.linspace(0.0, 2.0 * np.pi, n_points)
    sd = np.sqrt(np.einsum("kjj->kj", covariances))
    product = sd.prod(axis=1)
    correlation = np.divide(covariances[:, 0, 1], product, out=np.zeros_like(product), where=product > 0.0)
    correlation = np.clip(correlation, -1.0, 1.0)[:, None]
    across = correlation * np.cos(angle) + np.sqrt(1.0 - correlation**2) * np.sin(angle)
    unit = np.stack([np.broadcast_to(np.cos(angle), across.shape), across], axis=2)
    return means[:, None, :] + deviations * sd[:, None, :] * unit


def draw_ellipses(
    ax: "Axes", means: np.ndarray, covariances: np.ndarray, names: Sequence[str], deviations: Sequence[float]
) -> None:
    """Outline every cluster, the first outline the thickest, and write its name at its mean; nan is not drawn."""
    from matplotlib.patheffects import withStroke

    palette = np.array(cluster_colors())
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for width, away in zip((1.5, 0.9), deviations):
        for k, outline in enumerate(outlines(means, covariances, away)):
            if not np.isnan(outline).any():
                color = DARKER * palette[k % len(palette)]
                ax.plot(*outline.T, color=color, linewidth=width, path_effects=halo, zorder=3)
    for k, (name, mean) in enumerate(zip(names, means)):
        shape = "circle" if len(name) < 3 else "round"
        disc = {"boxstyle": f"{shape},pad=0.2", "facecolor": DARKER * palette[k % len(palette)], "edgecolor": "white"}
        if not np.isnan(mean).any():
            ax.annotate(name, mean, color="white", ha="center", va="center", fontsize="small", bbox=disc, zorder=4)
