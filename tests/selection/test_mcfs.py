"""`MCFS` against dense eigenvectors, coordinate descent and the conditions of the lasso."""

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.linear_model import Lasso
from tests.selection.tables import affinities, grouped, standard

from partita.selection import MCFS


def dense_eigenvectors(x, n_neighbors, n_clusters):
    """All of L y = lambda D y by LAPACK, without the constant one."""
    W = affinities(x, n_neighbors)
    D = np.diag(W.sum(axis=1))
    values, vectors = eigh(D - W, D)
    assert values[0] == pytest.approx(0.0, abs=1e-9)
    assert values[1] > 1e-6, "the graph must be connected"
    return vectors[:, 1 : n_clusters + 1]


def penalty_of(x, y, a):
    """The penalty of scikit-learn's Lasso at which ``a`` would be its solution."""
    return np.abs(x.T @ (y - y.mean() - x @ a)).max() / len(x)


@pytest.mark.parametrize(("n_noise", "n_chosen"), [(6, 3), (6, 7), (4, 1), (150, 20)])
def test_coefficients_are_the_lasso_of_dense_eigenvectors(n_noise, n_chosen):
    X, _ = grouped(n_noise=n_noise, apart=3.0)
    x = standard(X)
    model = MCFS(n_features_to_select=n_chosen, n_clusters=3).fit(X)
    vectors = dense_eigenvectors(x, 5, 3)
    expected = np.empty((x.shape[1], 3))
    for k, y in enumerate(vectors.T):
        a = model.coefficients_[:, k]
        y *= np.sign(y @ x @ a)  # an eigenvector has no sign
        assert np.count_nonzero(a) == n_chosen
        lasso = Lasso(penalty_of(x, y, a), fit_intercept=True, tol=1e-12, max_iter=100_000)
        expected[:, k] = lasso.fit(x, y).coef_
    np.testing.assert_allclose(model.coefficients_, expected, atol=1e-7)
    np.testing.assert_allclose(model.scores_, np.abs(expected).max(axis=1), atol=1e-7)


@pytest.mark.parametrize(("n_noise", "n_chosen"), [(6, 5), (6, 9), (150, 40)])
def test_it_is_the_last_penalty_with_so_many_columns(n_noise, n_chosen):
    """At the knot another column has the correlation of those chosen, unless none is left."""
    X, _ = grouped(n_noise=n_noise, apart=3.0)
    x = standard(X)
    model = MCFS(n_features_to_select=n_chosen, n_clusters=2).fit(X)
    for k, y in enumerate(dense_eigenvectors(x, 5, 2).T):
        a = model.coefficients_[:, k]
        y *= np.sign(y @ x @ a)
        correlations = np.abs(x.T @ (y - y.mean() - x @ a))
        most = correlations[a != 0].max()
        np.testing.assert_allclose(correlations[a != 0], most, rtol=1e-6, atol=1e-9)
        if n_chosen < x.shape[1]:
            assert correlations[a == 0].max() == pytest.approx(most, rel=1e-6)
        else:
            assert most == pytest.approx(0.0, abs=1e-9)


def test_of_a_graph_that_falls_apart_indicators_of_its_components_are_regressed():
    X, labels = grouped(n=150, n_noise=1, apart=30.0)
    x = standard(X)
    model = MCFS(n_features_to_select=2, n_clusters=2).fit(X)
    W = affinities(x, 5)
    assert not W[labels[:, None] != labels].any()
    assert model.coefficients_.shape == (4, 3)
    for k in range(3):
        y = (labels == k) / np.sqrt(W[labels == k].sum())
        gaps = []
        for a in model.coefficients_.T:
            lasso = Lasso(penalty_of(x, y, a), tol=1e-12, max_iter=100_000).fit(x, y)
            gaps.append(np.abs(lasso.coef_ - a).max())
        assert min(gaps) < 1e-9


def test_more_components_than_eigenvectors_are_no_matter():
    X, _ = grouped(n=200, n_groups=5, n_noise=1, apart=50.0)
    assert MCFS(n_features_to_select=2, n_clusters=2).fit(X).coefficients_.shape == (6, 3)


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_tell_groups_apart_are_selected(seed):
    X, _ = grouped(seed)
    model = MCFS(n_features_to_select=3, n_clusters=3).fit(X)
    np.testing.assert_array_equal(model.get_support(indices=True), [0, 1, 2])


def test_columns_that_others_make_up_get_finite_coefficients():
    X, _ = grouped(n=40)
    X = np.c_[X, X[:, 0], X[:, 1] - 2.0 * X[:, 3]]
    assert MCFS(n_features_to_select=10, n_clusters=3).fit(X).scores_.max() < 1.0
    wide = np.random.default_rng(0).normal(size=(20, 50))
    assert MCFS(n_features_to_select=50, n_clusters=3).fit(wide).scores_.max() < 1.0
