"""Compiled part of `NormalInverseWishart`: predictives, updates, and missing cells drawn with the row's label."""

from typing import NamedTuple

import numpy as np

from partita.kernels.algebra import (
    NO_COPIES,
    add_outer,
    cholesky_in_place,
    copies_left,
    invert_lower,
    log_multigamma_ratio,
    rank_one_update,
    squared_distance,
    squared_distance_within,
)
from partita.kernels.compiling import inner
from partita.kernels.dispatch import implements
from partita.kernels.names import (
    add,
    exponentiate,
    fill_gaps,
    has_gaps,
    log_marginal,
    log_predictive,
    log_predictive_observed,
    log_weights_slot_by_slot,
    refresh,
    weights,
)

LOG_PI = np.log(np.pi)
LEAST_DETERMINANT_RATIO = 1e-8  # below it a factor is recomputed rather than downdated
LEAST_RATIO = 1e-300
NEGLIGIBLE = 45.0  # nats below another weight: less than the last bit of a sum


class WishartRows(NamedTuple):
    """Cells relative to the prior mean; missing ones hold their present draw."""

    x: np.ndarray  # (n, d)
    missing: np.ndarray  # (n, d) bool
    gaps: np.ndarray  # (n,) bool


class WishartState(NamedTuple):
    """Statistics [n, sum x, sum xx'] per slot and what is derived from them.

    Where numbers were recorded in steps, w copies of a row add w R to S besides their scatter, R the diagonal matrix of
    ``rounding``: that is no rank-one change, so S is factored anew when a row comes or goes. ``factor`` is that of one
    more row, S + R; ``other_factor`` that of S + w R for the last other w that was asked for.
    """

    stats: np.ndarray  # (slots, 1 + d + d * d)
    mean: np.ndarray  # (slots, d)
    factor: np.ndarray  # (slots, d, d) lower triangular F, F'F = (S + R)^-1
    log_det: np.ndarray  # (slots,) log |S|
    log_det_next: np.ndarray  # (slots,) log |S + R|
    constant: np.ndarray  # (slots, 2) of the log predictive for w = 1 and, without log |S - R|, for w = -1
    hyper: np.ndarray  # k0, v0, log |S0|
    scale: np.ndarray  # (d, d) S0
    rounding: np.ndarray  # (d,)
    other_weight: np.ndarray  # (slots,) w, 0 where S has changed since; of no slots where all numbers are continuous
    other_log_det: np.ndarray  # (slots,) log |S + w R|
    other_factor: np.ndarray  # (slots, d, d)
    work: np.ndarray  # (3, d) scratch
    matrix: np.ndarray  # (d, d) scratch


@implements(log_predictive, WishartState)
def _log_predictive(rows, i, w, state, slot):
    d = state.mean.shape[1]
    if d == 0:
        return 0.0
    n = state.stats[slot, 0]
    step, v = _step(state, slot, w, copies_left(n, w)), state.hyper[1] + n
    factor, log_more = state.factor, 0.0
    if _is_recorded(state) and (w != 1 or rows.gaps[i]):
        log_more = _factor_other(rows, i, w, state, slot) - state.log_det[slot]
        factor = state.other_factor
    q = squared_distance(rows.x, i, state.mean, factor, slot, state.work)
    ratio = max(1.0 + step * q, LEAST_RATIO)
    spread = -0.5 * (v + w) * (log_more + np.log(ratio))
    if w == 1 and not (_is_recorded(state) and rows.gaps[i]):
        return state.constant[slot, 0] + spread
    if w == -1:
        return state.constant[slot, 1] + spread
    return _constant(state, slot, w) + spread


@inner
def _is_recorded(state):
    """Whether the numbers of some column were recorded in steps."""
    return state.other_weight.shape[0] > 0


@inner
def _factor_other(rows, i, w, state, slot):
    """Let ``other_factor`` be that of S + w R, R without what the row lacks; return log |S + w R|."""
    if rows.gaps[i] or state.other_weight[slot] != w:
        _posterior_scale(state, slot, state.matrix)
        for a in range(state.mean.shape[1]):
            if not rows.missing[i, a]:
                state.matrix[a, a] += w * state.rounding[a]
        state.other_log_det[slot] = cholesky_in_place(state.matrix)
        invert_lower(state.matrix, state.other_factor[slot])
        state.other_weight[slot] = 0.0 if rows.gaps[i] else w
    return state.other_log_det[slot]


@implements(weights, WishartState)
def _weights(rows, i, state, sizes, n_slots, own, prior_scores, out):
    if state.mean.shape[1] == 0:
        out[:n_slots] = 1.0
        return 0.0
    if _is_recorded(state) and rows.gaps[i]:
        log_weights_slot_by_slot(rows, i, 1, state, sizes, n_slots, own, out)
        return exponentiate(out, n_slots)
    reference = -np.inf
    if own >= 0 and sizes[own] > 0 and prior_scores[own] > 0.0:
        out[own] = -log_predictive(rows, i, -1, state, own)
        reference = out[own] + np.log(prior_scores[own])
    return _screened_weights(
        rows.x,
        i,
        state.mean,
        state.factor,
        state.hyper,
        state.constant,
        sizes,
        n_slots,
        own,
        prior_scores,
        out,
        reference,
    )


