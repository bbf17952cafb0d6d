"""What an engine is given: the likelihood, the prior and the rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.families.base import Conjugate, one_hot
from partita.kernels.gibbs import refresh_slots
from partita.priors.base import Prior
from partita.table import Table

ROWS_PER_BLOCK = 65_536


@dataclass(frozen=True)
class Model:
    """A likelihood times a prior over the rows of a table."""

    likelihood: Conjugate
    prior: Prior
    table: Table
    row_weights: np.ndarray  # (n,) int64; w tied copies, 0 = does not take part

    @property
    def total(self) -> int:
        """Rows that the prior counts: the summed weights."""
        return int(self.row_weights.sum())

    def state_of(self, rows: Any, labels: np.ndarray, n_slots: int) -> Any:
        """The compiled state whose slots hold the rows of these labels (-1: in none)."""
        state = self.likelihood.state(n_slots)
        self.load_labels(state, rows, labels, n_slots)
        return state

    def load_labels(self, state: Any, rows: Any, labels: np.ndarray, n_slots: int) -> None:
        """Recompute statistics and caches of a state from rows and labels, block by block of rows."""
        n_clusters = int(labels.max(initial=-1)) + 1
        stats = np.zeros((n_slots, self.likelihood.stats_of(state).shape[1]))
        for start in range(0, labels.shape[0], ROWS_PER_BLOCK):
            stop = start + ROWS_PER_BLOCK
            resp = one_hot(labels[start:stop], n_clusters, self.row_weights[start:stop])
            stats[:n_clusters] += self.likelihood.suffstats(row_block(rows, start, stop), resp)
        self.likelihood.load(state, stats)
        refresh_slots(state, n_slots)


def row_block(rows: Any, start: int, stop: int) -> Any:
    """The same NamedTuple of arrays, nested or not, restricted to some rows."""
    if isinstance(rows, np.ndarray):
        return rows[start:stop]
    return type(rows)(*(row_block(part, start, stop) for part in rows))
