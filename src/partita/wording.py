"""How messages name rows, columns, values and remedies, and how text of others is made fit for them."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_SHOWN = 3
_LONGEST = 100  # letters of one item


def name_rows(rows: "np.ndarray") -> str:
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


def printable(text: object) -> str:
    r"""The text with what does not print written as in Python: ``\x1b`` for the escape that moves a cursor.

    That is control characters, also those of C1, marks that turn the direction of writing, line ends, and halves of
    characters, as the name of a file may hold.

    Examples
    --------
    >>> print(printable("red\x1b[2J"))
    red\x1b[2J
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(text))


@contextmanager
def printable_errors() -> Iterator[None]:
    """Let refusals of other libraries, which may quote names and cells as they are, hold nothing but what prints."""
    try:
        yield
    except (TypeError, ValueError) as error:
        words = "\n".join(map(printable, str(error).split("\n")))
        if words == str(error):
            raise
        raise (TypeError if isinstance(error, TypeError) else ValueError)(words) from None
