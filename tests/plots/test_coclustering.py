"""The co-clustering plot: its data against plain loops, its drawing without pixels."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from partita import Posterior
from partita.plots import coclustering, coclustering_data


def noisy_posterior(n=40, n_draws=25, seed=3):
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    wrong = rng.random((n_draws, n)) < rng.random(n) * 0.4
    return Posterior(np.where(wrong, rng.integers(0, 4, size=(n_draws, n)), truth))


def test_the_matrix_is_the_similarity_of_the_rows_in_the_order():
    posterior = noisy_posterior()
    data = coclustering_data(posterior)
    assert sorted(data.order) == list(range(posterior.n_objects))
    together = [[np.mean(posterior.draws[:, i] == posterior.draws[:, j]) for j in data.order] for i in data.order]
    np.testing.assert_allclose(data.similarity, together, atol=1e-12)


def test_blocks_are_the_clusters_of_the_estimate_largest_first():
    posterior = noisy_posterior()
    labels = posterior.estimate().labels
    data = coclustering_data(posterior)
    np.testing.assert_array_equal(data.labels, labels[data.order])
    assert data.n_clusters == labels.max() + 1
    assert list(data.sizes) == sorted(data.sizes, reverse=True)
    for k in range(data.n_clusters):
        block = data.order[data.boundaries[k] : data.boundaries[k + 1]]
        assert set(block) == set(np.flatnonzero(labels == k))


def test_within_a_block_rows_go_from_the_core_to_the_edge():
    data = coclustering_data(noisy_posterior())
    for start, stop in zip(data.boundaries, data.boundaries[1:]):
        block = data.similarity[start:stop, start:stop]
        closeness = (block.sum(axis=1) - 1.0) / max(stop - start - 1, 1)
        assert np.all(np.diff(closeness) <= 1e-12)
        assert stop - start < 3 or closeness[0] > closeness[-1]


def test_given_labels_are_used_whatever_their_names():
    posterior = noisy_posterior()
    labels = posterior.estimate().labels
    renamed = np.array([7, 0, 3, 5, 9, 2])[labels]
    words = np.array(list("hatfog"))[labels].tolist()
    for names in (renamed, words):
        np.testing.assert_array_equal(coclustering_data(posterior, names).order, coclustering_data(posterior).order)


def test_of_many_rows_every_cluster_keeps_its_share_and_at_least_one():
    truth = np.repeat([0, 1, 2], [1500, 997, 3])
    posterior = Posterior(np.tile(truth, (2, 1)))
    data = coclustering_data(posterior, most_rows=100)
    assert list(np.diff(data.boundaries)) == [60, 40, 1]
    assert list(data.sizes) == [1500, 997, 3]
    assert data.n_rows == 2500
    assert len(set(data.order)) == 101
    np.testing.assert_array_equal(data.labels, truth[data.order])


def test_rows_without_a_label_are_left_out():
    draws = np.array([[0, 0, -1, 1], [0, 0, -1, 1], [0, 0, -1, 0]])
    data = coclustering_data(Posterior(draws))
    assert sorted(data.order) == [0, 1, 3]
    assert not np.isnan(data.similarity).any()


def test_pairs_that_no_draw_labels_are_nan_and_can_be_drawn():
    draws = np.array([[0, 0, -1], [0, -1, 1]])
    data = coclustering_data(Posterior(draws), [0, 0, 0])
    first, second = list(data.order).index(1), list(data.order).index(2)
    assert np.isnan(data.similarity[first, second])
    coclustering(Posterior(draws), [0, 0, 0])


def test_labels_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match="one per object, 40, in the same order; got 3"):
        coclustering_data(noisy_posterior(), [0, 0, 1])
    with pytest.raises(ValueError, match="there is no cluster to show"):
        coclustering_data(noisy_posterior(), np.full(40, -1))


def test_drawing_needs_no_window_and_says_what_it_shows():
    loaded = "matplotlib.pyplot" in sys.modules
    posterior = noisy_posterior()
    ax = coclustering(posterior)
    assert ("matplotlib.pyplot" in sys.modules) == loaded
    n_clusters = posterior.estimate().n_clusters
    assert ax.get_title("left") == f"40 rows, {n_clusters} groups"
    assert ax.images[0].get_clim() == (0.0, 1.0)
    assert len(ax.patches) == n_clusters
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names[0] == f"group 0\n{posterior.estimate().labels.tolist().count(0)} rows"


def test_drawing_into_given_axes_and_a_note_when_rows_are_left_out():
    given = Figure().subplots()
    posterior = Posterior(np.tile(np.repeat([0, 1], [900, 600]), (2, 1)))
    ax = coclustering(posterior, ax=given)
    assert ax is given
    assert ax.get_title("left") == "1,500 rows, 2 groups (1,000 of the rows shown)"


def test_a_posterior_of_one_draw_shows_a_partition_in_the_order_of_another():
    truth, found = np.repeat([0, 1, 2], [5, 4, 3]), np.repeat([0, 1], [5, 7])
    data = coclustering_data(Posterior([found]), truth)
    assert data.boundaries.tolist() == [0, 5, 9, 12]
    np.testing.assert_array_equal(data.similarity, found[data.order][:, None] == found[data.order])


def test_of_more_clusters_than_rows_the_largest_are_shown():
    draws = np.concatenate([[0, 0, 0], np.arange(1, 3000)])[None]
    data = coclustering_data(Posterior(draws), draws[0], most_rows=50)
    assert len(data.order) == 50
    assert data.n_clusters == 3000
    assert data.labels.tolist() == list(range(50))
