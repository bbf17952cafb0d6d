"""The generic names: what a family and a prior must answer to in compiled code.

Conventions. ``rows`` is the family's NamedTuple of data arrays, ``i`` a row, ``w`` its weight (w
copies tied to one label), ``state`` the family's statistics and caches per *slot*. A slot holds a
cluster or is empty; an empty slot's predictive is the prior predictive. ``sizes[slot]`` is the
summed weight of a slot's rows. ``prior`` is the prior's NamedTuple.

A family's ``w`` is a whole number in a scan of the plain likelihood and any number else: ``add`` puts parts of rows in
and takes them out in collapsed variational inference, and to a power z of the likelihood every name is asked for
z w copies. So nothing may be indexed by ``w`` or by statistics, unless they are whole.
"""

import numpy as np

from partita.kernels.compiling import inner
from partita.kernels.dispatch import generic

# --- families -------------------------------------------------------------------------------------


@generic("state", inline=True)
def log_predictive(rows, i, w, state, slot):
    """Log of f(A + w x_i) / f(A), f the marginal likelihood of the rows A of ``slot``.

    For w > 0 it is the predictive density of ``w`` copies of the row. For w < 0 the slot holds the row, and minus
    the value is the predictive density of -w copies given the slot's *other* rows.
    """


@generic("state", inline=True)
def add(rows, i, w, state, slot):
    """Put ``w`` copies of row ``i`` (negative: take them out) into the statistics and caches of ``slot``."""


@generic("state")
def refresh(state, slot):
    """Recompute the caches of ``slot`` from its statistics."""


@generic("state")
def log_marginal(state, slot):
    """Log marginal likelihood of the rows of ``slot``."""


@generic("state", has_default=True)
def reset(state, slot):
    """Empty ``slot``."""
    state.stats[slot] = 0.0
    refresh(state, slot)


@generic("state", has_default=True)
def combine(state, target, first, second):
    """Give ``target`` the summed statistics of two slots."""
    for s in range(state.stats.shape[1]):
        state.stats[target, s] = state.stats[first, s] + state.stats[second, s]
    refresh(state, target)


@generic("state", has_default=True)
def has_gaps(rows, i, state):
    """Whether row ``i`` has missing cells that this family must draw (and cannot drop exactly)."""
    return False


@generic("state", has_default=True)
def log_predictive_observed(rows, i, state, slot):
    """Log density of the observed cells of a row with gaps given the rows of ``slot``."""
    return log_predictive(rows, i, 1, state, slot)


@generic("state", has_default=True)
def fill_gaps(rng, rows, i, state, slot):
    """Draw the missing cells of row ``i`` given its observed cells and the rows of ``slot``."""


@generic("state", has_default=True, inline=True)
def log_weights(rows, i, w, state, sizes, n_slots, own, out):
    """Log predictive of ``w`` copies of row ``i`` in every slot.

    For the row's ``own`` slot (-1: none) it is that of the slot's other rows. ``sizes`` are those
    after the row's removal; all empty slots share one value, and at least one slot besides ``own`` is empty.
    """
    log_weights_slot_by_slot(rows, i, w, state, sizes, n_slots, own, out)


@inner
def log_weights_slot_by_slot(rows, i, w, state, sizes, n_slots, own, out):
    """`log_weights` from `log_predictive` alone, which is inlined once for all slots."""
    empty_value = 0.0
    empty_known = False
    for k in range(n_slots):
        if sizes[k] == 0 and (empty_known or k == own):
            out[k] = empty_value
            continue
        sign = -1 if k == own else 1
        out[k] = sign * log_predictive(rows, i, sign * w, state, k)
        if sizes[k] == 0:
            empty_value = out[k]
            empty_known = True
    if own >= 0 and sizes[own] == 0:
        out[own] = empty_value


@generic("state", has_default=True, inline=True)
def weights(rows, i, state, sizes, n_slots, own, prior_scores, out):
    """Predictive weight of row ``i`` in every slot, divided by a common factor whose log is returned.

    A family overrides this where a linear product is faster than logs, or where it can tell that a
    slot's prior times predictive is too small to change the floating-point sum: such weights may be 0.
    """
    log_weights(rows, i, 1, state, sizes, n_slots, own, out)
    return exponentiate(out, n_slots)


@generic("state")
def second_order(rows, i, state, spread, n_slots, out):
    """Add to ``out`` the second-order terms of the expected log predictive of row ``i`` in every slot.

    log_predictive is a sum of +-log(a + count), a count being random where responsibilities are fractional: the
    expectation of each is log(a + mean) - variance / (2 (a + mean)^2) up to higher orders. ``state`` holds the mean
    statistics and ``spread``, of the same class, their variances, all without the row.
    """


@generic("state", inline=True)
def log_predictive_columns(rows, i, w, state, slot, start, out):
    """Write the terms of `log_predictive`, column by column, to ``out`` from ``start`` on; that of a missing cell is 0.

    Of families whose columns are independent: what `partita.families.Selective` asks, as the next one.
    """


@generic("state")
def log_marginal_columns(state, slot, start, out):
    """Write the terms of `log_marginal`, column by column, to ``out`` from ``start`` on."""


@inner
def exponentiate(logs, n_slots):
    """Replace logs by their exponentials divided by the largest one; return its log."""
    top = -np.inf
    for k in range(n_slots):
        top = max(top, logs[k])
    for k in range(n_slots):
        logs[k] = np.exp(logs[k] - top)
    return top


# --- priors ---------------------------------------------------------------------------------------


@generic("prior", inline=True)
def prior_weights(prior, sizes, n_slots, empty, out):
    """Prior weight of one more row in every slot, up to a common factor.

    ``sizes`` are those after the row's removal. A prior over unlabelled partitions puts the weight
    of opening a cluster on the slot ``empty`` and 0 on other empty slots.
    """


@generic("prior")
def log_prior_weights(prior, sizes, n_slots, empty, w, out):
    """Logs of `prior_weights` for ``w`` rows that go to one slot together."""


@generic("prior")
def log_prior(prior, sizes, n_slots):
    """Log prior probability of the present allocation (of labelled components where they have labels)."""


@generic("prior", has_default=True)
def n_used_slots(prior, sizes):
    """One more than the last slot that a row may sit in, not counting a cluster it opens."""
    used = sizes.shape[0]
    while used > 0 and sizes[used - 1] == 0:
        used -= 1
    return used


@generic("prior", has_default=True)
def n_split_targets(prior, sizes):
    """How many labels the new part of a split could take: 1 where clusters have no labels."""
    return 1


@generic("prior", has_default=True)
def is_component(prior, slot):
    """Whether an empty slot is one of the labelled components and so not free to be used."""
    return False


@generic("prior", has_default=True)
def replace_slot(prior, old, new):
    """Let slot ``new`` stand where slot ``old`` stood, where components have an order."""


@generic("prior", has_default=True)
def choose_split_target(rng, prior, sizes):
    """Draw the slot whose label the new part of a split takes; -1 where clusters have no labels."""
    return -1


@generic("prior", has_default=True)
def permute_labels(rng, prior, sizes):
    """Moves that only exchange labels, for priors whose components have an order."""
