"""A hyperprior of a positive parameter, and the ways to learn it: updates, integrals and maxima."""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln, logsumexp

from partita.parameters import Named, is_number
from partita.priors.checks import require_above

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(128)
# Below exp(_FLOOR) the concentration has no effect left on partitions of any number of rows in memory.
_FLOOR = -60.0
_DEPTH = 42.0
_SMALLEST, _LARGEST = 1e-300, 1e300
_LONGEST_STEP, _MOST_STEPS = 4.0, 1000

Slopes = tuple[float, float, float]


class Gamma(Named, kind="hyperprior", name="gamma"):
    """A Gamma distribution: density proportional to x^(shape - 1) exp(-rate x).

    Parameters
    ----------
    shape, rate : float
        Both positive; the mean is shape / rate.

    Examples
    --------
    >>> from partita.priors import DirichletProcess
    >>> round(DirichletProcess(concentration=Gamma(shape=2.0, rate=4.0)).expected_clusters(100), 2)
    3.2
    """

    least: float = 0.0  # no value is below it
    within: tuple[float, float] = (_SMALLEST, _LARGEST)  # where Newton's steps look for a maximum

    def __init__(self, shape: float = 1.0, rate: float = 1.0):
        self.shape = shape
        self.rate = rate

    def check(self) -> None:
        """Refuse parameters that are no positive numbers."""
        require_above("Gamma's shape", self.shape, 0.0)
        require_above("Gamma's rate", self.rate, 0.0)

    def require_proper(self, what: str) -> None:
        """Refuse a density that cannot be integrated, for what needs one that can."""

    @property
    def mean(self) -> float:
        """The mean, shape / rate."""
        return float(self.shape / self.rate)

    def sample(self, rng: np.random.Generator) -> float:
        """Draw a positive number."""
        return min(max(float(rng.gamma(self.shape, 1 / self.rate)), _SMALLEST), _LARGEST)

    def log_density_of_log(self, log_x):
        """Log density of log x, that is, with the Jacobian x."""
        scaled = log_x + math.log(self.rate)
        return self.shape * scaled - np.exp(scaled) - gammaln(self.shape)

    def log_weight_of_log(self, log_x: float) -> float:
        """The log density of one number, but for a constant: what a Markov step needs."""
        x = math.exp(log_x)
        return self.shape * log_x - self.rate * x if x >= self.least else -math.inf

    def slopes_of_log(self, log_x: float) -> Slopes:
        """Log density of log x, its first and its second derivative in log x."""
        scaled = self.rate * math.exp(log_x)
        return float(self.log_density_of_log(log_x)), self.shape - scaled, -scaled


class GammaAbove(Gamma, name="gamma-above"):
    """A Gamma distribution given that x is at least ``least``.

    Parameters
    ----------
    shape, rate : float
        Of the Gamma distribution, both positive.
    least : float
        0 or more, and at most shape / rate, which ``mean`` stays.
    """

    def __init__(self, shape: float = 1.0, rate: float = 1.0, least: float = 0.0):
        super().__init__(shape, rate)
        self.least = least

    def check(self) -> None:
        """Refuse a least value that is no number from 0 to the mean."""
        super().check()
        if not (is_number(self.least) and 0.0 <= self.least <= self.mean):
            raise ValueError(f"GammaAbove's least must be a number from 0 to shape / rate, got {self.least!r}.")

    def log_density_of_log(self, log_x):
        """Log density of log x; -inf below the least value."""
        above = np.asarray(log_x) >= math.log(self.least) if self.least > 0.0 else True
        inside = super().log_density_of_log(log_x) - math.log(gammaincc(self.shape, self.rate * self.least))
        return np.where(above, inside, -np.inf)[()]


def escobar_west(rng: np.random.Generator, hyperprior: Gamma, concentration: float, n: int, n_clusters: int) -> float:
    """Update the concentration of a Dirichlet process given the number of clusters.

    Draws eta ~ Beta(concentration + 1, n), then the concentration from Gamma(shape + K, r) or
    Gamma(shape + K - 1, r), r = rate - log eta, with odds (shape + K - 1) / (n r).

    References
    ----------
    Escobar and West (1995), Bayesian density estimation and inference using mixtures, section 6.
    """
    hyperprior.require_proper("A draw of the concentration")
    rate = hyperprior.rate - math.log(max(rng.beta(concentration + 1, n), _SMALLEST))
    shape = hyperprior.shape + n_clusters - 1
    if rng.random() * (shape + n * rate) < shape:
        shape += 1
    return Gamma(shape, rate).sample(rng)


def slice_update(
    rng: np.random.Generator,
    hyperprior: Gamma,
    log_likelihood: Callable[[float], float],
    concentration: float,
    *,
    width: float = 1.0,
    max_steps: int = 64,
) -> float:
    """Update the concentration by one slice-sampling step on its log, with stepping out and shrinkage.

    References
    ----------
    Neal (2003), Slice sampling, figures 3 and 5.
    """

    def log_target(log_x: float) -> float:
        if not math.log(_SMALLEST) < log_x < math.log(_LARGEST):
            return -math.inf
        return hyperprior.log_weight_of_log(log_x) + log_likelihood(math.exp(log_x))

    hyperprior.require_proper("A draw of a learned number")
    start = math.log(concentration)
    level = log_target(start) - rng.exponential()
    left, right = _step_out(rng, log_target, start, level, width, max_steps)
    while True:
        proposal = left + (right - left) * rng.random()
        if log_target(proposal) > level or proposal == start:
            return math.exp(proposal)
        if proposal < start:
            left = proposal
        else:
            right = proposal


