"""The cut of objects and clusters against the eigenvectors of the whole graph."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from tests.consensus.ensembles import noisy_copies

from partita.consensus import drop_labels
from partita.consensus.bipartite_cut import BipartiteCut
from partita.partitions import by_size


def vectors_of_the_whole_graph(Y, k):
    """The k leading eigenvectors of the normalised adjacency of all objects and all clusters, of the objects."""
    H = np.hstack([Y[:, [m]] == np.unique(Y[Y[:, m] >= 0, m]) for m in range(Y.shape[1])]).astype(float)
    n, width = H.shape
    graph = np.block([[np.zeros((n, n)), H], [H.T, np.zeros((width, width))]])
    roots = np.sqrt(graph.sum(axis=1))
    return np.linalg.eigh(graph / np.outer(roots, roots))[1][:n, : -k - 1 : -1]


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_two_clusters_are_the_signs_of_the_second_eigenvector(missing):
    Y, _ = noisy_copies(n_groups=2, rate=0.15)
    Y = drop_labels(Y, missing, np.random.default_rng(0))
    labels = BipartiteCut(n_clusters=2, random_state=0).fit(Y).labels_
    assert adjusted_rand_score(vectors_of_the_whole_graph(Y, 2)[:, 1] > 0, labels) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_the_cut_is_that_of_the_paper(seed):
    """k-means of the eigenvectors, rows scaled to length 1, with all objects by themselves."""
    Y, truth = noisy_copies(300, 5, 10, rate=0.3, seed=seed)
    points = vectors_of_the_whole_graph(Y, 5)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    theirs = KMeans(5, n_init=10, random_state=0).fit_predict(points)
    labels = BipartiteCut(n_clusters=5, random_state=0).fit(Y).labels_
    assert adjusted_rand_score(theirs, labels) > 0.99
    assert max(adjusted_rand_score(truth, column) for column in Y.T) + 0.3 < adjusted_rand_score(truth, labels)


def test_unconnected_parts_are_never_cut_where_they_are_too_many():
    Y = np.repeat(np.arange(6), np.arange(2, 8))[:, None] * np.array([[1, 2, 3]]) % 7
    with pytest.warns(UserWarning, match="n_clusters=3 merges parts .* n_clusters=6 may keep"):
        labels = BipartiteCut(n_clusters=3, random_state=0).fit(Y).labels_
    assert np.bincount(labels).tolist() == [7 + 2 + 3 + 4, 6, 5]
    assert len(np.unique(np.column_stack([Y[:, 0], labels]), axis=0)) == 6


def test_the_same_seed_gives_the_same_answer():
    Y, _ = noisy_copies(rate=0.5)
    first, second = (BipartiteCut(n_clusters=4, random_state=3).fit(Y).labels_ for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, by_size(first))


@pytest.mark.parametrize("n_clusters", [0, 1.5, "eigengap", None, True])
def test_wrong_numbers_of_clusters_are_refused(n_clusters):
    with pytest.raises(ValueError, match="n_clusters must be a whole number of at least 1, got"):
        BipartiteCut(n_clusters=n_clusters).fit(noisy_copies()[0])
