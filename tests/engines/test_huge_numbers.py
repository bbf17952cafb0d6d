"""Gibbs at numbers so large that differences of log-gamma functions have no digits."""

import numba
import numpy as np
import pytest
from tests.volumes import mostly_long, short_and_long

from partita import NBCE
from partita.kernels import algebra
from partita.priors import FiniteDirichlet
from partita.priors.rising import log_rising


@numba.njit
def log_gamma_ratio(z, m):
    return algebra.log_gamma_ratio(z, m)


@pytest.mark.parametrize("z", [1e-3, 0.7, 12.0, 999.0, 1001.0, 1e6, 1e12, 1e18, 1e300])
@pytest.mark.parametrize("m", [0, 1, 7, 40])
def test_ratios_of_gamma_functions_are_products(z, m):
    exact = float(np.log(z + np.arange(m, dtype=np.float64)).sum())
    assert log_gamma_ratio(z, m) == pytest.approx(exact, rel=1e-12, abs=1e-11)
    assert log_gamma_ratio(z, float(m)) == pytest.approx(float(log_rising(z, m)), rel=1e-12, abs=1e-11)


@pytest.mark.parametrize("concentration", [1e17, 1e300])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # next to nothing moves
def test_sticks_of_no_length_leave_all_to_the_last_one(concentration):
    """Every object outside the last of the components costs a factor of about the concentration."""
    Y = np.random.default_rng(0).integers(0, 3, size=(40, 4))
    options = {"n_components": 10, "learn": (), "draws": 100, "warmup": 200, "chains": 2, "random_state": 0}
    found = NBCE(concentration=concentration, **options).fit(Y)
    assert found.posterior_.n_clusters() == {1: pytest.approx(1.0)}


@mostly_long
@pytest.mark.parametrize("pseudocount", [1e15, 1e17])
@short_and_long("n_draws", 1000, 4000)
def test_labels_that_say_nothing_leave_the_prior(pseudocount, n_draws):
    """The larger the pseudocount, the less the labels tell; E[K] is then the prior's."""
    Y = np.random.default_rng(1).integers(0, 3, size=(30, 6))
    prior = FiniteDirichlet(n_components=4, concentration=2.0)
    options = {"pseudocount": pseudocount, "draws": n_draws, "chains": 2, "random_state": 0}
    found = NBCE(prior=prior, **options).fit(Y)
    numbers = found.posterior_.traces["n_clusters"]
    error = found.diagnostics_.table["n_clusters"]["ess"] ** -0.5 * numbers.std()
    assert numbers.mean() == pytest.approx(prior.expected_clusters(30), abs=4 * error)
