"""Counts: x ~ Poisson(rate), rate ~ Gamma(a0, b0) for every column of a cluster.

With n observed cells: a = a0 + sum x, b = b0 + n, and the predictive of w copies of a cell is

    G(a + w x)/G(a) b^a / (b + w)^(a + w x) (x!)^-w      (negative binomial for w = 1).
"""

import math
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import stats as distributions
from scipy.special import digamma, gammaln, xlogy

from partita.families.algebra.distributions import NegativeBinomial, Poisson
from partita.families.algebra.divergences import gamma_divergence
from partita.families.algebra.joining import joined_options
from partita.families.algebra.relevance import count_nodes, relevance
from partita.families.algebra.terms import independent_terms
from partita.families.base import Cells, Conjugate, not_negative
from partita.families.profiles import ColumnProfile, column_profiles, mean_estimate, median_estimate, root
from partita.kernels.algebra import NO_COPIES, log_rising
from partita.kernels.compiling import inner
from partita.kernels.dispatch import implements
from partita.kernels.names import (
    add,
    log_marginal,
    log_marginal_columns,
    log_predictive,
    log_predictive_columns,
    refresh,
)
from partita.table import Table
from partita.table.schema import Kind


class CountRows(NamedTuple):
    """Counts, -1 where missing, and their log factorials."""

    x: np.ndarray  # (n, q) int64
    log_factorial: np.ndarray  # (n, q)


class CountState(NamedTuple):
    """Statistics [n, sum x, sum log x!] per slot and column, and logs derived from them."""

    stats: np.ndarray  # (slots, 3 q)
    log_rate: np.ndarray  # (slots, 3, q) log of b - 1, b, b + 1
    hyper: np.ndarray  # (2, q) a0, b0


class ExpectedRate(NamedTuple):
    """Expectations of Gamma rates, each (K, q)."""

    rate: np.ndarray  # a / b
    log_rate: np.ndarray  # digamma(a) - log b


