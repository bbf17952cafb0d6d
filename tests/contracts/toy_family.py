"""A whole family in one file: waiting times, x ~ Exponential(rate), rate ~ Gamma(a0, b0) per column.

With n observed cells of sum s the predictive of w copies of a cell is

    G(a + w)/G(a) b^a / (b + w x)^(a + w),   a = a0 + n, b = b0 + s.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import stats as distributions
from scipy.special import gammaln

from partita.families.base import Cells, Conjugate, Family
from partita.families.columns import per_column, refuse_other_kinds
from partita.families.profiles import ColumnProfile, column_profiles, mean_estimate, median_estimate
from partita.families.relevance import relevance
from partita.families.terms import independent_terms
from partita.kernels.dispatch import implements
from partita.kernels.names import add, log_marginal, log_predictive, refresh
from partita.table import Table
from partita.table.schema import Kind


class Waiting(Family, name="waiting"):
    """Independent exponential columns; every cluster's rates are summed out."""

    def __init__(self, *, shape: Any = 1.0, rate: Any = 1.0):
        self.shape = shape
        self.rate = rate

    def resolve(self, table: Table) -> Conjugate:
        refuse_other_kinds(table, "numeric", "Waiting")
        columns = np.arange(table.numeric.shape[1])
        shape = per_column("shape", self.shape, len(columns))
        return GammaExponential(shape, per_column("rate", self.rate, len(columns)), columns)

    @classmethod
    def examples(cls) -> list[tuple[Family, Table]]:
        x = np.array([[0.2, 1.5], [0.4, np.nan], [3.1, 0.3], [2.2, 0.1], [np.nan, 0.9]])
        return [
            (cls(shape=2.5), Table.read(x, standardize=False)),
            (cls(shape=[3.0], rate=[0.7]), Table.read(x[:4, :1], standardize=False)),
        ]


class WaitingRows(NamedTuple):
    x: np.ndarray  # (n, d), NaN where missing


class WaitingState(NamedTuple):
    stats: np.ndarray  # (slots, 2 d) observed cells and their sum
    log_rate: np.ndarray  # (slots, d) log b
    hyper: np.ndarray  # (2, d) a0, b0


class GammaExponential(Conjugate):
    title: ClassVar[str] = "waiting time"
    kind: ClassVar[Kind] = "numeric"

    def __init__(self, shape: np.ndarray, rate: np.ndarray, columns: np.ndarray):
        self.shape = shape
        self.rate = rate
        self.columns = columns

    def rows(self, table: Table) -> WaitingRows:
        return WaitingRows(np.ascontiguousarray(table.numeric[:, self.columns]))

    def state(self, n_slots: int) -> WaitingState:
        d = self.shape.shape[0]
        hyper = np.stack([self.shape, self.rate])
        return WaitingState(np.zeros((n_slots, 2 * d)), np.zeros((n_slots, d)), hyper)

    def suffstats(self, rows: WaitingRows, resp: np.ndarray) -> np.ndarray:
        observed = ~np.isnan(rows.x)
        return np.hstack([resp.T @ observed.astype(np.float64), resp.T @ np.where(observed, rows.x, 0.0)])

    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        n, total = np.split(stats, 2, axis=1)
        a, b = self.shape + n, self.rate + total
        columns = gammaln(a) - gammaln(self.shape) + self.shape * np.log(self.rate) - a * np.log(b)
        return columns.sum(axis=1)

    def _posterior(self, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n, total = np.split(stats, 2, axis=-1)
        return self.shape + n, self.rate + total

    def log_predictive_by_column(self, rows: WaitingRows, stats: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        a, b = self._posterior(stats)
        return independent_terms(rows.x, distributions.lomax(a, scale=b))

    def profile(self, stats: np.ndarray, shares: np.ndarray) -> list[ColumnProfile]:
        a, b = self._posterior(stats)
        mean = distributions.invgamma(a, scale=b)  # of a waiting time, and its standard deviation too
        return column_profiles(
            mean=mean_estimate(mean, b / (a - 1.0)),
            sd=median_estimate(mean),
            relevance=relevance(distributions.lomax(a, scale=b), shares),
        )

    def sample_params(self, rng: np.random.Generator, stats: np.ndarray) -> np.ndarray:
        a, b = self._posterior(stats)
        return rng.standard_gamma(a) / b

    def map_params(self, stats: np.ndarray, *, least: float = 0.0) -> np.ndarray:
        a, b = self._posterior(stats)
        return np.maximum((a - 1.0) / b, np.where(self.shape < 1.0, least, 0.0))

    def ml_params(self, stats: np.ndarray, reg_covar: float) -> np.ndarray:
        n, total = np.split(stats, 2, axis=1)
        return np.divide(n, total, out=self.map_params(np.zeros_like(stats)), where=total > 0.0)

    @property
    def n_params(self) -> int:
        return self.shape.shape[0]

    def log_prior_density(self, params: np.ndarray) -> np.ndarray:
        return distributions.gamma(self.shape, scale=1.0 / self.rate).logpdf(params).sum(axis=1)

    def summed_log_likelihood(self, stats: np.ndarray, params: np.ndarray) -> np.ndarray:
        n, total = np.split(stats, 2, axis=1)
        return (n * np.log(params) - total * params).sum(axis=1)

    def log_likelihood_by_column(self, rows: WaitingRows, params: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        return independent_terms(rows.x, distributions.expon(scale=1.0 / params))

    def simulate(self, rng: np.random.Generator, params: np.ndarray, labels: np.ndarray) -> Cells:
        n = labels.shape[0]
        x = rng.standard_exponential((n, self.shape.shape[0])) / params[labels]
        return Cells(x, np.empty((n, 0), np.int32), np.empty((n, 0), np.int64))


@implements(log_predictive, WaitingState)
def _log_predictive(rows, i, w, state, slot):
    d = state.hyper.shape[1]
    total = 0.0
    for j in range(d):
        x = rows.x[i, j]
        if not np.isnan(x):
            a, b = state.hyper[0, j] + state.stats[slot, j], state.hyper[1, j] + state.stats[slot, d + j]
            gamma = math.lgamma(a + w) - math.lgamma(a)
            total += gamma + a * state.log_rate[slot, j] - (a + w) * np.log(b + w * x)
    return total


@implements(add, WaitingState)
def _add(rows, i, w, state, slot):
    d = state.hyper.shape[1]
    for j in range(d):
        x = rows.x[i, j]
        if not np.isnan(x):
            state.stats[slot, j] += w
            state.stats[slot, d + j] += w * x
    refresh(state, slot)


@implements(refresh, WaitingState)
def _refresh(state, slot):
    d = state.hyper.shape[1]
    for j in range(d):
        state.log_rate[slot, j] = np.log(state.hyper[1, j] + state.stats[slot, d + j])


@implements(log_marginal, WaitingState)
def _log_marginal(state, slot):
    total = 0.0
    for j in range(state.hyper.shape[1]):
        a0, n = state.hyper[0, j], state.stats[slot, j]
        total += math.lgamma(a0 + n) - math.lgamma(a0) + a0 * np.log(state.hyper[1, j])
        total -= (a0 + n) * state.log_rate[slot, j]
    return total
