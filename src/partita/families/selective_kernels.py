"""Compiled part of `Selected`: every column of a slot is the family's, or the background's, with a probability each.

With a = log m(A + w x) / m(A) of the family's marginal likelihood m in one column, b = w log g(x) of the background and
L the log odds of the family given the rows A,

    f(A + w x) / f(A) = exp(b) (1 + exp(L + a - b)) / (1 + exp(L))

for w > 0 as for w < 0, whatever the family.
"""

import math
from typing import NamedTuple

import numpy as np

from partita.families.product_kernels import ProductRows, ProductState
from partita.kernels.compiling import inner
from partita.kernels.dispatch import implements
from partita.kernels.names import (
    add,
    combine,
    log_marginal,
    log_marginal_columns,
    log_predictive,
    log_predictive_columns,
    refresh,
    reset,
)

LEAST_PRODUCT, LARGEST_PRODUCT = 1e-250, 1e250


class SelectedRows(NamedTuple):
    """The family's rows, and what the background says of them."""

    plain: ProductRows
    background: np.ndarray  # (n, d) log g, 0 where missing


class SelectedState(NamedTuple):
    """The family's state, sums of what the background says, and what follows from both."""

    plain: ProductState
    stats: np.ndarray  # (slots, d) sum of log g over the rows of a slot
    log_odds: np.ndarray  # (slots, d) of the family against the background
    inside: np.ndarray  # (slots, d) probability of the family
    outside: np.ndarray  # (slots, d) and of the background
    log_prior_odds: np.ndarray  # (1,)
    scratch: np.ndarray  # (d,)


@implements(log_predictive, SelectedState)
def _log_predictive(rows, i, w, state, slot):
    log_predictive_columns(rows.plain, i, w, state.plain, slot, 0, state.scratch)
    total, product = 0.0, 1.0
    for j in range(state.stats.shape[1]):
        background = w * rows.background[i, j]
        gain = state.scratch[j] - background
        total += background
        if gain == 0.0:  # so it is where the cell is missing
            continue
        following = product * (state.outside[slot, j] + state.inside[slot, j] * math.exp(gain))
        if LEAST_PRODUCT < following < LARGEST_PRODUCT:
            product = following
        else:  # what no float holds
            total += _softplus(state.log_odds[slot, j] + gain) - _softplus(state.log_odds[slot, j])
    return total + math.log(product)


@inner
def _softplus(x):
    """log(1 + exp(x))."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@implements(add, SelectedState)
def _add(rows, i, w, state, slot):
    """Odds by what the row adds to them: the marginal likelihood of a column takes many times as long."""
    log_predictive_columns(rows.plain, i, w, state.plain, slot, 0, state.scratch)
    add(rows.plain, i, w, state.plain, slot)
    for j in range(state.stats.shape[1]):
        background = w * rows.background[i, j]
        state.stats[slot, j] += background
        _set_odds(state, slot, j, state.log_odds[slot, j] + state.scratch[j] - background)


@inner
def _set_all_odds(state, slot):
    log_marginal_columns(state.plain, slot, 0, state.scratch)
    for j in range(state.stats.shape[1]):
        _set_odds(state, slot, j, state.log_prior_odds[0] + state.scratch[j] - state.stats[slot, j])


@inner
def _set_odds(state, slot, j, odds):
    power = math.exp(-abs(odds))
    larger, smaller = 1.0 / (1.0 + power), power / (1.0 + power)
    state.log_odds[slot, j] = odds
    state.inside[slot, j] = larger if odds > 0.0 else smaller
    state.outside[slot, j] = smaller if odds > 0.0 else larger


@implements(refresh, SelectedState)
def _refresh(state, slot):
    refresh(state.plain, slot)
    _set_all_odds(state, slot)


@implements(reset, SelectedState)
def _reset(state, slot):
    reset(state.plain, slot)
    state.stats[slot] = 0.0
    _set_all_odds(state, slot)


@implements(combine, SelectedState)
def _combine(state, target, first, second):
    combine(state.plain, target, first, second)
    for j in range(state.stats.shape[1]):
        state.stats[target, j] = state.stats[first, j] + state.stats[second, j]
    _set_all_odds(state, target)


@implements(log_marginal, SelectedState)
def _log_marginal(state, slot):
    total = 0.0
    for j in range(state.stats.shape[1]):
        total += state.stats[slot, j] + _softplus(state.log_odds[slot, j]) - _softplus(state.log_prior_odds[0])
    return total
