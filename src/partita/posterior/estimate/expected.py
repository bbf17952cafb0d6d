"""How far partitions are from the draws: losses and expected losses, exactly, from contingency tables."""

from typing import Any

import numpy as np

from partita.kernels.contingency import count_moves, pairwise_losses
from partita.partitions import Partitions
from partita.posterior.condensing import Condensed, checked_weights, condense
from partita.posterior.estimate.comparing import TABLE_CELLS, evenly_spaced, n_labels, xlogx
from partita.posterior.estimate.losses import VI, Loss, loss_from

EXACT_WORK = 2e8
"""Elementary steps (about a nanosecond each) up to which every candidate is scored against every draw."""

_SHORTLIST = 32
_STEPS_OF_BOUND = 10.0  # what a step costs without compiled code, and without tables carried along
_SPREAD = 100
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

    Examples
    --------
    >>> best, losses = least_expected([[0, 0, 1, 1], [0, 0, 0, 1]], [[0, 0, 1, 1], [0, 1, 2, 2]])
    >>> best, losses.round(3)
    (0, array([0.173, 0.997]))
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
    """Loss of one labelling from every draw, (n_draws,), over the objects that both label. Cost O(draws x objects).

    Examples
    --------
    >>> from partita import Partitions
    >>> losses_to_draws("vi", [0, 0, 1, 1], Partitions([[0, 0, 1, 1], [0, 1, 2, 2]])).round(3)
    array([0.   , 0.347])
    """
    measure = loss_from(loss)
    if not measure.of_two:
        raise ValueError(f"{measure!r} compares a partition with all draws together: choose another, for example 'vi'.")
    tried = Partitions(np.asarray(labels)[None]).flat
    given = partitions.atom_labels()
    representatives, inverse, _ = partitions.atoms()
    # An atom of the draws may hold objects that the labelling parts.
    pairs, first = np.unique(inverse * (n_labels(tried) + 1) + tried[0] + 1, return_index=True)
    if len(pairs) > len(representatives):
        counts = np.bincount(np.searchsorted(pairs, inverse * (n_labels(tried) + 1) + tried[0] + 1))
        return measure.between(tried[:, first], np.ascontiguousarray(given[:, inverse[first]]), counts)[0]
    return measure.between(tried[:, representatives], given, partitions.atoms()[2])[0]


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
    steps_dearer = 1.0 if loss.of_two else _STEPS_OF_BOUND
    if steps_dearer * _work(candidates, draws) > EXACT_WORK:
        some, weights = evenly_spaced(draws.weights, _SPREAD)
        rough = loss.stand_in().between(candidates, draws.labels[some], draws.counts) @ weights
        chosen = np.sort(np.argsort(rough, kind="stable")[:_SHORTLIST])
    losses = np.full(len(candidates), np.nan)
    losses[chosen] = loss.expected(candidates[chosen], draws)
    least = np.nanmin(losses)
    return int(np.flatnonzero(losses <= least + _TIE * max(1.0, abs(least)))[0]), losses


def _work(candidates: np.ndarray, draws: Condensed) -> float:
    """Steps that the exact scores take."""
    n_candidates, n_atoms = candidates.shape
    n_tried = n_labels(candidates)
    cells = (n_tried + 1) * (n_labels(draws.labels) + 1)
    if cells > TABLE_CELLS:
        return 2.0 * n_candidates * len(draws.labels) * n_atoms
    moves = count_moves(candidates, draws.counts, n_tried)
    return float(len(draws.labels)) * (n_atoms + moves + n_candidates * cells)
