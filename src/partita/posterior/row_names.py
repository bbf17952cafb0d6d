"""A first column that counts the draws instead of labelling an object."""

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any

UNNAMED = ("", "Unnamed: 0")
"""Names of a column of row names: as R and pandas write it, and as pandas reads it."""
_FEW = 3


def counts_rows(values: Sequence[Any]) -> bool:
    """Whether the values are 0, 1, 2, ... or 1, 2, 3, ..."""
    numbers = [int(value) if isinstance(value, str) and value.isdecimal() else value for value in values]
    if not all(isinstance(number, Real) for number in numbers):  # pandas' NA cannot even be compared
        return False
    return any(numbers == list(range(first, first + len(numbers))) for first in (0, 1))


def has_row_names(name: str | None, values: Sequence[Any], n_columns: int) -> bool:
    """Whether the first column holds row names and is to be left out, which is said in a warning.

    A column without a name that counts the rows does. One without a name that does not is refused. One that counts the
    rows and has a name, or stands in a table without names (``None``), is kept, with a warning.
    """
    if n_columns == 1:
        return False
    counts = counts_rows(values)
    if name in UNNAMED:
        if not counts:
            raise ValueError(
                "the first column has no name and does not count the draws: name it if its cells are the labels of an"
                " object, otherwise take it out."
            )
        _warn(f"The first column has no name and counts the draws ({values[0]} to {values[-1]}): it is left out.")
        return True
    if counts and len(values) >= _FEW:
        which = "The first column" if name is None else f"The first column, {name!r},"
        _warn(
            f"{which} counts the draws ({values[0]} to {values[-1]}) and is read as an object:"
            " take it out if it is none."
        )
    return False


def _warn(words: str) -> None:
    warnings.warn(words, UserWarning, stacklevel=2)
