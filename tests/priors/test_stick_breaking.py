"""Stick-breaking: labelled states by enumeration, label moves, and sums over orders."""

from collections import defaultdict
from functools import cache

import numba
import numpy as np
import pytest
from scipy.special import betaln, gammaln, logsumexp
from tests.oracles.partitions import canonical, counts_agree, labelled_states
from tests.volumes import long, mostly_long

from partita.kernels.names import (
    choose_split_target,
    is_component,
    n_split_targets,
    permute_labels,
    replace_slot,
)
from partita.priors import DirichletProcess, StickBreaking
from partita.priors.stick_state import StickBreakingPrior
from partita.priors.stick_sums import log_truncation


def log_sticks(sizes, a, *, keep_last_stick=False):
    after = np.cumsum(sizes[::-1])[::-1] - sizes
    terms = np.log(a) + betaln(1 + np.asarray(sizes), a + after)
    return float(terms.sum() if keep_last_stick else terms[:-1].sum())


def labelled(n, n_components, a, **options):
    states = list(labelled_states(n, n_components))
    sizes = np.array([np.bincount(labels, minlength=n_components) for labels in states])
    return states, sizes, np.array([log_sticks(row, a, **options) for row in sizes])


@pytest.mark.parametrize(("n", "n_components", "a"), [(5, 4, 1.7), (4, 5, 0.3), (6, 2, 6.0), (6, 3, 0.05)])
def test_log_probability_is_the_sum_of_labelled_states(n, n_components, a):
    states, _, log_p = labelled(n, n_components, a)
    assert logsumexp(log_p) == pytest.approx(0.0, abs=1e-12)
    by_partition = defaultdict(list)
    for labels, value in zip(states, log_p):
        by_partition[canonical(labels)].append(value)
    prior = StickBreaking(n_components=n_components, concentration=a)
    for labels, values in by_partition.items():
        assert prior.log_probability(labels) == pytest.approx(logsumexp(values), rel=1e-11, abs=1e-12)


def test_the_sum_sees_a_last_stick_that_is_kept_and_a_missing_constant():
    _, _, kept = labelled(5, 4, 1.7, keep_last_stick=True)
    assert abs(np.exp(logsumexp(kept)) - 1) > 0.1
    _, _, log_p = labelled(5, 4, 1.7)
    assert np.exp(logsumexp(log_p - 3 * np.log(1.7))) == pytest.approx(0.2035, abs=5e-5)


def test_more_clusters_than_components_are_impossible():
    for concentration in (1.0, None):
        prior = StickBreaking(n_components=2, concentration=concentration)
        assert prior.log_probability([0, 1, 2]) == -np.inf


def test_many_components_are_a_dirichlet_process():
    labels = np.repeat(np.arange(12), np.arange(10, 22))
    near = StickBreaking(n_components=100, concentration=2.0).log_probability(labels)
    assert near == pytest.approx(DirichletProcess(concentration=2.0).log_probability(labels), rel=1e-10)


def test_log_probability_agrees_with_simulated_weights():
    # Given weights, the probability is a sum over the six ways to name three blocks.
    prior = StickBreaking(n_components=3, concentration=40.0)
    rng = np.random.default_rng(5)
    sizes = np.array([20, 7, 3])
    labels = np.repeat(np.arange(3), sizes)
    sticks = np.concatenate([rng.beta(1, 40.0, (200_000, 2)), np.ones((200_000, 1))], axis=1)
    weights = sticks * np.cumprod(np.column_stack([np.ones(200_000), 1 - sticks[:, :-1]]), axis=1)
    orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    values = np.exp(np.stack([np.log(weights)[:, order] @ sizes for order in orders])).sum(axis=0)
    error = values.std() / np.sqrt(values.size)
    assert abs(np.exp(prior.log_probability(labels)) - values.mean()) < 4 * error


def test_all_singletons_in_as_many_components():
    # One order for all: each component in turn takes one row, by the labelled probability times n!.
    n, a = 60, 1e6
    expected = log_sticks(np.ones(n, dtype=int), a) + gammaln(n + 1)
    prior = StickBreaking(n_components=n, concentration=a)
    assert prior.log_probability(np.arange(n)) == pytest.approx(expected, rel=1e-9)


def log_truncation_by_recursion(sizes, n_components, a):
    """Component after component, with the weights of its definition: what is left is a tuple of sizes."""

    @cache
    def log_rest(left, n_left):
        if not left:
            return 0.0
        if n_left == 1:
            [size] = left if len(left) == 1 else [0]
            return gammaln(a + size) - gammaln(size) - gammaln(a + 1.0) if size else -np.inf
        if n_left < len(left):
            return -np.inf
        terms = [np.log(a) + log_rest(left, n_left - 1)]
        for k, size in enumerate(left):
            terms.append(np.log(size) + log_rest((*left[:k], *left[k + 1 :]), n_left - 1))
        return logsumexp(terms) - np.log(a + sum(left))

    return log_rest(tuple(sizes), n_components)


