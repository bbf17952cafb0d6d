"""Losses of partitions over weighted atoms, from contingency tables."""

from collections.abc import Callable

import numpy as np

from partita.kernels.contingency import chained_losses, pairwise_losses

TABLE_CELLS = 1 << 26
"""Cells of a contingency table up to which it is kept; beyond, labels are compared one cluster at a time."""

_DRAWS_TOGETHER = 256


def tabled_losses(
    kind: int,
    a: float,
    phi_of: Callable[[int], np.ndarray],
    candidates: np.ndarray,
    draws: np.ndarray,
    counts: np.ndarray,
) -> np.ndarray:
    """Losses of candidates and draws over weighted atoms, (candidate, draw): a compiled loss, its price and its phi.

    Tables are made for as many draws at a time as memory is meant for.
    """
    dtype = np.promote_types(candidates.dtype, draws.dtype)
    candidates = np.ascontiguousarray(candidates, dtype=dtype)
    draws = np.ascontiguousarray(draws, dtype=dtype)
    phi = phi_of(int(counts.sum()))
    shape = (n_labels(candidates) + 1, n_labels(draws) + 1)
    losses = np.empty((len(candidates), len(draws)))
    if shape[0] * shape[1] > TABLE_CELLS:
        pairwise_losses(candidates, draws, kind, a, counts, phi, max(shape) - 1, losses)
        return losses
    step = min(_DRAWS_TOGETHER, max(1, TABLE_CELLS // (shape[0] * shape[1])))
    for start in range(0, len(draws), step):
        columns = np.ascontiguousarray(draws[start : start + step].T)
        some = np.empty((len(candidates), columns.shape[1]))
        tables = np.zeros((columns.shape[1], *shape), np.int32)
        chained_losses(candidates, columns, kind, a, counts, phi, tables, some)
        losses[:, start : start + step] = some
    return losses


def evenly_spaced(weights: np.ndarray, n_draws: int) -> tuple[np.ndarray, np.ndarray]:
    """About so many draws, evenly spaced in cumulated weight, and their new weights."""
    positions = (np.arange(n_draws) + 0.5) / n_draws
    cumulated = np.cumsum(weights) / np.sum(weights)
    hit = np.minimum(np.searchsorted(cumulated, positions), len(weights) - 1)
    some, times = np.unique(hit, return_counts=True)
    return some, times / n_draws


def n_labels(labels: np.ndarray) -> int:
    """One more than the largest label."""
    return int(labels.max()) + 1


def xlogx(n: int) -> np.ndarray:
    """x log x for x = 0, 1, ... n."""
    x = np.arange(n + 1, dtype=np.float64)
    return x * np.log(np.maximum(x, 1.0))


def squares(n: int) -> np.ndarray:
    """x^2 for x = 0, 1, ... n."""
    return np.arange(n + 1, dtype=np.float64) ** 2
