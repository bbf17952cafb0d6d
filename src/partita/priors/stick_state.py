"""Truncated stick-breaking in compiled code: labelled components, each standing in some slot.

With N_h the size of component h, one more row goes to component h < H with probability
(1 + N_h) / (1 + a + N_{>=h}) * prod_{l<h} (a + N_{>l}) / (1 + a + N_{>=l}); the last stick is 1.
"""

import math
from typing import NamedTuple

import numpy as np

from partita.kernels.algebra import log_gamma_ratio
from partita.kernels.dispatch import implements
from partita.kernels.names import (
    choose_split_target,
    is_component,
    log_prior,
    log_prior_weights,
    n_split_targets,
    n_used_slots,
    permute_labels,
    prior_weights,
    replace_slot,
)


class StickBreakingPrior(NamedTuple):
    """Which slot each component stands in; slots outside ``order`` are spare and weigh nothing."""

    order: np.ndarray  # (n_components,) int64, order[h] = slot of component h
    concentration: np.ndarray  # (1,)


@implements(prior_weights, StickBreakingPrior)
def _prior_weights(prior, sizes, n_slots, empty, out):
    order = prior.order
    a = prior.concentration[0]
    from_here = 0
    for k in range(n_slots):
        out[k] = 0.0
        from_here += sizes[k]
    last = order.size - 1
    unbroken = 1.0
    for h in range(last):
        slot = order[h]
        size = sizes[slot]
        scale = unbroken / (1.0 + a + from_here)
        out[slot] = scale * (1.0 + size)
        from_here -= size
        unbroken = scale * (a + from_here)
    out[order[last]] = unbroken


@implements(log_prior_weights, StickBreakingPrior)
def _log_prior_weights(prior, sizes, n_slots, empty, w, out):
    order = prior.order
    a = prior.concentration[0]
    from_here = 0
    for k in range(n_slots):
        out[k] = -np.inf
        from_here += sizes[k]
    last = order.size - 1
    unbroken = 0.0
    for h in range(last):
        slot = order[h]
        size = sizes[slot]
        both = 1.0 + a + from_here
        unbroken -= log_gamma_ratio(both, w)
        out[slot] = unbroken + log_gamma_ratio(1.0 + size, w)
        from_here -= size
        unbroken += log_gamma_ratio(a + from_here, w)
    out[order[last]] = unbroken


@implements(log_prior, StickBreakingPrior)
def _log_prior(prior, sizes, n_slots):
    # Gamma(a + N_{>h}) over the next stick's Gamma(1 + a + N_{>h}) leaves 1 / (a + N_{>h}).
    order = prior.order
    a = prior.concentration[0]
    last = order.size - 1
    if last == 0:
        return 0.0
    after = sizes[order[last]]
    behind = a + after
    total = last * math.log(a)
    for h in range(last - 1, -1, -1):
        size = sizes[order[h]]
        total += math.lgamma(1.0 + size)
        after += size
        if h > 0:
            total -= math.log(a + after)
    return total - log_gamma_ratio(behind, 1.0 + after - sizes[order[last]])


@implements(n_split_targets, StickBreakingPrior)
def _n_split_targets(prior, sizes):
    count = 0
    for slot in prior.order:
        count += sizes[slot] == 0
    return count


@implements(is_component, StickBreakingPrior)
def _is_component(prior, slot):
    found = False
    for own in prior.order:
        found |= own == slot
    return found


@implements(replace_slot, StickBreakingPrior)
def _replace_slot(prior, old, new):
    order = prior.order
    for h in range(order.size):
        if order[h] == old:
            order[h] = new
            break


@implements(choose_split_target, StickBreakingPrior)
def _choose_split_target(rng, prior, sizes):
    n_empty = 0
    for slot in prior.order:
        n_empty += sizes[slot] == 0
    if n_empty == 0:
        return -1
    left = min(int(rng.random() * n_empty), n_empty - 1)
    for slot in prior.order:
        if sizes[slot] == 0:
            if left == 0:
                return slot
            left -= 1
    return -1


@implements(permute_labels, StickBreakingPrior)
def _permute_labels(rng, prior, sizes):
    """Propose to swap neighbours, first to last, then two components drawn at random (Metropolis)."""
    order = prior.order
    a = prior.concentration[0]
    last = order.size - 1
    if last == 0:
        return
    after = 0
    for slot in order:
        after += sizes[slot]
    for h in range(last):
        first, second = sizes[order[h]], sizes[order[h + 1]]
        after -= first
        if h + 1 < last:
            log_ratio = math.log(a + after) - math.log(a + first + after - second)
        else:
            log_ratio = math.lgamma(1.0 + second) - math.lgamma(1.0 + first)
            if first >= second:
                log_ratio += log_gamma_ratio(a + second, first - second)
            else:
                log_ratio -= log_gamma_ratio(a + first, second - first)
        if math.log(1.0 - rng.random()) < log_ratio:
            order[h], order[h + 1] = order[h + 1], order[h]
            after += first - second
    one = min(int(rng.random() * (last + 1)), last)
    other = min(int(rng.random() * (last + 1)), last)
    before = log_prior(prior, sizes, sizes.size)
    order[one], order[other] = order[other], order[one]
    if math.log(1.0 - rng.random()) >= log_prior(prior, sizes, sizes.size) - before:
        order[one], order[other] = order[other], order[one]


@implements(n_used_slots, StickBreakingPrior)
def _n_used_slots(prior, sizes):
    last = 0
    for h in range(prior.order.size):
        last = max(last, prior.order[h])
    return last + 1
