"""Hostile tables, each made from a seed alone, sent through everything that reads one.

`case` lets every exception through. What may come out is a ValueError, a TypeError or an OSError in words.
"""

import gzip
import pathlib
import struct
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzzing.odd_columns import NUMBERS, WHOLE, WORDS, arrow_column, pandas_column, polars_column, some

from partita import Mixture, Posterior
from partita.consensus import NBCE
from partita.table import KINDS, Column, Schema, Table
from partita.table.schema import TOLD

# What a library says of cells that it cannot turn into a frame or a file of its own.
_REFUSALS = (
    pa.ArrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, TypeError, OverflowError,
    NotImplementedError, OSError,
)  # fmt: skip


class NoTableError(Exception):
    """The library that was to make a table cannot."""


def warm_up() -> None:
    """Compile what the cases run, with tables that are not hostile."""
    rng = np.random.default_rng(0)
    frames = [pd.DataFrame(rng.normal(size=(n, d))) for n, d in ((12, 1), (40, 2), (5, 4))]
    frames += [pd.DataFrame(rng.choice(["x", "y"], (9, 2))), valid_frame(rng)[["a", "b", "c"]]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for table in frames:
            fit(table)
            fit(table.mask(rng.random(table.shape) < 0.2))
        agree(rng, rng.integers(0, 3, (9, 4)))
        summarize(rng, rng.integers(0, 3, (9, 4)))


def case(seed: int, folder: pathlib.Path) -> None:
    """Make the table of this seed and read it; files are written to the folder."""
    rng = np.random.default_rng(seed)
    makers = (mutated_file, mutated_file, odd_text, arrow_file, frame, frame, hand_built, array)
    make = makers[rng.integers(len(makers))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            X = make(rng, folder)
        except NoTableError:
            return
        uses = (cluster, cluster, summarize, agree) if not isinstance(X, Table) else (cluster, agree)
        if isinstance(X, pathlib.Path) and X.suffix in (".npy", ".npz"):
            uses = (summarize,)
        uses[rng.integers(len(uses))](rng, X)


# --- uses -----------------------------------------------------------------------------------------


def cluster(rng, X):
    told = {"a": TOLD[rng.integers(len(TOLD))]} if rng.random() < 0.3 and not isinstance(X, Table) else None
    fit(X, told)


def fit(X, told=None):
    model = Mixture(chains=1, draws=3, warmup=0, column_types=told, random_state=0)
    ask(model.fit(X), X)
    model.profile_  # noqa: B018  (computed on access)
    model.explain(0)


def agree(rng, X):
    ask(NBCE(chains=1, draws=3, warmup=0, random_state=0).fit(X), X)


def ask(model, X):
    model.predict(X)
    model.score_samples(X)
    model.to_frame()


def summarize(rng, X):
    posterior = Posterior.from_draws(X)
    posterior.estimate(runs=1, n_jobs=1)
    posterior.diagnostics()


# --- files ----------------------------------------------------------------------------------------


def valid_frame(rng):
    n = int(rng.integers(1, 12))
    return pd.DataFrame(
        {
            "a": rng.normal(size=n).round(2),
            "b": rng.choice(["x", "yes, no", 'q"q'], n),
            "c": rng.integers(0, 3, n),
            "d": pd.date_range("2020-01-01", periods=n).astype(str) if rng.random() < 0.2 else rng.random(n) < 0.5,
        }
    )


def mutated_file(rng, folder):
    """A file that was valid before some of its bytes were changed."""
    suffix = (".csv", ".csv.gz", ".parquet", ".npy", ".npz")[rng.integers(5)]
    path = folder / f"table{suffix}"
    if suffix in (".npy", ".npz"):
        labels = rng.integers(-1, 4, (int(rng.integers(1, 6)), 5)).astype(rng.choice(["i8", "u1", "f8", "U3"]))
        (np.save if suffix == ".npy" else np.savez_compressed)(path, labels)
    elif suffix == ".parquet":
        options = {"compression": str(rng.choice(["snappy", "zstd", "none", "gzip"])), "row_group_size": 5}
        pq.write_table(pa.Table.from_pandas(valid_frame(rng)), path, **options)
    else:
        valid_frame(rng).to_csv(path, index=False, sep=str(rng.choice([",", ";", "\t"])))
    path.write_bytes(mutated(rng, path.read_bytes()))
    return path


def mutated(rng, content):
    content = bytearray(content)
    for _ in range(int(rng.integers(0, 6))):
        at = int(rng.integers(len(content) + 1))
        change = rng.integers(7)
        if change == 0:
            del content[at:]
        elif change == 1:
            content[at : at + 1] = rng.bytes(1)
        elif change == 2:
            content[at:at] = rng.bytes(int(rng.integers(1, 9)))
        elif change == 3:
            del content[at : at + int(rng.integers(1, 20))]
        elif change == 4:
            content[at : at + 4] = struct.pack("<i", int(rng.choice([-1, 0, 2**31 - 1, -(2**31), 65535])))
        elif change == 5:
            content[at:at] = content[at : at + int(rng.integers(1, 200))] * int(rng.integers(1, 50))
        else:
            content[at:at] = (b'"', b"\n", b"\0", b",", b"\r", b"sep=,\n", b"\xef\xbb\xbf", b"9" * 400)[rng.integers(8)]
    return bytes(content)


def odd_text(rng, folder):
    """Text that is nearly a table."""
    pieces = (
        "a",
        "b",
        ",",
        ",",
        ";",
        "\t",
        "|",
        "\n",
        "\n",
        "\r\n",
        "\r",
        '"',
        "1",
        "2.5",
        "-1",
        " ",
        "NA",
        "0x1",
        "\0",
    )
    pieces += ("1e400", "9" * 30, "-inf", "2024-02-30", "0001-01-01", "x" * 200_000, "é", "sep=,\n", "true", "\ufeff")
    text = "".join(rng.choice(pieces, int(rng.integers(0, 60))))
    text = str(rng.choice(["", "", "a,b\n", "sep=;\n", "a\n", ",,,\n", "a,a\n", "," * 3000 + "\n"])) + text
    path = folder / "table.csv"
    content = text.encode()
    path.write_bytes(gzip.compress(content) * int(rng.integers(1, 3)) if rng.random() < 0.2 else content)
    return path


def arrow_file(rng, folder):
    """A Parquet file of odd columns."""
    path = folder / "table.parquet"
    try:
        pq.write_table(arrow_frame(rng), path)
    except _REFUSALS as error:
        raise NoTableError from error
    return path


# --- in memory ------------------------------------------------------------------------------------


def names(rng, n):
    plain = [chr(97 + j) for j in range(n)]
    odd = ["", " ", "a", "__index_level_0__", "label", "x0", "\0", "\ud7ff", "Unnamed: 0", "n" * 300]
    return plain if rng.random() < 0.8 else [str(name) for name in rng.choice(odd, n)]


def arrow_frame(rng):
    n, n_columns = int(rng.integers(0, 9)), int(rng.integers(0, 4))
    columns = [arrow_column(rng, n) for _ in range(n_columns)]
    if rng.random() < 0.2:
        columns = [pa.chunked_array([column, column]) for column in columns]
    return pa.table(columns, names=names(rng, n_columns))


def frame(rng, folder):
    """A frame of odd columns."""
    n, n_columns = int(rng.integers(0, 9)), int(rng.integers(0, 4))
    labels = names(rng, n_columns)
    library = rng.integers(3)
    try:
        if library == 0:
            return arrow_frame(rng)
        if library == 1:
            made = pd.DataFrame({j: pandas_column(rng, n) for j in range(n_columns)})
            return made.set_axis(labels, axis=1) if rng.random() < 0.8 else made
        return pl.DataFrame({label: polars_column(rng, n) for label in labels})
    except _REFUSALS as error:
        raise NoTableError from error


def array(rng, folder):
    """Arrays and lists of rows."""
    shape = tuple(int(length) for length in rng.integers(0, 6, rng.integers(0, 4)))
    makers = (
        lambda: rng.normal(size=shape),
        lambda: np.array(some(rng, (*NUMBERS, *WORDS, *WHOLE, (1,), b"x"), 12), dtype=object)[:, None].reshape(4, 3),
        lambda: rng.integers(-(2**63), 2**63 - 1, shape),
        lambda: rng.integers(0, 2**64 - 1, shape, dtype=np.uint64),
        lambda: rng.normal(size=shape).astype(rng.choice(["f2", "f4", "g", "c16", "U2", "S2", "M8[D]", "m8[s]", "?"])),
        lambda: np.zeros(3, dtype=[("x", "f8"), ("y", "i4")]),
        lambda: np.ma.masked_array(rng.normal(size=(4, 2)), mask=rng.random((4, 2)) < 0.5),
        lambda: [some(rng, (*NUMBERS, *WORDS, *WHOLE), int(rng.integers(0, 4))) for _ in range(4)],
        lambda: some(rng, (*NUMBERS, *WORDS, None, [], {}, [1], ["a"]), 4),
        lambda: np.broadcast_to(rng.normal(size=2), (5, 2)),
        lambda: rng.normal(size=(6, 4))[::-2, ::-1],
        lambda: rng.normal(size=(4, 3)).astype(">f8"),
    )
    return makers[rng.integers(len(makers))]()


def hand_built(rng, folder):
    """A Table of arrays that its schema may not know."""
    n = int(rng.integers(0, 8))
    columns = tuple(_column(rng, j) for j in range(int(rng.integers(0, 5))))
    dropped = tuple(column.name for column in columns if rng.random() < 0.1)
    schema = Schema(columns, dropped)
    blocks = [
        _block(rng, n, len(schema.numeric), (0.0, 1.0, -2.0, np.nan, 1e300, np.inf), "f8"),
        _block(rng, n, len(schema.categorical), (-1, 0, 1, 2, 5, 2**40, -7), "i8"),
        _block(rng, n, len(schema.counts), (-1, 0, 1, 3, 2**53, 2**60, -9), "i8"),
    ]
    weights = None if rng.random() < 0.7 else rng.choice([0, 1, 2, -1, 0.5, 1e300], n)
    return Table(schema, *blocks, weights=weights)


def _column(rng, j):
    kind = KINDS[rng.integers(3)] if rng.random() < 0.98 else "ordinal"
    levels = tuple(some(rng, ("a", "b", 1, 2.5, True), int(rng.integers(0, 4)), missing=0.02))
    levels = tuple(dict.fromkeys(levels)) if rng.random() < 0.95 else levels
    center, scale = rng.choice([0.0, 3.0, 1e300, np.nan], p=[0.5, 0.3, 0.18, 0.02]), rng.choice([1.0, 1e-300, 1e300])
    return Column(f"x{j}", kind, levels if kind == "categorical" else (), float(center), float(scale))


def _block(rng, n, n_columns, values, dtype):
    block = rng.choice(values[: rng.integers(3, len(values) + 1)], (n, n_columns)).astype(dtype)
    odd = rng.random()
    if odd < 0.05:
        return block[: n // 2]
    if odd < 0.1:
        return block.astype(rng.choice(["f8", "i1", "u8", "O", "U3"]))
    return block.T if odd < 0.15 else block
