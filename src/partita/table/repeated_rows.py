"""Rows that occur many times, as those of a join or an export do."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from partita.table.encoding import Reading
from partita.wording import count_of

if TYPE_CHECKING:
    from partita.table.table import Table

_MANY_TIMES = 10
_FEW_VALUES = 10


def warn_of_repeated_rows(table: "Table", readings: Sequence[Reading], counted: np.ndarray | None) -> None:
    """Warn where rows that occur ten times or more make up half of the table, judged by rows in ``counted``.

    Categories, counts and whole numbers of few values repeat by nature: at least one column must hold fractions or more
    than ten different numbers, and the values of the columns must allow ten times as many different rows as there are.
    Rows without any observed cell are not looked at. Cost O(n log n).
    """
    if not any(_measures(reading) for reading in readings):
        return
    looked_at = ~table.empty_rows if counted is None else ~table.empty_rows & counted
    first_rows, kinds = table.distinct_rows()
    sizes = np.bincount(kinds[looked_at], minlength=len(first_rows))
    many = sizes >= _MANY_TIMES
    n_copies, n_rows = int(sizes[many].sum()), int(looked_at.sum())
    if 2 * n_copies < n_rows or _possible_rows(table, first_rows) < _MANY_TIMES * len(first_rows):
        return
    most = int(sizes.argmax())
    warnings.warn(
        f"{n_copies} of {n_rows} rows are copies of {count_of(int(many.sum()), 'row')} (row {first_rows[most]} occurs "
        f"{sizes[most]} times). If a join or an export made them, keep one of each: every copy counts as an "
        "observation of its own.",
        UserWarning,
        stacklevel=3,
    )


def _possible_rows(table: "Table", different: np.ndarray) -> float:
    """How many different rows the values of the columns allow, looked up in rows of which no two are equal."""
    columns = [column for block in table.by_kind.values() for column in block[different].T]
    with np.errstate(over="ignore"):
        return float(np.prod([float(len(np.unique(column))) for column in columns]))


def _measures(reading: Reading) -> bool:
    if reading.values.dtype.kind != "f":
        return False
    seen = reading.values[reading.observed]
    return bool((seen != np.floor(seen)).any()) or len(np.unique(seen)) > _FEW_VALUES
