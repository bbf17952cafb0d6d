"""The plot of cluster sizes: counts by hand, counterparts in one column, bars and names."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from partita import Posterior
from partita.plots import cluster_sizes, cluster_sizes_data

BEFORE = np.array([5, 5, 5, 5, 2, 2, 2, 9, 9, 1])
AFTER = np.array([0, 0, 0, 0, 1, 1, 1, 0, 0, 1])


def test_counterparts_share_a_column_and_what_vanished_is_0():
    data = cluster_sizes_data(BEFORE, AFTER)
    assert data.names == ("before", "after")
    assert data.sizes.tolist() == [[4, 3, 2, 1], [6, 4, 0, 0]]
    assert data.n_clusters.tolist() == [4, 2]


def test_columns_follow_the_rows_not_the_ranks():
    grown = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    data = cluster_sizes_data({"first": BEFORE, "second": grown})
    assert data.sizes.tolist() == [[4, 3, 2, 1], [4, 6, 0, 0]]


def test_new_clusters_come_after_all_of_the_first_largest_first():
    data = cluster_sizes_data(np.repeat([0, 1], [7, 5]), np.repeat([9, 1, 2, 5], [4, 1, 2, 5]))
    assert data.sizes.tolist() == [[7, 5, 0, 0], [4, 5, 2, 1]]
    assert data.labels[1].tolist() == [0, 0, 0, 0, 3, 2, 2, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("seed", range(5))
def test_sizes_are_those_of_the_clusters_whatever_the_labels(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 6, size=(2, 50)) * 3
    data = cluster_sizes_data(first, second)
    for sizes, labels in zip(data.sizes, (first, second)):
        assert sorted(sizes[sizes > 0]) == sorted(np.unique(labels, return_counts=True)[1])
    renamed = cluster_sizes_data(30 - first, second + 4)
    assert sorted(map(tuple, renamed.sizes.T)) == sorted(map(tuple, data.sizes.T))
    words = cluster_sizes_data([f"group {label}" for label in first], second)
    np.testing.assert_array_equal(words.labels, data.labels)


def test_estimates_are_taken_by_their_labels_and_rows_without_one_left_out():
    estimate = Posterior(np.tile(AFTER, (3, 1))).estimate()
    partial = np.where(np.arange(10) == 9, -1, BEFORE)
    data = cluster_sizes_data({"partial": partial, "estimate": estimate})
    assert data.sizes.tolist() == [[4, 3, 2], [6, 4, 0]]


def test_what_cannot_be_shown_is_refused():
    with pytest.raises(TypeError, match="either a mapping of names to partitions, or before and after"):
        cluster_sizes_data({"before": BEFORE}, AFTER)
    with pytest.raises(ValueError, match="mapping is empty"):
        cluster_sizes_data({})
    with pytest.raises(ValueError, match="there is no cluster to show"):
        cluster_sizes_data([-1, -1])
    with pytest.raises(ValueError, match="labels must be one per object, 10, in the same order; got 4"):
        cluster_sizes_data(BEFORE, AFTER[:4])


def test_bars_stand_side_by_side_with_their_numbers():
    ax = cluster_sizes(BEFORE, AFTER)
    assert [bar.get_height() for bar in ax.patches] == [4, 3, 2, 1, 6, 4]
    before, after = ax.patches[0], ax.patches[4]
    assert before.get_x() + before.get_width() == pytest.approx(after.get_x())
    assert [text.get_text() for text in ax.texts] == ["4", "3", "2", "1", "6", "4"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["before: 4 groups", "after: 2 groups"]
    assert ax.get_title("left") == "10 rows"
    ax.figure.draw_without_rendering()


def test_the_legend_covers_no_bar():
    ax = cluster_sizes({name: [0, 1, 2, 3] for name in "abcd"})
    ax.figure.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    assert all(bar.get_window_extent().y1 <= legend.y0 for bar in ax.patches)


def test_many_clusters_are_cut_with_a_note_and_given_axes_are_used():
    given = Figure().subplots()
    ax = cluster_sizes(np.repeat(np.arange(60), np.arange(60, 0, -1)), ax=given)
    assert ax is given
    assert [bar.get_height() for bar in ax.patches] == list(range(60, 20, -1))
    assert ax.get_title("left") == "1,830 rows, 60 groups (the first 40 groups shown)"
    assert ax.get_legend() is None
    assert not ax.texts


def test_one_row():
    ax = cluster_sizes([0])
    assert ax.get_title("left") == "1 row, 1 group"
    ax.figure.draw_without_rendering()
