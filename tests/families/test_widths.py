"""The default hyperprior of the scale: what it expects, how much it weighs, and how recorded numbers bound it."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, kstest

from partita import Mixture
from partita.families import Gaussian
from partita.families.algebra.widths import EXPECTED_SHARE, least_share, share_within
from partita.priors.hyperpriors import GammaAbove, slice_update
from partita.table import Table

ONES = np.ones(400)


def columns(*steps):
    """Normal columns with a standard deviation of 10, recorded in these steps; 0 is continuous."""
    rng = np.random.default_rng(0)
    x = rng.normal(0.0, 10.0, (400, len(steps)))
    return np.column_stack(
        [column if step == 0 else step * np.round(column / step) for column, step in zip(x.T, steps)]
    )


def test_a_step_explains_a_twelfth_of_its_square():
    for step in (1.0, 2.0, 5.0):
        x = columns(step)
        assert least_share(x, ONES) == pytest.approx(step**2 / 12.0 / x.var(), rel=1e-12)


def test_a_column_without_ties_is_not_bounded():
    assert least_share(columns(0.0), ONES) < 1e-5


def test_one_odd_cell_does_not_change_the_step():
    x = columns(1.0)
    x[3] += 0.05
    assert least_share(x, ONES) == pytest.approx(1.0 / 12.0 / x.var(), rel=1e-12)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [((5.0, 0.0, 0.0, 0.0), 5.0), ((5.0, 0.0, 0.0, 0.0, 0.0), 0.0), ((5.0, 2.0, 0.0, 0.0, 0.0), 2.0)],
)
def test_a_quarter_of_the_columns_decides(steps, expected):
    found = least_share(columns(*steps), ONES)
    assert found == pytest.approx(expected**2 / 1200.0, rel=0.2, abs=1e-5)


def test_flags_are_bounded_by_what_is_expected():
    flags = (np.random.default_rng(1).random((400, 2)) < 0.03).astype(float)
    assert least_share(flags, ONES) == EXPECTED_SHARE


def test_missing_cells_weights_and_tables_without_numbers():
    x = columns(1.0)
    weights = np.where(np.arange(400) < 200, 2.0, 0.0)
    assert least_share(x, weights) == pytest.approx(1.0 / 12.0 / x[:200].var(), rel=1e-12)
    x[::3] = np.nan
    assert least_share(x, ONES) == pytest.approx(1.0 / 12.0 / np.nanvar(x), rel=1e-12)
    assert least_share(np.empty((5, 0)), np.ones(5)) == 0.0
    assert least_share(np.array([[2.0], [2.0]]), np.ones(2)) == 0.0


def test_the_density_above_the_least_value_is_that_of_the_gamma_given_it():
    law = GammaAbove(3.0, 5.0, 0.3)
    total = quad(lambda log_x: np.exp(law.log_density_of_log(log_x)), np.log(0.3), 5.0)[0]
    assert total == pytest.approx(1.0, rel=1e-8)
    np.testing.assert_array_equal(law.log_density_of_log(np.log([0.2, 0.2999])), -np.inf)
    rng, value, draws = np.random.default_rng(2), 0.6, []
    for _ in range(6000):
        value = slice_update(rng, law, lambda _: 0.0, value)
        draws.append(value)
    below = gamma(3.0, scale=0.2).cdf(0.3)
    assert kstest(draws[::5], lambda x: (gamma(3.0, scale=0.2).cdf(x) - below) / (1.0 - below)).pvalue > 1e-4


def test_the_best_scale_is_not_below_the_least_share():
    """Equal rows want none; under a hyperprior without a bound they have their way."""
    rows = Table.read(
        np.repeat([[0.0, 1.0], [3.0, -1.0]], 60, axis=0), standardize=False, guess_types=False, column_steps=0
    )
    likelihood = Gaussian().resolve(rows)
    stats = likelihood.suffstats(likelihood.rows(rows), np.repeat(np.eye(2), 60, axis=0))
    assert share_within(rows).least == pytest.approx(1.0 / 3.0)
    assert likelihood.relearned(stats).learned["scale"] == pytest.approx(1.0 / 3.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("engine", ["gibbs", "vb"])
def test_whole_numbers_are_not_cut_at_their_ties(engine):
    """90 rows of 45 different values: three groups, not 45."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 30)
    x = np.round(rng.normal(0.0, 1.0, (90, 2)) + 6.0 * np.column_stack([group == 1, group == 2]))
    options = {"chains": 2, "draws": 200} if engine == "gibbs" else {}
    model = Mixture(engine=engine, random_state=0, **options).fit(x)
    assert model.n_clusters_ == 3


@pytest.mark.parametrize("least", [-0.1, 0.7, np.nan, "0.1", None, True])
def test_a_least_value_that_cannot_be_is_refused(least):
    with pytest.raises(ValueError, match="GammaAbove's least must be a number from 0 to shape / rate"):
        GammaAbove(3.0, 5.0, least).check()
    GammaAbove(3.0, 5.0, 0.6).check()
