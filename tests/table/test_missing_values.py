"""Values that stand for missing cells: the table is that of the same cells left empty."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from partita.engines.table_reader import TableReader
from partita.table import Column, Schema, Table, read_file
from partita.table.missing_values import missing_pairs

LIBRARIES = pytest.mark.parametrize(
    "library", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
MARKED = {
    "age": [41, -999, 30, 28],
    "size": [1.5, 2.5, -999.0, 3.5],
    "visits": [3, -999, 0, 9],
    "town": ["Ulm", "unknown", "Bonn", " unknown "],
    "member": [True, False, True, False],
    "code": [1, 2, -999, 1],
}
EMPTY = {
    "age": [41, None, 30, 28],
    "size": [1.5, 2.5, None, 3.5],
    "visits": [3, None, 0, 9],
    "town": ["Ulm", None, "Bonn", None],
    "member": [True, False, True, False],
    "code": [1, 2, None, 1],
}
TYPES = {"visits": "count", "code": "categorical"}


def same(one, other):
    assert one.schema.columns == other.schema.columns
    assert one.fingerprint() == other.fingerprint()


@LIBRARIES
@pytest.mark.parametrize(
    "missing",
    [
        [-999, "unknown"],
        ("-999", "unknown"),
        np.array([-999, "unknown"]),
        {None: [-999.0, "unknown"]},
        {"*": -999, "town": "unknown"},
        {("age", "size", "visits", "code"): np.int64(-999), "t*": ["unknown"]},
    ],
    ids=str,
)
def test_marked_cells_are_empty_cells(library, missing):
    table = Table.read(library(MARKED), column_types=TYPES, missing=missing)
    same(table, Table.read(library(EMPTY), column_types=TYPES))
    again = Table.read(library(MARKED), schema=table.schema)
    same(again, table)


def test_in_arrays_and_lists():
    numbers = np.array([[1.0, -9.0], [2.0, 4.0], [-9.0, 5.0]])
    same(Table.read(numbers, missing=-9), Table.read(np.where(numbers == -9, np.nan, numbers)))
    whole = numbers.astype(int)
    table = Table.read(whole, missing={1: -9})
    np.testing.assert_array_equal(np.isnan(table.numeric), [[False, True], [False, False], [False, False]])
    rows = [[1, "a"], ["none yet", "b"], [3, "none yet"]]
    same(Table.read(rows, missing="none yet"), Table.read([[1, "a"], [None, "b"], [3, None]]))
    words = np.array([["a", "x"], ["?", "y"], ["b", "?"]])
    same(Table.read(words, missing="?"), Table.read(np.where(words == "?", "", words)))


def test_a_word_among_numbers_leaves_them_numbers(tmp_path):
    """In a frame of objects, and in a file also where its cells are told to be numbers or not."""
    frame = pd.DataFrame({"x": [1.5, "unknown", 2.5], "y": [1, 2, 4]})
    filled = frame.assign(x=[1.5, None, 2.5])
    same(Table.read(frame, missing="unknown"), Table.read(filled.astype(float)))
    frame.to_csv(tmp_path / "t.csv", index=False)
    read = Table.read(tmp_path / "t.csv", missing="unknown")
    same(read, Table.read(filled.astype(float)))
    same(Table.read(tmp_path / "t.csv", schema=read.schema), read)
    assert read_file(tmp_path / "t.csv", missing={"x": ["unknown"]}).to_pydict()["x"] == [1.5, None, 2.5]


def test_numbers_in_files_are_compared_as_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;id\n1,5;x;-999\n-999,0;y;1\n-999;-999;2\n2,5;x;3\n")
    read = read_file(tmp_path / "t.csv", missing=-999, text=("id",))
    assert read.column("id").to_pylist() == ["-999", "1", "2", "3"]  # what is to stay text stays
    table = Table.read(tmp_path / "t.csv", missing=-999, column_types={"id": "categorical"})
    np.testing.assert_array_equal(np.isnan(table.numeric[:, 0]), [False, True, True, False])
    np.testing.assert_array_equal(table.codes, [[0, -1], [1, 0], [-1, 1], [0, 2]])


def test_truth_values_and_numbers_near_the_mark_stay():
    frame = pd.DataFrame({"flag": [True, False, True], "big": [2**60, 2**60 + 1, -1], "x": [0.1, 1.0, 1.0000001]})
    table = Table.read(frame, missing=[1, -1], column_types={"big": "categorical"})
    np.testing.assert_array_equal(table.codes, [[1, 0], [0, 1], [1, -1]])
    np.testing.assert_array_equal(np.isnan(table.numeric[:, 0]), [False, True, False])
    assert table.schema.columns[1].levels == (2**60, 2**60 + 1)


def test_the_schema_keeps_what_is_missing():
    missing = {"a*": -999, None: "unknown", "visits": [7, -999]}
    table = Table.read(pd.DataFrame(MARKED), column_types=TYPES, missing=missing)
    pairs = (("age", -999), (None, "unknown"), ("visits", 7), ("visits", -999))
    assert table.schema.missing == pairs
    content = table.schema.to_dict()
    assert Schema.from_dict(json.loads(json.dumps(content))) == table.schema
    assert "missing" not in Table.read(pd.DataFrame(EMPTY)).schema.to_dict()
    assert "missing" in content
    old = {name: value for name, value in content.items() if name != "missing"}
    assert Schema.from_dict(old).missing == ()


def test_one_column_alone_is_read_as_in_the_table():
    table = Table.read(pd.DataFrame(MARKED), column_types=TYPES, missing={("age", "visits"): -999, None: "unknown"})
    reader = TableReader(table.schema)
    np.testing.assert_array_equal(np.isnan(reader.read_column(MARKED["age"], 0).numeric[:, 0]), [0, 1, 0, 0])
    np.testing.assert_array_equal(reader.read_column(MARKED["town"], 3).codes[:, 0], table.codes[:, 0])


@pytest.mark.parametrize(
    ("missing", "error", "words"),
    [
        (True, TypeError, "missing must be text, a finite number, a list of these, or a mapping.*got True"),
        ([-9, None], TypeError, "got None"),
        (float("nan"), TypeError, "got nan"),
        ({"age": [[1]]}, TypeError, r"got \[1\]"),
        ({"agee": -9}, ValueError, "missing names 'agee', which is no column of X. Did you mean 'age'"),
        ({"q*": -9}, ValueError, r"missing names 'q\*', a pattern that fits no column of X"),
    ],
)
def test_what_cannot_stand_for_a_missing_cell(missing, error, words):
    with pytest.raises(error, match=words):
        Table.read(pd.DataFrame(EMPTY), missing=missing)


def test_a_table_has_its_missing_cells():
    with pytest.raises(ValueError, match=r"X is a Table, whose columns are read already: give missing to Table.read"):
        Table.read(Table.read(pd.DataFrame(EMPTY)), missing=-9)


def test_schemas_refuse_what_is_not_theirs():
    column = Column("a", "numeric")
    with pytest.raises(ValueError, match="missing values of 'b', which is no column"):
        Schema((column,), missing=(("b", 1),))
    with pytest.raises(TypeError, match="must be text or a finite number, got True"):
        Schema((column,), missing=((None, True),))


def test_values_are_kept_once_and_in_order():
    assert missing_pairs([-9, -9.0, "x", "x"], ()) == ((None, -9), (None, "x"))
    assert missing_pairs(None, ()) == missing_pairs([], ()) == ()


@pytest.mark.parametrize("mark", ["-999", "-999%"])
def test_numbers_that_were_text_may_stand_for_missing_cells(mark):
    share = [f"{x}%" for x in np.random.default_rng(0).integers(0, 100, 60)]
    share[7] = mark if mark.endswith("%") else f"{mark}%"
    with pytest.warns(UserWarning, match="Text was read as numbers"):
        table = Table.read(pd.DataFrame({"share": share, "size": [0.5, 1.5] * 30}), missing=-999)
    assert np.flatnonzero(np.isnan(table.numeric[:, 0])).tolist() == [7]
