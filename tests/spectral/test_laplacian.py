"""The spectrum of a graph: components, definitions, and the three solvers against each other."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.csgraph import laplacian as graph_laplacian
from sklearn.datasets import make_blobs, make_moons, make_swiss_roll
from tests.spectral.graphs import cliques, neighbours, random_graph, torus
from tests.volumes import mostly_long

from partita.spectral import components, eigensolvers, spectrum
from partita.spectral.eigensolvers import smallest_eigenpairs


def use(route, monkeypatch):
    """Send every component through one sparse solver."""
    monkeypatch.setattr(eigensolvers, "DENSE_SIZE", 0)
    monkeypatch.setattr(eigensolvers, "_is_long", lambda laplacian: route == "factorised")


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("sizes", [[30], [12, 9], [25, 7, 2, 40], [5, 5, 5, 1, 1, 3]])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_zeros_count_the_components(sizes, normalised, form):
    for seed in range(5):
        W, truth = random_graph(sizes, np.random.default_rng(seed))
        parts = components(form(W))
        assert parts.sizes.tolist() == sorted(sizes, reverse=True)
        assert len(set(zip(parts.labels, truth))) == len(sizes)
        values = spectrum(form(W), parts, truth.size, normalised=normalised).values
        assert (values == 0.0).sum() == len(sizes)
        assert values[len(sizes) :].min(initial=1.0) > 1e-6
        dense = np.linalg.eigvalsh(graph_laplacian(W, normed=normalised))
        np.testing.assert_allclose(values, dense, atol=1e-12 * max(1.0, dense[-1]))


def test_the_normalised_spectrum_is_that_of_the_random_walk():
    for seed in range(5):
        W, _ = random_graph([20, 11], np.random.default_rng(seed))
        found = spectrum(W, components(W), 31, normalised=True)
        walk = np.eye(31) - W / W.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found.values, np.sort(np.linalg.eigvals(walk).real), atol=1e-12)
        u = found.vectors / found.scale[:, None]
        np.testing.assert_allclose(walk @ u, u * found.values, atol=1e-12)


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("m", [1, 2, 3, 7, 31])
def test_eigenpairs_satisfy_the_definition_however_many_are_asked_for(normalised, m):
    W, _ = random_graph([20, 8, 3], np.random.default_rng(0))
    found = spectrum(W, components(W), m, normalised=normalised)
    L = graph_laplacian(W, normed=normalised)
    np.testing.assert_allclose(L @ found.vectors, found.vectors * found.values, atol=1e-12)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(m), atol=1e-12)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(L)[:m], atol=1e-12)


GRAPHS = {
    "moons": lambda: neighbours(make_moons(900, noise=0.1, random_state=0)[0]),
    "many dimensions": lambda: neighbours(make_blobs(800, 8, centers=4, cluster_std=4.0, random_state=0)[0]),
    "torus": lambda: torus(30, 30),
    "cliques": lambda: csr_array(cliques([100] * 8, between=1e-3)),
}


@mostly_long
@pytest.mark.parametrize("route", ["lanczos", "factorised"])
@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("graph", GRAPHS)
def test_sparse_routes_agree_with_the_dense_one(graph, normalised, route, monkeypatch):
    W = GRAPHS[graph]()
    assert connected_components(W)[0] == 1
    L = csr_array(graph_laplacian(W, normed=normalised))
    expected = eigh(L.toarray(), eigvals_only=True)
    use(route, monkeypatch)
    for k in (2, 11, 21):
        values, vectors = smallest_eigenpairs(L, k)
        np.testing.assert_allclose(values, expected[:k], atol=1e-9 * expected[-1])
        residuals = np.linalg.norm(L @ vectors - vectors * values, axis=0)
        assert residuals.max() < 1e-8 * expected[-1]
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-6)


def test_surfaces_are_factorised_and_many_dimensions_are_not():
    roll = neighbours(make_swiss_roll(20_000, random_state=0)[0])
    cloud = neighbours(np.random.default_rng(0).standard_normal((3000, 6)))
    assert eigensolvers._is_long(csr_array(graph_laplacian(roll, normed=True)))
    assert not eigensolvers._is_long(csr_array(graph_laplacian(cloud, normed=True)))


def test_the_same_vectors_every_time():
    W = neighbours(make_blobs(700, 6, centers=1, random_state=0)[0])
    first, second = (spectrum(W, components(W), 5, normalised=True) for _ in range(2))
    np.testing.assert_array_equal(first.vectors, second.vectors)


def test_edges_below_rounding_join_nothing():
    W = cliques([6, 4], between=1e-17)
    assert components(W).sizes.tolist() == components(csr_array(W)).sizes.tolist() == [6, 4]
    assert components(cliques([6, 4], between=1e-13)).sizes.tolist() == [10]


def test_many_small_components_cost_no_eigenproblem(monkeypatch):
    monkeypatch.setattr("partita.spectral.laplacian.smallest_eigenpairs", None)
    W = csr_array(cliques([2] * 100))
    found = spectrum(W, components(W), 21, normalised=True)
    assert not found.values.any()
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(21), atol=1e-12)


@pytest.mark.parametrize("normalised", [True, False])
def test_self_similarity_counts_for_nothing(normalised):
    W, _ = random_graph([12], np.random.default_rng(0))
    with_loops = W + np.diag(np.random.default_rng(1).uniform(0, 5, 12))
    found = [spectrum(one, components(one), 12, normalised=normalised).values for one in (W, with_loops)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-13)
    assert not issparse(W)
