"""The plot of what an engine climbed: the path of the fit, under its name."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from tests.mixtures import full, quick, unconverged_is_fine

from partita import Mixture
from partita.engines import EM
from partita.plots import objective_path, objective_path_data
from partita.priors import FiniteDirichlet

pytestmark = [full, unconverged_is_fine]


def two_groups():
    rng = np.random.default_rng(0)
    return np.repeat([0.0, 6.0], 30)[:, None] + rng.normal(size=(60, 2))


@pytest.mark.parametrize(
    ("engine", "attribute", "name"),
    [
        (EM(estimate="ml"), "loglik_path_", "log likelihood"),
        (EM(estimate="map"), "loglik_path_", "log posterior density"),
        ("vb", "elbo_path_", "bound on the log evidence"),
        ("cvb", "elbo_path_", "bound on the log evidence"),
    ],
)
def test_the_path_is_that_of_the_fit_under_its_name(engine, attribute, name):
    prior = FiniteDirichlet(n_components=2)
    fitted = Mixture(engine=engine, prior=prior, random_state=0).fit(two_groups())
    data = objective_path_data(fitted)
    assert data.name == name
    np.testing.assert_array_equal(data.path, getattr(fitted, attribute))
    given = Figure().subplots()
    ax = objective_path(fitted, ax=given)
    assert ax is given
    across, up = ax.lines[0].get_data()
    np.testing.assert_array_equal(up, data.path)
    np.testing.assert_array_equal(across, np.arange(1, len(data.path) + 1))
    assert ax.get_ylabel() == name
    assert ax.get_title("left").startswith(
        f"{name.capitalize()}: {data.path[-1]:,.1f} after {len(data.path)} iteration"
    )


def test_a_path_alone_will_do():
    assert objective_path([1.0]).get_title("left") == "Objective: 1.0 after 1 iteration"
    assert objective_path(np.arange(2000.0)).get_title("left") == "Objective: 1,999.0 after 2,000 iterations"


def test_what_has_no_path_is_refused():
    with pytest.raises(ValueError, match="this fit sampled, it did not maximise"):
        objective_path(quick(draws=10).fit(two_groups()))
    with pytest.raises(NotFittedError):
        objective_path(Mixture(engine="vb"))
    for wrong in ([], [1.0, np.nan], [[1.0]]):
        with pytest.raises(ValueError, match="A path must be a list of finite numbers"):
            objective_path_data(wrong)
