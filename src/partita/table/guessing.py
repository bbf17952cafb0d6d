"""Of which columns a kind may be guessed: numbers of which nobody has said what they are."""

from collections.abc import Callable, Collection

from partita.table.encoding import Reading
from partita.table.schema import ColumnKind

Guess = bool | Callable[[str, ColumnKind], bool]
"""Whether to guess, or a function that says so of a column's name and the kind that it might be."""


def may_be(reading: Reading, kind: ColumnKind, told: Collection[str], guess: Guess) -> bool:
    """Whether a column may be guessed to be of this kind: one of numbers that is not among those ``told``."""
    is_open = reading.name not in told and reading.kind == "numeric" and reading.values.dtype.kind == "f"
    return is_open and (guess(reading.name, kind) if callable(guess) else guess)
