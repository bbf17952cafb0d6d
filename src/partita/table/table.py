"""Table: an immutable typed table with missing cells that remembers the user's units."""

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from partita.table.array_checks import code_block, count_block, numeric_block, refuse_lengths, whole_weights
from partita.table.column_keys import named_columns
from partita.table.dates import dates_of
from partita.table.distinct import distinct_rows
from partita.table.encoding import Reading, encode_codes, encode_numeric, learn_schema, read_column
from partita.table.identifiers import warn_of_identifiers, warn_of_many_categories
from partita.table.kinds import guessed_kinds
from partita.table.missing_values import empty_column, empty_reading, marks_of
from partita.table.origin import Origin
from partita.table.positive import as_positive
from partita.table.repeated_rows import warn_of_repeated_rows
from partita.table.schema import Column, ColumnKind, Kind, MissingPairs, Schema
from partita.table.sentinels import warn_of_sentinels
from partita.table.source import Source, align, open_source, told_kinds, told_missing, told_steps
from partita.table.tails import guessed_positive
from partita.table.text_values import warn_of_text_values, warn_of_times_of_day
from partita.table.units import from_standard, log_jacobian
from partita.table.unseen import UnseenValues, checked_unseen
from partita.table.weights import check_weights
from partita.table.zeros import YES, amounts, parted_zeros, zero_flags
from partita.wording import count_of, name_rows


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to be grouped: a numeric, a categorical and a count block, each possibly of no columns.

    Made by :meth:`read`. The arrays are C-contiguous and read-only. What is given is checked in one pass, since
    compiled code trusts it, and is not copied where it need not be: do not write to it afterwards.

    Parameters
    ----------
    schema : Schema
        The columns and what was learned of them.
    numeric : ndarray of shape (n_rows, p), float64
        (x - center) / scale, of positive columns (log(x + offset) - center) / scale; nan = missing.
    codes : ndarray of shape (n_rows, c), int32
        Position among the column's levels; -1 = missing.
    counts : ndarray of shape (n_rows, q), int64
        Counts; -1 = missing.
    origin : Origin
        The kind of frame that came in, and its index.
    weights : ndarray of shape (n_rows,), optional
        How often each row counts for a family that learns its open numbers from the table; once by default.

    Raises
    ------
    TypeError, ValueError
        Blocks of another shape or kind of number than the schema says, and cells outside their range.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Table.read(pd.DataFrame({"size": [1.0, 2.0, None], "colour": ["red", "blue", "red"]}))
    >>> table.names, table.n_rows
    (('size', 'colour'), 3)
    """

    schema: Schema
    numeric: np.ndarray
    codes: np.ndarray
    counts: np.ndarray
    origin: Origin = field(default_factory=Origin)
    weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.schema, Schema) or not isinstance(self.origin, Origin):
            raise TypeError("A Table is made of a Schema, three blocks and an Origin: Table.read(X) makes one of X.")
        blocks = {
            "numeric": numeric_block(self.numeric, self.schema),
            "codes": code_block(self.codes, self.schema),
            "counts": count_block(self.counts, self.schema),
        }
        refuse_lengths(**blocks)
        for name, block in blocks.items():
            read_only = block.view()
            read_only.setflags(write=False)
            object.__setattr__(self, name, read_only)
        if self.weights is not None:
            object.__setattr__(self, "weights", whole_weights(self.weights, self.n_rows, "The weights of a Table"))

    def __reduce__(self) -> tuple:
        # By the constructor, so that a copy from a pickle is read-only too.
        return type(self), (self.schema, self.numeric, self.codes, self.counts, self.origin, self.weights)

    def __repr__(self) -> str:
        described = ", ".join(f"{block.shape[1]} {kind}" for kind, block in self.by_kind.items() if block.shape[1])
        return f"Table({self.n_rows} rows; columns: {described})"

    @classmethod
    def read(
        cls,
        X: Any,
        *,
        column_types: Mapping[Any, str] | None = None,
        column_steps: Mapping[Any, float] | float | None = None,
        guess_types: bool | Callable[[str, ColumnKind], bool] = True,
        positive: bool | Callable[[str], bool] = False,
        offset: float | Callable[[str], float] = 0.0,
        standardize: bool | Callable[[str], bool] = True,
        sample_weight: Any = None,
        schema: Schema | None = None,
        missing: Any = None,
        unseen: str = "missing",
        max_unpacked: int | None = None,
    ) -> "Table":
        """Read an array, a list of rows, a pandas, polars or pyarrow frame, or a CSV or Parquet file.

        Numbers are numeric, and so are durations, in days or seconds; dates are days or seconds since the first; text,
        truth values and categoricals are categorical. Text in which all cells agree on how dates or numbers are written
        (31.12.2024; 1,234.50; 12%) is read as these, with one warning; see ``docs/columns.md``. Missing cells are nan,
        None, ``pandas.NA``, NaT and empty text. Constant columns and columns without any value are dropped with a
        warning; columns that look like identifiers, numbers that may stand for missing cells, rows without any observed
        cell and rows that occur many times are warned of.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns), str or path
            The table, or the file that holds it. A Table comes back as it is.
        column_types : mapping, optional
            Kinds that override those of the values: ``{"zip": "categorical", "visits": "count"}``; "numeric",
            "positive", "date", and of dates that are text "day-first" and "month-first" are others. Keys are column
            names, or positions where X is an array; patterns, ``{"item_*": "categorical"}``; or tuples of these,
            ``{("zip", "area"): "categorical"}``. A name wins over a pattern, a later pattern over an earlier one.
        column_steps : mapping or float, optional
            What numbers were recorded in, where that is not what their cells suggest: ``{"age": 5}``, keys as in
            ``column_types``, or one number for all columns; 0 is for continuous numbers. See
            `partita.table.steps.recorded_step`.
        guess_types : bool or callable
            Whether numbers that are better told as categories, by their logs as positive numbers, or in two parts as 0
            or an amount, are read so, in columns that ``column_types`` does not name; see
            `partita.table.kinds.are_codes`, `partita.table.tails.log_gains` and `partita.table.zeros.zero_gain`. A
            function says so of every column's name and the kind that it might be.
        positive : bool or callable
            Whether numbers are read as positive ones, in columns that ``column_types`` does not name; a function says
            so of every column's name.
        offset : float or callable
            What is added to the cells of positive columns before their logs are taken, at least 0.
        standardize : bool or callable
            Whether numeric columns, of positive ones the logs, are stored with weighted mean 0 and standard deviation
            1; a function says so of every column's name.
        sample_weight : array-like of shape (n_rows,), optional
            Non-negative whole numbers: how often each row counts. Rows of weight 0 teach nothing; a category
            that only they have is stored as missing.
        schema : Schema, optional
            What an earlier table learned; then nothing is learned from X. Columns of a frame or file that the schema
            does not have are left out with a warning.
        missing : text, number, list or mapping, optional
            What stands for a missing cell besides the above: ``-999``, ``[-9, "unknown"]``, or by columns
            ``{"age": -999, "item_*": [8, 9]}`` with keys as in ``column_types``, None for all columns. Text that is a
            number stands for the number too. The schema keeps it.
        unseen : {"missing", "error"}
            What becomes of a category that the schema does not know, and of a number without a log in a positive
            column: a missing cell, with one warning for all of them that names columns, values and rows; or an error.
        max_unpacked : int, optional
            Bytes that a compressed file may become; see :func:`read_file`.
        """
        if isinstance(X, Table):
            check_weights(sample_weight, X.n_rows)
            options = {"column_types": column_types, "column_steps": column_steps, "missing": missing}
            return _already_read(X, options, schema)
        source = open_source(X, column_types=column_types, schema=schema, missing=missing, max_unpacked=max_unpacked)
        rule = checked_unseen(unseen)
        if schema is not None:
            return _apply(cls, source, schema, UnseenValues(rule))
        weights = check_weights(sample_weight, source.n_rows)
        told = told_kinds(column_types, source)
        marks = told_missing(missing, source)
        comma = source.decimal_comma
        readings = [
            _read(name, c, told.get(name), marks, decimal_comma=comma) for name, c in zip(source.names, source.columns)
        ]
        counted = None if weights is None else weights > 0
        steps = told_steps(column_steps, source)
        stepped = steps if isinstance(column_steps, Mapping) else {}
        as_read = readings
        readings = guessed_kinds(readings, {*told, *stepped}, counted, guess_types)
        readings = as_positive(readings, told, positive, offset)
        whole = readings
        readings = parted_zeros(readings, {*told, *stepped}, counted, guess_types)
        readings, found_steps = guessed_positive(readings, told, weights, guess_types, offset, steps)
        steps |= found_steps
        learned = learn_schema(readings, weights=weights, standardize=standardize, steps=steps)
        learned = replace(learned, missing=marks)
        named = named_columns(column_types or {}, source.names, by_position=not source.is_frame)
        untold = [reading for reading in whole if reading.name not in named]
        warn_of_text_values(untold)
        warn_of_times_of_day(untold)
        warn_of_identifiers(untold, counted)
        warn_of_many_categories(untold, counted)
        warn_of_sentinels(as_read, counted)
        table = _encode(cls, source, learned, {r.name: r for r in readings}, UnseenValues("error"), counted)
        _warn_of_empty_rows(table.empty_rows)
        warn_of_repeated_rows(table, whole, counted)
        return table

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.numeric.shape[0]

    @property
    def row_weights(self) -> np.ndarray:
        """How often each row counts, float64 of shape (n_rows,)."""
        return np.ones(self.n_rows) if self.weights is None else np.asarray(self.weights, dtype=np.float64)

    @property
    def by_kind(self) -> dict[Kind, np.ndarray]:
        """The stored cells of every kind of columns: the one place that says which block is whose."""
        return {"numeric": self.numeric, "categorical": self.codes, "count": self.counts}

    @property
    def observed(self) -> dict[Kind, np.ndarray]:
        """Which cells are not missing, by kind: those that are not nan, or not negative in a block of whole numbers."""
        cells = self.by_kind.items()
        return {kind: ~np.isnan(block) if block.dtype.kind == "f" else block >= 0 for kind, block in cells}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns that came in, dropped ones included."""
        return self.schema.names

    @property
    def has_missing(self) -> bool:
        """Whether any cell of a used column is missing."""
        return not all(cells.all() for cells in self.observed.values())

    @property
    def n_missing(self) -> int:
        """Number of missing cells in the used columns of the input."""
        n_missing = sum(int(np.count_nonzero(~cells)) for cells in self.observed.values())
        flags = self.schema.zero_flags
        of_zeros = [not_zero for c, not_zero in zip(self.schema.numeric, self.numeric.T) if c.name in flags]
        return n_missing - sum(int(np.isnan(cells).sum()) for cells in of_zeros)

    @property
    def empty_rows(self) -> np.ndarray:
        """Which rows have no observed cell in any used column, bool of shape (n_rows,)."""
        return ~np.logical_or.reduce([cells.any(axis=1) for cells in self.observed.values()])

    @property
    def rounding(self) -> np.ndarray:
        """Of every numeric column the variance h^2 / 12 of a cell around what is stored of it, h the column's step."""
        return np.array([column.rounding for column in self.schema.numeric], dtype=np.float64)

    def log_jacobian(self) -> np.ndarray:
        """Per row -sum of log(scale) over its observed numeric cells, and of log(x + offset) over positive ones.

        log density in the user's units = log density of the stored cells + this.
        """
        return log_jacobian(self.numeric, self.schema.numeric)

    def to_units(self, numeric: np.ndarray) -> np.ndarray:
        """Numeric block of shape (..., p) in the user's units: z * scale + center.

        Of positive columns exp(z * scale + center) - offset.
        """
        return from_standard(np.asarray(numeric, dtype=np.float64), self.schema.numeric)

    def decode(self, numeric: np.ndarray, codes: np.ndarray, counts: np.ndarray) -> dict[str, np.ndarray]:
        """Columns by name in the user's values, in the order they came in, for stored or simulated rows.

        A dropped column comes back with its one value. Missing cells are nan in numeric and count columns, NaT in
        columns of dates (datetime64[D], or datetime64[us] where they count seconds) and None in categorical ones.
        """
        blocks = {
            "numeric": self.to_units(numeric),
            "categorical": np.asarray(codes),
            "count": np.asarray(counts),
        }
        n_rows = len(numeric)
        position = dict.fromkeys(blocks, 0)
        columns = {}
        for column in self.schema.columns:
            if self.schema.drops(column.name):
                stored = _constant_cells(column, n_rows)
            else:
                stored = blocks[column.block][:, position[column.block]]
                position[column.block] += 1
            columns[column.name] = _USER_VALUES[column.block](stored, column)
        for name, flag in self.schema.zero_flags.items():
            columns[name] = np.where(columns.pop(flag.name) == YES, 0.0, columns[name])
        return columns

    def frame_like(self, columns: Mapping[str, np.ndarray], *, index: Sequence[Any] | None = None) -> Any:
        """Frame of the kind that came in, with these columns; see :meth:`Origin.frame_like`."""
        return self.origin.frame_like(columns, index=index)

    def take(self, chosen: np.ndarray) -> "Table":
        """The table restricted to some rows, by position or by a mask; the schema stays."""
        if chosen.dtype == bool and chosen.all():
            return self
        weights = None if self.weights is None else self.weights[chosen]
        return Table(self.schema, self.numeric[chosen], self.codes[chosen], self.counts[chosen], weights=weights)

    def distinct_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """One row (m,) of every kind of equal rows, and which of them each row (n,) equals.

        Missing equals missing. Cost O(n log n) comparisons of one number per row.
        """
        return distinct_rows(list(self.by_kind.values()))

    def identical_rows(self) -> np.ndarray:
        """Group ids by first appearance: rows equal in every used cell share one; missing equals missing.

        Cost O(n log n) comparisons of one number per row.
        """
        first_rows, groups = self.distinct_rows()
        rank = np.empty(len(first_rows), dtype=np.int64)
        rank[np.argsort(first_rows)] = np.arange(len(first_rows))
        return rank[groups]

    def fingerprint(self) -> str:
        """Hexadecimal SHA-256 of the used columns and their cells, the same for every kind of frame."""
        used = Schema(tuple(replace(column, written="", guessed=False) for column in self.schema.used)).to_dict()
        digest = hashlib.sha256(json.dumps([self.n_rows, used], sort_keys=True).encode())
        for block in self.by_kind.values():
            digest.update(block.astype(block.dtype.newbyteorder("<"), copy=False).tobytes())
        return digest.hexdigest()


