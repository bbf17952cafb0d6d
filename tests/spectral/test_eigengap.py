"""How many clusters: the rule on spectra known in closed form, and on the tables that it is for."""

import numpy as np
import pytest
from benchmarks.generators import separated_blobs
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from tests.spectral.graphs import cliques
from tests.volumes import mostly_long

from partita.spectral import SpectralClustering, choose_n_clusters, relative_gaps
from partita.spectral.embedding import LAPLACIANS

GRID = sorted(i**2 + j**2 for i in range(20) for j in range(20))[:21]


def test_gaps_by_hand():
    np.testing.assert_allclose(relative_gaps([0.0, 1.0, 4.0]), [1 / 1.008, 3 / 4.008])
    np.testing.assert_allclose(relative_gaps([0.0, 0.0, 9.0]), [0.0, 9 / 9.018])


@pytest.mark.parametrize(
    ("eigenvalues", "expected"),
    [
        (1e-5 * np.arange(21.0) ** 2, 1),  # an interval
        (1e-4 * np.array(GRID), 1),  # a square
        (0.1 * np.repeat([0.0, 1.0, 2.0, 3.0], [1, 5, 15, 35])[:21], 1),  # a normal distribution in five dimensions
        (1e-5 * np.repeat(np.arange(11.0) ** 2, 2)[:21], 2),  # two equal intervals
        (1e-5 * np.append([0.0, 0.1], np.repeat(np.arange(1, 11.0) ** 2, 2)[:19]), 2),  # the same, joined loosely
        ([0.0, 0.0, 1e-3, 0.02, 0.025, 0.03, 0.035], 3),  # two gaps are clear
        ([0.0, 0.01, 0.02, 0.9, 0.95, 1.0], 3),
        ([0.0, 0.25, 0.25, 1.0, 1.0, 1.0], 3),  # three blocks, a tenth of the affinity between them
        ([0.0, 0.9, 0.95, 1.0, 1.05], 1),  # a random graph
        ([0.0, 0.0, 0.0, 0.3, 0.35, 0.4, 0.4, 0.45, 0.5, 0.85], 3),  # three small components
        ([0.0, 0.25, 0.28, 0.55, 0.6, 0.65], 1),  # one small cloud
        ([0.0], 1),
        ([0.0, 2.0], 1),
        ([0.0] * 7, 7),
    ],
)
def test_spectra_known_in_closed_form(eigenvalues, expected):
    assert choose_n_clusters(np.asarray(eigenvalues)) == expected


def test_the_unit_of_affinity_does_not_matter():
    rng = np.random.default_rng(0)
    values = np.sort(np.r_[0.0, rng.exponential(size=20)])
    np.testing.assert_allclose(relative_gaps(values), relative_gaps(1e6 * values), rtol=1e-12)
    assert choose_n_clusters(values, mean=2.0) == choose_n_clusters(1e6 * values, mean=2e6)


def test_no_more_than_asked_for():
    values = np.array([0.0, 0.01, 0.02, 0.9, 0.95, 1.0])
    assert [choose_n_clusters(values, most=most) for most in (1, 2, 3, 5)] == [1, 1, 3, 3]


@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize(("n", "noise"), [(200, 0.03), (500, 0.05), (1000, 0.06)])
def test_moons_and_circles(laplacian, n, noise):
    for X, truth in (
        make_moons(n, noise=noise, random_state=0),
        make_circles(n, noise=noise, factor=0.5, random_state=0),
    ):
        found = SpectralClustering(laplacian=laplacian, random_state=0).fit(X)
        assert found.n_clusters_ == 2
        assert adjusted_rand_score(truth, found.labels_) == 1.0


@pytest.mark.parametrize("laplacian", ["sym", "rw"])
def test_the_rbf_graph_shows_moons_and_blobs(laplacian):
    for X, truth in (
        make_moons(200, noise=0.03, random_state=0),
        make_moons(500, noise=0.05, random_state=0),
        separated_blobs(7, 3, 400, seed=0),
    ):
        found = SpectralClustering(laplacian=laplacian, affinity="rbf", random_state=0).fit(X)
        assert found.n_clusters_ == len(np.unique(truth))
        assert adjusted_rand_score(truth, found.labels_) == 1.0


