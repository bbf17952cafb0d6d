"""Likelihoods to a power against integrals over parameters, written from the definition."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import logsumexp, polygamma
from tests.contracts.cases import plain

from partita.families import Categorical, Count, Gaussian, Mixed
from partita.families.dirichlet_categorical import MOST_FACTORS
from partita.families.powered import Powered, powered
from partita.families.powered_categories_kernels import trigamma
from partita.priors import Gamma
from partita.table import Table

POWERS = (0.3, 1.7)
NUMBERS = np.array([[-0.7], [0.4], [1.9]])


def log_integral(function, *limits):
    value, _ = integrate.nquad(function, limits, opts={"epsabs": 1e-13, "epsrel": 1e-9, "limit": 200})
    return np.log(value)


def log_marginal(family, table, power):
    likelihood = powered(family.resolve(table), power)
    ones = np.ones((table.n_rows, 1))
    return likelihood, float(likelihood.log_marginal(likelihood.suffstats(likelihood.rows(table), ones))[0])


@pytest.mark.parametrize("power", POWERS)
def test_a_column_of_known_variance(power):
    family = Gaussian(covariance="known", variance=0.8, mean=0.2, mean_variance=2.0)
    _, found = log_marginal(family, plain(NUMBERS), power)
    x = NUMBERS[:, 0]

    def joint(mean):
        likelihood = np.prod(stats.norm(mean, np.sqrt(0.8)).pdf(x)) ** power
        return likelihood * stats.norm(0.2, np.sqrt(2.0)).pdf(mean)

    assert found == pytest.approx(log_integral(joint, (-12.0, 12.0)), rel=1e-8)


@pytest.mark.parametrize("covariance", ["full", "diag"])
@pytest.mark.parametrize("power", POWERS)
def test_a_column_of_unknown_variance(power, covariance):
    family = Gaussian(covariance=covariance, dof=5.0, scale=1.5, mean=0.2, mean_precision=0.5)
    _, found = log_marginal(family, plain(NUMBERS), power)
    x = NUMBERS[:, 0]

    steps, log_variance = np.meshgrid(np.linspace(-14.0, 14.0, 1401), np.linspace(-8.0, 14.0, 1101))
    variance = np.exp(log_variance)
    mean = 0.2 + np.sqrt(variance) * steps  # on a grid that the prior reaches, whatever the variance
    logs = power * stats.norm(mean[..., None], np.sqrt(variance)[..., None]).logpdf(x).sum(axis=-1)
    logs += stats.norm(0.0, np.sqrt(1 / 0.5)).logpdf(steps) + stats.invgamma(2.5, scale=0.75).logpdf(variance)
    cell = (steps[0, 1] - steps[0, 0]) * (log_variance[1, 0] - log_variance[0, 0])
    assert found == pytest.approx(logsumexp(logs + log_variance) + np.log(cell), rel=1e-8)


@pytest.mark.parametrize("power", POWERS)
def test_a_column_of_two_categories(power):
    table = Table.read(np.array(["a", "a", "b", "a"], dtype=object)[:, None])
    _, found = log_marginal(Categorical(pseudocount=0.7), table, power)

    def joint(share):
        return (share**3 * (1.0 - share)) ** power * stats.beta(0.7, 0.7).pdf(share)

    assert found == pytest.approx(log_integral(joint, (0.0, 1.0)), rel=1e-7)


@pytest.mark.parametrize("power", POWERS)
def test_a_column_of_counts(power):
    counts = np.array([0.0, 3.0, 7.0])
    table = Table.read(counts[:, None], column_types={0: "count"})
    _, found = log_marginal(Count(shape=1.4, rate=0.6), table, power)

    def joint(rate):
        likelihood = np.prod(stats.poisson(rate).pmf(counts)) ** power
        return likelihood * stats.gamma(1.4, scale=1 / 0.6).pdf(rate)

    assert found == pytest.approx(log_integral(joint, (0.0, 60.0)), rel=1e-8)


def test_a_new_state_computes_no_factors_and_has_room_for_few():
    """However many columns have different numbers of categories, and however often a learned pseudocount moves."""
    levels = [[str(i % (2 + m)) for i in range(300)] for m in range(200)]
    table = Table.read(np.array(levels, dtype=object).T, column_types=dict.fromkeys(range(200), "categorical"))
    for pseudocount in (0.7, Gamma(2.0, 2.0)):
        state = powered(Categorical(pseudocount=pseudocount).resolve(table), 0.5).state(4)
        assert state.factors.shape[0] > 200
        assert state.factors.nbytes <= 8 * MOST_FACTORS
        assert not state.factors.any()


def test_products_are_raised_block_by_block():
    cells = np.column_stack([NUMBERS.astype(object), [["a"], ["b"], ["a"]]])
    plain_product = Mixed(families={"numeric": Gaussian(covariance="diag")}).resolve(Table.read(cells))
    raised = powered(plain_product, 0.5)
    assert raised.power == 0.5
    assert {block.power for block in raised.blocks} == {0.5}
    assert [type(block) for block in raised.plain.blocks] == [type(block) for block in plain_product.blocks]
    assert raised.plain.power == 1.0
    assert raised.n_stats == plain_product.n_stats


def test_a_power_of_one_is_the_likelihood_itself():
    likelihood = Gaussian().resolve(plain(NUMBERS))
    assert powered(likelihood, 1.0) is likelihood
    assert likelihood.plain is likelihood
    raised = powered(likelihood, 0.5)
    assert isinstance(raised, Powered)
    assert raised.plain is likelihood


@pytest.mark.parametrize("x", [1e-3, 0.4, 3.0, 11.9, 12.0, 1e6])
def test_trigamma(x):
    assert trigamma(x) == pytest.approx(polygamma(1, x), rel=1e-13)
