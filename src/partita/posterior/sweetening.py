"""From a good partition to a better one: greedy descent on the expected variation of information."""

import numpy as np

from partita.kernels.sweetening import descend
from partita.partitions import canonical
from partita.posterior.condensing import Condensed
from partita.posterior.losses import evenly_spaced, n_labels, xlogx_table

SCAN_WORK = 2e8
"""Elementary steps (one to two nanoseconds each) up to which a scan reads every draw."""

MOST_WORK = 4e9
"""Elementary steps of all scans together."""

_MOST_SCANS = 100
_FEWEST_DRAWS = 32
_TABLE_CELLS = 1 << 26
_TIE = 1e-12


def sweeten(start: np.ndarray, draws: Condensed, units: np.ndarray) -> np.ndarray:
    """Move units to where the expected variation of information falls most, until no unit moves.

    With f(x) = x log x, n_bT the objects of cluster T that draw b labels, n_bTC those of them that have label C in
    it and n_b all that it labels, E VI = sum_b w_b / n_b [sum_T f(n_bT) - 2 sum_TC f(n_bTC)] + constant. A scan
    takes every unit in turn out of its cluster and puts it where this is least; a cluster may be opened or die
    out. This is the sweetening phase of SALSO (Dahl, Johnson and Mueller, 2022), from one start.

    Parameters
    ----------
    start : (n_atoms,) int array
        A partition of the atoms of ``draws`` that has every unit in one cluster. Atoms that it does not label (-1)
        are never labelled.
    draws : Condensed
    units : (n_atoms,) int array
        Atoms of equal number move as one.

    Returns
    -------
    (n_atoms,) int64 array
        No partition that differs in one unit has a smaller expected loss from the draws that were read. There are at
        most as many clusters as in the draw that has most, or one more than in ``start``.

    Notes
    -----
    Cost per scan: atoms x draws x clusters; memory: labels of the draws once more and draws x clusters^2 counts.
    Where a scan would take more than ``SCAN_WORK`` steps, or the counts more than 256 MiB, fewer draws are read, evenly
    spaced in weight, but 32 at least; scans end after 100 or when all have taken ``MOST_WORK`` steps. Where that
    leaves no scan ``start`` is returned. Deterministic.
    """
    kept = np.flatnonzero(start >= 0)
    kept = kept[np.argsort(units[kept], kind="stable")]
    bounds = np.append(np.flatnonzero(np.diff(units[kept], prepend=-1)), len(kept))
    labels, counts = canonical(start[kept[bounds[:-1]]]), draws.counts[kept]
    n_open, n_drawn = n_labels(labels) + 1, n_labels(draws.labels)
    shape = n_drawn, max(n_open, n_drawn)
    n_draws, n_scans = _affordable(float(len(kept) * n_open), shape[0] * shape[1], len(draws.labels))
    found = start.astype(np.int64)
    if n_scans == 0:
        return found
    columns, coefficients = _references(draws, kept, counts, n_draws)
    tables, change = np.zeros((columns.shape[1], *shape), np.int32), np.empty(shape[1])
    descend(labels, bounds, counts, columns, coefficients, xlogx_table(counts), tables, change, n_scans, _TIE)
    found[kept] = np.repeat(labels, np.diff(bounds))
    return found


def _affordable(steps: float, cells: int, n_draws: int) -> tuple[int, int]:
    """How many draws a scan reads and how many scans there may be, given a draw's steps and table cells."""
    n_read = int(min(max(min(SCAN_WORK / steps, _TABLE_CELLS / cells), _FEWEST_DRAWS), n_draws))
    if n_read * cells > _TABLE_CELLS:
        return 0, 0
    return n_read, int(min(MOST_WORK / (steps * n_read), _MOST_SCANS))


def _references(draws: Condensed, kept: np.ndarray, counts: np.ndarray, n_draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and coefficients of what the objective sums over: the draws, and what each of them labels.

    The size of a cluster in a draw is a count too, of objects labelled 0 where the draw labels them; draws
    that label the same objects share it. Without gaps that is one reference for all draws.
    """
    some, weights = np.arange(len(draws.labels)), draws.weights
    if n_draws < len(some):
        some, weights = evenly_spaced(draws.weights, n_draws)
    labels = draws.labels[some][:, kept]
    coefficients, which, shared = weights / counts.sum(), np.array([0]), np.zeros(len(some), np.int64)
    if draws.partial:
        n_labelled = (labels >= 0) @ counts
        coefficients = np.divide(weights, n_labelled, out=np.zeros(len(some)), where=n_labelled > 0)
        _, which, shared = np.unique(np.packbits(labels < 0, axis=1), axis=0, return_index=True, return_inverse=True)
    columns = np.empty((len(kept), len(some) + len(which)), np.int32)
    columns[:, : len(some)] = labels.T
    columns[:, len(some) :] = np.minimum(labels[which], 0).T
    return columns, np.append(-2.0 * coefficients, np.bincount(shared.ravel(), coefficients))
