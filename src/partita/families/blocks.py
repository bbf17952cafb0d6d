"""A family's rows, some at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np


def row_blocks(rows: Any, n_rows: int, size: int) -> Iterator[tuple[slice, Any]]:
    """Which rows, and these rows, ``size`` at a time."""
    for start in range(0, n_rows, size):
        yield slice(start, start + size), row_block(rows, start, start + size)


def row_block(rows: Any, start: int, stop: int) -> Any:
    """Some rows of a NamedTuple of arrays, nested or not."""
    if isinstance(rows, np.ndarray):
        return rows[start:stop]
    return type(rows)(*(row_block(part, start, stop) for part in rows))
