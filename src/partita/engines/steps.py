"""The two halves of a variational iteration, apart: what is done where the rows are, and what is done with their sums.

Only `Statistics`, arrays that add up over rows, go from the rows to the coordinator, and only a `VariationalState`
comes back. From columns that live apart expected log densities go to the coordinator, and responsibilities come back.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from partita.engines.merging import LEAST_SIZE, Held, merge_pairs, overlaps, promising_pairs
from partita.engines.variational_state import NO_PAIRS, Encoded, Statistics, VariationalState
from partita.families.base import ROWS_AT_ONCE, Conjugate, normalized, one_hot
from partita.families.blocks import row_blocks
from partita.model.kmeans_start import labels_of_some
from partita.model.model import HERE, shared_out, shared_stats
from partita.places import Here
from partita.priors.weights import LabelledComponents
from partita.table import Table
from partita.table.weights import check_weights

EVERY = 10  # iterations between merge moves, while the bound still rises
MOST_START_STEPS = 100  # iterations on a sample of rows


class Steps:
    """Iterations of variational Bayes on rows or columns that live apart; holds no data and can be pickled.

    One iteration over rows in several places, each of which calls the first line:

        parts = [steps.local_statistics(rows, state) for rows in places]
        state = steps.global_step(functools.reduce(steps.merge, parts), state)

    and over columns in several places, each of which calls the first and the third:

        loglik = sum(steps.column_loglik(column, state, m) for m, column in enumerate(columns))
        resp = steps.responsibilities(loglik, state)
        parts = [steps.column_statistics(column, resp, m) for m, column in enumerate(columns)]
        state = steps.global_step(steps.join_columns(loglik, parts, state), state)

    Parameters
    ----------
    likelihood, prior
        The model.
    reader : object, optional
        ``read(X)`` and ``read_column(column, m)`` make tables of raw input; not needed for rows that are encoded.
    tol : float
        Gain per row below which the bound has ceased to rise.
    merge : bool
        Whether merge moves are tried.
    place : Here
        Who computes parts of the rows, where there are many.
    """

    def __init__(
        self,
        likelihood: Conjugate,
        prior: LabelledComponents,
        reader: Any = None,
        *,
        tol: float = 1e-6,
        merge: bool = True,
        place: Here = HERE,
    ):
        self.likelihood, self.prior, self.reader, self.place = likelihood, prior, reader, place
        self.tol, self.tries_merges = tol, merge

    # --- rows -------------------------------------------------------------------------------------

    def encode(self, rows: Any, sample_weight: Any = None) -> Encoded:
        """Raw rows as given to fit, ready for many calls; equal rows become one, rows without a cell are left out."""
        table = self._read(rows)
        given = check_weights(sample_weight, table.n_rows)
        weights = np.ones(table.n_rows) if given is None else given
        seen = ~table.empty_rows
        table, weights = table.take(seen), weights[seen]
        first, kind = table.distinct_rows()
        return Encoded(self.likelihood.rows(table.take(first)), np.bincount(kind, weights, first.size))

    def start(self, rng: np.random.Generator, rows: Any) -> VariationalState:
        """A first state from the raw rows of one place, by k-means; the other places need not be asked."""
        table = self._read(rows)
        return self.start_from(rng, table.take(~table.empty_rows), None)

    def start_from(self, rng: np.random.Generator, table: Table, row_weights: np.ndarray | None) -> VariationalState:
        """A first state: clusters of k-means on all rows, if they are few.

        Otherwise on a sample, whose rows are shared out until the bound ceases to rise: most of the surplus components
        die there, where that is cheap. What is left is made as large as the table.
        """
        weights = np.ones(table.n_rows) if row_weights is None else row_weights
        some, labels = labels_of_some(rng, table, weights, self.prior.n_components)
        sample = Encoded(self.likelihood.rows(table.take(some)), weights[some])
        state = self.global_step(self.given_responsibilities(sample, one_hot(labels, int(labels.max()) + 1)))
        if some.size == table.n_rows:
            return state
        while not state.settled and state.n_steps < MOST_START_STEPS:
            state = self.global_step(self.local_statistics(sample, state), state)
        scale = weights.sum() / weights[some].sum()
        return self.global_step(Statistics(np.array([np.nan]), scale * state.sizes, scale * state.stats, np.empty(0)))

    def given_responsibilities(self, rows: Any, resp: np.ndarray) -> Statistics:
        """Statistics of rows shared out by given responsibilities (n, K), for a first state; additive too."""
        encoded = self._encoded(rows)
        resp = _checked_resp(resp, encoded.weights.size)
        stats = shared_stats(self.likelihood, encoded.rows, encoded.weights, resp)
        return Statistics(np.array([np.nan]), encoded.weights @ resp, stats, np.empty(0))

    def local_statistics(self, rows: Any, state: VariationalState) -> Statistics:
        """Share the rows out among the components by their best responsibilities, and sum up.

        Parameters
        ----------
        rows
            Raw rows as given to fit, or what ``encode`` made of them.
        state : VariationalState

        Notes
        -----
        Cost: rows x components expected log densities.
        """
        encoded = self._encoded(rows)
        likelihood, log_weights, expected = state.likelihood, state.log_weights, state.expected
        shared = shared_out(
            encoded.rows,
            encoded.weights,
            lambda part, weights: likelihood.share_out(part, weights, log_weights, expected),
            self.place,
        )
        return Statistics(np.array([shared.log_total]), shared.sizes, shared.stats, self._overlaps(encoded, state))

    def memberships(self, rows: Any, state: VariationalState) -> np.ndarray:
        """Responsibilities (n, K) of raw rows, or of those that were encoded: what stays where the rows are."""
        if not isinstance(rows, Encoded):
            table = self._read(rows)
            rows = Encoded(self.likelihood.rows(table), np.ones(table.n_rows))
        resp = np.empty((rows.weights.size, state.n_components))
        for block, own in self._shared(rows, state):
            resp[block] = own
        return resp

    def merge(self, first: Statistics, second: Statistics) -> Statistics:
        """Statistics of both parts."""
        if any(a.shape != b.shape for a, b in zip(first, second)):
            raise ValueError("The two parts are statistics under different states: send one state to all places.")
        return Statistics(*(a + b for a, b in zip(first, second)))

    def global_step(self, statistics: Statistics, state: VariationalState | None = None) -> VariationalState:
        """The best factors of weights and parameters given the statistics of all rows; of a first state without one.

        In this order: pairs that gain by it are merged, empty components removed, sticks ordered by size, learned
        numbers moved to their maximum.
        """
        self._check_statistics(statistics)
        if state is not None and not _belongs(statistics, state):
            raise ValueError("These are not statistics under this state: send it to all places and sum what they send.")
        likelihood = self.likelihood if state is None else state.likelihood
        concentration = self.prior.initial_concentration() if state is None else state.concentration
        bound = np.nan if state is None else float(statistics.log_total[0]) - state.divergence
        sizes, stats, has_merged = self._occupied(statistics, state, concentration)
        concentration = self.prior.learned_concentration(sizes, concentration)
        likelihood = likelihood.relearned(stats) if likelihood.learns else likelihood
        held = Held(likelihood, self.prior, sizes, stats, concentration)
        pairs, settled = self._next_pairs(state, bound, has_merged, held)
        return VariationalState(
            sizes=sizes,
            stats=stats,
            expected=likelihood.expected_params(stats),
            log_weights=self.prior.expected_log_weights(sizes, concentration),
            concentration=concentration,
            likelihood=likelihood,
            divergence=self._divergence(likelihood, sizes, stats, concentration),
            bound=bound,
            pairs=pairs,
            n_steps=0 if state is None else state.n_steps + 1,
            settled=settled,
        )

    # --- columns ----------------------------------------------------------------------------------

    def column_loglik(self, column: Any, state: VariationalState, m: int) -> np.ndarray:
        """Expected log densities (n, K) of the cells of column m, numbered as in fit; exactly 0 for a missing cell.

        And for none other: where a cell's density is 1, as in a column of one label, it is the number next below 0.
        """
        self._require_independent_columns()
        table = self._own_reader().read_column(column, m)
        loglik = state.likelihood.expected_loglik(self.likelihood.rows(table), state.expected)
        loglik[~table.empty_rows & ~loglik.any(axis=1)] = -np.finfo(np.float64).smallest_subnormal
        return loglik

    def responsibilities(
        self, loglik: np.ndarray, state: VariationalState, row_weights: np.ndarray | None = None
    ) -> np.ndarray:
        """Responsibilities (n, K) times weights of rows, given the sum over columns of ``column_loglik``.

        Without weights a row counts once, and not at all where its log densities are all exactly 0: it has no cell.
        """
        return normalized(loglik + state.log_weights)[1] * _weights_of(loglik, row_weights)[:, None]

    def column_statistics(self, column: Any, resp: np.ndarray, m: int) -> np.ndarray:
        """Statistics (K, S) of column m, zeros where they speak of other columns."""
        self._require_independent_columns()
        table = self._own_reader().read_column(column, m)
        return self.likelihood.suffstats(self.likelihood.rows(table), _checked_resp(resp, table.n_rows))

    def join_columns(
        self,
        loglik: np.ndarray,
        column_statistics: Sequence[np.ndarray],
        state: VariationalState,
        row_weights: np.ndarray | None = None,
    ) -> Statistics:
        """What ``local_statistics`` of all columns would be, given the sum over columns of ``column_loglik``."""
        log_totals, resp = normalized(loglik + state.log_weights)
        weights = _weights_of(loglik, row_weights)
        stats = np.sum(column_statistics, axis=0)
        return Statistics(np.array([log_totals @ weights]), weights @ resp, stats, overlaps(resp, weights, state.pairs))

    # --- within -----------------------------------------------------------------------------------

    def _read(self, rows: Any) -> Table:
        return rows if isinstance(rows, Table) else self._own_reader().read(rows)

    def _own_reader(self) -> Any:
        if self.reader is None:
            raise ValueError("These Steps read no raw input: make them with a reader, for example TableReader(schema).")
        return self.reader

    def _encoded(self, rows: Any) -> Encoded:
        return rows if isinstance(rows, Encoded) else self.encode(rows)

    def _check_statistics(self, statistics: Statistics) -> None:
        n_stats = self.likelihood.stats_of(self.likelihood.state(1)).shape[1]
        shapes = ((1,), (statistics.sizes.size,), (statistics.sizes.size, n_stats), (statistics.overlaps.size,))
        if any(part.shape != shape or part.dtype != np.float64 for part, shape in zip(statistics, shapes)):
            raise ValueError(
                f"Statistics are float64 arrays of shapes (1,), (K,), (K, {n_stats}) and (P,), got "
                f"{', '.join(f'{part.dtype} {part.shape}' for part in statistics)}: sum what the places send."
            )

    def _require_independent_columns(self) -> None:
        if not self.likelihood.columns_are_independent:
            raise ValueError(
                f"A {self.likelihood.title} looks at all columns of a row at once, so they cannot live apart: choose a "
                "family whose columns are independent given the cluster, for example Gaussian(covariance='diag')."
            )

    def _overlaps(self, encoded: Encoded, state: VariationalState) -> np.ndarray:
        found = np.zeros(state.pairs.shape[0])
        if found.size:
            for block, resp in self._shared(encoded, state):
                found += overlaps(resp, encoded.weights[block], state.pairs)
        return found

    def _shared(self, encoded: Encoded, state: VariationalState) -> Iterator[tuple[slice, np.ndarray]]:
        """Which rows, and their responsibilities, block by block."""
        for block, part in row_blocks(encoded.rows, encoded.weights.size, ROWS_AT_ONCE):
            yield block, normalized(state.likelihood.expected_loglik(part, state.expected) + state.log_weights)[1]

    def _occupied(
        self, statistics: Statistics, state: VariationalState | None, concentration: float
    ) -> tuple[np.ndarray, np.ndarray, bool]:
        """Sizes and statistics of the components that hold rows, in their best order, and whether some were merged."""
        sizes, stats = statistics.sizes, statistics.stats
        if state is not None and state.pairs.shape[0]:
            held = Held(state.likelihood, self.prior, sizes, stats, concentration)
            sizes, stats = merge_pairs(held, state.pairs, statistics.overlaps)
        has_merged = sizes.size < statistics.sizes.size
        left = sizes > min(LEAST_SIZE, sizes.max() / 2)
        sizes, stats = sizes[left], stats[left]
        order = self.prior.best_order(sizes, concentration)
        return sizes[order], stats[order], has_merged

    def _divergence(self, likelihood: Conjugate, sizes: np.ndarray, stats: np.ndarray, concentration: float) -> float:
        apart = likelihood.prior_divergence(stats).sum() + self.prior.weights_divergence(sizes, concentration)
        return float(apart) - self.prior.log_hyperprior(concentration) - likelihood.log_hyperprior()

    def _next_pairs(
        self, state: VariationalState | None, bound: float, has_merged: bool, held: Held
    ) -> tuple[np.ndarray, bool]:
        """Pairs to be tried next, and whether nothing is left to do."""
        if state is None:
            return NO_PAIRS, False
        slow = bound - state.bound <= self.tol * state.sizes.sum()
        if not self.tries_merges:
            return NO_PAIRS, slow
        failed = state.pairs.shape[0] > 0 and not has_merged
        if slow and (failed or state.settled):
            return NO_PAIRS, True
        if has_merged or slow or state.n_steps % EVERY == 1:
            pairs = promising_pairs(held)
            return pairs, slow and not has_merged and pairs.shape[0] == 0
        return NO_PAIRS, False


def _belongs(statistics: Statistics, state: VariationalState) -> bool:
    return statistics.stats.shape == state.stats.shape and statistics.overlaps.size == state.pairs.shape[0]


def _checked_resp(resp: Any, n_rows: int) -> np.ndarray:
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


def _weights_of(loglik: np.ndarray, row_weights: np.ndarray | None) -> np.ndarray:
    weights = np.any(loglik, axis=1) if row_weights is None else row_weights
    return np.asarray(weights, dtype=np.float64)
