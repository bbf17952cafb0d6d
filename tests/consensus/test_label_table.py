"""Label matrices of every kind are one and the same table."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from partita import Partitions
from partita.consensus.label_table import label_table
from partita.table import Table

CODES = np.array([[0, 2], [1, 0], [1, -1], [0, 1]])
WORDS = np.array(["a", "b", "c", None], dtype=object)
NAN = float("nan")


def with_gaps(kind):
    floats = np.where(CODES < 0, np.nan, CODES)
    text = WORDS[CODES]
    frame = pd.DataFrame(text, columns=["x0", "x1"])
    numbers = {"x0": [0, 1, 1, 0], "x1": [2, 0, None, 1]}
    return {
        "integers": CODES,
        "small integers": CODES.astype(np.int8),
        "columns first": np.asfortranarray(CODES),
        "floats": floats,
        "floats with -1": CODES.astype(np.float32),
        "lists": CODES.tolist(),
        "lists with None": [[0, 2], [1, 0], [1, None], [0, 1]],
        "masked": np.ma.masked_array(CODES, CODES < 0),
        "text": text,
        "text with -1": np.where(CODES < 0, "-1", text).astype(str),
        "text with gaps": np.where(CODES < 0, "", text).astype(str),
        "pandas": frame,
        "pandas categories": frame.astype("category"),
        "pandas nullable": pd.DataFrame(numbers).astype("Int64"),
        "polars": pl.DataFrame(numbers),
        "polars text": pl.DataFrame({"x0": text[:, 0].tolist(), "x1": text[:, 1].tolist()}),
        "polars categories": pl.DataFrame(
            {"x0": text[:, 0].tolist(), "x1": text[:, 1].tolist()},
            schema={"x0": pl.Categorical, "x1": pl.Enum(["c", "b", "a", "unused"])},
        ),
        "pyarrow": pa.table(numbers),
    }[kind]


KINDS = [
    "integers", "small integers", "columns first", "floats", "floats with -1", "lists", "lists with None", "masked",
    "text", "text with -1", "text with gaps", "pandas", "pandas categories", "pandas nullable", "polars", "polars text",
    "polars categories", "pyarrow",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_labels_is_the_same_table(kind):
    table = label_table(with_gaps(kind))
    np.testing.assert_array_equal(table.codes, CODES)
    assert table.codes.dtype == np.int32
    assert table.names == ("x0", "x1")
    assert table.numeric.shape == table.counts.shape == (4, 0)
    labels = tuple(tuple(column.levels) for column in table.schema.columns)
    assert labels in (((0, 1), (0, 1, 2)), (("a", "b"), ("a", "b", "c")))
    again = label_table(with_gaps(kind), schema=table.schema)
    np.testing.assert_array_equal(again.codes, CODES)


def test_partitions_are_turned_over():
    partitions = Partitions([[0, 0, 1, 1], [0, 1, -1, 0]])
    table = label_table(partitions)
    np.testing.assert_array_equal(table.codes, np.asarray(partitions).T)


def test_truth_values_and_labels_of_several_types():
    table = label_table(np.array([[True, 3], [False, "c"], [True, None], [None, "a"]], dtype=object))
    assert table.schema.columns[0].levels == (False, True)
    assert table.schema.columns[1].levels == (3, "a", "c")
    np.testing.assert_array_equal(table.codes, [[1, 0], [0, 2], [1, -1], [-1, 1]])
    np.testing.assert_array_equal(label_table(np.array([[True], [False]]).repeat(2, axis=1)).codes, [[1, 1], [0, 0]])


def test_labels_far_apart_and_below_minus_one():
    table = label_table(np.array([[10**15, -7], [-(10**15), 2], [10**15, -1], [5, -7]]))
    assert [column.levels for column in table.schema.columns] == [(-(10**15), 5, 10**15), (-7, 2)]
    np.testing.assert_array_equal(table.codes, [[2, 0], [0, 1], [2, -1], [1, 0]])
    huge = np.array([[2**64 - 1, 1], [0, 1]], dtype=np.uint64)
    assert label_table(huge).schema.columns[0].levels == (0, 2**64 - 1)


def test_columns_that_say_nothing_stay():
    Y = np.array([[0, 7, -1], [1, 7, -1], [0, 7, -1], [0, 7, -1]])
    table = label_table(Y)
    assert table.schema.dropped == ()
    assert table.schema.n_levels.tolist() == [2, 1, 1]
    np.testing.assert_array_equal(table.codes, [[0, 0, -1], [1, 0, -1], [0, 0, -1], [0, 0, -1]])


def test_a_frame_is_matched_by_name_and_the_index_is_kept():
    frame = pd.DataFrame({"a": [0, 1, 1], "b": ["u", "v", "v"]}, index=[7, 8, 9])
    table = label_table(frame)
    np.testing.assert_array_equal(label_table(frame[["b", "a"]], schema=table.schema).codes, table.codes)
    assert list(table.origin.index) == [7, 8, 9]


def test_a_file_is_a_frame(tmp_path):
    (tmp_path / "labels.csv").write_text("one,two\n0,u\n1,v\n-1,v\n1,\n")
    table = label_table(tmp_path / "labels.csv")
    np.testing.assert_array_equal(table.codes, [[0, 0], [1, 1], [-1, 1], [1, -1]])
    assert table.names == ("one", "two")


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (np.array([[0, 9], [5, 1]]), r"'x0' has 1 value not seen in fit: 5 \(row 1\).*leave the cell empty"),
        (np.array([[0, 9], [1, 2]]), r"'x1' has 1 value not seen in fit: 9 \(row 0\)"),
        (np.array([["a", "b"]]), "'x0' has 1 value not seen in fit: 'a'"),
        (np.array([[0]]), "1 columns, but 2 were seen in fit"),
    ],
)
def test_a_label_that_fit_has_not_seen_is_refused(new, words):
    schema = label_table(CODES).schema
    with pytest.raises(ValueError, match=words):
        label_table(new, schema=schema, unseen="error")


def test_a_label_that_fit_has_not_seen_is_none(tmp_path):
    schema = label_table(CODES).schema
    new = np.array([[0, 9], [5, 1], [1, 9], [1, 2]])
    with pytest.warns(UserWarning, match="3 cells hold values not seen in fit and count as missing: 5") as said:
        table = label_table(new, schema=schema)
    assert len(said) == 1
    assert "5 in column 'x0' (row 1); 9 in column 'x1' (rows 0, 2). To refuse them" in str(said[0].message)
    gaps = label_table(np.where((new == 9) | (new == 5), -1, new), schema=schema)
    np.testing.assert_array_equal(table.codes, gaps.codes)
    (tmp_path / "odd.csv").write_text("x0,x1\n0,1\n1,pear\n1,2\n")  # one cell makes the column text
    with pytest.warns(UserWarning, match=r"1 cell holds a value .* counts as missing: 'pear' in column 'x1' \(row 1\)"):
        table = label_table(tmp_path / "odd.csv", schema=schema)
    np.testing.assert_array_equal(table.codes, label_table([[0, 1], [1, None], [1, 2]], schema=schema).codes)


def test_columns_that_fit_has_not_seen_are_left_out():
    schema = label_table(pd.DataFrame(CODES, columns=["a", "b"])).schema
    new = pd.DataFrame({"more": ["x"], "b": [2], "a": [1]})
    with pytest.warns(UserWarning, match="1 column not seen in fit is ignored: 'more'"):
        table = label_table(new, schema=schema)
    np.testing.assert_array_equal(table.codes, label_table(new[["a", "b"]], schema=schema).codes)


def test_new_objects_may_lack_any_label_without_a_warning():
    schema = label_table(CODES).schema
    np.testing.assert_array_equal(label_table(np.array([[-1, -1]]), schema=schema).codes, [[-1, -1]])


@pytest.mark.parametrize(
    ("Y", "kind", "words"),
    [
        (np.array([[0.0, 1.0], [1.0, 2.5], [0.0, 0.1]]), ValueError, "'x1', row 1 holds 2.5.*Round.*Mixture"),
        ([[0, 1], [1, 2.5], [0, 1]], ValueError, "'x1', row 1 holds 2.5.*Round.*Mixture"),
        (np.array([[0.0, 1.0], [np.inf, 2.0]]), ValueError, "'x0', row 1 holds inf"),
        ([[0, 1], [float("-inf"), 2]], ValueError, "'x0' has 1 infinite value"),
        (np.array([0, 1, 1]), ValueError, r"one dimension.*reshape\(-1, 1\)"),
        ([0, 1, 1], ValueError, "one dimension"),
        (["a", "b"], ValueError, "one dimension"),
        (pd.Series([0, 1, 1]), ValueError, "one dimension"),
        (np.zeros((2, 2, 2), int), ValueError, "three dimensions.*Partitions"),
        ([[[0], [1]], [[1], [0]]], ValueError, "three dimensions"),
        ([[0, 1], [0]], ValueError, "differ in length.*row 1"),
        (np.empty((0, 3), int), ValueError, "0 sample"),
        (np.empty((3, 0), int), ValueError, "0 feature"),
        ([], ValueError, "0 sample|Expected 2D"),
        (np.array([[1j, 0], [0, 1]]), ValueError, "Complex"),
        (np.full((3, 2), -1), ValueError, "No object has a label"),
        (np.full((3, 2), np.nan), ValueError, "No object has a label"),
        (np.array([["2020-01-01"] * 2] * 2, dtype="datetime64[D]"), TypeError, "times.*row 0"),
        (np.array([[1, 2], [1, datetime.date(2020, 1, 1)]], dtype=object), TypeError, r"'x1' holds times \(row 1\)"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"] * 2), "b": [0, 1]}), TypeError, "'a' holds times"),
        (pl.DataFrame({"a": [datetime.date(2020, 1, 1)], "b": [0]}), TypeError, "'a' holds times"),
        (np.array([[True, 0], [1, 0]], dtype=object), TypeError, "mixes types"),
        (np.array([[{0}, 0], [{1}, 0]], dtype=object), TypeError, "string or a number"),
        ({"a": [0, 1]}, TypeError, "dictionary"),
        (pl.LazyFrame({"a": [0, 1]}), TypeError, "collect"),
        (7, TypeError, "single value"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Y has")
def test_what_is_no_label_matrix_is_refused(Y, kind, words):
    with pytest.raises(kind, match=words):
        label_table(Y)


def test_a_transposed_matrix_is_asked_about():
    with pytest.warns(UserWarning, match=r"4 objects .* 5 clusterings .*transposed.*Y\.T"):
        label_table(np.arange(20).reshape(4, 5) % 3)


def test_a_single_clustering_is_said_to_be_one():
    with pytest.warns(UserWarning, match="single clustering"):
        label_table(np.array([[0], [1], [1]]))


def test_objects_without_labels_are_named():
    with pytest.warns(UserWarning, match=r"2 objects have no label in any clustering \(rows 1, 3\)"):
        label_table(np.array([[0, 1], [-1, -1], [1, 1], [-1, -1]]))


def test_whole_numbers_begin_where_those_of_any_column_do():
    """With a label 0 anywhere they do from 0, otherwise from 1; a column that does not fit begins where it can."""

    def levels(*columns, n_labels=4):
        return [column.levels for column in label_table(np.column_stack(columns), n_labels=n_labels).schema.columns]

    from_0, from_1 = (0, 1, 2, 3), (1, 2, 3, 4)
    assert levels([1, 2, 3], [2, 1, 1]) == [from_1, from_1]
    assert levels([1, 2, 3], [2, 0, 1]) == [from_0, from_0]
    assert levels([1, 2, 3], [0, 1, 1], [4, 2, -1]) == [from_0, from_0, from_1]
    assert levels([1, 2, 3], [-1, -1, -1]) == [from_1, from_1]
    assert levels([1, 2, 3], [0, 1, 1], n_labels=[4, 2]) == [from_0, (0, 1)]
    assert levels(np.array(["a", "b", "b"], dtype=object), [1, 2, 2])[1] == from_1
    assert levels(np.array([False, True, True], dtype=object), [1, 2, 2])[1] == from_1


def test_a_table_may_be_read_with_more_labels_again():
    Y = np.array([["a", 1], ["b", 2], ["a", 2]], dtype=object)
    again = label_table(label_table(Y, n_labels=3), n_labels=5)
    assert again.schema == label_table(Y, n_labels=5).schema
    np.testing.assert_array_equal(again.codes, [[0, 0], [1, 1], [0, 1]])


def test_a_label_from_1_that_fit_has_not_seen_is_known():
    schema = label_table(np.array([[1, 2], [2, 3], [3, 1]]), n_labels=4).schema
    assert label_table(np.array([[4, 4]]), schema=schema, unseen="error").codes.tolist() == [[3, 3]]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_categories_that_do_not_occur_are_known_by_their_names(library):
    cells, categories = ["b", "d", "b"], ["d", "", "c", "b"]
    column = {
        "pandas": lambda: pd.Categorical(cells, categories=categories),
        "polars": lambda: pl.Series(cells, dtype=pl.Enum(categories)),
        "pyarrow": lambda: pa.DictionaryArray.from_arrays(pa.array([3, 0, 3]), pa.array(categories)),
    }[library]()
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](
        {"a": column, "b": [0, 1, 1]}
    )

    def levels(n_labels):
        return label_table(frame, n_labels=n_labels).schema.columns[0].levels

    assert levels(None) == levels(2) == ("b", "d")
    assert levels(3) == ("b", "c", "d")
    assert levels(4) == ("b", "c", "d", "(does not occur: 1)")
    assert label_table(frame, n_labels=3).codes[:, 0].tolist() == [0, 2, 0]


@pytest.mark.parametrize("n_labels", [10**9, [3, 3, 3, 3, 3, 10**9], 2**70])
def test_more_labels_that_do_not_occur_than_memory_holds_are_refused(n_labels):
    Y = np.arange(48).reshape(8, 6) % 3
    for form in (Y, label_table(Y)):
        with pytest.raises(ValueError, match=r"[0-9,]{13,} labels that do not occur, more than 1,000,000: pass"):
            label_table(form, n_labels=n_labels)


@pytest.mark.parametrize("n_labels", [np.array(3), np.int8(3), np.array([3, 3]), (3, 3), range(3, 5)])
def test_numbers_of_labels_of_every_kind(n_labels):
    expected = [3, 4] if isinstance(n_labels, range) else [3, 3]
    assert label_table(CODES, n_labels=n_labels).schema.n_levels.tolist() == expected


@pytest.mark.parametrize(
    ("n_labels", "words"),
    [
        ("3", "n_labels must be a whole number of at least 1 or one per base clustering, got '3'"),
        (b"33", "n_labels must be a whole number of at least 1 or one per base clustering, got b'33'"),
        (np.array(2.5), "n_labels must be a whole number of at least 1 or one per base clustering, got .*2.5"),
        ([3], "n_labels has 1 number for 2 base clusterings"),
        ([3] * 3, "n_labels has 3 numbers for 2 base clusterings"),
    ],
)
def test_what_is_no_number_of_labels_is_refused(n_labels, words):
    with pytest.raises(ValueError, match=words):
        label_table(CODES, n_labels=n_labels)


def test_no_labels_are_none_however_many_there_may_be():
    with pytest.raises(ValueError, match="No object has a label in any clustering"):
        label_table(np.full((3, 2), -1), n_labels=3)


def test_text_that_reads_as_a_date_is_a_label(tmp_path):
    """Of dates that are none in a file of text nobody knows that they are no groups."""
    (tmp_path / "labels.csv").write_text("a,b\n2024-01-31,0\n2024-02-01,1\n2024-01-31,1\n")
    table = label_table(tmp_path / "labels.csv")
    assert table.schema.columns[0].levels == ("2024-01-31", "2024-02-01")
    np.testing.assert_array_equal(table.codes, [[0, 0], [1, 1], [0, 1]])


def test_a_table_of_labels_comes_back_and_one_of_measurements_is_refused():
    table = label_table([["a", 1], ["b", 2]])
    assert label_table(table) is table
    assert label_table(table, schema=table.schema) is table
    with pytest.raises(TypeError, match=r"not all labels \('x1'\): pass what it was read from"):
        label_table(Table.read([["a", 1.5], ["b", 2.0]]))


def test_a_file_is_read_by_the_labels_of_fit(tmp_path):
    (tmp_path / "fit.csv").write_text("a,b\n1,2\nx,3\n")
    (tmp_path / "new.csv").write_text("b,a\n3,1\n2,-1\n")
    schema = label_table(tmp_path / "fit.csv").schema
    assert label_table(tmp_path / "new.csv", schema=schema).codes.tolist() == [[0, 1], [-1, 0]]