def newton_on_log(slopes: Callable[[float], Slopes], start: float, within: tuple[float, float] = Gamma.within) -> float:
    """Return the x > 0 at which a function of log x is largest, by safeguarded Newton-Raphson in log x.

    Every evaluation narrows the interval between a rising and a falling place; a step that would leave it, or that the
    curvature does not support, becomes a bounded step uphill or a bisection. What is found depends on the slopes, not
    on values, whose rounding would hide the last eight digits.

    Parameters
    ----------
    slopes : callable
        log x -> (value, first derivative, second derivative), all in log x.
    start : float
        x > 0; given back where nothing better is found.
    within : two floats
        Between which x is looked for.
    """
    low, high = math.log(within[0]), math.log(within[1])
    log_x = first = min(max(math.log(start), low), high)
    before, gradient, curvature = slopes(log_x)
    value = before
    for _ in range(_MOST_STEPS):
        if gradient > 0:
            low = log_x
        else:
            high = log_x
        step = -gradient / curvature if curvature < 0 else math.copysign(math.inf, gradient)
        step = min(max(step, -_LONGEST_STEP), _LONGEST_STEP)
        if min(abs(step), high - low) <= 1e-13 * max(abs(log_x), 1.0):
            break
        log_x = log_x + step if low < log_x + step < high else (low + high) / 2
        value, gradient, curvature = slopes(log_x)
    return math.exp(log_x) if value >= before - 1e-12 * abs(before) else math.exp(first)


def _step_out(
    rng: np.random.Generator,
    log_target: Callable[[float], float],
    start: float,
    level: float,
    width: float,
    max_steps: int,
) -> tuple[float, float]:
    left = start - width * rng.random()
    right = left + width
    steps_left = int(max_steps * rng.random())
    steps_right = max_steps - 1 - steps_left
    while steps_left > 0 and log_target(left) > level:
        left -= width
        steps_left -= 1
    while steps_right > 0 and log_target(right) > level:
        right += width
        steps_right -= 1
    return left, right


def log_expectation(
    hyperprior: Gamma,
    log_f: Callable[[np.ndarray], np.ndarray],
    *,
    log_range: float | None = None,
    narrowest: float = math.inf,
) -> np.ndarray:
    """Return log E[f(concentration)] under the hyperprior, for f >= 0 with one value or a vector of values.

    Gauss-Legendre in the log of the concentration, on the interval that holds all but about exp(-42) of
    the integral of every value: nodes at the hyperprior's quantiles would miss partitions that it finds unlikely.
    What lies below exp(-60), where f is flat, is added as one lump.

    Parameters
    ----------
    hyperprior : Gamma
    log_f : callable
        Log of the function: concentrations (m,) in, values (m,) or (m, n_values) out.
    log_range : float, optional
        A bound on max log f - min log f; where known, the interval is found without calling ``log_f``.
    narrowest : float
        How far apart nodes may lie, for values that peak sharply: the interval is cut into panels of 128 nodes.
    """

    hyperprior.require_proper("An average over the concentration")

    def log_integrand(points: np.ndarray) -> np.ndarray:
        return (log_f(np.exp(points)).T + hyperprior.log_density_of_log(points)).T

    high = max(math.log((hyperprior.shape + 1) / hyperprior.rate), _FLOOR) + 20.0
    if log_range is None:
        low, high = _support(log_integrand, _FLOOR, high, _DEPTH)
    else:
        low, high = _support(hyperprior.log_density_of_log, _FLOOR, high, _DEPTH + log_range)
    n_panels = max(1, math.ceil((high - low) * math.pi / 2 / (_NODES.size * narrowest)))
    half = (high - low) / (2 * n_panels)
    total = np.array(-np.inf)
    for panel in range(n_panels):
        terms = log_integrand(low + half * (2 * panel + 1 + _NODES))
        total = np.logaddexp(total, logsumexp(terms.T + np.log(half * _WEIGHTS), axis=-1))
    if low == _FLOOR:
        mass = gammainc(hyperprior.shape, hyperprior.rate * math.exp(_FLOOR))
        with np.errstate(divide="ignore"):
            total = np.logaddexp(total, np.log(mass) + log_f(np.array([math.exp(_FLOOR)]))[0])
    return np.asarray(total)


def _support(log_g: Callable[[np.ndarray], np.ndarray], low: float, high: float, depth: float) -> tuple[float, float]:
    """Narrow [low, high] to where a unimodal log g, or any of several, is within ``depth`` of its top."""
    for _ in range(30):
        grid = np.linspace(low, high, 24)
        values = log_g(grid)
        inside = np.flatnonzero((values > np.max(values, axis=0) - depth).reshape(grid.size, -1).any(axis=1))
        first, last = max(inside[0] - 1, 0), min(inside[-1] + 1, grid.size - 1)
        low, high = float(grid[first]), float(grid[last])
        if last - first > grid.size // 2:
            break
    return low, high
