"""Compiled part of `Powered`: every generic name asks the plain state for ``power`` times as many copies of a row."""

from typing import Any, NamedTuple

import numpy as np

from partita.kernels.dispatch import implements
from partita.kernels.names import (
    add,
    combine,
    has_gaps,
    log_marginal,
    log_predictive,
    log_predictive_observed,
    log_weights,
    refresh,
    reset,
)


class PoweredState(NamedTuple):
    """The plain state, whose statistics count rows ``power`` times."""

    plain: Any
    power: np.ndarray  # (1,)


@implements(log_predictive, PoweredState)
def _log_predictive(rows, i, w, state, slot):
    return log_predictive(rows, i, w * state.power[0], state.plain, slot)


@implements(log_weights, PoweredState)
def _log_weights(rows, i, w, state, sizes, n_slots, own, out):
    log_weights(rows, i, w * state.power[0], state.plain, sizes, n_slots, own, out)


@implements(add, PoweredState)
def _add(rows, i, w, state, slot):
    add(rows, i, w * state.power[0], state.plain, slot)


@implements(reset, PoweredState)
def _reset(state, slot):
    reset(state.plain, slot)


@implements(combine, PoweredState)
def _combine(state, target, first, second):
    combine(state.plain, target, first, second)


@implements(refresh, PoweredState)
def _refresh(state, slot):
    refresh(state.plain, slot)


@implements(log_marginal, PoweredState)
def _log_marginal(state, slot):
    return log_marginal(state.plain, slot)


@implements(has_gaps, PoweredState)
def _has_gaps(rows, i, state):
    return has_gaps(rows, i, state.plain)


@implements(log_predictive_observed, PoweredState)
def _log_predictive_observed(rows, i, state, slot):
    """Of new rows only, whose missing cells nobody draws: the power of the density, not the density of the power."""
    return state.power[0] * log_predictive_observed(rows, i, state.plain, slot)
