"""How far partitions are from the draws: losses and expected losses, exactly, from contingency tables."""

from typing import Any

import numpy as np

from partita.kernels.contingency import chained_losses, coclustering, count_moves, pairwise_losses
from partita.kernels.loss_values import loss_value
from partita.partitions import Partitions
from partita.posterior.condensing import Condensed, checked_weights, condense
from partita.posterior.losses import VI, Loss, VILowerBound, loss_from, xlogx

EXACT_WORK = 2e8
"""Elementary steps (about a nanosecond each) up to which every candidate is scored against every draw."""

MOST_PAIRED = 4000
"""Atoms up to which `VILowerBound` compares all pairs of them: 128 MB."""

_SHORTLIST = 32
_STEPS_OF_BOUND = 10.0  # what a step costs without compiled code, and without tables carried along
_SPREAD = 100
_DRAWS_TOGETHER = 256
_TABLE_CELLS = 1 << 26
_CELLS_TOGETHER = 1 << 22
_TIE = 1e-12


def least_expected(
    candidates: Any, draws: Any, weights: Any = None, *, loss: str | Loss = "vi"
) -> tuple[int, np.ndarray]:
    """Find the candidate of least expected loss from the draws: sum_b w_b L(c, c_b).

    Parameters
    ----------
    candidates : array-like of int, (n_candidates, n_objects)
        Any labelings of the objects, draws or not.
    draws : Partitions or array-like of int, (n_draws, n_objects)
    weights : array-like, (n_draws,), optional
        Non-negative; equal by default.
    loss : str or Loss
        See `partita.posterior.LOSSES`.

    Returns
    -------
    index : int
        The first candidate of least expected loss (equal up to rounding counts as equal).
    losses : (n_candidates,) array
        Expected losses; nan for those that were not on the shortlist.

    Notes
    -----
    Objects with identical columns are merged into atoms and equal draws into one. Contingency tables
    are carried from candidate to candidate, so the cost is draws x (atoms + atoms that differ between
    successive candidates + candidates x K^2). If that exceeds ``EXACT_WORK``, all candidates are first
    scored against about 100 draws evenly spaced in weight, and the 32 best of them against all.
    """
    given = Partitions(draws).flat
    tried = np.asarray(Partitions(np.atleast_2d(np.asarray(candidates))))
    if tried.shape[1] != given.shape[1]:
        raise ValueError(f"The candidates have {tried.shape[1]} objects and the draws {given.shape[1]}.")
    both = Partitions(np.concatenate([tried, given]))
    n_tried = len(tried)
    weights = np.concatenate([np.zeros(n_tried), checked_weights(weights, len(given))])
    return least_of(loss_from(loss), both.atom_labels()[:n_tried], condense(both, weights))


def losses_to_draws(loss: str | Loss, labels: Any, partitions: Partitions) -> np.ndarray:
    """Loss of one labelling from every draw, (n_draws,), over the objects that both label. Cost O(draws x objects)."""
    measure = loss_from(loss)
    if isinstance(measure, VILowerBound):
        raise ValueError("'vi-lb' compares a partition with all draws together: choose another loss, for example 'vi'.")
    tried = Partitions(np.asarray(labels)[None]).flat
    given = partitions.atom_labels()
    representatives, inverse, _ = partitions.atoms()
    # An atom of the draws may hold objects that the labelling parts.
    pairs, first = np.unique(inverse * (n_labels(tried) + 1) + tried[0] + 1, return_index=True)
    if len(pairs) > len(representatives):
        counts = np.bincount(np.searchsorted(pairs, inverse * (n_labels(tried) + 1) + tried[0] + 1))
        return between(measure, tried[:, first], np.ascontiguousarray(given[:, inverse[first]]), counts)[0]
    return between(measure, tried[:, representatives], given, partitions.atoms()[2])[0]


def vi_to_draws(references: np.ndarray, partitions: Partitions) -> np.ndarray:
    """Variation of information of each reference draw (by index) and every draw, (reference, draw)."""
    labels, counts = partitions.atom_labels(), partitions.atoms()[2]
    losses = np.empty((len(references), len(labels)))
    phi = xlogx(int(counts.sum()))
    pairwise_losses(labels[references], labels, VI.kind, 1.0, counts, phi, n_labels(labels), losses)
    return losses


