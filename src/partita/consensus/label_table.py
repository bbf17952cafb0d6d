"""Label matrices as categorical tables: one row per object, one column per base clustering."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import count, islice
from typing import Any, NoReturn

import narwhals as nw
import numpy as np

from partita.engines.table_reader import TableReader
from partita.labels import counted
from partita.parameters import whole_number
from partita.partitions import Partitions
from partita.table import Column, Schema, Table, read_file
from partita.table.cells import TIMES, WIDER_THAN_NUMPY
from partita.table.encoding import Reading, encode_codes, read_column
from partita.table.python_cells import python_cells
from partita.table.schema import automatic_names
from partita.table.source import Origin, Source, align, open_source
from partita.table.unseen import UnseenValues, checked_unseen
from partita.wording import count_of, name_rows, name_some

FEWEST_NAMES = 10
"""Objects of which no two share a label before that is odd."""
NOT_LABELLED = (-1, "-1")
"""Besides None, nan and empty text."""
MOST_NOT_OCCURRING = 1_000_000
"""Labels of all base clusterings that no object has. With a model of 100 clusters they take some gigabytes."""


def label_table(Y: Any, *, schema: Schema | None = None, unseen: str = "missing", n_labels: Any = None) -> Table:
    """Read base clusterings as a table that has nothing but categorical columns.

    Labels are whole numbers, text, truth values or categories; -1, "-1", None, nan and empty text mean that the
    object has no label there. A column that holds one label, or none, stays: it says nothing. One column is in work
    at a time: besides Y and the codes (int32; with ``n_labels`` two copies) the memory is O(n). Cost O(n) per column of
    whole numbers that are not spread over a wide range, O(n log n) for others.

    Parameters
    ----------
    Y : array-like, frame or path of shape (n_objects, n_clusterings), or Partitions
        A `Partitions` has one row per clustering and is turned over. A `Table` of labels comes back as it is, with more
        labels where ``n_labels`` says so.
    schema : Schema, optional
        The columns and labels of an earlier matrix. Columns that only a new frame or file has are left out with a
        warning.
    unseen : {"missing", "error"}
        What becomes of a label that the schema does not know: none, with one warning for all of them; or an error.
    n_labels : int or sequence of int, optional
        How many labels every column has, or each of them, counting those that do not occur. Of whole numbers they are
        0, 1, ... where any column has a label 0, otherwise 1, 2, ...; see `all_labels`.

    Raises
    ------
    TypeError
        Times, lists and other things that are no labels. Text is a label, also where it reads as a time.
    ValueError
        Numbers that are not whole, matrices of another shape, matrices without any label, an ``n_labels`` that cannot
        be, and unknown labels where ``unseen`` is "error".
    """
    if isinstance(Y, Table):
        return _already_read(Y, schema, n_labels)
    strange = UnseenValues(checked_unseen(unseen))
    source = _open(Y, schema)
    if schema is not None:
        columns = align(source, schema.names)
        table = _encoded(source, [(name, columns[name]) for name in schema.names], schema.columns, strange)
        strange.warn()
        return table
    _warn_of_shape(source)
    named = list(zip(source.names, source.columns))
    wanted = wanted_labels(n_labels, len(named))
    table = _encoded(source, named, [None] * len(named), strange, wanted)
    if table.empty_rows.all():
        raise ValueError(
            "No object has a label in any clustering. Pass labels; -1, None and nan mean that there is none."
        )
    table = _with_labels(table, wanted) if wanted else table
    warn_of_unlabelled(table.empty_rows)
    _warn_of_names(table)
    return table


def columns_of(Y: Any) -> Any:
    """Partitions with one column per clustering; anything else as it is."""
    return Y.flat.T if isinstance(Y, Partitions) else Y


class LabelReader(TableReader):
    """Reads raw labels by the schema that fit learned."""

    def table(self, X: Any, schema: Schema) -> Table:
        """Raw labels by a schema; see `label_table`."""
        return label_table(X, schema=schema, unseen=self.unseen)


def _already_read(table: Table, schema: Schema | None, n_labels: Any) -> Table:
    numbers = [column.name for column in table.schema.columns if column.kind != "categorical"]
    if numbers:
        raise TypeError(
            f"Y is a Table whose columns are not all labels ({name_some(numbers, len(numbers))}): pass what it was read"
            " from."
        )
    read = Table.read(table, schema=schema)
    wanted = wanted_labels(n_labels, len(table.names)) if schema is None else ()
    return _with_labels(read, wanted) if wanted else read


def _with_labels(table: Table, n_labels: Sequence[int]) -> Table:
    """The table with so many labels in every column; see `all_labels`."""
    learned, codes = table.schema.columns, table.codes.copy()
    more = sum(max(0, number - len(column.levels)) for column, number in zip(learned, n_labels))
    if more > MOST_NOT_OCCURRING:
        raise ValueError(
            f"n_labels says that there are {more:,} labels that do not occur, more than {MOST_NOT_OCCURRING:,}: pass "
            "how many labels a base clustering can have, or leave it out."
        )
    from_0 = any(type(label) is int and label == 0 for column in learned for label in column.levels)
    columns = [
        replace(column, levels=all_labels(column.name, column.levels, number, 0 if from_0 else 1))
        for column, number in zip(learned, n_labels)
    ]
    for m, (old, new) in enumerate(zip(learned, columns)):
        place_of = {label: place for place, label in enumerate(new.levels)}
        places = np.array([*map(place_of.__getitem__, old.levels), -1], dtype=np.int32)
        codes[:, m] = places[codes[:, m]]
    return replace(table, schema=Schema(tuple(columns)), codes=codes)


def _open(Y: Any, schema: Schema | None) -> Source:
    """Named columns; those of an array are views of it."""
    if isinstance(Y, str | os.PathLike):
        return replace(open_source(read_file(Y, schema=schema, categories=True)), origin=Origin())
    Y = columns_of(Y)
    depth = _depth(Y)
    if depth in (1, 3):
        _refuse_depth(depth)
    plain = isinstance(Y, np.ndarray) and not isinstance(Y, np.ma.MaskedArray)
    if not plain or Y.ndim != 2 or Y.size == 0:
        return open_source(Y)
    n_objects, n_columns = Y.shape
    return Source(automatic_names(n_columns), tuple(Y.T), n_objects, is_frame=False, origin=Origin())


def _depth(Y: Any) -> int:
    """How many dimensions there are; of lists by their first members."""
    if not isinstance(Y, list | tuple):
        return len(getattr(Y, "shape", ()))
    return 1 + _depth(Y[0]) if Y else 0


def _refuse_depth(depth: int) -> NoReturn:
    if depth == 1:
        raise ValueError(
            "Y has one dimension, but labels come as (n_objects, n_clusterings). Reshape your data: one clustering is "
            "Y.reshape(-1, 1), one object Y.reshape(1, -1); a list of clusterings is numpy.column_stack(clusterings)."
        )
    raise ValueError(
        "Y has three dimensions, but labels come as (n_objects, n_clusterings). Draws of several chains are "
        "Partitions(Y) where the last dimension is the objects."
    )


def _encoded(
    source: Source,
    columns: Sequence[tuple[str, Any]],
    known: Sequence[Column | None],
    unseen: UnseenValues,
    n_labels: Sequence[int] = (),
) -> Table:
    codes = np.empty((source.n_rows, len(columns)), dtype=np.int32)
    schema = []
    for m, ((name, cells), column) in enumerate(zip(columns, known)):
        labels = _read_labels(name, cells)
        schema.append(column or _learned(labels, n_labels[m] if n_labels else 0))
        codes[:, m] = encode_codes(labels, schema[m], unseen=unseen)
    none = np.empty((source.n_rows, 0), dtype=np.int64)
    return Table(Schema(tuple(schema)), none, codes, none, source.origin)


def _learned(labels: Reading, n_labels: int) -> Column:
    """The column with the labels that occur in it, numbers before text, each in order.

    Categories that do not occur are among them if there are no more than ``n_labels`` in all.
    """
    seen = [labels.distinct[code] for code in np.flatnonzero(np.bincount(labels.values[labels.observed]))]
    known = [label for label in labels.distinct if label != ""]
    levels = known if len(known) <= n_labels else seen
    return Column(labels.name, "categorical", tuple(sorted(levels, key=lambda label: (type(label).__name__, label))))


def all_labels(name: str, seen: tuple, n_labels: int, first: int = 0) -> tuple:
    """The labels of a base clustering of which some do not occur.

    Whole numbers are 0, ..., n_labels - 1 or 1, ..., n_labels: those that begin with ``first``, or the others if only
    these fit. Of other labels nobody knows what those are called that do not occur: they only count.
    """
    if len(seen) > n_labels:
        raise ValueError(f"Column {name!r} has {count_of(len(seen), 'label')}, and n_labels says {n_labels}.")
    if all(type(label) is int for label in seen):
        for start in (first, 1 - first):
            all_of_them = range(start, start + n_labels)
            if all(label in all_of_them for label in seen):
                return tuple(all_of_them)
    met = set(seen)  # of a table that was read with some
    unnamed = (label for i in count(1) if (label := f"(does not occur: {i})") not in met)
    return (*seen, *islice(unnamed, n_labels - len(seen)))


def wanted_labels(n_labels: Any, n_columns: int) -> tuple[int, ...]:
    """How many labels each column is said to have; none if nothing is said."""
    if n_labels is None:
        return ()
    n_labels = n_labels[()] if isinstance(n_labels, np.ndarray) else n_labels  # without dimensions it is a number
    if isinstance(n_labels, str | bytes) or not isinstance(n_labels, Sequence | np.ndarray):
        return (whole_number("n_labels", n_labels, 1, also="one per base clustering"),) * n_columns
    if len(n_labels) != n_columns:
        raise ValueError(
            f"n_labels has {count_of(len(n_labels), 'number')} for {count_of(n_columns, 'base clustering')}."
        )
    return tuple(whole_number("n_labels", number, 1) for number in n_labels)


def _read_labels(name: str, column: Any) -> Reading:
    """Codes (-1: not labelled) and the labels that they count; some may not occur."""
    numbers = _numbers(column)
    if numbers is not None:
        return Reading(name, "categorical", *_count_off(name, numbers))
    _refuse_times(name, column)
    reading = read_column(name, column, "categorical")
    for code, label in enumerate(reading.distinct):
        if isinstance(label, float) and not label.is_integer():
            _refuse_fraction(name, int(np.flatnonzero(reading.values == code)[0]), label)
    kept = [label not in NOT_LABELLED for label in reading.distinct]
    code_of = np.array([*np.where(kept, np.cumsum(kept) - 1, -1), -1], dtype=np.int32)
    labels = tuple(label for label, keep in zip(reading.distinct, kept) if keep)
    return Reading(name, "categorical", code_of[reading.values], labels)


def _numbers(column: Any) -> np.ndarray | None:
    """The cells of a column of integers or floats; None for one of another type, or with gaps that -1 cannot fill."""
    if isinstance(column, nw.Series):
        if column.dtype.is_integer() and column.dtype not in WIDER_THAN_NUMPY:
            if not column.is_null().any():
                return column.to_numpy()
            return column.fill_null(-1).to_numpy() if column.dtype.is_signed_integer() else None
        return column.fill_null(float("nan")).to_numpy() if column.dtype.is_float() else None
    return np.ascontiguousarray(column) if column.dtype.kind in "iuf" else None


def _count_off(name: str, numbers: np.ndarray) -> tuple[np.ndarray, tuple]:
    """Codes and labels of a column of whole numbers, by size."""
    if numbers.dtype.kind == "f":
        fractions = np.flatnonzero((numbers != np.floor(numbers)) & ~np.isnan(numbers))  # infinite ones are whole
        bad = fractions if len(fractions) else np.flatnonzero(np.isinf(numbers))
        if len(bad):
            _refuse_fraction(name, int(bad[0]), numbers[bad[0]].item())
    codes, labels = counted(numbers)
    return codes, tuple(map(int, labels))


def _refuse_fraction(name: str, row: int, value: float) -> NoReturn:
    raise ValueError(
        f"Column {name!r}, row {row} holds {value!r}, which is no label: numbers that are labels are whole. Round the "
        "column if it holds labels; a table of measurements is for partita.Mixture (command line: partita cluster), "
        "which finds the groups itself."
    )


def _refuse_times(name: str, column: Any) -> None:
    of_series = isinstance(column, nw.Series)
    if of_series and column.dtype in (nw.Categorical, nw.Enum, nw.String):
        return
    if of_series and column.dtype.is_temporal():
        kinds, row = [True], 0
    else:
        cells = python_cells(name, column) if of_series else column
        kinds = [issubclass(kind, TIMES) for kind in map(type, cells)]
        row = kinds.index(True) if True in kinds else -1
    if row >= 0:
        raise TypeError(
            f"Column {name!r} holds times (row {row}), and labels are whole numbers or text. Leave the column out, or "
            "turn it into text if each time names a group."
        )


def _warn_of_shape(source: Source) -> None:
    n_clusterings = len(source.names)
    if n_clusterings > source.n_rows:
        _warn(
            f"Y has {count_of(source.n_rows, 'object')} (rows) and {n_clusterings} clusterings (columns): is it "
            "transposed? If so, pass Y.T."
        )
    elif n_clusterings == 1:
        _warn(
            "Y holds a single clustering. Nothing says which of its labels belong together, so the consensus may "
            "merge them: pass two clusterings or more."
        )


def _warn_of_names(table: Table) -> None:
    n_labelled = (table.codes >= 0).sum(axis=0)
    names = [c.name for c, n in zip(table.schema.columns, n_labelled) if len(c.levels) == n >= FEWEST_NAMES]
    if names:
        _warn(
            f"No two objects share a label in {name_some(names, len(names))}: leave out what is no clustering (command "
            "line: with --ignore, or name the objects by it with --id)."
        )


def warn_of_unlabelled(empty: np.ndarray, where: str = "any clustering") -> None:
    """Say which objects have no label, and where they go."""
    rows = np.flatnonzero(empty)
    if len(rows):
        has, they_go = ("has", "it goes") if len(rows) == 1 else ("have", "they go")
        _warn(
            f"{count_of(len(rows), 'object')} {has} no label in {where} ({name_rows(rows)}): {they_go} with the "
            "largest cluster."
        )


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)
