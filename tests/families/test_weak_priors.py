"""Priors that say next to nothing of the mean: a row that leaves its cluster leaves the prior behind."""

import numpy as np
import pytest
from tests.contracts.cases import make, numbers, plain
from tests.contracts.compiled import played

from partita import Mixture
from partita.families import Gaussian

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


@every_weak_prior
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_chains_run(family):
    model = Mixture(family=family, draws=20, chains=1, random_state=0).fit(numbers(12, 2))
    assert np.isfinite(model.score_samples(numbers(12, 2))).all()