def _already_read(table: Table, options: Mapping[str, Any], schema: Schema | None) -> Table:
    for option, value in options.items():
        if value is not None:
            raise ValueError(f"X is a Table, whose columns are read already: give {option} to Table.read instead.")
    if schema is not None and schema != table.schema:
        raise ValueError("X is a Table that was read without the schema of fit: pass what it was read from.")
    if schema is None and (table.n_rows == 0 or not table.schema.used):
        raise ValueError("X is a Table without rows or without columns: at least one of each is needed.")
    return table


def _read(name: str, column: Any, told: str | None, missing: MissingPairs, **how: Any) -> Reading:
    marks = marks_of(missing, name)
    return empty_reading(read_column(name, empty_column(name, column, marks), told, **how), marks)


def _apply(cls: type[Table], source: Source, schema: Schema, unseen: UnseenValues) -> Table:
    columns = align(source, schema.names)
    readings = {}
    for c in schema.used:
        if not c.part_of:
            readings[c.name] = _read(c.name, columns[c.name], c.kind, schema.missing, known=c)
    for name, flag in schema.zero_flags.items():
        readings |= {flag.name: zero_flags(readings[name], flag.name), name: amounts(readings[name])}
    table = _encode(cls, source, schema, readings, unseen)
    unseen.warn()
    return table


