"""The flat hyperprior: the maximum of the bound alone, by brute force; the limit of a Gamma; nothing drawn under it."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from tests.volumes import mostly_long

from partita.families import Gaussian
from partita.families.algebra.pseudocounts import CategoryCounts
from partita.priors import DirichletProcess, FiniteDirichlet, Flat, Gamma, PitmanYor, StickBreaking
from partita.table import Table

SIZES = [np.array([5.0, 3.0, 1.0]), np.array([40.2, 7.7, 1.9, 0.2]), np.array([2.5, 2.5])]
STARTS = [1e-6, 0.3, 1.0, 1e6]


def best_of(function):
    """The maximum between 1e-6 and 1e6 of a function of x, by a grid in log x and golden sections."""
    logs = np.linspace(np.log(1e-6), np.log(1e6), 2001)
    top = int(np.argmax([function(np.exp(x)) for x in logs]))
    low, high = logs[max(top - 1, 0)], logs[min(top + 1, 2000)]
    found = minimize_scalar(
        lambda x: -function(np.exp(x)), bounds=(low, high), method="bounded", options={"xatol": 1e-10}
    )
    return np.exp(found.x)


@mostly_long
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("kind", [StickBreaking, FiniteDirichlet])
def test_the_concentration_is_where_the_bound_is_largest(kind, sizes, start):
    prior = kind(n_components=6, concentration=Flat())
    fixed = kind(n_components=6, concentration=1.0)
    expected = best_of(lambda concentration: fixed.log_allocation(sizes, concentration))
    found = prior.learned_concentration(sizes, start)
    assert found == pytest.approx(expected, rel=1e-6)
    assert prior.log_hyperprior(found) == 0.0


@pytest.mark.parametrize("start", STARTS)
def test_the_pseudocount_is_where_the_bound_is_largest(start):
    counts = np.array([[9.0, 1.0, 0.0, 3.2, 2.8], [0.5, 6.0, 1.5, 1.0, 7.0]])

    def log_evidence(beta):
        total = 0.0
        for column in (counts[:, :3], counts[:, 3:]):
            j = column.shape[1]
            total += (gammaln(beta + column) - gammaln(beta)).sum()
            total -= (gammaln(j * beta + column.sum(axis=1)) - gammaln(j * beta)).sum()
        return total

    found = CategoryCounts(counts, np.array([3, 2])).best(Flat(), start)
    assert found == pytest.approx(best_of(log_evidence), rel=1e-6)


def test_where_the_bound_has_no_maximum_the_end_of_the_range_is_taken():
    pure, even = np.array([[9.0, 0.0], [0.0, 5.0]]), np.array([[5.0, 5.0], [5.0, 5.0]])
    assert CategoryCounts(pure, np.array([2])).best(Flat(), 1.0) == pytest.approx(1e-6)
    assert CategoryCounts(even, np.array([2])).best(Flat(), 1.0) == pytest.approx(1e6)
    one = StickBreaking(n_components=5, concentration=Flat())
    assert one.learned_concentration(np.array([20.0]), 1.0) == pytest.approx(1e-6)


@pytest.mark.parametrize("sizes", SIZES[:2], ids=str)
def test_it_is_the_limit_of_a_gamma(sizes):
    flat, faint = (StickBreaking(n_components=6, concentration=one) for one in (Flat(), Gamma(1e-9, 1e-9)))
    assert flat.learned_concentration(sizes, 1.0) == pytest.approx(faint.learned_concentration(sizes, 1.0), rel=1e-7)


def test_it_begins_where_it_is_told_and_checks_that():
    assert DirichletProcess(concentration=Flat()).initial_concentration() == 1.0
    assert DirichletProcess(concentration=Flat(start=0.2)).initial_concentration() == 0.2
    for wrong in (0.0, -1.0, 1e7, np.nan, "one", True, None):
        with pytest.raises(ValueError, match=r"Flat's start must be a number from 1e-6 to 1e6, got"):
            DirichletProcess(concentration=Flat(start=wrong)).initial_concentration()


@pytest.mark.parametrize(
    "prior",
    [
        DirichletProcess(concentration=Flat()),
        PitmanYor(concentration=Flat(), discount=0.3),
        FiniteDirichlet(n_components=4, concentration=Flat()),
        StickBreaking(n_components=4, concentration=Flat()),
    ],
    ids=lambda prior: prior.name,
)
def test_nothing_is_drawn_or_averaged_under_it(prior):
    rng = np.random.default_rng(0)
    sizes = np.array([3, 1, 0, 0]) if isinstance(prior, StickBreaking) else np.array([3, 1])
    for ask in (
        lambda: prior.sample_partition(4, rng),
        lambda: prior.sample_weights(4, rng),
        lambda: prior.log_probability([0, 0, 0, 1]),
        lambda: prior.expected_clusters(4),
        lambda: prior.cluster_count_distribution(4),
        lambda: prior.update(rng, sizes, 1.0),
    ):
        with pytest.raises(ValueError, match=r"cannot be had under Flat\(\), a hyperprior that does not integrate"):
            ask()


def test_scales_of_gaussian_groups_need_a_density():
    table = Table.read(np.random.default_rng(0).normal(size=(20, 2)))
    with pytest.raises(ValueError, match=r"scale cannot be had under Flat\(\)"):
        Gaussian(scale=Flat()).resolve(table)
    with pytest.raises(ValueError, match=r"mean_precision cannot be had under Flat\(\)"):
        Gaussian(covariance="diag", mean_precision=Flat()).resolve(table)
