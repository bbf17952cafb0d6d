"""Sequentially-allocated merge-split moves (Dahl 2003, 2022), for any family and any prior.

Two rows are drawn. Together, their cluster is proposed to part: each starts a cluster and the others
join one or the other in random order with probability proportional to size times predictive, q
being the product of these probabilities. Apart, their clusters are proposed to merge, and q is that of the
present split, replayed. A split is accepted with

    [p(z') f(z')] / [p(z) f(z)] * E / q,

a merge with the inverse. E counts the labels that the new part could take: 1 for unlabelled
partitions, the number of empty components where components have labels.
"""

import numpy as np

from partita.kernels.compiling import inner
from partita.kernels.names import (
    add,
    choose_split_target,
    combine,
    is_component,
    log_marginal,
    log_predictive,
    log_prior,
    n_split_targets,
    refresh,
    replace_slot,
    reset,
)

SLOTS_NEEDED = 3


@inner
def merge_split(rng, rows, state, prior, allocation):
    """Propose one split or merge of the clusters of two random rows; return 1 if it was accepted."""
    active, labels = allocation.active, allocation.labels
    first = int(rng.random() * active.shape[0])
    second = int(rng.random() * (active.shape[0] - 1))
    if second >= first:
        second += 1
    i, j = active[first], active[second]
    if labels[i] == labels[j]:
        return split(rng, rows, state, prior, allocation, i, j)
    return merge(rng, rows, state, prior, allocation, i, j)


@inner
def split(rng, rows, state, prior, allocation, i, j):
    """Propose to part the cluster that holds rows ``i`` and ``j``."""
    labels, sizes = allocation.labels, allocation.sizes
    old = labels[i]
    n_targets = n_split_targets(prior, sizes)
    if n_targets == 0:
        return 0
    left, right, _ = spare_slots(prior, sizes)
    size = sizes[old]
    log_before = log_prior(prior, sizes, sizes.shape[0]) + log_marginal(state, old)
    n_members = gather(allocation, old, old, i, j)
    shuffle(rng, allocation.members, n_members)
    log_q, left_size = deal(rng, rows, state, allocation, n_members, i, j, left, right, -np.inf)

    target = choose_split_target(rng, prior, sizes)
    replace_slot(prior, old, left)
    replace_slot(prior, target, right)
    sizes[old], sizes[left], sizes[right] = 0, left_size, size - left_size
    log_after = log_prior(prior, sizes, sizes.shape[0]) + log_marginal(state, left) + log_marginal(state, right)

    if np.log(rng.random()) < log_after - log_before + np.log(n_targets) - log_q:
        labels[i], labels[j] = left, right
        for position in range(n_members):
            row = allocation.members[position]
            labels[row] = left if labels[row] == -2 else right
        refresh(state, left)
        refresh(state, right)
        reset(state, old)
        return 1
    for position in range(n_members):
        labels[allocation.members[position]] = old
    replace_slot(prior, right, target)
    replace_slot(prior, left, old)
    sizes[old], sizes[left], sizes[right] = size, 0, 0
    reset(state, left)
    reset(state, right)
    return 0


@inner
def merge(rng, rows, state, prior, allocation, i, j):
    """Propose to join the clusters of rows ``i`` and ``j`` under the label of the first."""
    labels, sizes = allocation.labels, allocation.sizes
    a, b = labels[i], labels[j]
    left, right, joint = spare_slots(prior, sizes)
    size_a, size_b = sizes[a], sizes[b]
    log_before = log_prior(prior, sizes, sizes.shape[0]) + log_marginal(state, a) + log_marginal(state, b)
    combine(state, joint, a, b)
    replace_slot(prior, a, joint)
    sizes[a], sizes[b], sizes[joint] = 0, 0, size_a + size_b
    log_after = log_prior(prior, sizes, sizes.shape[0]) + log_marginal(state, joint)
    bound = log_after - log_before - np.log(n_split_targets(prior, sizes))

    # log q <= 0, so a uniform drawn first rejects most merges without replaying the split.
    log_u = np.log(rng.random())
    accepted = log_u < bound
    n_members = 0
    if accepted:
        n_members = gather(allocation, a, b, i, j)
        shuffle(rng, allocation.members, n_members)
        log_q, _ = deal(rng, rows, state, allocation, n_members, i, j, left, right, log_u - bound)
        accepted = log_u < bound + log_q
        reset(state, left)
        reset(state, right)
    if accepted:
        labels[i], labels[j] = joint, joint
        for position in range(n_members):
            labels[allocation.members[position]] = joint
        reset(state, a)
        reset(state, b)
        return 1
    replace_slot(prior, joint, a)
    sizes[a], sizes[b], sizes[joint] = size_a, size_b, 0
    reset(state, joint)
    return 0


@inner
def deal(rng, rows, state, allocation, n_members, i, j, left, right, threshold):
    """Deal the members to two clusters that ``i`` and ``j`` start; return log q and the first one's size.

    Together, ``i`` and ``j`` are being parted: a member's side is drawn and marked in its label, -2 (left) or -3.
    Apart, the present sides are replayed, and dealing stops once log q is below ``threshold``.
    """
    row_weights, labels = allocation.row_weights, allocation.labels
    parting = labels[i] == labels[j]
    left_size, right_size = 0, 0
    log_q = 0.0
    for position in range(-2, n_members):
        row = i if position == -2 else j if position == -1 else allocation.members[position]
        w = row_weights[row]
        goes_left = row == i
        if position >= 0:
            log_odds = np.log(left_size / right_size)
            for sign in (1, -1):  # one call, inlined once
                log_odds += sign * log_predictive(rows, row, w, state, left if sign == 1 else right)
            if parting:
                goes_left = rng.random() * (1.0 + np.exp(-log_odds)) < 1.0
                labels[row] = -2 if goes_left else -3
            else:
                goes_left = labels[row] == labels[i]
            log_q -= softplus(-log_odds if goes_left else log_odds)
        if goes_left:
            left_size += w
        else:
            right_size += w
        add(rows, row, w, state, left if goes_left else right)
        if log_q <= threshold:
            break
    return log_q, left_size


@inner
def softplus(x):
    """log(1 + exp(x)) without overflow."""
    return max(x, 0.0) + np.log1p(np.exp(-abs(x)))


@inner
def gather(allocation, a, b, i, j):
    """Write the rows of slots ``a`` and ``b`` except ``i`` and ``j`` to ``members``; return how many."""
    count = 0
    for row in allocation.active:
        label = allocation.labels[row]
        if (label == a or label == b) and row != i and row != j:
            allocation.members[count] = row
            count += 1
    return count


@inner
def shuffle(rng, members, n_members):
    """Fisher-Yates on the first ``n_members`` entries."""
    for position in range(n_members - 1, 0, -1):
        other = int(rng.random() * (position + 1))
        members[position], members[other] = members[other], members[position]


@inner
def spare_slots(prior, sizes):
    """Three empty slots that stand for no component."""
    first, second, third = -1, -1, -1
    for k in range(sizes.shape[0] - 1, -1, -1):
        if sizes[k] == 0 and not is_component(prior, k):
            first, second, third = k, first, second
    return first, second, third
