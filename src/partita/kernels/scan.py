"""One Gibbs scan: every row leaves its cluster and draws a new one (Neal 2000, algorithm 3).

Removal is lazy: a row is scored with the full statistics of its own cluster, corrected in closed
form, and statistics are written only when the row moves. Prior weights always use the sizes after removal.
"""

import numpy as np

from partita.kernels.compiling import inner
from partita.kernels.names import (
    add,
    fill_gaps,
    has_gaps,
    log_predictive_observed,
    log_prior_weights,
    log_weights,
    n_used_slots,
    prior_weights,
    reset,
    weights,
)

LEAST_TOTAL = 1e-200


@inner
def scan(rng, rows, state, prior, allocation, order, start):
    """Reseat rows ``order[start:]``; stop early when no empty slot is left.

    Returns the position of the first row not reseated: ``len(order)`` when the scan is complete,
    otherwise the caller gives more slots and goes on from there. A row without a seat (label -1)
    takes its first one, so a scan over unseated rows is sequential seating.
    """
    labels, sizes, scores = allocation.labels, allocation.sizes, allocation.scores
    n_slots = n_used_slots(prior, sizes)
    empty = first_empty(sizes, n_slots)
    for position in range(start, order.shape[0]):
        if empty == n_slots:
            if n_slots == sizes.shape[0]:
                return position
            n_slots += 1
        i = order[position]
        own = labels[i]
        w = allocation.row_weights[i]
        gaps = has_gaps(rows, i, state)
        if own >= 0:
            sizes[own] -= w
            if gaps:
                leave(rows, i, w, state, sizes, own)
        opening = own if own >= 0 and sizes[own] == 0 else empty
        if gaps:
            score_observed(rows, i, state, prior, allocation, n_slots, opening)
        else:
            score(rows, i, w, state, prior, allocation, n_slots, own, opening)
        chosen = draw(rng, scores, n_slots)
        if gaps:
            fill_gaps(rng, rows, i, state, chosen)
        elif own >= 0 and chosen != own:
            leave(rows, i, w, state, sizes, own)
        if gaps or chosen != own:
            add(rows, i, w, state, chosen)
        labels[i] = chosen
        sizes[chosen] += w
        if chosen == empty or opening == own:
            empty = first_empty(sizes, n_slots)
    return order.shape[0]


@inner
def leave(rows, i, w, state, sizes, own):
    """Take a row out of the statistics of its slot, whose size no longer counts it."""
    if sizes[own] == 0:
        reset(state, own)
    else:
        add(rows, i, -w, state, own)


@inner(forceinline=True)
def score(rows, i, w, state, prior, allocation, n_slots, own, opening):
    """Write cumulative prior times predictive of the slots to ``scores``, up to a common factor."""
    sizes, scores, prior_scores = allocation.sizes, allocation.scores, allocation.prior_scores
    if w == 1:
        prior_weights(prior, sizes, n_slots, opening, prior_scores)
        weights(rows, i, state, sizes, n_slots, own, prior_scores, scores)
        total = 0.0
        for k in range(n_slots):
            total += scores[k] * prior_scores[k]
            scores[k] = total
        if total > LEAST_TOTAL:
            return
    # Tied copies, or everything that the prior allows has underflowed.
    score_in_logs(rows, i, w, state, prior, allocation, n_slots, own, opening)


@inner
def score_in_logs(rows, i, w, state, prior, allocation, n_slots, own, opening):
    """Logs of what a place weighs, where weights would leave the range of a float."""
    sizes, scores, prior_scores = allocation.sizes, allocation.scores, allocation.prior_scores
    log_weights(rows, i, w, state, sizes, n_slots, own, scores)
    log_prior_weights(prior, sizes, n_slots, opening, w, prior_scores)
    accumulate(scores, prior_scores, n_slots)


@inner
def score_observed(rows, i, state, prior, allocation, n_slots, opening):
    """Logs for a row with gaps, from its observed cells; the row is in no slot."""
    sizes, scores, prior_scores = allocation.sizes, allocation.scores, allocation.prior_scores
    empty_value = log_predictive_observed(rows, i, state, opening)
    for k in range(n_slots):
        scores[k] = log_predictive_observed(rows, i, state, k) if sizes[k] > 0 else empty_value
    log_prior_weights(prior, sizes, n_slots, opening, 1, prior_scores)
    accumulate(scores, prior_scores, n_slots)


@inner
def accumulate(scores, log_prior_scores, n_slots):
    """Turn log predictive and log prior weights into cumulative weights."""
    top = -np.inf
    for k in range(n_slots):
        scores[k] += log_prior_scores[k]
        top = max(top, scores[k])
    total = 0.0
    for k in range(n_slots):
        total += np.exp(scores[k] - top)
        scores[k] = total


@inner(forceinline=True)
def draw(rng, cumulative, n_slots):
    """Draw a slot, given cumulative weights."""
    threshold = rng.random() * cumulative[n_slots - 1]
    chosen = 0
    for k in range(n_slots):
        chosen += cumulative[k] <= threshold
    return min(chosen, n_slots - 1)


@inner
def first_empty(sizes, n_slots):
    """The first empty slot, or ``n_slots`` when all of them are occupied."""
    for k in range(n_slots):
        if sizes[k] == 0:
            return k
    return n_slots
