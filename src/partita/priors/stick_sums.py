"""Two sums over the components of a truncated stick-breaking prior: occupancy, and orders of blocks."""

import math

import numpy as np
from scipy.special import expit, gammaincc, gammaln, log_expit

_TAIL = 42.0
_STICK_STEP = 0.25
_COARSE_STEP = 0.25
_CLOCK_STEP = 0.15
_LARGEST_LOG = 700.0


def expected_occupied_sticks(n: int, n_components: int, concentration: float) -> float:
    """Return the sum over components h of P(component h holds one of n rows).

    Before stick h lies exp(-g), g ~ Gamma(h - 1, rate alpha). Summed over h < H these densities give
    alpha Q(H - 2, alpha g), with Q the regularised upper incomplete gamma function, so that

        E = f(1) + integral of alpha Q(H - 2, alpha g) f(exp(-g)) dg + P(last is occupied),

    where f(p) = E[1 - (1 - v p)^n] over a stick v ~ Beta(1, alpha), f(1) = n / (n + alpha). Trapezoid in t
    with g = log(1 + exp(t)), whose error falls exponentially; about 1e-12. Cost O(sqrt(H) log n).
    """
    if n == 1 or n_components == 1:
        return 1.0
    t, step = _gap_grid(n, n_components, concentration)
    gap = np.logaddexp(0.0, t)
    slope = expit(t)
    scaled = concentration * gap
    shape = n_components - 1
    density = np.exp(shape * np.log(scaled) - scaled - gammaln(shape)) / gap
    log_missed = np.where(gap < 1, np.log(-np.expm1(-gap)), np.log1p(-np.exp(-np.maximum(gap, 1.0))))
    total = n / (n + concentration) + step * np.sum(slope * density * -np.expm1(n * log_missed))
    if n_components > 2:
        middle = concentration * gammaincc(n_components - 2, scaled)
        total += step * np.sum(slope * middle * _stick_occupancy(gap, n, concentration))
    return float(total)


def _gap_grid(n: int, n_components: int, concentration: float) -> tuple[np.ndarray, float]:
    furthest = (n_components + 12 * math.sqrt(n_components) + 2 * _TAIL) / concentration
    high = min(math.log(n) + _TAIL, furthest)
    low = -_TAIL - max(math.log(concentration), 0.0)
    step = min(_STICK_STEP, 0.8 / math.sqrt(n_components))
    top = high + math.log(-math.expm1(-high))
    return np.arange(low, max(top, low) + step, step), step


def _stick_occupancy(gap: np.ndarray, n: int, concentration: float) -> np.ndarray:
    # f(p) by parts: the integral of (1 - v)^alpha n p (1 - v p)^(n - 1) dv; trapezoid in logit v.
    low = -_TAIL - math.log(1 + concentration + n)
    high = _TAIL / (1 + concentration)
    x = np.arange(low, high + _STICK_STEP, _STICK_STEP)
    log_stick = (concentration + 1) * log_expit(-x) + log_expit(x) + math.log(n)
    share = np.minimum(expit(x) * np.exp(-gap)[:, None], 1 - 1e-16)
    values = np.exp(log_stick - gap[:, None] + (n - 1) * np.log1p(-share))
    return _STICK_STEP * values.sum(axis=1)


def log_truncation(sizes: np.ndarray, n_components: int, concentration: float) -> float:
    """Return the log ratio of a partition's truncated probability to that under the Dirichlet process.

    It is a sum over the injective assignments of blocks to components. Going through the components in order with R
    rows left, a component is empty with weight alpha / (alpha + R) and takes one given block of size s with
    weight s / (alpha + R): these sum to 1 and, without truncation, give the Dirichlet process. The last
    component can only take the one block left, with weight Gamma(alpha + s) / (Gamma(s) Gamma(alpha + 1)).

    The first components come in the order in which clocks ring: one of rate s for every block, once, and one of rate
    alpha for empty components, again and again. At a given time all clocks are independent, so that with m = H - K

        sum_j integral prod_{i != j} (1 - exp(-s_i t)) exp(-s_j t) [s_j P(N < m) + last_j (alpha + s_j) P(N = m)] dt,

    N ~ Poisson(alpha t): block j is the last to ring, before m empty components did; or it alone is left for the last
    component, a state that is held for 1 / (alpha + s_j) on average. Trapezoid in log t; about 1e-12. Cost
    O(sqrt(H) x distinct sizes).
    """
    distinct, multiplicity = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    return _Clocks(distinct, multiplicity, n_components, concentration).log_integral()


