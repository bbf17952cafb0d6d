"""What fit learned survives JSON and is applied to new rows without guessing."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita.table import Column, Schema, Table

FRAME = pd.DataFrame(
    {
        "height": [1.0, 2.0, 4.0],
        "city": ["Rome", "Oslo", "Oslo"],
        "zip": [10, 20, 10],
        "member": [True, False, True],
        "visits": [0, 2, 5],
        "dose": [1.5, 2.0, 1.5],
    }
)
KINDS = {"zip": "categorical", "visits": "count", "dose": "categorical"}


def levels_with_types(schema):
    return [[(type(level), level) for level in column.levels] for column in schema.columns]


def test_json_round_trip_keeps_types():
    schema = Table.read(FRAME, column_types=KINDS).schema
    back = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert back == schema
    assert levels_with_types(back) == levels_with_types(schema)
    assert levels_with_types(schema)[2:4] == [[(int, 10), (int, 20)], [(bool, False), (bool, True)]]


def test_json_round_trip_with_dropped_columns():
    frame = FRAME.assign(same=7, none=np.nan, word="w")
    with pytest.warns(UserWarning, match="Dropped (2 constant columns|1 column without any value)"):
        schema = Table.read(frame).schema
    text = json.dumps(schema.to_dict(), allow_nan=False)
    assert Schema.from_dict(json.loads(text)) == schema
    assert schema.dropped == ("same", "none", "word")


def test_columns_by_kind():
    schema = Table.read(FRAME, column_types=KINDS).schema
    assert [c.name for c in schema.numeric] == ["height"]
    assert [c.name for c in schema.categorical] == ["city", "zip", "member", "dose"]
    assert [c.name for c in schema.counts] == ["visits"]
    assert schema.n_levels.dtype == np.int64
    np.testing.assert_array_equal(schema.n_levels, [2, 2, 2, 2])
    empty = Table.read(pd.DataFrame({"a": [1.0], "e": pd.Categorical([None])})).schema
    np.testing.assert_array_equal(empty.n_levels, [1])


def test_schema_and_column_are_frozen():
    column = Column("a", "numeric")
    with pytest.raises(AttributeError):
        column.scale = 2.0
    with pytest.raises(AttributeError):
        Schema((column,)).dropped = ("a",)


def test_applying_the_schema_to_the_same_rows_gives_the_same_table():
    table = Table.read(FRAME, column_types=KINDS)
    for X in (FRAME, pl.from_pandas(FRAME), FRAME[FRAME.columns[::-1]], FRAME.to_numpy()):
        again = Table.read(X, schema=table.schema)
        assert again.fingerprint() == table.fingerprint()
    np.testing.assert_array_equal(Table.read(FRAME[1:], schema=table.schema).numeric, table.numeric[1:])


def test_new_rows_are_measured_in_the_units_of_fit():
    table = Table.read(np.array([[1.0], [3.0]]))
    np.testing.assert_array_equal(Table.read([[5.0], [None]], schema=table.schema).numeric, [[3.0], [np.nan]])


def test_a_frame_meets_a_schema_of_an_array_by_position():
    table = Table.read(np.array([[1.0, 0.0], [3.0, 1.0]]))
    frame = pd.DataFrame({"b": [5.0], "a": [0.5]})
    np.testing.assert_array_equal(Table.read(frame, schema=table.schema).numeric, [[3.0, 0.0]])
    swapped = pd.DataFrame({"x1": [0.5], "x0": [5.0]})
    np.testing.assert_array_equal(Table.read(swapped, schema=table.schema).numeric, [[3.0, 0.0]])


def test_unseen_categories_are_refused():
    schema = Table.read(FRAME, column_types=KINDS).schema
    cities = ["Bonn", "Oslo", "Bonn", "Nice", "Bonn"]
    new = pd.DataFrame({name: [FRAME[name][0]] * 5 for name in FRAME}).assign(city=cities)
    expected = (
        r"Column 'city' has 2 values not seen in fit: 'Bonn', 'Nice' \(rows 0, 2, 3 and 1 more\)\."
        r".*leave the cell empty: missing cells are fine"
    )
    with pytest.raises(ValueError, match=expected):
        Table.read(new, schema=schema, unseen="error")
    new["city"] = [None, "Oslo", "", "Oslo", "Rome"]
    np.testing.assert_array_equal(Table.read(new, schema=schema).codes[:, 0], [-1, 0, -1, 0, 1])


def test_nothing_is_guessed():
    schema = Table.read(FRAME, column_types=KINDS).schema
    with pytest.raises(ValueError, match="Column 'zip' has 2 values not seen in fit: '010', '2e1'"):
        Table.read(FRAME.assign(zip=["010", "20", "2e1"]), schema=schema, unseen="error")
    with pytest.raises(ValueError, match="Column 'height' is to hold numbers, but row 0 holds the text '1'"):
        Table.read(FRAME.assign(height=["1", "2", "4"]), schema=schema)
    floats = Table.read(FRAME.assign(zip=[10.0, 20.0, np.nan]), schema=schema)
    np.testing.assert_array_equal(floats.codes[:, 1], [0, 1, -1])


def test_columns_must_be_those_of_fit():
    schema = Table.read(FRAME, column_types=KINDS).schema
    with pytest.raises(ValueError, match=r"X has 5 columns, but 6 were seen in fit.*missing: 'city'"):
        Table.read(FRAME.drop(columns="city"), schema=schema)
    with pytest.raises(ValueError, match=r"X has 5 columns, but 6 .*\(missing: 'city', 'zip'; not seen in fit: 'more'"):
        Table.read(FRAME.drop(columns=["city", "zip"]).assign(more=1), schema=schema)
    with pytest.raises(ValueError, match=r"X lacks columns seen in fit: 'city'\. Pass all columns of fit"):
        Table.read(FRAME.rename(columns={"city": "town"}), schema=schema)
    with pytest.raises(ValueError, match="X has 5 columns, but 6"):
        Table.read(FRAME.to_numpy()[:, :5], schema=schema)


def test_dropped_columns_are_not_looked_at_again():
    with pytest.warns(UserWarning, match="'same'"):
        table = Table.read(pd.DataFrame({"a": [1.0, 3.0], "same": [7, 7]}))
    new = Table.read(pd.DataFrame({"a": [1.0], "same": ["anything"]}), schema=table.schema)
    np.testing.assert_array_equal(new.numeric, [[-1.0]])


def test_rows_without_any_cell_can_be_predicted():
    schema = Table.read(FRAME, column_types=KINDS).schema
    empty = pd.DataFrame({name: [None] for name in FRAME})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = Table.read(empty, schema=schema)
    assert np.isnan(table.numeric).all()
    assert (table.codes == -1).all()
    assert (table.counts == -1).all()
