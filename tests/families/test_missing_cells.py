"""Missing cells under a full covariance: density of what is seen, and draws of what is not."""

import numpy as np
import pytest
from scipy import integrate, stats
from tests.contracts.cases import CORRELATED, make, numbers, plain
from tests.families.gaps import N_DRAWS, conditional_t, draw_cells, predictive_t
from tests.volumes import mostly_long

from partita.families import Gaussian
from partita.kernels.gibbs import log_predictive_matrix

LEVEL = 6.3e-5  # of 4 standard errors
MISSING = {0: [2], 1: [0, 3], 2: [0, 1, 2], 3: [0, 1, 2, 3]}
pytestmark = [
    pytest.mark.xdist_group("NormalInverseWishart"),
    pytest.mark.filterwarnings("ignore:1 row has no observed cell:UserWarning"),
]


@pytest.fixture
def case():
    x = numbers(9, 4)
    for i, columns in MISSING.items():
        x[i, columns] = np.nan
    return make(Gaussian(mean_precision=0.6, dof=5.5, scale=CORRELATED, mean=0.2), plain(x))


def seated(case):
    """Copies of the complete rows in a slot."""
    return np.where(np.arange(case.n_rows) > max(MISSING), [0, 0, 0, 0, 1, 2, 1, 0, 3], 0)


@pytest.mark.parametrize("empty", [False, True])
def test_density_of_observed_cells_is_that_of_the_subvector(case, empty):
    copies = np.zeros(case.n_rows, dtype=np.int64) if empty else seated(case)
    density = log_predictive_matrix(case.rows, case.filled(copies), case.n_rows, 1)[:, 0]
    mean, shape, df = predictive_t(case, copies)
    for i in range(case.n_rows):
        seen = np.setdiff1d(np.arange(4), MISSING.get(i, []))
        expected = 0.0
        if seen.size:
            t = stats.multivariate_t(mean[seen], shape[np.ix_(seen, seen)], df)
            expected = t.logpdf(case.rows.x[i, seen])
        assert density[i] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_density_of_observed_cells_is_the_integral_over_a_missing_one(case):
    copies = seated(case)
    given, i, column = case.log_marginal(copies), 0, 2

    def joint(cell):
        case.rows.x[i, column] = cell
        return np.exp(case.log_marginal(copies + (np.arange(case.n_rows) == i)) - given)

    total, _ = integrate.quad(joint, -np.inf, np.inf, epsabs=0, epsrel=1e-9)
    density = log_predictive_matrix(case.rows, case.filled(copies), case.n_rows, 1)[i, 0]
    assert density == pytest.approx(np.log(total), rel=1e-7)


@mostly_long
@pytest.mark.parametrize("i", MISSING)
def test_drawn_cells_have_their_conditional_distribution(case, i):
    before = case.rows.x.copy()
    copies = (np.arange(case.n_rows) == 5).astype(np.int64)  # few rows: heavy tails, where a wrong one shows
    state = case.filled(copies + (np.arange(case.n_rows) == i))
    draws = draw_cells(case.rows, case.rows.x, state, i, case.n_rows)
    hidden = np.array(MISSING[i])
    seen = np.setdiff1d(np.arange(4), hidden)
    np.testing.assert_array_equal(draws[:, seen], np.tile(before[i, seen], (N_DRAWS, 1)))
    np.testing.assert_array_equal(np.delete(case.rows.x, i, axis=0), np.delete(before, i, axis=0))
    mean, shape, df = conditional_t(*predictive_t(case, copies), seen, hidden, before[i, seen])
    for direction in [*np.eye(hidden.size), np.linspace(1.0, -2.0, hidden.size)]:
        t = stats.t(df, direction @ mean, np.sqrt(direction @ shape @ direction))
        assert stats.kstest(draws[:, hidden] @ direction, t.cdf).pvalue > LEVEL
