"""The objective that a search lowers, for every loss: compiled state from references."""

from typing import NamedTuple

import numpy as np

from partita.kernels.additive import Additive
from partita.kernels.pairs import Pairs
from partita.kernels.ratios import Ratios
from partita.posterior.losses import VI, Binder, Loss, VILowerBound, xlogx
from partita.posterior.references import References


class Units(NamedTuple):
    """What moves as one: the members of unit u are ``starts[u]`` to ``starts[u + 1]`` of the atoms."""

    starts: np.ndarray
    counts: np.ndarray  # objects per atom

    @property
    def sizes(self) -> np.ndarray:
        """Objects per unit."""
        return np.add.reduceat(self.counts, self.starts[:-1])


def objective_of(loss: Loss, against: References, units: Units, n_slots: int) -> Additive | Ratios | Pairs:
    """The state of an empty partition with room for so many clusters."""
    if isinstance(loss, VI | Binder):
        return _additive(loss, against, units, n_slots)
    if isinstance(loss, VILowerBound):
        return _pairs(against, units.counts, n_slots)
    return _ratios(loss, against, units.counts, n_slots)


def _additive(loss: VI | Binder, against: References, units: Units, n_slots: int) -> Additive:
    """Sum over draws of w_b / scale(n_b) [(2 - a) sum_T phi(n_bT) - 2 sum_TC phi(n_bTC)], the rest being constant."""
    per_draw = against.weights / loss.scale(against.n_labelled)
    coefficients = np.concatenate([-2.0 * per_draw, (2.0 - loss.a) * against.by_set(per_draw)])
    # The own slot is scored as if the unit came to it once more, and then corrected.
    phi = loss.phi(int(units.counts.sum() + units.counts.max()) + 1)
    gains = np.empty((against.n_rows, n_slots))
    row_of_one = np.full(against.n_rows, phi[1])
    for r, coefficient in enumerate(coefficients):
        rows = against.columns[:, r]
        row_of_one[rows[rows >= 0]] = coefficient * phi[1]
    gains[:] = row_of_one[:, None]
    cells = np.zeros((against.n_rows, n_slots), np.int32)
    return Additive(against.columns, units.starts, units.counts, coefficients, phi, cells, gains, np.zeros(1))


def _ratios(loss: Loss, against: References, counts: np.ndarray, n_slots: int) -> Ratios:
    n_columns = against.columns.shape[1]
    phi = loss.phi(int(counts.sum() + counts.max()) + 1)
    return Ratios(
        kind=np.int64(loss.kind),
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


def _pairs(against: References, counts: np.ndarray, n_slots: int) -> Pairs:
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
