"""Categories of rows that count z times, in columns that count v times: the kernels of categories, other factors.

A row's factor in a column is not beta + c, c rows of its category, but the rising power

    (beta + z c)^(z) = G(beta + z c + z) / G(beta + z c)        to the v-th power,

and that of the total likewise, so that the predictive of one row stays a plain product over columns. Factors of whole
numbers of rows are kept once they were computed; those of fractions, which collapsed variational inference has, are
not. Where a power is so high that no float holds factors, their logs are added up instead.
"""

import math
from typing import NamedTuple

import numpy as np

from partita.families.dirichlet_categorical_kernels import (
    add_categories,
    category_log_weights,
    category_product,
    category_weights,
    level_factor,
    refresh_categories,
    total_factor,
)
from partita.kernels.algebra import log_gamma_ratio
from partita.kernels.compiling import inner
from partita.kernels.dispatch import implements
from partita.kernels.names import (
    add,
    exponentiate,
    log_marginal,
    log_predictive,
    log_weights,
    log_weights_slot_by_slot,
    refresh,
    second_order,
    weights,
)

LOG_2 = math.log(2.0)
WHOLE = 1e-6  # how far a count is from the whole number that it stands for: what rounding leaves of sums
LARGE = 12.0  # from which on the series of the trigamma function is exact


class PoweredCategoricalState(NamedTuple):
    """Rows per slot and category, each counted once, and the factors that a row's product reads.

    Up to ``power`` the fields are those of `CategoricalState`.
    """

    stats: np.ndarray  # (slots, L) rows, L categories over all columns
    numerator: np.ndarray  # (L, slots) factor of one more row of the category
    observed: np.ndarray  # (M, slots) rows observed in a column
    inverse_total: np.ndarray  # (M, slots) 1 / factor of one more row with a cell in the column
    inverse_product: np.ndarray  # (2, slots)
    inverse_exponent: np.ndarray  # (2, slots) int64
    pseudocount: np.ndarray  # (M,) beta
    mass: np.ndarray  # (M,) J beta
    offset: np.ndarray  # (M + 1,) int64
    complete: np.ndarray  # (1,) bool
    columns_per_rescale: np.ndarray  # (1,) int64
    exponent: np.ndarray  # (slots,) int64
    power: np.ndarray  # (1,) z
    weight: np.ndarray  # (1,) v
    linear: np.ndarray  # (1,) bool: floats hold the factors
    factors: np.ndarray  # (bases, counts) [(base + z c)^(z)]^v of every different beta and J beta; 0: not known yet
    level_base: np.ndarray  # (M,) int64, which of them beta is
    total_base: np.ndarray  # (M,) int64, and J beta


@implements(level_factor, PoweredCategoricalState)
def _level_factor(state, m, count):
    return _factor(state, state.level_base[m], state.pseudocount[m], count)


@implements(total_factor, PoweredCategoricalState)
def _total_factor(state, m, count):
    return _factor(state, state.total_base[m], state.mass[m], count)


@inner
def _factor(state, which, base, count):
    """[(base + z count)^(z)]^v, no count being negative but by rounding; 1 where logs are added up."""
    if not state.linear[0]:
        return 1.0
    whole = int(count + 0.5)
    if not (0 <= whole < state.factors.shape[1] and abs(count - whole) < WHOLE):
        return math.exp(state.weight[0] * log_gamma_ratio(base + state.power[0] * max(count, 0.0), state.power[0]))
    if state.factors[which, whole] == 0.0:
        ratio = log_gamma_ratio(base + state.power[0] * whole, state.power[0])
        state.factors[which, whole] = math.exp(state.weight[0] * ratio)
    return state.factors[which, whole]


implements(add, PoweredCategoricalState)(add_categories)
implements(refresh, PoweredCategoricalState)(refresh_categories)


@implements(weights, PoweredCategoricalState)
def _weights(rows, i, state, sizes, n_slots, own, prior_scores, out):
    if state.linear[0]:
        return category_weights(rows, i, state, sizes, n_slots, own, prior_scores, out)
    log_weights_slot_by_slot(rows, i, 1, state, sizes, n_slots, own, out)
    return exponentiate(out, n_slots)


@implements(log_weights, PoweredCategoricalState)
def _log_weights(rows, i, w, state, sizes, n_slots, own, out):
    if state.linear[0]:
        category_log_weights(rows, i, w, state, sizes, n_slots, own, out)
    else:
        log_weights_slot_by_slot(rows, i, w, state, sizes, n_slots, own, out)


@implements(log_predictive, PoweredCategoricalState)
def _log_predictive(rows, i, w, state, slot):
    if (w == 1 or w == -1) and state.linear[0]:
        product, exponent = category_product(rows, i, state, slot, 0 if w == 1 else 1)
        return w * (np.log(product) + exponent * LOG_2)
    z, taken, copies = state.power[0], max(-w, 0), abs(w)
    total = 0.0
    for m in range(rows.position.shape[1]):
        r = rows.position[i, m]
        if r >= 0:
            total += log_gamma_ratio(state.pseudocount[m] + z * max(state.stats[slot, r] - taken, 0.0), z * copies)
            total -= log_gamma_ratio(state.mass[m] + z * max(state.observed[m, slot] - taken, 0.0), z * copies)
    return state.weight[0] * (total if w > 0 else -total)


@implements(second_order, PoweredCategoricalState)
def _second_order(rows, i, state, spread, n_slots, out):
    """By the second derivative of log (a + z c)^(z) in c."""
    z, half = state.power[0], 0.5 * state.weight[0]
    for m in range(rows.position.shape[1]):
        r = rows.position[i, m]
        if r >= 0:
            for k in range(n_slots):
                out[k] += half * curved(state.pseudocount[m], z, state.stats[k, r], spread.stats[k, r])
                out[k] -= half * curved(state.mass[m], z, state.observed[m, k], spread.observed[m, k])


@inner
def curved(base, z, count, variance):
    """variance z^2 (trigamma(a + z) - trigamma(a)), a = base + z count, for a as small as floats are."""
    a = base + z * count
    variance = min(variance, count)  # shares p have sums p (1 - p) <= sums p, but for rounding
    return variance * z * z * (trigamma(a + z) - trigamma(a + 1.0)) - variance * z / a * z / a


@inner
def trigamma(x):
    """The second derivative of log G(x), by its recurrence and its asymptotic series."""
    total = 0.0
    while x < LARGE:
        total += 1.0 / (x * x)
        x += 1.0
    y = 1.0 / (x * x)
    series = 1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * (5.0 / 66.0 - y * 691.0 / 2730.0))))
    return total + 1.0 / x + 0.5 * y + y * series / x


@implements(log_marginal, PoweredCategoricalState)
def _log_marginal(state, slot):
    z, total = state.power[0], 0.0
    for m in range(state.pseudocount.shape[0]):
        for r in range(state.offset[m], state.offset[m + 1]):
            if state.stats[slot, r] > 0.0:
                total += log_gamma_ratio(state.pseudocount[m], z * state.stats[slot, r])
        total -= log_gamma_ratio(state.mass[m], z * state.observed[m, slot])
    return state.weight[0] * total
