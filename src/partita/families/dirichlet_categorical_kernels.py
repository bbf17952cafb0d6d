"""Compiled part of `DirichletCategorical`: products of a row's shares in every slot and updates."""

import math
from typing import NamedTuple

import numpy as np

from partita.kernels.algebra import log_gamma_ratio, log_rising
from partita.kernels.compiling import inner
from partita.kernels.dispatch import generic, implements
from partita.kernels.names import (
    add,
    log_marginal,
    log_marginal_columns,
    log_predictive,
    log_predictive_columns,
    log_weights,
    refresh,
    second_order,
    weights,
)

LOG_2 = np.log(2.0)


class CategoricalRows(NamedTuple):
    """Positions in the table of numerators: the column's offset plus the category; -1 where missing."""

    position: np.ndarray  # (n, M) int32
    complete: np.ndarray  # (n,) bool


class CategoricalState(NamedTuple):
    """Counts per slot and category, and the tables that a row's product reads."""

    stats: np.ndarray  # (slots, L) counts, L categories over all columns
    numerator: np.ndarray  # (L, slots) beta + count
    observed: np.ndarray  # (M, slots) cells observed in a column
    inverse_total: np.ndarray  # (M, slots) 1 / (J beta + observed)
    inverse_product: np.ndarray  # (2, slots) product of 1 / total over columns with all rows, with one less
    inverse_exponent: np.ndarray  # (2, slots) int64, and its binary exponent
    pseudocount: np.ndarray  # (M,) beta
    mass: np.ndarray  # (M,) J beta
    offset: np.ndarray  # (M + 1,) int64, where each column's categories start
    complete: np.ndarray  # (1,) bool: no cell of the table is missing
    columns_per_rescale: np.ndarray  # (1,) int64
    exponent: np.ndarray  # (slots,) int64, scratch


@generic("state", inline=True)
def level_factor(state, m, count):
    """What one more row is multiplied by where ``count`` rows of its category of column m are in its slot."""


@generic("state", inline=True)
def total_factor(state, m, count):
    """What it is divided by where ``count`` rows with a cell in column m are."""


@implements(level_factor, CategoricalState)
def _level_factor(state, m, count):
    return state.pseudocount[m] + count


@implements(total_factor, CategoricalState)
def _total_factor(state, m, count):
    return state.mass[m] + count


@implements(weights, CategoricalState)
@inner
def category_weights(rows, i, state, sizes, n_slots, own, prior_scores, out):
    """`weights` of categories, whatever the factors."""
    if not _products(rows, i, state, n_slots, own, out):
        return 0.0
    top = state.exponent[0]
    for k in range(n_slots):
        top = max(top, state.exponent[k])
    for k in range(n_slots):
        out[k] = math.ldexp(out[k], state.exponent[k] - top)
    return top * LOG_2


@implements(log_weights, CategoricalState)
@inner
def category_log_weights(rows, i, w, state, sizes, n_slots, own, out):
    """`log_weights` of categories; one row's by products."""
    if w == 1:
        rescaled = _products(rows, i, state, n_slots, own, out)
        for k in range(n_slots):
            out[k] = np.log(out[k]) + (state.exponent[k] * LOG_2 if rescaled else 0.0)
        return
    for k in range(n_slots):
        out[k] = log_predictive(rows, i, w, state, k) if k != own else -log_predictive(rows, i, -w, state, k)


@inner(forceinline=True)
def _products(rows, i, state, n_slots, own, out):
    """Predictive of one row in every slot; True when ``state.exponent`` holds binary exponents of it."""
    position, exponent = rows.position, state.exponent
    n_columns, step = position.shape[1], state.columns_per_rescale[0]
    rescale = n_columns > step
    for k in range(n_slots):
        out[k] = 1.0
    if rescale:
        for k in range(n_slots):
            exponent[k] = 0
    whole = state.complete[0] and rows.complete[i]
    for start in range(0, n_columns, step):
        stop = min(start + step, n_columns)
        _multiply(position, i, start, stop, state.numerator, n_slots, out)
        if not whole:
            _divide(position, i, start, stop, state.inverse_total, n_slots, out)
        if rescale:
            _move_exponents(out, exponent, n_slots)
    if whole:
        for k in range(n_slots):
            out[k] *= state.inverse_product[0, k]
        if rescale:
            for k in range(n_slots):
                exponent[k] += state.inverse_exponent[0, k]
    if own >= 0:
        out[own], exponent[own] = category_product(rows, i, state, own, 1)
    return rescale


@inner
def _multiply(position, i, start, stop, numerator, n_slots, out):
    """Multiply by the numerators of some columns, two columns at a time."""
    m = start
    while m < stop:
        r = position[i, m]
        s = position[i, m + 1] if m + 1 < stop else -1
        if r >= 0 and s >= 0:
            for k in range(n_slots):
                out[k] *= numerator[r, k] * numerator[s, k]
        elif r >= 0 or s >= 0:
            t = max(r, s)
            for k in range(n_slots):
                out[k] *= numerator[t, k]
        m += 2


@inner
def _divide(position, i, start, stop, inverse_total, n_slots, out):
    """Divide by the totals of the observed columns."""
    for m in range(start, stop):
        if position[i, m] >= 0:
            for k in range(n_slots):
                out[k] *= inverse_total[m, k]


@inner
def _move_exponents(mantissa, exponent, n_slots):
    for k in range(n_slots):
        mantissa[k], shift = math.frexp(mantissa[k])
        exponent[k] += shift


