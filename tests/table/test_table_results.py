"""Back to the user's values and frames; identical rows; nothing in a Table can be changed."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import partita.table.origin
from partita.table import Table

FRAME = pd.DataFrame(
    {
        "n": [4, 0, 9, 1],
        "s": ["u", "v", "u", "w"],
        "a": [1.25, -3.0, 0.5, 8.0],
        "b": [True, False, False, True],
        "z": [30.0, 20.0, 30.0, 10.0],
    },
    index=["p", "q", "r", "t"],
)
KINDS = {"n": "count", "z": "categorical"}


def decoded(table):
    return table.decode(table.numeric, table.codes, table.counts)


def test_decode_undoes_read():
    columns = decoded(Table.read(FRAME, column_types=KINDS))
    assert list(columns) == list(FRAME)
    for name in ("n", "s", "b", "z"):
        assert columns[name].tolist() == FRAME[name].tolist()
    np.testing.assert_allclose(columns["a"], FRAME["a"], rtol=1e-14)
    assert {name: c.dtype.kind for name, c in columns.items()} == {
        "n": "i",
        "s": "O",
        "a": "f",
        "b": "b",
        "z": "i",
    }


@pytest.mark.filterwarnings("ignore:. rows? ha.* no observed cell:UserWarning")
def test_decode_gives_missing_cells_back():
    table = Table.read([[1.0, "u", 3, True], [None, None, None, None], [2.0, "v", 4, False]], column_types={2: "count"})
    columns = decoded(table)
    np.testing.assert_array_equal(columns["x0"], [1.0, np.nan, 2.0])
    assert columns["x1"].tolist() == ["u", None, "v"]
    np.testing.assert_array_equal(columns["x2"], [3.0, np.nan, 4.0])
    assert columns["x3"].tolist() == [True, None, False]
    assert Table.read(pd.DataFrame(columns), schema=table.schema).fingerprint() == table.fingerprint()


def test_decode_gives_dropped_columns_their_one_value():
    frame = FRAME.assign(c=5, k=2.5, w="word", none=np.nan, empty=pd.Categorical([None] * 4))
    with pytest.warns(UserWarning, match="Dropped (3 constant columns|2 columns without any value)"):
        table = Table.read(frame, column_types=KINDS | {"c": "count"})
    columns = table.decode(np.zeros((2, 1)), np.zeros((2, 3), int), np.ones((2, 1), int))
    assert list(columns) == list(frame)
    assert [columns[name].tolist() for name in ("c", "k", "w")] == [[5, 5], [2.5, 2.5], ["word", "word"]]
    assert np.isnan(columns["none"]).all()
    assert columns["empty"].tolist() == [None, None]
    assert Table.read(pd.DataFrame(columns), schema=table.schema).n_rows == 2


def test_to_units_takes_any_leading_shape():
    table = Table.read(np.array([[1.0, 10.0], [3.0, 30.0]]))
    np.testing.assert_array_equal(table.to_units(np.ones((4, 2, 2)))[3, 1], [3.0, 30.0])
    np.testing.assert_array_equal(table.to_units(np.array([0.0, -1.0])), [2.0, 10.0])


def test_pandas_frame_keeps_its_index_when_the_row_counts_agree():
    table = Table.read(FRAME, column_types=KINDS)
    frame = table.frame_like(decoded(table))
    assert isinstance(frame, pd.DataFrame)
    assert frame.index.tolist() == ["p", "q", "r", "t"]
    pd.testing.assert_series_equal(frame["s"], FRAME["s"])
    assert table.frame_like({"l": np.arange(2)}).index.tolist() == [0, 1]
    assert table.frame_like({"l": np.arange(4)}, index=list("abcd")).index.tolist() == list("abcd")


@pytest.mark.parametrize(("make", "kind"), [(pl.from_pandas, pl.DataFrame), (pa.Table.from_pandas, pa.Table)])
def test_other_frames_come_back_as_themselves(make, kind):
    X = make(FRAME.reset_index(drop=True))
    table = Table.read(X, column_types=KINDS)
    frame = table.frame_like(decoded(table))
    assert isinstance(frame, kind)
    back = dict(zip(table.names, zip(*frame.to_pandas().itertuples(index=False, name=None))))
    assert list(back["s"]) == FRAME["s"].tolist()
    assert list(back["n"]) == FRAME["n"].tolist()
    assert Table.read(frame, column_types=KINDS).schema.categorical == table.schema.categorical


@pytest.mark.parametrize(
    ("installed", "kind"),
    [
        (["pandas", "polars", "pyarrow"], pd.DataFrame),
        (["polars", "pyarrow"], pl.DataFrame),
        (["pyarrow"], pa.Table),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_arrays_come_back_as_the_first_installed_frame(monkeypatch, installed, kind):
    monkeypatch.setattr(partita.table.origin, "find_spec", lambda name: name if name in installed else None)
    assert isinstance(Table.read(np.eye(2)).frame_like({"label": np.array(["a", None], dtype=object)}), kind)


def test_a_frame_of_a_library_that_is_gone_comes_back_as_another(monkeypatch):
    monkeypatch.setattr(partita.table.origin, "find_spec", lambda name: None if name == "polars" else name)
    table = Table.read(pl.DataFrame({"a": [1.0, 2.0]}))
    assert isinstance(table.frame_like({"label": np.arange(2)}), pd.DataFrame)


def test_identical_rows_against_a_dictionary_of_rows():
    rng = np.random.default_rng(5)
    n = 3000
    frame = pd.DataFrame(
        {
            "a": rng.choice([0.0, -0.0, 1.5, np.nan], n),
            "s": rng.choice(["u", "v", ""], n),
            "n": rng.choice([0, 1, 7], n),
            "m": rng.choice([2.0, 3.0, np.nan], n),
        }
    )
    groups = Table.read(frame, column_types={"n": "count", "m": "count"}).identical_rows()
    first_met: dict = {}
    rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    expected = [first_met.setdefault(row, len(first_met)) for row in rows]
    assert groups.dtype == np.int64
    np.testing.assert_array_equal(groups, expected)


@pytest.mark.parametrize("cells", [[[1.0], [2.0], [1.0]], [["a"], ["b"], ["a"]]], ids=["numeric", "categorical"])
def test_identical_rows_with_empty_blocks(cells):
    np.testing.assert_array_equal(Table.read(cells).identical_rows(), [0, 1, 0])


@pytest.mark.filterwarnings("ignore:. rows? ha.* no observed cell:UserWarning")
def test_identical_rows_sees_values_not_bits():
    other_nan = np.array([0xFFF8000000000001], dtype=np.uint64).view(np.float64)[0]
    cells = np.array([[0.0], [-0.0], [np.nan], [other_nan], [1.0]])
    table = Table.read(cells, standardize=False)
    np.testing.assert_array_equal(table.identical_rows(), [0, 0, 1, 1, 2])
    same = Table.read(np.array([[0.0], [0.0], [np.nan], [np.nan], [1.0]]), standardize=False)
    assert table.fingerprint() == same.fingerprint()


def test_identical_rows_ignores_dropped_columns_and_one_row_is_one_group():
    with pytest.warns(UserWarning, match="constant"):
        table = Table.read(pd.DataFrame({"a": [1.0, 1.0, 2.0], "k": [5.0, None, 5.0]}))
    np.testing.assert_array_equal(table.identical_rows(), [0, 0, 1])
    np.testing.assert_array_equal(Table.read([[1.0]]).identical_rows(), [0])


@pytest.mark.filterwarnings("ignore:.* rows are copies of 500 rows:UserWarning")
def test_identical_rows_of_a_large_table():
    rng = np.random.default_rng(6)
    kinds = rng.normal(size=(500, 20))
    labels = np.concatenate([np.arange(500), rng.integers(500, size=99_500)])
    np.testing.assert_array_equal(Table.read(kinds[labels]).identical_rows(), labels)


@pytest.mark.parametrize("copy", [lambda t: t, lambda t: pickle.loads(pickle.dumps(t))], ids=["read", "pickled"])
def test_arrays_are_contiguous_and_read_only(copy):
    original = Table.read(FRAME, column_types=KINDS)
    table = copy(original)
    for name, dtype in (("numeric", np.float64), ("codes", np.int32), ("counts", np.int64)):
        block = getattr(table, name)
        assert block.dtype == dtype
        assert block.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            block[0, 0] = 0
        with pytest.raises(AttributeError):
            setattr(table, name, block)
    assert table.fingerprint() == original.fingerprint()
    assert table.frame_like({"l": np.arange(4)}).index.tolist() == ["p", "q", "r", "t"]


def test_the_input_is_neither_changed_nor_shared():
    values = np.array([[1.0, 2.0], [3.0, 5.0]])
    table = Table.read(values, standardize=False)
    before = table.numeric.copy()
    values[:] = 99.0
    np.testing.assert_array_equal(table.numeric, before)
    read_only = np.array([["a", 1.0], ["b", np.nan]], dtype=object)
    read_only.setflags(write=False)
    with pytest.warns(UserWarning, match="'x1'"):
        assert Table.read(read_only).n_rows == 2


def test_repr_says_rows_and_kinds():
    assert repr(Table.read(FRAME, column_types=KINDS)) == "Table(4 rows; columns: 1 numeric, 3 categorical, 1 count)"
