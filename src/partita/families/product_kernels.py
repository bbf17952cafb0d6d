"""Compiled part of `Product`: every generic name, block by block."""

from typing import NamedTuple

import numpy as np

from partita.families.algebra.moments import NumericRows
from partita.families.dirichlet_categorical_kernels import CategoricalRows, CategoricalState
from partita.families.gamma_poisson import CountRows, CountState
from partita.families.normal_inverse_gamma_kernels import GammaState
from partita.families.normal_inverse_wishart_kernels import WishartRows, WishartState
from partita.families.normal_known_variance import KnownVarianceState
from partita.families.powered_categories_kernels import PoweredCategoricalState
from partita.families.powered_kernels import PoweredState
from partita.kernels.compiling import inner
from partita.kernels.dispatch import implements
from partita.kernels.names import (
    add,
    combine,
    exponentiate,
    fill_gaps,
    has_gaps,
    log_marginal,
    log_marginal_columns,
    log_predictive,
    log_predictive_columns,
    log_predictive_observed,
    log_weights,
    refresh,
    reset,
    second_order,
    weights,
)


class ProductRows(NamedTuple):
    """The rows of every block."""

    full: WishartRows
    diagonal: NumericRows
    known: NumericRows
    categories: CategoricalRows
    counts: CountRows


class ProductState(NamedTuple):
    """The state of every block, or of its power."""

    full: WishartState | PoweredState
    diagonal: GammaState | PoweredState
    known: KnownVarianceState | PoweredState
    categories: CategoricalState | PoweredCategoricalState
    counts: CountState | PoweredState
    scratch: np.ndarray  # (slots,)


@inner
def _has_full(rows):
    return rows.full.x.shape[1] > 0


@implements(weights, ProductState)
def _weights(rows, i, state, sizes, n_slots, own, prior_scores, out):
    _log_weights_of_numbers(rows, i, 1, state, sizes, n_slots, own, out)
    log_scale = exponentiate(out, n_slots)
    if rows.categories.position.shape[1] > 0:
        scratch = state.scratch
        log_scale += weights(rows.categories, i, state.categories, sizes, n_slots, own, prior_scores, scratch)
        for k in range(n_slots):
            out[k] *= scratch[k]
    return log_scale


@implements(log_weights, ProductState)
def _log_weights(rows, i, w, state, sizes, n_slots, own, out):
    _log_weights_of_numbers(rows, i, w, state, sizes, n_slots, own, out)
    if rows.categories.position.shape[1] > 0:
        log_weights(rows.categories, i, w, state.categories, sizes, n_slots, own, state.scratch)
        _accumulate(out, state.scratch, n_slots)


@inner(forceinline=True)
def _log_weights_of_numbers(rows, i, w, state, sizes, n_slots, own, out):
    """Log weights of all blocks but the categories, whose weights are linear."""
    scratch = state.scratch
    out[:n_slots] = 0.0
    if _has_full(rows):
        log_weights(rows.full, i, w, state.full, sizes, n_slots, own, scratch)
        _accumulate(out, scratch, n_slots)
    if rows.diagonal.x.shape[1] > 0:
        log_weights(rows.diagonal, i, w, state.diagonal, sizes, n_slots, own, scratch)
        _accumulate(out, scratch, n_slots)
    if rows.known.x.shape[1] > 0:
        log_weights(rows.known, i, w, state.known, sizes, n_slots, own, scratch)
        _accumulate(out, scratch, n_slots)
    if rows.counts.x.shape[1] > 0:
        log_weights(rows.counts, i, w, state.counts, sizes, n_slots, own, scratch)
        _accumulate(out, scratch, n_slots)


@inner
def _accumulate(out, scratch, n_slots):
    for k in range(n_slots):
        out[k] += scratch[k]


@implements(log_predictive, ProductState)
def _log_predictive(rows, i, w, state, slot):
    return log_predictive(rows.full, i, w, state.full, slot) + _log_predictive_rest(rows, i, w, state, slot)


