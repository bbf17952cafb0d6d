"""Where a chain of Gibbs sampling is: what a checkpoint needs, and what is computed from it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from partita.families.base import Conjugate
from partita.kernels.allocation import Allocation, new_allocation
from partita.model.model import Model


class GibbsPosition(NamedTuple):
    """All of a state that the model does not say: arrays and numbers, which share no memory with the chain's own."""

    labels: np.ndarray  # (n,) the slot of every row, -1 = takes no part
    n_slots: int
    order: np.ndarray | None  # slots of the prior's components, where these have an order
    cells: Any  # the family's rows, where missing cells of them are drawn
    concentration: float
    learned: dict[str, float]  # numbers of the likelihood
    dusty: np.ndarray
    again: np.ndarray
    n_sweeps: int


@dataclass(frozen=True)
class GibbsState:
    """Where a chain is. Arrays change in place; the tuple changes when slots are added.

    ``slots`` and ``prior`` are caches: `at_position` makes them from the model and a `position`.
    """

    rows: Any  # the family's rows, with the present draws of missing cells
    slots: Any  # the family's statistics and caches per slot
    likelihood: Conjugate  # the model's, with what is learned of it as it is now
    prior: Any  # the compiled prior
    allocation: Allocation
    concentration: float
    dusty: np.ndarray  # (n,) bool: rows that were in a tiny cluster while that was watched
    again: np.ndarray  # rows to scan again in every sweep, each as often as it is named
    n_sweeps: int = 0

    def position(self, model: Model) -> GibbsPosition:
        """What a checkpoint needs."""
        order = model.prior.order_of(self.prior)
        return GibbsPosition(
            labels=self.allocation.labels.copy(),
            n_slots=self.allocation.sizes.size,
            order=None if order is None else order.copy(),
            cells=copied(self.rows) if self.likelihood.draws_cells(self.rows) else None,
            concentration=self.concentration,
            learned=dict(self.likelihood.learned),
            dusty=self.dusty.copy(),
            again=self.again.copy(),
            n_sweeps=self.n_sweeps,
        )


def at_position(model: Model, position: GibbsPosition) -> GibbsState:
    """The state at a position; statistics are summed up anew, as they are every 32 sweeps."""
    model = model.with_learned(position.learned)
    rows = model.shared_rows if position.cells is None else copied(position.cells)
    allocation = new_allocation(model.row_weights, position.n_slots)
    allocation.labels[:] = position.labels
    seated = allocation.active
    allocation.sizes[:] = np.bincount(position.labels[seated], model.row_weights[seated], position.n_slots)
    prior = model.prior.compiled(model.total, position.concentration, position.n_slots)
    return GibbsState(
        rows=rows,
        likelihood=model.likelihood,
        slots=model.state_from(model.stats_of(rows, allocation.labels, position.n_slots)),
        prior=prior if position.order is None else model.prior.in_order(prior, position.order.copy()),
        allocation=allocation,
        concentration=position.concentration,
        dusty=position.dusty.copy(),
        again=position.again.copy(),
        n_sweeps=position.n_sweeps,
    )


def copied(rows: Any) -> Any:
    """Rows of a family, nested or not, in memory of their own."""
    return rows.copy() if isinstance(rows, np.ndarray) else type(rows)(*map(copied, rows))
