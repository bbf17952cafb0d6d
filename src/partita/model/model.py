"""What an engine is given: the likelihood, the prior and the rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita.families.base import ROWS_AT_ONCE, Conjugate, one_hot
from partita.families.blocks import row_blocks
from partita.kernels.gibbs import refresh_slots
from partita.model.kmeans_start import Points
from partita.priors.base import Prior
from partita.running.cached import cached_property
from partita.table import Table
from partita.table.array_checks import whole_weights

ROWS_PER_BLOCK = 65_536


@dataclass(frozen=True)
class Model:
    """A likelihood times a prior over the rows of a table."""

    likelihood: Conjugate
    prior: Prior
    table: Table
    row_weights: np.ndarray  # (n,) int64; w tied copies, 0 = does not take part

    def __post_init__(self) -> None:
        weights = whole_weights(self.row_weights, self.table.n_rows, "The row weights of a Model")
        if weights.dtype != np.int64:
            raise TypeError(f"The row weights of a Model must be int64, got {weights.dtype}: kernels read no other.")

    @property
    def total(self) -> int:
        """Rows that the prior counts: the summed weights."""
        return int(self.row_weights.sum())

    @property
    def n_stats(self) -> int:
        """How many numbers a slot's statistics are."""
        return _n_stats(self.likelihood)

    @cached_property
    def shared_rows(self) -> Any:
        """The family's rows, for engines that never write to them."""
        return self.likelihood.rows(self.table)

    @cached_property
    def points(self) -> Points:
        """The rows as points, where k-means begins."""
        return Points(self.table, self.row_weights)

    def with_prior(self, prior: Prior) -> "Model":
        """The same model under another prior, sharing rows and points."""
        other = replace(self, prior=prior)
        vars(other).update(shared_rows=self.shared_rows, points=self.points)
        return other

    def taught(self) -> "Model":
        """The same model of the rows that take part."""
        chosen = self.row_weights > 0
        return replace(self, table=self.table.take(chosen), row_weights=self.row_weights[chosen])

    def collapsed(self) -> tuple["Model", np.ndarray]:
        """The same model of its different rows, each with the weight of all its copies; and which one every row is."""
        first, atom = self.table.distinct_rows()
        weights = np.bincount(atom, self.row_weights).astype(np.int64)
        return replace(self, table=self.table.take(first), row_weights=weights), atom

    def shared_stats(self, resp: np.ndarray, expected: Any = None) -> np.ndarray:
        """Statistics (K, S) of all rows shared out by ``resp``; see `shared_stats`."""
        return shared_stats(self.likelihood, self.shared_rows, self.row_weights, resp, expected)

    def stats_of(self, rows: Any, labels: np.ndarray, n_slots: int) -> np.ndarray:
        """Statistics (n_slots, S) of the rows of these labels (-1: in no slot), block by block of rows."""
        n_clusters = int(labels.max(initial=-1)) + 1
        stats = np.zeros((n_slots, self.n_stats))
        for block, part in row_blocks(rows, labels.shape[0], ROWS_PER_BLOCK):
            resp = one_hot(labels[block], n_clusters, self.row_weights[block])
            stats[:n_clusters] += self.likelihood.suffstats(part, resp)
        return stats

    def state_from(self, stats: np.ndarray) -> Any:
        """The compiled state of slots with these statistics."""
        return state_from(self.likelihood, stats)


def state_from(likelihood: Conjugate, stats: np.ndarray) -> Any:
    """The compiled state of slots with these statistics."""
    state = likelihood.state(stats.shape[0])
    likelihood.load(state, stats)
    refresh_slots(state, stats.shape[0])
    return state


def shared_stats(
    likelihood: Conjugate, rows: Any, row_weights: np.ndarray, resp: np.ndarray, expected: Any = None
) -> np.ndarray:
    """Statistics (K, S) of rows shared out by responsibilities ``resp`` (n, K), block by block.

    Missing cells are left out, or are as expected given ``expected``.
    """
    stats = np.zeros((resp.shape[1], _n_stats(likelihood)))
    for block, part in row_blocks(rows, resp.shape[0], ROWS_AT_ONCE):
        weighted = row_weights[block, None] * resp[block]
        if expected is None:
            stats += likelihood.suffstats(part, weighted)
        else:
            stats += likelihood.variational_suffstats(part, weighted, expected)
    return stats


def _n_stats(likelihood: Conjugate) -> int:
    return likelihood.stats_of(likelihood.state(1)).shape[1]
