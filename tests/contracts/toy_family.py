"""A whole family in one file: waiting times, x ~ Exponential(rate), rate ~ Gamma(a0, b0) per column.

With n observed cells of sum s the predictive of w copies of a cell is

    G(a + w)/G(a) b^a / (b + w x)^(a + w),   a = a0 + n, b = b0 + s.

b0 can be learned, one number for all columns: its log likelihood is sum_kj a0 log b0 - (a0 + n_kj) log(b0 + s_kj).
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import stats as distributions
from scipy.special import digamma, gammaln

from partita.families.algebra.columns import per_column
from partita.families.algebra.divergences import gamma_divergence
from partita.families.algebra.relevance import relevance
from partita.families.algebra.terms import independent_terms
from partita.families.base import Cells, Conjugate, Family
from partita.families.profiles import ColumnProfile, column_profiles, mean_estimate, median_estimate
from partita.kernels.dispatch import implements
from partita.kernels.names import add, log_marginal, log_predictive, refresh
from partita.priors.hyperpriors import Gamma, newton_on_log, slice_update
from partita.table import Table
from partita.table.schema import Kind


class Waiting(Family, name="waiting"):
    """Independent exponential columns; every cluster's rates are summed out."""

    kind = "numeric"
    standardizes = False

    def __init__(self, *, shape: Any = 1.0, rate: Any = 1.0):
        self.shape = shape
        self.rate = rate

    def on_columns(self, table: Table, columns: np.ndarray) -> Conjugate:
        if (table.numeric[:, columns] < 0.0).any():
            raise ValueError("Waiting times are not negative.")
        hyperprior = self.rate if isinstance(self.rate, Gamma) else None
        rate = per_column("rate", self.rate if hyperprior is None else hyperprior.mean, len(columns))
        return GammaExponential(per_column("shape", self.shape, len(columns)), rate, columns, hyperprior)

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

    def __init__(self, shape: np.ndarray, rate: np.ndarray, columns: np.ndarray, hyperprior: Gamma | None = None):
        self.shape = shape
        self.rate = rate
        self.columns = columns
        self.hyperprior = hyperprior  # of the one rate of all columns, where that is learned

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

    def readable(self, params: np.ndarray) -> dict[str, np.ndarray]:
        return {"hazards": params}

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

    def expected_params(self, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, b = self._posterior(stats)
        return a / b, digamma(a) - np.log(b)

    def expected_loglik(self, rows: WaitingRows, expected: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        observed = ~np.isnan(rows.x)
        return observed @ expected[1].T - np.where(observed, rows.x, 0.0) @ expected[0].T

    def prior_divergence(self, stats: np.ndarray) -> np.ndarray:
        return gamma_divergence(*self._posterior(stats), self.shape, self.rate).sum(axis=1)

    @property
    def learned(self) -> dict[str, float]:
        return {} if self.hyperprior is None else {"rate": float(self.rate[0])}

    def with_learned(self, **values: float) -> "GammaExponential":
        rate = np.full_like(self.rate, values.get("rate", self.rate[0])) if values else self.rate
        return GammaExponential(self.shape, rate, self.columns, self.hyperprior)

    def log_hyperprior(self) -> float:
        return 0.0 if self.hyperprior is None else float(self.hyperprior.log_density_of_log(np.log(self.rate[0])))

    def redrawn(self, rng: np.random.Generator, stats: np.ndarray) -> "GammaExponential":
        if self.hyperprior is None:
            return self

        def log_likelihood(rate: float) -> float:
            return float(self.with_learned(rate=rate).log_marginal(stats).sum())

        return self.with_learned(rate=slice_update(rng, self.hyperprior, log_likelihood, self.rate[0]))

    def relearned(self, stats: np.ndarray) -> "GammaExponential":
        if self.hyperprior is None:
            return self
        n, total = np.split(stats, 2, axis=1)
        hyperprior, a = self.hyperprior, self.shape + n

        def slopes(log_rate: float) -> tuple[float, float, float]:
            share = np.exp(log_rate) / (np.exp(log_rate) + total)
            value = self.with_learned(rate=np.exp(log_rate)).log_marginal(stats).sum()
            first, second = (self.shape - a * share).sum(), -(a * share * (1.0 - share)).sum()
            of_prior = hyperprior.slopes_of_log(log_rate)
            return float(value) + of_prior[0], float(first) + of_prior[1], float(second) + of_prior[2]

        return self.with_learned(rate=newton_on_log(slopes, self.rate[0]))

    def simulate(self, rng: np.random.Generator, params: np.ndarray, labels: np.ndarray) -> Cells:
        x = rng.standard_exponential((labels.shape[0], self.shape.shape[0])) / params[labels]
        return Cells.of_kind("numeric", x)


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
