"""Gaussian clusters whose columns have a known variance: x ~ N(mu, s2), mu ~ N(m0, t2).

With n observed cells the mean's posterior precision is P = 1/t2 + n/s2 and its mean m = sum x / (s2 P)
(cells stored relative to m0). The predictive of w copies of a cell, with P' = P + w/s2, is

    (2 pi s2)^(-w/2) (P/P')^(1/2) exp(-(P w / (2 s2 P')) (x - m)^2 - w r / (2 s2)),

r the rounding of the column (`partita.families.algebra.moments`).
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import stats as distributions

from partita.families.algebra.distributions import Normal
from partita.families.algebra.divergences import scaled_normal_divergence
from partita.families.algebra.joining import joined_options
from partita.families.algebra.moments import (
    ExpectedNormal,
    NumericRows,
    add_moments,
    diagonal,
    gaussian_log_likelihood,
    moments,
    no_rounding,
    normal_log_likelihood,
    numeric_rows,
    possible_moments,
)
from partita.families.algebra.normal_sharing import NormalColumns
from partita.families.algebra.relevance import relevance
from partita.families.algebra.terms import independent_terms
from partita.families.base import Cells, Conjugate
from partita.families.profiles import ColumnProfile, IntervalEstimate, column_profiles, mean_estimate
from partita.kernels.algebra import NO_COPIES, copies_left
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

LOG_2PI = np.log(2.0 * np.pi)


class KnownVarianceState(NamedTuple):
    """Statistics [n, sum, sum of squares] per slot and column, posterior precision and mean."""

    stats: np.ndarray  # (slots, 3 d)
    mean: np.ndarray  # (slots, d)
    precision: np.ndarray  # (slots, d) P
    constant: np.ndarray  # (slots, 2, d) constant of the log predictive for w = 1, -1
    slope: np.ndarray  # (slots, 2, d) factor of (x - m)^2 in it
    hyper: np.ndarray  # (3, d) 1/s2, 1/t2, r


class NormalKnownVariance(NormalColumns, Conjugate):
    """Gaussian rows with independent columns of known variance, means summed out."""

    title: ClassVar[str] = "known-variance Gaussian"
    kind: ClassVar[Kind] = "numeric"

    def __init__(
        self,
        mean: np.ndarray,
        variance: np.ndarray,
        mean_variance: np.ndarray,
        columns: np.ndarray,
        rounding: np.ndarray | None = None,
    ):
        self.mean = mean
        self.variance = variance
        self.mean_variance = mean_variance
        self.columns = columns
        self.rounding = no_rounding(rounding, mean.shape[0])

    @classmethod
    def joined(cls, blocks: Sequence["NormalKnownVariance"]) -> list["NormalKnownVariance"]:
        """One model, column after column."""
        return [cls(**joined_options(blocks, "mean", "variance", "mean_variance", "rounding"))]

    def rows(self, table: Table) -> NumericRows:
        """Cells relative to the prior mean."""
        return numeric_rows(table.numeric, self.columns, self.mean)

    def state(self, n_slots: int) -> KnownVarianceState:
        """Empty slots."""
        d = self.mean.shape[0]
        return KnownVarianceState(
            stats=np.zeros((n_slots, 3 * d)),
            mean=np.zeros((n_slots, d)),
            precision=np.zeros((n_slots, d)),
            constant=np.zeros((n_slots, 2, d)),
            slope=np.zeros((n_slots, 2, d)),
            hyper=np.stack([1.0 / self.variance, 1.0 / self.mean_variance, self.rounding]),
        )

    def suffstats(self, rows: NumericRows, resp: np.ndarray) -> np.ndarray:
        """Observed weight, sum and sum of squares of every column."""
        return moments(rows, resp, self.rounding)

    def possible(self, stats: np.ndarray) -> np.ndarray:
        """No negative weight, and squares that have the sums."""
        return possible_moments(stats)

    def _posterior(self, stats: np.ndarray):
        n, total, squares = np.split(stats, 3, axis=-1)
        precision = 1.0 / self.mean_variance + n / self.variance
        return n, squares, precision, total / self.variance / precision

    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        """Sum over columns."""
        return self.log_marginal_by_column(stats).sum(axis=1)

    def log_marginal_by_column(self, stats: np.ndarray) -> np.ndarray:
        """Murphy (2007), eq. 55."""
        n, squares, precision, mean = self._posterior(stats)
        return (
            -0.5 * n * (LOG_2PI + np.log(self.variance))
            - 0.5 * np.log(precision * self.mean_variance)
            - 0.5 * (squares / self.variance - precision * mean**2)
        )

    def log_predictive_by_column(self, rows: NumericRows, stats: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        """Normal terms of independent columns."""
        return independent_terms(rows.x, self._predictive(stats), -0.5 * self.rounding / self.variance)

    def profile(self, stats: np.ndarray, shares: np.ndarray) -> list[ColumnProfile]:
        """Normal means; the standard deviation is known."""
        _, _, precision, mean = self._posterior(stats)
        center = self.mean + mean
        known = np.broadcast_to(np.sqrt(self.variance), center.shape[1:])
        return column_profiles(
            mean=mean_estimate(distributions.norm(center, 1.0 / np.sqrt(precision)), center),
            sd=IntervalEstimate(known, known, known),
            relevance=relevance(self._predictive(stats), shares),
        )

    def _predictive(self, stats: np.ndarray) -> Normal:
        _, _, precision, mean = self._posterior(stats)
        return Normal(mean, np.sqrt(self.variance + 1.0 / precision))

    def sample_params(self, rng: np.random.Generator, stats: np.ndarray) -> np.ndarray:
        """Means (K, d), relative to the prior mean."""
        _, _, precision, mean = self._posterior(stats)
        return mean + rng.standard_normal(mean.shape) / np.sqrt(precision)

    def map_params(self, stats: np.ndarray, *, least: float = 0.0) -> np.ndarray:
        """Means (K, d), relative to the prior mean."""
        return self._posterior(stats)[3]

    def ml_params(self, stats: np.ndarray, reg_covar: float) -> np.ndarray:
        """Averages of the observed cells."""
        n, total, _ = np.split(stats, 3, axis=1)
        return np.divide(total, n, out=self.map_params(np.zeros_like(stats)), where=n > 0.0)

    def readable(self, params: np.ndarray) -> dict[str, np.ndarray]:
        """Means, and the known variances on the diagonals."""
        return {"means": self.mean + params, "covariances": diagonal(np.broadcast_to(self.variance, params.shape))}

    @property
    def n_params(self) -> int:
        """The means."""
        return self.mean.shape[0]

    def log_prior_density(self, params: np.ndarray) -> np.ndarray:
        """Normal means."""
        return Normal(np.zeros(1), np.sqrt(self.mean_variance)).logpdf(params).sum(axis=1)

    def summed_log_likelihood(self, stats: np.ndarray, params: np.ndarray) -> np.ndarray:
        """Normal columns."""
        return gaussian_log_likelihood(stats, params, self.variance).sum(axis=1)

    def log_likelihood(self, rows: NumericRows, params: np.ndarray) -> np.ndarray:
        """Normal columns."""
        return normal_log_likelihood(rows.x, params, self._deviations(params), self.rounding)

    def log_likelihood_by_column(self, rows: NumericRows, params: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        """Normal terms of independent columns."""
        lost = -0.5 * self.rounding / self.variance
        return independent_terms(rows.x, Normal(params, self._deviations(params)), lost)

    def _deviations(self, params: np.ndarray) -> np.ndarray:
        return np.broadcast_to(np.sqrt(self.variance), params.shape)

    def expected_params(self, stats: np.ndarray) -> ExpectedNormal:
        """Columns N(m, s2) and offsets -(1 / P + r) / (2 s2) of their log densities."""
        _, _, precision, mean = self._posterior(stats)
        offset = -0.5 / (self.variance * precision) - 0.5 * self.rounding / self.variance
        return ExpectedNormal(mean, self._deviations(mean), offset)

    def prior_divergence(self, stats: np.ndarray) -> np.ndarray:
        """Normal means of every column."""
        _, _, precision, mean = self._posterior(stats)
        return scaled_normal_divergence(precision, 1.0 / self.mean_variance, mean**2).sum(axis=1)

    def simulate(self, rng: np.random.Generator, params: np.ndarray, labels: np.ndarray) -> Cells:
        """Gaussian rows."""
        n = labels.shape[0]
        noise = rng.standard_normal((n, self.mean.shape[0]))
        x = self.mean + params[labels] + np.sqrt(self.variance) * noise
        return Cells.of_kind("numeric", x)


@implements(log_predictive, KnownVarianceState)
def _log_predictive(rows, i, w, state, slot):
    total = 0.0
    for j in range(state.mean.shape[1]):
        if not np.isnan(rows.x[i, j]):
            total += _log_predictive_cell(rows.x[i, j], w, state, slot, j)
    return total


@implements(log_predictive_columns, KnownVarianceState)
def _log_predictive_columns(rows, i, w, state, slot, start, out):
    for j in range(state.mean.shape[1]):
        missing = np.isnan(rows.x[i, j])
        out[start + j] = 0.0 if missing else _log_predictive_cell(rows.x[i, j], w, state, slot, j)


@inner
def _log_predictive_cell(x, w, state, slot, j):
    """Log predictive of ``w`` copies of one cell."""
    z = x - state.mean[slot, j]
    if w == 1 or w == -1:
        side = 0 if w == 1 else 1
        constant, slope = state.constant[slot, side, j], state.slope[slot, side, j]
    else:
        constant, slope = _constant(state, slot, j, w)
    return constant - slope * z * z


@inner
def _constant(state, slot, j, w):
    """What does not depend on the cell in its log predictive, and the factor of (x - m)^2."""
    known, before = state.hyper[0, j], state.precision[slot, j]
    after = state.hyper[1, j] + copies_left(state.stats[slot, j], w) * known  # never 0, however weak the prior
    constant = -0.5 * w * (LOG_2PI - np.log(known) + state.hyper[2, j] * known) + 0.5 * np.log(before / after)
    return constant, 0.5 * before * w * known / after


@implements(add, KnownVarianceState)
def _add(rows, i, w, state, slot):
    add_moments(state.stats[slot], rows.x[i], w, state.hyper[2])
    refresh(state, slot)


@implements(refresh, KnownVarianceState)
def _refresh(state, slot):
    d = state.mean.shape[1]
    for j in range(d):
        known, n = state.hyper[0, j], state.stats[slot, j]
        state.precision[slot, j] = state.hyper[1, j] + n * known
        state.mean[slot, j] = state.stats[slot, d + j] * known / state.precision[slot, j]
        state.constant[slot, 0, j], state.slope[slot, 0, j] = _constant(state, slot, j, 1)
        if n >= 1.0 - NO_COPIES:
            state.constant[slot, 1, j], state.slope[slot, 1, j] = _constant(state, slot, j, -1)


@implements(log_marginal, KnownVarianceState)
def _log_marginal(state, slot):
    total = 0.0
    for j in range(state.mean.shape[1]):
        total += _log_marginal_column(state, slot, j)
    return total


@implements(log_marginal_columns, KnownVarianceState)
def _log_marginal_columns(state, slot, start, out):
    for j in range(state.mean.shape[1]):
        out[start + j] = _log_marginal_column(state, slot, j)


@inner
def _log_marginal_column(state, slot, j):
    n, squares = state.stats[slot, j], state.stats[slot, 2 * state.mean.shape[1] + j]
    known, precision, m = state.hyper[0, j], state.precision[slot, j], state.mean[slot, j]
    return (
        -0.5 * n * (LOG_2PI - np.log(known))
        + 0.5 * np.log(state.hyper[1, j] / precision)
        - 0.5 * (squares * known - precision * m * m)
    )