def log_truncations_grown(sizes: np.ndarray, n_components: int, concentration: float) -> np.ndarray:
    """Return `log_truncation` (K,) after each of the blocks has grown by one row. Cost: that of a few."""
    distinct, of_size, multiplicity = np.unique(
        np.asarray(sizes, dtype=np.int64), return_inverse=True, return_counts=True
    )
    return _Clocks(distinct, multiplicity, n_components, concentration).log_integrals_grown()[of_size.ravel()]


class _Clocks:
    """The integrand of `log_truncation` on a grid of log t, wherever it is not negligible."""

    def __init__(self, sizes: np.ndarray, multiplicity: np.ndarray, n_components: int, concentration: float):
        self.sizes, self.multiplicity, self.alpha = sizes.astype(np.float64), multiplicity, concentration
        self.n_spare = n_components - int(multiplicity.sum())
        low = -_TAIL - math.log(self.sizes.sum() + concentration)
        high = math.log(2.0 * _TAIL + n_components + 12.0 * math.sqrt(n_components))
        coarse = np.arange(low, high + _COARSE_STEP, _COARSE_STEP)
        logs = self._on(coarse).log_integrand()
        chosen = logs > logs.max() - _TAIL
        kept, self.binds = coarse[chosen], self._binds(chosen)
        self.step = min(_CLOCK_STEP, 0.5 / math.sqrt(n_components))
        if self.binds:
            self._on(np.arange(kept[0] - _COARSE_STEP, kept[-1] + _COARSE_STEP, self.step))

    def log_integral(self) -> float:
        """The integral over all of the grid."""
        return float(self._integrated(self.log_integrand())) if self.binds else 0.0

    def log_integrals_grown(self) -> np.ndarray:
        """The integrals (D,) where one block of each size is larger by one row."""
        if not self.binds:
            return np.zeros(self.sizes.size)
        every = np.log(self.multiplicity) + self.log_last
        nothing = np.full((self.log_t.size, 1), -np.inf)
        before = np.hstack([nothing, np.logaddexp.accumulate(every, axis=1)[:, :-1]])
        behind = np.hstack([np.logaddexp.accumulate(every[:, ::-1], axis=1)[:, -2::-1], nothing])
        with np.errstate(divide="ignore"):
            alike = np.log(self.multiplicity - 1.0) + self.log_last
        larger, log_rung = self._of(self.sizes + 1.0)
        left = np.logaddexp(np.logaddexp(np.logaddexp(before, behind), alike), larger)
        rung = (self.log_rung @ self.multiplicity)[:, None] - self.log_rung + log_rung
        return self._integrated(rung + left + self.log_t[:, None])

    def log_integrand(self) -> np.ndarray:
        """Its log at every point of the grid, times t."""
        last = np.logaddexp.reduce(np.log(self.multiplicity) + self.log_last, axis=1)
        return self.log_rung @ self.multiplicity + last + self.log_t

    def _on(self, log_t: np.ndarray) -> "_Clocks":
        self.log_t = log_t
        rate = np.exp(np.minimum(math.log(self.alpha) + log_t, _LARGEST_LOG))
        with np.errstate(divide="ignore"):
            self.log_room = np.log(gammaincc(self.n_spare, rate)) if self.n_spare else np.full(log_t.size, -np.inf)
        self.log_full = self.n_spare * np.log(rate) - rate - gammaln(self.n_spare + 1.0)
        self.log_last, self.log_rung = self._of(self.sizes)
        return self

    def _binds(self, chosen: np.ndarray) -> bool:
        """Whether the last component is reached at all, at these points."""
        at_last = self._log_alone(self.sizes) + self.log_full[chosen].max() > np.log(self.sizes) - _TAIL
        return bool(self.log_room[chosen].min() < -np.finfo(np.float64).eps or at_last.any())

    def _log_alone(self, sizes: np.ndarray) -> np.ndarray:
        """Log weight of a block in the last component, over the time that it is waited for."""
        log_last = gammaln(self.alpha + sizes) - gammaln(sizes) - gammaln(self.alpha + 1.0)
        return log_last + np.log(self.alpha + sizes)

    def _of(self, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For blocks of these sizes: log weight of being the last, over that of having rung; log P(has rung)."""
        rows = np.exp(self.log_t)[:, None] * sizes
        log_rung = np.log(-np.expm1(-rows))
        alone = self._log_alone(sizes) + self.log_full[:, None]
        ends = np.logaddexp(np.log(sizes) + self.log_room[:, None], alone)
        return ends - rows - log_rung, log_rung

    def _integrated(self, logs: np.ndarray) -> np.ndarray:
        return np.logaddexp.reduce(logs, axis=0) + math.log(self.step)
