"""What a Table, a Schema and a Column are made of is checked where they are made: compiled code trusts it."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from partita import Mixture
from partita.model.model import Model
from partita.table import Column, Schema, Table

SCHEMA = Schema(
    (
        Column("size", "numeric", center=2.0, scale=3.0),
        Column("kind", "categorical", levels=("fig", "plum")),
        Column("shape", "categorical", levels=(1, 2, 3)),
        Column("visits", "count"),
        Column("same", "numeric", center=math.nan),
    ),
    dropped=("same",),
)
NUMERIC = np.array([[0.5], [np.nan], [-1.0]])
CODES = np.array([[0, 2], [1, -1], [-1, 0]], dtype=np.int32)
COUNTS = np.array([[4], [-1], [2**53]])


def table(**changes):
    return Table(**{"schema": SCHEMA, "numeric": NUMERIC, "codes": CODES, "counts": COUNTS} | changes)


def changed(block, row, column, value, dtype=None):
    block = block.astype(dtype or block.dtype)
    block[row, column] = value
    return block


def test_what_is_right_is_taken_as_it_is():
    made = table(codes=CODES.astype(np.uint8, casting="unsafe") * 0, weights=[1, 0, 2])
    assert made.codes.dtype == np.int32
    np.testing.assert_array_equal(made.row_weights, [1.0, 0.0, 2.0])
    again = pickle.loads(pickle.dumps(made))
    assert not again.codes.flags.writeable
    assert again.fingerprint() == made.fingerprint()
    assert np.shares_memory(table().numeric, NUMERIC)
    assert table(numeric=NUMERIC.astype(np.float32)).numeric.dtype == np.float64


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"codes": changed(CODES, 1, 0, 2)}, r"Column 'kind' of a Table holds the code 2 in row 1: .* 0 to 1, or -1"),
        ({"codes": changed(CODES, 0, 1, 10**6)}, r"Column 'shape' of a Table holds the code 1000000 in row 0"),
        ({"codes": changed(CODES, 2, 0, -2)}, r"Column 'kind' of a Table holds the code -2 in row 2"),
        ({"codes": changed(CODES, 2, 0, 2**32, np.int64)}, r"holds the code 4294967296 in row 2"),
        ({"codes": np.full((3, 2), 2**64 - 1, np.uint64)}, r"holds the code 18446744073709551615 in row 0"),
        ({"codes": CODES[:, :1]}, r"The block codes of a Table must have shape \(n_rows, 2\).* got \(3, 1\)"),
        ({"codes": CODES[0]}, r"The block codes of a Table must have shape \(n_rows, 2\).* got \(2,\)"),
        ({"codes": CODES[:2]}, r"one row per row of the table, got 3, 2 and 3 rows"),
        ({"counts": changed(COUNTS, 0, 0, -2)}, r"Column 'visits' of a Table holds the count -2 in row 0"),
        ({"counts": changed(COUNTS, 0, 0, 2**53 + 1)}, r"holds the count 9007199254740993 in row 0"),
        ({"numeric": changed(NUMERIC, 2, 0, -np.inf)}, r"Column 'size' of a Table is infinite in row 2"),
        ({"weights": np.ones(2)}, r"The weights of a Table must have shape \(3,\), one per row, got \(2,\)"),
        ({"weights": np.array([1.0, 0.5, 1.0])}, r"non-negative whole numbers: row 1 holds another \(first 0.5\)"),
        ({"weights": np.array([np.nan, 1.0, -1.0])}, r"non-negative whole numbers: rows 0, 2 hold others"),
    ],
)
def test_cells_outside_their_range_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        table(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"codes": CODES.astype(np.float64)},
        {"codes": CODES.astype(object)},
        {"codes": CODES >= 0},
        {"counts": COUNTS.astype(np.float64)},
        {"numeric": NUMERIC.astype(str)},
        {"numeric": NUMERIC.astype(np.complex128)},
        {"weights": np.array(["a", "b", "c"])},
        {"schema": SCHEMA.to_dict()},
        {"origin": None},
    ],
)
def test_arrays_of_another_kind_are_not_cast(changes):
    with pytest.raises(TypeError, match="Table"):
        table(**changes)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"name": 3}, TypeError, "name must be text"),
        ({"kind": "numbers"}, ValueError, "must be one of numeric, positive, date, categorical, count, got 'numbers'"),
        ({"levels": ["a"]}, TypeError, "must be a tuple"),
        ({"levels": ("a", None)}, TypeError, "text, numbers or truth values"),
        ({"levels": ("a", "a")}, ValueError, "must differ"),
        ({"levels": (1, math.nan)}, ValueError, "must be finite"),
        ({"center": math.inf}, ValueError, "finite center"),
        ({"center": "0"}, TypeError, "must be numbers"),
        ({"scale": 0.0}, ValueError, "scale above 0"),
        ({"scale": math.nan}, ValueError, "scale above 0"),
    ],
)
def test_columns(options, error, words):
    with pytest.raises(error, match=words):
        Column(**{"name": "a", "kind": "categorical"} | options)


def test_schemas():
    a, b = Column("a", "numeric"), Column("b", "count", center=math.nan)
    with pytest.raises(ValueError, match="these repeat: 'a'"):
        Schema((a, a))
    with pytest.raises(ValueError, match="drops 'c' without a column of that name"):
        Schema((a,), ("c",))
    with pytest.raises(ValueError, match="center of 'b' is nan"):
        Schema((a, b))
    with pytest.raises(TypeError, match="tuple of Column"):
        Schema([a])
    with pytest.raises(TypeError, match="tuple of names"):
        Schema((a,), "a")
    assert Schema((a, b), ("b",)).used == (a,)


@pytest.mark.parametrize(
    ("weights", "error"),
    [
        (np.ones(3), TypeError),
        (np.ones(2, np.int64), ValueError),
        (np.array([1, -1, 1]), ValueError),
    ],
)
def test_the_weights_of_a_model(weights, error):
    rows = np.array([[0.0], [1.0], [5.0]])
    model = Mixture(chains=1, draws=5, warmup=0, random_state=0)
    with pytest.warns(UserWarning, match="Too few draws"):
        model.fit(rows)
    with pytest.raises(error, match="row weights of a Model"):
        Model(model._model.likelihood, model._model.prior, model._model.table, weights)


def test_a_new_cell_far_beyond_all_scales_stays_finite():
    read = Table.read(np.array([[1e-300], [2e-300], [4e-300]]))
    far = Table.read(np.array([[1e300], [-1e300]]), schema=read.schema)
    np.testing.assert_array_equal(far.numeric[:, 0], np.array([1, -1]) * np.finfo(float).max)


def test_a_changed_copy_is_checked_too():
    with pytest.raises(ValueError, match="code 7"):
        replace(table(), codes=np.full((3, 2), 7))
