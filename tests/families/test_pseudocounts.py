"""The learned pseudocount of categories: its likelihood, slopes, largest value and draws."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import kstest
from tests.families.maximum import objectives
from tests.volumes import long, mostly_long

from partita.families import Categorical, Mixed
from partita.families.algebra.pseudocounts import CategoryCounts
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.priors import Gamma
from partita.table import Table

N_LEVELS = np.array([2, 5, 1, 3])
HYPERPRIOR = Gamma(1.7, 0.9)


def fractional_stats(*, scale=1.0, seed=0):
    """Counts of four clusters, some of them 0 and the last cluster empty."""
    rng = np.random.default_rng(seed)
    stats = scale * rng.gamma(0.4, 10.0, (4, N_LEVELS.sum()))
    stats[rng.random(stats.shape) < 0.3] = 0.0
    stats[3] = 0.0
    return stats


def whole_stats(seed=0):
    return np.floor(fractional_stats(seed=seed))


def likelihood_at(pseudocount, hyperprior=HYPERPRIOR):
    return DirichletCategorical(np.full(4, pseudocount), N_LEVELS, np.arange(4), True, hyperprior)


@pytest.mark.parametrize("beta", [1e-3, 0.4, 1.0, 30.0])
def test_the_likelihood_is_the_marginal_likelihood_of_all_clusters(beta):
    stats = fractional_stats()
    expected = likelihood_at(beta).log_marginal(stats).sum()
    assert CategoryCounts(stats, N_LEVELS).log_likelihood(beta) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("log_beta", [-8.0, -1.0, 0.0, 2.0, 6.0])
@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_slopes_are_differences_of_values(log_beta, scale):
    """Central differences with a step of 1e-3, wrong by its square in relation to the sizes of the terms."""
    counts, step = CategoryCounts(fractional_stats(scale=scale), N_LEVELS), 1e-3
    below, here, above = (counts.slopes(HYPERPRIOR, log_beta + shift) for shift in (-step, 0.0, step))
    target = likelihood_at(np.exp(log_beta))
    value = target.log_marginal(fractional_stats(scale=scale)).sum() + target.log_hyperprior()
    assert here[0] == pytest.approx(value, rel=1e-10)
    assert here[1] == pytest.approx((above[0] - below[0]) / (2 * step), rel=1e-5, abs=1e-5)
    assert here[2] == pytest.approx((above[1] - below[1]) / (2 * step), rel=1e-5, abs=1e-5)


def test_slopes_of_the_smallest_pseudocounts():
    """Every category seen beyond a column's first pulls up by 1, and so does the hyperprior by its shape."""
    stats = whole_stats()
    counts = CategoryCounts(stats, N_LEVELS)
    seen = [part > 0 for part in np.split(stats, np.cumsum(N_LEVELS)[:-1], axis=1)]
    beyond = sum(int(np.maximum(part.sum(axis=1) - 1, 0).sum()) for part in seen)
    _, first, second = counts.slopes(HYPERPRIOR, np.log(1e-300))
    assert first == pytest.approx(beyond + HYPERPRIOR.shape, rel=1e-12)
    assert second == pytest.approx(0.0, abs=1e-12)


@mostly_long
@pytest.mark.parametrize("start", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("stats", [fractional_stats(), fractional_stats(scale=1e6), np.zeros((2, N_LEVELS.sum()))])
def test_relearned_is_the_largest_of_a_fine_grid(stats, start):
    found = likelihood_at(start).relearned(stats)
    best = np.log(found.learned["pseudocount"])
    grid = np.concatenate([np.linspace(-14, 9, 2000), best + np.linspace(-1e-2, 1e-2, 41)])
    heights = [height(likelihood_at(np.exp(point)), stats) for point in grid]
    assert height(found, stats) >= max(heights) - 1e-12 * abs(max(heights))
    assert abs(CategoryCounts(stats, N_LEVELS).slopes(HYPERPRIOR, best)[1]) < 1e-6


def height(likelihood, stats):
    return likelihood.log_marginal(stats).sum() + likelihood.log_hyperprior()


@long
def test_draws_are_from_the_posterior_density():
    stats, rng = whole_stats(), np.random.default_rng(3)
    grid = np.linspace(-8.0, 4.0, 4001)
    heights = np.array([height(likelihood_at(np.exp(point)), stats) for point in grid])
    density = np.exp(heights - heights.max())
    cumulative = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)]) * (grid[1] - grid[0])
    cumulative /= trapezoid(density, grid)
    likelihood, draws = likelihood_at(1.0), []
    for _ in range(8000):
        likelihood = likelihood.redrawn(rng, stats)
        draws.append(np.log(likelihood.learned["pseudocount"]))
    assert kstest(draws[::8], lambda x: np.interp(x, grid, cumulative)).pvalue > 1e-4


def test_without_a_hyperprior_nothing_is_learned():
    fixed, stats = likelihood_at(0.7, hyperprior=None), fractional_stats()
    assert not fixed.learns
    assert fixed.learned == {}
    assert fixed.log_hyperprior() == 0.0
    assert fixed.relearned(stats) is fixed
    assert fixed.redrawn(np.random.default_rng(0), stats) is fixed


class TestOption:
    def table(self):
        rows = [["a", "p"], ["a", "p"], ["b", "q"], [None, "q"], ["b", "q"]]
        return Table.read(np.array(rows, dtype=object))

    @pytest.mark.parametrize(("option", "mean"), [(None, 1.0), (Gamma(3.0, 2.0), 1.5)])
    def test_the_first_value_is_the_mean_of_the_hyperprior(self, option, mean):
        likelihood = Categorical(pseudocount=option).resolve(self.table())
        assert likelihood.learns
        assert likelihood.learned == {"pseudocount": mean}
        np.testing.assert_array_equal(likelihood.pseudocount, [mean, mean])

    def test_a_number_is_not_learned(self):
        assert not Categorical(pseudocount=0.5).resolve(self.table()).learns

    def test_a_hyperprior_that_is_none_is_refused(self):
        with pytest.raises(ValueError, match="Gamma's rate"):
            Categorical(pseudocount=Gamma(1.0, -1.0)).resolve(self.table())

    def test_mixed_learns_it_as_categorical_does(self):
        alone = Categorical(pseudocount=None).resolve(self.table())
        mixed = Mixed(families={"categorical": Categorical(pseudocount=None)}).resolve(self.table())
        stats = alone.suffstats(alone.rows(self.table()), np.random.default_rng(0).dirichlet(np.ones(2), 5))
        assert mixed.learned == alone.learned
        assert mixed.relearned(stats).learned == alone.relearned(stats).learned

    def test_em_holds_it_at_the_mean(self):
        learned, held, other = (
            objectives(Categorical(pseudocount=value), self.table()) for value in (Gamma(4.0, 2.0), 2.0, 1.0)
        )
        assert learned == held != other


@pytest.mark.parametrize("beta", [1e9, 1e12, 1e15, 1e300])
def test_digits_under_a_large_pseudocount(beta):
    """Shares are known to be equal: every label costs log J, and there is nothing to learn."""
    table = Table.read([["a", "p"], ["b", "q"], ["c", "q"]])
    likelihood = Categorical(pseudocount=beta).resolve(table)
    stats = np.array([[3.5, 0.0, 40.0, 7.25, 36.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    known = -np.array([43.5 * np.log(3) + 43.25 * np.log(2), 0.0])
    np.testing.assert_allclose(likelihood.log_marginal(stats), known, rtol=1e-6)
    np.testing.assert_allclose(likelihood.prior_divergence(stats), 0.0, atol=1e-6)
