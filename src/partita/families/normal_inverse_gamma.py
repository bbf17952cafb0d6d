"""Gaussian clusters with independent columns under a normal-inverse-gamma prior.

    s2 ~ IG(v0/2, b0/2),  mean ~ N(m0, s2/k0)   for every column.

With n observed cells: k = k0 + n, v = v0 + n, m = sum x / k, b = b0 + sum x^2 - k m^2 (cells stored
relative to m0). The predictive of w copies of a cell is

    pi^(-w/2) G((v + w)/2)/G(v/2) (k/(k + w))^(1/2) b^(v/2) (b' + k w/(k + w) (x - m)^2)^(-(v + w)/2),

b' = b + w r, r the rounding of the column (`partita.families.algebra.moments`), 0 where numbers are continuous.
Where every column has the same v the logs of a row's factors are taken in products, for all slots at a time. What
depends on n alone is looked up. A missing cell is left out of density and statistics, which is exact.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
from scipy import stats as distributions
from scipy.special import digamma, gammaln

from partita.families.algebra.distributions import Normal, StudentT
from partita.families.algebra.divergences import gamma_divergence, scaled_normal_divergence
from partita.families.algebra.joining import joined_options, shared_hyperpriors
from partita.families.algebra.moments import (
    ExpectedNormal,
    NumericRows,
    diagonal,
    gaussian_log_likelihood,
    ml_variances,
    moments,
    no_rounding,
    normal_log_likelihood,
    numeric_rows,
    possible_moments,
)
from partita.families.algebra.normal_sharing import NormalColumns
from partita.families.algebra.scales import LearnsScale, PrecisionEvidence, ScaleEvidence
from partita.families.algebra.terms import independent_terms
from partita.families.base import Cells, Conjugate, Shared
from partita.families.normal_inverse_gamma_kernels import GammaState
from partita.families.profiles import ColumnProfile, gaussian_profiles
from partita.priors.hyperpriors import Gamma
from partita.running.cached import cached_property
from partita.table import Table
from partita.table.schema import Kind

LOG_PI = np.log(np.pi)
LOOKED_UP = 65_536  # cells of a slot for which the normaliser is tabulated,
LOOKED_UP_IF_LEARNED = 2_048  # and where it is made anew whenever the mean_precision has moved


class NormalInverseGamma(NormalColumns, LearnsScale, Conjugate):
    """Gaussian rows with independent columns, means and variances summed out."""

    title: ClassVar[str] = "diagonal Gaussian"
    kind: ClassVar[Kind] = "numeric"

    mean_precision: np.ndarray

    def __init__(
        self,
        mean: np.ndarray,
        mean_precision: np.ndarray,
        dof: np.ndarray,
        scale: np.ndarray,
        columns: np.ndarray,
        complete: bool,
        hyperpriors: Mapping[str, Gamma] | None = None,
        rounding: np.ndarray | None = None,
    ):
        self.mean = mean
        self.mean_precision = mean_precision
        self.dof = dof
        self.scale = self.base_scale = scale
        self.multiplier = 1.0
        self.hyperpriors = dict(hyperpriors or {})
        self.columns = columns
        self.complete = complete
        self.rounding = no_rounding(rounding, mean.shape[0])
        self.uniform = complete and np.unique(dof).size <= 1

    @classmethod
    def joined(cls, blocks: Sequence["NormalInverseGamma"]) -> list["NormalInverseGamma"]:
        """One model, column after column."""
        options = joined_options(blocks, "mean", "mean_precision", "dof", "base_scale", "rounding")
        options["scale"] = options.pop("base_scale")
        hyperpriors = shared_hyperpriors(blocks)
        whole = cls(**options, complete=all(block.complete for block in blocks), hyperpriors=hyperpriors)
        return [whole.with_learned(**blocks[0].learned) if hyperpriors else whole]

    def rows(self, table: Table) -> NumericRows:
        """Cells relative to the prior mean."""
        return numeric_rows(table.numeric, self.columns, self.mean)

    def state(self, n_slots: int) -> GammaState:
        """Empty slots."""
        d = self.mean.shape[0]
        return GammaState(
            stats=np.zeros((n_slots, 3 * d)),
            mean=np.zeros((n_slots, d)),
            scale=np.zeros((n_slots, d)),
            stretch=np.zeros((n_slots, 2, d)),
            constant=np.zeros((n_slots, 2, d)),
            total=np.zeros((n_slots, 2)),
            leaving=np.zeros(n_slots, dtype=np.bool_),
            mean_by_column=np.zeros((d, n_slots)),
            stretch_by_column=np.zeros((d, n_slots)),
            scratch=np.zeros(n_slots),
            normaliser=self._normaliser,
            hyper=np.stack([self.mean_precision, self.dof, self.scale, self.rounding]),
            uniform=np.array([self.uniform]),
        )

    @cached_property
    def _normaliser(self) -> np.ndarray:
        """log of G((v + 1)/2)/G(v/2) (k/(k + 1))^(1/2) pi^(-1/2), n = 0, 1, ...; empty where columns differ in it."""
        if np.unique(self.dof).size != 1 or np.unique(self.mean_precision).size != 1:
            return np.empty(0)
        n = np.arange(self._log_gammas.size)
        k = self.mean_precision[0] + n
        return self._log_gammas + 0.5 * np.log(k / (k + 1.0)) - 0.5 * LOG_PI

    @cached_property
    def _log_gammas(self) -> np.ndarray:
        """log of G((v + 1)/2)/G(v/2), n = 0, 1, ...: what no learned number changes."""
        v = self.dof[0] + np.arange(LOOKED_UP_IF_LEARNED if "mean_precision" in self.hyperpriors else LOOKED_UP)
        return gammaln(0.5 * (v + 1.0)) - gammaln(0.5 * v)

    def suffstats(self, rows: NumericRows, resp: np.ndarray) -> np.ndarray:
        """Observed weight, sum and sum of squares of every column."""
        return moments(rows, resp, self.rounding)

    def possible(self, stats: np.ndarray) -> np.ndarray:
        """No negative weight, and squares that have the sums."""
        return possible_moments(stats)

    def _posterior(self, stats: np.ndarray):
        n, total, squares = np.split(stats, 3, axis=-1)
        k, v = self.mean_precision + n, self.dof + n
        mean = total / k
        return n, k, v, mean, self.scale + np.maximum(squares - k * mean**2, 0.0)

    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        """Sum over columns."""
        return self.log_marginal_by_column(stats).sum(axis=1)

    def log_marginal_by_column(self, stats: np.ndarray) -> np.ndarray:
        """Murphy (2007), eq. 171."""
        n, k, v, _, scale = self._posterior(stats)
        return (
            gammaln(0.5 * v)
            - gammaln(0.5 * self.dof)
            + 0.5 * self.dof * np.log(self.scale)
            - 0.5 * v * np.log(scale)
            + 0.5 * np.log(self.mean_precision / k)
            - 0.5 * n * LOG_PI
        )

    def scale_evidence(self, stats: np.ndarray) -> ScaleEvidence:
        """Every cluster's squares around its mean and that of the prior, column by column in units of its scale."""
        n, total, squares = _moments(stats)
        around = np.maximum(squares - total**2 / (self.mean_precision + n), 0.0)
        return ScaleEvidence(float(self.dof.sum()) * stats.shape[0], self.dof + n, around / self.base_scale)

    def precision_evidence(self, stats: np.ndarray) -> PrecisionEvidence:
        """Squared distances of the clusters' means, column by column, in units of scale plus squares around them."""
        n, total, squares = _moments(stats)
        mean = np.divide(total, n, out=np.zeros_like(total), where=n > 0.0)
        spread = self.scale + np.maximum(squares - n * mean**2, 0.0)
        return PrecisionEvidence(1, n, self.dof + n, mean**2 / spread)

    def with_learned(self, **values: float) -> Self:
        """The model at these values, sharing the tables that they leave as they are."""
        if values:
            _ = self._normaliser
        other = super().with_learned(**values)
        if "mean_precision" in values:
            vars(other).pop("_normaliser", None)
        return other

    def log_predictive_by_column(self, rows: NumericRows, stats: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        """Student-t terms of independent columns, of what recorded numbers stand for."""
        _, k, v, mean, scale = self._posterior(stats)
        spread = scale + self.rounding
        lost = -0.5 * v * np.log(spread / scale)
        return independent_terms(rows.x, StudentT(mean, np.sqrt(spread * (k + 1.0) / (k * v)), v), lost)

    def profile(self, stats: np.ndarray, shares: np.ndarray) -> list[ColumnProfile]:
        """Student-t means, inverse-gamma variances."""
        _, k, v, mean, scale = self._posterior(stats)
        return gaussian_profiles(self.mean + mean, k, v, scale, shares)

    def sample_params(self, rng: np.random.Generator, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means (K, d), relative to the prior mean, and standard deviations (K, d)."""
        _, k, v, mean, scale = self._posterior(stats)
        deviation = np.sqrt(0.5 * scale / rng.standard_gamma(0.5 * v))
        return mean + deviation / np.sqrt(k) * rng.standard_normal(mean.shape), deviation

    def map_params(self, stats: np.ndarray, *, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Means and standard deviations; the density is that of mean and variance, with mode m, b / (v + 3)."""
        _, _, v, mean, scale = self._posterior(stats)
        return mean, np.sqrt(scale / (v + 3.0))

    def ml_params(self, stats: np.ndarray, reg_covar: float) -> tuple[np.ndarray, np.ndarray]:
        """Averages and standard deviations of the observed cells."""
        n, total, _ = np.split(stats, 3, axis=1)
        means, modes = self.map_params(np.zeros_like(stats))
        np.divide(total, n, out=means, where=n > 0.0)
        return means, np.where(n > 0.0, np.sqrt(ml_variances(stats, means, reg_covar)), modes)

    def readable(self, params: tuple[np.ndarray, np.ndarray]) -> dict[str, np.ndarray]:
        """Means, and variances on the diagonals."""
        means, deviations = params
        return {"means": self.mean + means, "covariances": diagonal(deviations**2)}

    @property
    def n_params(self) -> int:
        """Means and variances."""
        return 2 * self.mean.shape[0]

    def log_prior_density(self, params: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Inverse-gamma variances, normal means."""
        means, deviations = params
        variances = distributions.invgamma(0.5 * self.dof, scale=0.5 * self.scale).logpdf(deviations**2)
        centers = Normal(np.zeros(1), deviations / np.sqrt(self.mean_precision)).logpdf(means)
        return (variances + centers).sum(axis=1)

    def summed_log_likelihood(self, stats: np.ndarray, params: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Normal columns."""
        means, deviations = params
        return gaussian_log_likelihood(stats, means, deviations**2).sum(axis=1)

    def log_likelihood(self, rows: NumericRows, params: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Normal columns."""
        return normal_log_likelihood(rows.x, *params, self.rounding)

    def log_likelihood_by_column(
        self, rows: NumericRows, params: tuple[np.ndarray, np.ndarray], *, reverse: bool = False
    ) -> np.ndarray:
        """Normal terms of independent columns."""
        return independent_terms(rows.x, Normal(*params), -0.5 * self.rounding / params[1] ** 2)

    def expected_params(self, stats: np.ndarray) -> ExpectedNormal:
        """Columns N(m, b/v) and offsets (digamma(v/2) - log(v/2) - 1/k - r v/b) / 2 of their log densities."""
        _, k, v, mean, scale = self._posterior(stats)
        offset = 0.5 * (digamma(0.5 * v) - np.log(0.5 * v) - 1.0 / k - self.rounding * v / scale)
        return ExpectedNormal(mean, np.sqrt(scale / v), offset)

    def share_out_given(
        self,
        rows: NumericRows,
        row_weights: np.ndarray,
        log_weights: np.ndarray,
        params: tuple[np.ndarray, np.ndarray],
    ) -> Shared:
        """As `share_out`: known parameters are an expectation with no offset but that of rounding."""
        expected = ExpectedNormal(*params, -0.5 * self.rounding / params[1] ** 2)
        return self.share_out(rows, row_weights, log_weights, expected)

    def prior_divergence(self, stats: np.ndarray) -> np.ndarray:
        """Inverse-gamma variances, and normal means given them, in every column."""
        _, k, v, mean, scale = self._posterior(stats)
        variances = gamma_divergence(0.5 * v, 0.5 * scale, 0.5 * self.dof, 0.5 * self.scale)
        means = scaled_normal_divergence(k, self.mean_precision, v / scale * mean**2)
        return (variances + means).sum(axis=1)

    def simulate(self, rng: np.random.Generator, params, labels: np.ndarray) -> Cells:
        """Gaussian rows."""
        means, deviations = params
        n = labels.shape[0]
        x = self.mean + means[labels] + deviations[labels] * rng.standard_normal((n, self.mean.shape[0]))
        return Cells.of_kind("numeric", x)


def _moments(stats: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """n, sum x and sum x^2, each (K, d)."""
    d = stats.shape[1] // 3
    return stats[:, :d], stats[:, d : 2 * d], stats[:, 2 * d :]
