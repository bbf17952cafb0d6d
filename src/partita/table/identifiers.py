"""Columns that number or name the rows instead of describing them."""

import warnings
from collections.abc import Sequence

import numpy as np

from partita.table.encoding import Reading
from partita.table.wording import join_words

# Among fewer cells all may differ by chance.
_FEWEST_CELLS = 10


def warn_of_identifiers(readings: Sequence[Reading], counted: np.ndarray | None) -> None:
    """Warn once of all columns that look like identifiers, judged by rows in ``counted`` (None: all).

    These are columns of text whose observed cells all differ, and columns of whole numbers whose observed
    cells rise from row to row or are consecutive numbers in any order; at least ten cells must be
    observed. Cost O(n log n) per column of consecutive numbers, O(n) per other column.
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


def _identifies(reading: Reading, counted: np.ndarray | None) -> bool:
    seen = reading.observed if counted is None else reading.observed & counted
    values = reading.values[seen]
    if len(values) < _FEWEST_CELLS:
        return False
    if reading.kind == "categorical":
        return len(reading.distinct) >= len(values) and np.bincount(values).max() == 1
    if not (values == np.floor(values)).all():
        return False
    consecutive = values.max() - values.min() == len(values) - 1
    return bool((values[1:] > values[:-1]).all()) or (consecutive and len(np.unique(values)) == len(values))
