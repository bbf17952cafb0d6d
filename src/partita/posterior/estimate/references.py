"""What a search compares its partition with: the draws of the atoms, laid out for compiled loops."""

from dataclasses import dataclass

import numpy as np

from partita.kernels.contingency import coclustering
from partita.posterior.condensing import Condensed
from partita.posterior.estimate.comparing import evenly_spaced
from partita.running.cached import cached_property

_ATOMS_TOGETHER = 4096


@dataclass(frozen=True)
class References:
    """Draws, then the sets of atoms that draws label: one set for all draws where none leaves an atom out.

    Attributes
    ----------
    columns : (n_atoms, n_draws + n_sets) int32 array
        The row of a table of counts that belongs to the atom's label in the draw, or to the set; -1 if it has none.
    n_rows : int
    weights : (n_draws,) array
        Sum to 1.
    n_labelled : (n_draws,) int array
        Objects that the draw labels.
    labelled : (n_draws,) int array
        The position of the draw's set among the columns.
    """

    columns: np.ndarray
    n_rows: int
    weights: np.ndarray
    n_labelled: np.ndarray
    labelled: np.ndarray

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.weights)

    @cached_property
    def together(self) -> np.ndarray:
        """Sum of weight / labelled objects over the draws in which two atoms share a label, (n_atoms, n_atoms)."""
        labels = np.ascontiguousarray(self.columns[:, : self.n_draws].T)
        found = np.zeros((labels.shape[1], labels.shape[1]))
        coclustering(labels, self.weights / self.n_labelled, found)
        return np.tril(found) + np.tril(found, -1).T

    def by_set(self, amounts: np.ndarray) -> np.ndarray:
        """Amounts per draw, summed over the draws of each set."""
        return np.bincount(self.labelled - self.n_draws, amounts)


def references(draws: Condensed, kept: np.ndarray, n_draws: int, *, without_single: bool) -> References:
    """References of the atoms ``kept``, in that order; of more draws some, evenly spaced in weight.

    ``without_single`` leaves out the labels that only one atom has in a draw: wherever that atom goes, it shares
    nothing, and a loss that adds over cells does not see it.
    """
    some, weights = np.arange(len(draws.labels)), draws.weights
    if n_draws < len(some):
        some, weights = evenly_spaced(draws.weights, n_draws)
    labels, counts = draws.labels[some][:, kept], draws.counts[kept]
    if draws.partial:
        observed = np.flatnonzero((labels >= 0).any(axis=1))
        labels, weights = labels[observed], weights[observed]
        n_labelled = (labels >= 0) @ counts
        _, which, shared = np.unique(np.packbits(labels < 0, axis=1), axis=0, return_index=True, return_inverse=True)
    else:
        n_labelled = np.full(len(labels), counts.sum())
        which, shared = np.array([0]), np.zeros(len(labels), np.int64)
    compared = shared_labels(labels) if without_single else labels
    n_clusters = compared.max(axis=1).astype(np.int64) + 1
    first = np.concatenate([[0], np.cumsum(n_clusters)])
    sets = np.arange(len(which)) + first[-1]
    columns = _columns(compared, labels[which], first[:-1], sets)
    return References(columns, int(first[-1]) + len(which), weights, n_labelled, len(labels) + shared.ravel())


def shared_labels(labels: np.ndarray) -> np.ndarray:
    """Labels renumbered without those that a single atom has, which become -1."""
    found = labels
    for b, row in enumerate(labels):
        sizes = np.bincount(row[row >= 0])
        if not np.any(sizes == 1):
            continue
        if found is labels:
            found = labels.copy()
        number = np.where(sizes > 1, np.cumsum(sizes > 1) - 1, -1)
        found[b] = np.append(number, -1)[row]  # -1 stays -1
    return found


def _columns(labels: np.ndarray, in_sets: np.ndarray, first: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Rows of counts of every atom; a few atoms at a time, so that writing goes along the memory."""
    n_draws, n_atoms = labels.shape
    columns = np.empty((n_atoms, n_draws + len(sets)), np.int32)
    for start in range(0, n_atoms, _ATOMS_TOGETHER):
        some = slice(start, start + _ATOMS_TOGETHER)
        block = labels[:, some].T
        columns[some, :n_draws] = np.where(block >= 0, block + first, -1)
        columns[some, n_draws:] = np.where(in_sets[:, some].T >= 0, sets, -1)
    return columns
