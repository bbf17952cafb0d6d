"""`NDFS` against its objective written out, the iteration of the paper, and groups that are known."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.selection.tables import affinities, grouped, standard

from partita.selection import NDFS
from partita.selection.ndfs import first_indicators, regression
from partita.selection.selector import nearest_graph


def objective(X, F, W, alpha=1.0, beta=1.0, gamma=1e8, n_neighbors=5):
    """As the paper defines it."""
    x, S = standard(X), affinities(standard(X), n_neighbors)
    L = np.diag(S.sum(axis=1)) - S
    fit = np.linalg.norm(x @ W - F) ** 2 + beta * sum(np.linalg.norm(w) for w in W)
    return np.trace(F.T @ L @ F) + alpha * fit + gamma / 2.0 * np.linalg.norm(F.T @ F - np.eye(F.shape[1])) ** 2


def iteration_of_the_paper(X, n_clusters, gamma, n_iter):
    """W = T X'F, M = L + alpha (I - X T X'), F * gamma F / (M F + gamma F F'F), columns of length 1."""
    x = standard(X)
    graph = nearest_graph(x, 5)
    S = affinities(x, 5)
    F, D = first_indicators(graph, n_clusters, 0), np.eye(x.shape[1])
    for _ in range(n_iter):
        T = np.linalg.inv(x.T @ x + D)
        W = T @ x.T @ F
        D = np.diag(0.5 / np.maximum(np.linalg.norm(W, axis=1), 1e-16))
        M = np.diag(S.sum(axis=1)) - S + np.eye(len(x)) - x @ T @ x.T
        F = F * np.maximum(gamma * F / (M @ F + gamma * F @ F.T @ F), 0.0)
        F /= np.linalg.norm(F, axis=0)
    return np.linalg.norm(W, axis=1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"gamma": 1.0},
        {"gamma": 1e3},
        {"gamma": 1e-3, "alpha": 100.0},
        {"beta": 1e-6},
        {"beta": 50.0, "alpha": 0.01},
    ],
)
def test_the_objective_never_rises_and_is_what_it_says(seed, options):
    rng = np.random.default_rng(seed)
    n, p = [(40, 5), (25, 60), (80, 12)][seed % 3]
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(size=p)
    model = NDFS(n_features_to_select=0.5, n_clusters=3, max_iter=150, tol=0.0, random_state=seed, **options).fit(X)
    path = model.objective_path_
    assert (np.diff(path) <= 1e-12 * path[:-1]).all()
    assert path[-1] < path[0]
    assert model.n_iter_ == len(path)
    assert model.objective_ == path[-1]
    assert (model.indicators_ >= 0.0).all()
    assert path[-1] == pytest.approx(objective(X, model.indicators_, model.coefficients_, **options), rel=1e-9)
    np.testing.assert_allclose(model.scores_, np.linalg.norm(model.coefficients_, axis=1))


def test_each_half_alone_does_not_raise_the_objective():
    """From anywhere, not only from the start of a fit."""
    rng = np.random.default_rng(0)
    for options in ({"gamma": 1.0}, {"gamma": 1e4, "alpha": 3.0, "beta": 0.1}):
        X = rng.normal(size=(30, 6))
        model = NDFS(n_features_to_select=2, n_clusters=3, **{"alpha": 1.0, "beta": 1.0} | options)
        x, graph = standard(X), nearest_graph(standard(X), 5)
        for _ in range(50):
            F, W = rng.gamma(0.3, size=(30, 3)), rng.normal(size=(6, 3)) * rng.gamma(0.3, size=(6, 1))
            before = objective(X, F, W, **options)
            moved = model._moved(F, x @ W, graph)
            assert objective(X, moved, W, **options) <= before * (1.0 + 1e-12)
            regressed = regression(x, model.beta)(2.0 * np.linalg.norm(W, axis=1), F)
            assert objective(X, F, regressed, **options) <= before * (1.0 + 1e-12)


def test_the_end_is_stationary():
    """No slope where F is not 0, and none that would lower the objective elsewhere."""
    X, _ = grouped(n=40, n_noise=2)
    model = NDFS(n_features_to_select=2, n_clusters=3, gamma=1.0, tol=0.0, max_iter=20_000, random_state=0).fit(X)
    F, W = model.indicators_, model.coefficients_
    slopes, step = np.empty(F.shape), 1e-6
    for i, k in np.ndindex(*F.shape):
        aside = np.zeros(F.shape)
        aside[i, k] = step
        slopes[i, k] = (objective(X, F + aside, W, gamma=1.0) - objective(X, F - aside, W, gamma=1.0)) / (2.0 * step)
    assert np.abs(F * slopes).max() < 1e-5
    assert slopes.min() > -1e-5


