"""How many nats per row a column contributes to telling a cluster from the rest.

    relevance_k = KL(p_k || q_k),   q_k = sum_{l != k} share_l p_l / sum_{l != k} share_l,

p_k the column's posterior predictive in cluster k, all other columns left aside. It is 0 where the column looks
alike inside and outside, and in a table of one cluster.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

NODES = 100
COUNT_NODES = 256
LOST_MASS = 1e-9


def relevance(predictive: Any, shares: np.ndarray, nodes: Iterable[tuple] | None = None) -> np.ndarray:
    """Relevance (K, d) of columns by quadrature, averaged over completions.

    Parameters
    ----------
    predictive
        An object with ``ppf`` and ``logpdf``, as those of scipy.stats, with parameters (C, K, d).
    shares : (K,)
        The clusters' weights.
    nodes : iterable of (x, weight), optional
        Points (C, K, d) and weights that average over every cluster's predictive. By default 100 quantiles,
        which is exact to about 1e-5 of the result. Cost O(nodes C K^2 d).
    """
    if shares.size == 1:
        return np.zeros_like(predictive.ppf(0.5)[0])
    with np.errstate(divide="ignore"):
        log_others = np.log(_others(shares))[:, None, :, None]
    cluster = np.arange(shares.size)
    total: Any = 0.0
    mass: Any = 0.0
    for x, weight in quantile_nodes(predictive) if nodes is None else nodes:
        logs = predictive.logpdf(np.swapaxes(x, 0, 1)[:, :, None])  # (cluster of x, C, K, d)
        inside = logs[cluster, :, cluster]
        logs += log_others
        top = logs.max(axis=2)
        logs -= top[:, :, None]
        outside = top + np.log(np.exp(logs, out=logs).sum(axis=2))
        weight = np.swapaxes(np.broadcast_to(weight, x.shape), 0, 1)
        total, mass = total + weight * (inside - outside), mass + weight
    return np.maximum((total / mass).mean(axis=1), 0.0)


def quantile_nodes(predictive: Any, n_nodes: int = NODES) -> Iterator[tuple[np.ndarray, float]]:
    """Quantiles at levels that are dense near 0 and 1: midpoints v of a grid, u = v^3 (10 - 15 v + 6 v^2)."""
    for v in (np.arange(n_nodes) + 0.5) / n_nodes:
        yield predictive.ppf(v**3 * (10 - 15 * v + 6 * v**2)), 30 * (v * (1 - v)) ** 2 / n_nodes


def count_nodes(predictive: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every count that is likely at all, or the middles of cells of counts where they are many.

    Cells grow towards large counts. All counts but a mass of 1e-9 are covered.
    """
    low, high = predictive.ppf(0.5 * LOST_MASS), predictive.ppf(1.0 - 0.5 * LOST_MASS)
    width = high - low + 1.0
    n_nodes = int(min(width.max(), COUNT_NODES))
    start = low
    for i in range(1, n_nodes + 1):
        stop = low + np.where(width <= n_nodes, width * i // n_nodes, np.floor(width * (i / n_nodes) ** 2))
        size = stop - start
        middle = np.maximum(start + 0.5 * (size - 1.0), 0.0)
        yield middle, size * np.exp(predictive.logpdf(middle))
        start = stop


def category_relevance(level_shares: np.ndarray, offset: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Relevance (K, columns) of categories, an exact sum over levels.

    ``level_shares`` (C, K, L) are predictive shares of the levels of all columns, column m from ``offset[m]`` on.
    """
    if shares.size == 1:
        return np.zeros((1, offset.size - 1))
    terms = level_shares * (np.log(level_shares) - np.log(_others(shares) @ level_shares))
    return np.maximum(np.add.reduceat(terms, offset[:-1], axis=-1).mean(axis=0), 0.0)


def _others(shares: np.ndarray) -> np.ndarray:
    """Weights (K, K) of the other clusters from where each cluster stands; rows sum to 1."""
    weights = np.tile(shares, (shares.size, 1))
    np.fill_diagonal(weights, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)
