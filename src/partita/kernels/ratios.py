"""The objective of losses that are ratios within every draw: one minus the adjusted Rand index, NVI and NID.

It is sum_b weights[b] loss_b, each from the sums of `partita.kernels.loss_values` over the objects placed so far.
Columns are those of `partita.kernels.additive`: first the draws, then what each of them labels; here a unit is one
atom.
"""

from typing import NamedTuple

import numpy as np

from partita.kernels.dispatch import implements
from partita.kernels.loss_values import loss_value
from partita.kernels.search import place, score, value


class Ratios(NamedTuple):
    """Counts, and their sums per draw."""

    kind: np.int64
    columns: np.ndarray  # (atom, draw and labelled set) int32
    counts: np.ndarray  # (atom,)
    weights: np.ndarray  # (draw,)
    labelled: np.ndarray  # (draw,) position of its labelled set among the columns
    phi: np.ndarray  # (objects + 1,)
    cells: np.ndarray  # (row, slot) int32
    margins: np.ndarray  # (row,) objects of all slots
    sums: np.ndarray  # (draw or labelled set,) sum of phi over its cells
    by_label: np.ndarray  # (draw or labelled set,) sum of phi over its margins
    n_placed: np.ndarray  # (draw or labelled set,) objects


@implements(score, Ratios)
def _score(objective, unit, own, out):
    columns, cells, phi, count = objective.columns, objective.cells, objective.phi, objective.counts[unit]
    out[:] = 0.0
    for b in range(objective.weights.shape[0]):
        row = columns[unit, b]
        if row < 0:
            continue
        group = objective.labelled[b]
        total = columns[unit, group]
        n, by_label = objective.n_placed[b], objective.by_label[b]
        joint, rows = objective.sums[b], objective.sums[group]
        if own < 0:
            margin = objective.margins[row]
            n += count
            by_label += phi[margin + count] - phi[margin]
        else:
            joint -= phi[cells[row, own]] - phi[cells[row, own] - count]
            rows -= phi[cells[total, own]] - phi[cells[total, own] - count]
        for slot in range(out.shape[0]):
            shared, size = cells[row, slot], cells[total, slot]
            if slot == own:
                shared, size = shared - count, size - count
            out[slot] += objective.weights[b] * loss_value(
                objective.kind,
                1.0,
                n,
                phi[n],
                rows + phi[size + count] - phi[size],
                by_label,
                joint + phi[shared + count] - phi[shared],
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
        margins[row] = margin + amount


@implements(value, Ratios)
def _value(objective):
    total = 0.0
    for b in range(objective.weights.shape[0]):
        n, rows = objective.n_placed[b], objective.sums[objective.labelled[b]]
        total += objective.weights[b] * loss_value(
            objective.kind, 1.0, n, objective.phi[n], rows, objective.by_label[b], objective.sums[b]
        )
    return total
