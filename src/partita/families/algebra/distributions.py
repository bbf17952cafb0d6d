"""Predictive distributions of whole blocks of columns, under the names of scipy.stats.

scipy.stats has the same ones; these leave out its checks of every number, which for hundreds of columns and
dozens of clusters take ten times as long as the densities.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats as distributions
from scipy.special import gammaln, ndtri, poch, stdtrit, xlogy

LOG_PI = np.log(np.pi)
LOG_2PI = np.log(2.0 * np.pi)

_LARGE_MEAN = 1e7


class StudentT(NamedTuple):
    """Location + scale times a Student-t variable; arrays of any common shape."""

    location: np.ndarray
    scale: np.ndarray
    dof: np.ndarray

    def ppf(self, level: float) -> np.ndarray:
        """Quantiles."""
        return self.location + self.scale * stdtrit(self.dof, level)

    def logpdf(self, x: np.ndarray) -> np.ndarray:
        """Log densities; G((v + 1)/2) / G(v/2) as a Pochhammer symbol, which stays exact for large v."""
        constant = np.log(poch(0.5 * self.dof, 0.5)) - 0.5 * (LOG_PI + np.log(self.dof)) - np.log(self.scale)
        distance = (x - self.location) / self.scale
        return constant - 0.5 * (self.dof + 1.0) * np.log1p(distance * distance / self.dof)


class Normal(NamedTuple):
    """Location + scale times a standard normal variable."""

    location: np.ndarray
    scale: np.ndarray

    def ppf(self, level: float) -> np.ndarray:
        """Quantiles."""
        return self.location + self.scale * ndtri(level)

    def logpdf(self, x: np.ndarray) -> np.ndarray:
        """Log densities."""
        distance = (x - self.location) / self.scale
        return -0.5 * (LOG_2PI + distance * distance) - np.log(self.scale)


class Poisson(NamedTuple):
    """Counts of a known rate."""

    rate: np.ndarray

    def logpdf(self, x: np.ndarray) -> np.ndarray:
        """Log probabilities; a rate of 0 allows no count but 0."""
        with np.errstate(divide="ignore"):
            return xlogy(x, self.rate) - self.rate - gammaln(x + 1.0)


class NegativeBinomial(NamedTuple):
    """Poisson counts whose rate is Gamma(shape, rate)."""

    shape: np.ndarray
    rate: np.ndarray

    def ppf(self, level: float) -> np.ndarray:
        """Quantiles; of large counts those of the gamma distribution with the same mean and variance."""
        mean = self.shape / self.rate
        large = mean > _LARGE_MEAN  # where the search for an exact one may never end, or end the process
        shape, rate = np.where(large, 1.0, self.shape), np.where(large, 1.0, self.rate)
        exact = distributions.nbinom.ppf(level, shape, rate / (rate + 1.0))
        spread = 1.0 + 1.0 / self.rate
        near = distributions.gamma.ppf(level, np.where(large, mean / spread, 1.0), scale=spread)
        return np.where(large, np.floor(near), exact)

    def logpdf(self, x: np.ndarray) -> np.ndarray:
        """Log probabilities, smooth between whole numbers."""
        rising = gammaln(self.shape + x) - gammaln(self.shape) - gammaln(x + 1.0)
        return rising - self.shape * np.log1p(1.0 / self.rate) - x * np.log1p(self.rate)
