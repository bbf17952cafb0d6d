"""The plot of a graph's affinity: means over pairs against plain loops, sparse graphs never dense."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.sparse import csr_array, random_array

from partita.plots import affinity, affinity_data
from partita.spectral import SpectralClustering


def graph(n, seed=0):
    W = np.random.default_rng(seed).gamma(0.5, size=(n, n))
    return W + W.T


def test_few_objects_are_ordered_by_cluster_from_the_largest():
    W = graph(7)
    labels = np.array(["b", "a", "a", None, "c", "a", "b"], dtype=object)
    data = affinity_data(W, labels)
    assert data.order.tolist() == [1, 2, 5, 0, 6, 4]
    assert data.names == ("a", "b", "c")
    assert data.sizes.tolist() == [3, 2, 1]
    assert data.boundaries.tolist() == [0, 3, 5, 6]
    expected = W[np.ix_(data.order, data.order)]
    np.fill_diagonal(expected, np.nan)
    np.testing.assert_allclose(data.means, expected)


@pytest.mark.parametrize("sparse", [False, True])
def test_lines_of_several_objects_are_means_over_pairs(sparse):
    W = graph(40)
    labels = np.random.default_rng(1).integers(0, 3, 40)
    data = affinity_data(csr_array(W) if sparse else W, labels, most_lines=10)
    m = len(data.means)
    assert m == pytest.approx(10, abs=2)
    np.fill_diagonal(W, np.nan)
    blocks = [data.order[start:end] for start, end in zip(data.lines[:-1], data.lines[1:])]
    for i in range(m):
        assert len(set(labels[blocks[i]])) == 1
        for j in range(m):
            assert data.means[i, j] == pytest.approx(np.nanmean(W[np.ix_(blocks[i], blocks[j])]))
    for k, name in enumerate(data.names):
        of_cluster = np.concatenate(blocks[data.boundaries[k] : data.boundaries[k + 1]])
        np.testing.assert_array_equal(of_cluster, np.flatnonzero(labels == int(name)))


def test_a_large_sparse_graph_is_never_dense():
    n = 200_000  # dense: 320 GB
    W = random_array((n, n), density=1e-5, rng=np.random.default_rng(0))
    W = csr_array(W + W.T)
    labels = np.arange(n) % 3
    data = affinity_data(W, labels)
    assert data.means.shape == (501, 501)
    heights = np.diff(data.lines)
    pairs = heights[:, None] * heights - np.diag(heights)
    assert np.nansum(data.means * pairs) == pytest.approx(W.sum() - W.diagonal().sum())
    title = affinity(W, labels).get_title("left")
    assert title == "200,000 rows, 3 groups (501 lines, each the mean of several)"


def test_of_more_clusters_than_lines_the_largest_are_shown():
    labels = np.repeat(np.arange(8), np.arange(8, 0, -1))
    data = affinity_data(graph(36), labels, most_lines=5)
    assert data.names == ("0", "1", "2", "3", "4")
    assert sorted(labels[data.order]) == sorted(labels[labels < 5])
    assert data.sizes.tolist() == list(range(8, 0, -1))


def test_a_fitted_spectral_clustering_brings_its_labels():
    rng = np.random.default_rng(2)
    X = np.repeat([[0.0, 0.0], [9.0, 0.0]], [30, 20], axis=0) + rng.normal(size=(50, 2))
    spectral = SpectralClustering(n_clusters=2, random_state=0).fit(X)
    given = Figure().subplots()
    ax = affinity(spectral, ax=given)
    assert ax is given
    data = affinity_data(spectral)
    shown = ax.images[0].get_array()
    np.testing.assert_array_equal(shown.filled(np.nan), data.means)
    assert ax.get_title("left") == "50 rows, 2 groups"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["group 0\n30 rows", "group 1\n20 rows"]
    assert affinity_data(spectral, np.zeros(50, int)).names == ("0",)
    ax.figure.draw_without_rendering()


def test_no_ties_at_all():
    affinity(np.zeros((3, 3)), [0, 0, 1]).figure.draw_without_rendering()
    affinity(np.ones((1, 1)), [0]).figure.draw_without_rendering()


def test_what_cannot_be_shown_is_refused():
    with pytest.raises(ValueError, match="has no clusters to be ordered by: pass labels"):
        affinity(np.eye(3))
    with pytest.raises(ValueError, match="call fit first"):
        affinity(SpectralClustering())
    with pytest.raises(ValueError, match="must be symmetric"):
        affinity([[0.0, 1.0], [0.0, 0.0]], [0, 1])
    with pytest.raises(ValueError, match="labels must be one per object, 3, in the same order; got 2"):
        affinity(np.eye(3), [0, 1])
    with pytest.raises(ValueError, match="All labels are -1"):
        affinity(np.eye(2), [-1, -1])
