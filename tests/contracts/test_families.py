"""What every registered family must satisfy: densities are ratios of marginals, and statistics add."""

import numpy as np
import pytest
from tests.contracts.cases import every_sampled_case_to_any_power
from tests.contracts.compiled import combine_slots, played, score
from tests.volumes import mostly_long

from partita.families import FAMILIES
from partita.families.base import one_hot
from partita.kernels.gibbs import refresh_slots

COPIES = (1, 2, 3, -1, -2, -3)
SCRATCH = {"work", "matrix", "exponent", "scratch", "other_weight", "other_log_det", "other_factor", "factors"}
close = {"rtol": 1e-9, "atol": 1e-9}


def some_copies(case, rng, *, most=4):
    return rng.integers(0, most, case.n_rows)


def arrays(state, path=""):
    """Every array of a state by name, those of nested states too, scratch left out."""
    found = {}
    for name, part in zip(state._fields, state):
        if name in SCRATCH:
            continue
        found.update(arrays(part, f"{path}{name}.") if isinstance(part, tuple) else {path + name: part})
    return found


def assert_same_state(actual, expected, **tolerance):
    expected = arrays(expected)
    for name, array in arrays(actual).items():
        np.testing.assert_allclose(array, expected[name], err_msg=name, **tolerance)


def test_the_registry_names_four_families_and_the_toy_does_not_leak():
    assert set(FAMILIES) >= {"gaussian", "categorical", "count", "mixed"}
    assert "waiting" not in FAMILIES
    assert all(kind.examples() for kind in FAMILIES.values())


@mostly_long
@every_sampled_case_to_any_power
def test_predictive_is_the_ratio_of_marginals(case):
    rng = np.random.default_rng(11)
    for trial in range(5):
        copies = some_copies(case, rng) if trial else np.zeros(case.n_rows, dtype=np.int64)
        before = case.log_marginal(copies)
        for i in range(case.n_rows):
            for w in COPIES:
                if copies[i] + w < 0:
                    continue
                after = copies + w * (np.arange(case.n_rows) == i)
                state = case.filled(some_copies(case, rng), copies)
                predictive, marginal = played(case.rows, state, (i, w, 1))[0]
                np.testing.assert_allclose(marginal, case.log_marginal(after), **close)
                np.testing.assert_allclose(predictive, case.log_marginal(after) - before, **close)


@mostly_long
@every_sampled_case_to_any_power
def test_chain_rule_holds_in_any_order(case):
    rng = np.random.default_rng(12)
    everything = case.log_marginal(np.ones(case.n_rows))
    for _ in range(5):
        state = case.filled(np.zeros(case.n_rows))
        predictive = played(case.rows, state, *((i, 1, 0) for i in rng.permutation(case.n_rows)))[:, 0]
        np.testing.assert_allclose(predictive.sum(), everything, **close)
        predictive = played(case.rows, state, *((i, -1, 0) for i in rng.permutation(case.n_rows)))[:, 0]
        np.testing.assert_allclose(predictive.sum(), -everything, rtol=1e-9, atol=1e-8)


@every_sampled_case_to_any_power
def test_the_last_of_many_rows_leaves_as_if_it_had_been_alone(case):
    rng = np.random.default_rng(20)
    for last in range(case.n_rows):
        state, everyone = case.filled(np.zeros(case.n_rows)), rng.permutation(case.n_rows)
        came, left = ((i, 2, 0) for i in everyone), ((i, -2, 0) for i in everyone[::-1] if i != last)
        found = played(case.rows, state, *came, *left, (last, -1, 0), (last, -1, 0))[-2:, 0].sum()
        np.testing.assert_allclose(found, -case.log_marginal(2 * (np.arange(case.n_rows) == last)), **close)


@every_sampled_case_to_any_power
def test_nothing_has_log_marginal_zero(case):
    assert case.log_marginal(np.zeros(case.n_rows)) == pytest.approx(0.0, abs=1e-12)


@every_sampled_case_to_any_power
def test_statistics_of_two_blocks_add(case):
    rng = np.random.default_rng(13)
    resp = rng.dirichlet(np.ones(3), case.n_rows)
    for _ in range(3):
        first = rng.random(case.n_rows) < 0.5
        parts = [case.likelihood.suffstats(case.rows, resp * block[:, None]) for block in (first, ~first)]
        np.testing.assert_allclose(sum(parts), case.likelihood.suffstats(case.rows, resp), **close)


@every_sampled_case_to_any_power
def test_whole_weights_are_repeated_rows(case):
    copies = some_copies(case, np.random.default_rng(14))
    repeated = repeat_rows(case.rows, copies)
    expected = case.likelihood.suffstats(repeated, np.ones((copies.sum(), 1)))
    np.testing.assert_allclose(case.stats(copies), expected, **close)


