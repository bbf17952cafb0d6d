"""Eigengap: the smallest eigenvalues of a graph Laplacian, and the gap that says how many clusters there are."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.plots.canvas import PALETTE, axes_or_new, groups_in_words, open_frame, say_title
from partita.spectral import SpectralClustering, choose_n_clusters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AFTER = "#9fb8cc"
"""Pale blue: the eigenvalues after the gap."""


@dataclass(frozen=True)
class EigengapData:
    """What the picture shows.

    Attributes
    ----------
    eigenvalues : (m,) array
        Ascending.
    n_clusters : int
        The number of clusters: the marked gap is the one after this many eigenvalues.
    gap : float
        The difference of the two eigenvalues, nan if there are no more.
    clearest : int
        The number of clusters that "eigengap" chooses, see `partita.spectral.choose_n_clusters`.
    """

    eigenvalues: np.ndarray
    n_clusters: int
    gap: float
    clearest: int


def eigengap_data(spectral: SpectralClustering | Any) -> EigengapData:
    """Eigenvalues, the gap used and the one that is clearest.

    Parameters
    ----------
    spectral : fitted SpectralClustering, or (m,) array-like of eigenvalues
        Of eigenvalues alone, which should be those of a normalised Laplacian, the number of clusters is the one that
        "eigengap" would choose.

    Examples
    --------
    >>> eigengap_data([0.0, 0.01, 0.02, 0.9, 1.0])
    EigengapData(eigenvalues=array([0.  , 0.01, 0.02, 0.9 , 1.  ]), n_clusters=3, gap=0.88, clearest=3)
    """
    fitted = isinstance(spectral, SpectralClustering)
    values = _checked(getattr(spectral, "eigenvalues_", None) if fitted else spectral)
    clearest = choose_n_clusters(values, mean=spectral.mean_eigenvalue_ if fitted else 1.0)
    n_clusters = int(spectral.n_clusters_) if fitted else clearest
    following = values[n_clusters] if n_clusters < values.size else np.nan
    return EigengapData(values, n_clusters, float(following - values[n_clusters - 1]), clearest)


def eigengap(spectral: SpectralClustering | Any, ax: "Axes | None" = None) -> "Axes":
    """Draw eigenvalues against their number and mark the gap after the last cluster's.

    As many eigenvalues near zero as there are clusters, then a jump: the number of clusters is clear. Without a jump,
    the number is a choice. The axis has a square-root scale, on which the eigenvalues of a curve lie on a line.

    Parameters
    ----------
    spectral : fitted SpectralClustering, or (m,) array-like of eigenvalues
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> eigengap([0.0, 0.01, 0.02, 0.9, 1.0]).get_title("left")
    '3 groups: the gap after eigenvalue 3 is the clearest'
    """
    from matplotlib.ticker import MaxNLocator

    data = eigengap_data(spectral)
    ax = axes_or_new(ax)
    numbers = np.arange(1, data.eigenvalues.size + 1)
    colors = [PALETTE[0] if number <= data.n_clusters else AFTER for number in numbers]
    ax.scatter(numbers, data.eigenvalues, color=colors, zorder=2, clip_on=False)
    if not np.isnan(data.gap):
        _mark(ax, data)
    ax.set_xlim(0.3, numbers[-1] + 0.7)
    ax.set_yscale("function", functions=(lambda y: np.sqrt(np.maximum(y, 0.0)), np.square))
    ax.set_ylim(0.0, 1.1 * data.eigenvalues[-1] or 1.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel("number of the eigenvalue")
    ax.set_ylabel("eigenvalue (square-root scale)")
    open_frame(ax)
    say_title(ax, _title(data))
    return ax


def _mark(ax: "Axes", data: EigengapData) -> None:
    """A band from one eigenvalue to the next, with the gap in numbers."""
    low, high = data.eigenvalues[data.n_clusters - 1 : data.n_clusters + 1]
    ax.axhspan(low, high, color=PALETTE[1], alpha=0.15, linewidth=0, zorder=0)
    ax.plot([data.n_clusters, data.n_clusters + 1], [low, high], color=PALETTE[1], zorder=1)
    middle = (0.5 * (np.sqrt(low) + np.sqrt(high))) ** 2
    m = data.eigenvalues.size
    x, side = (0.4, "left") if 2 * data.n_clusters > m else (m + 0.6, "right")  # the side without points
    ax.text(x, middle, f"gap {data.gap:.3g}", ha=side, va="center", color=PALETTE[1])


def _title(data: EigengapData) -> str:
    if np.isnan(data.gap):
        return f"{groups_in_words(data.n_clusters).capitalize()}: every eigenvalue is used"
    start = f"{groups_in_words(data.n_clusters).capitalize()}: the gap after eigenvalue {data.n_clusters}"
    if not data.eigenvalues.any():
        return f"{start} is zero, as are all shown"
    if data.clearest == data.n_clusters == 1:
        return "1 group: no gap after more eigenvalues is clear"
    if data.clearest == data.n_clusters:
        return f"{start} is the clearest"
    return f"{start}; " + ("no gap is clear" if data.clearest == 1 else f"the clearest is after {data.clearest}")


def _checked(values: Any) -> np.ndarray:
    if values is None:
        raise ValueError("This SpectralClustering has no eigenvalues yet: call fit first.")
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all() or (np.diff(values) < 0.0).any():
        raise ValueError("Eigenvalues must be a list of finite numbers that do not decrease, at least one.")
    return values
