"""The iterations of variational Bayes, for rows or columns that live in several places.

From columns that live apart expected log densities go to the coordinator, and responsibilities come back.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from partita.engines.merging import LEAST_SIZE, Holdings, merge_pairs, overlaps, promising_pairs
from partita.engines.steps import NO_OVERLAPS, Encoded, Statistics, Steps, checked_responsibilities
from partita.engines.variational_state import NO_PAIRS, VariationalState
from partita.families.base import Conjugate, Shared, normalized
from partita.model.model import HERE, parts_of, sum_in_order
from partita.places import Here
from partita.priors.weights import LabelledComponents
from partita.table import Table

EVERY = 10  # iterations between merge moves, while the bound still rises
MOST_START_STEPS = 100  # iterations on a sample of rows


class VariationalSteps(Steps):
    """`Steps` of variational Bayes, and one iteration over columns in several places:

        loglik = sum(steps.column_loglik(column, state, m) for m, column in enumerate(columns))
        resp = steps.responsibilities(loglik, state)
        parts = [steps.column_statistics(column, resp, m) for m, column in enumerate(columns)]
        state = steps.global_step(steps.join_columns(loglik, parts, state), state)

    each of which calls the first and the third line.

    Parameters
    ----------
    likelihood, prior, reader, place
        See `Steps`.
    tol : float
        Gain per row below which the bound has ceased to rise.
    merge : bool
        Whether merge moves are tried.
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
        super().__init__(likelihood, prior, reader, place=place)
        self.tol, self.tries_merges = tol, merge

    def start_from(self, rng: np.random.Generator, table: Table, row_weights: np.ndarray | None) -> VariationalState:
        """A first state: clusters of k-means on all rows, if they are few.

        Otherwise on a sample, whose rows are shared out until the bound ceases to rise: most of the surplus components
        die there, where that is cheap. What is left is made as large as the table.
        """
        weights = np.ones(table.n_rows) if row_weights is None else row_weights
        sample, state = self._start_of_some(rng, table, weights)
        if sample.weights.size == table.n_rows:
            return state
        while not state.settled and state.n_steps < MOST_START_STEPS:
            state = self.global_step(self.local_statistics(sample, state), state)
        scale = weights.sum() / sample.weights.sum()
        return self.global_step(Statistics(np.array([np.nan]), scale * state.sizes, scale * state.stats, NO_OVERLAPS))

    def share_out(self, rows: Any, row_weights: np.ndarray, state: VariationalState) -> Shared:
        """By r_nk ~ exp(E log weight_k + E log p(x_n | theta_k))."""
        return state.likelihood.share_out(rows, row_weights, state.log_weights, state.expected)

    def log_densities(self, rows: Any, state: VariationalState) -> np.ndarray:
        """E log weight_k + E log p(x_n | theta_k)."""
        return state.likelihood.expected_loglik(rows, state.expected) + state.log_weights

    def overlaps(self, rows: Encoded, state: VariationalState) -> np.ndarray:
        """Of the pairs that the state says are to be tried."""
        if not state.pairs.shape[0]:
            return NO_OVERLAPS
        return sum_in_order(self.place.map(lambda part: self._overlaps(Encoded(*part), state), parts_of(*rows)))

    def _overlaps(self, rows: Encoded, state: VariationalState) -> np.ndarray:
        total = np.zeros(state.pairs.shape[0])
        for block, resp in self.shared(rows, state):
            total += overlaps(resp, rows.weights[block], state.pairs)
        return total

    def global_step(self, statistics: Statistics, state: VariationalState | None = None) -> VariationalState:
        """The best factors of weights and parameters given the statistics of all rows; of a first state without one.

        In this order: pairs that gain by it are merged, empty components removed, sticks ordered by size, learned
        numbers moved to their maximum.
        """
        self.check_statistics(statistics, state, 0 if state is None else state.pairs.shape[0])
        likelihood = self.likelihood if state is None else state.likelihood
        concentration = self.prior.initial_concentration() if state is None else state.concentration
        bound = np.nan if state is None else float(statistics.log_total[0]) - state.divergence
        sizes, stats, has_merged = self._occupied(statistics, state, concentration)
        concentration = self.prior.learned_concentration(sizes, concentration)
        likelihood = likelihood.relearned(stats) if likelihood.learns else likelihood
        holdings = Holdings(likelihood, self.prior, sizes, stats, concentration)
        pairs, settled = self._next_pairs(state, bound, has_merged, holdings)
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
        return self.likelihood.suffstats(self.likelihood.rows(table), checked_responsibilities(resp, table.n_rows))

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

    def _require_independent_columns(self) -> None:
        if not self.likelihood.columns_are_independent:
            raise ValueError(
                f"A {self.likelihood.title} looks at all columns of a row at once, so they cannot live apart: choose a "
                "family whose columns are independent given the cluster, for example Gaussian(covariance='diag')."
            )

    def _occupied(
        self, statistics: Statistics, state: VariationalState | None, concentration: float
    ) -> tuple[np.ndarray, np.ndarray, bool]:
        """Sizes and statistics of the components that hold rows, in their best order, and whether some were merged."""
        sizes, stats = statistics.sizes, statistics.stats
        if state is not None and state.pairs.shape[0]:
            holdings = Holdings(state.likelihood, self.prior, sizes, stats, concentration)
            sizes, stats = merge_pairs(holdings, state.pairs, statistics.overlaps)
        has_merged = sizes.size < statistics.sizes.size
        left = sizes > min(LEAST_SIZE, sizes.max() / 2)
        sizes, stats = sizes[left], stats[left]
        order = self.prior.best_order(sizes, concentration)
        return sizes[order], stats[order], has_merged

    def _divergence(self, likelihood: Conjugate, sizes: np.ndarray, stats: np.ndarray, concentration: float) -> float:
        apart = likelihood.prior_divergence(stats).sum() + self.prior.weights_divergence(sizes, concentration)
        return float(apart) - self.prior.log_hyperprior(concentration) - likelihood.log_hyperprior()

    def _next_pairs(
        self, state: VariationalState | None, bound: float, has_merged: bool, holdings: Holdings
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
            pairs = promising_pairs(holdings)
            return pairs, slow and not has_merged and pairs.shape[0] == 0
        return NO_PAIRS, False


def _weights_of(loglik: np.ndarray, row_weights: np.ndarray | None) -> np.ndarray:
    weights = np.any(loglik, axis=1) if row_weights is None else row_weights
    return np.asarray(weights, dtype=np.float64)
