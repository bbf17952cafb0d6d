"""Columns that number or name the rows instead of describing them."""

import warnings
from collections.abc import Sequence

import numpy as np

from partita.table.encoding import Reading
from partita.wording import join_words

# Among fewer cells all may differ by chance.
_FEWEST_CELLS = 10
_FEWEST_CELLS_OF_MANY = 30


def warn_of_identifiers(readings: Sequence[Reading], counted: np.ndarray | None) -> None:
    """Warn once of all columns that look like identifiers, judged by rows in ``counted`` (None: all).

    These are columns of text whose observed cells all differ, and columns of whole numbers whose observed
    cells are consecutive numbers in any order; at least ten cells must be observed. Dates are no such numbers: one row
    a day is common. Cost O(n log n) per column of consecutive numbers, O(n) per other column.
    """
    names = [repr(reading.name) for reading in readings if _identifies(reading, counted)]
    if not names:
        return
    if len(names) == 1:
        looks, it, they = f"Column {names[0]} looks like an identifier", "it", "it"
    else:
        looks, it, they = f"Columns {join_words(names)} look like identifiers", "them", "they"
    warnings.warn(
        f"{looks}: every value differs. Leave {it} out (command line: --ignore, or --id to name the rows by it), "
        f"or {they} will blur the groups.",
        UserWarning,
        stacklevel=3,
    )


def warn_of_many_categories(readings: Sequence[Reading], counted: np.ndarray | None) -> None:
    """Warn of columns of text in which more than half of the cells, but not all, have a value of their own."""
    for reading in readings:
        if reading.kind != "categorical":
            continue
        n_values, n_cells = _values_and_cells(reading, counted)
        if n_cells >= _FEWEST_CELLS_OF_MANY and n_cells / 2 < n_values < n_cells:
            warnings.warn(
                f"Column {reading.name!r} has {n_values} different values in {n_cells} cells: as categories they say "
                "little. Write numbers and dates in one way in all cells, or leave the column out (command line: "
                "--ignore).",
                UserWarning,
                stacklevel=3,
            )


def _values_and_cells(reading: Reading, counted: np.ndarray | None) -> tuple[int, int]:
    sizes = np.bincount(reading.seen_values(counted))
    return int(np.count_nonzero(sizes)), int(sizes.sum())


def _identifies(reading: Reading, counted: np.ndarray | None) -> bool:
    values = reading.seen_values(counted)
    if len(values) < _FEWEST_CELLS or values.dtype.kind in "mM":
        return False
    if reading.kind == "categorical":
        return len(reading.distinct) >= len(values) and np.bincount(values).max() == 1
    if not (values == np.floor(values)).all():
        return False
    return values.max() - values.min() == len(values) - 1 and len(np.unique(values)) == len(values)
