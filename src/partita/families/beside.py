"""A block of another family beside the blocks of `Product`: every generic name, part by part.

``first`` is what stands there already, `ProductState` or, where there are several such blocks, another `BesideState`;
``second`` is the block. Every combination is compiled for itself. The parts share no ``numba.njit`` function: one that
is called while it is compiled for another part counts as recursive, and such code cannot be kept.
"""

from typing import Any, NamedTuple

import numpy as np

from partita.kernels.dispatch import implements
from partita.kernels.names import (
    add,
    combine,
    exponentiate,
    fill_gaps,
    has_gaps,
    log_marginal,
    log_predictive,
    log_predictive_observed,
    log_weights,
    refresh,
    reset,
    second_order,
    weights,
)


class BesideRows(NamedTuple):
    """The rows of both parts."""

    first: Any
    second: Any


class BesideState(NamedTuple):
    """The states of both parts."""

    first: Any
    second: Any
    scratch: np.ndarray  # (slots,)


@implements(weights, BesideState)
def _weights(rows, i, state, sizes, n_slots, own, prior_scores, out):
    """The block's in logs: its own weights may leave out slots that are small for it alone."""
    scratch = state.scratch
    log_scale = weights(rows.first, i, state.first, sizes, n_slots, own, prior_scores, out)
    log_weights(rows.second, i, 1, state.second, sizes, n_slots, own, scratch)
    log_scale += exponentiate(scratch, n_slots)
    for k in range(n_slots):
        out[k] *= scratch[k]
    return log_scale


@implements(log_weights, BesideState)
def _log_weights(rows, i, w, state, sizes, n_slots, own, out):
    scratch = state.scratch
    log_weights(rows.first, i, w, state.first, sizes, n_slots, own, out)
    log_weights(rows.second, i, w, state.second, sizes, n_slots, own, scratch)
    for k in range(n_slots):
        out[k] += scratch[k]


@implements(second_order, BesideState)
def _second_order(rows, i, state, spread, n_slots, out):
    second_order(rows.first, i, state.first, spread.first, n_slots, out)
    second_order(rows.second, i, state.second, spread.second, n_slots, out)


@implements(log_predictive, BesideState)
def _log_predictive(rows, i, w, state, slot):
    first = log_predictive(rows.first, i, w, state.first, slot)
    return first + log_predictive(rows.second, i, w, state.second, slot)


@implements(add, BesideState)
def _add(rows, i, w, state, slot):
    add(rows.first, i, w, state.first, slot)
    add(rows.second, i, w, state.second, slot)


@implements(reset, BesideState)
def _reset(state, slot):
    reset(state.first, slot)
    reset(state.second, slot)


@implements(combine, BesideState)
def _combine(state, target, first, second):
    combine(state.first, target, first, second)
    combine(state.second, target, first, second)


@implements(refresh, BesideState)
def _refresh(state, slot):
    refresh(state.first, slot)
    refresh(state.second, slot)


@implements(log_marginal, BesideState)
def _log_marginal(state, slot):
    return log_marginal(state.first, slot) + log_marginal(state.second, slot)


@implements(has_gaps, BesideState)
def _has_gaps(rows, i, state):
    return has_gaps(rows.first, i, state.first) or has_gaps(rows.second, i, state.second)


@implements(log_predictive_observed, BesideState)
def _log_predictive_observed(rows, i, state, slot):
    if has_gaps(rows.first, i, state.first):
        first = log_predictive_observed(rows.first, i, state.first, slot)
    else:
        first = log_predictive(rows.first, i, 1, state.first, slot)
    if has_gaps(rows.second, i, state.second):
        return first + log_predictive_observed(rows.second, i, state.second, slot)
    return first + log_predictive(rows.second, i, 1, state.second, slot)


@implements(fill_gaps, BesideState)
def _fill_gaps(rng, rows, i, state, slot):
    if has_gaps(rows.first, i, state.first):
        fill_gaps(rng, rows.first, i, state.first, slot)
    if has_gaps(rows.second, i, state.second):
        fill_gaps(rng, rows.second, i, state.second, slot)
