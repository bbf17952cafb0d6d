"""Number of clusters: how probable each is, and which one the estimate has."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.plots.canvas import PALETTE, axes_or_new, groups_in_words, open_frame, say_title
from partita.plots.rows import labels_or_estimate
from partita.posterior import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OTHER = "#9fb8cc"
"""Pale blue: the numbers that the estimate does not have."""


@dataclass(frozen=True)
class NClustersData:
    """What the picture shows.

    Attributes
    ----------
    n_clusters : (m,) int array
        The numbers of clusters that were drawn, increasing.
    probabilities : (m,) array
        Their posterior probabilities; they sum to 1.
    estimate : int
        The number of clusters of the estimate.
    """

    n_clusters: np.ndarray
    probabilities: np.ndarray
    estimate: int

    @property
    def estimate_probability(self) -> float:
        """Posterior probability of the estimate's number of clusters, 0 if it was never drawn."""
        return float(self.probabilities[self.n_clusters == self.estimate].sum())


def n_clusters_data(posterior: Posterior, labels: Any = None) -> NClustersData:
    """Weighted share of the draws with each number of clusters.

    Parameters
    ----------
    posterior : Posterior
    labels : (n_objects,) array-like, optional
        The partition whose number of clusters is marked, ``posterior.estimate().labels`` by default.

    Examples
    --------
    >>> from partita import Posterior
    >>> n_clusters_data(Posterior([[0, 0, 1, 1], [0, 1, 2, 2]]), labels=[0, 0, 1, 1])
    NClustersData(n_clusters=array([2, 3]), probabilities=array([0.5, 0.5]), estimate=2)
    """
    probabilities = posterior.n_clusters()
    return NClustersData(
        n_clusters=np.array(sorted(probabilities)),
        probabilities=np.array([probabilities[k] for k in sorted(probabilities)]),
        estimate=int(labels_or_estimate(posterior, labels).max()) + 1,
    )


def n_clusters(posterior: Posterior, labels: Any = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the posterior probabilities of the number of clusters as bars; a dark bar is the estimate's.

    The estimate is the partition of least expected loss: its number of clusters need not be the most probable one, and
    often is smaller, since clusters that differ from draw to draw add to the number in every draw and to no partition.

    Parameters
    ----------
    posterior : Posterior
    labels : (n_objects,) array-like, optional
        The partition whose number of clusters is marked, ``posterior.estimate().labels`` by default.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from partita import Posterior
    >>> n_clusters(Posterior([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 2, 2]])).get_title("left")
    'Most probable: 2 groups (0.67); the estimate has 2'
    """
    from matplotlib.ticker import MaxNLocator

    data = n_clusters_data(posterior, labels)
    ax = axes_or_new(ax)
    colors = [PALETTE[0] if k == data.estimate else OTHER for k in data.n_clusters]
    ax.bar(data.n_clusters, data.probabilities, width=0.8, color=colors)
    ax.annotate(
        "estimate",
        (data.estimate, data.estimate_probability),
        (0, 12),
        textcoords="offset points",
        ha="center",
        color=PALETTE[0],
        arrowprops={"arrowstyle": "-|>", "color": PALETTE[0]},
    )
    least, most = min(data.n_clusters[0], data.estimate), max(data.n_clusters[-1], data.estimate)
    margin = max(1.0, 0.08 * (most - least))
    ax.set_xlim(max(least - margin, 0.3), most + margin)
    ax.set_ylim(0.0, 1.15 * data.probabilities.max())
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel("number of groups")
    ax.set_ylabel("posterior probability")
    open_frame(ax)
    say_title(ax, _title(data))
    return ax


def _title(data: NClustersData) -> str:
    likely = int(data.n_clusters[np.argmax(data.probabilities)])
    most = f"Most probable: {groups_in_words(likely)} ({data.probabilities.max():.2f})"
    return f"{most}; the estimate has {data.estimate}"
