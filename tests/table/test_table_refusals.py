"""What cannot be used is refused: column, rows, count and remedy are in the message."""

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from partita.table import Table


def frame_with(cells):
    return pd.DataFrame({"ok": np.arange(len(cells), dtype=float), "bad": pd.Series(cells, dtype=object)})


def test_infinite_cells():
    income = np.arange(1000.0)
    income[[17, 204, 911]] = [np.inf, -np.inf, np.inf]
    message = (
        "Column 'income' has 3 infinite values (rows 17, 204, 911). Replace them or leave the cells empty: "
        "missing cells are fine."
    )
    for frame in (pd.DataFrame({"income": income}), pl.DataFrame({"income": income})):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            Table.read(frame)


def test_one_and_many_infinite_cells_and_infinite_categories():
    with pytest.raises(ValueError, match=r"1 infinite value \(row 1\)\. Replace it"):
        Table.read(np.array([[1.0], [np.inf]]))
    with pytest.raises(ValueError, match=r"5 infinite values \(rows 0, 1, 2 and 2 more\)"):
        Table.read(np.full((5, 1), np.inf))
    for cells in (np.array([[1.0], [np.inf]]), np.array([["a"], [np.inf]], dtype=object)):
        with pytest.raises(ValueError, match="'x0' has 1 infinite value"):
            Table.read(cells, column_types={0: "categorical"})


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["a", 1.5], r"row 0 holds 'a' \(str\), row 1 holds 1.5 \(float\).*column_types={'bad': 'categorical'}"),
        ([None, 2, True], r"row 1 holds 2 \(int\), row 2 holds True \(bool\).*one type"),
        (["a", None, False], r"row 0 holds 'a' \(str\), row 2 holds False \(bool\)"),
    ],
)
def test_mixtures(cells, words):
    with pytest.raises(TypeError, match=f"Column 'bad' mixes types: {words}"):
        Table.read(frame_with(cells))


def test_remedies_serve_python_and_the_command_line():
    with pytest.raises(TypeError) as caught:
        Table.read(pd.DataFrame({"first seen": pd.Series([1, "a"], dtype=object)}))
    assert str(caught.value).endswith(
        "for example strings, or declare it with column_types={'first seen': 'categorical'} "
        "(command line: --types 'first seen=categorical')."
    )


def test_truth_values_beside_numbers_are_refused_as_categories_too():
    with pytest.raises(TypeError, match=r"Column 'bad' mixes types.*Make all cells one type, for example strings"):
        Table.read(frame_with([True, 1]), column_types={"bad": "categorical"})


@pytest.mark.parametrize("cell", [{"foo": "bar"}, [1, 2], (1, 2), b"bytes", object()], ids=lambda c: type(c).__name__)
@pytest.mark.parametrize("told", [None, "categorical", "numeric"])
def test_cells_that_are_neither_text_nor_number(cell, told):
    cells = np.full((4, 1), 1.0, dtype=object)
    cells[2, 0] = cell
    expected = f"'x0', row 2.*argument must be a string or a number, not '{type(cell).__name__}'"
    with pytest.raises(TypeError, match=expected):
        Table.read(cells, column_types=told and {0: told})


def test_nested_frame_columns():
    for X in (pl.DataFrame({"bad": [[1, 2], [3, 4]]}), pa.table({"bad": [{"a": 1}, {"a": 2}]})):
        with pytest.raises(TypeError, match=r"'bad'.*argument must be a string or a number"):
            Table.read(X)


DAY = datetime.datetime(2024, 5, 1)
TIMES = {
    "pandas": pd.DataFrame({"bad": [pd.Timestamp(DAY)]}),
    "pandas objects": pd.DataFrame({"bad": pd.Series([DAY.date()], dtype=object)}),
    "pandas duration": pd.DataFrame({"bad": [pd.Timedelta(1, "s")]}),
    "polars": pl.DataFrame({"bad": [DAY]}),
    "polars time": pl.DataFrame({"bad": [DAY.time()]}),
    "polars duration": pl.DataFrame({"bad": [datetime.timedelta(1)]}),
    "pyarrow": pa.table({"bad": [DAY.date()]}),
}


