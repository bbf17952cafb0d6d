"""The compiled entry points of the Gibbs engine and of prediction."""

import numpy as np

from partita.kernels.compiling import entry
from partita.kernels.merge_split import SLOTS_NEEDED, merge_split
from partita.kernels.names import (
    add,
    fill_gaps,
    has_gaps,
    is_component,
    log_marginal,
    log_predictive,
    log_predictive_observed,
    log_prior,
    permute_labels,
    refresh,
)
from partita.kernels.scan import scan


@entry
def sweep(rng, rows, state, prior, allocation, order, start, n_moves):
    """One scan over ``order[start:]``, then ``n_moves`` merge-split moves and moves of labels alone.

    Every accepted split takes one more slot, so there must be enough of them for all moves before the first.

    Returns where the scan stopped, whether more slots are needed to go on from there, the number
    of accepted merge-split moves and the log joint density of data and allocation.
    """
    sizes = allocation.sizes
    position = scan(rng, rows, state, prior, allocation, order, start)
    n_spare = 0
    for k in range(sizes.shape[0]):
        n_spare += sizes[k] == 0 and not is_component(prior, k)
    if position < order.shape[0] or n_spare < SLOTS_NEEDED + n_moves:
        return position, True, 0, 0.0
    n_accepted = 0
    if allocation.active.shape[0] > 1:
        for _ in range(n_moves):
            n_accepted += merge_split(rng, rows, state, prior, allocation)
    permute_labels(rng, prior, sizes)
    log_joint = log_prior(prior, sizes, sizes.shape[0])
    for k in range(sizes.shape[0]):
        if sizes[k] > 0:
            log_joint += log_marginal(state, k)
    return position, False, n_accepted, log_joint


@entry
def refresh_slots(state, n_slots):
    """Recompute the caches of every slot from its statistics."""
    for slot in range(n_slots):
        refresh(state, slot)


@entry
def complete_rows(rng, rows, state, labels):
    """Draw the missing cells of every row with gaps anew, given all labels and all other rows."""
    for i in range(labels.shape[0]):
        if labels[i] >= 0 and has_gaps(rows, i, state):
            add(rows, i, -1, state, labels[i])
            fill_gaps(rng, rows, i, state, labels[i])
            add(rows, i, 1, state, labels[i])


@entry
def predictive_matrix(rows, state, out):  # OUT: out (rows, slots)
    """Log predictive density of every row, observed cells only, in every slot."""
    for i in range(out.shape[0]):
        gaps = has_gaps(rows, i, state)
        for k in range(out.shape[1]):
            if gaps:
                out[i, k] = log_predictive_observed(rows, i, state, k)
            else:
                out[i, k] = log_predictive(rows, i, 1, state, k)


def log_predictive_matrix(rows, state, n_rows: int, n_slots: int) -> np.ndarray:
    """Log predictive densities (rows, slots)."""
    out = np.empty((n_rows, n_slots))
    predictive_matrix(rows, state, out)
    return out
