"""Two numbers of the prior of Gaussian clusters, learned from the rows: how wide groups are, and how far apart.

    Sigma_k ~ IW(v0, s S0),  mean_k ~ N(m0, Sigma_k / k0)

s multiplies the scale S0 that the table gives, k0 is the ``mean_precision``. Each has a Gamma hyperprior (Richardson
and Green 1997). Of n_k rows with mean u_k (relative to m0) and scatter W_k around it the marginal likelihood leaves,
with c_k = k0 n_k / (k0 + n_k), v_k = v0 + n_k and A_k = W_k + c_k u_k u_k',

    log p(rows | s)  = sum_k [d v0/2 log s - v_k/2 sum_j log(s + e_kj)] + constant,   e_k the eigenvalues of S0^-1 A_k,
    log p(rows | k0) = sum_k [d/2 log(k0 / (k0 + n_k)) - v_k/2 log(1 + c_k q_k)] + constant,   q = u'(s S0 + W)^-1 u,

the second by the determinant of a rank-one change. A column of a diagonal covariance is the case d = 1, all columns
with one s and one k0. Eigenvalues and distances are computed once, so that a value costs K d logs. The first is concave
in log s and has one maximum; of the second a maximum is found uphill from the present value.

Where the scatter of large clusters is singular (equal rows, columns that are sums of others under a full covariance)
the first grows without bound as s -> 0. So s is kept at 1e-6 or above: a thousandth of the spread that S0 expects. So
is k0, below which sums that rows enter and leave would lose it: means within a thousand times the spread of a cluster.
"""

import math
from collections.abc import Mapping
from typing import Protocol, Self

import numpy as np

from partita.priors.hyperpriors import Gamma, Slopes, newton_on_log, slice_update

LEAST_SCALE = LEAST_PRECISION = 1e-6
LOG_TOLERANCE = 1e-6  # of two numbers that are moved in turn
MOST_ROUNDS = 100
WIDTHS = 3.0  # of a slice, in standard deviations that so many clusters suggest


class Evidence(Protocol):
    """What the clusters say of one number."""

    def drawn(self, rng: np.random.Generator, hyperprior: Gamma, value: float) -> float:
        """A value after one slice-sampling step from the present one."""

    def best(self, hyperprior: Gamma, value: float) -> float:
        """The value at which likelihood times density of its log is largest, begun at the present one."""


class ScaleEvidence:
    """Log likelihood of s given every cluster's scatter in units of S0.

    Parameters
    ----------
    prior_dof : float
        v0 summed over all ratios.
    dof, ratios : arrays of one shape
        v_k and e_kj >= 0.
    """

    def __init__(self, prior_dof: float, dof: np.ndarray, ratios: np.ndarray):
        self.half_prior_dof = 0.5 * prior_dof
        self.half_dof = 0.5 * dof.ravel()
        self.ratios = ratios.ravel()

    def log_likelihood(self, scale: float) -> float:
        """Log marginal likelihood of all clusters but for a constant; -inf below the least scale."""
        if scale < LEAST_SCALE:
            return -math.inf
        return self.half_prior_dof * math.log(scale) - float(self.half_dof @ np.log(scale + self.ratios))

    def slopes(self, hyperprior: Gamma, log_scale: float) -> Slopes:
        """Log likelihood plus log density of log s, and its first two derivatives in log s."""
        scale = math.exp(log_scale)
        of_prior = hyperprior.slopes_of_log(log_scale)
        value = self.half_prior_dof * log_scale - float(self.half_dof @ np.log(scale + self.ratios))
        share = scale / (scale + self.ratios)
        first = self.half_prior_dof - float(self.half_dof @ share)
        second = -float(self.half_dof @ (share * (1.0 - share)))
        return value + of_prior[0], first + of_prior[1], second + of_prior[2]

    def drawn(self, rng: np.random.Generator, hyperprior: Gamma, value: float) -> float:
        """A scale after one slice-sampling step from the present one."""
        width = WIDTHS / math.sqrt(self.half_prior_dof + hyperprior.shape)
        return slice_update(rng, hyperprior, self.log_likelihood, value, width=width)

    def best(self, hyperprior: Gamma, value: float) -> float:
        """The scale at which `slopes` has its largest value."""
        least = max(hyperprior.least, LEAST_SCALE)
        if self.slopes(hyperprior, math.log(least))[1] <= 0.0:
            return least
        return newton_on_log(lambda log_scale: self.slopes(hyperprior, log_scale), value)