@pytest.mark.parametrize("form", TIMES)
@pytest.mark.parametrize(("told", "wanted"), [("numeric", "numbers"), ("count", "counts")])
def test_times_where_numbers_are_told(form, told, wanted):
    if told == "numeric" and form.endswith(("duration", "time")):
        return  # which are numbers
    with pytest.raises(TypeError, match=rf"'bad' is to hold {wanted}, but row 0 holds .*Turn it into a number"):
        Table.read(TIMES[form], column_types={"bad": told})


@pytest.mark.parametrize("form", [name for name in TIMES if name.endswith(("duration", "time"))])
def test_what_is_no_date_where_dates_are_told(form):
    with pytest.raises(TypeError, match="'bad' is to hold dates, but row 0 holds"):
        Table.read(TIMES[form], column_types={"bad": "date"})


@pytest.mark.parametrize("unit", ["m8[Y]", "m8[M]"])
def test_durations_without_a_length(unit):
    with pytest.raises(TypeError, match="'x0' holds durations of months or years"):
        Table.read(np.array([[1], [2]]).astype(unit))


@pytest.mark.parametrize(("count", "unit"), [(8030, "M8[Y]"), (2**62, "M8[s]"), (2**61, "M8[D]"), (2**62, "m8[s]")])
def test_times_far_away(count, unit):
    with pytest.raises(ValueError, match="'x0' holds times outside the years 1 to 9999"):
        Table.read(np.array([[count], [1]]).astype(unit))


def test_moments_with_and_without_a_zone():
    moments = [DAY, DAY.replace(tzinfo=datetime.UTC)]
    with pytest.raises(TypeError, match=r"mixes moments with a time zone \(row 1\) and without one \(row 0\)"):
        Table.read([[moment] for moment in moments])


def test_dates_beside_durations():
    with pytest.raises(TypeError, match="Column 'x0' mixes types"):
        Table.read([[DAY], [datetime.timedelta(1)]])


def test_complex_numbers():
    for X in (np.array([[1j]]), [[1j]], pd.DataFrame({"a": [1j]})):
        with pytest.raises(ValueError, match="Complex data not supported"):
            Table.read(X)


def test_sparse_and_lazy():
    with pytest.raises(TypeError, match=r"sparse.*toarray"):
        Table.read(sparse.eye(3, format="csr"))
    with pytest.raises(TypeError, match="sparse"):
        Table.read(sparse.csr_array(np.eye(3)))
    with pytest.raises(TypeError, match=r"lazy frame.*collect"):
        Table.read(pl.LazyFrame({"a": [1]}))


@pytest.mark.parametrize("X", [np.arange(3.0), ["a", "b"], [1, 2], pd.Series([1, 2]), pl.Series([1, 2])], ids=repr)
def test_one_dimension(X):
    with pytest.raises(ValueError, match=r"Expected 2D array(.|\n)*Reshape your data"):
        Table.read(X)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ({"a": [1, 2]}, r"^X is a dictionary: pass a frame, for example pandas\.DataFrame\(X\)\.$"),
        ([{"a": 1}, {"a": 2}], r"^X is a list of dictionaries: pass a frame, for example pandas\.DataFrame\(X\)\.$"),
        (3.5, "^X is a single value of type float, not a table: pass a frame, .* or the path of a file"),
        (None, "^X is a single value of type NoneType"),
        (b"table.csv", "^X is a single value of type bytes"),
        (np.array("word"), "^X is a single value of type ndarray"),
        (iter([[1, 2]]), "^X is a single value of type list_iterator"),
    ],
    ids=["dict", "records", "number", "None", "bytes", "array", "iterator"],
)
def test_no_dimension(X, words):
    with pytest.raises(TypeError, match=words):
        Table.read(X)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_one_row_of_a_frame_is_a_table(make):
    table = Table.read(make({"a": [1.5], "s": ["u"], "b": [True]}))
    assert (table.n_rows, table.names) == (1, ("a", "s", "b"))


@pytest.mark.parametrize("X", [np.empty((0, 3)), pd.DataFrame(np.empty((0, 3))), np.empty((0, 3), dtype=object)])
def test_no_rows(X):
    message = "Found array with 0 sample(s) (shape=(0, 3)) while a minimum of 1 is required."
    with pytest.raises(ValueError, match=re.escape(message)):
        Table.read(X)