def least_of(loss: Loss, candidates: np.ndarray, draws: Condensed) -> tuple[int, np.ndarray]:
    """Index and expected losses of candidates that are given over the atoms of ``draws``; see `least_expected`."""
    chosen = np.arange(len(candidates))
    steps_dearer = _STEPS_OF_BOUND if isinstance(loss, VILowerBound) else 1.0
    if steps_dearer * _work(candidates, draws) > EXACT_WORK:
        some, weights = evenly_spaced(draws.weights, _SPREAD)
        stand_in = VI() if isinstance(loss, VILowerBound) else loss
        rough = between(stand_in, candidates, draws.labels[some], draws.counts) @ weights
        chosen = np.sort(np.argsort(rough, kind="stable")[:_SHORTLIST])
    losses = np.full(len(candidates), np.nan)
    losses[chosen] = expected_losses(loss, candidates[chosen], draws)
    least = np.nanmin(losses)
    return int(np.flatnonzero(losses <= least + _TIE * max(1.0, abs(least)))[0]), losses


def expected_losses(loss: Loss, candidates: np.ndarray, draws: Condensed) -> np.ndarray:
    """Expected loss of every candidate, exactly."""
    if isinstance(loss, VILowerBound):
        return _vi_lower_bounds(candidates, draws)
    return between(loss, candidates, draws.labels, draws.counts) @ draws.weights


def expected_loss_alone(loss: Loss, draws: Condensed) -> float:
    """Expected loss of the partition into single objects, from the cluster sizes of the draws. Cost O(draws x atoms).

    There the bound of `VILowerBound` is the expected VI itself.
    """
    measure = VI() if isinstance(loss, VILowerBound) else loss
    phi = measure.phi(int(draws.counts.sum()))
    total = 0.0
    for weight, labels in zip(draws.weights, draws.labels):
        seen = labels >= 0
        sizes = np.bincount(labels[seen], weights=draws.counts[seen]).astype(np.int64)
        n, alone = int(sizes.sum()), float(sizes.sum() * phi[1])
        total += weight * loss_value(measure.kind, measure.a, n, phi[n], alone, phi[sizes].sum(), alone)
    return float(total)


def between(loss: Loss, candidates: np.ndarray, draws: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Losses of candidates and draws over weighted atoms, (candidate, draw).

    Tables are made for as many draws at a time as memory is meant for.
    """
    kind = np.promote_types(candidates.dtype, draws.dtype)
    candidates = np.ascontiguousarray(candidates, dtype=kind)
    draws = np.ascontiguousarray(draws, dtype=kind)
    phi = loss.phi(int(counts.sum()))
    shape = (n_labels(candidates) + 1, n_labels(draws) + 1)
    losses = np.empty((len(candidates), len(draws)))
    if shape[0] * shape[1] > _TABLE_CELLS:
        pairwise_losses(candidates, draws, loss.kind, float(loss.a), counts, phi, max(shape) - 1, losses)
        return losses
    step = min(_DRAWS_TOGETHER, max(1, _TABLE_CELLS // (shape[0] * shape[1])))
    for start in range(0, len(draws), step):
        columns = np.ascontiguousarray(draws[start : start + step].T)
        some = np.empty((len(candidates), columns.shape[1]))
        tables = np.zeros((columns.shape[1], *shape), np.int32)
        chained_losses(candidates, columns, loss.kind, float(loss.a), counts, phi, tables, some)
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


def _work(candidates: np.ndarray, draws: Condensed) -> float:
    """Steps that the exact scores take."""
    n_candidates, n_atoms = candidates.shape
    n_tried = n_labels(candidates)
    cells = (n_tried + 1) * (n_labels(draws.labels) + 1)
    if cells > _TABLE_CELLS:
        return 2.0 * n_candidates * len(draws.labels) * n_atoms
    moves = count_moves(candidates, draws.counts, n_tried)
    return float(len(draws.labels)) * (n_atoms + moves + n_candidates * cells)


def _vi_lower_bounds(candidates: np.ndarray, draws: Condensed) -> np.ndarray:
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
