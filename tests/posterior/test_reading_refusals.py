"""Draws that cannot be used: what, where, and what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from partita.posterior import Posterior


@pytest.mark.parametrize(
    ("draws", "words"),
    [
        ([[0, 1], [0, 1], [0]], "Draw 2 has 1 label and draw 0 has 2: all need as many. Give None to"),
        ([np.arange(2), np.arange(3)], "Draw 1 has 3 labels and draw 0 has 2"),
        ([[[0, 1], [0, 1]], [[0, 1]]], r"Chain 1 has 1 draw and chain 0 has 2: all need as many\.$"),
        ([[0, 1], [0, 1.5]], r"The label at draw 1, object 1 \(counted from 0\) is 1.5: labels that are .* whole"),
        (np.array([[[0.0, 1.0]], [[0.25, 1.0]]]), r"The label at chain 1, draw 0, object 0 .* is 0.25: .* whole"),
        ([["a", 1.5]], "The label at draw 0, object 1 .* is 1.5: .* not measurements"),
        ([[0, np.inf]], "The label at draw 0, object 1 .* is inf: .* must be whole"),
        ([["a", np.inf]], "The label at draw 0, object 1 .* is inf: .* must be whole"),
        (pd.DataFrame({"a": [0.0, 1.5], "b": ["x", "y"]}), "The label at draw 1, object 0 .* is 1.5"),
        ([[0, 1], [-2, 0]], r"draw 1, object 0 .* is -2: numbers must be 0 or more \(-1, None and nan mean not"),
        (np.array([[0.0, -3.0]]), "draw 0, object 1 .* is -3.0: numbers must be 0 or more"),
        ([["a", -2]], "draw 0, object 1 .* is -2: numbers must be 0 or more"),
        ([], r"There is no draw: .*; got shape \(0, 0\)"),
        ([[], []], r"There is no object: .*; got shape \(2, 0\)"),
        (np.zeros((0, 3), int), "There is no draw"),
        (np.zeros((2, 0, 3), int), "There is no draw"),
        (pd.DataFrame(), "There is no draw"),
        (pd.DataFrame({"a": []}), "There is no draw"),
        ([[None, -1], [np.nan, -1]], "No draw labels any object: all labels are missing"),
        (np.full((2, 2), -1), "No draw labels any object"),
        (np.zeros(3, int), r"got shape \(3,\)\. Pass \[labels\] for one draw"),
        (np.zeros((1, 1, 1, 1), int), r"one row per draw and one column per object.*got shape \(1, 1, 1, 1\)\.$"),
        (pd.DataFrame([[0, 1]], columns=["a", "a"]), "Column names must differ, but these repeat: 'a'"),
        (pa.table([[0], [1]], names=["a", "a"]), "Column names must differ, but these repeat: 'a'"),
        (pd.DataFrame({"": [4, 4], "a": [0, 0]}), "first column has no name and does not count the draws: name it"),
    ],
)
def test_values(draws, words):
    with pytest.raises(ValueError, match=words):
        Posterior.from_draws(draws)


@pytest.mark.parametrize(
    ("draws", "words"),
    [
        ([0, 0, 1], r"Draw 0 is a single int: .*Pass \[labels\] for one draw"),
        (["aab", "abb"], "Draw 0 is a single str"),
        ([[{}, 0]], "The label at draw 0, object 0 .* is a dict, which cannot be a label"),
        ([[0, 1], [0, [1]]], "The label at draw 1, object 1 .* is a list"),
        ({"z": [[0, 1]]}, r"draws is a dict, not labels: .*trace.posterior\['z'\]"),
        ({0, 1}, "draws is a set, not labels"),
        (iter([[0, 1]]), "draws is a list_iterator: pass an array, a list of labelings, a frame or a path"),
        (None, "draws is a NoneType"),
        (csr_array(np.eye(2)), r"sparse matrix.*toarray"),
        (pl.LazyFrame({"a": [0]}), r"lazy frame: pass draws.collect\(\)"),
    ],
)
def test_types(draws, words):
    with pytest.raises(TypeError, match=words):
        Posterior.from_draws(draws)


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        ([1, 1], ValueError, r"one entry per draw, shape \(3,\); got \(2,\)"),
        ([1, 1, -0.5], ValueError, "The weight of draw 2 is -0.5: .* non-negative"),
        ([1, np.nan, 1], ValueError, "The weight of draw 1 is nan: .* finite"),
        ([np.inf, 1, 1], ValueError, "The weight of draw 0 is inf"),
        ([0, 0, 0], ValueError, "weights are all 0: at least one draw needs a positive weight"),
        (["a", 1, 1], TypeError, "weights must be numbers, one per draw"),
    ],
)
def test_weights(weights, error, words):
    with pytest.raises(error, match=words):
        Posterior.from_draws([[0, 1], [0, 0], [1, 0]], weights=weights)


def test_objects_that_no_draw_labels_are_named():
    draws = np.zeros((2, 7), int)
    draws[:, [1, 3, 4, 6]] = -1
    with pytest.warns(UserWarning, match=r"4 objects are labelled in no draw \(1, 3, 4 and 1 more\): the estimate"):
        assert Posterior.from_draws(draws).estimate().labels.tolist() == [0, -1, 0, -1, -1, 0, -1]
    with pytest.warns(UserWarning, match=r"1 object is labelled in no draw \('late'\): the estimate leaves it"):
        Posterior.from_draws(pd.DataFrame({"early": [0, 1], "late": [-1, None]}))


def test_draws_that_label_nothing_are_named():
    with pytest.warns(UserWarning, match=r"1 draw labels no object \(1\): it says nothing"):
        Posterior.from_draws([[0, 1], [None, -1]])


def test_text_that_looks_like_no_label_is_warned_of():
    with pytest.warns(UserWarning, match="The text '', '-1' is taken as a label like any other: the number -1, None"):
        assert Posterior.from_draws([["a", "", "-1"]]).n_clusters() == {3: 1.0}
