"""What proves by volume is marked `long`: a part of it runs in `make test`, the whole in `make prove`."""

from collections.abc import Iterable
from typing import Any

import pytest

long = pytest.mark.long
#: The first case of every group that is compiled for itself is short, the others are long (tests/conftest.py).
mostly_long = pytest.mark.mostly_long


def short_and_long(name: str, short: Any, whole: Any) -> pytest.MarkDecorator:
    """Run a test with a small number of something, and in `make prove` with the whole number too."""
    return pytest.mark.parametrize(name, [short, pytest.param(whole, marks=long)])


def long_but(kept: Iterable[str], parameters: Iterable[Any]) -> list[Any]:
    """Mark every parameter `long` but those with these ids."""
    parameters, kept = list(parameters), set(kept)
    assert kept <= {one.id for one in parameters}
    return [
        one if one.id in kept else pytest.param(*one.values, id=one.id, marks=[*one.marks, long]) for one in parameters
    ]
