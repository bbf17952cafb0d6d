"""Tables that once ended in another error than one in words, or in none at all: each in its smallest form."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.volumes import long, short_and_long

from partita import Mixture, Posterior
from partita.consensus.label_table import label_table
from partita.families.algebra.distributions import NegativeBinomial
from partita.table import Column, Schema, Table, read_file

READERS = (Table.read, Posterior.from_draws, label_table)
NOT_UTF8 = pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff", b"a"]).buffers())


def physical(kind, *numbers):
    """A column of a type whose cells are these numbers in memory, whether or not it means anything."""
    width = np.int32 if kind.bit_width == 32 else np.int64
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.array(numbers, width).tobytes())])


BEYOND = {
    "days": physical(pa.date32(), 2**31 - 1, -(2**31)),
    "year 0": physical(pa.date32(), -719_163, 0),
    "milliseconds": physical(pa.date64(), 2**62 // 86_400_000 * 86_400_000, 0),
    "seconds": physical(pa.timestamp("s"), 2**62, 0),
    "zone": physical(pa.timestamp("us", "Asia/Tokyo"), 253_402_300_800_000_000, 0),
    "duration": physical(pa.duration("s"), 2**62, 0),
    "hour 25": physical(pa.time32("s"), 90_000, 0),
    "negative time": physical(pa.time64("ns"), -1, 0),
}


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("name", BEYOND)
def test_times_that_python_has_none_of(read, name, tmp_path):
    table = pa.table({"a": BEYOND[name], "b": ["x", "y"]})
    forms = [table]
    if name != "seconds":  # which Parquet does not have
        pq.write_table(table, tmp_path / "t.parquet")
        forms.append(tmp_path / "t.parquet")
    for form in forms:
        with pytest.raises(
            (ValueError, TypeError), match=r"'a' (holds times|of type Unknown holds)|is cut short or damaged"
        ):
            read(form)


@pytest.mark.parametrize("read", READERS)
def test_times_that_make_polars_panic(read):
    frame = pl.DataFrame({"a": pl.Series([2**31 - 1, 0], dtype=pl.Int32).cast(pl.Date), "b": ["x", "y"]})
    with pytest.raises((ValueError, TypeError), match="'a' holds times"):
        read(frame)


def test_the_first_and_the_last_year_are_times_as_others():
    days = pa.array([datetime.date(1, 1, 3), datetime.date(9999, 12, 29)])
    read = Table.read(pa.table({"a": days, "b": [1.0, 2.0]}), column_types={"a": "categorical"})
    assert read.schema.columns[0].levels == ("0001-01-03", "9999-12-29")


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_text_that_is_not_utf8(read, library):
    table = pa.table({"a": NOT_UTF8, "b": ["x", "y"]})
    with pytest.raises(ValueError, match=r"Column 'a' holds text that is not UTF-8"):
        read(table if library == "pyarrow" else pl.from_arrow(table))


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "cells",
    [
        pa.array([[1], [2]]),
        pa.array([{"x": 1}, {"x": 2}]),
        pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        pa.FixedSizeListArray.from_arrays(pa.array([1, 2, 3, 4]), 2),
        pa.array([[physical(pa.date32(), 2**31 - 1)[0]], []], pa.list_(pa.date32())),
    ],
)
def test_cells_of_several_values(read, cells):
    table = pa.table({"a": cells, "b": ["x", "y"]})
    forms = [table] if pa.types.is_map(cells.type) else [table, pl.from_arrow(table)]
    for form in forms:
        with pytest.raises(TypeError, match=r"'a'|draw 0, object 0 .* is a list"):
            read(form)


def test_whole_numbers_wider_than_numpy():
    frame = pl.DataFrame({"a": pl.Series([2**100, 0, None, 5], dtype=pl.Int128), "b": [1, 1, 2, 2]})
    assert Table.read(frame).numeric.shape == (4, 2)
    assert label_table(frame).schema.columns[0].levels == (0, 5, 2**100)
    assert Posterior.from_draws(frame).draws.tolist() == [[0, 1], [0, 1], [-1, 0], [0, 1]]


@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint64()])
def test_unsigned_labels_with_gaps(kind):
    columns = {"a": pa.array([0, None, 3, 0], kind), "b": pa.array([1, 1, 2, 2], kind)}
    frame = pa.table(columns)
    for form in (frame, pl.from_arrow(frame), frame.to_pandas(types_mapper={kind: kind_of_pandas(kind)}.get)):
        assert label_table(form).codes.tolist() == [[0, 0], [-1, 0], [1, 1], [0, 1]]


def kind_of_pandas(kind):
    return pd.UInt8Dtype() if kind == pa.uint8() else pd.UInt64Dtype()


def test_a_signaling_nan_is_missing():
    frame = pd.DataFrame({"a": [decimal.Decimal("sNaN"), decimal.Decimal(1), decimal.Decimal(2)]}, dtype=object).assign(
        b=range(3)
    )
    np.testing.assert_array_equal(np.isnan(Table.read(frame).numeric[:, 0]), [True, False, False])


@pytest.mark.parametrize("content", ["sep=,\n", "sep=;\r\n", "sep=;\n\n\r\n\n", "sep=|\n\r"])
def test_a_file_that_only_names_its_separator(content, tmp_path):
    (tmp_path / "t.csv").write_text(content, newline="")
    for read in READERS:
        with pytest.raises(ValueError, match=r"t\.csv"):
            read(tmp_path / "t.csv")


def test_a_cell_that_is_longer_than_any(tmp_path):
    (tmp_path / "t.csv").write_text('a,"b\nc"\n1,"' + "x" * 200_000 + '\n"\n')
    with pytest.raises(ValueError, match="a cell has more than 131072 letters"):
        Posterior.from_draws(tmp_path / "t.csv")


@long
@short_and_long("n_columns", 3000, 100_000)
def test_a_hundred_thousand_columns_without_a_name(tmp_path, n_columns):
    (tmp_path / "t.csv").write_text("," * (n_columns - 1) + "\n" + "1," * (n_columns - 1) + "1\n")
    with pytest.warns(UserWarning, match=rf"{n_columns} columns of .* called 'column 1', .* and so on\."):
        table = read_file(tmp_path / "t.csv")
    assert table.shape == (1, n_columns)


@pytest.mark.parametrize("shape", [(0, 1), (2, 0)])
def test_a_table_of_nothing(shape):
    schema = Schema(tuple(Column(f"x{j}", "numeric") for j in range(shape[1])))
    nothing = np.empty((shape[0], 0), dtype=np.int64)
    table = Table(schema, np.ones(shape), nothing, nothing)
    with pytest.raises(ValueError, match="without rows or without columns"):
        Mixture(chains=1, draws=3).fit(table)


def test_parquet_with_two_unnamed_indices_of_one_name(tmp_path):
    names = ["__index_level_0__", "a", "__index_level_0__"]
    pq.write_table(pa.table([pa.array([0, 1])] * 3, names=names), tmp_path / "t.parquet")
    assert read_file(tmp_path / "t.parquet").column_names == ["a"]


def test_parquet_without_columns(tmp_path):
    pq.write_table(pa.table({}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="has no columns"):
        read_file(tmp_path / "t.parquet")


@pytest.mark.parametrize(("shape", "rate"), [(9e15, 1.0), (1e15, 1e-16), (1.0, 1e-300)])
def test_quantiles_of_counts_that_no_search_reaches(shape, rate):
    low, high = (NegativeBinomial(np.array([shape]), np.array([rate])).ppf(level) for level in (5e-10, 1 - 5e-10))
    assert 0 <= low[0] < shape / rate < high[0] < np.inf


def test_a_long_cell_is_not_said_in_full():
    long = "x" * 200_000
    for X, told in (([[long], [1]], None), ([[long], ["a"]], {0: "count"}), ([long, "a"], None)):
        with pytest.raises((TypeError, ValueError)) as refusal:
            Table.read(X, column_types=told)
        assert len(str(refusal.value)) < 500


@pytest.mark.parametrize("center", [1e300, 0.5, -1.0])
def test_a_constant_that_is_no_count(center):
    with pytest.raises(ValueError, match=r"of counts is said to hold .*, which is no count"):
        Column("visits", "count", center=center)
