"""How far a conjugate posterior is from its prior: Kullback-Leibler divergences in nats.

KL(q || p) = E_q[log q - log p], q the posterior, whose parameters have no suffix, p the prior, whose have ``0``.
"""

import numpy as np
from scipy.special import digamma, gammaln, multigammaln


def gamma_divergence(shape: np.ndarray, rate: np.ndarray, shape0: np.ndarray, rate0: np.ndarray) -> np.ndarray:
    """Of Gamma variables of any common shape; inverse gamma ones are as far apart, their scales being rates."""
    normalisers = gammaln(shape0) - gammaln(shape) + shape0 * np.log(rate / rate0)
    return normalisers + (shape - shape0) * digamma(shape) + shape * (rate0 / rate - 1.0)


def wishart_divergence(
    dof: np.ndarray, log_det: np.ndarray, ratio: np.ndarray, dof0: float, log_det0: float, d: int
) -> np.ndarray:
    """Of inverse Wishart matrices IW(v, S) from IW(v0, S0), (K,); ``ratio`` is tr(S0 S^-1)."""
    log_gammas = multigammaln(0.5 * dof0, d) - log_multigamma(0.5 * dof, d)
    normalisers = log_gammas + 0.5 * dof0 * (log_det - log_det0)
    return normalisers + 0.5 * (dof - dof0) * multidigamma(0.5 * dof, d) + 0.5 * dof * (ratio - d)


def scaled_normal_divergence(precision: np.ndarray, precision0: float | np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Of a mean N(m, s2 / k) from N(m0, s2 / k0), ``distance`` E[(m - m0)^2 / s2], in one dimension."""
    ratio = precision0 / precision
    return 0.5 * (ratio - 1.0 - np.log(ratio) + precision0 * distance)


def log_multigamma(a: np.ndarray, d: int) -> np.ndarray:
    """scipy's ``multigammaln`` of an array: log of pi^(d(d-1)/4) prod_i Gamma(a - i/2)."""
    return 0.25 * d * (d - 1) * np.log(np.pi) + gammaln(_steps(a, d)).sum(axis=-1)


def multidigamma(a: np.ndarray, d: int) -> np.ndarray:
    """Its derivative: sum_i digamma(a - i/2), i = 0, ..., d - 1."""
    return digamma(_steps(a, d)).sum(axis=-1)


def _steps(a: np.ndarray, d: int) -> np.ndarray:
    return np.asarray(a)[..., None] - 0.5 * np.arange(d)