CROWDED = [
    (12, [1000, 300, 100, 50, 30, 20], 10.0),
    (12, [7, 6, 5, 4, 3, 2, 1], 50.0),
    (9, [4, 4, 3, 3, 2, 2, 1, 1, 1], 2.0),
    (10, [100, 50, 30, 20, 10, 5, 3, 2, 1], 0.5),
    (50, [100, 50, 30, 20], 0.1),
    (30, [30, 1, 1, 1, 5], 20.0),
    (5, [27_877, 30, 3, 2], 128.5),
    (6, [1, 1, 1, 1, 1, 1], 1e-3),
    (3, [5], 2.0),
    (1, [5], 2.0),
]


@pytest.mark.parametrize(("n_components", "sizes", "a"), CROWDED)
def test_truncation_is_the_sum_over_all_assignments(n_components, sizes, a):
    exact = log_truncation_by_recursion(sizes, n_components, a)
    assert log_truncation(np.array(sizes), n_components, a) == pytest.approx(exact, abs=1e-10)


@mostly_long
@pytest.mark.parametrize(("n_components", "sizes", "a"), CROWDED)
def test_seats_are_ratios_of_the_sums(n_components, sizes, a):
    prior = StickBreaking(n_components=n_components, concentration=a)
    logs = []
    for k in range(len(sizes) + 1):
        more = [*sizes, 0]
        more[k] += 1
        more = [size for size in more if size]
        dirichlet = np.log(a) if k == len(sizes) else np.log(sizes[k])
        logs.append(dirichlet + log_truncation_by_recursion(more, n_components, a))
    seats = np.exp(prior.log_seats(np.array(sizes), a))
    np.testing.assert_allclose(seats, np.exp(logs - logsumexp(logs)), rtol=1e-9, atol=1e-15)


def test_truncation_of_very_many_blocks_and_components():
    """Of distinct sizes, of one size, and of so many components that they do not bind."""
    sizes = np.arange(1, 201)
    assert log_truncation(sizes, 1000, 50.0) == pytest.approx(0.0, abs=1e-10)
    assert log_truncation(sizes, 1_000_000, 2.0) == 0.0
    prior = StickBreaking(n_components=200, concentration=50.0)
    seats = np.exp(prior.log_seats(sizes, 50.0))
    assert seats.sum() == pytest.approx(1.0)
    assert seats[-1] == 0.0  # no component is left
    assert np.isfinite(prior.log_probability(np.repeat(np.arange(200), sizes)))


@pytest.mark.parametrize(
    ("n_components", "sizes"),
    [
        (20, [9, 7, 6, 5, 4, 3, 2, 1, 1]),
        (40, [1] * 20 + [2] * 5 + [3]),
        (12, list(range(12, 0, -1))[:10]),
        (9, [4, 4, 3, 3, 2, 2, 1, 1, 1]),
    ],
)
def test_seats_of_more_than_eight_clusters_are_ratios_of_probabilities(n_components, sizes):
    prior = StickBreaking(n_components=n_components, concentration=5.0)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    logs = [prior.log_probability(np.append(labels, k)) for k in range(len(sizes) + 1)]
    expected = np.exp(np.array(logs) - prior.log_probability(labels))
    np.testing.assert_allclose(np.exp(prior.log_seats(np.array(sizes), 5.0)), expected, atol=1e-11)


def test_the_seat_of_a_new_cluster_among_many_of_distinct_sizes():
    """The known limit is the Dirichlet process."""
    prior, sizes = StickBreaking(n_components=300, concentration=2.0), np.arange(1, 17)
    seats = np.exp(prior.log_seats(sizes, 2.0))
    np.testing.assert_allclose(seats, np.append(sizes, 2.0) / (sizes.sum() + 2.0), rtol=1e-10)


def occupied_by_chain(n, n_components, a):
    """Expected occupied components: how many rows pass each stick is a Markov chain (beta-binomial)."""
    passing, total = np.zeros(n + 1), 0.0
    passing[n] = 1.0
    for _ in range(n_components - 1):
        after = np.zeros(n + 1)
        for rows in range(1, n + 1):
            taken = np.arange(rows + 1)
            log_ways = gammaln(rows + 1) - gammaln(taken + 1) - gammaln(rows - taken + 1)
            p = np.exp(log_ways + betaln(1 + taken, a + rows - taken) - betaln(1, a))
            total += passing[rows] * (1 - p[0])
            after[rows - taken] += passing[rows] * p
        passing = after
        passing[0] = 0.0
    return total + passing[1:].sum()


@pytest.mark.parametrize(
    ("n", "n_components", "a"), [(60, 5, 0.3), (60, 2, 3.0), (80, 30, 8.0), (50, 100, 50.0), (3, 3, 1e-4)]
)
def test_expected_clusters_agree_with_the_chain_of_sticks(n, n_components, a):
    prior = StickBreaking(n_components=n_components, concentration=a)
    assert prior.expected_clusters(n) == pytest.approx(occupied_by_chain(n, n_components, a), abs=1e-9)


