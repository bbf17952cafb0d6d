"""Share of rows in sparse clusters, draw by draw, before and after draws are weighted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from partita.plots.canvas import PALETTE, axes_or_new, open_frame, say_title
from partita.posterior import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DRAWS = 1000
"""Points per posterior: more would hide each other."""

FEW_DRAWS = 100
"""Draws up to which points are large."""


@dataclass(frozen=True)
class SparseShareData:
    """What the picture shows of one posterior.

    Attributes
    ----------
    name : str
    shares : (n_draws,) array
        Per draw, the share of its rows in clusters that hold at most the threshold.
    weights : (n_draws,) array
        Weights of the draws; they sum to 1.
    exceeding : dict of float to float
        For every level the weighted share of draws with at least that share of their rows in sparse clusters.
    """

    name: str
    shares: np.ndarray
    weights: np.ndarray
    exceeding: dict[float, float]

    def evenly_by_weight(self, most: int) -> np.ndarray:
        """Draws, in order, each as often as its weight says: systematic resampling, the same at every call."""
        n_points = min(most, len(self.weights))
        reached = np.cumsum(self.weights)
        where = (np.arange(n_points) + 0.5) / n_points * reached[-1]
        return np.searchsorted(reached, where)


def sparse_share_data(
    posterior: Posterior | Mapping[str, Posterior], *, threshold: float = 0.1, levels: Sequence[float] = (0.05, 0.1)
) -> tuple[SparseShareData, ...]:
    """Per draw the share of rows in sparse clusters, and how many draws reach each level.

    Parameters
    ----------
    posterior : Posterior or mapping of str to Posterior
        Such as ``{"before": posterior, "entropy = 10": posterior.regularize_entropy(10)}``.
    threshold : float
        A cluster is sparse when it holds at most this share of the rows that the draw labels.
    levels : sequence of float
        Shares of the rows.

    References
    ----------
    Franzolini and Rebaudo (2022), section 4: threshold 0.1 and levels 0.05 and 0.1.

    Examples
    --------
    >>> from partita import Posterior
    >>> [data] = sparse_share_data(Posterior([[0] * 9 + [1], [0] * 5 + [1] * 5]))
    >>> data.shares, data.exceeding
    (array([0.1, 0. ]), {0.05: 0.5, 0.1: 0.5})
    """
    named = posterior if isinstance(posterior, Mapping) else {"posterior": posterior}
    if not named:
        raise ValueError("The mapping is empty: it needs at least one name with its posterior.")
    found = []
    for name, one in named.items():
        shares = one.sparse_share(threshold)
        exceeding = {float(level): float(one.weights[shares >= level].sum()) for level in levels}
        found.append(SparseShareData(str(name), shares, one.weights, exceeding))
    return tuple(found)


def sparse_share(
    posterior: Posterior | Mapping[str, Posterior],
    *,
    threshold: float = 0.1,
    levels: Sequence[float] = (0.05, 0.1),
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the share of rows in sparse clusters for every draw, posteriors side by side.

    A point is a draw, in the order drawn; where draws have weights, a draw has as many points as its weight says, so
    that what is dense is probable. Dashed lines are the levels, and under each posterior stands the weighted
    share of draws on or above them. About 1000 points per posterior are drawn; the numbers are of all draws.

    Parameters
    ----------
    posterior : Posterior or mapping of str to Posterior
        Such as ``{"before": posterior, "entropy = 10": posterior.regularize_entropy(10)}``.
    threshold : float
        A cluster is sparse when it holds at most this share of the rows that the draw labels.
    levels : sequence of float
        Shares of the rows.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from partita import Posterior
    >>> sparse_share(Posterior([[0] * 9 + [1], [0] * 5 + [1] * 5])).get_title("left")
    'Rows in groups that hold at most 10% of the rows, draw by draw'
    """
    data = sparse_share_data(posterior, threshold=threshold, levels=levels)
    ax = axes_or_new(ax)
    for level in levels:
        ax.axhline(level, color="0.45", linewidth=0.8, linestyle="--", zorder=0)
    for place, (one, color) in enumerate(zip(data, cycle(PALETTE))):
        draws = one.evenly_by_weight(MOST_DRAWS)
        across = place + 0.05 + 0.9 * (np.arange(len(draws)) + 0.5) / len(draws)
        area = 9 if len(draws) > FEW_DRAWS else 30
        ax.scatter(across, one.shares[draws], s=area, color=color, alpha=0.5, linewidth=0)
    ax.set_xticks(np.arange(len(data)) + 0.5, [_caption(one) for one in data], fontsize="small")
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(0, len(data))
    ax.set_ylim(-0.02 * ax.get_ylim()[1], None)
    ax.yaxis.set_major_formatter(lambda share, _: _percent(share))
    ax.set_xlabel("share of the draws on or above each dashed line", fontsize="small")
    ax.set_ylabel("rows in sparse groups")
    open_frame(ax)
    say_title(ax, f"Rows in groups that hold at most {_percent(threshold)} of the rows, draw by draw")
    return ax


def _caption(one: SparseShareData) -> str:
    return "\n".join([one.name, *(f"{share:.1%} ≥ {_percent(level)}" for level, share in one.exceeding.items())])


def _percent(share: float) -> str:
    return f"{100 * share:.4g}%"
