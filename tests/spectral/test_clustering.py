"""SpectralClustering: against scikit-learn, metamorphic pairs, what the attributes are, scikit-learn's checks."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import laplacian as graph_laplacian
from sklearn.base import clone
from sklearn.cluster import SpectralClustering as Peer
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.spectral.graphs import cliques, neighbours, random_graph

from partita.spectral import SpectralClustering
from partita.spectral.embedding import LAPLACIANS


@parametrize_with_checks(
    [SpectralClustering(random_state=0), SpectralClustering(affinity="rbf", n_clusters=3, random_state=0)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_pairwise_only_if_precomputed():
    assert SpectralClustering(affinity="precomputed").__sklearn_tags__().input_tags.pairwise
    assert not SpectralClustering().__sklearn_tags__().input_tags.pairwise


@pytest.fixture(scope="module")
def moons():
    return make_moons(300, noise=0.06, random_state=1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_random_walk_form_is_scikit_learns(seed, form):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], [40, 30, 20])[rng.permutation(90)]
    W = np.where(truth[:, None] == truth, 1.0, 0.05) * rng.random((90, 90))
    W = np.triu(W, 1) + np.triu(W, 1).T
    ours = SpectralClustering(n_clusters=3, laplacian="rw", affinity="precomputed", random_state=0).fit(form(W))
    theirs = Peer(3, affinity="precomputed", assign_labels="kmeans", random_state=0).fit(W)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == adjusted_rand_score(truth, ours.labels_) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_the_random_walk_form_is_scikit_learns_on_neighbours(seed):
    X, _ = make_blobs(700, 4, centers=4, cluster_std=1.6, random_state=seed)
    W = neighbours(X)
    ours = SpectralClustering(n_clusters=4, laplacian="rw", random_state=0).fit(X)
    assert abs(ours.affinity_matrix_ - W).max() == 0
    with_peer = Peer(4, affinity="nearest_neighbors", assign_labels="kmeans", random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sklearn.manifold._spectral_embedding._graph_is_connected", lambda graph: True)  # or it warns
        theirs = with_peer.fit(X)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_embedding_and_eigenvalues_satisfy_the_definition(laplacian):
    W, _ = random_graph([30, 20], np.random.default_rng(0), density=0.3)
    found = SpectralClustering(n_clusters=4, laplacian=laplacian, affinity="precomputed", random_state=0).fit(W)
    assert found.embedding_.shape == (50, 4)
    assert found.eigenvalues_.shape == (5,)
    assert found.gap_ == found.eigenvalues_[4] - found.eigenvalues_[3]
    U, values = found.embedding_, found.eigenvalues_[:4]
    if laplacian == "unnormalized":
        np.testing.assert_allclose((np.diag(W.sum(axis=1)) - W) @ U, U * values, atol=1e-12)
    elif laplacian == "rw":
        np.testing.assert_allclose(U - W @ U / W.sum(axis=1, keepdims=True), U * values, atol=1e-12)
    else:
        np.testing.assert_allclose(np.linalg.norm(U, axis=1), 1.0)
        _, vectors = np.linalg.eigh(graph_laplacian(W, normed=True))
        space = vectors[:, :4] / np.linalg.norm(vectors[:, :4], axis=1, keepdims=True)
        np.testing.assert_allclose(U @ U.T, space @ space.T, atol=1e-9)  # equal up to a rotation


@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("affinity", ["nearest_neighbors", "rbf"])
def test_order_of_rows_does_not_matter(laplacian, affinity, moons):
    X, _ = moons
    order = np.random.default_rng(0).permutation(len(X))
    first, second = (
        SpectralClustering(laplacian=laplacian, affinity=affinity, random_state=0).fit(rows) for rows in (X, X[order])
    )
    np.testing.assert_allclose(first.eigenvalues_, second.eigenvalues_, atol=1e-12 * first.eigenvalues_[-1])
    assert adjusted_rand_score(first.labels_[order], second.labels_) == 1.0


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_sparse_and_dense_matrices_give_the_same(laplacian):
    W, _ = random_graph([300, 270], np.random.default_rng(0), density=0.02)
    options = {"laplacian": laplacian, "affinity": "precomputed", "random_state": 0}
    dense, sparse = (SpectralClustering(**options).fit(form(W)) for form in (np.asarray, csr_array))
    np.testing.assert_allclose(dense.eigenvalues_, sparse.eigenvalues_, atol=1e-9)
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_a_constant_times_the_affinities_changes_no_cluster(laplacian):
    W = cliques([20, 15, 10], between=0.3)
    first, second = (
        SpectralClustering(laplacian=laplacian, affinity="precomputed", random_state=0).fit(c * W) for c in (1.0, 64.0)
    )
    factor = 64.0 if laplacian == "unnormalized" else 1.0
    np.testing.assert_allclose(second.eigenvalues_, factor * first.eigenvalues_, atol=1e-12 * factor)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    assert first.n_clusters_ == 3


def test_a_table_its_matrix_and_functions_give_the_same(moons):
    X, _ = moons
    expected = SpectralClustering(affinity="rbf", gamma=20.0, random_state=0).fit(X)
    for affinity, rows in (
        ("precomputed", rbf_kernel(X, gamma=20.0)),
        (lambda X: rbf_kernel(X, gamma=20.0), X),
        (lambda X: csr_array(rbf_kernel(X, gamma=20.0)), X),
        (lambda x, y: np.exp(-20.0 * ((x - y) ** 2).sum()), X),
    ):
        found = SpectralClustering(affinity=affinity, random_state=0).fit(rows)
        np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, atol=1e-9)
        np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_the_default_width_is_that_of_the_neighbourhoods(moons):
    X, _ = moons
    distances = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)
    reach = np.median(distances[:, 10])
    found = SpectralClustering(affinity="rbf").fit(X)
    np.testing.assert_allclose(found.affinity_matrix_, rbf_kernel(X, gamma=1.0 / reach**2), rtol=1e-12)
    bigger = SpectralClustering(affinity="rbf").fit(1000 * X)
    np.testing.assert_allclose(found.affinity_matrix_, bigger.affinity_matrix_, rtol=1e-9)


def test_frames_and_sparse_tables(moons):
    X, _ = moons
    expected = SpectralClustering(random_state=0).fit(X).labels_
    for frame in (pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame(X, schema=["a", "b"])):
        found = SpectralClustering(random_state=0).fit(frame)
        np.testing.assert_array_equal(found.labels_, expected)
        assert found.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(SpectralClustering(random_state=0).fit_predict(csr_array(X)), expected)
    assert found.n_features_in_ == 2


def test_largest_cluster_first():
    truth = np.repeat([0, 1, 2, 3], [5, 9, 7, 7])
    W = (truth[:, None] == truth).astype(float)
    labels = SpectralClustering(affinity="precomputed", random_state=0).fit(W).labels_
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, np.repeat([3, 0, 1, 2], [5, 9, 7, 7]))


@pytest.mark.parametrize("random_state", [3, np.random.RandomState, np.random.default_rng])
def test_a_seed_gives_the_same_labels(random_state, moons):
    X, _ = moons
    seeds = [random_state(1) if callable(random_state) else random_state for _ in range(2)]
    first, second = (SpectralClustering(n_clusters=7, random_state=seed).fit(X) for seed in seeds)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    again = clone(SpectralClustering(n_clusters=7, laplacian="rw"))
    assert again.get_params()["n_clusters"] == 7
