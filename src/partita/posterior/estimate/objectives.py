"""Objectives that a search lowers: compiled state from references."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from partita.kernels.additive import Additive
from partita.kernels.pairs import Pairs
from partita.kernels.ratios import Ratios
from partita.posterior.estimate.comparing import xlogx

if TYPE_CHECKING:
    from partita.posterior.estimate.references import References

Phi = Callable[[int], np.ndarray]


class Units(NamedTuple):
    """What moves as one: the members of unit u are ``starts[u]`` to ``starts[u + 1]`` of the atoms."""

    starts: np.ndarray
    counts: np.ndarray  # objects per atom

    @property
    def sizes(self) -> np.ndarray:
        """Objects per unit."""
        return np.add.reduceat(self.counts, self.starts[:-1])


def additive(phi_of: Phi, scale: np.ndarray, a: float, against: "References", units: Units, n_slots: int) -> Additive:
    """Sum over draws of w_b / scale_b [(2 - a) sum_T phi(n_bT) - 2 sum_TC phi(n_bTC)], the rest being constant."""
    per_draw = against.weights / scale
    coefficients = np.concatenate([-2.0 * per_draw, (2.0 - a) * against.by_set(per_draw)])
    # The own slot is scored as if the unit came to it once more, and then corrected.
    phi = phi_of(int(units.counts.sum() + units.counts.max()) + 1)
    gains = np.empty((against.n_rows, n_slots))
    row_of_one = np.full(against.n_rows, phi[1])
    for r, coefficient in enumerate(coefficients):
        rows = against.columns[:, r]
        row_of_one[rows[rows >= 0]] = coefficient * phi[1]
    gains[:] = row_of_one[:, None]
    cells = np.zeros((against.n_rows, n_slots), np.int32)
    return Additive(against.columns, units.starts, units.counts, coefficients, phi, cells, gains, np.zeros(1))


def ratios(kind: int, phi_of: Phi, against: "References", counts: np.ndarray, n_slots: int) -> Ratios:
    """Sum over draws of w_b times a loss that is a ratio of sums of phi within the draw."""
    n_columns = against.columns.shape[1]
    phi = phi_of(int(counts.sum() + counts.max()) + 1)
    return Ratios(
        kind=np.int64(kind),
        columns=against.columns,
        counts=counts,
        weights=against.weights,
        labelled=against.labelled,
        phi=phi,
        cells=np.zeros((against.n_rows, n_slots), np.int32),
        gains=np.full((against.n_rows, n_slots), phi[1] - phi[0]),
        margins=np.zeros(against.n_rows, np.int64),
        sums=np.zeros(n_columns),
        by_label=np.zeros(n_columns),
        n_placed=np.zeros(n_columns, np.int64),
        losses=np.zeros(against.n_draws),
        of_cells=np.zeros(n_slots),
        of_sizes=np.zeros(n_slots),
    )


def pairs(against: "References", counts: np.ndarray, n_slots: int) -> Pairs:
    """The lower bound on the expected variation of information, from what pairs of atoms share."""
    members = np.ascontiguousarray(against.columns[:, against.n_draws :] >= 0)
    return Pairs(
        together=against.together,
        counts=counts,
        members=members,
        coefficients=against.by_set(against.weights / against.n_labelled),
        phi=xlogx(int(counts.sum())),
        sizes=np.zeros((members.shape[1], n_slots), np.int64),
        slots=np.full(len(counts), -1),
        shared=np.zeros(len(counts)),
        with_slot=np.zeros(n_slots),
    )