class GammaPoisson(Conjugate):
    """Independent count columns, rates summed out."""

    title: ClassVar[str] = "count"
    kind: ClassVar[Kind] = "count"

    def __init__(self, shape: np.ndarray, rate: np.ndarray, columns: np.ndarray):
        self.shape = shape
        self.rate = rate
        self.columns = columns

    @classmethod
    def joined(cls, blocks: Sequence["GammaPoisson"]) -> list["GammaPoisson"]:
        """One model, column after column."""
        return [cls(**joined_options(blocks, "shape", "rate"))]

    def rows(self, table: Table) -> CountRows:
        """The table's count columns."""
        x = np.ascontiguousarray(table.counts[:, self.columns], dtype=np.int64)
        return CountRows(x, gammaln(np.maximum(x, 0) + 1.0))

    def state(self, n_slots: int) -> CountState:
        """Empty slots."""
        q = self.shape.shape[0]
        hyper = np.stack([self.shape, self.rate])
        return CountState(np.zeros((n_slots, 3 * q)), np.zeros((n_slots, 3, q)), hyper)

    def suffstats(self, rows: CountRows, resp: np.ndarray) -> np.ndarray:
        """Observed weight, sum and summed log factorials of every column."""
        observed = rows.x >= 0
        x = np.where(observed, rows.x, 0).astype(np.float64)
        factorials = np.where(observed, rows.log_factorial, 0.0)
        return np.hstack([resp.T @ observed.astype(np.float64), resp.T @ x, resp.T @ factorials])

    def possible(self, stats: np.ndarray) -> np.ndarray:
        """Nothing negative."""
        return not_negative(stats)

    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        """Sum over columns."""
        return self.log_marginal_by_column(stats).sum(axis=1)

    def log_marginal_by_column(self, stats: np.ndarray) -> np.ndarray:
        """Gamma-Poisson marginals."""
        n, total, factorials = np.split(stats, 3, axis=1)
        return (
            gammaln(self.shape + total)
            - gammaln(self.shape)
            + self.shape * np.log(self.rate)
            - (self.shape + total) * np.log(self.rate + n)
            - factorials
        )

    @property
    def column_of_stats(self) -> np.ndarray:
        """Weights, sums and log factorials."""
        return np.tile(np.arange(self.shape.size), 3)

    def _predictive(self, stats: np.ndarray) -> NegativeBinomial:
        n, total, _ = np.split(stats, 3, axis=-1)
        return NegativeBinomial(self.shape + total, self.rate + n)

    def log_predictive_by_column(self, rows: CountRows, stats: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        """Negative binomial terms of independent columns."""
        return independent_terms(np.where(rows.x < 0, np.nan, rows.x), self._predictive(stats))

    def profile(self, stats: np.ndarray, shares: np.ndarray) -> list[ColumnProfile]:
        """Gamma rates; the standard deviation is the square root of the rate."""
        predictive = self._predictive(stats)
        rate = distributions.gamma(predictive.shape, scale=1.0 / predictive.rate)
        return column_profiles(
            mean=mean_estimate(rate, predictive.shape / predictive.rate),
            sd=root(median_estimate(rate)),
            relevance=relevance(predictive, shares, count_nodes(predictive)),
        )

    def sample_params(self, rng: np.random.Generator, stats: np.ndarray) -> np.ndarray:
        """Rates (K, q)."""
        shape, rate = self._predictive(stats)
        return rng.standard_gamma(shape) / rate

    def map_params(self, stats: np.ndarray, *, least: float = 0.0) -> np.ndarray:
        """Rates (K, q), (a - 1) / b; not below ``least`` where a0 <= 1, nor 0."""
        shape, rate = self._predictive(stats)
        return np.maximum((shape - 1.0) / rate, np.where(self.shape <= 1.0, least, 0.0))

    def ml_params(self, stats: np.ndarray, reg_covar: float) -> np.ndarray:
        """Averages of the observed counts."""
        n, total, _ = np.split(stats, 3, axis=1)
        return np.divide(total, n, out=self.map_params(np.zeros_like(stats)), where=n > 0.0)

    def readable(self, params: np.ndarray) -> dict[str, np.ndarray]:
        """The rates."""
        return {"rates": params}

    @property
    def n_params(self) -> int:
        """The rates."""
        return self.shape.shape[0]

    def log_prior_density(self, params: np.ndarray) -> np.ndarray:
        """Gamma rates."""
        with np.errstate(divide="ignore"):
            powers = xlogy(self.shape - 1.0, params)
        columns = self.shape * np.log(self.rate) - gammaln(self.shape) + powers - self.rate * params
        return columns.sum(axis=1)

    def summed_log_likelihood(self, stats: np.ndarray, params: np.ndarray) -> np.ndarray:
        """Poisson columns."""
        n, total, factorials = np.split(stats, 3, axis=1)
        with np.errstate(divide="ignore"):
            return (xlogy(total, params) - n * params - factorials).sum(axis=1)

    def log_likelihood(self, rows: CountRows, params: np.ndarray) -> np.ndarray:
        """Poisson columns; a rate of 0 allows no count but 0."""
        never = params == 0.0
        logs = _poisson_logs(rows, params, np.log(np.where(never, 1.0, params)))
        if never.any():
            logs[np.maximum(rows.x, 0) @ never.T.astype(np.float64) > 0.0] = -np.inf
        return logs

    def log_likelihood_by_column(self, rows: CountRows, params: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        """Poisson terms of independent columns."""
        return independent_terms(np.where(rows.x < 0, np.nan, rows.x), Poisson(params))

    def expected_params(self, stats: np.ndarray) -> ExpectedRate:
        """Expected rates and log rates."""
        shape, rate = self._predictive(stats)
        return ExpectedRate(shape / rate, digamma(shape) - np.log(rate))

    def expected_loglik(self, rows: CountRows, expected: ExpectedRate) -> np.ndarray:
        """x E log rate - E rate - log x! of the observed cells."""
        return _poisson_logs(rows, *expected)

    def prior_divergence(self, stats: np.ndarray) -> np.ndarray:
        """Gamma rates of every column."""
        return gamma_divergence(*self._predictive(stats), self.shape, self.rate).sum(axis=1)

    def simulate(self, rng: np.random.Generator, params: np.ndarray, labels: np.ndarray) -> Cells:
        """Poisson rows."""
        return Cells.of_kind("count", rng.poisson(params[labels]).astype(np.int64))


def _poisson_logs(rows: CountRows, rates: np.ndarray, log_rates: np.ndarray) -> np.ndarray:
    """x log rate - rate - log x! (n, K) summed over the observed cells."""
    observed = rows.x >= 0
    logs = np.where(observed, rows.x, 0).astype(np.float64) @ log_rates.T - observed.astype(np.float64) @ rates.T
    logs -= np.where(observed, rows.log_factorial, 0.0).sum(axis=1)[:, None]
    return logs


@implements(log_predictive, CountState)
def _log_predictive(rows, i, w, state, slot):
    total = 0.0
    for j in range(state.hyper.shape[1]):
        if rows.x[i, j] >= 0:
            total += _log_predictive_cell(rows, i, w, state, slot, j)
    return total


@implements(log_predictive_columns, CountState)
def _log_predictive_columns(rows, i, w, state, slot, start, out):
    for j in range(state.hyper.shape[1]):
        out[start + j] = _log_predictive_cell(rows, i, w, state, slot, j) if rows.x[i, j] >= 0 else 0.0


@inner
def _log_predictive_cell(rows, i, w, state, slot, j):
    """Log predictive of ``w`` copies of one cell."""
    x = rows.x[i, j]
    a = state.hyper[0, j] + state.stats[slot, state.hyper.shape[1] + j]
    if w == 1 or w == -1:
        log_after = state.log_rate[slot, 1 + int(w), j]
    else:
        log_after = np.log(state.hyper[1, j] + state.stats[slot, j] + w)
    rising = log_rising(a, w * x) if w > 0 else -log_rising(a + w * x, -w * x)
    return rising + a * state.log_rate[slot, 1, j] - (a + w * x) * log_after - w * rows.log_factorial[i, j]


@implements(add, CountState)
def _add(rows, i, w, state, slot):
    q = state.hyper.shape[1]
    for j in range(q):
        x = rows.x[i, j]
        if x >= 0:
            state.stats[slot, j] += w
            state.stats[slot, q + j] += w * x
            state.stats[slot, 2 * q + j] += w * rows.log_factorial[i, j]
    refresh(state, slot)


@implements(refresh, CountState)
def _refresh(state, slot):
    for j in range(state.hyper.shape[1]):
        n = state.stats[slot, j]
        b = state.hyper[1, j] + n
        state.log_rate[slot, 0, j] = np.log(b - 1.0) if n >= 1.0 - NO_COPIES else 0.0
        state.log_rate[slot, 1, j] = np.log(b)
        state.log_rate[slot, 2, j] = np.log(b + 1.0)


@implements(log_marginal, CountState)
def _log_marginal(state, slot):
    total = 0.0
    for j in range(state.hyper.shape[1]):
        total += _log_marginal_column(state, slot, j)
    return total


@implements(log_marginal_columns, CountState)
def _log_marginal_columns(state, slot, start, out):
    for j in range(state.hyper.shape[1]):
        out[start + j] = _log_marginal_column(state, slot, j)


@inner
def _log_marginal_column(state, slot, j):
    q = state.hyper.shape[1]
    a0, b0 = state.hyper[0, j], state.hyper[1, j]
    x = state.stats[slot, q + j]
    return (
        math.lgamma(a0 + x)
        - math.lgamma(a0)
        + a0 * np.log(b0)
        - (a0 + x) * state.log_rate[slot, 1, j]
        - state.stats[slot, 2 * q + j]
    )
