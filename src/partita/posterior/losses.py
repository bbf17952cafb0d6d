"""Which partition is nearest to the draws: expected variation of information, exactly."""

from typing import Any

import numpy as np

from partita.kernels.contingency import chained_vi, count_moves, pairwise_vi
from partita.parameters import Parameters
from partita.partitions import Partitions
from partita.posterior.condensing import Condensed, checked_weights, condense

EXACT_WORK = 2e8
"""Elementary steps (about a nanosecond each) up to which every candidate is scored against every draw."""

_SHORTLIST = 32
_SPREAD = 100
_DRAWS_TOGETHER = 256
_TABLE_CELLS = 1 << 26
_TIE = 1e-12


class VI(Parameters):
    """Variation of information, in nats: H(estimate | draw) + H(draw | estimate). Meila (2007)."""

    def least_expected(self, candidates: np.ndarray, draws: Condensed) -> tuple[int, np.ndarray]:
        """Index and expected losses of the candidates, given over the atoms of ``draws``."""
        return _least_expected_vi(candidates, draws)


def least_expected_vi(candidates: Any, draws: Any, weights: Any = None) -> tuple[int, np.ndarray]:
    """Find the candidate of least expected variation of information from the draws.

    E VI(c) = sum_b w_b [H(c) + H(c_b) - 2 I(c, c_b)] in nats, over the objects that both label.

    Parameters
    ----------
    candidates : array-like of int, (n_candidates, n_objects)
        Any labelings of the objects, draws or not.
    draws : Partitions or array-like of int, (n_draws, n_objects)
    weights : array-like, (n_draws,), optional
        Non-negative; equal by default.

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
    return _least_expected_vi(both.atom_labels()[:n_tried], condense(both, weights))


def vi_to_draws(references: np.ndarray, partitions: Partitions) -> np.ndarray:
    """Variation of information of each reference draw (by index) and every draw, (reference, draw)."""
    counts = partitions.atoms()[2]
    labels = partitions.atom_labels()
    losses = np.empty((len(references), len(labels)))
    pairwise_vi(labels[references], labels, counts, xlogx_table(counts), n_labels(labels), losses)
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


def xlogx_table(counts: np.ndarray) -> np.ndarray:
    """x log x for x = 0, 1, ... up to the sum of the counts."""
    x = np.arange(counts.sum() + 1, dtype=np.float64)
    return x * np.log(np.maximum(x, 1.0))


def _least_expected_vi(candidates: np.ndarray, draws: Condensed) -> tuple[int, np.ndarray]:
    chosen = np.arange(len(candidates))
    if _work(candidates, draws) > EXACT_WORK:
        some, weights = evenly_spaced(draws.weights, _SPREAD)
        rough = _expected_vi(candidates, draws.labels[some], weights, draws.counts)
        chosen = np.sort(np.argsort(rough, kind="stable")[:_SHORTLIST])
    losses = np.full(len(candidates), np.nan)
    losses[chosen] = _expected_vi(candidates[chosen], draws.labels, draws.weights, draws.counts)
    least = np.nanmin(losses)
    return int(np.flatnonzero(losses <= least + _TIE * max(1.0, least))[0]), losses


def _work(candidates: np.ndarray, draws: Condensed) -> float:
    """Steps that the exact scores take."""
    n_candidates, n_atoms = candidates.shape
    n_tried = n_labels(candidates)
    cells = (n_tried + 1) * (n_labels(draws.labels) + 1)
    if cells > _TABLE_CELLS:
        return 2.0 * n_candidates * len(draws.labels) * n_atoms
    moves = count_moves(candidates, draws.counts, n_tried)
    return float(len(draws.labels)) * (n_atoms + moves + n_candidates * cells)


def _expected_vi(candidates: np.ndarray, draws: np.ndarray, weights: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Expected loss of every candidate; tables for as many draws at a time as memory is meant for."""
    kind = np.promote_types(candidates.dtype, draws.dtype)
    candidates, draws = candidates.astype(kind, copy=False), draws.astype(kind, copy=False)
    xlogx = xlogx_table(counts)
    shape = (n_labels(candidates) + 1, n_labels(draws) + 1)
    if shape[0] * shape[1] > _TABLE_CELLS:
        return _expected_vi_grouped(candidates, draws, weights, counts, xlogx)
    step = min(_DRAWS_TOGETHER, max(1, _TABLE_CELLS // (shape[0] * shape[1])))
    total = np.zeros(len(candidates))
    for start in range(0, len(draws), step):
        columns = np.ascontiguousarray(draws[start : start + step].T)
        losses = np.empty(len(candidates))
        tables = np.zeros((columns.shape[1], *shape), np.int32)
        chained_vi(candidates, columns, weights[start : start + step], counts, xlogx, tables, losses)
        total += losses
    return total


def _expected_vi_grouped(candidates, draws, weights, counts, xlogx) -> np.ndarray:
    """The same where the clusters are too many for contingency tables."""
    n_most = max(n_labels(candidates), n_labels(draws))
    losses = np.empty((1, len(draws)))
    expected = np.empty(len(candidates))
    for s in range(len(candidates)):
        pairwise_vi(candidates[s : s + 1], draws, counts, xlogx, n_most, losses)
        expected[s] = losses[0] @ weights
    return expected
