"""Updates of a learned concentration keep its exact posterior, found here by quadrature on a grid."""

import math

import numpy as np
import pytest
from scipy.special import betaln, kve
from scipy.stats import gamma
from tests.volumes import long, mostly_long

from partita.priors import PRIORS, Gamma, StickBreaking
from partita.priors.hyperpriors import log_expectation, slice_update

N_UPDATES, N_BATCHES = 3000, 30
SIZES = {4: np.array([6, 1, 3, 0]), 3: np.array([2, 5, 1]), 7: np.array([4, 0, 3, 0, 0, 2, 0])}
LEARNED = [p for kind in PRIORS.values() for p in kind.examples() if p.learns_concentration]


def sizes_for(prior):
    return SIZES.get(getattr(prior, "n_components", 4), SIZES[4])


def log_likelihood(prior, sizes, concentration):
    if isinstance(prior, StickBreaking):
        after = np.cumsum(sizes[::-1])[::-1] - sizes
        terms = math.log(concentration) + betaln(1 + sizes, concentration + after)
        return float(terms[:-1].sum())
    return prior.log_probability_given(sizes[sizes > 0], concentration)


def posterior_on_grid(prior, sizes):
    """Return a fine grid of the log concentration and its posterior probabilities."""
    grid = np.linspace(-14.0, 6.0, 4001)
    hyper = gamma(prior.hyperprior.shape, scale=1 / prior.hyperprior.rate)
    log_p = hyper.logpdf(np.exp(grid)) + grid
    log_p += [log_likelihood(prior, sizes, math.exp(x)) for x in grid]
    p = np.exp(log_p - log_p.max())
    return grid, p / p.sum()


def z_scores(draws, grid, p):
    """Return how many standard errors (batch means) the mean and three quartiles lie off."""
    edges = grid[np.searchsorted(np.cumsum(p), [0.25, 0.5, 0.75])]
    statistics = [draws, *(draws <= edge for edge in edges)]
    truths = [p @ grid, *(p[grid <= edge].sum() for edge in edges)]
    scores = []
    for values, truth in zip(statistics, truths):
        means = np.asarray(values, dtype=float).reshape(N_BATCHES, -1).mean(axis=1)
        scores.append((means.mean() - truth) / (means.std(ddof=1) / math.sqrt(N_BATCHES)))
    return np.abs(scores)


def chain(update, start, seed):
    rng = np.random.default_rng(seed)
    draws = np.empty(N_UPDATES)
    for step in range(N_UPDATES):
        start = update(rng, start)
        draws[step] = math.log(start)
    return draws


@mostly_long
@pytest.mark.parametrize(
    "prior", [pytest.param(prior, marks=[long] if i % 2 else []) for i, prior in enumerate(LEARNED)], ids=repr
)
def test_update_keeps_the_posterior_of_the_concentration(prior):
    sizes = sizes_for(prior)
    draws = chain(lambda rng, a: prior.update(rng, sizes, a), prior.initial_concentration(), 99)
    assert np.all(z_scores(draws, *posterior_on_grid(prior, sizes)) < 4.5)


@pytest.mark.parametrize("name", ["dirichlet-process", "stick-breaking"])
def test_the_posterior_sees_a_forgotten_jacobian(name):
    prior = next(p for p in PRIORS[name].examples() if p.learns_concentration)
    sizes = sizes_for(prior)

    def without_jacobian(rng, a):
        return slice_update(rng, prior.hyperprior, lambda x: log_likelihood(prior, sizes, x) - math.log(x), a)

    draws = chain(without_jacobian, prior.initial_concentration(), 99)
    assert np.any(z_scores(draws, *posterior_on_grid(prior, sizes)) > 10)


def test_occupied_sizes_may_come_with_empty_ones_under_a_gibbs_type_prior():
    for prior in LEARNED:
        if not isinstance(prior, StickBreaking):
            bare = prior.update(np.random.default_rng(4), np.array([5, 2]), 0.7)
            assert bare == prior.update(np.random.default_rng(4), np.array([5, 0, 2, 0]), 0.7)


@pytest.mark.parametrize("shape", [0.05, 0.5, 1.0, 3.0, 1e4])
@pytest.mark.parametrize("rate", [1e-3, 1.0, 1e3])
def test_expectations_under_the_hyperprior_have_their_closed_forms(shape, rate):
    hyperprior = Gamma(shape, rate)
    assert log_expectation(hyperprior, np.zeros_like) == pytest.approx(0.0, abs=1e-9)
    raised = log_expectation(hyperprior, lambda a: 7 * np.log(a))
    closed = math.lgamma(shape + 7) - math.lgamma(shape) - 7 * math.log(rate)
    assert raised == pytest.approx(closed, abs=1e-9)


def test_a_partition_that_the_hyperprior_finds_unlikely_is_integrated_too():
    # f = exp(-c / a) under Gamma(1, 1): E f = 2 sqrt(c) K_1(2 sqrt(c)), far out in the hyperprior's tail.
    c = 250_000.0
    closed = math.log(2 * math.sqrt(c) * kve(1, 2 * math.sqrt(c))) - 2 * math.sqrt(c)
    assert log_expectation(Gamma(1.0, 1.0), lambda a: -c / a) == pytest.approx(closed, abs=1e-9)
