"""The compiled weights of one row are ratios of partition probabilities, in whatever slots."""

import numba
import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from tests.oracles.partitions import labelled_states, set_partitions
from tests.volumes import mostly_long

from partita.kernels.names import log_prior, log_prior_weights, prior_weights
from partita.priors import PRIORS, FiniteDirichlet, GibbsType, StickBreaking, gibbs_type

N_SLOTS = 9
SCATTER = np.array([4, 0, 7, 2, 6, 3, 1])
EMPTY = 5
GIBBS = [p for kind in PRIORS.values() for p in kind.examples() if isinstance(p, GibbsType)]
STICKS = StickBreaking.examples()


@numba.njit
def weights_of(prior, sizes, empty):
    out = np.full(sizes.size, np.nan)
    prior_weights(prior, sizes, sizes.size, empty, out)
    return out


@numba.njit
def log_weights_of(prior, sizes, empty, w):
    out = np.full(sizes.size, np.nan)
    log_prior_weights(prior, sizes, sizes.size, empty, w, out)
    return out


@numba.njit
def log_prior_of(prior, sizes):
    return log_prior(prior, sizes, sizes.size)


def log_sticks(sizes, a, *, keep_last_stick=False):
    """Log probability of labelled components, stick by stick: a B(1 + N_h, a + N_{>h})."""
    total = 0.0
    for h in range(len(sizes) - (not keep_last_stick)):
        after = sum(sizes[h + 1 :])
        total += np.log(a) + gammaln(1 + sizes[h]) + gammaln(a + after) - gammaln(1 + a + sizes[h] + after)
    return total


def normalised(log_weights):
    return np.exp(log_weights - logsumexp(log_weights))


def gibbs_sizes(labels):
    sizes = np.zeros(N_SLOTS, dtype=np.int64)
    np.add.at(sizes, SCATTER[list(labels)], 1)
    return sizes


def expected_gibbs_weights(prior, concentration, sizes, w):
    out = np.full(N_SLOTS, -np.inf)
    for slot in [*np.flatnonzero(sizes), EMPTY]:
        grown = sizes.copy()
        grown[slot] += w
        out[slot] = prior.log_probability_given(grown[grown > 0], concentration)
    return normalised(out)


@mostly_long
@pytest.mark.parametrize("prior", GIBBS, ids=repr)
@pytest.mark.parametrize("w", [1, 2, 3])
def test_gibbs_type_weights_are_ratios_of_probabilities(prior, w):
    concentration = prior.initial_concentration()
    state = prior.compiled(5 + w, concentration, N_SLOTS)
    for labels in set_partitions(5):
        sizes = gibbs_sizes(labels)
        if not prior.possible(sizes[sizes > 0]):
            continue
        expected = expected_gibbs_weights(prior, concentration, sizes, w)
        np.testing.assert_allclose(normalised(log_weights_of(state, sizes, EMPTY, w)), expected, atol=1e-12)
        if w == 1:
            linear = weights_of(state, sizes, EMPTY)
            np.testing.assert_allclose(linear / linear.sum(), expected, atol=1e-12)


@pytest.mark.parametrize("prior", GIBBS, ids=repr)
def test_gibbs_type_log_prior_is_the_log_probability(prior):
    concentration = prior.initial_concentration()
    state = prior.compiled(5, concentration, 6)
    fixed = type(prior)(**{**prior.get_params(deep=False), "concentration": concentration})
    for labels in set_partitions(5):
        assert log_prior_of(state, gibbs_sizes(labels)) == pytest.approx(
            fixed.log_probability(labels), rel=1e-12, abs=1e-12
        )


@pytest.mark.parametrize("prior", GIBBS, ids=repr)
def test_without_an_empty_slot_nothing_opens_and_the_first_row_always_can(prior):
    state = prior.compiled(6, prior.initial_concentration(), N_SLOTS)
    sizes = gibbs_sizes((0, 0, 0, 0, 0))
    assert np.flatnonzero(weights_of(state, sizes, -1)).tolist() == [SCATTER[0]]
    assert np.flatnonzero(np.isfinite(log_weights_of(state, sizes, -1, 1))).tolist() == [SCATTER[0]]
    nobody = np.zeros(N_SLOTS, dtype=np.int64)
    assert weights_of(state, nobody, EMPTY)[EMPTY] == 1.0
    assert np.flatnonzero(np.isfinite(log_weights_of(state, nobody, EMPTY, 3))).tolist() == [EMPTY]


@pytest.mark.parametrize("prior", GIBBS, ids=repr)
def test_recompiled_equals_compiled_and_shares_what_still_holds(prior):
    before = prior.compiled(30, 0.9, 8)
    for concentration, capacity in [(1.4, 8), (0.9, 20), (1.4, 64)]:
        fresh = prior.compiled(30, concentration, capacity)
        again = prior.recompiled(before, 30, concentration, capacity)
        for name in fresh._fields:
            np.testing.assert_array_equal(getattr(fresh, name), getattr(again, name))
            assert getattr(again, name).flags.c_contiguous
            assert getattr(again, name).dtype == np.float64
        unchanged = prior.shift(concentration) == prior.shift(0.9)
        assert (again.log_w is before.log_w) == (again.shift is before.shift) == unchanged
    longer = prior.recompiled(before, 31, 0.9, 8)
    assert longer.log_w.shape == (32,)
    assert longer.open.shape == (8,)


