"""The objective of losses that add over cells: variation of information and Binder's loss.

It is sum_r coefficients[r] sum_{T, C} phi(n_rTC), where n_rTC counts the objects that are in cluster T of the partition
sought and have label C in reference r, and ``phi`` is a table of a function with phi(0) = 0. References are the
draws, and the objects that a draw labels at all.

A unit is one or more members that move together; members of unit ``u`` are ``starts[u]`` to ``starts[u + 1]``. Member
``p`` stands for ``counts[p]`` objects; ``columns[p, r]`` is the row of ``cells`` that counts its label of reference
r, -1 if it has none there.
"""

from typing import NamedTuple

import numpy as np

from partita.kernels.compiling import inner
from partita.kernels.dispatch import implements
from partita.kernels.search import place, score, value


class Additive(NamedTuple):
    """Counts, and what one more object would add to the objective."""

    columns: np.ndarray  # (member, reference) int32
    starts: np.ndarray  # (unit + 1,)
    counts: np.ndarray  # (member,)
    coefficients: np.ndarray  # (reference,)
    phi: np.ndarray  # (objects + 2,)
    cells: np.ndarray  # (row, slot) int32: objects
    gains: np.ndarray  # (row, slot): coefficient x [phi(n + 1) - phi(n)]
    total: np.ndarray  # (1,): the objective


@implements(score, Additive)
def _score(objective, unit, own, out):
    """A single object, the common case, needs no more than sums of ``gains``; counts stay as they are."""
    first, last = objective.starts[unit], objective.starts[unit + 1]
    out[:] = 0.0
    if last - first > 1:
        if own >= 0:
            _shift_unit(objective, unit, own, own + 1, -1)
        _score_together(objective, first, last, out)
        if own >= 0:
            _shift_unit(objective, unit, own, own + 1, 1)
    elif objective.counts[first] == 1:
        _score_object(objective, first, own, out)
    else:
        _score_atom(objective, first, own, out)


@implements(place, Additive)
def _place(objective, unit, slot, sign):
    _shift_unit(objective, unit, slot, slot + 1, sign)


@implements(value, Additive)
def _value(objective):
    return objective.total[0]


@inner
def _score_object(objective, p, own, out):
    columns, gains, cells, phi = objective.columns, objective.gains, objective.cells, objective.phi
    alone = 0.0
    for r in range(columns.shape[1]):
        row = columns[p, r]
        if row < 0:
            continue
        sums = gains[np.uint64(row)]
        for slot in range(out.shape[0]):
            out[slot] += sums[slot]
        if own >= 0:
            size = cells[np.uint64(row), np.uint64(own)]
            alone += objective.coefficients[r] * (phi[np.uint64(size)] - phi[np.uint64(size - 1)])
    if own >= 0:
        out[own] = alone


@inner
def _score_atom(objective, p, own, out):
    columns, cells, phi, count = objective.columns, objective.cells, objective.phi, objective.counts[p]
    alone = 0.0
    for r in range(columns.shape[1]):
        row = columns[p, r]
        if row < 0:
            continue
        sizes, coefficient = cells[np.uint64(row)], objective.coefficients[r]
        for slot in range(out.shape[0]):
            size = sizes[slot]
            out[slot] += coefficient * (phi[np.uint64(size + count)] - phi[np.uint64(size)])
        if own >= 0:
            size = sizes[np.uint64(own)]
            alone += coefficient * (phi[np.uint64(size)] - phi[np.uint64(size - count)])
    if own >= 0:
        out[own] = alone


@inner
def _score_together(objective, first, last, out):
    """Members may share a label, so each is counted on top of those before it, in every slot at once."""
    for p in range(first, last):
        _score_atom(objective, p, -1, out)
        if p < last - 1:
            _shift(objective, p, 0, out.shape[0], 1)
    for p in range(first, last - 1):
        _shift(objective, p, 0, out.shape[0], -1)


@inner
def _shift_unit(objective, unit, low, high, sign):
    for p in range(objective.starts[unit], objective.starts[unit + 1]):
        _shift(objective, p, low, high, sign)


@inner
def _shift(objective, p, low, high, sign):
    """Put a member into the slots from ``low`` to before ``high``, or take it out."""
    columns, cells, gains, phi = objective.columns, objective.cells, objective.gains, objective.phi
    amount = sign * objective.counts[p]
    for r in range(columns.shape[1]):
        row = columns[p, r]
        if row < 0:
            continue
        coefficient = objective.coefficients[r]
        for slot in range(low, high):
            before = cells[row, slot]
            size = before + amount
            cells[row, slot] = size
            gains[row, slot] = coefficient * (phi[size + 1] - phi[size])
            objective.total[0] += coefficient * (phi[size] - phi[before])
