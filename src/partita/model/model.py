"""What an engine is given: the likelihood, the prior and the rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from partita.families.base import ROWS_AT_ONCE, Conjugate, Shared
from partita.families.blocks import row_blocks
from partita.kernels.gibbs import refresh_slots
from partita.model.kmeans_start import Points
from partita.places import Here
from partita.priors.base import Prior
from partita.running.cached import cached_property
from partita.table import Table
from partita.table.array_checks import whole_weights

ROWS_PER_PART = 16_384  # which one thread sums up
HERE = Here()


@dataclass(frozen=True)
class Model:
    """A likelihood times a prior over the rows of a table."""

    likelihood: Conjugate
    prior: Prior
    table: Table
    row_weights: np.ndarray  # (n,) int64; w tied copies, 0 = does not take part
    place: Here = field(default=HERE, compare=False, repr=False)  # who sums over the rows

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
        return self.likelihood.n_stats

    def log_jacobian(self) -> np.ndarray:
        """What a row's log density, to the power of the likelihood, gains (n,) in the units of the table."""
        return self.likelihood.power * self.table.log_jacobian()

    @cached_property
    def shared_rows(self) -> Any:
        """The family's rows, for engines that never write to them."""
        return self.likelihood.rows(self.table)

    @cached_property
    def points(self) -> Points:
        """The rows as points, where k-means begins."""
        return Points(self.table, self.row_weights)

    @property
    def has_parts(self) -> bool:
        """Whether there are so many rows that they are summed up part by part."""
        return self.table.n_rows > ROWS_PER_PART

    @property
    def plain(self) -> "Model":
        """The model in which rows count once in the likelihood, sharing rows and points: what densities are of."""
        likelihood = self.likelihood.plain
        return self if likelihood is self.likelihood else self._sharing(replace(self, likelihood=likelihood))

    def with_prior(self, prior: Prior) -> "Model":
        """The model under another prior, sharing rows and points."""
        return self._sharing(replace(self, prior=prior))

    def at(self, place: Here) -> "Model":
        """The model whose rows are summed up by others, sharing rows and points."""
        return self._sharing(replace(self, place=place))

    def _sharing(self, other: "Model") -> "Model":
        vars(other).update({name: made for name, made in vars(self).items() if name in ("shared_rows", "points")})
        return other

    def sampled(self, rng: np.random.Generator, n_rows: int) -> "Model":
        """The model of so many of its rows; the same where it has no more."""
        if self.table.n_rows <= n_rows:
            return self
        some = np.sort(rng.choice(self.table.n_rows, n_rows, replace=False))
        return replace(self, table=self.table.take(some), row_weights=self.row_weights[some])

    def with_learned(self, values: Mapping[str, float]) -> "Model":
        """The model with what its likelihood learns at these values; the same where it learns nothing."""
        return replace(self, likelihood=self.likelihood.with_learned(**values)) if values else self

    def taught(self) -> "Model":
        """The model of the rows that take part."""
        chosen = self.row_weights > 0
        return replace(self, table=self.table.take(chosen), row_weights=self.row_weights[chosen])

    def collapsed(self) -> tuple["Model", np.ndarray]:
        """The model of its different rows, each with the weight of all its copies; and which one every row is."""
        first, atom = self.table.distinct_rows()
        weights = np.bincount(atom, self.row_weights).astype(np.int64)
        return replace(self, table=self.table.take(first), row_weights=weights), atom

    def shared_stats(self, resp: np.ndarray, expected: Any = None) -> np.ndarray:
        """Statistics (K, S) of all rows shared out by ``resp``; see `shared_stats`."""
        return shared_stats(self.likelihood, self.shared_rows, self.row_weights, resp, expected)

    def stats_of(self, rows: Any, labels: np.ndarray, n_slots: int) -> np.ndarray:
        """Statistics (n_slots, S) of the rows of these labels (-1: in no slot)."""
        return self.likelihood.labelled_stats(rows, labels, n_slots, self.row_weights)

    def state_from(self, stats: np.ndarray) -> Any:
        """The compiled state of slots with these statistics."""
        return state_from(self.likelihood, stats)


def state_from(likelihood: Conjugate, stats: np.ndarray) -> Any:
    """The compiled state of slots with these statistics."""
    state = likelihood.state(stats.shape[0])
    likelihood.load(state, stats)
    refresh_slots(state, stats.shape[0])
    return state


def shared_out(
    rows: Any, row_weights: np.ndarray, share: Callable[[Any, np.ndarray], Shared], place: Here = HERE
) -> Shared:
    """Sum over parts of the rows, which are fixed and added in their order: threads change no bit of it."""
    shared = place.map(lambda part: share(*part), parts_of(rows, row_weights))
    return Shared(*map(sum_in_order, zip(*shared)))


def parts_of(rows: Any, row_weights: np.ndarray) -> list[tuple[Any, np.ndarray]]:
    """Rows and their weights, part by part; one part without rows where there are none."""
    blocks = row_blocks(rows, row_weights.shape[0], ROWS_PER_PART)
    return [(part, row_weights[block]) for block, part in blocks] or [(rows, row_weights)]


def sum_in_order(terms: Sequence[Any]) -> Any:
    """The terms added one after the other."""
    return reduce(add, terms)


def shared_stats(
    likelihood: Conjugate, rows: Any, row_weights: np.ndarray, resp: np.ndarray, expected: Any = None
) -> np.ndarray:
    """Statistics (K, S) of rows shared out by responsibilities ``resp`` (n, K), block by block.

    Missing cells are left out, or are as expected given ``expected``.
    """
    stats = np.zeros((resp.shape[1], likelihood.n_stats))
    for block, part in row_blocks(rows, resp.shape[0], ROWS_AT_ONCE):
        weighted = row_weights[block, None] * resp[block]
        if expected is None:
            stats += likelihood.suffstats(part, weighted)
        else:
            stats += likelihood.variational_suffstats(part, weighted, expected)
    return stats
