"""Text of others, fit for a message or a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager


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
