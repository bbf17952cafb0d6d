"""The credible ball's plot: its order and matched labels by hand, many rows and few, words and colours."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from partita.metrics import variation_of_information
from partita.plots import credible_ball, credible_ball_data
from partita.plots.canvas import cluster_colors


def ball(labels, horizontal=None, upper=None, lower=None):
    bounds = {"horizontal": horizontal, "upper": upper, "lower": lower}
    given = {name: np.asarray(labels if bound is None else bound) for name, bound in bounds.items()}
    return SimpleNamespace(labels=np.asarray(labels), **given, level=0.95, radius=0.25, loss="vi")


def random_ball(n, n_clusters, seed=0):
    rng = np.random.default_rng(seed)
    centre = rng.integers(0, n_clusters, size=n)
    moved = np.where(rng.random(n) < 0.2, rng.integers(0, n_clusters, size=n), centre)
    return ball(centre, horizontal=moved, upper=centre // 2, lower=np.where(rng.random(n) < 0.3, centre + 50, centre))


def test_rows_go_by_the_centre_then_from_those_that_stay_to_those_that_move():
    data = credible_ball_data(
        ball([4, 4, 4, 4, 7, 7, 7], horizontal=[3, 5, 3, 3, 5, 5, 5], upper=[0] * 7, lower=[0, 1, 9, 0, 2, 2, 2])
    )
    assert data.order.tolist() == [0, 3, 2, 1, 4, 5, 6]
    assert data.labels.tolist() == [
        [0, 0, 0, 0, 1, 1, 1],
        [0, 0, 0, 1, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 3, 2, 1, 1, 1],
    ]
    assert data.boundaries.tolist() == [0, 4, 7]
    assert data.n_clusters.tolist() == [2, 2, 1, 4]


@pytest.mark.parametrize("seed", range(3))
def test_labels_shown_are_the_partitions_and_distances_are_theirs(seed):
    given = random_ball(60, 5, seed)
    data = credible_ball_data(given)
    assert sorted(data.order) == list(range(60))
    for name, labels, k, far in zip(data.names, data.labels, data.n_clusters, data.distances):
        original = given.labels if name == "centre" else getattr(given, name)
        assert variation_of_information(original[data.order], labels) == pytest.approx(0.0, abs=1e-12)
        assert k == len(np.unique(original))
        assert far == pytest.approx(variation_of_information(original, given.labels))


def test_of_many_rows_every_block_keeps_its_share_and_every_cluster_a_row():
    centre = np.repeat([0, 1, 2], [60_000, 39_999, 1])
    lower = np.where(np.arange(100_000) % 4 == 0, 5, centre)
    data = credible_ball_data(ball(centre, lower=lower), most_rows=100)
    assert np.diff(data.boundaries).tolist() == [60, 40, 1]
    assert data.n_rows == 100_000
    np.testing.assert_array_equal(data.labels[0], centre[data.order])
    assert np.count_nonzero(data.labels[3][:60] == 0) == 45
    assert data.n_clusters.tolist() == [3, 3, 3, 4]


def test_rows_without_a_label_in_the_centre_are_left_out_and_elsewhere_grey():
    given = ball([0, 0, -1, 1], horizontal=[0, -1, 0, 1])
    data = credible_ball_data(given)
    assert sorted(data.order) == [0, 1, 3]
    assert data.n_rows == 3
    image = credible_ball(given).images[0].get_array()
    assert np.argwhere(image.mask).tolist() == [[1, data.order.tolist().index(1)]]
    with pytest.raises(ValueError, match="All labels of the centre are -1"):
        credible_ball_data(ball([-1, -1]))


def test_bounds_of_other_rows_are_refused():
    with pytest.raises(ValueError, match="labels must be one per object, 3, in the same order; got 2"):
        credible_ball_data(ball([0, 0, 1], upper=[0, 0]))


def test_the_picture_says_what_each_strip_is():
    ax = credible_ball(ball([0, 0, 1, 1], horizontal=[0, 1, 0, 1], upper=[0] * 4, lower=[0, 1, 2, 2]))
    assert ax.get_title("left") == "95% credible ball of 4 rows, radius 0.25"
    captions = [label.get_text() for label in ax.get_yticklabels()]
    assert captions == [
        "centre\n2 groups",
        "farthest\n(horizontal bound)\n2 groups, distance 1.39",
        "fewest groups\n(upper bound)\n1 group, distance 0.69",
        "most groups\n(lower bound)\n3 groups, distance 0.35",
    ]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1"]
    ax.figure.draw_without_rendering()


def test_given_axes_are_used_and_colours_start_again_after_the_last():
    given = Figure().subplots()
    ax = credible_ball(random_ball(3000, 40), ax=given)
    assert ax is given
    assert ax.images[0].get_array().max() == len(cluster_colors()) - 1
    assert "3,000 rows (" in ax.get_title("left")
    assert len(set(cluster_colors())) == 21
    assert all(0 <= part <= 1 for color in cluster_colors() for part in color)


def test_one_row():
    ax = credible_ball(ball([0]))
    assert ax.get_title("left") == "95% credible ball of 1 row, radius 0.25"
    ax.figure.draw_without_rendering()
