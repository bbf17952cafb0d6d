"""Methods side by side as a picture: the frame's numbers, their order, and what could not run."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure

from partita.consensus import EvidenceAccumulation, compare
from partita.plots import consensus_methods, consensus_methods_data

NOT_KNOWN = ("adjusted_rand", "nmi", "f1", "f1_as_printed")


def frame(**columns):
    """Four methods, one of which could not run."""
    return pd.DataFrame(
        {
            "method": ["worst", "broken", "best", "middle"],
            "n_clusters": [2.0, math.nan, 5.0, 3.0],
            "told": [True, True, False, True],
            "adjusted_rand": [-0.1, math.nan, 0.9, 0.5],
            "nmi": [0.1, math.nan, 0.9, 0.5],
            "f1": [0.1, math.nan, 0.9, 0.5],
            "f1_as_printed": [0.1, math.nan, 0.9, 0.5],
            "agreement": [0.8, math.nan, 0.4, 0.6],
            "seconds": [0.004, math.nan, 1234.5, 9.99],
            "megabytes": [math.nan, math.nan, 20.4, 1000.0],
            "note": ["", "It has no luck.", "", ""],
        }
        | columns
    )


def texts(ax):
    return {(round(text.get_position()[0], 2), text.get_position()[1]): text.get_text() for text in ax.texts}


def test_lines_are_ordered_by_the_truth_and_what_could_not_run_is_last():
    data = consensus_methods_data(frame())
    assert data.methods == ("best", "middle", "worst", "broken")
    assert data.adjusted_rand[:3].tolist() == [0.9, 0.5, -0.1]
    assert data.agreement[:3].tolist() == [0.4, 0.6, 0.8]
    assert data.told.tolist() == [False, True, True, True]
    assert data.ran.tolist() == [True, True, True, False]
    assert data.notes[-1] == "It has no luck."


def test_without_the_truth_agreement_orders_them():
    data = consensus_methods_data(frame().drop(columns=list(NOT_KNOWN)))
    assert data.methods == ("worst", "middle", "best", "broken")
    assert data.adjusted_rand is None
    assert data.scores is data.agreement


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_of_compare_from_any_library(library):
    halves = np.repeat([0, 1], 10)
    labels = library.DataFrame({"a": halves, "b": 1 - halves})
    compared = compare(labels, halves, ["hbgf", "eac"], n_clusters=2)
    data = consensus_methods_data(compared)
    assert data.methods == ("hbgf", "eac")
    np.testing.assert_array_equal(data.adjusted_rand, [1.0, 1.0])


def test_dots_diamonds_and_columns_of_numbers():
    given = Figure().subplots()
    ax = consensus_methods(frame(), ax=given)
    assert ax is given
    assert [label.get_text() for label in ax.get_yticklabels()] == ["best", "middle", "worst", "broken"]
    dots, diamonds = (points.get_offsets() for points in ax.collections if len(points.get_offsets()) == 3)
    np.testing.assert_allclose(dots, [[0.9, 0], [0.5, 1], [-0.1, 2]])
    np.testing.assert_allclose(diamonds, [[0.4, 0], [0.6, 1], [0.8, 2]])
    words = texts(ax)
    assert [words[1.22, y] for y in range(3)] == ["5", "(3)", "(2)"]
    assert [words[1.42, y] for y in range(3)] == ["1,234", "9.99", "0.00"]
    assert [words[1.56, y] for y in range(3)] == ["20", "1,000", "-"]
    assert words[0.0, 3] == "could not run: It has no luck."
    low, high = ax.get_xlim()
    assert low < -0.1
    assert high > 1.56
    ax.figure.draw_without_rendering()


def test_long_names_and_reasons_are_cut():
    long_one = repr(EvidenceAccumulation(n_clusters=4, linkage="complete", random_state=12345))
    shown = frame(method=[long_one, "broken", "b", "c"], note=["", "Why not? " * 20, "", ""])
    ax = consensus_methods(shown)
    assert max(len(label.get_text()) for label in ax.get_yticklabels()) <= 36
    assert max(len(words) for words in texts(ax).values()) <= 72


@pytest.mark.parametrize(
    ("columns", "title"),
    [
        ({}, "best comes nearest to the truth: adjusted Rand index 0.90"),
        ({"adjusted_rand": [0.9, math.nan, 0.9, 0.5]}, "worst and 1 more come nearest to the truth: adjusted"),
        ({name: [math.nan] * 4 for name in ("n_clusters", "adjusted_rand", "agreement")}, "No method could run"),
    ],
)
def test_the_title_names_the_best(columns, title):
    ax = consensus_methods(frame(**columns))
    assert ax.get_title("left").startswith(title)
    ax.figure.draw_without_rendering()


def test_titles_without_the_truth():
    shown = frame().drop(columns=list(NOT_KNOWN))
    assert consensus_methods(shown).get_title("left") == "worst agrees most with the base clusterings: 0.80"
    nothing = shown.assign(agreement=math.nan)
    assert consensus_methods(nothing).get_title("left") == "The base clusterings tell no objects apart"


def test_another_frame_is_refused():
    with pytest.raises(ValueError, match="has no column 'method': pass what partita"):
        consensus_methods_data(pd.DataFrame({"x": [1]}))
