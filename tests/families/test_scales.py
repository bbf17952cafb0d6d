"""The learned scale and mean_precision of Gaussian groups: likelihoods, slopes, largest values, draws, options."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import gamma, kstest
from tests.families.maximum import objectives
from tests.volumes import mostly_long

from partita import Mixture
from partita.families import Categorical, Gaussian, Mixed
from partita.families.algebra.scales import LEAST_PRECISION, LEAST_SCALE
from partita.priors import Gamma
from partita.table import Table

SCALE, PRECISION = Gamma(1.7, 0.9), Gamma(1.3, 4.0)
NAMES = ("scale", "mean_precision")


def table(n_missing=0, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(40, 3)) * [1.0, 2.0, 0.3] + 3.0 * rng.integers(0, 3, 40)[:, None]
    x.flat[rng.choice(x.size, n_missing, replace=False)] = np.nan
    return Table.read(x, standardize=False)


def learner(covariance, **options):
    """A model that learns both numbers, and fractional statistics of four clusters, the last one empty."""
    rows = table(0 if covariance == "full" else 9)
    family = Gaussian(covariance=covariance, **{"scale": SCALE, "mean_precision": PRECISION} | options)
    likelihood = family.resolve(rows)
    resp = np.random.default_rng(1).dirichlet(np.full(4, 0.3), 40)
    resp[:, 3] = 0.0
    return likelihood, likelihood.suffstats(likelihood.rows(rows), resp)


def height(likelihood, stats):
    return likelihood.log_marginal(stats).sum() + likelihood.log_hyperprior()


every_covariance = pytest.mark.parametrize("covariance", ["full", "diag"])
both_names = pytest.mark.parametrize("name", NAMES)


@every_covariance
@both_names
def test_the_likelihood_is_the_marginal_likelihood_of_all_clusters_but_for_a_constant(covariance, name):
    likelihood, stats = learner(covariance)
    evidence = likelihood._evidence(name, stats)
    values = [2e-6, 1e-2, 0.4, 1.0, 30.0, 1e5]
    found = np.array([evidence.log_likelihood(value) for value in values])
    expected = np.array([likelihood.with_learned(**{name: v}).log_marginal(stats).sum() for v in values])
    np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-9, atol=1e-8)


@every_covariance
@both_names
@pytest.mark.parametrize("log_value", [-8.0, -1.0, 0.0, 2.0, 6.0])
def test_slopes_are_differences_of_values(covariance, name, log_value):
    """Central differences with a step of 1e-3, wrong by its square in relation to the sizes of the terms."""
    likelihood, stats = learner(covariance)
    evidence, hyperprior, step = likelihood._evidence(name, stats), likelihood.hyperpriors[name], 1e-3
    below, here, above = (evidence.slopes(hyperprior, log_value + shift) for shift in (-step, 0.0, step))
    value = evidence.log_likelihood(np.exp(log_value)) + hyperprior.log_density_of_log(log_value)
    assert here[0] == pytest.approx(value, rel=1e-12)
    assert here[1] == pytest.approx((above[0] - below[0]) / (2 * step), rel=1e-5, abs=1e-5)
    assert here[2] == pytest.approx((above[1] - below[1]) / (2 * step), rel=1e-5, abs=1e-5)


@every_covariance
@pytest.mark.parametrize("start", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("learned", [("scale",), ("mean_precision",), NAMES], ids="+".join)
def test_relearned_is_the_largest_of_a_fine_grid(covariance, start, learned):
    fixed = {name: 0.3 for name in NAMES if name not in learned}
    likelihood, stats = learner(covariance, **fixed)
    found = likelihood.with_learned(**dict.fromkeys(learned, start)).relearned(stats)
    best = {name: np.log(value) for name, value in found.learned.items()}
    grids = [np.concatenate([np.linspace(-9.0, 5.0, 29), best[name] + np.linspace(-1e-2, 1e-2, 5)]) for name in learned]
    heights = [
        height(likelihood.with_learned(**dict(zip(learned, map(float, np.exp(logs))))), stats)
        for logs in np.stack(np.meshgrid(*grids), axis=-1).reshape(-1, len(learned))
    ]
    assert height(found, stats) >= max(heights) - 1e-12 * abs(max(heights))
    for name in learned:
        assert abs(found._evidence(name, stats).slopes(found.hyperpriors[name], best[name])[1]) < 1e-4


@every_covariance
def test_relearning_never_loses(covariance):
    likelihood, _ = learner(covariance)
    rng, rows = np.random.default_rng(2), likelihood.rows(table(0 if covariance == "full" else 9))
    for _ in range(30):
        stats = likelihood.suffstats(rows, rng.dirichlet(np.full(5, 0.2), 40))
        before = height(likelihood, stats)
        likelihood = likelihood.relearned(stats)
        assert height(likelihood, stats) >= before - 1e-11 * abs(before)


@mostly_long
@every_covariance
@both_names
def test_draws_are_from_the_posterior_density(covariance, name):
    other = next(one for one in NAMES if one != name)
    likelihood, stats = learner(covariance, **{other: 0.3})
    grid = np.linspace(-9.0, 5.0, 2001)
    heights = np.array([height(likelihood.with_learned(**{name: float(np.exp(log))}), stats) for log in grid])
    density = np.exp(heights - heights.max())
    cumulative = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)]) * (grid[1] - grid[0])
    cumulative /= trapezoid(density, grid)
    rng, draws = np.random.default_rng(3), []
    for _ in range(4000):
        likelihood = likelihood.redrawn(rng, stats)
        draws.append(np.log(likelihood.learned[name]))
    assert kstest(draws[::4], lambda x: np.interp(x, grid, cumulative)).pvalue > 1e-4


@every_covariance
def test_the_hyperprior_is_the_density_of_both_logs(covariance):
    likelihood, _ = learner(covariance)
    found = likelihood.with_learned(scale=0.3, mean_precision=2.5).log_hyperprior()
    densities = [gamma(1.7, scale=1 / 0.9).logpdf(0.3) + np.log(0.3), gamma(1.3, scale=0.25).logpdf(2.5) + np.log(2.5)]
    assert found == pytest.approx(sum(densities), rel=1e-12)


@every_covariance
def test_equal_rows_do_not_pull_the_scale_below_its_least_value(covariance):
    """Under a diagonal covariance that takes rows that are equal to the prior mean in a column."""
    rows = Table.read(
        np.repeat([[0.0, 1.0], [3.0, -1.0]], 60, axis=0), standardize=False, guess_types=False, column_steps=0
    )
    mean = None if covariance == "full" else [0.0, 1.0]
    options = {"scale": Gamma(1.0, 1.0), "mean": mean, "mean_precision": 0.1}
    assert_stops_at({"scale": LEAST_SCALE}, Gaussian(covariance=covariance, **options), rows)


@every_covariance
def test_groups_that_are_points_do_not_pull_the_precision_below_its_least_value(covariance):
    rows = Table.read(
        np.repeat([[-1e5, -1e5], [1e5, 1e5]], 60, axis=0), standardize=False, guess_types=False, column_steps=0
    )
    family = Gaussian(covariance=covariance, scale=1.0, mean_precision=Gamma(1e-3, 1.0))
    assert_stops_at({"mean_precision": LEAST_PRECISION}, family, rows)


def assert_stops_at(least, family, rows):
    """Of two groups of 60 rows the best value is the least one, and draws get near it, and never below."""
    likelihood = family.resolve(rows)
    stats = likelihood.suffstats(likelihood.rows(rows), np.repeat(np.eye(2), 60, axis=0))
    found = likelihood.relearned(stats)
    assert found.learned == least
    assert np.isfinite(height(found, stats))
    drawn, rng, [name] = likelihood, np.random.default_rng(4), least
    for _ in range(200):
        drawn = drawn.redrawn(rng, stats)
        assert drawn.learned[name] >= least[name]
    assert drawn.learned[name] < 100.0 * least[name]


@every_covariance
def test_the_unit_of_the_scale_is_the_columns_variance(covariance):
    rows = table()
    found = Gaussian(covariance=covariance, dof=5.0, scale=Gamma(3.0, 2.0), mean_precision=0.3).resolve(rows)
    diagonal = np.diag(found.scale) if covariance == "full" else found.scale
    np.testing.assert_allclose(diagonal, 1.5 * 5.0 * rows.numeric.var(axis=0), rtol=1e-12)
    assert found.learned == {"scale": 1.5}
    found = Gaussian(covariance=covariance, scale=0.7, mean_precision=Gamma(3.0, 2.0)).resolve(rows)
    np.testing.assert_array_equal(found.mean_precision, 1.5)
    assert found.learned == {"mean_precision": 1.5}


@every_covariance
def test_numbers_are_not_learned(covariance):
    rows = table()
    fixed = Gaussian(covariance=covariance, scale=0.7, mean_precision=0.2).resolve(rows)
    stats = fixed.suffstats(fixed.rows(rows), np.ones((40, 1)))
    assert not fixed.learns
    assert fixed.learned == {}
    assert fixed.log_hyperprior() == 0.0
    assert fixed.relearned(stats) is fixed
    assert fixed.redrawn(np.random.default_rng(0), stats) is fixed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scale": Gamma(1.0, -1.0)}, "Gamma's rate"),
        ({"mean_precision": Gamma(0.0, 1.0)}, "Gamma's shape"),
        ({"scale": Gamma(1.0, 1e9)}, "mean below 1e-06"),
        ({"covariance": "known", "scale": Gamma(1.0, 1.0)}, "does not use scale"),
        ({"dof": Gamma(1.0, 1.0)}, r"dof must be one number, got Gamma\("),
    ],
)
def test_hyperpriors_that_are_none_are_refused(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        Gaussian(**options).resolve(table())


@every_covariance
def test_em_holds_given_ones_at_their_means(covariance):
    options = {"covariance": covariance, "dof": 5.0}
    learned = objectives(Gaussian(**options, scale=Gamma(4.0, 4.0), mean_precision=Gamma(1.0, 10.0)), table())
    variances = table().numeric.var(axis=0)
    numbers = 5.0 * (np.diag(variances) if covariance == "full" else variances)
    fixed = objectives(Gaussian(**options, scale=numbers, mean_precision=0.1), table())
    assert learned == pytest.approx(fixed, rel=1e-12)
    assert learned != objectives(Gaussian(**options, scale=Gamma(4.0, 2.0)), table())


@every_covariance
def test_a_mixture_by_em_has_numbers_where_options_are_open(covariance):
    """dof 6 (diagonal 4), mean_precision 0.1 and a scale that expects half of the variance within a group."""
    x = table().numeric
    half = 0.5 * 2.0 * x.var(axis=0)  # dof - d - 1 is 2 for both
    numbers = {"dof": 6.0, "scale": np.diag(half)} if covariance == "full" else {"dof": 4.0, "scale": half}
    given = Gaussian(covariance=covariance, mean_precision=0.1, **numbers)
    paths = [
        Mixture(family=family, engine="em", n_clusters=2, standardize=False, random_state=0).fit(x).loglik_path_
        for family in (Gaussian(covariance=covariance), given)
    ]
    np.testing.assert_allclose(*paths, rtol=1e-12)


class TestMixed:
    def table(self):
        x = table().numeric[:8].astype(object)
        return Table.read(np.column_stack([x, list("aabbabab"), list("ppqqpqpq")]), standardize=False)

    def resolved(self, **families):
        return Mixed(families=families).resolve(self.table())

    def test_a_name_that_one_block_learns_is_the_familys(self):
        numeric = Gaussian(covariance="diag", scale=SCALE, mean_precision=PRECISION)
        found = self.resolved(numeric=numeric, categorical=Categorical(pseudocount=Gamma(2.0, 4.0)))
        assert found.learned == {"scale": SCALE.mean, "mean_precision": PRECISION.mean, "pseudocount": 0.5}

    def test_names_of_two_blocks_are_told_apart(self):
        x0 = Gaussian(scale=PRECISION, mean_precision=0.1)
        found = self.resolved(x0=x0, numeric=Gaussian(scale=SCALE, mean_precision=PRECISION))
        assert found.learned == {
            "full_scale": SCALE.mean,
            "mean_precision": PRECISION.mean,
            "diag_scale": PRECISION.mean,
        }
        moved = found.with_learned(full_scale=2.0, diag_scale=3.0, mean_precision=4.0)
        assert moved.learned == {"full_scale": 2.0, "mean_precision": 4.0, "diag_scale": 3.0}
        full, diagonal = moved.blocks[:2]
        assert (full.multiplier, full.mean_precision, diagonal.multiplier) == (2.0, 4.0, 3.0)

    def test_columns_of_one_block_share_one_multiplier_of_their_own_scales(self):
        own = Gaussian(covariance="diag", scale=SCALE, dof=9.0, mean_precision=0.1)
        found = self.resolved(x1=own, numeric=Gaussian(covariance="diag", scale=SCALE, mean_precision=0.1))
        variances = self.table().numeric.var(axis=0)[found.blocks[1].columns]
        dof = np.where(found.blocks[1].columns == 1, 9.0, 7.0)
        np.testing.assert_allclose(found.blocks[1].scale, SCALE.mean * dof * variances, rtol=1e-12)
        assert found.learned == {"scale": SCALE.mean}

    def test_nothing_is_learned_unasked_beside_numbers(self):
        for numbers in ({"scale": 0.5}, {"mean_precision": 0.3}):
            found = self.resolved(x1=Gaussian(covariance="diag", **numbers))
            alone = Mixed().resolve_fixed(self.table()).blocks[1]
            assert found.learned == {}
            others = found.blocks[1].columns != 1
            for name in ("scale", "mean_precision", "dof"):
                ordered = getattr(alone, name)[np.argsort(alone.columns)][found.blocks[1].columns]
                np.testing.assert_allclose(getattr(found.blocks[1], name)[others], ordered[others], rtol=1e-14)

    def test_a_named_column_and_the_rest_learn_together(self):
        found = self.resolved(x1=Gaussian(mean=0.0))
        assert found.learned == pytest.approx({"scale": 0.4, "mean_precision": 0.02})
        assert found.blocks[1].hyperpriors["scale"].shape == 2.0 + 24 / 8.0

    def test_every_block_is_at_its_best(self):
        found = self.resolved(x0=Gaussian(scale=PRECISION), numeric=Gaussian(scale=SCALE))
        stats = found.suffstats(found.rows(self.table()), np.random.default_rng(5).dirichlet(np.ones(3), 8))
        best = found.relearned(stats)
        for name, value in best.learned.items():
            for factor in (0.98, 1.02):
                moved = best.with_learned(**best.learned | {name: factor * value})
                assert height(moved, stats) < height(best, stats)

    @pytest.mark.parametrize(
        ("families", "words"),
        [
            (
                {"x0": Gaussian(scale=SCALE), "numeric": Gaussian(covariance="diag")},
                r"one scale for all its diagonal Gaussian columns, but it is learned under .* for some and learned",
            ),
            (
                {"x0": Gaussian(scale=SCALE), "numeric": Gaussian(covariance="diag", scale=0.5)},
                r"one scale for all its diagonal Gaussian columns, but it is learned under .* for some and fixed",
            ),
            (
                {"x0": Gaussian(scale=SCALE), "numeric": Gaussian(covariance="diag", scale=PRECISION)},
                r"one scale .* learned under Gamma\(.*\) for some and learned under Gamma\(.*\) for others: give all",
            ),
            (
                {"x3": Categorical(pseudocount=Gamma(1.0, 2.0))},
                r"one pseudocount for all its categorical columns, but it is learned under .* and fixed for others",
            ),
        ],
    )
    def test_two_hyperpriors_in_a_block_are_refused(self, families, words):
        with pytest.raises(ValueError, match=words):
            self.resolved(**families)
