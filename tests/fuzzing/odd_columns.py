"""Columns as strangers send them: every type that a frame library has, at the ends of its range."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

WORDS = ("a", "b", "", " ", "NA", "nan", "1", "-1", "true", "007", "1,5", "é", "\0", "a\nb", '"', "\u2028", "x" * 5000)
WRITTEN = (
    ("31.12.2024", "1.2.2024", "30.02.2024", "NA"),
    ("01/02/2024", "12/31/2024 11:59 PM", "0001-01-01", "31/12/9999"),
    ("2024-12-31T07:05+14:00", "0001-01-01T00:00+05:00", "9999-12-31T23:59Z", ""),
    ("1,234", "1.234,5", "(5)", "$1", "€1", "9" * 400, "?"),
    ("12%", "100 %", "-5%", "0%", "5"),
)
"""Dates and numbers that may or may not agree."""
NUMBERS = (0.0, -0.0, 1.0, 2.5, -7.0, 1e-300, 1e300, -1.7e308, 5e-324, float("nan"), float("inf"))
WHOLE = (0, 1, -1, 2, 127, 2**31 - 1, 2**53 + 1, 2**63 - 1, -(2**63))

# Arrow type -> the whole numbers that its cells are made of, as they lie in memory.
ARROW_NUMBERS = (
    pa.int8(), pa.uint8(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.date32(), pa.date64(),
    pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.duration("s"), pa.duration("ns"),
    pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.timestamp("us", "Europe/Berlin"), pa.timestamp("ns"),
    pa.decimal32(9, 2), pa.decimal64(18, -3), pa.decimal128(38, 0), pa.decimal256(76, 10), pa.month_day_nano_interval(),
)  # fmt: skip


def some(rng, values, n, missing=0.2):
    """Cells drawn from values, some of them None."""
    return [None if rng.random() < missing else values[rng.integers(len(values))] for _ in range(n)]


def arrow_column(rng, n):
    """A column of any Arrow type; the cells of many are random bytes."""
    make = ARROW_MAKERS[rng.integers(len(ARROW_MAKERS))]
    return make(rng, n)


def _of_bytes(rng, n):
    kind = ARROW_NUMBERS[rng.integers(len(ARROW_NUMBERS))]
    width = kind.bit_width // 8
    content = rng.integers(0, 256, n * width, dtype=np.uint8)
    if rng.random() < 0.5:  # small numbers
        content = content.reshape(n, width)
        content[:, 1:] = 0
    present = pa.py_buffer(np.packbits(rng.random(n) < 0.8, bitorder="little").tobytes())
    return pa.Array.from_buffers(kind, n, [present if rng.random() < 0.5 else None, pa.py_buffer(content.tobytes())])


def _text(rng, n):
    kinds = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())
    return pa.array(some(rng, WORDS, n)).cast(kinds[rng.integers(len(kinds))])


def _written(rng, n):
    return pa.array(some(rng, WRITTEN[rng.integers(len(WRITTEN))][: rng.integers(1, 7)], n), pa.string())


def _invalid_text(rng, n):
    cells = some(rng, (b"\xff", b"a", b"\xed\xa0\x80", b"\xc0\x80"), n)
    return pa.array(cells, pa.binary()).cast(pa.string(), safe=False) if rng.random() < 0.5 else _view(cells)


def _view(cells):
    kind = pa.binary()
    array = pa.array(cells, kind)
    return pa.Array.from_buffers(pa.string(), len(array), array.buffers())


def _fixed_binary(rng, n):
    return pa.array(some(rng, (b"abc", b"\0\0\0"), n), pa.binary(3))


def _nothing(rng, n):
    return pa.nulls(n)


def _truth(rng, n):
    return pa.array(some(rng, (True, False), n), pa.bool_())


def _nested(rng, n):
    inner = pa.array(some(rng, WHOLE, n), pa.int64())
    makers = (
        lambda: pa.array([[1]] * n),
        lambda: pa.array([["a", None], []] * n)[:n],
        lambda: pa.StructArray.from_arrays([inner], ["x"]),
        lambda: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int64())),
        lambda: pa.FixedSizeListArray.from_arrays(pa.array([1] * 2 * n), 2),
        lambda: pa.array([[[1]]] * n),
        lambda: pa.UnionArray.from_sparse(pa.array([0] * n, pa.int8()), [inner]),
    )
    return makers[rng.integers(len(makers))]()


def _dictionary(rng, n):
    values = (
        pa.array(["a", "b", None]),
        pa.array(["a", "a", ""]),
        pa.array([1.5, float("nan"), 1.5]),
        pa.array([datetime.date(2020, 1, 1), None, datetime.date(1, 1, 1)]),
        pa.array([True, False, None]),
        pa.array([b"x", b"\xff", b""]),
        pa.array([2**63 - 1, 0, -1]),
        _of_bytes(rng, 3),
    )
    indices = pa.array(some(rng, (0, 1, 2), n), pa.int8())
    return pa.DictionaryArray.from_arrays(indices, values[rng.integers(len(values))])


def _run_end_encoded(rng, n):
    return pa.RunEndEncodedArray.from_arrays(pa.array([n], pa.int32()), pa.array(["a"]))


def _extension(rng, n):
    if rng.random() < 0.5:
        return pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(range(16))] * n, pa.binary(16)))
    return pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a": 1}'] * n))


def _plain(rng, n):
    return pa.array(rng.normal(size=n)) if rng.random() < 0.5 else pa.array(rng.choice(["a", "b"], n))


ARROW_MAKERS = (
    _of_bytes, _of_bytes, _of_bytes, _text, _written, _written, _invalid_text, _fixed_binary, _nothing, _truth, _nested,
    _dictionary, _dictionary, _run_end_encoded, _extension, _plain, _plain,
)  # fmt: skip


def pandas_column(rng, n):
    """A pandas column of any type."""
    makers = (
        lambda: pd.Series(some(rng, NUMBERS, n), dtype=object),
        lambda: pd.Series(some(rng, WORDS, n), dtype=object),
        lambda: pd.Series(
            some(rng, (*NUMBERS, *WORDS, *WHOLE, None, True, (1,), {}, b"x", 1j, pd.NaT), n), dtype=object
        ),
        lambda: pd.Series(
            some(rng, (10**400, -1, 3, decimal.Decimal("1e999"), decimal.Decimal("sNaN")), n), dtype=object
        ),
        lambda: pd.Series(some(rng, WHOLE, n), dtype="Int64"),
        lambda: pd.Series(some(rng, (0, 2**64 - 1), n), dtype="UInt64"),
        lambda: pd.Series(some(rng, WORDS, n), dtype="string"),
        lambda: pd.Series(some(rng, (True, False), n), dtype="boolean"),
        lambda: pd.Series(pd.Categorical(some(rng, ("a", "b", 1, 2.5), n))),
        lambda: pd.Series(pd.Categorical(some(rng, (pd.Timestamp(0), pd.Timestamp.max), n))),
        lambda: pd.Series(pd.interval_range(0, n), dtype="interval"),
        lambda: pd.Series(pd.period_range("2020", periods=n, freq="D")),
        lambda: pd.Series(pd.arrays.SparseArray(rng.integers(0, 2, n))),
        lambda: pd.Series(rng.integers(-(2**62), 2**62, n).astype("datetime64[s]"), dtype="datetime64[s]"),
        lambda: pd.Series(rng.integers(0, 9, n).astype("timedelta64[ns]")),
        lambda: pd.Series(rng.normal(size=n) + 1j),
        lambda: pd.Series(rng.normal(size=n).astype(np.float16)),
        lambda: pd.Series(rng.normal(size=n).astype(np.longdouble)),
        lambda: pd.Series(rng.normal(size=n)),
        lambda: pd.Series(arrow_column(rng, n).to_pandas()),
        lambda: pd.Series(pd.arrays.ArrowExtensionArray(arrow_column(rng, n))),
    )
    return makers[rng.integers(len(makers))]()


def polars_column(rng, n):
    """A polars column of any type."""
    makers = (
        lambda: pl.Series(some(rng, NUMBERS, n)),
        lambda: pl.Series(some(rng, WORDS, n), dtype=pl.String),
        lambda: pl.Series(some(rng, ("a", "b"), n), dtype=pl.Categorical),
        lambda: pl.Series(some(rng, ("a", "b"), n), dtype=pl.Enum(["b", "a", "never"])),
        lambda: pl.Series(some(rng, (object(), 3, "a"), n, missing=0), dtype=pl.Object),
        lambda: pl.Series(some(rng, (2**100, -1, 0), n), dtype=pl.Int128),
        lambda: pl.Series(some(rng, (1, 2), n), dtype=pl.Decimal(38, 2)),
        lambda: pl.Series(rng.integers(-(2**31), 2**31, n), dtype=pl.Int32).cast(pl.Date),
        lambda: pl.Series(rng.integers(-(2**63), 2**63 - 1, n)).cast(pl.Datetime("ms")),
        lambda: pl.Series(rng.integers(-(2**63), 2**63 - 1, n)).cast(pl.Duration("ms")),
        lambda: pl.Series([[1, 2]] * n),
        lambda: pl.Series([{"a": 1}] * n),
        lambda: pl.Series([b"\xff"] * n),
        lambda: pl.Series([None] * n),
        lambda: pl.Series(rng.normal(size=n)),
        lambda: pl.from_arrow(arrow_column(rng, n)),
    )
    return makers[rng.integers(len(makers))]()
