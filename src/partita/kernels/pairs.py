"""The objective of the lower bound on the expected variation of information, from pairs of atoms.

With M_ij = sum_b w_b / n_b [i and j share a label in b], W_i = M_ii and Q_i the sum of M_ij over the objects j of i's
own cluster, it is sum_g coefficients[g] sum_T f(n_gT) - 2 sum_i W_i log(Q_i / W_i), f(x) = x log x and n_gT the
objects of cluster T in the labelled set g. Here a unit is one atom.
"""

from typing import NamedTuple

import numpy as np

from partita.kernels.compiling import inner
from partita.kernels.dispatch import implements
from partita.kernels.search import place, score, value


class Pairs(NamedTuple):
    """What atoms share, and what every atom shares with its cluster."""

    together: np.ndarray  # (atom, atom) M
    counts: np.ndarray  # (atom,)
    members: np.ndarray  # (atom, labelled set) bool
    coefficients: np.ndarray  # (labelled set,)
    phi: np.ndarray  # (objects + 1,)
    sizes: np.ndarray  # (labelled set, slot)
    slots: np.ndarray  # (atom,) -1: not placed
    shared: np.ndarray  # (atom,) Q
    with_slot: np.ndarray  # (slot,) scratch


@implements(score, Pairs)
def _score(objective, unit, own, out):
    counts, slots, shared, row = objective.counts, objective.slots, objective.shared, objective.together[unit]
    count, weight, with_slot = counts[unit], row[unit], objective.with_slot
    for slot in range(out.shape[0]):
        out[slot] = _size_gain(objective, unit, slot, own)
        with_slot[slot] = weight * count
    for j in range(counts.shape[0]):
        slot = slots[j]
        if j == unit or slot < 0 or row[j] == 0.0:
            continue
        with_slot[slot] += row[j] * counts[j]
        before = shared[j] - row[j] * count if slot == own else shared[j]
        out[slot] -= 2.0 * counts[j] * objective.together[j, j] * np.log1p(row[j] * count / before)
    for slot in range(out.shape[0]):
        out[slot] -= 2.0 * count * weight * np.log(with_slot[slot] / weight)


@implements(place, Pairs)
def _place(objective, unit, slot, sign):
    counts, slots, shared, row = objective.counts, objective.slots, objective.shared, objective.together[unit]
    amount = sign * counts[unit]
    for g in range(objective.coefficients.shape[0]):
        if objective.members[unit, g]:
            objective.sizes[g, slot] += amount
    total = row[unit] * counts[unit]
    for j in range(counts.shape[0]):
        if j != unit and slots[j] == slot:
            shared[j] += amount * row[j]
            total += row[j] * counts[j]
    slots[unit] = slot if sign > 0 else -1
    shared[unit] = total


@implements(value, Pairs)
def _value(objective):
    total = 0.0
    for g in range(objective.coefficients.shape[0]):
        for size in objective.sizes[g]:
            total += objective.coefficients[g] * objective.phi[size]
    for i in range(objective.counts.shape[0]):
        if objective.slots[i] >= 0:
            weight = objective.together[i, i]
            total -= 2.0 * objective.counts[i] * weight * np.log(objective.shared[i] / weight)
    return total


@inner
def _size_gain(objective, unit, slot, own):
    gain, count = 0.0, objective.counts[unit]
    for g in range(objective.coefficients.shape[0]):
        if objective.members[unit, g]:
            size = objective.sizes[g, slot] - (count if slot == own else 0)
            gain += objective.coefficients[g] * (objective.phi[size + count] - objective.phi[size])
    return gain
