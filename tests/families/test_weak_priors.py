"""Priors that say next to nothing of the mean: a row that leaves its cluster leaves the prior behind."""

import numpy as np
import pytest
from tests.contracts.cases import make, numbers, plain
from tests.contracts.compiled import played
from tests.contracts.raised_family import Raised

from partita import Mixture
from partita.families import Count, Gaussian
from partita.table import Table

WEAK = [
    Gaussian(mean_precision=1e-20),
    Gaussian(covariance="diag", mean_precision=1e-20),
    Gaussian(covariance="known", mean_variance=1e36),
]
every_weak_prior = pytest.mark.parametrize("family", WEAK, ids=repr)


@every_weak_prior
@pytest.mark.parametrize("w", [1, 2])
def test_the_last_row_leaves_as_it_came(family, w):
    case = make(family, plain(numbers(6, 2)))
    state = case.likelihood.state(1)
    came, left = played(case.rows, state, (0, 0, 0), (2, w, 0), (2, -w, 0))[1:]
    row = w * (np.arange(6) == 2)
    np.testing.assert_allclose([came[0], came[1], -left[0]], case.log_marginal(row), rtol=1e-12)
    assert left[1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("family", [*WEAK[:2], Gaussian(covariance="known", mean_variance=1e22)], ids=repr)
@pytest.mark.parametrize(("power", "w"), [(0.3, 1), (0.1, 1), (0.1, 10), (1 / 3, 3)])
def test_the_last_of_several_rows_leaves_as_if_it_had_been_alone(family, power, w):
    """Parts of rows that come and go leave rounding behind, which is no row: 1e-17 of one would outweigh the prior."""
    case = make(Raised(family, power), plain(numbers(6, 2)))
    everyone = [(i, 1, 0) for i in range(6) for _ in range(w)]
    for last in range(6):
        others = [(i, -1, 0) for i, *_ in everyone if i != last]
        left = played(case.rows, case.likelihood.state(1), (0, 0, 0), *everyone, *others, (last, -w, 0))[-1, 0]
        np.testing.assert_allclose(left, -case.log_marginal(w * (np.arange(6) == last)), rtol=1e-7)


@pytest.mark.parametrize("family", [Count(), Gaussian(covariance="diag"), Gaussian(covariance="known"), Gaussian()])
def test_ten_tenths_of_a_row_leave_as_one(family):
    cells = np.array([[1.0, 0.0], [4.0, 2.0], [0.0, 3.0], [2.0, 7.0]])
    types = dict.fromkeys(range(2), "count") if isinstance(family, Count) else None
    case = make(Raised(family, 0.1), Table.read(cells, column_types=types, standardize=False, column_steps=0))
    came = [(2, 1, 0)] * 10
    left = played(case.rows, case.likelihood.state(1), (0, 0, 0), *came, (2, -10, 0))[-1, 0]
    assert left == pytest.approx(-case.log_marginal(10 * (np.arange(4) == 2)), rel=1e-9)


@every_weak_prior
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_chains_run(family):
    model = Mixture(family=family, draws=20, chains=1, random_state=0).fit(numbers(12, 2))
    assert np.isfinite(model.score_samples(numbers(12, 2))).all()
