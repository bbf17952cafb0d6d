"""Gaussian clusters with full covariance under a normal-inverse-Wishart prior.

    mean ~ N(m0, Sigma / k0),  Sigma ~ IW(v0, S0),  E[Sigma] = S0 / (v0 - d - 1).

With n rows of mean x and scatter: k = k0 + n, v = v0 + n, m = (k0 m0 + n x) / k and
S = S0 + sum xx' + k0 m0 m0' - k m m'; cells are stored relative to m0, so m0 = 0 below. The predictive of w copies
of a row, with q = (x - m)' S^-1 (x - m) from a cached inverse Cholesky factor F (F'F = S^-1), is

    pi^(-wd/2) G_d((v + w)/2)/G_d(v/2) (k/(k + w))^(d/2) |S|^(-w/2) (1 + k w/(k + w) q)^(-(v + w)/2)

(Murphy 2007, eq. 266). The same with w < 0 takes copies out, so a row's own cluster needs no downdate.

Numbers recorded in steps (`partita.families.algebra.moments`) add their rounding r to the diagonal of xx', R = diag(r).
With S' = S + w R the predictive has |S|^(v/2) |S'|^(-(v + w)/2) in place of |S|^(-w/2), and q from S'. A missing cell
was not recorded and adds nothing.

Missing cells are drawn in one block with the row's label: the label from the Student-t of the
observed cells, then the cells given label and observed cells.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import stats as distributions
from scipy.special import multigammaln

from partita.families.algebra.divergences import (
    log_multigamma,
    multidigamma,
    scaled_normal_divergence,
    wishart_divergence,
)
from partita.families.algebra.factors import covariance_factors, factors_of_sum, inverse_of_lower
from partita.families.algebra.moments import no_rounding
from partita.families.algebra.multivariate_normal import expected_moments, normal_log_densities, normal_terms
from partita.families.algebra.normal_sharing import new_scratch, share_out_gaussian
from partita.families.algebra.scales import LearnsScale, PrecisionEvidence, ScaleEvidence
from partita.families.algebra.terms import student_terms
from partita.families.base import ROUNDING, Cells, Conjugate, Shared
from partita.families.normal_inverse_wishart_kernels import WishartRows, WishartState
from partita.families.profiles import ColumnProfile, gaussian_profiles
from partita.priors.hyperpriors import Gamma
from partita.running.cached import cached_property
from partita.table import Table
from partita.table.schema import Kind

LOG_2 = np.log(2.0)
LOG_PI = np.log(np.pi)
LOG_2PI = LOG_2 + LOG_PI


class ExpectedGaussian(NamedTuple):
    """Rows that expect exp(offset) N(x; mean, L L') of a Gaussian cluster."""

    mean: np.ndarray  # (K, d)
    factor: np.ndarray  # (K, d, d) lower triangular L
    offset: np.ndarray  # (K,)
    lost: np.ndarray  # (K, d) to the rounding of a column's observed cell, and at most 0


class NormalInverseWishart(LearnsScale, Conjugate):
    """Gaussian rows with a full covariance matrix, mean and covariance summed out."""

    title: ClassVar[str] = "full-covariance Gaussian"
    kind: ClassVar[Kind] = "numeric"

    mean_precision: float

    def __init__(
        self,
        mean: np.ndarray,
        mean_precision: float,
        dof: float,
        scale: np.ndarray,
        columns: np.ndarray,
        hyperpriors: Mapping[str, Gamma] | None = None,
        rounding: np.ndarray | None = None,
    ):
        self.mean = mean
        self.mean_precision = mean_precision
        self.dof = dof
        self.scale = self.base_scale = scale
        self.multiplier = 1.0
        self.columns = columns  # positions among the table's numeric columns
        self.hyperpriors = dict(hyperpriors or {})
        self.rounding = no_rounding(rounding, mean.shape[0])

    @classmethod
    def joined(cls, blocks: Sequence["NormalInverseWishart"]) -> list["NormalInverseWishart"]:
        """The only one, since one covariance is over all its columns; or one of no columns."""
        nothing = np.empty(0)
        return list(blocks) or [cls(nothing, 1.0, 1.0, np.empty((0, 0)), nothing.astype(np.int64))]

    @property
    def columns_are_independent(self) -> bool:
        """Only where there is but one."""
        return self.columns.size <= 1

    def rows(self, table: Table) -> WishartRows:
        """Cells relative to the prior mean; a missing cell starts at the prior mean."""
        x = np.ascontiguousarray(table.numeric[:, self.columns]) - self.mean
        missing = np.isnan(x)
        return WishartRows(np.where(missing, 0.0, x), missing, missing.any(axis=1))

    def state(self, n_slots: int) -> WishartState:
        """Empty slots: their statistics are zero and their caches those of the prior."""
        d = self.mean.shape[0]
        log_det = np.linalg.slogdet(self.scale)[1] if d else 0.0
        n_recorded = n_slots if self.rounding.any() else 0
        return WishartState(
            stats=np.zeros((n_slots, 1 + d + d * d if d else 0)),
            mean=np.zeros((n_slots, d)),
            factor=np.zeros((n_slots, d, d)),
            log_det=np.zeros(n_slots),
            log_det_next=np.zeros(n_slots),
            constant=np.zeros((n_slots, 2)),
            hyper=np.array([self.mean_precision, self.dof, log_det]),
            scale=np.array(self.scale, order="C"),
            rounding=np.array(self.rounding),
            other_weight=np.zeros(n_recorded),
            other_log_det=np.zeros(n_recorded),
            other_factor=np.zeros((n_recorded, d, d)),
            work=np.zeros((3, d)),
            matrix=np.zeros((d, d)),
        )

    def draws_cells(self, rows: WishartRows) -> bool:
        """Missing cells of a full covariance have no exact marginal likelihood."""
        return bool(rows.gaps.any())

    def suffstats(self, rows: WishartRows, resp: np.ndarray) -> np.ndarray:
        """n, sum x and sum xx' per cluster, of the completed rows."""
        x = rows.x
        if x.shape[1] == 0:
            return np.zeros((resp.shape[1], 0))
        second = np.stack([(x.T * r) @ x for r in resp.T]).reshape(resp.shape[1], -1)
        return self._recorded(np.hstack([resp.sum(axis=0)[:, None], resp.T @ x, second]), rows, resp)

    def _recorded(self, stats: np.ndarray, rows: WishartRows, resp: np.ndarray) -> np.ndarray:
        """Statistics (K, S) with the rounding of the rows' observed cells added, in place."""
        if self.rounding.any():
            d = self.mean.shape[0]
            stats[:, 1 + d :: d + 1] += (resp.T @ (~rows.missing).astype(np.float64)) * self.rounding
        return stats

    def expected_suffstats(
        self, rows: WishartRows, resp: np.ndarray, params: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray:
        """Missing cells at their conditional means, and their conditional covariance added to sum xx'."""
        if not rows.gaps.any():
            return self.suffstats(rows, resp)
        whole = ~rows.gaps
        stats = self.suffstats(WishartRows(rows.x[whole], rows.missing[whole], rows.gaps[whole]), resp[whole])
        shares = resp[rows.gaps]
        gappy = WishartRows(rows.x[rows.gaps], rows.missing[rows.gaps], rows.gaps[rows.gaps])
        first, second = expected_moments(gappy.x, gappy.missing, shares, *params)
        completed = np.hstack([shares.sum(axis=0)[:, None], first, second.reshape(first.shape[0], -1)])
        return stats + self._recorded(completed, gappy, shares)

    def _moments(self, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """n (...), sum x (..., d) and sum xx' (..., d, d)."""
        d = self.mean.shape[0]
        return stats[..., 0], stats[..., 1 : 1 + d], stats[..., 1 + d :].reshape(*stats.shape[:-1], d, d)

    def _posterior(self, stats: np.ndarray):
        n, total, second = self._moments(stats)
        k = self.mean_precision + n
        mean = total / k[..., None]
        return n, k, self.dof + n, mean, self.scale + _scatter(k, mean, second)

    def possible(self, stats: np.ndarray) -> np.ndarray:
        """No negative weight, and a scatter without negative eigenvalues."""
        finite = np.isfinite(stats).all(axis=-1)
        if self.mean.shape[0] == 0:
            return finite
        n, _, _, _, scale = self._posterior(np.where(finite[..., None], stats, 0.0))
        spread = np.linalg.eigvalsh(scale)
        return finite & (n >= -ROUNDING) & (spread[..., 0] >= -ROUNDING * spread[..., -1])

    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        """Murphy (2007), eq. 266."""
        d = self.mean.shape[0]
        n, k, v, _, scale = self._posterior(stats)
        return (
            -0.5 * n * d * LOG_PI
            + log_multigamma(0.5 * v, d)
            - multigammaln(0.5 * self.dof, d)
            + 0.5 * self.dof * np.linalg.slogdet(self.scale)[1]
            - 0.5 * v * np.linalg.slogdet(scale)[1]
            + 0.5 * d * np.log(self.mean_precision / k)
        )

    @cached_property
    def _white(self) -> np.ndarray:
        """F with F S0 F' = 1, S0 the scale before it is multiplied."""
        return inverse_of_lower(np.linalg.cholesky(self.base_scale)[None])[0]

    def scale_evidence(self, stats: np.ndarray) -> ScaleEvidence:
        """Eigenvalues of every cluster's scatter in units of S0."""
        n, total, second = self._moments(stats)
        k = self.mean_precision + n
        scatter = self._white @ _scatter(k, total / k[:, None], second) @ self._white.T
        ratios = np.maximum(np.linalg.eigvalsh(scatter), 0.0)
        return ScaleEvidence(self.dof * ratios.size, np.repeat(self.dof + n, self.mean.size), ratios)

    def precision_evidence(self, stats: np.ndarray) -> PrecisionEvidence:
        """Mahalanobis distances of the clusters' means, in units of the scale plus their scatter."""
        n, total, second = self._moments(stats)
        mean = np.divide(total, n[:, None], out=np.zeros_like(total), where=n[:, None] > 0.0)
        spread = self.scale + _scatter(n, mean, second)
        distances = np.einsum("kj,kj->k", mean, np.linalg.solve(spread, mean[..., None])[..., 0])
        return PrecisionEvidence(self.mean.size, n, self.dof + n, np.maximum(distances, 0.0))

    def log_predictive_by_column(self, rows: WishartRows, stats: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        """Student-t terms, each given the observed cells before it or, in reverse, behind it."""
        _, k, v, mean, scale = self._posterior(stats)
        return student_terms(
            rows.x, rows.missing, mean, k, self._column_dof(v), scale, rounding=self.rounding, reverse=reverse
        )

    def profile(self, stats: np.ndarray, shares: np.ndarray) -> list[ColumnProfile]:
        """Margins of mean and covariance: column j is a diagonal model with dof v - d + 1 and scale S_jj."""
        _, k, v, mean, scale = self._posterior(stats)
        dof, variances = self._column_dof(v)[..., None], np.einsum("...jj->...j", scale)
        return gaussian_profiles(self.mean + mean, k[..., None], dof, variances, shares)

    def _column_dof(self, v: np.ndarray) -> np.ndarray:
        return v - self.mean.shape[0] + 1.0

    def sample_params(self, rng: np.random.Generator, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means (K, d), relative to the prior mean, and lower Cholesky factors of the covariances."""
        d = self.mean.shape[0]
        _, k, v, mean, scale = self._posterior(stats)
        means, factors = np.empty_like(mean), np.empty((stats.shape[0], d, d))
        for c in range(stats.shape[0]):
            covariance = distributions.invwishart(v[c], scale[c]).rvs(random_state=rng)
            factors[c] = np.linalg.cholesky(np.reshape(covariance, (d, d)))
            means[c] = mean[c] + factors[c] @ rng.standard_normal(d) / np.sqrt(k[c])
        return means, factors

    def map_params(self, stats: np.ndarray, *, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Means and Cholesky factors; the density is that of mean and covariance, with mode m, S / (v + d + 2)."""
        _, v, mean, factors = self._factored(stats)
        return mean, factors / np.sqrt(v + self.mean.shape[0] + 2.0)[:, None, None]

    def _factored(self, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """k, v, m and the lower Cholesky factors of S, however sums were rounded."""
        _, k, v, mean, _ = self._posterior(stats)
        scatter = _scatter(k, mean, self._moments(stats)[2])
        return k, v, mean, factors_of_sum(scatter, np.linalg.cholesky(self.scale))

    def ml_params(self, stats: np.ndarray, reg_covar: float) -> tuple[np.ndarray, np.ndarray]:
        """Means and Cholesky factors of sum xx' / n - m m' + reg_covar I."""
        means, factors = self.map_params(np.zeros_like(stats))
        taught = stats[:, 0] > 0.0
        n, total, second = self._moments(stats[taught])
        means[taught] = total / n[:, None]
        factors[taught] = covariance_factors(n, means[taught], second, reg_covar)
        return means, factors

    def readable(self, params: tuple[np.ndarray, np.ndarray]) -> dict[str, np.ndarray]:
        """Means and covariances."""
        means, factors = params
        return {"means": self.mean + means, "covariances": factors @ np.swapaxes(factors, 1, 2)}

    @property
    def n_params(self) -> int:
        """Means and the covariances' lower triangles."""
        d = self.mean.shape[0]
        return d + d * (d + 1) // 2

    def log_prior_density(self, params: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Inverse-Wishart covariances, normal means."""
        means, factors = params
        d, v0 = self.mean.shape[0], self.dof
        log_det, inverse = _log_det_and_inverse(factors)
        wishart = (
            0.5 * v0 * np.linalg.slogdet(self.scale)[1]
            - 0.5 * v0 * d * LOG_2
            - multigammaln(0.5 * v0, d)
            - 0.5 * (v0 + d + 1.0) * log_det
            - 0.5 * np.einsum("kij,ji->k", inverse, self.scale)
        )
        distance = np.einsum("ki,kij,kj->k", means, inverse, means)
        normal = d * (LOG_2PI - np.log(self.mean_precision)) + log_det + self.mean_precision * distance
        return wishart - 0.5 * normal

    def summed_log_likelihood(self, stats: np.ndarray, params: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Normal rows; missing cells as completed in the statistics."""
        means, factors = params
        n, total, second = self._moments(stats)
        cross = means[:, :, None] * total[:, None, :]
        spread = second - cross - np.swapaxes(cross, 1, 2) + n[:, None, None] * means[:, :, None] * means[:, None, :]
        log_det, inverse = _log_det_and_inverse(factors)
        return -0.5 * n * (means.shape[1] * LOG_2PI + log_det) - 0.5 * np.einsum("kij,kji->k", inverse, spread)

    def log_likelihood(self, rows: WishartRows, params: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Normal margins of the observed cells."""
        return normal_log_densities(rows.x, rows.missing, *params) + self._lost_by_rows(rows, self._lost(params[1]))

    def _lost(self, factors: np.ndarray) -> np.ndarray:
        """What a column's observed cell loses to its rounding (K, d): - r_j (Sigma^-1)_jj / 2, Sigma = L L'."""
        roots = inverse_of_lower(factors)
        return -0.5 * self.rounding * np.einsum("kij,kij->kj", roots, roots)

    def _lost_by_rows(self, rows: WishartRows, lost: np.ndarray) -> np.ndarray | float:
        """That of every row's observed cells (n, K)."""
        return (~rows.missing).astype(np.float64) @ lost.T if self.rounding.any() else 0.0

    def log_likelihood_by_column(
        self, rows: WishartRows, params: tuple[np.ndarray, np.ndarray], *, reverse: bool = False
    ) -> np.ndarray:
        """Normal terms, each given the observed cells before it or, in reverse, behind it."""
        terms = normal_terms(rows.x, rows.missing, *params, reverse=reverse)
        return terms + ~rows.missing[:, None] * self._lost(params[1])

    def expected_params(self, stats: np.ndarray) -> ExpectedGaussian:
        """N(m, S/v) and offsets (digamma_d(v/2) - d log(v/2) - d/k) / 2 of log densities; Bishop (2006), eq. 10.64."""
        k, v, mean, factors = self._factored(stats)
        d = self.mean.shape[0]
        offset = 0.5 * (multidigamma(0.5 * v, d) - d * np.log(0.5 * v) - d / k)
        factors = factors / np.sqrt(v)[:, None, None]
        return ExpectedGaussian(mean, factors, offset, self._lost(factors))

    def expected_loglik(self, rows: WishartRows, expected: ExpectedGaussian) -> np.ndarray:
        """Expected log densities, missing cells integrated out of their exponentials."""
        logs = normal_log_densities(rows.x, rows.missing, expected.mean, expected.factor) + expected.offset
        return logs + self._lost_by_rows(rows, expected.lost)

    def variational_suffstats(self, rows: WishartRows, resp: np.ndarray, expected: ExpectedGaussian) -> np.ndarray:
        """Missing cells have the conditional distribution of N(m, S/v)."""
        return self.expected_suffstats(rows, resp, (expected.mean, expected.factor))

    def share_out(
        self, rows: WishartRows, row_weights: np.ndarray, log_weights: np.ndarray, expected: ExpectedGaussian
    ) -> Shared:
        """As every family; rows without a missing cell in one compiled loop."""
        whole = self._share_out_whole(rows, np.where(rows.gaps, 0.0, row_weights), log_weights, expected)
        if not rows.gaps.any():
            return whole
        others = WishartRows(rows.x[rows.gaps], rows.missing[rows.gaps], rows.gaps[rows.gaps])
        rest = super().share_out(others, row_weights[rows.gaps], log_weights, expected)
        return Shared(whole.log_total + rest.log_total, whole.sizes + rest.sizes, whole.stats + rest.stats)

    def share_out_given(
        self,
        rows: WishartRows,
        row_weights: np.ndarray,
        log_weights: np.ndarray,
        params: tuple[np.ndarray, np.ndarray],
    ) -> Shared:
        """As `share_out`: known parameters are an expectation without an offset."""
        expected = ExpectedGaussian(*params, np.zeros(log_weights.shape[0]), self._lost(params[1]))
        return self.share_out(rows, row_weights, log_weights, expected)

    def _share_out_whole(
        self, rows: WishartRows, row_weights: np.ndarray, log_weights: np.ndarray, expected: ExpectedGaussian
    ) -> Shared:
        n_clusters, d = expected.mean.shape
        root = inverse_of_lower(expected.factor)
        log_root = np.log(np.einsum("kjj->kj", root)).sum(axis=1)
        sizes, stats = np.zeros(n_clusters), np.zeros((n_clusters, 1 + d + d * d))
        log_total = share_out_gaussian(
            rows.x,
            row_weights,
            log_weights + expected.offset + expected.lost.sum(axis=1) + log_root - 0.5 * d * LOG_2PI,
            np.ascontiguousarray(expected.mean.T),
            np.ascontiguousarray(np.moveaxis(root, 0, 2)),
            new_scratch(d, n_clusters),
            sizes,
            stats,
        )
        stats[:, 1 + d :: d + 1] += sizes[:, None] * self.rounding
        return Shared(log_total, sizes, stats)

    def prior_divergence(self, stats: np.ndarray) -> np.ndarray:
        """Inverse-Wishart covariances, and normal means given them."""
        k, v, mean, factors = self._factored(stats)
        d = self.mean.shape[0]
        log_det, inverse = _log_det_and_inverse(factors)
        ratio = np.einsum("kij,ji->k", inverse, self.scale)
        covariances = wishart_divergence(v, log_det, ratio, self.dof, np.linalg.slogdet(self.scale)[1], d)
        distance = v / d * np.einsum("ki,kij,kj->k", mean, inverse, mean)
        return covariances + d * scaled_normal_divergence(k, self.mean_precision, distance)

    def simulate(self, rng: np.random.Generator, params, labels: np.ndarray) -> Cells:
        """Gaussian rows."""
        means, factors = params
        noise = rng.standard_normal((labels.shape[0], self.mean.shape[0]))
        x = self.mean + means[labels] + np.einsum("nij,nj->ni", factors[labels], noise)
        return Cells.of_kind("numeric", x)


def _scatter(k: np.ndarray, mean: np.ndarray, second: np.ndarray) -> np.ndarray:
    """sum xx' - k m m' (..., d, d): the rows' scatter and their mean's distance from that of the prior."""
    return second - k[..., None, None] * mean[..., :, None] * mean[..., None, :]


def _log_det_and_inverse(factors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log |Sigma| (K,) and Sigma^-1 (K, d, d) of Sigma = L L'."""
    roots = inverse_of_lower(factors)
    return 2.0 * np.log(np.einsum("kjj->kj", factors)).sum(axis=1), np.swapaxes(roots, 1, 2) @ roots