@inner
def _screened_weights(
    x, i, mean, factor, hyper, constant, sizes, n_slots, own, prior_scores, out, reference
):  # OUT: out
    """Weights of all slots; ``out[own]`` holds a log already unless the row is alone or has no seat.

    The squared distance grows with every coordinate, so a slot is given up, weight 0, as soon as a
    part of it shows that prior times predictive is ``NEGLIGIBLE`` beside one computed before.
    """
    top_prior = 0.0
    for k in range(n_slots):
        top_prior = max(top_prior, prior_scores[k])
    log_top_prior = np.log(top_prior)
    top = out[own] if reference > -np.inf else -np.inf
    for k in range(n_slots):
        if k == own and sizes[own] > 0:
            continue
        out[k] = -np.inf
        if prior_scores[k] <= 0.0:
            continue
        # An own slot that is empty without the row still holds it: any other empty slot is alike.
        slot = k if k != own else _other_empty(sizes, n_slots, own)
        kappa, v = hyper[0] + sizes[slot], hyper[1] + sizes[slot]
        stretch = kappa / (kappa + 1.0)
        # log1p(y) >= 2 y / (2 + y), so y = stretch * q beyond 2 z / (2 - z) is negligible.
        z = 2.0 * (constant[slot, 0] + log_top_prior - reference + NEGLIGIBLE) / (v + 1.0)
        limit = np.inf
        if z <= 0.0:
            limit = 0.0
        elif z < 2.0:
            limit = 2.0 * z / ((2.0 - z) * stretch)
        q = squared_distance_within(x, i, mean, factor, slot, limit)
        if q <= limit:
            out[k] = constant[slot, 0] - 0.5 * (v + 1.0) * np.log1p(stretch * q)
            top = max(top, out[k])
            reference = max(reference, out[k] + np.log(prior_scores[k]))
    for k in range(n_slots):
        out[k] = np.exp(out[k] - top) if out[k] > -np.inf else 0.0
    return top


@inner
def _other_empty(sizes, n_slots, own):
    for k in range(n_slots):
        if sizes[k] == 0 and k != own:
            return k
    return own


@inner
def _constant(state, slot, w):
    """What does not depend on the row in the log predictive of ``w`` copies."""
    d = state.mean.shape[1]
    n = state.stats[slot, 0]
    before, after, v = state.hyper[0] + n, state.hyper[0] + copies_left(n, w), state.hyper[1] + n
    gamma = log_multigamma_ratio(v, w, d) + 0.5 * d * np.log(before / after)
    return gamma - 0.5 * w * (d * LOG_PI + state.log_det[slot])


@inner
def _step(state, slot, w, left):
    """The factor of (x - m)(x - m)' that ``w`` copies of a row add to S, with which ``left`` are in the slot."""
    return (state.hyper[0] + state.stats[slot, 0]) * w / (state.hyper[0] + left)  # never by 0, however weak the prior


@implements(add, WishartState)
def _add(rows, i, w, state, slot):
    d = state.mean.shape[1]
    if d == 0:
        return
    step = _step(state, slot, w, state.stats[slot, 0] + w)
    add_outer(state.stats[slot], rows.x[i], w)
    if _is_recorded(state):
        for a in range(d):
            if not rows.missing[i, a]:
                state.stats[slot, 1 + d + a * d + a] += w * state.rounding[a]
        refresh(state, slot)
        return
    q = squared_distance(rows.x, i, state.mean, state.factor, slot, state.work)
    ratio = 1.0 + step * q
    if ratio < LEAST_DETERMINANT_RATIO:
        refresh(state, slot)
        return
    rank_one_update(state.factor[slot], state.work, step)
    state.log_det[slot] += np.log(ratio)
    state.log_det_next[slot] = state.log_det[slot]
    k = state.hyper[0] + state.stats[slot, 0]
    for j in range(d):
        state.mean[slot, j] += w / k * (rows.x[i, j] - state.mean[slot, j])
    _set_constants(state, slot)


@implements(refresh, WishartState)
def _refresh(state, slot):
    d = state.mean.shape[1]
    if d == 0:
        return
    _posterior_scale(state, slot, state.matrix)
    state.log_det[slot] = cholesky_in_place(state.matrix)
    state.log_det_next[slot] = state.log_det[slot]
    if _is_recorded(state):
        _posterior_scale(state, slot, state.matrix)
        for a in range(d):
            state.matrix[a, a] += state.rounding[a]
        state.log_det_next[slot] = cholesky_in_place(state.matrix)
        state.other_weight[slot] = 0.0
    invert_lower(state.matrix, state.factor[slot])
    _set_constants(state, slot)


