"""Compiled part of `NormalInverseGamma`: predictives of many slots at a time and updates."""

from typing import NamedTuple

import numpy as np

from partita.families.algebra.moments import add_moments
from partita.kernels.algebra import NO_COPIES, REASSOCIATE, copies_left, log_multigamma_ratio
from partita.kernels.compiling import inner
from partita.kernels.dispatch import implements
from partita.kernels.names import (
    add,
    log_marginal,
    log_marginal_columns,
    log_predictive,
    log_predictive_columns,
    log_weights,
    log_weights_slot_by_slot,
    refresh,
)

LOG_PI = np.log(np.pi)
FACTORS_PER_LOG = 16
LARGEST_PRODUCT = 1e280
OWN_FACTORS_PER_LOG = 4  # of a row's own slot, whose factors may be tiny:
LEAST_FACTOR = 1e-60


class GammaState(NamedTuple):
    """Statistics [n, sum, sum of squares] per slot and column, and what is derived from them."""

    stats: np.ndarray  # (slots, 3 d)
    mean: np.ndarray  # (slots, d)
    scale: np.ndarray  # (slots, d) b
    stretch: np.ndarray  # (slots, 2, d) factor of (x - m)^2 for w = 1, -1
    constant: np.ndarray  # (slots, 2, d) of the log predictive for w = 1, -1
    total: np.ndarray  # (slots, 2) constants summed over columns
    leaving: np.ndarray  # (slots,) bool: whether what is for w = -1 is of the present statistics
    mean_by_column: np.ndarray  # (d, slots)
    stretch_by_column: np.ndarray  # (d, slots) for w = 1
    scratch: np.ndarray  # (slots,)
    normaliser: np.ndarray  # (n,) what n alone decides in the constant for w = 1; empty where columns differ
    hyper: np.ndarray  # (4, d) k0, v0, b0, r
    uniform: np.ndarray  # (1,) bool: every column of a slot has the same v


@implements(log_predictive, GammaState)
def _log_predictive(rows, i, w, state, slot):
    if state.mean.shape[1] == 0:
        return 0.0
    if (w == 1 or w == -1) and state.uniform[0] and rows.complete[i]:
        v = state.hyper[1, 0] + state.stats[slot, 0]
        side = 0 if w == 1 else 1
        if side == 1:
            _refresh_leaving(state, slot)
        return state.total[slot, side] - 0.5 * (v + w) * _log_product(rows.x, i, state.mean, state.stretch, slot, side)
    if w == -1:
        _refresh_leaving(state, slot)
    total = 0.0
    for j in range(state.mean.shape[1]):
        if not np.isnan(rows.x[i, j]):
            total += _log_predictive_cell(rows.x[i, j], w, state, slot, j)
    return total


@implements(log_predictive_columns, GammaState)
def _log_predictive_columns(rows, i, w, state, slot, start, out):
    if w == -1:
        _refresh_leaving(state, slot)
    for j in range(state.mean.shape[1]):
        missing = np.isnan(rows.x[i, j])
        out[start + j] = 0.0 if missing else _log_predictive_cell(rows.x[i, j], w, state, slot, j)


@implements(log_weights, GammaState)
def _log_weights(rows, i, w, state, sizes, n_slots, own, out):
    if w != 1 or not state.uniform[0] or not rows.complete[i] or state.mean.shape[1] == 0:
        log_weights_slot_by_slot(rows, i, w, state, sizes, n_slots, own, out)
        return
    _log_products(rows.x, i, state.mean_by_column, state.stretch_by_column, n_slots, state.scratch, out)
    for k in range(n_slots):
        out[k] = state.total[k, 0] - 0.5 * (state.hyper[1, 0] + state.stats[k, 0] + 1.0) * out[k]
    if own >= 0 and sizes[own] > 0:
        out[own] = -log_predictive(rows, i, -1, state, own)
    elif own >= 0:
        for k in range(n_slots):
            if sizes[k] == 0 and k != own:
                out[own] = out[k]


@inner(fastmath=REASSOCIATE)
def _log_products(x, i, mean, stretch, n_slots, product, out):
    """log of prod_j (1 + stretch_j (x_j - m_j)^2) for w = 1 in every slot, one log for several factors."""
    d = x.shape[1]
    for k in range(n_slots):
        out[k] = 0.0
    for start in range(0, d, FACTORS_PER_LOG):
        stop = min(start + FACTORS_PER_LOG, d)
        for k in range(n_slots):
            product[k] = 1.0
        for j in range(start, stop):
            cell = x[i, j]
            for k in range(n_slots):
                z = cell - mean[j, k]
                product[k] *= 1.0 + stretch[j, k] * z * z
        for k in range(n_slots):
            if product[k] < LARGEST_PRODUCT:
                out[k] += np.log(product[k])
            else:
                for j in range(start, stop):
                    out[k] += _log_factor(stretch[j, k], x[i, j] - mean[j, k])


@inner
def _log_factor(stretch, z):
    """log(1 + stretch z^2), for any z that a float can hold; not below that of `LEAST_FACTOR`."""
    square = stretch * z * z
    if square < LARGEST_PRODUCT:
        return np.log(max(1.0 + square, LEAST_FACTOR))
    return np.log(stretch) + 2.0 * np.log(abs(z))


