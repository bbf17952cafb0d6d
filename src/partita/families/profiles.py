"""What is typical of every cluster, column by column, in stored units: estimates with 95 % credible intervals."""

from typing import Any, NamedTuple

import numpy as np
from scipy import stats as distributions

from partita.families.algebra.distributions import StudentT
from partita.families.algebra.relevance import relevance as relevance_of

LOW, MEDIAN, HIGH = 0.025, 0.5, 0.975
BISECTIONS = 50


class IntervalEstimate(NamedTuple):
    """A number per cluster (and column, or level) and the ends of its 95 % equal-tailed credible interval."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


class ColumnProfile(NamedTuple):
    """One column in every cluster: mean and sd (K,) of numbers and counts, shares (K, levels) of categories."""

    relevance: np.ndarray  # (K,)
    mean: IntervalEstimate | None = None
    sd: IntervalEstimate | None = None
    share: IntervalEstimate | None = None


def quantile(posterior: Any, level: float) -> np.ndarray:
    """Quantile of a posterior averaged over completions, which are its first axis.

    ``posterior`` is a frozen distribution of scipy.stats. The averaged cdf is bisected between the smallest and
    the largest of the completions' quantiles, 50 times.
    """
    each = posterior.ppf(level)
    low, high = each.min(axis=0), each.max(axis=0)
    if each.shape[0] == 1:
        return low
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        below = posterior.cdf(middle).mean(axis=0) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


def mean_estimate(posterior: Any, center: np.ndarray) -> IntervalEstimate:
    """Posterior mean ``center`` (C, K, ...), averaged over completions, with its interval."""
    return IntervalEstimate(center.mean(axis=0), quantile(posterior, LOW), quantile(posterior, HIGH))


def median_estimate(posterior: Any) -> IntervalEstimate:
    """Posterior median with its interval."""
    return IntervalEstimate(quantile(posterior, MEDIAN), quantile(posterior, LOW), quantile(posterior, HIGH))


def root(estimate: IntervalEstimate) -> IntervalEstimate:
    """The estimate of the square root: medians and quantiles follow."""
    return IntervalEstimate(*map(np.sqrt, estimate))


def column_profiles(mean: IntervalEstimate, sd: IntervalEstimate, relevance: np.ndarray) -> list[ColumnProfile]:
    """One profile per column from estimates (K, d)."""
    return [
        ColumnProfile(
            relevance[:, j], *(IntervalEstimate(*(part[:, j] for part in estimate)) for estimate in (mean, sd))
        )
        for j in range(relevance.shape[1])
    ]


def gaussian_profiles(
    mean: np.ndarray, precision: np.ndarray, dof: np.ndarray, scale: np.ndarray, shares: np.ndarray
) -> list[ColumnProfile]:
    """Profiles of Gaussian columns of unknown mean and variance.

    Per completion, cluster and column, arrays (C, K, d): the variance is IG(dof/2, scale/2), the mean a Student-t
    around ``mean`` with squared scale ``scale`` / (``precision`` ``dof``), and a new cell one with ``precision`` + 1
    times that.
    """
    spread = np.sqrt(scale / (precision * dof))
    return column_profiles(
        mean=mean_estimate(distributions.t(dof, mean, spread), mean),
        sd=root(median_estimate(distributions.invgamma(0.5 * dof, scale=0.5 * scale))),
        relevance=relevance_of(StudentT(mean, spread * np.sqrt(precision + 1.0), dof), shares),
    )
