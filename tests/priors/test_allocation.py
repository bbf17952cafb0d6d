"""Weights given soft sizes: labelled allocations enumerated, divergences written out, slopes by differences."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.special import digamma, gammaln, logsumexp
from tests.oracles.partitions import labelled_states
from tests.volumes import mostly_long

from partita.priors import FiniteDirichlet, Gamma, StickBreaking

PRIORS = [*FiniteDirichlet.examples(), *StickBreaking.examples()]
every_prior = pytest.mark.parametrize("prior", PRIORS, ids=repr)
SOFT = [np.array([3.7, 1.2, 0.4]), np.array([0.2, 5.0]), np.array([8.0]), np.array([1e-7, 2.5, 1e5])]
CONCENTRATIONS = [0.003, 0.7, 4.0, 2e4]


def fitting(prior):
    """Soft sizes of as many components as the prior has, at most."""
    return [sizes[: prior.n_components] for sizes in SOFT]


def all_parameters(prior, sizes, concentration):
    """The Beta or Dirichlet distributions of all weights, listed or not: their parameters after and before."""
    full = np.zeros(prior.n_components)
    full[: sizes.size] = sizes
    if isinstance(prior, FiniteDirichlet):
        before = np.full((1, full.size), concentration if prior.as_printed else concentration / full.size)
        return before + full, before
    after = np.append(np.cumsum(full[::-1])[::-1][1:], 0.0)
    before = np.column_stack([np.ones(full.size - 1), np.full(full.size - 1, concentration)])
    return before + np.column_stack([full, after])[:-1], before


def divergence(after, before):
    """KL of Dirichlets, row by row, from the definition."""
    normal = gammaln(after.sum(1)) - gammaln(after).sum(1) - gammaln(before.sum(1)) + gammaln(before).sum(1)
    logs = digamma(after) - digamma(after.sum(1, keepdims=True))
    return float((normal + ((after - before) * logs).sum(1)).sum())


@every_prior
@pytest.mark.parametrize("n", [1, 3, 5])
def test_probabilities_of_all_labelled_allocations_sum_to_one(prior, n):
    n = min(n, 3) if prior.n_components > 5 else n
    concentration = prior.initial_concentration()
    logs = [
        prior.log_allocation(np.bincount(state, minlength=prior.n_components).astype(float), concentration)
        for state in labelled_states(n, prior.n_components)
    ]
    assert logsumexp(logs) == pytest.approx(0.0, abs=1e-12)


@every_prior
def test_labelled_allocations_of_a_partition_sum_to_its_probability(prior):
    sizes = [3, 2, 2][: prior.n_components]
    places = permutations(range(prior.n_components), len(sizes))
    concentration = prior.initial_concentration()

    def allocation(seats):
        full = np.zeros(prior.n_components)
        full[list(seats)] = sizes
        return prior.log_allocation(full, concentration)

    expected = prior.log_probability_given(np.array(sizes), concentration)
    assert logsumexp([allocation(seats) for seats in places]) == pytest.approx(expected, abs=1e-10)


@every_prior
@pytest.mark.parametrize("concentration", CONCENTRATIONS)
def test_divergence_is_that_of_the_distributions_of_all_weights(prior, concentration):
    for sizes in fitting(prior):
        expected = divergence(*all_parameters(prior, sizes, concentration))
        found = prior.weights_divergence(sizes, concentration)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * (1 + sizes.sum()))


@mostly_long
@every_prior
@pytest.mark.parametrize("concentration", CONCENTRATIONS)
def test_empty_components_behind_the_listed_ones_change_nothing(prior, concentration):
    for sizes in fitting(prior):
        full = np.append(sizes, np.zeros(prior.n_components - sizes.size))
        k = sizes.size
        assert prior.log_allocation(full, concentration) == pytest.approx(
            prior.log_allocation(sizes, concentration), rel=1e-12, abs=1e-12
        )
        listed = prior.expected_log_weights(full, concentration)[:k]
        np.testing.assert_allclose(prior.expected_log_weights(sizes, concentration), listed, rtol=1e-12)
        shares, short = (np.exp(prior.log_mean_weights(s, concentration)) for s in (full, sizes))
        np.testing.assert_allclose(short, np.append(shares[:k], shares[k:].sum()), rtol=1e-12, atol=1e-300)
        assert short.sum() == pytest.approx(1.0, abs=1e-12)


@every_prior
def test_expected_and_mean_weights_are_those_of_their_distributions(prior):
    rng = np.random.default_rng(5)
    sizes, concentration = fitting(prior)[0], 1.4
    after, _ = all_parameters(prior, sizes, concentration)
    drawn = rng.gamma(after, size=(40_000, *after.shape))
    drawn /= drawn.sum(axis=-1, keepdims=True)
    if isinstance(prior, StickBreaking):
        sticks = np.append(drawn[..., 0], np.ones((drawn.shape[0], 1)), axis=1)
        left = np.cumprod(np.append(np.ones((drawn.shape[0], 1)), 1 - sticks[:, :-1], axis=1), axis=1)
        weights = sticks * left
    else:
        weights = drawn[:, 0]
    for found, values in [
        (prior.expected_log_weights(sizes, concentration), np.log(weights[:, : sizes.size])),
        (np.exp(prior.log_mean_weights(sizes, concentration)[:-1]), weights[:, : sizes.size]),
    ]:
        error = values.std(axis=0) / math.sqrt(values.shape[0]) + 1e-15
        assert (np.abs(found - values.mean(axis=0)) < 4.5 * error).all()


@every_prior
@pytest.mark.parametrize("concentration", [1e-6, *CONCENTRATIONS])
def test_slopes_are_derivatives_in_log_concentration(prior, concentration):
    step = 1e-4
    near = [concentration * math.exp(shift) for shift in (-step, step)]
    for sizes in fitting(prior):
        low, high = (prior.log_allocation(sizes, value) for value in near)
        flat, steep = (prior.allocation_slopes(sizes, value)[0] for value in near)
        gradient, curvature = prior.allocation_slopes(sizes, concentration)
        rounding = 1e-15 * 12 * (sizes.sum() + concentration + 1) / step
        assert gradient == pytest.approx((high - low) / (2 * step), rel=1e-6, abs=rounding)
        assert curvature == pytest.approx((steep - flat) / (2 * step), rel=1e-6, abs=1e-10)


@mostly_long
@pytest.mark.parametrize("prior", [p for p in PRIORS if p.learns_concentration], ids=repr)
@pytest.mark.parametrize("start", [1e-3, 1.0, 1e4])
def test_learned_concentration_is_the_highest_of_a_grid(prior, start):
    for sizes in fitting(prior):
        found = prior.learned_concentration(sizes, start)
        grid = found * np.exp(np.linspace(-3, 3, 601))
        values = [prior.log_allocation(sizes, c) + prior.log_hyperprior(c) for c in grid]
        assert np.argmax(values) == 300


def test_a_fixed_concentration_has_no_hyperprior_and_stays():
    prior = StickBreaking(n_components=4, concentration=2.0)
    assert prior.log_hyperprior(2.0) == 0.0
    assert prior.learned_concentration(SOFT[0], 2.0) == 2.0


def test_log_hyperprior_is_a_density_of_the_log():
    prior = FiniteDirichlet(n_components=4, concentration=Gamma(2.0, 0.5))
    logs = np.linspace(-30, 8, 20_001)
    values = np.exp([prior.log_hyperprior(math.exp(x)) for x in logs])
    assert np.trapezoid(values, logs) == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("n_components", [3, 4, 9])
def test_sticks_in_their_best_order(n_components):
    prior = StickBreaking(n_components=n_components, concentration=0.8)
    rng = np.random.default_rng(1)
    for _ in range(20):
        sizes = rng.gamma(0.5, 5.0, 3)
        found = prior.log_allocation(sizes[prior.best_order(sizes, 0.8)], 0.8)
        orders = [prior.log_allocation(sizes[list(order)], 0.8) for order in permutations(range(3))]
        assert found >= prior.log_allocation(sizes, 0.8)
        if n_components > 3:
            assert found == pytest.approx(max(orders), abs=1e-12)


def test_order_of_dirichlet_components_does_not_matter():
    prior = FiniteDirichlet(n_components=4, concentration=0.8)
    assert prior.best_order(np.array([1.0, 3.0]), 0.8).tolist() == [0, 1]


def test_as_printed_is_the_conditional_of_the_paper():
    prior = FiniteDirichlet(n_components=5, concentration=0.7, as_printed=True)
    sizes = np.array([4.0, 2.0, 1.0])
    grown = [prior.log_allocation(sizes + np.eye(3)[k], 0.7) for k in range(3)]
    np.testing.assert_allclose(np.diff(grown), np.diff(np.log(0.7 + sizes)), rtol=1e-12)


def test_candidates_carry_as_printed():
    prior = FiniteDirichlet(n_components=[2, 3], concentration=0.5, as_printed=True)
    assert [p.as_printed for p in prior.candidates()] == [True, True]


def test_as_printed_is_true_or_false():
    with pytest.raises(ValueError, match="as_printed must be True or False; got 'yes'"):
        FiniteDirichlet(n_components=3, concentration=1.0, as_printed="yes").check()