@inner
def _posterior_scale(state, slot, out):
    """Write S to ``out`` and the posterior mean to the state."""
    d = state.mean.shape[1]
    k = state.hyper[0] + state.stats[slot, 0]
    for a in range(d):
        state.mean[slot, a] = state.stats[slot, 1 + a] / k
    for a in range(d):
        for b in range(d):
            second = state.stats[slot, 1 + d + a * d + b]
            out[a, b] = state.scale[a, b] + second - k * state.mean[slot, a] * state.mean[slot, b]


@inner
def _set_constants(state, slot):
    v = state.hyper[1] + state.stats[slot, 0]
    log_more = state.log_det_next[slot] - state.log_det[slot]
    state.constant[slot, 0] = _constant(state, slot, 1) - 0.5 * (v + 1.0) * log_more
    if state.stats[slot, 0] >= 1.0 - NO_COPIES:
        state.constant[slot, 1] = _constant(state, slot, -1)


@implements(log_marginal, WishartState)
def _log_marginal(state, slot):
    d = state.mean.shape[1]
    if d == 0:
        return 0.0
    n = state.stats[slot, 0]
    k0, v0, log_det0 = state.hyper
    return (
        -0.5 * n * d * LOG_PI
        + log_multigamma_ratio(v0, n, d)
        + 0.5 * v0 * log_det0
        - 0.5 * (v0 + n) * state.log_det[slot]
        + 0.5 * d * np.log(k0 / (k0 + n))
    )


@implements(has_gaps, WishartState)
def _has_gaps(rows, i, state):
    return rows.gaps[i]


@implements(log_predictive_observed, WishartState)
def _log_predictive_observed(rows, i, state, slot):
    n_observed, q, log_det = _condition_on_observed(rows, i, state, slot)
    n = state.stats[slot, 0]
    k = state.hyper[0] + n
    v = state.hyper[1] + n - (state.mean.shape[1] - n_observed)
    log_more = _log_more(state, slot) if _is_recorded(state) else 0.0
    return (
        -0.5 * (state.hyper[1] + n) * log_more
        - 0.5 * n_observed * LOG_PI
        + log_multigamma_ratio(v, 1, n_observed)
        + 0.5 * n_observed * np.log(k / (k + 1.0))
        - 0.5 * log_det
        - 0.5 * (v + 1.0) * np.log1p(k / (k + 1.0) * q)
    )


@inner
def _log_more(state, slot):
    """log |S + R| - log |S|, given the factor of S + R in scratch."""
    log_det = 0.0
    for a in range(state.mean.shape[1]):
        log_det += 2.0 * np.log(state.matrix[a, a])
    return log_det - state.log_det[slot]


@implements(fill_gaps, WishartState)
def _fill_gaps(rng, rows, i, state, slot):
    d = state.mean.shape[1]
    n_observed, q, _ = _condition_on_observed(rows, i, state, slot)
    n = state.stats[slot, 0]
    k = state.hyper[0] + n
    dof = state.hyper[1] + n - d + 1.0 + n_observed
    spread = np.sqrt(((k + 1.0) / k + q) / rng.chisquare(dof))
    order, white = state.work[0], state.work[1]
    for a in range(n_observed, d):
        white[a] = spread * rng.standard_normal()
    for a in range(n_observed, d):
        column = int(order[a])
        value = state.mean[slot, column]
        for b in range(a + 1):
            value += state.matrix[a, b] * white[b]
        rows.x[i, column] = value


@inner
def _condition_on_observed(rows, i, state, slot):
    """Factor S + R with the observed columns first; leave order, whitened cells and factor in scratch.

    R is 0 at the others. Returns the number of observed cells, their squared distance and the log determinant of their
    block.
    """
    d = state.mean.shape[1]
    order, white, matrix = state.work[0], state.work[1], state.matrix
    n_observed = 0
    for wanted in (False, True):
        for a in range(d):
            if rows.missing[i, a] == wanted:
                order[n_observed] = a
                n_observed += 1
    n_observed = d - np.sum(rows.missing[i])
    k = state.hyper[0] + state.stats[slot, 0]
    for a in range(d):
        for b in range(d):
            p, r = int(order[a]), int(order[b])
            second = state.stats[slot, 1 + d + p * d + r]
            matrix[a, b] = state.scale[p, r] + second - k * state.mean[slot, p] * state.mean[slot, r]
    for a in range(n_observed):
        matrix[a, a] += state.rounding[int(order[a])]
    cholesky_in_place(matrix)
    q, log_det = 0.0, 0.0
    for a in range(n_observed):
        column = int(order[a])
        value = rows.x[i, column] - state.mean[slot, column]
        for b in range(a):
            value -= matrix[a, b] * white[b]
        white[a] = value / matrix[a, a]
        q += white[a] * white[a]
        log_det += 2.0 * np.log(matrix[a, a])
    return n_observed, q, log_det
