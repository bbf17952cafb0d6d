"""The plot of the clusters: its numbers against plain loops in the user's units, its drawing without pixels."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from scipy.stats import chi2
from sklearn.exceptions import NotFittedError
from tests.mixtures import diagonal, full, mixed, quick, unconverged_is_fine

from partita import Mixture, Posterior
from partita.families import Gaussian
from partita.plots import clusters, clusters_data
from partita.plots.canvas import cluster_colors

pytestmark = unconverged_is_fine


def three_groups(n=90, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    centers = np.array([[0.0, 100.0], [8.0, 300.0], [4.0, 600.0]])
    return centers[group] + rng.normal(size=(n, 2)) * [1.0, 30.0]


@full
def test_points_and_confidence_are_those_of_the_fit_in_the_units_of_the_table():
    X = three_groups()
    model = quick().fit(X)
    data = clusters_data(model)
    assert data.columns == ("x0", "x1")
    assert sorted(data.positions) == list(range(90))
    np.testing.assert_allclose(data.points, X[data.positions])
    np.testing.assert_array_equal(data.labels, model.labels_[data.positions])
    np.testing.assert_array_equal(data.confidence, np.asarray(model.to_frame()["confidence"])[data.positions])
    assert data.sizes.tolist() == np.bincount(model.labels_).tolist()


@full
@pytest.mark.parametrize("weighted", [False, True])
def test_means_and_covariances_count_rows_by_their_weights(weighted):
    X = three_groups()
    weights = np.arange(90) % 4 if weighted else np.ones(90, dtype=int)
    model = quick().fit(X, sample_weight=weights)
    data = clusters_data(model)
    assert len(data.positions) == 90
    for k in range(model.n_clusters_):
        own = model.labels_ == k
        np.testing.assert_allclose(data.means[k], np.average(X[own], axis=0, weights=weights[own]))
        np.testing.assert_allclose(data.covariances[k], np.cov(X[own].T, bias=True, fweights=weights[own]))


@full
def test_every_point_of_an_ellipse_is_two_standard_deviations_from_the_mean():
    data = clusters_data(quick().fit(three_groups()))
    for mean, covariance, outline in zip(data.means, data.covariances, data.outlines()):
        away = outline - mean
        distance = np.einsum("ij,jk,ik->i", away, np.linalg.inv(covariance), away)
        np.testing.assert_allclose(distance, 4.0)
        np.testing.assert_allclose(outline[0], outline[-1], atol=1e-9 * np.abs(outline).max())


@full
def test_an_ellipse_holds_the_share_of_a_gaussian_that_it_says():
    X = np.random.default_rng(1).multivariate_normal([3.0, -2.0], [[2.0, 1.2], [1.2, 1.0]], size=4000)
    data = clusters_data(quick(draws=5, chains=1, warmup=5).fit(X), most_rows=4000)
    assert data.sizes[0] > 3900
    away = X[data.positions[data.labels == 0]] - data.means[0]
    inside = np.einsum("ij,jk,ik->i", away, np.linalg.inv(data.covariances[0]), away) <= 4.0
    expected = chi2(2).cdf(4.0)
    assert inside.mean() == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 4000) + 0.01)


@diagonal
def test_groups_on_a_line_and_columns_of_far_apart_units_have_outlines():
    rng = np.random.default_rng(2)
    line = np.repeat([0.0, 50.0], 30) + rng.normal(size=60)
    model = quick(family=Gaussian(covariance="diag")).fit(np.column_stack([line, 1e9 * line]))
    data = clusters_data(model)
    for mean, covariance, outline in zip(data.means, data.covariances, data.outlines()):
        sd = np.sqrt(np.diag(covariance))
        across, up = ((outline - mean) / sd).T
        np.testing.assert_allclose(across, up, atol=1e-6)
        assert across.max() == pytest.approx(2.0, abs=1e-6)
    clusters(model).figure.draw_without_rendering()


@mixed
def test_columns_are_chosen_by_name_or_position_and_incomplete_rows_left_out():
    X = three_groups()
    table = pd.DataFrame({"kind": np.where(X[:, 1] < 200, "a", "b"), "calls": X[:, 1] // 100 + 2})
    table["width"], table["height"] = X.T
    table.loc[4, "height"] = np.nan
    table.loc[7, "width"] = np.nan
    table.loc[9, "calls"] = np.nan
    model = quick(column_types={"calls": "count"}).fit(table)
    default, by_position = clusters_data(model), clusters_data(model, [np.int64(1), 2])
    assert default.columns == ("width", "height")
    assert set(range(90)) - set(default.positions) == {4, 7}
    np.testing.assert_allclose(default.points, table[["width", "height"]].iloc[default.positions])
    assert by_position.columns == ("calls", "width")
    assert set(range(90)) - set(by_position.positions) == {7, 9}
    np.testing.assert_allclose(by_position.points, table[["calls", "width"]].iloc[by_position.positions])
    assert clusters(model).get_title("left").endswith("groups (2 with a missing cell left out)")


@diagonal
def test_a_group_without_both_cells_has_no_ellipse():
    rng = np.random.default_rng(3)
    X = np.column_stack([np.repeat([0.0, 80.0], 40), np.zeros(80)]) + rng.normal(size=(80, 2))
    X[np.arange(80) >= 40, 1] = np.nan
    model = quick(family=Gaussian(covariance="diag")).fit(X)
    gone = model.labels_[40]
    assert set(model.labels_[40:]) == {gone}
    data = clusters_data(model)
    assert data.sizes[gone] == 0
    assert np.isnan(data.means[gone]).all()
    ax = clusters(model)
    assert [text.get_text() for text in ax.texts] == [str(k) for k in range(model.n_clusters_) if k != gone]
    ax.figure.draw_without_rendering()


@full
def test_what_cannot_be_shown_is_refused():
    model = quick(draws=10).fit(three_groups())
    with pytest.raises(ValueError, match="two column names or positions; got 'x0'"):
        clusters_data(model, "x0")
    with pytest.raises(ValueError, match=r"two column names or positions; got \['x0'\]"):
        clusters_data(model, ["x0"])
    with pytest.raises(ValueError, match="two different columns; got 'x1' twice"):
        clusters_data(model, ["x1", 1])
    for unknown in ("x7", 2, -1, None):
        with pytest.raises(ValueError, match="is no column of numbers in use; these are 'x0', 'x1'"):
            clusters_data(model, [0, unknown])
    with pytest.raises(TypeError, match="draws a fitted Mixture, got Posterior"):
        clusters(Posterior([[0, 1]]))
    with pytest.raises(NotFittedError):
        clusters(Mixture())


@mixed
def test_a_table_without_two_columns_of_numbers_is_refused():
    table = pd.DataFrame({"size": three_groups()[:, 0], "kind": np.tile(["a", "b", "c"], 30)})
    for columns in (None, ["size", "kind"]):
        with pytest.raises(ValueError, match="needs two columns of numbers, and the table has only 'size'"):
            clusters(quick(draws=10).fit(table), columns)


@diagonal
def test_columns_that_no_row_has_together_are_refused():
    X = three_groups(40)
    X[::2, 0] = np.nan
    X[1::2, 1] = np.nan
    model = quick(draws=10, family=Gaussian(covariance="diag")).fit(X)
    with pytest.raises(ValueError, match="No row has a cell in both columns 'x0' and 'x1'"):
        clusters(model)


@full
def test_of_many_rows_every_group_keeps_its_share_and_at_least_one():
    model = quick(draws=10).fit(three_groups(300))
    data = clusters_data(model, most_rows=30)
    shown = np.bincount(data.labels, minlength=model.n_clusters_)
    np.testing.assert_allclose(shown, np.maximum(data.sizes / 10, 1), atol=0.5)
    np.testing.assert_array_equal(data.means, clusters_data(model).means)


@full
def test_the_title_says_that_not_all_rows_are_shown():
    model = quick(draws=2, warmup=2).fit(three_groups(6000))
    n_shown = len(clusters_data(model).positions)
    assert n_shown == pytest.approx(5000, abs=model.n_clusters_)
    assert (
        clusters(model).get_title("left") == f"6,000 rows, {model.n_clusters_} groups ({n_shown:,} of the rows shown)"
    )


@full
def test_rows_have_the_colour_of_their_group_and_are_paler_where_uncertain():
    model = quick().fit(three_groups())
    model.probabilities_ = np.full((90, model.n_clusters_), 0.0)
    model.probabilities_[np.arange(90), model.labels_] = np.where(np.arange(90) == 5, 0.5, 1.0)
    given = Figure().subplots()
    ax = clusters(model, ["x1", "x0"], ax=given)
    assert ax is given
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x1", "x0")
    points = ax.collections[0]
    own = np.array(cluster_colors())[model.labels_]
    own[5] = 0.5 * own[5] + 0.5
    data = clusters_data(model, ["x1", "x0"])
    for place, color in zip(points.get_offsets(), points.get_facecolors()):
        row = data.positions[np.flatnonzero((data.points == place).all(axis=1))[0]]
        np.testing.assert_allclose(to_rgb(color), own[row])
    assert len(points.get_offsets()) == 90
    assert len(ax.lines) == len(ax.texts) == model.n_clusters_
