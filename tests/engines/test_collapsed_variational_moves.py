"""What collapsed variational inference does between sweeps, and whole runs: groups found, their number unknown."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.engines.models import CATEGORICAL, WITHOUT_DRAWN_CELLS, alone
from tests.volumes import long

from partita.engines.climbing import climb_all
from partita.engines.collapsed_state import bound, following, merged, state_of, without_dust
from partita.engines.collapsed_variational import CollapsedVariational, _component_prior
from partita.engines.runner import Plan
from partita.families import Categorical, Count, Gaussian, Mixed
from partita.kernels.collapsed_variational import Scratch, first_order_sweep
from partita.kernels.gibbs import log_predictive_matrix
from partita.model.model import Model
from partita.priors import FiniteDirichlet, Gamma, StickBreaking
from partita.table import Table

PRIORS = [StickBreaking(n_components=20), FiniteDirichlet(n_components=20)]


def model_of(family, table, prior):
    return Model(family.resolve(table), prior, table, np.ones(table.n_rows, dtype=np.int64))


def blobs(n=600, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=n)
    centres = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 0.0], [0.0, 6.0, 0.0], [0.0, 0.0, 6.0]])
    return centres[truth] + rng.normal(size=(n, 3)), truth


def ensemble(n=600, n_columns=8, seed=0):
    """Labels of three groups, a quarter of them drawn anew."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    noise = rng.random((n, n_columns)) < 0.25
    return np.where(noise, rng.integers(5, size=(n, n_columns)), truth[:, None]), truth


def categories(seed=0):
    labels, truth = ensemble(seed=seed)
    return Table.read(labels.astype(str).astype(object)), truth


# --- nothing drifts -------------------------------------------------------------------------------


@pytest.mark.parametrize("example", alone(WITHOUT_DRAWN_CELLS))
def test_statistics_after_many_sweeps_are_those_of_the_responsibilities(example):
    n = example.table.n_rows
    model = example.model(FiniteDirichlet(n_components=3, concentration=1.0), 1 + np.arange(n) % 2)
    resp = np.random.default_rng(0).dirichlet(np.ones(3), n)
    state = state_of(model, resp, 1.0, model.likelihood)
    slots, sizes, weights = model.state_from(state.stats), state.sizes.copy(), model.row_weights.astype(float)
    scratch = Scratch(np.empty(3), np.empty(3))
    for _ in range(200):
        first_order_sweep(model.shared_rows, slots, _component_prior(model.prior, 1.0), weights, resp, sizes, scratch)
    fresh = model.state_from(model.shared_stats(resp))
    np.testing.assert_allclose(sizes, weights @ resp, atol=1e-10)
    found, expected = (log_predictive_matrix(model.shared_rows, each, n, 3) for each in (slots, fresh))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


# --- moves ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.name)
@pytest.mark.xdist_group("NormalInverseGamma")
class TestMoves:
    def split_state(self, prior, n_parts, seed=0):
        """Four blobs, the first shared at random among some components."""
        x, truth = blobs()
        model = model_of(Gaussian(covariance="diag"), Table.read(x, standardize=False), prior)
        rng = np.random.default_rng(seed)
        resp = np.zeros((truth.size, 3 + n_parts))
        resp[np.arange(truth.size), truth + n_parts - 1] = 1.0
        first = truth == 0
        resp[first] = 0.0
        resp[first, :n_parts] = rng.dirichlet(np.ones(n_parts), first.sum())
        return model, following(model, state_of(model, resp, 1.0, model.likelihood), resp)

    def test_parts_of_one_blob_are_merged_and_blobs_are_not(self, prior):
        model, state = self.split_state(prior, 2)
        after = merged(model, state)
        assert after.n_components == 4
        assert bound(model, after) > bound(model, state)
        assert merged(model, after) is after

    def test_dust_is_given_up(self, prior):
        model, state = self.split_state(prior, 1)
        dusty = np.hstack([state.resp * (1 - 3e-4), np.full((state.resp.shape[0], 3), 1e-4)])
        before = following(model, state, dusty)
        after = without_dust(model, before)
        assert (before.n_components, after.n_components) == (7, 4)
        assert bound(model, after) > bound(model, before)
        np.testing.assert_allclose(np.sort(after.resp), np.sort(state.resp), atol=1e-12)
        assert without_dust(model, after) is after

    def test_rows_that_have_nothing_else_keep_their_component(self, prior):
        model, state = self.split_state(prior, 1)
        alone_ = np.hstack([state.resp, np.zeros((state.resp.shape[0], 1))])
        alone_[0] = 0.0
        alone_[0, -1] = 1.0
        light = Model(model.likelihood, prior, model.table, model.row_weights)
        start = state_of(light, alone_, 1.0, model.likelihood)
        halved = type(start)(start.resp, start.sizes * 0.5, start.stats, 1.0, model.likelihood)
        assert without_dust(light, halved) is halved