def _encode(
    cls: type[Table],
    source: Source,
    schema: Schema,
    readings: Mapping[str, Reading],
    unseen: UnseenValues,
    counted: np.ndarray | None = None,
) -> Table:
    numeric = np.empty((source.n_rows, len(schema.numeric)), dtype=np.float64)
    codes = np.empty((source.n_rows, len(schema.categorical)), dtype=np.int32)
    counts = np.empty((source.n_rows, len(schema.counts)), dtype=np.int64)
    for j, column in enumerate(schema.numeric):
        numeric[:, j] = encode_numeric(readings[column.name], column, unseen=unseen, counted=counted)
    for j, column in enumerate(schema.categorical):
        codes[:, j] = encode_codes(readings[column.name], column, unseen=unseen, counted=counted)
    for j, column in enumerate(schema.counts):
        counts[:, j] = readings[column.name].values
    return cls(schema, numeric, codes, counts, source.origin)


def _warn_of_empty_rows(empty: np.ndarray) -> None:
    rows = np.flatnonzero(empty)
    if len(rows):
        has, they_get = ("has", "it gets") if len(rows) == 1 else ("have", "they get")
        warnings.warn(
            f"{count_of(len(rows), 'row')} {has} no observed cell ({name_rows(rows)}): {they_get} the prior's answer.",
            UserWarning,
            stacklevel=3,
        )


