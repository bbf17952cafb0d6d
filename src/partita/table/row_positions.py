"""Which row of a fitted table is meant: by its name in the table's index, or by its position."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from numbers import Integral, Number
from typing import Any

import numpy as np
from narwhals import dependencies

from partita.wording import count_of, name_some, shown

MOST_COMPARED = 10_000
"""Names among which the nearest one is looked for."""


def position_of(row: Any, index: Any, n_rows: int) -> int | None:
    """The position of a row that is given by name or number, None if it is a row itself.

    A name is looked up in ``index``, as ``.loc`` of pandas does. A whole number is a position, unless the index holds
    numbers other than 0, 1, 2, ...: then it is a name as well and never a position, so that a number means one
    thing for all rows of a table. A tuple is a name only where the index has several levels.

    Parameters
    ----------
    row : object
        What `Mixture.explain` was asked about.
    index : pandas index or None
        That of the fitted frame.
    n_rows : int
        Rows of the fitted table.

    Raises
    ------
    ValueError
        A name or position that does not exist, or a name of several rows.
    """
    if row is None or isinstance(row, bool | np.bool_) or _is_row(row, index):
        return None
    names = [] if index is None else index.tolist()
    if not all(_is_same(name, position) for position, name in enumerate(names)):
        numbered = any(isinstance(name, Number) and not isinstance(name, bool) for name in names)
        found = [position for position, name in enumerate(names) if _is_same(name, row)]
        if found:
            return _only(found, row, numbered)
        if isinstance(row, str) or (numbered and isinstance(row, Number)):
            raise ValueError(_unknown(row, names))
    if not isinstance(row, Integral):
        return None
    position = int(row)
    if not 0 <= position < n_rows:
        raise ValueError(f"Row {position} does not exist: the fitted table has rows 0 to {n_rows - 1}.")
    return position


def nearest_name(name: str, names: Sequence[str]) -> str:
    """A sentence with the name that was probably meant, or with the first names.

    Letters count as equal in both cases. Of very many names not all are compared.
    """
    folded = {known.strip().casefold(): known for known in reversed(names)}
    asked = name.strip().casefold()
    close = [asked] if asked in folded else get_close_matches(asked, list(islice(folded, MOST_COMPARED)), n=1)
    if not close:
        return f"The names are {name_some(names, len(names))}."
    return f"Did you mean {shown(folded[close[0]])}?"


def _is_row(row: Any, index: Any) -> bool:
    if isinstance(row, tuple):
        return getattr(index, "nlevels", 1) == 1
    kinds = (Mapping, list, np.ndarray)
    return isinstance(row, kinds) or dependencies.is_into_series(row) or dependencies.is_into_dataframe(row)


def _is_same(name: Any, row: Any) -> bool:
    if isinstance(name, bool):  # which equals 0 or 1
        return False
    try:
        return bool(name == row)
    except (TypeError, ValueError):  # a missing name, or a thing that answers with many truth values
        return False


def _only(found: list[int], row: Any, numbered: bool) -> int:
    if len(found) == 1:
        return found[0]
    remedy = f"pass the row itself, X.iloc[[{found[0]}]]" if numbered else "pass one of these positions"
    raise ValueError(
        f"{count_of(len(found), 'row')} are named {shown(row)} (positions {name_some(found, len(found))}): {remedy}."
    )


def _unknown(row: Any, names: list[Any]) -> str:
    words = f"No row of the fitted table is named {shown(row.item() if isinstance(row, np.generic) else row)}."
    if isinstance(row, str):
        return f"{words} {nearest_name(row, [str(name) for name in names])}"
    return (
        f"{words} Its index holds numbers, {name_some(names, len(names))}, so a number is a name: X.index[i] is that of"
        " position i."
    )