@inner(fastmath=REASSOCIATE)
def _log_product(x, i, mean, stretch, slot, side):
    """The log of the product of a row's factors in one slot, for w = 1 or -1."""
    d = x.shape[1]
    total = 0.0
    for start in range(0, d, OWN_FACTORS_PER_LOG):
        stop = min(start + OWN_FACTORS_PER_LOG, d)
        product = 1.0
        for j in range(start, stop):
            z = x[i, j] - mean[slot, j]
            product *= max(1.0 + stretch[slot, side, j] * z * z, LEAST_FACTOR)
        if product < LARGEST_PRODUCT:
            total += np.log(product)
        else:
            for j in range(start, stop):
                total += _log_factor(stretch[slot, side, j], x[i, j] - mean[slot, j])
    return total


@inner
def _log_predictive_cell(x, w, state, slot, j):
    """Log predictive of ``w`` copies of one cell."""
    v = state.hyper[1, j] + state.stats[slot, j]
    z = x - state.mean[slot, j]
    if w == 1 or w == -1:
        side = 0 if w == 1 else 1
        constant, stretch = state.constant[slot, side, j], state.stretch[slot, side, j]
    else:
        constant, stretch = _constant(state, slot, j, w, log_multigamma_ratio(v, w, 1))
    return constant - 0.5 * (v + w) * _log_factor(stretch, z)


@inner
def _constant(state, slot, j, w, log_gamma_ratio):
    """What does not depend on the cell in its log predictive, and the factor of (x - m)^2."""
    n, b = state.stats[slot, j], state.scale[slot, j]
    v, recorded = state.hyper[1, j] + n, b + w * state.hyper[3, j]
    before, after = state.hyper[0, j] + n, state.hyper[0, j] + copies_left(n, w)  # never 0, however weak the prior
    constant = log_gamma_ratio + 0.5 * np.log(before / after) - 0.5 * w * (LOG_PI + np.log(b))
    return constant - 0.5 * (v + w) * np.log(recorded / b), before * w / (after * recorded)


@implements(add, GammaState)
def _add(rows, i, w, state, slot):
    add_moments(state.stats[slot], rows.x[i], w, state.hyper[3])
    refresh(state, slot)


@implements(refresh, GammaState)
def _refresh(state, slot):
    d = state.mean.shape[1]
    total = 0.0
    for j in range(d):
        n, r = state.stats[slot, j], state.hyper[3, j]
        k = state.hyper[0, j] + n
        m = state.stats[slot, d + j] / k
        b = state.hyper[2, j] + max(state.stats[slot, 2 * d + j] - k * m * m, n * r)
        constant = _log_normaliser(state.normaliser, state.hyper, n, j) - 0.5 * np.log(b)
        constant -= _log_recorded(state.hyper[1, j] + n + 1.0, b, r)
        state.mean[slot, j] = m
        state.mean_by_column[j, slot] = m
        state.scale[slot, j] = b
        state.constant[slot, 0, j] = constant
        state.stretch[slot, 0, j] = k / ((k + 1.0) * (b + r))
        state.stretch_by_column[j, slot] = state.stretch[slot, 0, j]
        total += constant
    state.total[slot, 0] = total
    state.leaving[slot] = False


@inner
def _refresh_leaving(state, slot):
    """Compute what rows that leave the slot ask for, unless it is known: a row that is dealt asks for it of no slot."""
    if state.leaving[slot]:
        return
    total = 0.0
    for j in range(state.mean.shape[1]):
        n, r, b = state.stats[slot, j], state.hyper[3, j], state.scale[slot, j]
        if n >= 1.0 - NO_COPIES:
            left = copies_left(n, -1.0)
            constant = 0.5 * np.log(b) - _log_normaliser(state.normaliser, state.hyper, left, j)
            constant -= _log_recorded(state.hyper[1, j] + n - 1.0, b, -r)
            state.constant[slot, 1, j] = constant
            state.stretch[slot, 1, j] = -(state.hyper[0, j] + n) / ((state.hyper[0, j] + left) * (b - r))
            total += constant
    state.total[slot, 1] = total
    state.leaving[slot] = True


@inner
def _log_recorded(v, b, r):
    """What a cell that was recorded in steps costs: (v / 2) log((b + r) / b)."""
    return 0.5 * v * np.log((b + r) / b) if r != 0.0 else 0.0


@inner
def _log_normaliser(normaliser, hyper, n, j):
    """What depends on the number of cells alone in the log predictive of one more."""
    if n < normaliser.shape[0] and n == np.floor(n):
        return normaliser[int(n)]
    k = hyper[0, j] + n
    return log_multigamma_ratio(hyper[1, j] + n, 1, 1) + 0.5 * np.log(k / (k + 1.0)) - 0.5 * LOG_PI


@implements(log_marginal, GammaState)
def _log_marginal(state, slot):
    total = 0.0
    for j in range(state.mean.shape[1]):
        total += _log_marginal_column(state, slot, j)
    return total


@implements(log_marginal_columns, GammaState)
def _log_marginal_columns(state, slot, start, out):
    for j in range(state.mean.shape[1]):
        out[start + j] = _log_marginal_column(state, slot, j)


@inner
def _log_marginal_column(state, slot, j):
    n = state.stats[slot, j]
    k0, v0, b0 = state.hyper[0, j], state.hyper[1, j], state.hyper[2, j]
    return (
        log_multigamma_ratio(v0, n, 1)
        + 0.5 * v0 * np.log(b0)
        - 0.5 * (v0 + n) * np.log(state.scale[slot, j])
        + 0.5 * np.log(k0 / (k0 + n))
        - 0.5 * n * LOG_PI
    )