@pytest.mark.parametrize("X", [np.empty((4, 0)), pd.DataFrame(index=range(4))], ids=["numpy", "pandas"])
def test_no_columns(X):
    message = "0 feature(s) (shape=(4, 0)) while a minimum of 1 is required."
    with pytest.raises(ValueError, match=re.escape(message)):
        Table.read(X)


def test_rows_of_different_lengths():
    with pytest.raises(ValueError, match="differ in length: row 0 has 2 cells, row 2 has 1"):
        Table.read([[1, 2], [3, 4], [5]])


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ],
    ids=["pandas", "pandas all", "pyarrow"],
)
def test_repeated_names(X):
    with pytest.raises(ValueError, match=r"these repeat: 'a'\."):
        Table.read(X)


def test_labels_that_coincide_as_text():
    with pytest.raises(ValueError, match="these repeat: '1'"):
        Table.read(pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_column_types_name_unknown_columns_and_kinds():
    frame = pd.DataFrame({"income": [1, 2], "zip": [3, 4]})
    with pytest.raises(ValueError, match=r"'incom'.*Did you mean 'income'"):
        Table.read(frame, column_types={"incom": "count"})
    with pytest.raises(ValueError, match="The columns are 'income', 'zip'"):
        Table.read(frame, column_types={0: "count"})
    with pytest.raises(ValueError, match="columns 0 to 1"):
        Table.read(frame.to_numpy(), column_types={2: "count"})
    with pytest.raises(ValueError, match=r"'zip'.*'numeric', 'categorical', 'count'.*Did you mean 'categorical'"):
        Table.read(frame, column_types={"zip": "categorial"})
    with pytest.raises(TypeError, match="column_types must map"):
        Table.read(frame, column_types=["zip"])


@pytest.mark.parametrize("bad", [-1.0, 0.5, 2.0**60])
def test_counts_that_are_none(bad):
    visits = np.arange(10.0)
    visits[[1, 3, 4, 8]] = bad
    with pytest.raises(
        ValueError, match=r"'visits'.*4 cells \(rows 1, 3, 4 and 1 more.*Correct them.*--types visits=numeric"
    ):
        Table.read(pd.DataFrame({"visits": visits}), column_types={"visits": "count"})


@pytest.mark.parametrize("told", ["numeric", "count"])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_text_told_to_be_numbers_names_the_first_bad_cell(told, make):
    with pytest.raises(ValueError, match=r"'a'.*row 2 holds the text 'n/a'.*missing cells are fine"):
        Table.read(make({"a": ["1", None, "n/a", "x"]}), column_types={"a": told})


def test_whole_numbers_beyond_float_range():
    with pytest.raises(ValueError, match=r"'x0' holds a whole number beyond.*--types x0=categorical"):
        Table.read([[10**400], [1]])


def test_a_table_without_any_cell():
    for X in (np.full((3, 2), np.nan), pd.DataFrame({"a": [None, None]}), [[None, ""]]):
        with pytest.raises(ValueError, match="All cells of the table are missing"):
            Table.read(X)
    with pytest.raises(ValueError, match="All cells of the table are missing"):
        Table.read(np.array([[np.nan], [1.0]]), sample_weight=[1, 0])


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1, 2], r"shape \(2,\), but X has 3 rows"),
        ([1, 0.5, 1], "non-negative whole numbers.*row 1"),
        ([1, -1, 1], "non-negative whole numbers.*row 1"),
        ([1, np.nan, 1], "non-negative whole numbers.*row 1"),
        ([0, 0, 0], "zero for every row"),
        (["1", "two", "3"], "whole numbers, but row 1 holds 'two'. Pass one number per row"),
        (pd.Series([1, pd.NA, 1]), "whole numbers, but row 1 holds <NA>"),
        ("weight", "whole numbers, but row 0 holds 'weight'"),
    ],
)
def test_weights(weight, words):
    with pytest.raises(ValueError, match=words):
        Table.read(np.arange(3.0)[:, None], sample_weight=weight)