@inner
def _log_predictive_rest(rows, i, w, state, slot):
    """Log predictive of all blocks but the full-covariance one."""
    return (
        log_predictive(rows.diagonal, i, w, state.diagonal, slot)
        + log_predictive(rows.known, i, w, state.known, slot)
        + log_predictive(rows.categories, i, w, state.categories, slot)
        + log_predictive(rows.counts, i, w, state.counts, slot)
    )


@implements(log_predictive_columns, ProductState)
def _log_predictive_columns(rows, i, w, state, slot, start, out):
    """Of the blocks whose columns are independent: the full one must have none."""
    log_predictive_columns(rows.diagonal, i, w, state.diagonal, slot, start, out)
    start += rows.diagonal.x.shape[1]
    log_predictive_columns(rows.known, i, w, state.known, slot, start, out)
    start += rows.known.x.shape[1]
    log_predictive_columns(rows.categories, i, w, state.categories, slot, start, out)
    start += rows.categories.position.shape[1]
    log_predictive_columns(rows.counts, i, w, state.counts, slot, start, out)


@implements(log_marginal_columns, ProductState)
def _log_marginal_columns(state, slot, start, out):
    """Of the blocks whose columns are independent: the full one must have none."""
    log_marginal_columns(state.diagonal, slot, start, out)
    start += state.diagonal.mean.shape[1]
    log_marginal_columns(state.known, slot, start, out)
    start += state.known.mean.shape[1]
    log_marginal_columns(state.categories, slot, start, out)
    start += state.categories.pseudocount.shape[0]
    log_marginal_columns(state.counts, slot, start, out)


@implements(second_order, ProductState)
def _second_order(rows, i, state, spread, n_slots, out):
    """Of the categories, the one block that has it: others must have no columns."""
    second_order(rows.categories, i, state.categories, spread.categories, n_slots, out)


@implements(add, ProductState)
def _add(rows, i, w, state, slot):
    add(rows.full, i, w, state.full, slot)
    add(rows.diagonal, i, w, state.diagonal, slot)
    add(rows.known, i, w, state.known, slot)
    add(rows.categories, i, w, state.categories, slot)
    add(rows.counts, i, w, state.counts, slot)


@implements(reset, ProductState)
def _reset(state, slot):
    reset(state.full, slot)
    reset(state.diagonal, slot)
    reset(state.known, slot)
    reset(state.categories, slot)
    reset(state.counts, slot)


@implements(combine, ProductState)
def _combine(state, target, first, second):
    combine(state.full, target, first, second)
    combine(state.diagonal, target, first, second)
    combine(state.known, target, first, second)
    combine(state.categories, target, first, second)
    combine(state.counts, target, first, second)


@implements(refresh, ProductState)
def _refresh(state, slot):
    refresh(state.full, slot)
    refresh(state.diagonal, slot)
    refresh(state.known, slot)
    refresh(state.categories, slot)
    refresh(state.counts, slot)


@implements(log_marginal, ProductState)
def _log_marginal(state, slot):
    return (
        log_marginal(state.full, slot)
        + log_marginal(state.diagonal, slot)
        + log_marginal(state.known, slot)
        + log_marginal(state.categories, slot)
        + log_marginal(state.counts, slot)
    )


@implements(has_gaps, ProductState)
def _has_gaps(rows, i, state):
    return has_gaps(rows.full, i, state.full)


@implements(log_predictive_observed, ProductState)
def _log_predictive_observed(rows, i, state, slot):
    if has_gaps(rows.full, i, state.full):
        full = log_predictive_observed(rows.full, i, state.full, slot)
    else:
        full = log_predictive(rows.full, i, 1, state.full, slot)
    return full + _log_predictive_rest(rows, i, 1, state, slot)


@implements(fill_gaps, ProductState)
def _fill_gaps(rng, rows, i, state, slot):
    fill_gaps(rng, rows.full, i, state.full, slot)
