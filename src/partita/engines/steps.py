"""An iteration in two halves: what is done where the rows are, and what is done with their sums.

Only `Statistics`, arrays that add up over rows, go from the rows to the coordinator, and only a state comes back. Who
computes a part of the rows is not the engine's business: threads here, or machines that keep their rows to themselves.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from partita.families.base import ROWS_AT_ONCE, Conjugate, Shared, normalized, one_hot
from partita.families.blocks import row_blocks
from partita.model.kmeans_start import labels_of_some
from partita.model.model import HERE, Model, shared_out, shared_stats
from partita.places import Here
from partita.priors.weights import LabelledComponents
from partita.table import Table
from partita.table.weights import check_weights

NO_OVERLAPS = np.empty(0)


class Statistics(NamedTuple):
    """What an iteration needs of the rows: sums over them, so that those of two parts add up."""

    log_total: np.ndarray  # (1,) sum of the log densities of the rows, as the state has them
    sizes: np.ndarray  # (K,) expected numbers of rows
    stats: np.ndarray  # (K, S) sufficient statistics
    overlaps: np.ndarray  # (P,) of the pairs whose merging is tried, if the engine tries any


class Encoded(NamedTuple):
    """Rows as the family reads them, equal ones once with their number."""

    rows: Any
    weights: np.ndarray  # (n,)


class Steps(ABC):
    """What an engine answers to whose iterations need nothing of the rows but sums; holds no data and can be pickled.

    One iteration over rows in several places, each of which calls the first line:

        parts = [steps.local_statistics(rows, state) for rows in places]
        state = steps.global_step(functools.reduce(steps.merge, parts), state)

    A state has ``stats`` (K, S). What an engine brings is ``share_out``, ``log_densities`` and ``global_step``.

    Parameters
    ----------
    likelihood, prior
        The model.
    reader : object, optional
        ``read(X)`` and ``read_column(column, m)`` make tables of raw input; not needed for rows that are encoded.
    place : Here
        Who computes parts of the rows, where there are many.
    """

    def __init__(self, likelihood: Conjugate, prior: LabelledComponents, reader: Any = None, *, place: Here = HERE):
        self.likelihood, self.prior, self.reader, self.place = likelihood, prior, reader, place

    @abstractmethod
    def share_out(self, rows: Any, row_weights: np.ndarray, state: Any) -> Shared:
        """Share rows out among the components by their best responsibilities, and sum up."""

    @abstractmethod
    def log_densities(self, rows: Any, state: Any) -> np.ndarray:
        """Log densities (n, K) of rows and components, of which responsibilities are the shares."""

    @abstractmethod
    def global_step(self, statistics: Statistics, state: Any = None) -> Any:
        """The next state given the statistics of all rows; a first one without a state."""

    def encode(self, rows: Any, sample_weight: Any = None) -> Encoded:
        """Raw rows as given to fit, ready for many calls; equal rows become one, rows without a cell are left out."""
        table = self._read(rows)
        given = check_weights(sample_weight, table.n_rows)
        weights = np.ones(table.n_rows) if given is None else given
        seen = ~table.empty_rows
        table, weights = table.take(seen), weights[seen]
        first, kind = table.distinct_rows()
        return Encoded(self.likelihood.rows(table.take(first)), np.bincount(kind, weights, first.size))

    def start(self, rng: np.random.Generator, rows: Any) -> Any:
        """A first state from the raw rows of one place, by k-means; the other places need not be asked."""
        table = self._read(rows)
        return self.start_from(rng, table.take(~table.empty_rows), None)

    def start_from(self, rng: np.random.Generator, table: Table, row_weights: np.ndarray | None) -> Any:
        """A first state: clusters of k-means on all rows, or on a sample if they are many."""
        weights = np.ones(table.n_rows) if row_weights is None else row_weights
        return self._start_of_some(rng, table, weights)[1]

    def given_responsibilities(self, rows: Any, resp: np.ndarray) -> Statistics:
        """Statistics of rows shared out by given responsibilities (n, K), for a first state; additive too."""
        encoded = self._encoded(rows)
        resp = checked_responsibilities(resp, encoded.weights.size)
        stats = shared_stats(self.likelihood, encoded.rows, encoded.weights, resp)
        return Statistics(np.array([np.nan]), encoded.weights @ resp, stats, NO_OVERLAPS)

    def local_statistics(self, rows: Any, state: Any) -> Statistics:
        """Share the rows out among the components by their best responsibilities, and sum up.

        Parameters
        ----------
        rows
            Raw rows as given to fit, or what ``encode`` made of them.
        state
            What ``global_step`` made.

        Notes
        -----
        Cost: rows x components log densities.
        """
        encoded = self._encoded(rows)
        shared = shared_out(
            encoded.rows, encoded.weights, lambda part, weights: self.share_out(part, weights, state), self.place
        )
        return Statistics(np.array([shared.log_total]), shared.sizes, shared.stats, self.overlaps(encoded, state))

    def overlaps(self, rows: Encoded, state: Any) -> np.ndarray:
        """Sums over rows of what pairs of components share, for engines that try to merge some."""
        return NO_OVERLAPS

    def memberships(self, rows: Any, state: Any) -> np.ndarray:
        """Responsibilities (n, K) of raw rows, or of those that were encoded: what stays where the rows are."""
        if not isinstance(rows, Encoded):
            table = self._read(rows)
            rows = Encoded(self.likelihood.rows(table), np.ones(table.n_rows))
        resp = np.empty((rows.weights.size, state.n_components))
        for block, own in self.shared(rows, state):
            resp[block] = own
        return resp

    def merge(self, first: Statistics, second: Statistics) -> Statistics:
        """Statistics of both parts."""
        if any(a.shape != b.shape for a, b in zip(first, second)):
            raise ValueError("The two parts are statistics under different states: send one state to all places.")
        return Statistics(*(a + b for a, b in zip(first, second)))

    def shared(self, rows: Encoded, state: Any) -> Iterator[tuple[slice, np.ndarray]]:
        """Which rows, and their responsibilities, block by block."""
        for block, part in row_blocks(rows.rows, rows.weights.size, ROWS_AT_ONCE):
            yield block, normalized(self.log_densities(part, state))[1]

    def check_statistics(self, statistics: Statistics, state: Any, n_overlaps: int = 0) -> None:
        """Refuse arrays that do not fit together, or that were not made under this state."""
        n_stats = self.likelihood.n_stats
        shapes = ((1,), (statistics.sizes.size,), (statistics.sizes.size, n_stats), (statistics.overlaps.size,))
        if any(part.shape != shape or part.dtype != np.float64 for part, shape in zip(statistics, shapes)):
            raise ValueError(
                f"Statistics are float64 arrays of shapes (1,), (K,), (K, {n_stats}) and (P,), got "
                f"{', '.join(f'{part.dtype} {part.shape}' for part in statistics)}: sum what the places send."
            )
        if state is None:
            return
        if statistics.stats.shape != state.stats.shape or statistics.overlaps.size != n_overlaps:
            raise ValueError("These are not statistics under this state: send it to all places and sum what they send.")

    def _start_of_some(self, rng: np.random.Generator, table: Table, weights: np.ndarray) -> tuple[Encoded, Any]:
        """The rows that k-means was run on, and the state of its clusters."""
        some, labels = labels_of_some(rng, table, weights, self.prior.n_components)
        sample = Encoded(self.likelihood.rows(table.take(some)), weights[some])
        resp = one_hot(labels, int(labels.max()) + 1)
        return sample, self.global_step(self.given_responsibilities(sample, resp))

    def _read(self, rows: Any) -> Table:
        return rows if isinstance(rows, Table) else self._own_reader().read(rows)

    def _own_reader(self) -> Any:
        if self.reader is None:
            raise ValueError("These Steps read no raw input: make them with a reader, for example TableReader(schema).")
        return self.reader

    def _encoded(self, rows: Any) -> Encoded:
        return rows if isinstance(rows, Encoded) else self.encode(rows)


class SharesOut:
    """What an engine is that is made of `Steps`: one of them is local statistics, then a global step."""

    def steps(self, model: Model, reader: object = None) -> Steps:
        """The halves of an iteration, as machines that hold parts of the rows call them."""
        raise NotImplementedError

    def start(self, model: Model, resp: np.ndarray) -> Any:
        """The state given responsibilities (n, K) of all rows."""
        steps = self.steps(model)
        return steps.global_step(steps.given_responsibilities(encoded_rows(model), resp))

    def next_state(self, model: Model, state: Any) -> Any:
        """One iteration over the rows of a model."""
        steps = self.steps(model)
        return steps.global_step(steps.local_statistics(encoded_rows(model), state), state)

    def responsibilities(self, state: Any, model: Model) -> np.ndarray:
        """The best responsibilities (n, K) of the rows of a model."""
        return self.steps(model).memberships(encoded_rows(model), state)


def encoded_rows(model: Model) -> Encoded:
    """The rows of a model with their weights."""
    return Encoded(model.shared_rows, model.row_weights)


def checked_responsibilities(resp: Any, n_rows: int) -> np.ndarray:
    """Responsibilities as float64 (n_rows, K), finite and not negative: kernels trust them."""
    shares = np.asarray(resp)
    if shares.ndim != 2 or shares.shape[0] != n_rows or shares.dtype.kind not in "fiub":
        raise ValueError(
            f"Responsibilities are numbers of shape ({n_rows}, K), one row per row, got {shares.dtype} {shares.shape}."
        )
    shares = np.ascontiguousarray(shares, dtype=np.float64)
    if not (np.isfinite(shares).all() and shares.min(initial=0.0) >= 0.0):
        raise ValueError("Responsibilities must be finite and not negative: pass what responsibilities() returned.")
    return shares
