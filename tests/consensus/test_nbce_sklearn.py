"""NBCE is a scikit-learn estimator: its checks on labels made of the checks' numbers, clones, searches."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.consensus.ensembles import categorical, noisy_copies, quick, unconverged_is_fine
from tests.volumes import long

from partita.consensus import NBCE
from partita.engines import Gibbs
from partita.priors import DirichletProcess, Gamma

pytestmark = [categorical, unconverged_is_fine]


class LabelsOfNumbers(NBCE):
    """NBCE of numbers cut down to a few whole ones: the checks pass measurements, which NBCE refuses."""

    def fit(self, Y, y=None):
        return super().fit(_labels(Y), y)

    def _read(self, X):
        return super()._read(_labels(X))


def _labels(X):
    if isinstance(X, list):
        X = np.array(X)
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "iuf":
        return X
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(X), np.clip(np.floor(X), -2, 2) + 3, X)


@long
@parametrize_with_checks([LabelsOfNumbers(chains=2, draws=40, random_state=0)])
@pytest.mark.filterwarnings("ignore:Y h")
@pytest.mark.filterwarnings("ignore:.*no label in any")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_clone_has_equal_parameters_of_its_own():
    model = quick(prior=DirichletProcess(concentration=Gamma(2.0, 3.0)), engine=Gibbs(merge_split=2), learn=())
    twin = clone(model)
    assert twin.get_params(deep=False) == model.get_params(deep=False)
    assert twin.prior is not model.prior
    assert twin.engine is not model.engine
    twin.set_params(prior__concentration__rate=7.0, engine__merge_split=1, chains=3)
    assert twin.prior == DirichletProcess(concentration=Gamma(2.0, 7.0))
    assert model.prior == DirichletProcess(concentration=Gamma(2.0, 3.0))


def test_fitting_leaves_parameters_alone():
    model = quick(prior=DirichletProcess())
    before = repr(model.get_params())
    model.fit(noisy_copies()[0])
    assert repr(model.get_params()) == before


@long
def test_grid_search_over_the_pseudocount():
    Y, _ = noisy_copies(120, rate=0.05)
    search = GridSearchCV(
        quick(draws=15), {"pseudocount": [0.5, 500.0]}, cv=KFold(2, shuffle=True, random_state=0)
    ).fit(Y)
    assert search.best_params_ == {"pseudocount": 0.5}
    assert len(np.unique(search.cv_results_["mean_test_score"])) == 2
    assert search.best_estimator_.fit_predict(Y).shape == (120,)