def test_expected_clusters_of_a_million_rows_agree_with_given_weights():
    # Given weights, the expectation is sum of 1 - (1 - weight)^n; only the sticks are simulated.
    rng = np.random.default_rng(3)
    sticks = np.concatenate([rng.beta(1, 5.0, (20_000, 99)), np.ones((20_000, 1))], axis=1)
    log_before = np.cumsum(np.log1p(-sticks[:, :-1]), axis=1)
    weights = sticks * np.exp(np.column_stack([np.zeros(20_000), log_before]))
    with np.errstate(divide="ignore"):
        values = -np.expm1(1e6 * np.log1p(-weights)).sum(axis=1)
    expected = StickBreaking(n_components=100, concentration=5.0).expected_clusters(10**6)
    assert abs(values.mean() - expected) < 4 * values.std() / np.sqrt(values.size)


@numba.njit
def permute_many(rng, starts, n_components, a):
    moved = np.empty_like(starts)
    concentration = np.array([a])
    for draw in range(starts.shape[0]):
        order = np.arange(n_components)
        permute_labels(rng, StickBreakingPrior(order, concentration), starts[draw])
        for h in range(n_components):
            moved[draw, h] = starts[draw, order[h]]
    return moved


def exact_draws_of_sizes(rng, n, n_components, a, n_draws):
    _, sizes, log_p = labelled(n, n_components, a)
    kinds, inverse = np.unique(sizes, axis=0, return_inverse=True)
    p = np.bincount(inverse.ravel(), weights=np.exp(log_p))
    return kinds, p / p.sum(), kinds[rng.choice(p.size, n_draws, p=p / p.sum())]


def count_kinds(kinds, sizes):
    base = sizes.max() + 1
    codes = kinds @ base ** np.arange(kinds.shape[1])
    return np.array([(sizes @ base ** np.arange(kinds.shape[1]) == code).sum() for code in codes])


@mostly_long
@pytest.mark.parametrize(("n", "n_components", "a"), [(4, 3, 0.8), (5, 2, 3.0), (4, 4, 1.7)])
def test_label_moves_leave_the_labelled_prior_as_it_is(n, n_components, a):
    rng = np.random.default_rng(11)
    kinds, p, starts = exact_draws_of_sizes(rng, n, n_components, a, 100_000)
    moved = permute_many(rng, starts, n_components, a)
    assert np.mean(np.any(moved != starts, axis=1)) > 0.2
    np.testing.assert_array_equal(np.sort(moved, axis=1), np.sort(starts, axis=1))
    assert counts_agree(count_kinds(kinds, moved), p)


def test_the_counts_see_swaps_that_treat_the_last_stick_like_the_others():
    rng = np.random.default_rng(12)
    a = 0.8
    kinds, p, starts = exact_draws_of_sizes(rng, 4, 3, a, 100_000)
    moved = starts.copy()
    for h in range(2):
        first, second = moved[:, h].copy(), moved[:, h + 1].copy()
        after = moved[:, h + 1 :].sum(axis=1)
        accept = rng.random(first.size) < (a + after) / (a + first + after - second)
        moved[accept, h], moved[accept, h + 1] = second[accept], first[accept]
    assert not counts_agree(count_kinds(kinds, moved), p)


@numba.njit
def split_names(rng, prior, sizes, n_draws):
    chosen = np.empty(n_draws, np.int64)
    for draw in range(n_draws):
        chosen[draw] = choose_split_target(rng, prior, sizes)
    components = np.array([is_component(prior, slot) for slot in range(sizes.size)])
    return n_split_targets(prior, sizes), chosen, components


@numba.njit
def replaced(prior, old, new):
    replace_slot(prior, old, new)
    return prior.order


@long
def test_split_targets_are_the_empty_components_and_equally_likely():
    prior = StickBreakingPrior(np.array([6, 1, 4, 0, 3]), np.array([1.0]))
    sizes = np.array([0, 4, 0, 0, 2, 0, 0])
    n_targets, chosen, components = split_names(np.random.default_rng(2), prior, sizes, 9000)
    assert n_targets == 3
    assert components.tolist() == [True, True, False, True, True, False, True]
    counts = np.bincount(chosen, minlength=7)
    assert counts_agree(counts[[0, 3, 6]], np.full(3, 1 / 3))
    assert counts[[0, 3, 6]].sum() == 9000
    full = np.array([1, 4, 0, 1, 2, 0, 1])
    n_targets, chosen, _ = split_names(np.random.default_rng(2), prior, full, 3)
    assert n_targets == 0
    assert chosen.tolist() == [-1, -1, -1]


def test_replaced_slots_keep_their_place():
    prior = StickBreakingPrior(np.array([6, 1, 4]), np.array([1.0]))
    assert replaced(prior, 1, 5).tolist() == [6, 5, 4]
    assert replaced(prior, 2, 7).tolist() == [6, 5, 4]


def test_recompiled_keeps_the_order_of_components():
    prior = StickBreaking(n_components=3)
    state = prior.compiled(10, 1.0, 6)
    assert state.order.tolist() == [0, 1, 2]
    state.order[:] = [5, 0, 2]
    again = prior.recompiled(state, 10, 2.5, 12)
    assert again.order is state.order
    assert again.concentration.tolist() == [2.5]
