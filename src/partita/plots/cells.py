"""Which cells a picture shows: columns of numbers of a fitted Mixture or of any table, and the labels of the rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partita.labels import coded
from partita.table import Table
from partita.wording import printable


def table_of(X: Any) -> tuple[Table, np.ndarray]:
    """The table of a fitted Mixture with its row weights, or any table read as it is; a list of numbers is a column."""
    from partita.mixture import Mixture

    if isinstance(X, Mixture):
        check_is_fitted(X)
        return X._model.table, X._model.row_weights
    if np.ndim(X) == 1 and not isinstance(X, Table):
        X = X.to_frame() if hasattr(X, "to_frame") else np.asarray(X)[:, None]
    table = Table.read(X, standardize=False, guess_types=False)
    return table, np.ones(table.n_rows)


def numbers_of(table: Table) -> tuple[list[str], np.ndarray]:
    """Names and cells of all columns of numbers, numeric ones first, in the user's units; nan = missing."""
    names = [column.name for column in (*table.schema.numeric, *table.schema.counts)]
    counts = np.where(table.counts < 0, np.nan, table.counts)
    return names, np.hstack([table.to_units(table.numeric), counts])


def columns_from(columns: Any, numbers: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """The one or two chosen names, by default the first two; an integer is a position among all columns."""
    if not numbers:
        raise ValueError("There is no column of numbers to draw: the table has none in use.")
    if columns is None:
        return tuple(numbers[:2])
    asked = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    if len(asked) not in (1, 2):
        raise ValueError(f"columns must be one or two column names or positions; got {columns!r}.")
    chosen = tuple(_name_of(column, numbers, names) for column in asked)
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"columns must be two different columns; got {chosen[0]!r} twice.")
    return chosen


def codes_and_words(labels: Any, n_rows: int) -> tuple[np.ndarray, tuple[str, ...]]:
    """Labels of any kind as 0, 1, ... and what each is called; -1 for rows that are not labelled."""
    codes, values = coded(labels, n_rows)
    return codes, tuple(f"{value:g}" if isinstance(value, float) else printable(value) for value in values)


def _name_of(column: Any, numbers: Sequence[str], names: Sequence[str]) -> str:
    is_position = isinstance(column, int | np.integer) and 0 <= column < len(names)
    name = names[column] if is_position else column
    if name not in numbers:
        raise ValueError(f"{column!r} is no column of numbers in use; these are {', '.join(map(repr, numbers))}.")
    return name
