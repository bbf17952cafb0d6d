"""Frames as plain columns, and columns as CSV text."""

import csv
import io
import math
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from partita.wording import printable

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""With which a cell begins that spreadsheets may compute."""


DIGITS = 6
"""Of probabilities in files."""


def columns_of(frame: Any) -> dict[str, list[Any]]:
    """The columns of a frame of any library, by name."""
    return {column.name: column.to_list() for column in nw.from_native(frame, eager_only=True).iter_columns()}


def to_csv(columns: Mapping[str, Any], *, safe: bool = False) -> str:
    """Columns as CSV text; missing cells are empty, numbers have eight digits.

    Text is written as it is. With ``safe``, text that a spreadsheet would compute gets an apostrophe in front, and
    what does not print is written as in Python; numbers stay numbers.
    """
    text = _Lines()
    writer = csv.writer(text, lineterminator=_Lines.QUOTED)
    written = _harmless if safe else _cell
    writer.writerow(map(written, columns))
    writer.writerows(zip(*(map(written, _list(values)) for values in columns.values())))
    return text.getvalue()


class _Lines(io.StringIO):
    """Lines that end in a line feed alone; the writer is told more, so that it quotes cells with a carriage return."""

    QUOTED = "\r\n"

    def write(self, line: str) -> int:
        return super().write(line.removesuffix(self.QUOTED) + "\n")


def _list(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _harmless(cell: Any) -> Any:
    if not isinstance(cell, str):
        return _cell(cell)
    return f"'{printable(cell)}" if cell.startswith(FORMULA_STARTS) else printable(cell)


def _cell(cell: Any) -> Any:
    if isinstance(cell, float):
        return "" if math.isnan(cell) else f"{cell:.8g}"
    return cell