class PrecisionEvidence:
    """Log likelihood of k0 given how far the clusters' means are from the prior mean, in units of their spread.

    Parameters
    ----------
    d : int
        How many columns every distance is over.
    n, dof, distances : arrays of one shape
        n_k, v_k and q_k.
    """

    def __init__(self, d: int, n: np.ndarray, dof: np.ndarray, distances: np.ndarray):
        self.half_d = 0.5 * d
        self.n = n.ravel()
        self.half_dof = 0.5 * dof.ravel()
        self.distances = distances.ravel()

    def log_likelihood(self, precision: float) -> float:
        """Log marginal likelihood of all clusters but for a constant; -inf below the least precision."""
        return self._log_likelihood(precision) if precision >= LEAST_PRECISION else -math.inf

    def _log_likelihood(self, precision: float) -> float:
        kept = precision / (precision + self.n)
        means = self.half_d * float(np.log(kept).sum())
        return means - float(self.half_dof @ np.log1p(kept * self.n * self.distances))

    def slopes(self, hyperprior: Gamma, log_precision: float) -> Slopes:
        """Log likelihood plus log density of log k0, and its first two derivatives in log k0."""
        precision = math.exp(log_precision)
        lost = self.n / (precision + self.n)
        away = (1.0 - lost) * self.n * self.distances
        away = away / (1.0 + away)
        bend = lost * (1.0 - lost)
        first = self.half_d * float(lost.sum()) - float(self.half_dof @ (lost * away))
        curves = lost * lost * away * (1.0 - away) - bend * away
        second = -self.half_d * float(bend.sum()) - float(self.half_dof @ curves)
        of_prior = hyperprior.slopes_of_log(log_precision)
        return self._log_likelihood(precision) + of_prior[0], first + of_prior[1], second + of_prior[2]

    def drawn(self, rng: np.random.Generator, hyperprior: Gamma, value: float) -> float:
        """A precision after one slice-sampling step from the present one."""
        width = WIDTHS / math.sqrt(self.half_d * self.n.size + hyperprior.shape)
        return slice_update(rng, hyperprior, self.log_likelihood, value, width=width)

    def best(self, hyperprior: Gamma, value: float) -> float:
        """A precision at which `slopes` has a largest value, uphill from the present one."""
        return max(newton_on_log(lambda log_precision: self.slopes(hyperprior, log_precision), value), LEAST_PRECISION)


class LearnsScale:
    """What a Gaussian model does with hyperpriors of its ``scale`` and ``mean_precision``.

    ``scale`` is ``multiplier`` times ``base_scale``; ``hyperpriors`` are by the name of what they are of, those of the
    scale first. What is learned is the multiplier, under the name "scale", and the one precision of all columns.
    """

    hyperpriors: dict[str, Gamma]
    base_scale: np.ndarray
    multiplier: float
    scale: np.ndarray
    mean_precision: np.ndarray | float

    def scale_evidence(self, stats: np.ndarray) -> ScaleEvidence:
        """What the clusters say of the multiplier at the present mean_precision."""
        raise NotImplementedError

    def precision_evidence(self, stats: np.ndarray) -> PrecisionEvidence:
        """What the clusters say of the mean_precision at the present scale."""
        raise NotImplementedError

    @property
    def learned(self) -> dict[str, float]:
        """The multiplier of the scale and the mean_precision, those that have a hyperprior."""
        return {name: self._value(name) for name in self.hyperpriors}

    def _value(self, name: str) -> float:
        return float(self.multiplier if name == "scale" else np.ravel(self.mean_precision)[0])

    def _evidence(self, name: str, stats: np.ndarray) -> Evidence:
        return self.scale_evidence(stats) if name == "scale" else self.precision_evidence(stats)

    def log_hyperprior(self) -> float:
        """Log densities of the logs of what is learned."""
        of_logs = (prior.log_density_of_log(math.log(self._value(name))) for name, prior in self.hyperpriors.items())
        return float(sum(of_logs))

    def redrawn(self, rng: np.random.Generator, stats: np.ndarray) -> Self:
        """Slice sampling of the log of each number given the other."""
        model = self
        for name, hyperprior in self.hyperpriors.items():
            value = model._evidence(name, stats).drawn(rng, hyperprior, model._value(name))
            model = model.with_learned(**{name: value})
        return model

    def relearned(self, stats: np.ndarray) -> Self:
        """Newton-Raphson in the log of each number, in turn until neither moves."""
        model = self
        for _ in range(MOST_ROUNDS):
            before = model
            for name, hyperprior in self.hyperpriors.items():
                value = model._evidence(name, stats).best(hyperprior, model._value(name))
                model = model.with_learned(**{name: value})
            if len(self.hyperpriors) < 2 or _log_distance(before.learned, model.learned) < LOG_TOLERANCE:
                break
        return model

    def with_learned(self, **values: float) -> Self:
        """The model with ``scale``, the multiplier, and ``mean_precision`` of all columns at these values."""
        if not values:
            return self
        other = object.__new__(type(self))  # copy.copy takes five times as long
        vars(other).update(vars(self))
        if "scale" in values:
            other.multiplier = values["scale"]
            other.scale = values["scale"] * self.base_scale
        if "mean_precision" in values:
            everywhere = values["mean_precision"]
            known = self.mean_precision
            other.mean_precision = np.full_like(known, everywhere) if isinstance(known, np.ndarray) else everywhere
        return other


def _log_distance(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return max(abs(math.log(one[name] / other[name])) for name in one)