@inner(forceinline=True)
def category_product(rows, i, state, slot, removed):
    """Predictive of one row in one slot less ``removed`` (0 or 1) copies of it: mantissa and exponent."""
    position, stats, observed = rows.position, state.stats, state.observed
    n_columns, step = position.shape[1], state.columns_per_rescale[0]
    whole = state.complete[0] and rows.complete[i]
    product, exponent = 1.0, 0
    for start in range(0, n_columns, step):
        above, below = 1.0, 1.0
        for m in range(start, min(start + step, n_columns)):
            r = position[i, m]
            if r >= 0:
                above *= level_factor(state, m, stats[slot, r] - removed)
                if not whole:
                    below *= total_factor(state, m, observed[m, slot] - removed)
        product *= above / below
        if n_columns > step:
            product, shift = math.frexp(product)
            exponent += shift
    if whole:
        return product * state.inverse_product[removed, slot], exponent + state.inverse_exponent[removed, slot]
    return product, exponent


@implements(log_predictive, CategoricalState)
def _log_predictive(rows, i, w, state, slot):
    if w == 1 or w == -1:
        product, exponent = category_product(rows, i, state, slot, 0 if w == 1 else 1)
        return w * (np.log(product) + exponent * LOG_2)
    total = 0.0
    for m in range(rows.position.shape[1]):
        if rows.position[i, m] >= 0:
            total += _log_predictive_cell(rows, i, w, state, slot, m)
    return total


@implements(log_predictive_columns, CategoricalState)
def _log_predictive_columns(rows, i, w, state, slot, start, out):
    for m in range(rows.position.shape[1]):
        r = rows.position[i, m]
        if r >= 0 and w == 1:
            out[start + m] = np.log(state.numerator[r, slot] * state.inverse_total[m, slot])
        else:
            out[start + m] = _log_predictive_cell(rows, i, w, state, slot, m) if r >= 0 else 0.0


@inner
def _log_predictive_cell(rows, i, w, state, slot, m):
    """Log predictive of ``w`` copies of one cell."""
    r, taken, copies = rows.position[i, m], max(-w, 0), abs(w)
    above = log_rising(state.pseudocount[m] + (state.stats[slot, r] - taken), copies)
    below = log_rising(state.mass[m] + (state.observed[m, slot] - taken), copies)
    return above - below if w > 0 else below - above


@implements(second_order, CategoricalState)
def _second_order(rows, i, state, spread, n_slots, out):
    for m in range(rows.position.shape[1]):
        r = rows.position[i, m]
        if r >= 0:
            beta = state.pseudocount[m]
            for k in range(n_slots):
                above, below = state.numerator[r, k], state.inverse_total[m, k]
                out[k] += 0.5 * spread.observed[m, k] * below * below
                out[k] -= 0.5 * ((spread.numerator[r, k] - beta) / above) / above


@implements(add, CategoricalState)
def add_categories(rows, i, w, state, slot):
    """`add` of categories."""
    for m in range(rows.position.shape[1]):
        r = rows.position[i, m]
        if r >= 0:
            state.stats[slot, r] = max(state.stats[slot, r] + w, 0.0)  # parts of rows leave rounding behind
            state.numerator[r, slot] = level_factor(state, m, state.stats[slot, r])
            state.observed[m, slot] = max(state.observed[m, slot] + w, 0.0)
            state.inverse_total[m, slot] = 1.0 / total_factor(state, m, state.observed[m, slot])
    _set_inverse_product(state, slot)


@inner
def _set_inverse_product(state, slot):
    observed = state.observed
    n_columns, step = state.mass.shape[0], state.columns_per_rescale[0]
    for removed in range(2):
        product, exponent = 1.0, 0
        for m in range(n_columns):
            product *= total_factor(state, m, observed[m, slot] - removed)
            if n_columns > step and (m + 1) % step == 0:
                product, shift = math.frexp(product)
                exponent += shift
        state.inverse_product[removed, slot] = 1.0 / product if product > 0.0 else 0.0
        state.inverse_exponent[removed, slot] = -exponent


@implements(refresh, CategoricalState)
def refresh_categories(state, slot):
    """`refresh` of categories."""
    for m in range(state.pseudocount.shape[0]):
        observed = 0.0
        for r in range(state.offset[m], state.offset[m + 1]):
            state.numerator[r, slot] = level_factor(state, m, state.stats[slot, r])
            observed += state.stats[slot, r]
        state.observed[m, slot] = observed
        state.inverse_total[m, slot] = 1.0 / total_factor(state, m, observed)
    _set_inverse_product(state, slot)


@implements(log_marginal, CategoricalState)
def _log_marginal(state, slot):
    total = 0.0
    for m in range(state.pseudocount.shape[0]):
        total += _log_marginal_column(state, slot, m)
    return total


@implements(log_marginal_columns, CategoricalState)
def _log_marginal_columns(state, slot, start, out):
    for m in range(state.pseudocount.shape[0]):
        out[start + m] = _log_marginal_column(state, slot, m)


@inner
def _log_marginal_column(state, slot, m):
    total = 0.0
    for r in range(state.offset[m], state.offset[m + 1]):
        count = state.stats[slot, r]
        if count > 0.0:
            total += log_gamma_ratio(state.pseudocount[m], count)
    return total - log_gamma_ratio(state.mass[m], state.observed[m, slot])
