"""Partition cost: what a prior charges for cluster sizes, from skewed to equal."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from typing import TYPE_CHECKING

import numpy as np

from partita.plots.canvas import PALETTE, axes_or_new, groups_in_words, open_frame, rows_in_words, say_title
from partita.plots.prior_words import prior_in_words
from partita.posterior.cluster_sizes import ClusterSizes
from partita.posterior.costs import partition_costs
from partita.priors import DirichletProcess, PitmanYor
from partita.priors.checks import require_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_POINTS = 201
"""Points of a curve."""


@dataclass(frozen=True)
class CostCurve:
    """The costs of all cluster sizes of one number of clusters, by their entropy.

    Attributes
    ----------
    n_clusters : int
    entropy : (m,) array
        From the most skewed sizes to equal ones, whose entropy is 1; logarithms to base ``n_clusters``.
    highest : (m,) array
        The largest cost at that entropy: one dominating cluster, the others equal.
    lowest : (m,) array
        The smallest cost at that entropy.
    """

    n_clusters: int
    entropy: np.ndarray
    highest: np.ndarray
    lowest: np.ndarray


def partition_cost_data(
    prior: DirichletProcess | PitmanYor, n: int, n_clusters: int | Sequence[int]
) -> tuple[CostCurve, ...]:
    """Cost of cluster sizes that sum to n, as a function of their entropy: one curve per number of clusters.

    The partition cost is minus the log probability of the partition, up to a constant: -K log alpha - sum_c
    log Gamma(n_c) for the Dirichlet process; -sum_{c=2}^K log(alpha + sigma (c - 1)) - sum_c log Gamma(n_c - sigma)
    + K log Gamma(1 - sigma) for Pitman-Yor. The entropy is S = -sum_c n_c/n log_K(n_c/n), and 0 for K = 1.

    Parameters
    ----------
    prior : DirichletProcess or PitmanYor
        With a number as concentration.
    n : int
        Number of rows.
    n_clusters : int or sequence of int
        Numbers of clusters, each from 1 to n.

    Notes
    -----
    Two clusters have one cost per entropy. From three on many sizes share an entropy, and their costs differ a
    little: ``highest`` and ``lowest`` are the exact bounds over all real sizes of at least 1. The cost's
    derivative psi(e^y - sigma) is concave in y = log n_c, so by the equal variable theorem (Cirtoaje 2007) the cost
    is highest where one cluster dominates and the others are equal, and lowest where some clusters have size 1,
    one lies between and the others are equal. Cost O(points x K).

    References
    ----------
    Franzolini and Rebaudo (2022), section 2 and Figure 1, with the Pitman-Yor sum started at c = 2, which also
    holds for alpha <= 0.

    Examples
    --------
    >>> from partita.priors import DirichletProcess
    >>> [curve] = partition_cost_data(DirichletProcess(concentration=1.0), n=100, n_clusters=2)
    >>> curve.highest[[0, -1]].round(1)
    array([-354.5, -289.1])
    """
    _check_prior(prior)
    n = require_integer("n", n, at_least=1)
    counts = n_clusters if isinstance(n_clusters, Iterable) else [n_clusters]
    return tuple(_curve(prior, n, _checked_count(k, n)) for k in counts)


def partition_cost(
    prior: DirichletProcess | PitmanYor, n: int, n_clusters: int | Sequence[int], ax: "Axes | None" = None
) -> "Axes":
    """Draw what a prior charges for the sizes of K clusters, from skewed (low entropy) to equal (entropy 1).

    A line is the cost where one cluster dominates and the others are equal; the band under it, often too thin to be
    seen, is where all other sizes lie. Lines that rise to the right say that the prior prefers skewed sizes: a
    few dominating clusters and dust.

    Parameters
    ----------
    prior : DirichletProcess or PitmanYor
        With a number as concentration.
    n : int
        Number of rows.
    n_clusters : int or sequence of int
        Numbers of clusters, one line each; the figure of the paper has ``n=100, n_clusters=(2, 3, 4)``.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from partita.priors import DirichletProcess
    >>> partition_cost(DirichletProcess(concentration=1.0), n=100, n_clusters=(2, 3)).get_title("left")
    '100 rows, Dirichlet process with concentration 1'
    """
    curves = partition_cost_data(prior, n, n_clusters)
    ax = axes_or_new(ax)
    for curve, (style, color) in zip(curves, cycle(product(("-", "--", ":"), PALETTE))):
        marker = "o" if len(curve.entropy) == 1 else None
        name = groups_in_words(curve.n_clusters)
        ax.plot(curve.entropy, curve.highest, color=color, linestyle=style, marker=marker, label=name)
        ax.fill_between(curve.entropy, curve.lowest, curve.highest, color=color, alpha=0.3, linewidth=0)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("entropy of the group sizes (1: all equal)")
    ax.set_ylabel("partition cost (nats)")
    ax.legend(frameon=False, ncols=1 + (len(curves) - 1) // 8)
    open_frame(ax)
    say_title(ax, f"{rows_in_words(n)}, {prior_in_words(prior)}")
    return ax


def _curve(prior: DirichletProcess | PitmanYor, n: int, k: int) -> CostCurve:
    high, low = _dominated(n, k), _balanced(n, k)
    bends = _entropies(low[::N_POINTS])  # where one more cluster has size 1
    entropy = np.union1d(_entropies(high), bends)
    return CostCurve(n_clusters=k, entropy=entropy, highest=_at(entropy, prior, high), lowest=_at(entropy, prior, low))


def _at(entropy: np.ndarray, prior: DirichletProcess | PitmanYor, sizes: np.ndarray) -> np.ndarray:
    """Costs of the sizes that have these entropies, by straight lines between those given."""
    known = _entropies(sizes)
    rising = np.argsort(known, kind="stable")
    return np.interp(entropy, known[rising], _costs(prior, sizes)[rising])


def _dominated(n: int, k: int) -> np.ndarray:
    """Sizes (points, k): one cluster as large as it can be, then less, until all are equal."""
    if k in (1, n):
        return np.full((1, k), n / k)
    small = np.geomspace(1.0, n / k, N_POINTS)
    return np.column_stack([n - (k - 1) * small, *[small] * (k - 1)])


def _balanced(n: int, k: int) -> np.ndarray:
    """Sizes (points, k): clusters of size 1, one that grows from 1 until it equals the rest, which are equal."""
    if k in (1, n):
        return np.full((1, k), n / k)
    paths = []
    for ones in range(k - 1):
        growing = np.geomspace(1.0, (n - ones) / (k - ones), N_POINTS)
        rest = (n - ones - growing) / (k - ones - 1)
        paths.append(np.column_stack([np.ones((N_POINTS, ones)), growing, *[rest] * (k - ones - 1)]))
    return np.concatenate(paths)


def _entropies(sizes: np.ndarray) -> np.ndarray:
    """Entropy of every row of sizes, with logarithms to the base of their number."""
    k = sizes.shape[1]
    if k == 1:
        return np.zeros(len(sizes))
    shares = sizes / sizes.sum(axis=1, keepdims=True)
    return -(shares * np.log(shares)).sum(axis=1) / np.log(k)


def _costs(prior: DirichletProcess | PitmanYor, sizes: np.ndarray) -> np.ndarray:
    """Partition cost of every row of sizes."""
    n_rows, k = sizes.shape
    clusters = ClusterSizes(sizes.ravel(), np.full(n_rows, k))
    return partition_costs(prior, clusters, np.full(n_rows, float(prior.concentration)))


def _check_prior(prior: DirichletProcess | PitmanYor) -> None:
    if not isinstance(prior, DirichletProcess | PitmanYor):
        raise TypeError(f"The partition cost is known for DirichletProcess and PitmanYor; got {type(prior).__name__}.")
    prior.check()
    if prior.learns_concentration:
        raise ValueError(
            f"The partition cost needs a number as concentration, such as {type(prior).__name__}(concentration=1.0); "
            "a learned one has no single cost."
        )


def _checked_count(k: int, n: int) -> int:
    k = require_integer("n_clusters", k, at_least=1)
    if k > n:
        raise ValueError(f"n_clusters must be at most n={n}, since no cluster is empty; got {k}.")
    return k