@mostly_long
@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("n_clusters", range(2, 11))
def test_separated_blobs(laplacian, n_clusters):
    for d, n, unequal in ((2, 600, False), (5, 500, True), (10, 700, False)):
        X, truth = separated_blobs(n_clusters, d, n, seed=d, unequal=unequal)
        found = SpectralClustering(laplacian=laplacian, random_state=0).fit(X)
        assert found.n_clusters_ == n_clusters
        assert adjusted_rand_score(truth, found.labels_) > 0.99


@mostly_long
@pytest.mark.parametrize("laplacian", ["sym", "rw"])
@pytest.mark.parametrize("n", [40, 60, 80, 100, 150])
def test_small_tables(laplacian, n):
    for seed in range(5):
        for centers in ([[0, 0], [10, 0], [0, 10]], [[0, 0], [8, 0]]):
            X, truth = make_blobs(n, centers=centers, random_state=seed)
            found = SpectralClustering(laplacian=laplacian, random_state=0).fit(X)
            assert found.n_clusters_ == len(centers)
            assert adjusted_rand_score(truth, found.labels_) == 1.0


@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("n_clusters", range(2, 8))
def test_blocks_of_a_dense_matrix_and_of_a_random_graph(laplacian, n_clusters):
    rng = np.random.default_rng(n_clusters)
    truth = np.repeat(np.arange(n_clusters), 30)
    same = truth[:, None] == truth
    dense = np.where(same, 1.0, 0.08) * rng.uniform(0.8, 1.2, same.shape)
    edges = (rng.random(same.shape) < np.where(same, 0.6, 0.02)).astype(float)
    for W in (dense, edges) if laplacian != "unnormalized" else (dense,):  # objects of few edges look like clusters
        W = np.triu(W, 1)
        found = SpectralClustering(laplacian=laplacian, affinity="precomputed", random_state=0).fit(W + W.T)
        assert found.n_clusters_ == n_clusters
        assert adjusted_rand_score(truth, found.labels_) == 1.0


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_one_cloud_is_one_cluster(laplacian):
    rng = np.random.default_rng(0)
    for X in (
        rng.standard_normal((300, 2)),
        rng.standard_normal((400, 10)),
        rng.random((600, 2)),
        rng.random((300, 3)),
    ):
        found = SpectralClustering(laplacian=laplacian).fit(X)
        assert found.n_clusters_ == 1
        assert not found.labels_.any()


@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_components_are_clusters_up_to_the_limit(laplacian, form):
    for sizes in ([20, 15], [30, 10, 5, 5], [12] * 20, [40, 1, 1]):
        found = SpectralClustering(laplacian=laplacian, affinity="precomputed", random_state=0).fit(
            form(cliques(sizes))
        )
        assert found.n_clusters_ == len(sizes)
        assert np.bincount(found.labels_).tolist() == sizes
        assert found.gap_ == found.eigenvalues_[len(sizes)] > 0


def test_stray_objects_beyond_the_limit_do_not_count():
    W = cliques([40, 30, 20, *[1] * 8, 2])
    with pytest.warns(
        UserWarning, match="12 components and there are 3 clusters: the smallest 9 components, 10 objects"
    ):
        found = SpectralClustering(affinity="precomputed", max_clusters=4, random_state=0).fit(W)
    assert np.bincount(found.labels_).tolist() == [50, 30, 20]
    assert found.eigenvalues_.size == 21
    assert found.gap_ == found.eigenvalues_[3] > 0


def test_more_sizeable_components_than_the_limit():
    with pytest.warns(
        UserWarning, match="9 components and there are 4 clusters: the smallest 5 components, 25 objects"
    ):
        found = SpectralClustering(affinity="precomputed", max_clusters=4, random_state=0).fit(cliques([5] * 9))
    assert np.bincount(found.labels_).tolist() == [30, 5, 5, 5]
    assert found.gap_ == 0.0
    with pytest.warns(UserWarning, match="the smallest 5 components, 5 objects"):
        edgeless = SpectralClustering(affinity="precomputed", max_clusters=4, random_state=0).fit(np.zeros((9, 9)))
    assert np.bincount(edgeless.labels_).tolist() == [6, 1, 1, 1]
