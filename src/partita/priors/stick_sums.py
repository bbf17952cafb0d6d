"""Two sums over the components of a truncated stick-breaking prior: occupancy, and orders of blocks."""

import math

import numpy as np
from scipy.special import expit, gammaincc, gammaln, log_expit

from partita.kernels.compiling import entry

MAX_STATES = 5_000_000
_TAIL = 42.0
_STICK_STEP = 0.25


class TooManyOrdersError(ValueError):
    """A sum over the orders of blocks that would take too long."""


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

    Sum over the injective assignments of blocks to components. Going through the components in order with R
    rows left, a component is empty with weight alpha / (alpha + R) and takes one given block of size s with
    weight s / (alpha + R): these sum to 1 and, without truncation, give the Dirichlet process. The last
    component can only take the one block left, with weight Gamma(alpha + s) / (Gamma(s) Gamma(alpha + 1)).
    Blocks of one size are alike, so a state counts how many of each size are left: cost O(states x components
    x distinct sizes), states = product over distinct sizes of (multiplicity + 1).
    """
    distinct, multiplicity = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    n_states = _n_states(multiplicity)
    if n_states * n_components > MAX_STATES:
        raise TooManyOrdersError(
            f"The exact sum over orders of {len(sizes)} blocks of {distinct.size} distinct sizes among "
            f"{n_components} components needs {n_states} x {n_components} states, more than the limit of "
            f"{MAX_STATES}; use fewer clusters or components."
        )
    log_last = gammaln(concentration + distinct) - gammaln(distinct) - gammaln(concentration + 1.0)
    strides = np.cumprod(np.append(1, multiplicity + 1))
    values = np.full(n_states, -np.inf)
    values[0] = 0.0
    values[strides[:-1]] = log_last
    log_sum = log_sum_over_orders(distinct, multiplicity, strides[:-1], n_components - 1, float(concentration), values)
    return float(log_sum)


def seat_steps(sizes: np.ndarray, n_components: int) -> float:
    """Steps of the sums over orders that the next row needs: one sum for every distinct size, and one for a new block.

    A step takes about 5 ns. Growing a block may double the states at most.
    """
    multiplicity = np.unique(sizes, return_counts=True)[1]
    return float(_n_states(multiplicity)) * n_components * multiplicity.size * (multiplicity.size + 1)


def _n_states(multiplicity: np.ndarray) -> int:
    return math.prod(int(m) + 1 for m in multiplicity)


@entry(allocates=True)
def log_sum_over_orders(distinct, multiplicity, strides, n_steps, concentration, values):
    """Backward recursion of ``log_truncation`` over components; ``values`` holds those of the last one."""
    n_sizes = distinct.size
    n_states = values.size
    log_take = np.log(np.arange(1, multiplicity.max() + 1))
    log_distinct = np.log(distinct)
    terms = np.empty(n_sizes)
    for _ in range(n_steps):
        # A state reads itself and states before it, so going down updates in place.
        left = multiplicity.copy()
        for state in range(n_states - 1, 0, -1):
            rows_left = 0
            n_terms = 0
            stay = np.log(concentration) + values[state]
            top = stay
            for j in range(n_sizes):
                if left[j] > 0:
                    rows_left += left[j] * distinct[j]
                    term = log_take[left[j] - 1] + log_distinct[j] + values[state - strides[j]]
                    terms[n_terms] = term
                    n_terms += 1
                    top = max(top, term)
            if top > -np.inf:
                total = np.exp(stay - top)
                for position in range(n_terms):
                    total += np.exp(terms[position] - top)
                values[state] = top + np.log(total / (concentration + rows_left))
            digit = 0
            while left[digit] == 0:
                left[digit] = multiplicity[digit]
                digit += 1
            left[digit] -= 1
    return values[n_states - 1]
