"""The objective of losses that are ratios within every draw: one minus the adjusted Rand index, NVI and NID.

It is sum_b weights[b] loss_b, each from the sums of `partita.kernels.loss_values` over the objects placed so far.
Columns are those of `partita.kernels.additive`: first the draws, then what each of them labels; here a unit is one
atom.
"""

from typing import NamedTuple

import numpy as np

from partita.kernels.compiling import inner
from partita.kernels.dispatch import implements
from partita.kernels.loss_values import NID, NVI, ONE_MINUS_ARI, loss_value
from partita.kernels.search import place, score, value


class Ratios(NamedTuple):
    """Counts, and their sums per draw."""

    kind: np.int64
    columns: np.ndarray  # (atom, draw and labelled set) int32
    counts: np.ndarray  # (atom,)
    weights: np.ndarray  # (draw,)
    labelled: np.ndarray  # (draw,) position of its labelled set among the columns
    phi: np.ndarray  # (objects + 2,)
    cells: np.ndarray  # (row, slot) int32
    gains: np.ndarray  # (row, slot): phi(n + 1) - phi(n)
    margins: np.ndarray  # (row,) objects of all slots
    sums: np.ndarray  # (draw or labelled set,) sum of phi over its cells
    by_label: np.ndarray  # (draw or labelled set,) sum of phi over its margins
    n_placed: np.ndarray  # (draw or labelled set,) objects
    losses: np.ndarray  # (draw,) weighted
    of_cells: np.ndarray  # (slot,) scratch: what the unit would add to ``sums`` of a draw
    of_sizes: np.ndarray  # (slot,) scratch: and to that of its labelled set


@implements(score, Ratios)
def _score(objective, unit, own, out):
    """Every slot as if the unit came to it from nowhere; in its own the loss is what it is."""
    columns, cells, phi, count = objective.columns, objective.cells, objective.phi, objective.counts[unit]
    out[:] = 0.0
    stays, known = 0.0, -1
    for b in range(objective.weights.shape[0]):
        row = columns[unit, b]
        if row < 0:
            continue
        group, weight = objective.labelled[b], objective.weights[b]
        total = columns[unit, group]
        n, by_label = objective.n_placed[b], objective.by_label[b]
        joint, sizes = objective.sums[b], objective.sums[group]
        if own < 0:
            margin = objective.margins[row]
            n += count
            by_label += phi[margin + count] - phi[margin]
        else:
            stays += objective.losses[b]
            joint -= phi[cells[row, own]] - phi[cells[row, own] - count]
            sizes -= phi[cells[total, own]] - phi[cells[total, own] - count]
        if group != known:
            known = group
            _gains(objective, total, count, objective.of_sizes[: out.shape[0]])
        _gains(objective, row, count, objective.of_cells[: out.shape[0]])
        _add_losses(objective, weight, n, sizes, by_label, joint, out)
    if own >= 0:
        out[own] = stays


@inner
def _gains(objective, row, count, out):
    """What so many objects more would add to the sum over the cells of a row, slot by slot."""
    if count == 1:
        for slot in range(out.shape[0]):
            out[slot] = objective.gains[np.uint64(row), slot]
    else:
        for slot in range(out.shape[0]):
            size = objective.cells[row, slot]
            out[slot] = objective.phi[size + count] - objective.phi[size]


@inner
def _add_losses(objective, weight, n, sizes, by_label, joint, out):
    """Add a draw's weighted loss for every slot; the kind is a constant in each loop, which is several times faster."""
    whole, of_sizes, of_cells = objective.phi[n], objective.of_sizes, objective.of_cells
    if objective.kind == NVI:
        for k in range(out.shape[0]):
            out[k] += weight * loss_value(NVI, 1.0, n, whole, sizes + of_sizes[k], by_label, joint + of_cells[k])
    elif objective.kind == NID:
        for k in range(out.shape[0]):
            out[k] += weight * loss_value(NID, 1.0, n, whole, sizes + of_sizes[k], by_label, joint + of_cells[k])
    else:
        for k in range(out.shape[0]):
            out[k] += weight * loss_value(
                ONE_MINUS_ARI, 1.0, n, whole, sizes + of_sizes[k], by_label, joint + of_cells[k]
            )


@implements(place, Ratios)
def _place(objective, unit, slot, sign):
    columns, cells, margins, phi = objective.columns, objective.cells, objective.margins, objective.phi
    amount = sign * objective.counts[unit]
    for r in range(columns.shape[1]):
        row = columns[unit, r]
        if row < 0:
            continue
        size, margin = cells[row, slot], margins[row]
        objective.sums[r] += phi[size + amount] - phi[size]
        objective.by_label[r] += phi[margin + amount] - phi[margin]
        objective.n_placed[r] += amount
        cells[row, slot] = size + amount
        objective.gains[row, slot] = phi[size + amount + 1] - phi[size + amount]
        margins[row] = margin + amount
    for b in range(objective.weights.shape[0]):
        if columns[unit, b] >= 0:
            n, sizes = objective.n_placed[b], objective.sums[objective.labelled[b]]
            objective.losses[b] = objective.weights[b] * loss_value(
                objective.kind, 1.0, n, phi[n], sizes, objective.by_label[b], objective.sums[b]
            )


@implements(value, Ratios)
def _value(objective):
    return objective.losses.sum()
