"""What both selectors are: transformers that choose columns, and that refuse in sentences."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.selection.tables import affinities, grouped, standard

from partita.selection import MCFS, NDFS
from partita.selection.selector import nearest_graph

SELECTORS = pytest.mark.parametrize("selector", [MCFS, NDFS])


def fitted(selector, X, **options):
    seed = {"random_state": 0} if selector is NDFS else {}
    return selector(**{"n_features_to_select": 3, "n_clusters": 3} | seed | options).fit(X)


@pytest.mark.parametrize("n_neighbors", [1, 5, 119])
def test_neighbours_are_others(n_neighbors):
    x = standard(grouped()[0])
    graph = nearest_graph(x, n_neighbors)
    np.testing.assert_array_equal(graph.toarray(), affinities(x, n_neighbors))
    assert graph.diagonal().sum() == 0.0


def test_equal_rows_are_neighbours_of_each_other_and_not_of_themselves():
    x = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    graph = nearest_graph(x, 3).toarray()
    np.testing.assert_array_equal(graph, np.kron(np.eye(3), np.ones((4, 4))) - np.eye(12))


@SELECTORS
def test_the_columns_of_the_highest_scores_are_selected(selector):
    X, _ = grouped(apart=3.0)
    for asked, n_chosen in ((1, 1), (4, 4), (9, 9), (0.5, 4), (1.0, 9), (0.01, 1)):
        model = fitted(selector, X, n_features_to_select=asked)
        assert model.get_support().sum() == n_chosen
        assert model.scores_[model.support_].min() >= model.scores_[~model.support_].max(initial=0.0)
        np.testing.assert_array_equal(model.transform(X), X[:, model.support_])
        np.testing.assert_array_equal(model.get_support(indices=True), np.flatnonzero(model.support_))


@SELECTORS
def test_neither_offsets_nor_units_nor_the_order_of_columns_changes_scores(selector):
    X, _ = grouped(apart=8.0)
    scores = fitted(selector, X).scores_
    units, offsets = np.random.default_rng(0).uniform(0.01, 1000.0, (2, X.shape[1]))
    np.testing.assert_allclose(fitted(selector, X * units + offsets).scores_, scores, atol=1e-8)
    order = np.random.default_rng(1).permutation(X.shape[1])
    np.testing.assert_allclose(fitted(selector, X[:, order]).scores_, scores[order], atol=1e-8)


@SELECTORS
@pytest.mark.parametrize("scale", [1e-160, 1e290])
def test_tiny_and_huge_cells_are_cells(selector, scale):
    X, _ = grouped(apart=8.0)
    np.testing.assert_allclose(fitted(selector, X * scale).scores_, fitted(selector, X).scores_, atol=1e-8)


@SELECTORS
def test_constant_columns_are_never_selected(selector):
    X, _ = grouped(n_noise=1)
    wide = np.c_[np.full(len(X), 0.1), X, np.full(len(X), 7.0)]
    model, plain = fitted(selector, wide, n_features_to_select=1.0), fitted(selector, X)
    np.testing.assert_array_equal(model.get_support(), [False, True, True, True, True, False])
    np.testing.assert_array_equal(fitted(selector, wide).scores_, [0.0, *plain.scores_, 0.0])
    with pytest.raises(ValueError, match="whole number from 1 to 4, the columns that vary, got 5"):
        fitted(selector, wide, n_features_to_select=5)
    with pytest.raises(ValueError, match="Every column of X is constant: there is none to select"):
        fitted(selector, np.ones((20, 2)))


@SELECTORS
def test_frames_keep_their_names(selector):
    X, _ = grouped(n_noise=2)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "e"])
    model = fitted(selector, frame)
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    np.testing.assert_array_equal(model.get_feature_names_out(), ["a", "b", "c"])
    pd.testing.assert_frame_equal(model.set_output(transform="pandas").transform(frame), frame[["a", "b", "c"]])


@SELECTORS
def test_gaps_are_refused_by_name(selector):
    X, _ = grouped(n_noise=2)
    X[4, 3] = np.nan
    with pytest.raises(
        ValueError, match=r"Column 3 has 1 missing or infinite cell \(NaN or inf; row 4\). [MN]\w+ needs"
    ):
        fitted(selector, X)
    X[[7, 9, 11], [3, 3, 4]] = np.inf
    frame = pd.DataFrame(X, columns=["a", "b", "c", "income", "e"])
    with pytest.raises(ValueError, match=r"'income' has 3 missing .* rows 4, 7, 9\), and so have 1 other column\. "):
        fitted(selector, frame)


@SELECTORS
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1, got 0"),
        ({"n_clusters": 2.0}, "n_clusters must be a whole number"),
        ({"n_clusters": 20}, "n_clusters must be a whole number from 1 to 19, of 20 rows, got 20"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1, got 0"),
        ({"n_neighbors": True}, "n_neighbors must be a whole number"),
        ({"n_neighbors": 25}, "n_neighbors must be a whole number from 1 to 19, of 20 rows, got 25"),
        (
            {"n_features_to_select": 10},
            "a share in .0, 1. or a whole number from 1 to 9, the columns that vary, got 10",
        ),
        ({"n_features_to_select": 0}, "whole number from 1 to 9"),
        ({"n_features_to_select": 1.5}, "a share in .0, 1. or a whole number from 1 to 9, got 1.5"),
        ({"n_features_to_select": "all"}, "a share in .0, 1."),
    ],
)
def test_wrong_options_are_refused(selector, options, words):
    with pytest.raises(ValueError, match=words):
        fitted(selector, grouped(n=20)[0], **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 0.0}, "alpha must be a positive number, got 0.0"),
        ({"beta": -1.0}, "beta must be a positive number, got -1.0"),
        ({"gamma": np.nan}, "gamma must be a positive number, got nan"),
        ({"tol": -1e-3}, "tol must be a number of at least 0, got -0.001"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
        ({"random_state": "x"}, "random_state must be None"),
    ],
)
def test_wrong_options_of_ndfs_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        fitted(NDFS, grouped(n=20)[0], **options)


@SELECTORS
@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([["red"], ["blue"], ["red"], ["red"]], "needs numbers; partita.CRAFT takes categories"),
        ([[1e301], [0.0], [1.0], [2.0]], "beyond 1e.300, and their differences too large"),
        ([[1.0], [2.0]], r"2 sample\(s\)"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(selector, X, words):
    with pytest.raises(ValueError, match=words):
        fitted(selector, X, n_features_to_select=1, n_clusters=2, n_neighbors=1)


@parametrize_with_checks([MCFS(n_features_to_select=0.5, n_clusters=2), NDFS(n_features_to_select=0.5, n_clusters=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
