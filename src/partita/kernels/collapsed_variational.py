"""One sweep of collapsed variational inference: every row is shared out given the expected statistics of all others.

One copy of the row is taken out of the expected statistics, its predictive density is evaluated there (first order:
the function of the mean in place of the mean of the function), and the new responsibilities take the place of the
old ones. The first order works with plain products as the Gibbs scan does; the second order adds its corrections in
logs.
"""

from typing import NamedTuple

import numpy as np

from partita.kernels.compiling import entry, inner
from partita.kernels.names import add, log_weights, reset, second_order, weights

NEGLIGIBLE = 1e-12  # a responsibility below it is 0, so that few components are touched per row
EMPTY = 0.5 * NEGLIGIBLE  # a component of this size holds rounding errors only
LEAST_TOTAL = 1e-200


class ComponentPrior(NamedTuple):
    """The prior of the components: a Dirichlet's parameter, or sticks where there are any."""

    base: np.ndarray  # (1,) alpha / H of a Dirichlet, alpha of sticks
    n_sticks: np.ndarray  # (1,) int64, 0 for a Dirichlet


class Scratch(NamedTuple):
    """Room for one row."""

    seats: np.ndarray  # (K,)
    scores: np.ndarray  # (K,)


class Variances(NamedTuple):
    """Variances of the components' sizes, for the second order."""

    sizes: np.ndarray  # (K,) of the size of k
    tails: np.ndarray  # (K,) of the summed size of k and all behind it


@entry
def first_order_sweep(rows, state, prior, row_weights, resp, sizes, scratch):  # OUT: state, resp, sizes
    """Share out every row in turn; return the summed change of responsibilities and their entropy before the sweep.

    A row of weight w is w copies that share responsibilities: one of them is left out, then all take the new ones.
    """
    moved, entropy = 0.0, 0.0
    for i in range(resp.shape[0]):
        entropy += row_weights[i] * row_entropy(resp[i])
        leave(rows, i, state, resp, sizes)
        expected_seats(prior, sizes, scratch.seats)
        score(rows, i, state, sizes, scratch)
        keep_what_counts(scratch.scores)
        moved += row_weights[i] * distance(resp[i], scratch.scores)
        enter(rows, i, row_weights[i], state, resp, sizes, scratch.scores)
    return moved, entropy


@entry
def second_order_sweep(
    rows, state, spread, prior, row_weights, resp, sizes, variances, scratch
):  # OUT: state, spread, resp, sizes, variances
    """As `first_order_sweep`, with second-order terms of logarithms; ``spread`` holds variances of the statistics."""
    moved, entropy = 0.0, 0.0
    for i in range(resp.shape[0]):
        entropy += row_weights[i] * row_entropy(resp[i])
        leave(rows, i, state, resp, sizes)
        add_variances(rows, i, -1.0, spread, resp, variances)
        expected_seats(prior, sizes, scratch.seats)
        log_weights(rows, i, 1, state, sizes, sizes.shape[0], -1, scratch.scores)
        second_order(rows, i, state, spread, sizes.shape[0], scratch.scores)
        seat_corrections(prior, sizes, variances, scratch.scores)
        normalise(scratch.scores, scratch.seats)
        keep_what_counts(scratch.scores)
        moved += row_weights[i] * distance(resp[i], scratch.scores)
        add_variances(rows, i, 1.0 - row_weights[i], spread, resp, variances)
        enter(rows, i, row_weights[i], state, resp, sizes, scratch.scores)
        add_variances(rows, i, row_weights[i], spread, resp, variances)
    return moved, entropy


# --- a row ----------------------------------------------------------------------------------------


@inner(forceinline=True)
def leave(rows, i, state, resp, sizes):
    """Take one copy of a row out of the expected statistics and sizes."""
    for k in range(sizes.shape[0]):
        share = resp[i, k]
        if share > 0.0:
            sizes[k] -= share
            if sizes[k] < EMPTY:
                sizes[k] = 0.0
                reset(state, k)
            else:
                add(rows, i, -share, state, k)


@inner(forceinline=True)
def enter(rows, i, w, state, resp, sizes, shares):
    """Give all copies of a row its new shares: w of the new ones in, the w - 1 old ones that are left out."""
    for k in range(sizes.shape[0]):
        if resp[i, k] > 0.0 or shares[k] > 0.0:
            amount = w * shares[k] - (w - 1.0) * resp[i, k]
            if amount != 0.0:
                add(rows, i, amount, state, k)
                sizes[k] = max(sizes[k] + amount, 0.0)
            resp[i, k] = shares[k]


