"""The objective of the lower bound on the expected variation of information, from pairs of atoms.

With M_ij = sum_b weights[b] [i and j share a label in b], W_i the weight of the draws that label i, and Q_i the sum
of M_ij over the objects j of i's own cluster, it is sum_g coefficients[g] sum_T f(n_gT) - 2 sum_i W_i log(Q_i / W_i),
f(x) = x log x and n_gT the objects of cluster T in the labelled set g. Rows of M are made when they are needed:
memory is linear in the atoms.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from partita.kernels.dispatch import implements
from partita.kernels.search import place, score, value


class Pairs(NamedTuple):
    """Labels, and what every atom shares with its cluster."""

    columns: np.ndarray  # (atom, draw) int32 labels
    counts: np.ndarray  # (atom,)
    weights: np.ndarray  # (draw,)
    own_weights: np.ndarray  # (atom,) W
    members: np.ndarray  # (atom, labelled set) bool
    coefficients: np.ndarray  # (labelled set,)
    phi: np.ndarray  # (objects + 1,)
    sizes: np.ndarray  # (labelled set, slot)
    slots: np.ndarray  # (atom,) -1: not placed
    shared: np.ndarray  # (atom,) Q
    row: np.ndarray  # (atom,) scratch
    with_slot: np.ndarray  # (slot,) scratch


@implements(score, Pairs)
def _score(objective, unit, own, out):
    counts, slots, shared, row = objective.counts, objective.slots, objective.shared, objective.row
    count, weight, with_slot = counts[unit], objective.own_weights[unit], objective.with_slot
    _fill_row(objective, unit)
    for slot in range(out.shape[0]):
        out[slot] = _size_gain(objective, unit, slot, own)
        with_slot[slot] = weight * count
    for j in range(counts.shape[0]):
        slot = slots[j]
        if j == unit or slot < 0 or row[j] == 0.0:
            continue
        with_slot[slot] += row[j] * counts[j]
        before = shared[j] - row[j] * count if slot == own else shared[j]
        out[slot] -= 2.0 * counts[j] * objective.own_weights[j] * np.log1p(row[j] * count / before)
    for slot in range(out.shape[0]):
        out[slot] -= 2.0 * count * weight * np.log(with_slot[slot] / weight)


@implements(place, Pairs)
def _place(objective, unit, slot, sign):
    counts, slots, shared, row = objective.counts, objective.slots, objective.shared, objective.row
    _fill_row(objective, unit)
    amount = sign * counts[unit]
    for g in range(objective.coefficients.shape[0]):
        if objective.members[unit, g]:
            objective.sizes[g, slot] += amount
    total = objective.own_weights[unit] * counts[unit]
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
            weight = objective.own_weights[i]
            total -= 2.0 * objective.counts[i] * weight * np.log(objective.shared[i] / weight)
    return total


@register_jitable
def _fill_row(objective, unit):
    columns, weights, row = objective.columns, objective.weights, objective.row
    for j in range(columns.shape[0]):
        total = 0.0
        for b in range(columns.shape[1]):
            together = columns[unit, b] == columns[j, b] and columns[j, b] >= 0
            total += weights[b] if together else 0.0
        row[j] = total


@register_jitable
def _size_gain(objective, unit, slot, own):
    gain, count = 0.0, objective.counts[unit]
    for g in range(objective.coefficients.shape[0]):
        if objective.members[unit, g]:
            size = objective.sizes[g, slot] - (count if slot == own else 0)
            gain += objective.coefficients[g] * (objective.phi[size + count] - objective.phi[size])
    return gain
