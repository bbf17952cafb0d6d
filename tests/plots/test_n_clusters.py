"""The plot of the number of clusters: its data against counts, its bars and its mark."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from partita import Posterior
from partita.plots import n_clusters, n_clusters_data

DRAWS = np.array([[0, 0, 1, 1, 2], [0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 0, 1, 2, 3], [0, 0, 1, 1, -1]])


def test_probabilities_are_the_weights_of_the_draws_with_that_number():
    data = n_clusters_data(Posterior(DRAWS, weights=[0.1, 0.2, 0.3, 0.0, 0.4]))
    assert data.n_clusters.tolist() == [2, 3]
    np.testing.assert_allclose(data.probabilities, [0.9, 0.1])


def test_the_mark_is_the_estimate_or_the_given_labels():
    posterior = Posterior(DRAWS)
    assert n_clusters_data(posterior).estimate == posterior.estimate().n_clusters
    given = n_clusters_data(posterior, [7, 7, 9, 3, -1])
    assert (given.estimate, given.estimate_probability) == (3, pytest.approx(0.2))
    assert n_clusters_data(posterior, ["b", "b", "c", "a", None]).estimate == 3
    assert n_clusters_data(posterior, [0, 1, 2, 3, 4]).estimate_probability == 0.0


def test_labels_of_other_rows_are_refused():
    with pytest.raises(ValueError, match="one per object, 5, in the same order; got 2"):
        n_clusters_data(Posterior(DRAWS), [0, 1])


def test_bars_are_the_probabilities_and_the_estimates_is_dark():
    ax = n_clusters(Posterior(DRAWS), [0, 0, 1, 1, 2])
    assert [bar.get_x() + bar.get_width() / 2 for bar in ax.patches] == pytest.approx([2, 3, 4])
    assert [bar.get_height() for bar in ax.patches] == pytest.approx([0.6, 0.2, 0.2])
    colors = [bar.get_facecolor() for bar in ax.patches]
    assert colors[0] == colors[2] != colors[1]
    assert ax.get_title("left") == "Most probable: 2 groups (0.60); the estimate has 3"
    assert ax.texts[0].xy == (3, pytest.approx(0.2))


def test_an_estimate_that_no_draw_has_the_number_of_is_still_in_the_picture():
    given = Figure().subplots()
    ax = n_clusters(Posterior([[0, 1] * 20, list(range(40))]), [0] * 40, ax=given)
    assert ax is given
    low, high = ax.get_xlim()
    assert low < 1
    assert high > 40.4
    ax.figure.draw_without_rendering()
    assert all(tick == round(tick) for tick in ax.get_xticks())


def test_one_draw_of_one_row():
    ax = n_clusters(Posterior([[0]]))
    assert ax.get_title("left") == "Most probable: 1 group (1.00); the estimate has 1"
    ax.figure.draw_without_rendering()
