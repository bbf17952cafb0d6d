"""The plot of the share in sparse clusters: shares and counts against plain loops, points against weights."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from partita import Posterior
from partita.plots import sparse_share, sparse_share_data


def dusty_draws(n_draws=60, n=50, seed=4):
    rng = np.random.default_rng(seed)
    dust = rng.random((n_draws, n)) < rng.beta(1, 6, size=(n_draws, 1))
    return np.where(dust, rng.integers(2, 9, size=(n_draws, n)), np.arange(n) % 2)


def share_by_hand(draw, threshold):
    labelled = [label for label in draw.tolist() if label >= 0]
    sparse = [label for label in labelled if labelled.count(label) / len(labelled) <= threshold]
    return len(sparse) / len(labelled)


@pytest.mark.parametrize("threshold", [0.02, 0.1, 0.3, 1.0])
def test_shares_are_those_counted_by_hand(threshold):
    draws = dusty_draws()
    draws[3, ::2] = -1
    (data,) = sparse_share_data(Posterior(draws), threshold=threshold)
    np.testing.assert_allclose(data.shares, [share_by_hand(draw, threshold) for draw in draws])


def test_at_most_and_at_least_count_what_lies_on_the_line():
    draws = np.array([[0] * 9 + [1], [0] * 8 + [1, 2], [0] * 8 + [1, 1], [0] * 10])
    (data,) = sparse_share_data(Posterior(draws), threshold=0.1, levels=(0.1, 0.2))
    assert data.shares.tolist() == [0.1, 0.2, 0.0, 0.0]
    assert data.exceeding == {0.1: 0.5, 0.2: 0.25}


def test_weights_count_as_repeated_draws():
    draws, times = dusty_draws(), np.arange(60) % 4
    weighted, repeated = sparse_share_data(
        {"weighted": Posterior(draws, weights=times), "repeated": Posterior(np.repeat(draws, times, axis=0))}
    )
    assert weighted.exceeding == pytest.approx(repeated.exceeding)
    points = weighted.shares[weighted.evenly_by_weight(60)]
    # 60 points of weights k/90: as even as possible, so the means differ by at most one point's share.
    assert abs(points.mean() - repeated.shares.mean()) < 1 / 60


def test_with_equal_weights_every_draw_is_one_point():
    (data,) = sparse_share_data(Posterior(dusty_draws()))
    assert data.evenly_by_weight(1000).tolist() == list(range(60))
    assert data.evenly_by_weight(4).tolist() == [7, 22, 37, 52]


def test_a_draw_that_takes_all_weight_takes_all_points():
    weights = np.zeros(60)
    weights[[7, 59]] = 1.0, 1e-300
    (data,) = sparse_share_data(Posterior(dusty_draws(), weights=weights))
    assert set(data.evenly_by_weight(1000)) == {7}


def test_an_empty_mapping_is_refused():
    with pytest.raises(ValueError, match="mapping is empty"):
        sparse_share_data({})


def test_points_lines_and_the_numbers_under_them():
    before = Posterior(dusty_draws())
    after = Posterior(dusty_draws(), weights=np.r_[1.0, np.zeros(59)])
    ax = sparse_share({"before": before, "after": after}, levels=(0.05, 0.2))
    data = sparse_share_data(before, levels=(0.05, 0.2))[0]
    first, second = (points.get_offsets() for points in ax.collections)
    np.testing.assert_allclose(first[:, 1], data.shares)
    assert 0 < first[0, 0] < first[-1, 0] < 1 < second[0, 0] < second[-1, 0] < 2
    np.testing.assert_allclose(second[:, 1], data.shares[0])
    assert [line.get_ydata()[0] for line in ax.lines] == [0.05, 0.2]
    caption = ax.get_xticklabels()[0].get_text().splitlines()
    assert caption == ["before", f"{data.exceeding[0.05]:.1%} ≥ 5%", f"{data.exceeding[0.2]:.1%} ≥ 20%"]
    assert ax.get_title("left") == "Rows in groups that hold at most 10% of the rows, draw by draw"
    ax.figure.draw_without_rendering()


def test_many_draws_are_thinned_and_given_axes_used():
    given = Figure().subplots()
    ax = sparse_share(Posterior(np.tile([0, 0, 0, 1], (2500, 1))), threshold=0.25, ax=given)
    assert ax is given
    points = ax.collections[0].get_offsets()
    assert len(points) == 1000
    assert set(points[:, 1]) == {0.25}


def test_one_draw_of_one_row():
    sparse_share(Posterior([[0]])).figure.draw_without_rendering()
