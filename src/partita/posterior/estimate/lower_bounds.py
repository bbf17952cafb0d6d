"""The lower bound of Wade and Ghahramani on the expected variation of information, of any partition."""

import numpy as np

from partita.kernels.contingency import coclustering
from partita.posterior.condensing import Condensed
from partita.posterior.estimate.comparing import n_labels, xlogx

MOST_PAIRED = 4000
"""Atoms up to which all pairs of them are compared: 128 MB."""

_CELLS_TOGETHER = 1 << 22


def vi_lower_bounds(candidates: np.ndarray, draws: Condensed) -> np.ndarray:
    """Of every candidate; from all pairs of atoms where no draw leaves one out and that is less work."""
    n_atoms = len(draws.counts)
    if draws.partial or n_atoms > MOST_PAIRED or 2 * len(candidates) < n_atoms / 100:
        return np.array([_vi_lower_bound(candidate, draws) for candidate in candidates])
    together = np.zeros((n_atoms, n_atoms))
    coclustering(draws.labels, draws.weights, together)
    together = np.tril(together) + np.tril(together, -1).T
    n = int(draws.counts.sum())
    f = xlogx(n)
    sizes = (np.bincount(labels, weights=draws.counts).astype(np.int64) for labels in draws.labels)
    constant = sum(weight * f[own].sum() for weight, own in zip(draws.weights, sizes))
    losses = np.empty(len(candidates))
    for s, candidate in enumerate(candidates.astype(np.int64)):
        members = np.zeros((n_atoms, n_labels(candidate)))
        members[np.arange(n_atoms), candidate] = draws.counts
        shared = (together @ members)[np.arange(n_atoms), candidate]
        own = f[members.sum(axis=0).astype(np.int64)].sum()
        losses[s] = (own + constant - 2.0 * draws.counts @ np.log(shared)) / n
    return losses


def _vi_lower_bound(candidate: np.ndarray, draws: Condensed) -> float:
    """The bound of `VILowerBound` where draws label some objects only: W_i the sum of w_b / n_b over the draws that
    label i.

    E VI >= sum_b w_b / n_b [sum_T f(n_bT) + sum_C f(n_bC)] - 2 sum_i W_i log(Q_i / W_i), f(x) = x log x and
    Q_i = sum_b w_b / n_b |T(i) and C_b(i)|. Cost O(draws x (atoms + clusters^2)), some draws at a time.
    """
    kept = np.flatnonzero(candidate >= 0)
    clusters, counts = candidate[kept].astype(np.int64), draws.counts[kept]
    total, shared, own_weights = 0.0, np.zeros(len(kept)), np.zeros(len(kept))
    shape = n_labels(clusters), n_labels(draws.labels)
    step = max(1, _CELLS_TOGETHER // max(shape[0] * shape[1], len(kept)))
    for start in range(0, len(draws.labels), step):
        some = slice(start, start + step)
        labels = draws.labels[some, kept].astype(np.int64)
        per_draw, of_atoms, sums = _shared(clusters, labels, counts, draws.weights[some], shape)
        total += sums
        shared += of_atoms
        own_weights += per_draw @ (labels >= 0)
    seen = own_weights > 0
    return total - 2.0 * float(counts[seen] @ (own_weights[seen] * np.log(shared[seen] / own_weights[seen])))


def _shared(clusters, labels, counts, weights, shape) -> tuple[np.ndarray, np.ndarray, float]:
    """Of some draws: weight / labelled objects, what each atom shares with its cluster, and the sums of f over
    sizes."""
    seen = labels >= 0
    n_labelled = seen @ counts
    per_draw = np.divide(weights, n_labelled, out=np.zeros(len(weights)), where=n_labelled > 0)
    draw, atom = np.nonzero(seen)
    codes = (draw * shape[0] + clusters[atom]) * shape[1] + labels[draw, atom]
    n_cells = len(labels) * shape[0] * shape[1]
    if n_cells > 2 * _CELLS_TOGETHER:  # a single draw of very many clusters
        _, codes = np.unique(codes, return_inverse=True)
        n_cells = int(codes.max(initial=0)) + 1
    sizes = np.bincount(codes, weights=counts[atom], minlength=n_cells)
    of_atoms = np.bincount(atom, weights=per_draw[draw] * sizes[codes], minlength=len(counts))
    by_cluster = np.bincount(draw * shape[0] + clusters[atom], counts[atom], len(labels) * shape[0])
    by_label = np.bincount(draw * shape[1] + labels[draw, atom], counts[atom], len(labels) * shape[1])
    f = xlogx(int(counts.sum()))
    sums = sum(f[part.astype(np.int64)].reshape(len(labels), -1).sum(axis=1) for part in (by_cluster, by_label))
    return per_draw, of_atoms, float(per_draw @ sums)
