"""Rows that occur many times are named where that is no matter of course."""

import warnings

import numpy as np
import pandas as pd

from partita.table import Table


def said_of(X, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Table.read(X, **options)
    return [str(warning.message) for warning in caught if "copies" in str(warning.message)]


def measured(n=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def test_copies_are_counted_in_one_line():
    rows = np.repeat(measured(), [200, 100, 50, 50, 20], axis=0)
    assert said_of(np.vstack([measured(80, seed=1), rows])) == [
        "420 of 500 rows are copies of 5 rows (row 80 occurs 200 times). If a join or an export made them, keep one of "
        "each: every copy counts as an observation of its own."
    ]
    assert said_of(np.repeat(np.round(measured(60) * 100), 10, axis=0)) != []  # whole numbers of many values


def test_what_repeats_by_nature_is_left_alone():
    rng = np.random.default_rng(0)
    answers = rng.integers(1, 4, (500, 2))
    tables = [
        answers,
        pd.DataFrame(answers).astype(str),
        pd.DataFrame({"stars": rng.choice([0.5, 1.5, 2.5], 500), "town": rng.choice(["Ulm", "Bonn"], 500)}),
        np.round(rng.normal(size=(500, 1)), 1),  # one column
        np.repeat(measured(50), 9, axis=0),
        np.vstack([measured(100), np.repeat(measured(1, seed=2), 90, axis=0)]),
        np.full((60, 2), 1.5),
    ]
    assert [said_of(table) for table in tables] == [[]] * len(tables)


def test_rows_of_weight_0_and_empty_rows_are_no_copies():
    rows = np.vstack([measured(30), np.repeat(measured(1, seed=2), 40, axis=0)])
    assert len(said_of(rows)) == 1
    assert said_of(rows, sample_weight=[1] * 31 + [0] * 39) == []
    rows[30:] = np.nan
    assert said_of(rows) == []