@inner(forceinline=True)
def score(rows, i, state, sizes, scratch):
    """Prior times predictive of one copy in every component, as shares."""
    seats, scores = scratch.seats, scratch.scores
    n_components = sizes.shape[0]
    weights(rows, i, state, sizes, n_components, -1, seats, scores)
    total = 0.0
    for k in range(n_components):
        scores[k] = max(scores[k] * seats[k], 0.0)
        total += scores[k]
    if total > LEAST_TOTAL and total < np.inf:
        scores /= total
        return
    log_weights(rows, i, 1, state, sizes, n_components, -1, scores)
    normalise(scores, seats)


@inner
def normalise(scores, seats):
    """Turn log predictives and prior weights into shares."""
    top = -np.inf
    for k in range(scores.shape[0]):
        scores[k] += np.log(seats[k])
        top = max(top, scores[k])
    total = 0.0
    for k in range(scores.shape[0]):
        scores[k] = np.exp(scores[k] - top)
        total += scores[k]
    scores /= total


@inner
def keep_what_counts(shares):
    """Set shares below ``NEGLIGIBLE`` to 0; the others sum to 1."""
    total = 0.0
    for k in range(shares.shape[0]):
        if shares[k] < NEGLIGIBLE:
            shares[k] = 0.0
        total += shares[k]
    shares /= total


@inner
def distance(before, after):
    """Half the summed absolute difference: the share of the row that moves."""
    total = 0.0
    for k in range(after.shape[0]):
        total += abs(after[k] - before[k])
    return 0.5 * total


@inner
def row_entropy(shares):
    """-sum_k r_k log r_k."""
    total = 0.0
    for k in range(shares.shape[0]):
        if shares[k] > 0.0:
            total -= shares[k] * np.log(shares[k])
    return total


# --- the prior ------------------------------------------------------------------------------------


@inner
def expected_seats(prior, sizes, out):
    """Prior weight of one more row in every component at expected sizes, up to a common factor."""
    if prior.n_sticks[0] == 0:
        for k in range(sizes.shape[0]):
            out[k] = prior.base[0] + sizes[k]
    else:
        stick_seats(prior.base[0], prior.n_sticks[0], sizes, out)


@inner
def stick_seats(a, n_sticks, sizes, out):
    """Seats of sticks: (1 + N_k) / (1 + a + N_{>=k}) prod_{h<k} (a + N_{>h}) / (1 + a + N_{>=h}); the last is 1."""
    from_here = 0.0
    for k in range(sizes.shape[0]):
        from_here += sizes[k]
    unbroken = 1.0
    for k in range(sizes.shape[0]):
        if k == n_sticks - 1:
            out[k] = unbroken
        else:
            scale = unbroken / (1.0 + a + from_here)
            out[k] = scale * (1.0 + sizes[k])
            from_here = max(from_here - sizes[k], 0.0)
            unbroken = scale * (a + from_here)


@inner
def seat_corrections(prior, sizes, variances, out):
    """Add to ``out`` the second-order terms of the prior, -V / (2 (a + mean)^2) for every log(a + count)."""
    a, n_sticks = prior.base[0], prior.n_sticks[0]
    n_components = sizes.shape[0]
    if n_sticks == 0:
        for k in range(n_components):
            out[k] -= second_term(a + sizes[k], variances.sizes[k])
        return
    from_here = 0.0
    for k in range(n_components):
        from_here += sizes[k]
    unbroken = 0.0
    for k in range(n_components):
        if k < n_sticks - 1:
            unbroken += second_term(1.0 + a + from_here, variances.tails[k])
            out[k] += unbroken - second_term(1.0 + sizes[k], variances.sizes[k])
            from_here = max(from_here - sizes[k], 0.0)
            tail = variances.tails[k + 1] if k + 1 < n_components else 0.0
            unbroken -= second_term(a + from_here, tail)
        else:
            out[k] += unbroken


@inner(forceinline=True)
def second_term(mean, variance):
    """What the second order takes from log(mean): half the variance over the squared mean."""
    return 0.5 * (variance / mean) / mean


@inner(forceinline=True)
def add_variances(rows, i, copies, spread, resp, variances):
    """Add the variances of ``copies`` of a row (negative: take them out)."""
    if copies == 0.0:
        return
    tail = 0.0
    for k in range(resp.shape[1] - 1, -1, -1):
        share = resp[i, k]
        tail = min(tail + share, 1.0)
        variances.tails[k] = max(variances.tails[k] + copies * tail * (1.0 - tail), 0.0)
        if share > 0.0 and share < 1.0:
            amount = copies * share * (1.0 - share)
            variances.sizes[k] = max(variances.sizes[k] + amount, 0.0)
            add(rows, i, amount, spread, k)
