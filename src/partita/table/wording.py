"""How messages name rows, columns, values and remedies."""

import shlex
from collections.abc import Iterable
from typing import Any

import numpy as np

from partita.printable import printable

_SHOWN = 3
_LONGEST = 100  # letters of one item


def name_rows(rows: np.ndarray) -> str:
    """First three row numbers and how many more there are: ``rows 17, 204, 911 and 5 more``."""
    return f"{'row' if len(rows) == 1 else 'rows'} {name_some([int(r) for r in rows[:_SHOWN]], len(rows))}"


def name_some(items: Iterable[Any], total: int) -> str:
    """First three items as they are typed in Python and how many more of ``total`` there are."""
    told = [shown(item) for item, _ in zip(items, range(_SHOWN))]
    more = total - len(told)
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")


def shown(value: Any) -> str:
    """A value as it is typed in Python, or the ends of a long one."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 20]}...{text[-10:]}"


def count_of(n: int, noun: str) -> str:
    """``1 value``, ``2 values``."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def join_words(words: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *firsts, last = words
    return f"{', '.join(firsts)} and {last}" if firsts else last


def declare(name: str, kind: str) -> str:
    """How to tell the kind of a column, in Python and on the command line."""
    typed = printable(shlex.quote(f"{name}={kind}"))
    return f"declare it with column_types={{{name!r}: {kind!r}}} (command line: --types {typed})"
