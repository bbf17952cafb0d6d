"""EM: every step gains, it is scikit-learn's without a prior, and where it ends nothing near is better."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import dirichlet
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from tests.contracts.cases import mixed_table
from tests.contracts.test_family_modes import moved
from tests.engines.models import Example
from tests.oracles.gaussian_em import likelihood_em
from tests.volumes import mostly_long, short_and_long

from partita.engines import EM
from partita.engines.climbing import Climb
from partita.families import FAMILIES, Categorical, Count, Gaussian, Mixed
from partita.model.kmeans_start import Points
from partita.model.model import Model
from partita.priors import FiniteDirichlet
from partita.table import Table

NAN = np.nan
BLOBS, _ = make_blobs(150, 3, centers=4, cluster_std=1.5, random_state=2)


def with_gaps(x, share=0.2):
    gaps = np.random.default_rng(1).random(x.shape) < share
    gaps[gaps.all(axis=1), 0] = False
    return np.where(gaps, np.nan, x)


def counts(n=80):
    rates = np.array([[2.0, 9.0], [8.0, 1.0], [20.0, 3.0]])[np.arange(n) % 3]
    return Table.read(np.random.default_rng(2).poisson(rates).astype(float), column_types={0: "count", 1: "count"})


def categories(n=90):
    rng = np.random.default_rng(3)
    shares = np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.2, 0.6, 0.2]])
    cells = [[rng.choice(list("abc"), p=shares[i % 3]) for _ in range(5)] for i in range(n)]
    cells[4][2] = cells[7][0] = None
    return Table.read(np.array(cells, dtype=object))


def plain(x):
    return Table.read(x, standardize=False)


MODELS = {
    "full": (Gaussian(), plain(BLOBS)),
    "full-gaps": (Gaussian(), plain(with_gaps(BLOBS))),
    "diag": (Gaussian(covariance="diag"), plain(BLOBS)),
    "diag-gaps": (Gaussian(covariance="diag"), plain(with_gaps(BLOBS))),
    "known": (Gaussian(covariance="known"), plain(with_gaps(BLOBS))),
    "categorical": (Categorical(), categories()),
    "categorical-sparse": (Categorical(pseudocount=0.3), categories()),
    "count": (Count(), counts()),
    "count-sparse": (Count(shape=0.4), counts()),
    "mixed": (Mixed(), mixed_table(n=60, n_missing=8)),
    "mixed-full": (Mixed(families={"numeric": Gaussian()}), mixed_table(n=60, n_missing=8)),
}
MODELS |= {
    f"{name}-example-{k}": (family, table)
    for name, kind in FAMILIES.items()
    for k, (family, table) in enumerate(kind.examples())
    if not family.resolve(table).only_sampled
}


def model_of(name, n_components=3, concentration=None, copies=None):
    family, table = MODELS[name]
    prior = FiniteDirichlet(n_components=n_components, concentration=concentration)
    return Example(name, family.resolve(table), table).model(prior, copies)


def climbed(engine, model, seed=0):
    climb = Climb(engine, model, np.random.SeedSequence(seed), 0)
    climb.run(lambda: False, lambda climb: None)
    return climb


#: Two rows or three to a full covariance: all that keeps it from collapsing is reg_covar.
COLLAPSING = ("gaussian-example-0", "gaussian-example-3", "gaussian-example-8", "log-normal-example-0")
GAINING = [(name, "map") for name in MODELS] + [(name, "ml") for name in MODELS if name not in COLLAPSING]


@mostly_long
@pytest.mark.parametrize(("name", "estimate"), GAINING)
@short_and_long("n_starts", 1, 3)
def test_every_step_gains(name, estimate, n_starts):
    engine, model = EM(estimate=estimate, reg_covar=1e-9, tol=0.0, max_iter=60), model_of(name)
    for seed in range(n_starts):
        rng = np.random.default_rng(seed)
        state, reached = engine.init(rng, model), -np.inf
        n_components = state.n_components
        for _ in range(60):
            following, info = engine.step(rng, state, model)
            if state.n_components < n_components:
                n_components, reached = state.n_components, -np.inf
            assert info.objective >= reached - 1e-9 * max(1.0, abs(reached))
            assert np.isfinite(info.objective)
            reached, state = info.objective, following


@pytest.mark.parametrize("name", COLLAPSING)
def test_a_step_that_loses_is_not_taken(name):
    """Where ``reg_covar`` decides, the M-step of scikit-learn and ours is no maximum."""
    engine, model = EM(estimate="ml", tol=0.0), model_of(name)
    climbs = [climbed(engine, model, seed) for seed in range(8)]
    assert all((np.diff(climb.path) >= 0).all() for climb in climbs)
    after = [engine.step(None, engine.step(None, climb.state, model)[0], model)[1].objective for climb in climbs]
    assert min(np.array(after) - [climb.objective for climb in climbs]) < -1e-6


@pytest.mark.parametrize("name", MODELS)
def test_the_objective_is_the_posterior_density(name):
    """Sum over rows of log sum_k w_k p(x | k), plus the log densities of weights and parameters."""
    engine, model = EM(), model_of(name, concentration=4.5)
    climb = climbed(engine, model)
    state, likelihood = climb.state, model.likelihood
    rows = likelihood.rows(model.table)
    logs = likelihood.log_likelihood_by_column(rows, state.params).sum(axis=2) + state.log_weights
    each, k = 4.5 / 3, state.n_components
    weights = dirichlet(np.full(k, each)).logpdf(np.exp(state.log_weights)) if k > 1 else 0.0
    expected = logsumexp(logs, axis=1).sum() + likelihood.log_prior_density(state.params).sum() + weights
    assert climb.objective == pytest.approx(expected, rel=1e-10)


class TestScikitLearn:
    """With the prior off and the same start, EM is GaussianMixture."""

    @pytest.mark.parametrize("kind", ["full", "diag"])
    @pytest.mark.parametrize("n_iter", [1, 2, 25])
    @pytest.mark.parametrize("reg_covar", [1e-6, 0.1])
    def test_iteration_by_iteration(self, kind, n_iter, reg_covar):
        model, engine = model_of(kind, 4), EM(estimate="ml", reg_covar=reg_covar)
        resp = np.random.default_rng(5).dirichlet(np.ones(4), len(BLOBS))
        state = engine.start(model, resp)
        peer = GaussianMixture(
            4, covariance_type=kind, reg_covar=reg_covar, max_iter=n_iter, tol=0.0, **self.start(model, state)
        )
        with pytest.warns(UserWarning, match="did not converge"):
            peer.fit(BLOBS)
        for _ in range(n_iter):
            state = engine.step(None, state, model)[0]
        self.assert_equal(model, state, peer)
        _, after = engine.step(None, state, model)
        assert after.log_likelihood / len(BLOBS) == pytest.approx(peer.score(BLOBS), abs=1e-9)

    def test_at_the_end(self):
        model, engine = model_of("full", 4), EM(estimate="ml", tol=1e-13, max_iter=5000)
        climb = climbed(engine, model)
        first = engine.init(np.random.default_rng(np.random.SeedSequence(0)), model)
        peer = GaussianMixture(4, tol=1e-13, max_iter=5000, **self.start(model, first)).fit(BLOBS)
        self.assert_equal(model, climb.state, peer)
        assert climb.objective / len(BLOBS) == pytest.approx(peer.score(BLOBS), abs=1e-9)

    def start(self, model, state):
        means, spread = state.params
        covariances = spread @ np.swapaxes(spread, 1, 2) if spread.ndim == 3 else spread**2
        return {
            "weights_init": np.exp(state.log_weights),
            "means_init": model.likelihood.mean + means,
            "precisions_init": np.linalg.inv(covariances) if spread.ndim == 3 else 1.0 / covariances,
        }

    def assert_equal(self, model, state, peer):
        means, spread = state.params
        covariances = spread @ np.swapaxes(spread, 1, 2) if spread.ndim == 3 else spread**2
        np.testing.assert_allclose(np.exp(state.log_weights), peer.weights_, atol=1e-6)
        np.testing.assert_allclose(model.likelihood.mean + means, peer.means_, atol=1e-6)
        np.testing.assert_allclose(covariances, peer.covariances_, atol=1e-6)


@pytest.mark.parametrize("reg_covar", [0.0, 0.05])
def test_missing_cells_against_an_independent_em(reg_covar):
    x = with_gaps(make_blobs(60, 2, centers=[[-2, 0], [2, 1]], random_state=4)[0], 0.3)
    x[5] = np.nan
    x[:, 1] += 0.7 * x[:, 0]
    x = x[~np.isnan(x).all(axis=1)]
    table = plain(x)
    engine = EM(estimate="ml", reg_covar=reg_covar)
    model = Model(Gaussian().resolve(table), FiniteDirichlet(n_components=2), table, np.ones(len(x), dtype=np.int64))
    state = engine.init(np.random.default_rng(0), model)
    means, factors = state.params
    expected = likelihood_em(
        x,
        np.exp(state.log_weights),
        list(model.likelihood.mean + means),
        list(factors @ np.swapaxes(factors, 1, 2)),
        n_iter=15,
        reg_covar=reg_covar,
    )
    path = []
    for _ in range(15):
        state, info = engine.step(None, state, model)
        path.append(info.log_likelihood)
    means, factors = state.params
    np.testing.assert_allclose(path, expected[3], rtol=1e-10)
    np.testing.assert_allclose(np.exp(state.log_weights), expected[0], atol=1e-9)
    np.testing.assert_allclose(model.likelihood.mean + means, expected[1], atol=1e-8)
    np.testing.assert_allclose(factors @ np.swapaxes(factors, 1, 2), expected[2], atol=1e-8)


@pytest.mark.parametrize("estimate", ["map", "ml"])
@pytest.mark.parametrize("name", ["full-gaps", "diag", "categorical", "count-sparse", "mixed-full"])
def test_whole_weights_are_repeated_rows(name, estimate):
    family, table = MODELS[name]
    copies = np.random.default_rng(6).integers(1, 4, table.n_rows)
    repeated = table.take(np.repeat(np.arange(table.n_rows), copies))
    likelihood, prior = family.resolve(table), FiniteDirichlet(n_components=3, concentration=6.0)
    engine = EM(estimate=estimate)
    resp = np.random.default_rng(7).dirichlet(np.ones(3), table.n_rows)
    tied, free = Model(likelihood, prior, table, copies), Model(likelihood, prior, repeated, np.ones(copies.sum(), int))
    one, other = engine.start(tied, resp), engine.start(free, np.repeat(resp, copies, axis=0))
    for _ in range(10):
        one, info = engine.step(None, one, tied)
        other, again = engine.step(None, other, free)
        assert info.objective == pytest.approx(again.objective, rel=1e-10)
    np.testing.assert_allclose(one.log_weights, other.log_weights, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one.stats, other.stats, rtol=1e-8, atol=1e-8)


class TestWeights:
    """MAP weights: N_k + alpha/K - 1, none below 0."""

    def one_step(self, concentration, sizes):
        x = np.repeat(np.arange(len(sizes)) * 100.0, sizes)[:, None] + np.linspace(0, 1, sum(sizes))[:, None]
        table = plain(x)
        prior = FiniteDirichlet(n_components=len(sizes), concentration=concentration)
        model = Model(Gaussian().resolve(table), prior, table, np.ones(len(x), dtype=np.int64))
        return EM().start(model, np.eye(len(sizes))[np.repeat(np.arange(len(sizes)), sizes)])

    def test_are_the_mode_of_the_dirichlet(self):
        state = self.one_step(8.0, [5, 3, 2])
        expected = (np.array([5, 3, 2]) + 8 / 3 - 1) / (10 + 8 - 3)
        np.testing.assert_allclose(np.exp(state.log_weights), expected, rtol=1e-12)

    def test_below_zero_removes_the_component(self):
        x = np.array([[0.0], [0.1], [0.2], [5.0]])
        table = plain(x)
        prior = FiniteDirichlet(n_components=3, concentration=0.3)
        model = Model(Gaussian().resolve(table), prior, table, np.ones(4, dtype=np.int64))
        resp = np.array([[0.6, 0.4, 0], [0.7, 0.3, 0], [0.9, 0.1, 0], [0, 0, 1.0]])
        state = EM().start(model, resp)  # 0.8 + 0.1 - 1 < 0
        np.testing.assert_allclose(np.exp(state.log_weights), np.array([2.2 - 0.9, 1 - 0.9]) / (1.3 + 0.1))
        assert state.stats.shape[0] == 2
        assert EM(estimate="ml").start(model, resp).n_components == 3


def test_the_end_is_a_maximum_of_the_posterior():
    """Other parameters, near and far, have a smaller density."""
    for name in ("full", "diag-gaps", "count", "mixed"):
        model, engine = model_of(name, concentration=9.0), EM(tol=1e-12, max_iter=3000)
        climb = climbed(engine, model)
        rng = np.random.default_rng(8)
        state = climb.state
        for step in (1e-3, 1e-2, 0.1):
            for _ in range(20):
                logs = state.log_weights + step * rng.standard_normal(state.n_components)
                drawn = model.likelihood.sample_params(rng, state.stats)
                near = replace(state, log_weights=logs - logsumexp(logs), params=moved(state.params, drawn, step))
                _, info = engine.step(None, near, model)
                assert info.objective < climb.objective


class TestStarts:
    """k-means on numbers, categories and counts."""

    def table(self, n=120, n_levels=2):
        """Four groups: told by a number, by categories or by a count, each in units of its own."""
        rng = np.random.default_rng(9)
        group = np.arange(n) % 4
        columns = {
            "number": 1e-7 * (10.0 * (group == 1) + rng.normal(size=n)),
            "count": rng.poisson(np.where(group == 2, 400, 50)),
            **{f"c{j}": np.where(group == 3, "z", rng.choice(list("abcdefgh")[: n_levels - 1], n)) for j in range(9)},
        }
        kinds = {"count": "count"}
        frame = pd.DataFrame(columns)
        frame.loc[5, "number"] = None
        frame.loc[6, "c3"] = None
        return Table.read(frame, column_types=kinds, standardize=False), group

    @pytest.mark.parametrize("n_levels", [2, 8])  # dense points, sparse points
    def test_find_groups_of_any_kind(self, n_levels):
        table, group = self.table(n_levels=n_levels)
        labels = Points(table, np.ones(120)).kmeans_labels(np.random.default_rng(3), 4)
        assert adjusted_rand_score(group, labels) > 0.95

    def test_depend_neither_on_order_nor_on_how_repetitions_are_told(self):
        table, _ = self.table()
        copies = np.random.default_rng(10).integers(1, 4, 120)
        shuffled = np.random.default_rng(11).permutation(np.repeat(np.arange(120), copies))
        weighted = Points(table, copies).kmeans_labels(np.random.default_rng(0), 4)
        repeated = Points(table.take(shuffled), np.ones(shuffled.size)).kmeans_labels(np.random.default_rng(0), 4)
        np.testing.assert_array_equal(weighted[shuffled], repeated)

    def test_have_fewer_clusters_where_fewer_points_differ(self):
        table = plain(np.array([[1.0, NAN], [1.0, 5.0], [NAN, 5.0], [1.0, 5.0]]))
        assert Points(table, np.ones(4)).kmeans_labels(np.random.default_rng(0), 3).max() == 0
