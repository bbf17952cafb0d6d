"""Columns that number or name the rows, and rows that say nothing, are warned of once; told columns are not."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita.table import Table

N = 12
MEASURED = np.random.default_rng(1).normal(size=N)
NAMES = [f"person {i}" for i in range(N)]
ORDER = np.random.default_rng(2).permutation(N)


def warned(frame, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Table.read(frame, **options)
    return [str(w.message) for w in caught]


COMMAND = "(command line: --ignore, or --id to name the rows by it)"
ONE = f"Column 'id' looks like an identifier: every value differs. Leave it out {COMMAND}, or it will blur the groups."


@pytest.mark.parametrize(
    "cells",
    [
        np.arange(N),
        np.arange(N) + 1.0,
        ORDER - 5,
        ORDER * 1.0,
        np.where(np.arange(N) < N - 1, np.arange(N), np.nan),
        NAMES,
        [*NAMES[1:], None],
        pd.Categorical(NAMES),
    ],
    ids=[
        "counted",
        "whole floats",
        "in any order",
        "floats in any order",
        "gap",
        "names",
        "names gap",
        "categorical",
    ],
)
def test_a_column_that_numbers_or_names_the_rows(cells):
    assert warned(pd.DataFrame({"x": MEASURED, "id": cells})) == [ONE]


@pytest.mark.parametrize(
    "cells",
    [
        np.arange(N) * 2,
        np.arange(N) + 0.5,
        np.append(np.arange(N - 1), 0),
        np.append(np.arange(N - 1), N),
        NAMES[: N - 1] + NAMES[:1],
        [*NAMES[:9], None, None, None],
        np.arange(N) % 2 == 0,
    ],
    ids=["even", "halves", "one twice", "a jump", "a name twice", "nine names", "truth values"],
)
def test_other_columns_are_not_suspected(cells):
    assert warned(pd.DataFrame({"x": MEASURED, "id": cells})) == []


def test_fewer_than_ten_rows_and_told_columns_are_not_suspected():
    frame = pd.DataFrame({"x": MEASURED, "id": np.arange(N), "name": NAMES})
    assert warned(frame[:9]) == []
    assert warned(frame, column_types={"id": "numeric", "name": "categorical"}) == []
    assert warned(frame, column_types={"id": "count"}) == [ONE.replace("'id'", "'name'")]


def test_several_columns_are_named_in_one_warning():
    frame = pl.DataFrame({"x": MEASURED, "id": np.arange(N), "name": NAMES, "place": ORDER})
    assert warned(frame) == [
        "Columns 'id', 'name' and 'place' look like identifiers: every value differs. "
        f"Leave them out {COMMAND}, or they will blur the groups."
    ]


def test_rows_of_weight_zero_are_not_looked_at():
    frame = pd.DataFrame({"x": np.append(MEASURED, 0.0), "id": [*range(N), 3]})
    assert warned(frame) == []
    assert warned(frame, sample_weight=[1] * N + [0]) == [ONE]


def test_applying_a_schema_warns_of_nothing():
    frame = pd.DataFrame({"x": MEASURED, "y": MEASURED})
    schema = Table.read(frame).schema
    new = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20.0)})
    new.loc[3] = np.nan
    assert warned(new, schema=schema) == []


def test_rows_without_any_observed_cell():
    frame = pd.DataFrame({"x": np.append(MEASURED, 1.0), "s": ["u", "v"] * 6 + ["u"], "n": [2, 7] * 6 + [7.0]})
    frame.loc[[4, 9]] = None
    told = {"n": "count"}
    two = "2 rows have no observed cell (rows 4, 9): they get the prior's answer."
    assert warned(frame, column_types=told) == [two]
    assert warned(frame[:9], column_types=told) == ["1 row has no observed cell (row 4): it gets the prior's answer."]
    with pytest.warns(UserWarning, match="2 rows"):
        table = Table.read(frame, column_types=told)
    assert table.empty_rows.dtype == bool
    assert np.flatnonzero(table.empty_rows).tolist() == [4, 9]
    frame.loc[4, "s"], frame.loc[9, "n"] = "v", 2
    assert not Table.read(frame, column_types=told).empty_rows.any()


def test_dropped_columns_do_not_make_a_row_observed():
    frame = pd.DataFrame({"x": [1.0, np.nan, 3.0], "same": [5.0, 5.0, 5.0]})
    assert warned(frame)[1:] == ["1 row has no observed cell (row 1): it gets the prior's answer."]


def test_columns_of_text_that_hardly_repeat():
    cells = [f"about {x}" for x in range(40)]
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=40), "share": [*cells[:39], cells[0]]})
    assert warned(frame) == [
        "Column 'share' has 39 different values in 40 cells: as categories they say little. Write numbers and dates in "
        "one way in all cells, or leave the column out (command line: --ignore)."
    ]
    assert warned(frame, column_types={"share": "categorical"}) == []
    assert warned(frame[:29].assign(share=[*cells[:28], cells[0]])) == []
    assert warned(frame.assign(share=[cells[i // 2] for i in range(40)])) == []
