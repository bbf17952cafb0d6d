"""Warnings as sentences, to be shown and stored with the result."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting() -> Iterator[list[str]]:
    """The words of all warnings of a block, each once."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    said.extend(dict.fromkeys(str(warning.message) for warning in caught))