@pytest.mark.xdist_group("NormalInverseGamma")
def test_one_component_stays():
    x, _ = blobs(60)
    model = model_of(Gaussian(covariance="diag"), Table.read(x), StickBreaking(n_components=1))
    engine = CollapsedVariational()
    state = engine.init(np.random.default_rng(0), model)
    _, info = engine.step(np.random.default_rng(0), state, model)
    assert (info.n_clusters, info.change) == (1, 0.0)


@pytest.mark.xdist_group("DirichletCategorical")
def test_learned_numbers_are_at_their_best():
    table, truth = categories()
    prior = FiniteDirichlet(n_components=10)
    model = model_of(Categorical(pseudocount=Gamma(1.0, 1.0)), table, prior)
    state = state_of(model, np.eye(3)[truth], prior.initial_concentration(), model.likelihood)

    def value(scale, power):
        """The bound with the concentration and the pseudocount multiplied."""
        likelihood = state.likelihood.with_learned(pseudocount=state.likelihood.pseudocount[0] * power)
        return bound(model, replace(state, concentration=state.concentration * scale, likelihood=likelihood))

    best = value(1.0, 1.0)
    assert best == bound(model, state)
    assert best > max(value(*change) for change in [(0.99, 1.0), (1.01, 1.0), (1.0, 0.99), (1.0, 1.01)])
    assert best > bound(model, replace(state, concentration=1.0, likelihood=model.likelihood))


# --- whole runs -----------------------------------------------------------------------------------


def best_climb(model, engine):
    seeds = np.random.SeedSequence(1).spawn(engine.n_init)
    [climbs] = climb_all(engine, [model], [seeds], Plan(n_jobs=1))
    return max(climbs, key=lambda climb: climb.objective)


def check_run(model, truth, engine):
    climb = best_climb(model, engine)
    labels = climb.state.resp.argmax(axis=1)
    assert climb.converged
    assert adjusted_rand_score(truth, labels) > 0.97
    assert climb.state.n_components == np.unique(truth).size
    np.testing.assert_allclose(climb.state.resp.sum(axis=1), 1.0, atol=1e-12)
    assert climb.objective == pytest.approx(bound(model, climb.state), rel=1e-12)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.name)
class TestRecovery:
    @pytest.mark.xdist_group("NormalInverseGamma")
    def test_diagonal_blobs(self, prior):
        x, truth = blobs()
        x[::100, 1] = np.nan
        check_run(model_of(Gaussian(covariance="diag"), Table.read(x), prior), truth, CollapsedVariational(n_init=2))

    @pytest.mark.xdist_group("NormalInverseWishart")
    def test_full_blobs(self, prior):
        x, truth = blobs()
        check_run(model_of(Gaussian(), Table.read(x @ _mixing()), prior), truth, CollapsedVariational(n_init=2))

    @pytest.mark.parametrize("order", [1, 2])
    @pytest.mark.xdist_group("DirichletCategorical")
    def test_categories(self, prior, order):
        table, truth = categories()
        check_run(model_of(Categorical(), table, prior), truth, CollapsedVariational(order=order, n_init=2))

    @long
    @pytest.mark.xdist_group("GammaPoisson")
    def test_counts(self, prior):
        rng = np.random.default_rng(0)
        truth = rng.integers(3, size=400)
        counts = rng.poisson(np.array([[1, 20, 8], [12, 2, 30], [30, 9, 1]])[truth])
        table = Table.read(counts, column_types=dict.fromkeys(range(3), "count"))
        check_run(model_of(Count(), table, prior), truth, CollapsedVariational(n_init=2))

    @long
    @pytest.mark.xdist_group("Product")
    def test_mixed_columns(self, prior):
        pd = pytest.importorskip("pandas")
        x, truth = blobs(400)
        rng = np.random.default_rng(0)
        noise = rng.random(400) < 0.2
        word = np.array(list("abcd"))[np.where(noise, rng.integers(4, size=400), truth)]
        frame = pd.DataFrame({"x": x[:, 0], "y": x[:, 1], "z": x[:, 2], "word": word})
        check_run(model_of(Mixed(), Table.read(frame), prior), truth, CollapsedVariational(n_init=2))


def _mixing():
    return np.array([[1.0, 0.4, 0.0], [0.0, 1.0, -0.3], [0.2, 0.0, 1.0]])


@pytest.mark.xdist_group("DirichletCategorical")
def test_the_same_seed_finds_the_same():
    table, _ = categories()
    model = model_of(Categorical(), table, PRIORS[0])
    first, second = (best_climb(model, CollapsedVariational(n_init=1)) for _ in range(2))
    np.testing.assert_array_equal(first.state.resp, second.state.resp)
    assert first.path == second.path


@pytest.mark.xdist_group("DirichletCategorical")
def test_a_step_leaves_the_state_it_is_given():
    model = CATEGORICAL.model(FiniteDirichlet(n_components=3, concentration=1.0))
    state = CollapsedVariational().init(np.random.default_rng(0), model)
    before = [array.copy() for array in (state.resp, state.sizes, state.stats)]
    CollapsedVariational().step(np.random.default_rng(0), state, model)
    for array, copy in zip((state.resp, state.sizes, state.stats), before):
        np.testing.assert_array_equal(array, copy)