def _constant_cells(column: Column, n_rows: int) -> np.ndarray:
    if column.kind == "categorical":
        return np.full(n_rows, 0 if column.levels else -1)
    if column.kind == "count":
        return np.full(n_rows, -1 if np.isnan(column.center) else int(column.center))
    return np.full(n_rows, column.center)


def _user_levels(codes: np.ndarray, column: Column) -> np.ndarray:
    of_one_type = len({type(level) for level in column.levels}) == 1
    if of_one_type and not isinstance(column.levels[0], str) and codes.min(initial=0) >= 0:
        return np.array(column.levels)[codes]
    levels = np.empty(len(column.levels) + 1, dtype=object)
    levels[:-1] = column.levels  # the last stays None, which -1 points to
    return levels[codes]


def _user_counts(counts: np.ndarray, column: Column) -> np.ndarray:
    counts = counts.astype(np.int64)
    return np.where(counts < 0, np.nan, counts) if (counts < 0).any() else counts


def _user_numbers(values: np.ndarray, column: Column) -> np.ndarray:
    if column.kind == "date":
        return dates_of(values, column)
    return np.ascontiguousarray(values)


_USER_VALUES: dict[str, Callable[[np.ndarray, Column], np.ndarray]] = {
    "numeric": _user_numbers,
    "categorical": _user_levels,
    "count": _user_counts,
}