def repeat_rows(rows, copies):
    if isinstance(rows, np.ndarray):
        return np.repeat(rows, copies, axis=0)
    return type(rows)(*(repeat_rows(part, copies) for part in rows))


@every_sampled_case_to_any_power
def test_one_hot_responsibilities_share_rows_out(case):
    labels = np.random.default_rng(15).integers(-1, 3, case.n_rows)
    stats = case.likelihood.suffstats(case.rows, one_hot(labels, 3))
    for k in range(3):
        np.testing.assert_allclose(stats[k], case.stats(labels == k)[0], **close)


@every_sampled_case_to_any_power
def test_compiled_statistics_are_those_of_numpy(case):
    rng = np.random.default_rng(16)
    copies = some_copies(case, rng)
    taken = rng.integers(0, copies + 1)
    state = case.filled(np.zeros(case.n_rows), np.zeros(case.n_rows))
    played(case.rows, state, *((i, w, 1) for i, w in enumerate(copies) if w))
    np.testing.assert_allclose(case.likelihood.stats_of(state)[1], case.stats(copies)[0], **close)
    played(case.rows, state, *((i, -w, 1) for i, w in enumerate(taken) if w))
    np.testing.assert_allclose(case.likelihood.stats_of(state)[1], case.stats(copies - taken)[0], **close)
    assert not case.likelihood.stats_of(state)[0].any()


def random_moves(n_moves, n_rows, n_slots, rng):
    """Moves (row, w, slot) that take out only what is in; a slot that runs empty is reset, as engines do it."""
    held = np.zeros((n_slots, n_rows), dtype=np.int64)
    moves = []
    for _ in range(n_moves):
        slot, i, w = rng.integers(n_slots), rng.integers(n_rows), rng.integers(1, 4)
        if held[slot].any() and rng.random() < 0.6:
            i = rng.choice(np.flatnonzero(held[slot]))
            w = -min(w, held[slot, i])
        held[slot, i] += w
        moves.append((i, w if held[slot].any() else 0, slot))
    return moves, held


@every_sampled_case_to_any_power
def test_caches_after_a_thousand_moves_are_those_of_the_statistics(case):
    moves, held = random_moves(1000, case.n_rows, 3, np.random.default_rng(17))
    assert sum(w == 0 for _, w, _ in moves) > 3
    everyone = [(i, 1, slot) for slot in range(3) for i in range(case.n_rows)]
    state = case.filled(*np.zeros((3, case.n_rows)))
    marginals = played(case.rows, state, *moves, *everyone)[-1 :: -case.n_rows, 1][2::-1]
    expected = [case.log_marginal(copies + 1) for copies in held]
    np.testing.assert_allclose(marginals, expected, rtol=1e-9)
    fresh = refreshed(case, state)
    for own in range(3):
        ask_who_leaves(case, state, own)
        ask_who_leaves(case, fresh, own)
    assert_same_state(state, fresh, rtol=1e-8, atol=1e-9)


def ask_who_leaves(case, state, own):
    """Score a row of the slot, so that caches are made which only rows that leave read."""
    score(case.rows, 0, 1, state, np.ones(3, dtype=np.int64), 3, own, np.ones(3), *np.zeros((2, 3)))


def refreshed(case, state):
    """A new state with the same statistics, its caches made from them."""
    stats = case.likelihood.stats_of(state)
    fresh = case.likelihood.state(stats.shape[0])
    case.likelihood.load(fresh, stats)
    refresh_slots(fresh, stats.shape[0])
    return fresh


@every_sampled_case_to_any_power
def test_reset_slot_is_an_empty_one(case):
    copies = some_copies(case, np.random.default_rng(18)) + 1
    state = case.filled(copies, spare=1)
    played(case.rows, state, (0, 0, 0))
    assert not case.likelihood.stats_of(state).any()
    for i in range(case.n_rows):
        for w in (1, 2):
            used = played(case.rows, state, (i, w, 0), (0, 0, 0))[0]
            never_used = played(case.rows, state, (i, w, 1), (0, 0, 1))[0]
            np.testing.assert_array_equal(used, never_used)


@every_sampled_case_to_any_power
def test_combined_slot_holds_both(case):
    rng = np.random.default_rng(19)
    first, second = some_copies(case, rng) + 1, some_copies(case, rng)
    state = case.filled(first, second, some_copies(case, rng))
    combine_slots(state, 2, 0, 1)
    assert_same_state(state, case.filled(first, second, first + second), **close)
    combine_slots(state, 0, 0, 1)
    assert_same_state(state, case.filled(first + second, second, first + second), **close)
