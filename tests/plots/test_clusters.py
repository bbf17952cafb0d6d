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
    for wrong in ([], ["x0", "x1", "x0"]):
        with pytest.raises(ValueError, match=r"one or two column names or positions; got \["):
            clusters_data(model, wrong)
    with pytest.raises(ValueError, match="two different columns; got 'x1' twice"):
        clusters_data(model, ["x1", 1])
    for unknown in ("x7", 2, -1, None):
        with pytest.raises(ValueError, match="is no column of numbers in use; these are 'x0', 'x1'"):
            clusters_data(model, [0, unknown])
    with pytest.raises(TypeError, match=r"draws a fitted Mixture, got Posterior\. Of any other table pass its groups"):
        clusters(Posterior([[0, 1]]))
    with pytest.raises(NotFittedError):
        clusters(Mixture())


@mixed
def test_a_table_with_one_column_of_numbers_is_counted_along_it():
    table = pd.DataFrame({"size": three_groups()[:, 0], "kind": np.tile(["a", "b", "c"], 30)})
    model = quick(draws=10).fit(table)
    assert clusters_data(model).columns == clusters_data(model, "size").columns == ("size",)
    with pytest.raises(ValueError, match="'kind' is no column of numbers in use; these are 'size'"):
        clusters(model, ["size", "kind"])
    with pytest.raises(ValueError, match="no column of numbers to draw"):
        clusters(table[["kind"]], labels=model.labels_)


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


def test_any_table_is_coloured_by_any_labels():
    X = three_groups()
    groups = np.where(X[:, 1] > 200, "tall", "short").astype(object)
    groups[[3, 8]] = None, np.nan
    data = clusters_data(pd.DataFrame(X, columns=["width", "height"]), ["height", "width"], labels=groups)
    assert set(data.names) == {"tall", "short"}
    np.testing.assert_allclose(data.points, X[data.positions][:, ::-1])
    assert sorted(data.positions) == list(range(90))
    np.testing.assert_array_equal(data.positions[data.labels < 0], [3, 8])
    assert (data.confidence == 1.0).all()
    for k, name in enumerate(data.names):
        own = groups == name
        assert {groups[i] for i in data.positions[data.labels == k]} == {name}
        assert data.sizes[k] == own.sum()
        np.testing.assert_allclose(data.means[k], X[own].mean(axis=0)[::-1])
        np.testing.assert_allclose(data.covariances[k], np.cov(X[own, ::-1].T, bias=True))


def test_numbers_as_labels_keep_their_order_and_their_names():
    X = three_groups(40)
    labels = np.where(X[:, 1] > 450, 7, np.where(X[:, 1] > 200, 3, -1))
    for given in (labels, labels.tolist(), np.where(labels < 0, np.nan, labels)):
        data = clusters_data(X, labels=given)
        assert data.names == ("3", "7")
        np.testing.assert_array_equal(np.array([3, 7, -1])[data.labels], labels[data.positions])


@full
def test_a_mixture_can_be_coloured_by_other_labels_than_its_own():
    X = three_groups()
    model = quick(draws=10).fit(X, sample_weight=np.arange(90) % 3)
    other = np.arange(90) % 2
    data = clusters_data(model, labels=other)
    assert data.sizes.tolist() == [45, 45]
    own = other == 1
    np.testing.assert_allclose(data.means[1], np.average(X[own], axis=0, weights=(np.arange(90) % 3)[own]))


@pytest.mark.parametrize("n", [1, 40, 6000])
def test_rows_of_one_column_are_all_counted(n):
    cells = np.random.default_rng(n).normal(size=n)
    labels = np.where(cells > 0.5, "b", np.where(cells < -1.0, None, "a"))
    data = clusters_data(cells, labels=labels)
    edges, counts = data.histogram()
    assert counts.sum() == n
    assert len(edges) - 1 == np.clip(np.ceil(3 * n ** (1 / 3)), 15, 60)
    inside = (cells[:, None] >= edges[:-1]) & ((cells[:, None] < edges[1:]) | (edges[1:] == edges[-1]))
    for name, count in zip([*data.names, None], counts):
        np.testing.assert_array_equal(count, inside[labels == name].sum(axis=0))


def test_whole_numbers_have_a_bar_each():
    edges, counts = clusters_data(pd.Series([2, 2, 3, 6], name="visits"), labels=[0, 1, 1, 1]).histogram()
    np.testing.assert_array_equal(edges, [1.5, 2.5, 3.5, 4.5, 5.5, 6.5])
    assert counts.tolist() == [[1, 0, 0, 0, 0], [1, 1, 0, 0, 1], [0, 0, 0, 0, 0]]


def test_bars_stand_on_each_other_and_are_named():
    series = pd.Series([1.0, 1.1, 1.2, 5.0, 5.1], name="size")
    ax = clusters(series, labels=["few", "few", "few", "many", -1])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("size", "rows")
    assert ax.get_title("left") == "5 rows, 2 groups (1 not labelled)"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["few", "many", "not labelled"]
    tops = [(bar.get_y(), bar.get_height()) for bar in ax.patches if bar.get_height()]
    assert tops == [(0, 3), (0, 1), (1, 1)]
    assert to_rgb(ax.patches[0].get_facecolor()) == pytest.approx(cluster_colors()[0])
    ax.figure.draw_without_rendering()


def test_points_that_are_not_labelled_are_grey_and_underneath():
    X = three_groups(30)
    labels = np.arange(30) % 3 - 1
    ax = clusters(X, labels=labels)
    colors = ax.collections[0].get_facecolors()[:, :3]
    grey = np.abs(colors - 0.8).max(axis=1) < 0.01
    assert grey.tolist() == [True] * 10 + [False] * 20
    assert [text.get_text() for text in ax.texts] == ["0", "1"]
    assert ax.get_title("left") == "30 rows, 2 groups (10 not labelled)"
    assert len(ax.lines) == 2
    plain = clusters(X, labels=labels, ellipses=False)
    assert (len(plain.lines), len(plain.texts)) == (0, 2)


def test_labels_of_another_length_are_refused():
    with pytest.raises(ValueError, match="labels must be one per object, 30, in the same order; got 29"):
        clusters(three_groups(30), labels=np.zeros(29, int))