def test_too_few_iterations_are_said():
    with pytest.warns(ConvergenceWarning, match="The objective still fell after 3 iterations: raise max_iter or tol"):
        model = NDFS(n_features_to_select=2, n_clusters=3, max_iter=3, random_state=0).fit(grouped()[0])
    assert model.n_iter_ == len(model.objective_path_) == 3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_noise", [6, 30])
def test_it_arrives_where_the_iteration_of_the_paper_does(seed, n_noise):
    X, _ = grouped(seed, n_noise=n_noise, apart=4.0)
    model = NDFS(n_features_to_select=3, n_clusters=3, random_state=0).fit(X)
    scores = iteration_of_the_paper(X, 3, 1e8, 100)
    np.testing.assert_allclose(model.scores_, scores, atol=0.01 * scores.max())


def test_more_columns_than_rows_are_solved_by_rows():
    rng = np.random.default_rng(0)
    x, F, squares = rng.normal(size=(20, 50)), rng.normal(size=(20, 3)), rng.gamma(1.0, size=50)
    direct = np.linalg.solve(x.T @ x + 0.7 * np.diag(1.0 / squares), x.T @ F)
    np.testing.assert_allclose(regression(x, 0.7)(squares, F), direct, atol=1e-10)
    np.testing.assert_allclose(
        regression(x[:, :9], 0.7)(squares[:9], F),
        np.linalg.solve(x[:, :9].T @ x[:, :9] + 0.7 * np.diag(1.0 / squares[:9]), x[:, :9].T @ F),
        atol=1e-10,
    )


@pytest.mark.parametrize("beta", [1e-15, 1.0])
def test_columns_that_others_make_up_get_finite_coefficients(beta):
    X, _ = grouped(n=40)
    X = np.c_[X, X[:, 0], X[:, 1] - 2.0 * X[:, 3]]
    model = NDFS(n_features_to_select=3, n_clusters=3, beta=beta, random_state=0).fit(X)
    assert model.scores_.max() < 1.0
    assert (np.diff(model.objective_path_) <= 1e-12 * model.objective_path_[:-1]).all()


@pytest.mark.parametrize("options", [{}, {"gamma": 1.0}])
@pytest.mark.parametrize("seed", range(5))
def test_columns_that_tell_groups_apart_are_selected(seed, options):
    X, _ = grouped(seed)
    model = NDFS(n_features_to_select=3, n_clusters=3, random_state=0, **options).fit(X)
    np.testing.assert_array_equal(model.get_support(indices=True), [0, 1, 2])


def test_indicators_are_orthonormal_at_a_large_gamma():
    X, labels = grouped(apart=10.0)
    F = NDFS(n_features_to_select=3, n_clusters=3, random_state=0).fit(X).indicators_
    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-6)
    assert np.unique(np.c_[labels, F.argmax(axis=1)], axis=0).shape == (3, 2)


def test_a_seed_repeats():
    X, _ = grouped(apart=2.0)
    first, second = (NDFS(n_features_to_select=3, n_clusters=4, random_state=3).fit(X).scores_ for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_what_needs_more_than_a_gibibyte_is_refused(monkeypatch):
    monkeypatch.setattr("partita.selection.ndfs.MOST_CELLS", 80)
    NDFS(n_features_to_select=3, n_clusters=2).fit(grouped(n=60, n_noise=5)[0])
    with pytest.raises(
        ValueError, match=r"NDFS of 60 rows and 9 columns solves a dense matrix of 9 x 9 cells, .* MCFS"
    ):
        NDFS(n_features_to_select=3, n_clusters=2).fit(grouped(n=60)[0])


def test_indicators_that_shrink_to_nothing_stay_numbers():
    x, _ = grouped(0)
    graph = nearest_graph(x, 5)
    model = NDFS(n_features_to_select=2, n_clusters=2, gamma=1.0)
    f = np.full((len(x), 2), 0.1)
    for linear in [-np.ones_like(f)] * 40 + [np.ones_like(f)] * 40:
        f = model._moved(f, linear, graph)
    assert np.isfinite(f).all()
    assert (f > 0.01).all()
