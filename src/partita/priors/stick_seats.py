"""Where the next row goes under truncated sticks, when there are too many orders of the clusters to sum over."""

import math

import numpy as np
from scipy.special import gammaln, logsumexp

N_ORDERS = 1000
"""Orders that are drawn."""

_NUMBERS_AT_ONCE = 1 << 20


def sampled_seats(sizes: np.ndarray, n_components: int, concentration: float) -> np.ndarray:
    """Probability (K + 1,) that one more row joins each cluster, and last that it opens one, from drawn orders.

    Given the components that the clusters stand in, that is the mean weight of each. Going through the components in
    order with R rows left, one is empty with probability alpha / (alpha + R) and else holds a cluster, by size; the
    last can only hold the one that is left, with weight Gamma(alpha + s) / (Gamma(s) Gamma(alpha + 1)): see
    `log_truncation`. So clusters are drawn by size, the numbers of empty components between them from geometric laws
    that leave room for all, and every order is weighted by the probability that these had to be cut to.

    The orders are always the same ones for the same sizes. Standard error of the probability of a new cluster with
    `N_ORDERS`: 1 to 3 % of it. Cost O(orders x K log K).
    """
    rng = np.random.default_rng(0)
    seats, log_weights = [], []
    step = max(1, min(N_ORDERS, _NUMBERS_AT_ONCE // sizes.size))
    for start in range(0, N_ORDERS, step):
        some, logs = _drawn_orders(rng, min(step, N_ORDERS - start), sizes, n_components, concentration)
        seats.append(some)
        log_weights.append(logs)
    logs = np.concatenate(log_weights)
    return np.exp(logs - logsumexp(logs)) @ np.concatenate(seats)


def _drawn_orders(
    rng: np.random.Generator, n_orders: int, sizes: np.ndarray, n_components: int, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mean weights (n_orders, K + 1) given each of some orders, and the log weights of the orders."""
    order = np.argsort(rng.exponential(size=(n_orders, sizes.size)) / sizes, axis=1)  # by size, without replacement
    in_order = sizes[order].astype(np.float64)
    rows_left = np.cumsum(in_order[:, ::-1], axis=1)[:, ::-1]
    seats, log_weights = np.zeros((n_orders, sizes.size + 1)), np.zeros(n_orders)
    whole, free = np.ones(n_orders), np.full(n_orders, float(n_components - sizes.size))
    everyone = np.arange(n_orders)
    for place in range(sizes.size):
        size, left = in_order[:, place], rows_left[:, place]
        log_empty = -np.log1p(left / alpha)
        last = place == sizes.size - 1
        log_end = _log_last(size, alpha) if last else np.full(n_orders, -np.inf)
        n_empty, log_room = _empty_before(rng, free, log_empty, log_end, last)
        log_weights += log_room
        passed = np.exp(-n_empty * np.log1p(1.0 / (alpha + left)))
        seats[:, -1] += whole * (1.0 - passed)
        whole = whole * passed
        share = (1.0 + size) / (1.0 + alpha + left)
        if last:
            share = np.where(n_empty == free, 1.0, share)  # the last component takes all that is left
        seats[everyone, order[:, place]] = whole * share
        whole = whole * (1.0 - share)
        free -= n_empty
    seats[:, -1] += whole
    return seats, log_weights


def _empty_before(
    rng: np.random.Generator, free: np.ndarray, log_empty: np.ndarray, log_end: np.ndarray, last: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Empty components before the next cluster, at most ``free``, and the log probability of all that there may be.

    Before the last cluster so many that it stands in the last component have the weight ``log_end`` of their own.
    """
    cut = free if last else free + 1.0
    log_before = np.log(-np.expm1(np.minimum(cut * log_empty, -1e-300)))
    log_room = np.logaddexp(log_before, cut * log_empty + log_end) if last else log_before
    uniform = rng.random(free.size)
    n_empty = np.floor(np.log1p(uniform * np.expm1(cut * log_empty)) / log_empty)
    n_empty = np.clip(n_empty, 0.0, np.maximum(cut - 1.0, 0.0))
    if last:
        n_empty = np.where(np.log(rng.random(free.size)) < log_before - log_room, n_empty, free)
    return n_empty, log_room


def _log_last(size: np.ndarray, alpha: float) -> np.ndarray:
    return gammaln(alpha + size) - gammaln(size) - math.lgamma(alpha + 1.0)
