"""Mixture is a scikit-learn estimator: its checks, pipelines, searches, clones and copies."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import FeatureAgglomeration
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.mixtures import quick, unconverged_is_fine
from tests.volumes import long, mostly_long

from partita import Mixture
from partita.engines import Gibbs
from partita.families import Gaussian, Mixed
from partita.priors import DirichletProcess, Gamma, PitmanYor

pytestmark = [
    pytest.mark.xdist_group("gaussian-full"),
    unconverged_is_fine,
]

#: At most three, none about pickling, cloning, dtype, idempotence or n_features_in_.
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "a row of weight w is w copies tied to one cluster, which is another model than w free copies"
    ),
}


@pytest.mark.filterwarnings("ignore:The table shows")  # fewer groups than the two that some checks ask for
@parametrize_with_checks([quick()], expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, 4, centers=3, cluster_std=0.5, random_state=3)


@mostly_long
@pytest.mark.parametrize("first", [StandardScaler(), PCA(2), FeatureAgglomeration(2)])
def test_pipeline(blobs, first):
    X, y = blobs
    pipeline = make_pipeline(first, quick())
    assert adjusted_rand_score(y, pipeline.fit_predict(X)) == 1.0
    assert pipeline.predict_proba(X[:5]).shape == (5, 3)
    inner = clone(first).fit_transform(X)
    np.testing.assert_array_equal(pipeline[-1].labels_, quick().fit(inner).labels_)
    assert pipeline.score(X) == pytest.approx(pipeline.score_samples(X).mean())


@long
def test_grid_search_over_the_concentration(blobs):
    X, _ = blobs
    grid = {"prior__concentration": [0.5, 50.0], "family__covariance": ["full", "diag"]}
    model = quick(prior=DirichletProcess(), family=Gaussian(), draws=15)
    search = GridSearchCV(model, grid, cv=2, refit=True).fit(X)
    tried = search.cv_results_["params"]
    assert len(tried) == 4
    assert len(np.unique(search.cv_results_["mean_test_score"])) == 4
    assert search.best_params_["prior__concentration"] == 0.5  # three groups in 60 rows, not dozens
    assert search.best_estimator_.prior.concentration == 0.5
    assert model.prior.concentration is None
    again = clone(model).set_params(**tried[0])
    assert cross_val_score(again, X, cv=2).mean() == search.cv_results_["mean_test_score"][0]


def test_clone_has_equal_parameters_of_its_own():
    model = quick(
        family=Mixed(families={"numeric": Gaussian(covariance="diag")}),
        prior=PitmanYor(concentration=Gamma(2.0, 3.0), discount=0.5),
        engine=Gibbs(merge_split=2),
        column_types={"a": "count"},
    )
    twin = clone(model)
    assert twin.get_params(deep=False) == model.get_params(deep=False)
    for option in ("family", "prior", "engine"):
        assert getattr(twin, option) is not getattr(model, option)


def test_nested_parameters_reach_their_place():
    model = quick(prior=PitmanYor(concentration=Gamma(2.0, 3.0)), family=Gaussian(), engine=Gibbs())
    model.set_params(
        prior__discount=0.5,
        prior__concentration__rate=7.0,
        family__covariance="diag",
        engine__merge_split=1,
        chains=3,
    )
    assert model.prior == PitmanYor(concentration=Gamma(2.0, 7.0), discount=0.5)
    assert model.family == Gaussian(covariance="diag")
    assert model.engine == Gibbs(merge_split=1)
    assert model.chains == 3
    with pytest.raises(ValueError, match="discuont"):
        model.set_params(prior__discuont=0.5)


def test_fitting_leaves_parameters_alone(blobs):
    model = quick(prior=DirichletProcess(), family=Gaussian(), engine=Gibbs())
    before = repr(model.get_params())
    model.fit(blobs[0])
    assert repr(model.get_params()) == before


def answers(model: Mixture, X: np.ndarray) -> list[np.ndarray]:
    rows, labels = model.sample(7)
    return [
        model.labels_,
        model.probabilities_,
        model.predict_proba(X),
        model.novelty(X),
        model.score_samples(X),
        rows,
        labels,
        model.posterior_.draws,
        model.to_frame().to_numpy(),
    ]


def test_a_pickled_model_gives_the_same_answers(blobs):
    X = blobs[0].copy()
    X[0, 1] = X[7, 2] = np.nan
    model = quick().fit(X)
    again = pickle.loads(pickle.dumps(model))
    for expected, found in zip(answers(model, X), answers(again, X)):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(again.fit(X).labels_, model.labels_)


def test_a_memory_mapped_model_gives_the_same_answers(blobs, tmp_path):
    X, _ = blobs
    model = quick().fit(X)
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    for expected, found in zip(answers(model, X), answers(again, X)):
        np.testing.assert_array_equal(found, expected)


def test_memory_mapped_and_read_only_tables(blobs, tmp_path):
    X, _ = blobs
    np.save(tmp_path / "X.npy", X)
    mapped = quick().fit(np.load(tmp_path / "X.npy", mmap_mode="r"))
    np.testing.assert_array_equal(mapped.labels_, quick().fit(X).labels_)


@long
def test_fits_in_several_threads_do_not_disturb_each_other(blobs):
    seeds = range(6)
    alone = [quick(random_state=seed, n_jobs=2).fit(blobs[0]).posterior_.draws for seed in seeds]
    together = joblib.Parallel(3, backend="threading")(
        joblib.delayed(quick(random_state=seed, n_jobs=2).fit)(blobs[0]) for seed in seeds
    )
    for expected, model in zip(alone, together):
        np.testing.assert_array_equal(model.posterior_.draws, expected)
