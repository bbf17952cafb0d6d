"""Ratios of gamma functions without cancellation."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, polygamma

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2
_LARGE = 1e3


def digamma_difference(x: ArrayLike, n: ArrayLike) -> np.ndarray:
    """Return psi(x + n) - psi(x) = sum over i < n of 1 / (x + i), for x > 0.

    Beyond x = 1000 the asymptotic series takes over, so that the relative error stays near 1e-13 however
    small the difference is.
    """
    x, n = np.asarray(x, dtype=float), np.asarray(n, dtype=float)
    small = np.minimum(x, _LARGE)
    large = np.maximum(x, _LARGE)
    end = large + n
    series = np.log1p(n / large) + (1 / large - 1 / end) / 2 + (large**-2.0 - end**-2.0) / 12
    return np.where(x < _LARGE, digamma(small + n) - digamma(small), series)


def log_rising_slopes(x: ArrayLike, n: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the second derivative of ``log_rising`` in log x, for x > 0.

    x (psi(x + n) - psi(x)) with 1/x taken apart, so that nothing cancels however small x is.
    """
    x, n = np.asarray(x, dtype=float), np.asarray(n, dtype=float)
    rest = x * digamma_difference(x + 1.0, n - 1.0)
    return 1.0 + rest, rest + x**2 * (polygamma(1, x + n) - polygamma(1, x + 1.0))


def log_rising(x: ArrayLike, n: ArrayLike) -> np.ndarray:
    """Return log [Gamma(x + n) / Gamma(x)] = sum over i < n of log(x + i), for x > 0.

    Beyond x = 1000 by Stirling's series, where the two gamma functions would cancel.
    """
    x, n = np.asarray(x, dtype=float), np.asarray(n, dtype=float)
    if np.all(x < _LARGE):
        return gammaln(x + n) - gammaln(x)
    small = np.minimum(x, _LARGE)
    large = np.maximum(x, _LARGE)
    end = large + n
    series = (end - 0.5) * np.log1p(n / large) - n + (1 / end - 1 / large) / 12 - (end**-3.0 - large**-3.0) / 360
    return np.where(x < _LARGE, gammaln(small + n) - gammaln(small), series + n * np.log(large))


def log_rising_ratio(x: ArrayLike, width: ArrayLike, n: float) -> np.ndarray:
    """Return log [Gamma(x+width+n) Gamma(x) / (Gamma(x+width) Gamma(x+n))], for x > 0.

    It is the integral of ``digamma_difference`` over [x, x + width], by 20 Gauss-Legendre nodes:
    exact to rounding while width is at most a few times x.
    """
    x = np.asarray(x, dtype=float)[..., None]
    width = np.asarray(width, dtype=float)
    return width * (digamma_difference(x + width[..., None] * _NODES, n) @ _WEIGHTS)
