"""Which columns a key means, where an option speaks of columns: a name, a position, a pattern, or several of them."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NoReturn, TypeVar

import numpy as np

from partita.parameters import nearest
from partita.wording import name_some

T = TypeVar("T")


def columns_meant(key: Any, names: Sequence[str], *, by_position: bool = False) -> list[str]:
    """The columns that a key means, none where it means none.

    A key is the name of a column; a position where ``by_position`` allows it; a shell pattern (``item_*``, ``q?``,
    ``q[1-3]``; letters count in their case); or a tuple of these. What is the name of a column means that column and
    no other, whatever it looks like.
    """
    if by_position and isinstance(key, int | np.integer):
        return [names[int(key)]] if 0 <= key < len(names) else []
    if str(key) in names:
        return [str(key)]
    if isinstance(key, tuple):
        return list(dict.fromkeys(name for part in key for name in columns_meant(part, names, by_position=by_position)))
    return [name for name in names if fnmatchcase(name, key)] if isinstance(key, str) else []


def by_column(content: Mapping[Any, T], names: Sequence[str], *, by_position: bool = False) -> dict[str, T]:
    """What a mapping says of every column; a name wins over a pattern, and a later key over an earlier one."""
    of_patterns: dict[str, T] = {}
    of_names: dict[str, T] = {}
    for key, value in content.items():
        for part in _parts(key, names):
            told = of_names if _is_one(part, names) else of_patterns
            told.update(dict.fromkeys(columns_meant(part, names, by_position=by_position), value))
    return of_patterns | of_names


def named_columns(content: Mapping[Any, Any], names: Sequence[str], *, by_position: bool = False) -> set[str]:
    """The columns that the keys of a mapping name one by one, and not by a pattern."""
    parts = (part for key in content for part in _parts(key, names) if _is_one(part, names))
    return {name for part in parts for name in columns_meant(part, names, by_position=by_position)}


def refuse_strange_keys(
    option: str, content: Mapping[Any, Any], names: Sequence[str], *, by_position: bool = False, table: str = "X"
) -> None:
    """Refuse keys of an option that mean no column of the ``table``, with the nearest name; None means all."""
    for key in (key for key in content if key is not None):
        for part in _parts(key, names):
            if not columns_meant(part, names, by_position=by_position):
                _refuse(option, part, names, by_position, table)


def _refuse(option: str, key: Any, names: Sequence[str], by_position: bool, table: str) -> NoReturn:
    if by_position and isinstance(key, int | np.integer):
        raise ValueError(f"{option} names column {key}, but {table} has columns 0 to {len(names) - 1}.")
    hint = nearest(key, names) or f"The columns are {name_some(names, len(names))}."
    what = "which is no column" if _is_one(key, names) else "a pattern that fits no column"
    raise ValueError(f"{option} names {key!r}, {what} of {table}. {hint}")


def _parts(key: Any, names: Sequence[str]) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) and str(key) not in names else (key,)


def _is_one(key: Any, names: Sequence[str]) -> bool:
    """Whether a key is no pattern."""
    return not isinstance(key, str) or key in names or not any(mark in key for mark in "*?[")
