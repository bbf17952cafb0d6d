"""A loss in one file: what two partitions cost, and what the search lowers."""

from typing import Any, NamedTuple

import numpy as np

from partita.kernels.dispatch import implements
from partita.kernels.search import place, score, value
from partita.posterior import Loss


class Transfers(NamedTuple):
    """What every pair of atoms gains by being together, and where each atom is."""

    gains: np.ndarray  # (atom, atom)
    counts: np.ndarray  # (atom,)
    slots: np.ndarray  # (atom,)


@implements(score, Transfers)
def _score(objective, unit, own, out):
    out[:] = 0.0
    for atom in range(objective.slots.shape[0]):
        slot = objective.slots[atom]
        if atom != unit and 0 <= slot < out.shape[0]:
            out[slot] -= objective.counts[unit] * objective.counts[atom] * objective.gains[unit, atom]


@implements(place, Transfers)
def _place(objective, unit, slot, sign):
    objective.slots[unit] = slot if sign > 0 else -1


@implements(value, Transfers)
def _value(objective):
    total = 0.0
    for one in range(objective.slots.shape[0]):
        for other in range(one):
            if objective.slots[one] == objective.slots[other] >= 0:
                total -= objective.counts[one] * objective.counts[other] * objective.gains[one, other]
    return total


class PairsTogether(Loss, name="pairs-together"):
    """Pairs on which two partitions disagree: Binder's loss times n^2 / 2, written from pairs."""

    reads_all_draws = True

    def between(self, candidates: np.ndarray, draws: np.ndarray, counts: np.ndarray) -> np.ndarray:
        pairs = np.triu(np.outer(counts, counts), 1)
        return np.array([[(pairs * _disagree(one, other)).sum() for other in draws] for one in candidates])

    def objective(self, against: Any, units: Any, n_slots: int) -> Transfers:
        labels = against.columns[:, : against.n_draws].T
        seen = labels >= 0
        both = seen[:, :, None] & seen[:, None, :]
        signs = np.where(labels[:, :, None] == labels[:, None, :], 1.0, -1.0)
        return Transfers(np.tensordot(against.weights, both * signs, axes=1), units.counts, np.full(len(labels.T), -1))

    def scan_work(self, n_atoms: int, n_slots: int, n_draws: float) -> float:
        return float(n_atoms) ** 2


def _disagree(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    seen = (one >= 0) & (other >= 0)
    return ((one[:, None] == one) != (other[:, None] == other)) & seen[:, None] & seen
