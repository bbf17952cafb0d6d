"""The same table in any form is the same Table, and every marker of a missing cell is one."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from partita.table import Table

pytestmark = pytest.mark.filterwarnings("ignore:. rows? ha.* no observed cell:UserWarning")

COLUMNS = {
    "x0": [1.5, -2.0, None, 4.25, 0.0],
    "x1": ["pear", None, "fig", "fig", "plum"],
    "x2": [True, False, None, True, True],
    "x3": [3, 7, 3, None, 12],
}
ROWS = [list(row) for row in zip(*COLUMNS.values())]
FORMS = {
    "list": ROWS,
    "tuples": tuple(map(tuple, ROWS)),
    "numpy": np.array(ROWS, dtype=object),
    "pandas": pd.DataFrame(COLUMNS),
    "pandas nullable": pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas objects": pd.DataFrame(COLUMNS, dtype=object),
    "pandas category": pd.DataFrame(COLUMNS).astype({"x1": "category"}),
    "polars": pl.DataFrame(COLUMNS),
    "polars categorical": pl.DataFrame(COLUMNS).cast({"x1": pl.Categorical}),
    "polars enum": pl.DataFrame(COLUMNS).cast({"x1": pl.Enum(["plum", "unused", "fig", "pear"])}),
    "pyarrow": pa.table(COLUMNS),
    "pyarrow dictionary": pa.table(COLUMNS | {"x1": pa.array(COLUMNS["x1"]).dictionary_encode()}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_one_table_gives_the_same_arrays(form):
    table = Table.read(FORMS[form], column_types={"x3": "count"})
    values = np.array([1.5, -2.0, 4.25, 0.0])
    expected = np.full(5, np.nan)
    expected[[0, 1, 3, 4]] = (values - values.mean()) / values.std()
    np.testing.assert_allclose(table.numeric[:, 0], expected, rtol=1e-14)
    np.testing.assert_array_equal(table.codes, [[1, 1], [-1, 0], [0, -1], [0, 1], [2, 1]])
    np.testing.assert_array_equal(table.counts[:, 0], [3, 7, 3, -1, 12])
    assert [c.levels for c in table.schema.categorical] == [("fig", "pear", "plum"), (False, True)]
    assert table.names == ("x0", "x1", "x2", "x3")
    assert table.has_missing


def test_every_form_of_one_table_has_one_fingerprint():
    prints = {Table.read(form, column_types={"x3": "count"}).fingerprint() for form in FORMS.values()}
    assert len(prints) == 1


@pytest.mark.parametrize("change", ["value", "missing", "category", "count", "name", "kind"])
def test_fingerprint_notices_each_change(change):
    frame = pd.DataFrame(COLUMNS)
    told = {"x3": "count"}
    before = Table.read(frame, column_types=told).fingerprint()
    if change == "name":
        frame = frame.rename(columns={"x0": "y0"})
    elif change == "kind":
        told = {}
    else:
        cell, value = {
            "value": ((0, "x0"), 1.25),
            "missing": ((0, "x0"), None),
            "category": ((0, "x1"), "plum"),
            "count": ((0, "x3"), 4),
        }[change]
        frame.loc[cell] = value
    assert Table.read(frame, column_types=told).fingerprint() != before


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int64, np.uint8, object])
def test_numeric_arrays_of_any_dtype_and_layout_agree(dtype):
    values = np.array([[1, 5], [2, 9], [4, 0]])
    expected = Table.read(values.astype(float))
    for layout in "CF":
        table = Table.read(values.astype(dtype, order=layout))
        assert table.fingerprint() == expected.fingerprint()
        assert table.numeric.shape == (3, 2)


def test_array_like_objects_and_masked_arrays():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0], [2.0]])

    assert Table.read(Wrapped()).n_rows == 2
    masked = np.ma.array([[1.0], [2.0], [99.0]], mask=[[False], [False], [True]])
    np.testing.assert_array_equal(Table.read(masked).numeric[:, 0], [-1.0, 1.0, np.nan])


NUMERIC_MARKERS = {
    "nan": float("nan"),
    "None": None,
    "pd.NA": pd.NA,
    "NaT": pd.NaT,
    "numpy nan": np.float32("nan"),
}
TEXT_MARKERS = NUMERIC_MARKERS | {"empty text": ""}


@pytest.mark.parametrize("marker", NUMERIC_MARKERS)
@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame], ids=["numpy", "pandas"])
def test_missing_markers_in_numbers(marker, make):
    cells = np.array([[1.0], [NUMERIC_MARKERS[marker]], [3.0]], dtype=object)
    np.testing.assert_array_equal(Table.read(make(cells)).numeric[:, 0], [-1.0, np.nan, 1.0])


@pytest.mark.parametrize("marker", TEXT_MARKERS)
@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame], ids=["numpy", "pandas"])
def test_missing_markers_in_text_and_truth_values(marker, make):
    text = np.array([["b"], [TEXT_MARKERS[marker]], ["a"]], dtype=object)
    np.testing.assert_array_equal(Table.read(make(text)).codes[:, 0], [1, -1, 0])
    if marker != "empty text":
        truth = np.array([[True], [TEXT_MARKERS[marker]], [False]], dtype=object)
        np.testing.assert_array_equal(Table.read(make(truth)).codes[:, 0], [1, -1, 0])


def test_empty_text_is_missing_in_typed_string_columns():
    for X in (
        np.array([["b"], [""], ["a"]]),
        pl.DataFrame({"s": ["b", "", "a"]}),
        pa.table({"s": ["b", "", "a"]}),
    ):
        np.testing.assert_array_equal(Table.read(X).codes[:, 0], [1, -1, 0])


def test_nan_and_null_are_both_missing_in_polars():
    table = Table.read(pl.DataFrame({"a": [1.0, float("nan"), None, 3.0]}))
    np.testing.assert_array_equal(table.numeric[:, 0], [-1.0, np.nan, np.nan, 1.0])


def test_mixed_columns_of_a_list_keep_their_types():
    table = Table.read([[1, "a", True], [2, "b", False]])
    assert [c.kind for c in table.schema.columns] == ["numeric", "categorical", "categorical"]


def test_bool_array_is_categorical():
    table = Table.read(np.array([[True, False], [False, False], [True, True]]))
    assert [c.levels for c in table.schema.categorical] == [(False, True)] * 2
    np.testing.assert_array_equal(table.codes, [[1, 0], [0, 0], [1, 1]])


def test_told_kinds_override_by_name_and_position():
    values = np.array([[100.0, 3], [200.0, 0], [np.nan, 5]])
    by_position = Table.read(values, column_types={0: "categorical", np.int64(1): "count"})
    by_name = Table.read(values, column_types={"x0": "categorical", "x1": "count"})
    assert by_position.fingerprint() == by_name.fingerprint()
    assert repr(by_position.schema.categorical[0].levels) == "(100, 200)"
    np.testing.assert_array_equal(by_position.codes[:, 0], [0, 1, -1])
    np.testing.assert_array_equal(by_position.counts[:, 0], [3, 0, 5])


def test_numbers_told_categorical_keep_large_ids_apart():
    ids = [2**53 + 1, 2**53, 2**53 + 1]
    for X in (np.array(ids)[:, None], pd.DataFrame({"x0": ids}), pl.DataFrame({"x0": ids})):
        table = Table.read(X, column_types={"x0": "categorical"})
        assert table.schema.categorical[0].levels == (2**53, 2**53 + 1)
        np.testing.assert_array_equal(table.codes[:, 0], [1, 0, 1])


def test_fractions_told_categorical():
    table = Table.read(np.array([[1.5], [2.0], [1.5]]), column_types={0: "categorical"})
    assert repr(table.schema.categorical[0].levels) == "(1.5, 2)"


def test_truth_values_told_numeric_and_count():
    X = pl.DataFrame({"a": [True, False, None], "b": [False, True, True]})
    table = Table.read(X, column_types={"a": "numeric", "b": "count"})
    np.testing.assert_array_equal(table.numeric[:, 0], [1.0, -1.0, np.nan])
    np.testing.assert_array_equal(table.counts[:, 0], [0, 1, 1])


def test_text_beside_numbers_told_categorical_keeps_first_appearance():
    X = np.array([["b"], [2], ["a"], [2.0], [None]], dtype=object)
    table = Table.read(X, column_types={0: "categorical"})
    assert table.schema.categorical[0].levels == ("b", 2, "a")
    np.testing.assert_array_equal(table.codes[:, 0], [0, 1, 2, 1, -1])


def test_decimals_are_numbers():
    cells = [Decimal("1.5"), None, Decimal("3.5")]
    for X in (pl.DataFrame({"x0": cells}), pa.table({"x0": cells}), [[cell] for cell in cells]):
        np.testing.assert_array_equal(Table.read(X).numeric[:, 0], [-1.0, np.nan, 1.0])


def test_times_and_intervals_as_categories():
    days = [datetime.date(2024, 5, 2), None, datetime.date(2024, 5, 1)]
    table = Table.read(pl.DataFrame({"day": days}), column_types={"day": "categorical"})
    assert table.schema.categorical[0].levels == ("2024-05-01", "2024-05-02")
    np.testing.assert_array_equal(table.codes[:, 0], [1, -1, 0])
    bins = pd.cut(pd.Series([1.0, 2.0, 9.0]), [0, 5, 10])
    assert Table.read(pd.DataFrame({"bin": bins})).schema.categorical[0].levels == ("(0, 5]", "(5, 10]")


def test_unobserved_categories_are_no_levels():
    frame = pd.DataFrame({"a": pd.Categorical(["z", "y", "z"], categories=["z", "q", "y"])})
    assert Table.read(frame).schema.categorical[0].levels == ("y", "z")


CODED = {
    "pandas objects": pd.Series(["b", None, "", "a", np.nan, "b"], dtype=object),
    "pandas strings": pd.Series(["b", None, "", "a", pd.NA, "b"], dtype="string"),
    "pandas categories": pd.Series(pd.Categorical(["b", None, "", "a", None, "b"], categories=["z", "", "b", "a"])),
    "pandas numbers": pd.Series(pd.Categorical([2, None, None, 1, None, 2], categories=[9, 2, 1])),
    "pandas truth values": pd.Series(pd.Categorical([True, None, None, False, None, True])),
    "half a letter": pd.Series(["b", None, "", "\ud800", None, "b"], dtype=object),
    "polars categories": pl.Series(["b", None, "", "a", None, "b"], dtype=pl.Categorical),
    "polars enum": pl.Series(["b", None, "", "a", None, "b"], dtype=pl.Enum(["z", "b", "", "a"])),
    "arrow views": pa.array(["b", None, "", "a", None, "b"], pa.string_view()),
    "arrow null among values": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 3, None, 0]), pa.array(["b", None, "", "a"])
    ),
    "arrow repeated values": pa.DictionaryArray.from_arrays(
        pa.array([0, None, 1, 2, None, 3], pa.uint8()), pa.array(["b", "", "a", "b"])
    ),
}


@pytest.mark.parametrize("form", CODED)
@pytest.mark.parametrize("told", [None, "categorical"])
def test_columns_of_text_have_the_codes_of_their_cells(form, told):
    column = CODED[form]
    of_arrow = isinstance(column, pa.Array)
    cells = np.array(column.to_pylist() if of_arrow else column.to_list(), dtype=object)
    frame = pa.table({"x0": column}) if of_arrow else type(column.to_frame())({"x0": column})
    table = Table.read(frame, column_types=told and {"x0": told})
    expected = Table.read(cells[:, None], column_types={0: "categorical"})
    assert table.schema == expected.schema
    np.testing.assert_array_equal(table.codes, expected.codes)


def test_strings_without_any_cell_say_nothing_about_their_kind():
    for X in (pd.DataFrame({"s": ["", None], "a": [1, 2]}), pl.DataFrame({"s": [None, ""], "a": [1, 2]})):
        with pytest.warns(UserWarning, match="1 column without any value"):
            assert Table.read(X).schema.columns[0].kind == "numeric"


def test_labels_that_are_numbers_become_text():
    table = Table.read(pd.DataFrame([[1.0, 3], [2.0, 5]], columns=[10, 20]), column_types={20: "count"})
    assert table.names == ("10", "20")
    assert table.schema.counts[0].name == "20"


def test_constant_and_empty_columns_are_dropped_with_a_warning_for_each():
    frame = pd.DataFrame({"a": [1.0, 2.0], "same": [3, 3], "none": [None, None], "text": ["u", None]})
    with pytest.warns(UserWarning, match="Dropped") as caught:
        table = Table.read(frame)
    assert [str(warning.message) for warning in caught] == [
        "Dropped 2 constant columns, which cannot tell groups apart: 'same', 'text'.",
        "Dropped 1 column without any value: 'none'.",
    ]
    assert table.schema.dropped == ("same", "none", "text")
    assert table.names == ("a", "same", "none", "text")
    assert table.numeric.shape == (2, 1)
    assert table.codes.shape == (2, 0)
    assert not table.has_missing


def test_nothing_is_dropped_when_nothing_varies():
    table = Table.read(pd.DataFrame({"a": [2.0, 2.0], "s": ["u", None], "e": [None, None]}, dtype=object))
    assert table.schema.dropped == ()
    assert [(c.center, c.scale) for c in table.schema.numeric] == [(2.0, 1.0), (0.0, 1.0)]
    np.testing.assert_array_equal(table.codes[:, 0], [0, -1])
    one_row = Table.read(np.array([[5.0, 7.0]]))
    np.testing.assert_array_equal(one_row.numeric, [[0.0, 0.0]])