@pytest.mark.parametrize("prior", GIBBS, ids=repr)
def test_sizes_beyond_the_table_weigh_what_they_would_in_it(prior, monkeypatch):
    concentration = prior.initial_concentration()
    tabled = prior.compiled(6000, concentration, N_SLOTS)
    monkeypatch.setattr(gibbs_type, "MOST_TABLED", 4)
    computed = prior.compiled(6000, concentration, N_SLOTS)
    assert tabled.log_w.shape == (6001,)
    assert computed.log_w.shape == (2,)
    assert prior.recompiled(computed, 6000, concentration, 20).log_w is computed.log_w
    rng = np.random.default_rng(2)
    for size_range in (3, 20, 1500):
        sizes = np.zeros(N_SLOTS, dtype=np.int64)
        sizes[[0, 2, 7][: min(3, prior.most_clusters(3))]] = rng.integers(1, size_range, 3)[: prior.most_clusters(3)]
        np.testing.assert_array_equal(weights_of(computed, sizes, EMPTY), weights_of(tabled, sizes, EMPTY))
        assert log_prior_of(computed, sizes) == pytest.approx(log_prior_of(tabled, sizes), rel=1e-12, abs=1e-10)
        for w in (1, 2, 12, 13, 700):
            expected = log_weights_of(tabled, sizes, EMPTY, w)
            np.testing.assert_allclose(log_weights_of(computed, sizes, EMPTY, w), expected, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("prior", GIBBS, ids=repr)
def test_weights_of_billions_of_rows_keep_their_digits(prior):
    concentration = prior.initial_concentration()
    state = prior.compiled(2**31 - 10, concentration, N_SLOTS)
    assert sum(array.nbytes for array in state) < 1000
    sizes = np.zeros(N_SLOTS, dtype=np.int64)
    sizes[3] = 2**30
    shift = prior.shift(concentration)
    one, many = (log_weights_of(state, sizes, -1, w)[3] for w in (1, 2**29))
    assert one == pytest.approx(np.log(2**30 + shift), rel=1e-15)
    middles = np.arange(0, 2**29, 2**9) + (2**9 - 1) / 2  # of 2**9 summands each, whose logs are all but equal
    assert many == pytest.approx(2**9 * np.log(2**30 + shift + middles).sum(), rel=1e-12)


def stick_case(prior, labels, seed):
    """Components in scattered slots with spare ones between."""
    n_slots = prior.n_components + 3
    order = np.random.default_rng(seed).permutation(n_slots)[: prior.n_components].astype(np.int64)
    state = prior.compiled(5, prior.initial_concentration(), n_slots)._replace(order=order)
    by_component = np.bincount(labels, minlength=prior.n_components)
    sizes = np.zeros(n_slots, dtype=np.int64)
    sizes[order] = by_component
    return state, sizes, by_component


def some_labelled_states(prior):
    states = list(labelled_states(5, prior.n_components))
    return states[:: max(1, len(states) // 200)]


def expected_stick_weights(by_component, a, w):
    grown = by_component + w * np.eye(by_component.size, dtype=np.int64)
    return np.exp([log_sticks(row, a) - log_sticks(by_component, a) for row in grown])


@mostly_long
@pytest.mark.parametrize("prior", STICKS, ids=repr)
@pytest.mark.parametrize("w", [1, 2, 3])
def test_stick_breaking_weights_are_ratios_of_labelled_probabilities(prior, w):
    a = prior.initial_concentration()
    for seed, labels in enumerate(some_labelled_states(prior)):
        state, sizes, by_component = stick_case(prior, labels, seed)
        expected = np.zeros(sizes.size)
        expected[state.order] = expected_stick_weights(by_component, a, w)
        np.testing.assert_allclose(np.exp(log_weights_of(state, sizes, -1, w)), expected, atol=1e-12)
        if w == 1:
            np.testing.assert_allclose(weights_of(state, sizes, 0), expected, atol=1e-12)


@pytest.mark.parametrize("prior", STICKS, ids=repr)
def test_stick_breaking_log_prior_has_all_constants(prior):
    a = prior.initial_concentration()
    for seed, labels in enumerate(some_labelled_states(prior)):
        state, sizes, by_component = stick_case(prior, labels, seed)
        assert log_prior_of(state, sizes) == pytest.approx(log_sticks(by_component, a), rel=1e-12, abs=1e-12)


def test_the_ratio_sees_a_last_stick_that_is_kept():
    prior, a = StickBreaking(n_components=4, concentration=1.7), 1.7
    by_component = np.array([2, 1, 0, 2])
    correct = weights_of(prior.compiled(6, a, 7), np.append(by_component, [0, 0, 0]), -1)[:4]
    kept = correct.copy()
    kept[3] *= (1 + by_component[3]) / (1 + a + by_component[3])
    expected = expected_stick_weights(by_component, a, 1)
    assert np.abs(correct / correct.sum() - expected).max() < 1e-12
    assert np.abs(kept / kept.sum() - expected).max() > 0.01


def test_the_ratio_sees_alpha_in_place_of_alpha_over_components():
    class Misprinted(FiniteDirichlet):
        def shift(self, concentration):
            return concentration

    right = FiniteDirichlet(n_components=4, concentration=1.3)
    wrong = Misprinted(n_components=4, concentration=1.3)
    sizes = gibbs_sizes((0, 0, 1, 0, 2))
    linear = weights_of(wrong.compiled(6, 1.3, N_SLOTS), sizes, EMPTY)
    expected = expected_gibbs_weights(right, 1.3, sizes, 1)
    assert np.abs(linear / linear.sum() - expected).max() > 0.01
