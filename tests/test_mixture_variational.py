"""Mixture with the variational engines: labels, answers, files, options, odd tables."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student_t
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from tests.volumes import long, mostly_long, short_and_long

from partita import Mixture, load
from partita.engines import CollapsedVariational, Gibbs, Variational
from partita.families import Categorical, Gaussian
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, PitmanYor, StickBreaking

ENGINES = ("vb", "cvb")


def three_groups(n=150, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    return rng.normal(size=(n, 2)) + 9.0 * np.array([[0, 0], [1, 0], [0, 1]])[truth], truth


def mixed_frame(n=120, seed=1):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n) + 6.0 * truth,
            "y": rng.normal(size=n) - 6.0 * truth,
            "kind": np.where(rng.random(n) < 0.9, np.array(["a", "b"])[truth], "c"),
            "visits": rng.poisson(2.0 + 20.0 * truth),
        }
    )
    frame.loc[::7, "kind"] = None
    frame.loc[3::11, "visits"] = np.nan
    return frame, truth


@pytest.fixture(scope="module", params=ENGINES)
def fitted(request):
    X, truth = three_groups()
    return Mixture(engine=request.param, random_state=0).fit(X), X, truth


def test_groups_are_found_and_ordered(fitted):
    model, _, truth = fitted
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.labels_.dtype == np.int64
    assert np.all(np.diff(np.bincount(model.labels_)) <= 0)
    np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.probabilities_.argmax(axis=1), model.labels_)


def test_what_is_left_behind(fitted):
    model, X, _ = fitted
    assert model.converged_
    assert 1 <= model.elbo_path_.size <= model.n_iter_  # a step that loses to rounding is not taken
    assert np.isfinite(model.elbo_path_).all()
    assert not hasattr(model, "bic_")
    assert model.state_.sizes.sum() == pytest.approx(len(X))


def test_answers_of_every_kind(fitted):
    model, X, _ = fitted
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.novelty([[0.0, 0.0], [500.0, 500.0]]) == pytest.approx([0.0, 1.0], abs=1e-2)
    assert model.explain(0).total > 0
    assert model.sample(10)[0].shape == (10, 2)
    assert len(model.profile_) == 6
    assert model.posterior_.n_draws == 200
    assert model.posterior_.n_clusters() == {3: pytest.approx(1.0)}
    np.testing.assert_array_equal(model.posterior_.estimate().labels, model.labels_)


@pytest.mark.parametrize(("engine", "tolerance"), [("vb", 1e-6), ("cvb", 1e-3)])
def test_density_is_the_average_over_weights_and_parameters(engine, tolerance):
    """Mean sticks times the Student-t of every component at its expected statistics, written out.

    The last thousandth of a row is in slivers that no row prefers.
    """
    x = np.concatenate([np.linspace(-1.0, 1.0, 20), np.linspace(300.0, 301.0, 10)])[:, None]
    family = Gaussian(covariance="diag", mean=0.0, mean_precision=0.5, dof=3.0, scale=2.0)
    prior = StickBreaking(n_components=4, concentration=1.5)
    model = Mixture(family=family, prior=prior, engine=engine, standardize=False, random_state=0).fit(x)
    assert model.n_clusters_ == 2
    n = np.array([20.0, 10.0, 0.0])  # the last one is a cluster not seen
    total, squares = np.array([[part.sum(), (part**2).sum()] for part in (x[:20], x[20:], x[:0])]).T
    k, v = 0.5 + n, 3.0 + n
    mean, scale = total / k, model._model.likelihood.scale[0] + squares - total**2 / k
    sticks = np.array([21.0 / (1.0 + 1.5 + 30.0), 11.0 / (1.0 + 1.5 + 10.0), 1.0])
    weights = sticks * np.append(1.0, np.cumprod(1.0 - sticks[:-1]))
    grid = np.array([[0.3], [300.2]])
    densities = weights * student_t(v, mean, np.sqrt(scale * (k + 1.0) / (k * v))).pdf(grid)
    np.testing.assert_allclose(np.exp(model.score_samples(grid)), densities.sum(axis=1), rtol=tolerance)


@long
def test_density_integrates_to_one():
    x = np.concatenate([np.random.default_rng(0).normal(size=(30, 1)), np.random.default_rng(1).normal(8, 1, (30, 1))])
    grid = np.linspace(-400.0, 400.0, 400_001)
    for engine in ENGINES:
        density = np.exp(Mixture(engine=engine, random_state=0).fit(x).score_samples(grid[:, None]))
        assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=2e-3)  # Student-t tails beyond the grid


def test_the_file_holds_all_but_the_state(fitted, tmp_path):
    model, X, _ = fitted
    model.save(tmp_path / "model.partita")
    again = load(tmp_path / "model.partita")
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.elbo_path_, model.elbo_path_)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(again.posterior_.draws, model.posterior_.draws)
    assert again.n_iter_ == model.n_iter_
    assert again.converged_
    assert not hasattr(again, "state_")


def test_pickling_keeps_the_engine_and_its_state(fitted):
    model, X, _ = fitted
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.state_.stats, model.state_.stats)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_learned_pseudocount_is_in_the_file(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(3).integers(0, 3, size=(40, 4)).astype(str))
    for engine in ("vb", "cvb", "gibbs"):
        model = Mixture(family=Categorical(pseudocount=None), engine=engine, draws=20, chains=1, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(frame)
        assert model._model.likelihood.learned["pseudocount"] != 1.0
        model.save(tmp_path / "model.partita")
        again = load(tmp_path / "model.partita")
        assert again._model.likelihood.learned == pytest.approx(model._model.likelihood.learned)
        np.testing.assert_allclose(again.score_samples(frame), model.score_samples(frame), rtol=1e-12)


@mostly_long
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("prior", [None, StickBreaking(n_components=6), FiniteDirichlet(n_components=6)])
def test_a_mixed_table_with_gaps(engine, prior):
    frame, truth = mixed_frame()
    model = Mixture(engine=engine, prior=prior, random_state=0).fit(frame)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.to_frame().shape == (120, 3)


def test_missing_cells_under_a_full_covariance():
    X, truth = three_groups()
    X[::5, 0] = np.nan
    model = Mixture(engine="vb", family=Gaussian(covariance="full"), random_state=0).fit(X)
    assert adjusted_rand_score(truth[1::5], model.labels_[1::5]) == 1.0
    with pytest.raises(ValueError, match=r"engine='vb'.*covariance='diag'"):
        Mixture(engine="cvb", family=Gaussian(covariance="full"), random_state=0).fit(X)


@mostly_long
@pytest.mark.parametrize("engine", ENGINES)
def test_results_do_not_depend_on_threads(engine):
    X, _ = three_groups()
    one, two = (Mixture(engine=engine, n_jobs=jobs, random_state=5).fit(X) for jobs in (1, 2))
    np.testing.assert_array_equal(one.probabilities_, two.probabilities_)
    np.testing.assert_array_equal(one.elbo_path_, two.elbo_path_)


def test_weights_are_repeated_rows_in_variational_bayes():
    X, _ = three_groups(60)
    weights = np.arange(60) % 3 + 1
    weighted = Mixture(engine="vb", random_state=0).fit(X, sample_weight=weights)
    repeated = Mixture(engine="vb", random_state=0).fit(np.repeat(X, weights, axis=0))
    assert weighted.elbo_path_[-1] == pytest.approx(repeated.elbo_path_[-1], rel=1e-9)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_do_not_take_part_are_labelled_all_the_same(engine):
    X, _ = three_groups()
    X = np.vstack([X, X[:1], [[np.nan, np.nan]]])
    weights = np.append(np.ones(150), [0, 1])
    with pytest.warns(UserWarning, match="row"):
        model = Mixture(engine=engine, random_state=0).fit(X, sample_weight=weights)
    assert model.labels_[150] == model.labels_[0]
    np.testing.assert_array_equal(model.probabilities_[150], model.probabilities_[0])
    np.testing.assert_allclose(model.probabilities_[151], np.exp(model._clusters.log_seats[:-1]), atol=0.02)
    assert (model.posterior_.draws[:, 150:] == -1).all()


@pytest.mark.parametrize("engine", [Variational(truncation=2), CollapsedVariational(truncation=2)])
def test_a_truncation_that_is_filled_is_told(engine):
    X, _ = three_groups()
    with pytest.warns(ConvergenceWarning, match="All 2 components are in use"):
        assert Mixture(engine=engine, random_state=0).fit(X).n_clusters_ == 2


def test_components_asked_for_are_no_truncation():
    X, _ = three_groups()
    model = Mixture(engine="vb", prior=FiniteDirichlet(n_components=2), random_state=0).fit(X)
    assert model.n_clusters_ == 2


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("prior", [PitmanYor(discount=0.2), FiniteMixtures()])
def test_priors_that_cannot_be_run_name_those_that_can(engine, prior):
    with pytest.raises(ValueError, match=r"StickBreaking.*engine='gibbs'"):
        Mixture(engine=engine, prior=prior).fit([[1.0], [2.0]])


def test_an_end_before_convergence_is_told():
    X, _ = three_groups()
    with pytest.warns(ConvergenceWarning, match="Variational Bayes had not converged when max_iter=1"):
        Mixture(engine=Variational(max_iter=1), random_state=0).fit(X)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows", [[[1.0]], [[1.0], [1.0]], [[1.0], [2.0]], [[1.0], [1.0], [1e9]]])
def test_next_to_no_rows(engine, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = Mixture(engine=engine, prior=DirichletProcess(concentration=1.0), random_state=0).fit(rows)
    assert model.labels_.shape == (len(rows),)
    assert np.unique(model.labels_).size == model.n_clusters_
    assert np.isfinite(model.elbo_path_).all()


@long
@short_and_long("n_draws", 1000, 4000)
def test_tied_rows_are_a_model_of_gibbs(n_draws):
    """Two pairs of equal rows, tied: the posterior of two rows of weight 2 each."""
    rows = [[0.0], [0.0], [3.0], [3.0]]
    options = {"prior": DirichletProcess(concentration=1.0), "chains": 2, "draws": n_draws, "random_state": 0}
    tied = Mixture(engine=Gibbs(collapse_identical=True), standardize=False, **options).fit(rows)
    weighted = Mixture(standardize=False, **options).fit([[0.0], [3.0]], sample_weight=[2, 2])
    draws = tied.posterior_.draws
    assert (draws[:, [0, 2]] == draws[:, [1, 3]]).all()
    together = [posterior.n_clusters().get(1, 0.0) for posterior in (tied.posterior_, weighted.posterior_)]
    assert together[0] == pytest.approx(together[1], abs=4 * np.sqrt(2 * 0.25 / (n_draws / 2)))
    assert tied.posterior_.provenance["n_atoms"] == 2


def test_tied_rows_of_the_collapsed_bound_are_rows_of_that_weight():
    rng = np.random.default_rng(4)
    rows, copies = np.concatenate([rng.normal(0.0, 1.0, (6, 2)), rng.normal(2.5, 1.0, (6, 2))]), np.tile([1, 3], 6)
    options = {"prior": FiniteDirichlet(n_components=2, concentration=1.0), "standardize": False, "random_state": 0}
    family = Gaussian(covariance="diag", mean=3.0, mean_precision=0.1, dof=4.0, scale=2.0)
    engine = CollapsedVariational(collapse_identical=True)
    tied = Mixture(family=family, engine=engine, **options).fit(np.repeat(rows, copies, axis=0))
    weighted = Mixture(family=family, engine=engine, **options).fit(rows, sample_weight=copies)
    np.testing.assert_array_equal(tied.labels_, np.repeat(weighted.labels_, copies))
    assert tied.elbo_path_[-1] == pytest.approx(weighted.elbo_path_[-1], rel=1e-9)
    untied = Mixture(family=family, engine="cvb", **options).fit(np.repeat(rows, copies, axis=0))
    assert untied.elbo_path_[-1] != pytest.approx(tied.elbo_path_[-1], rel=1e-9)
