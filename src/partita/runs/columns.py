"""Frames as plain columns, and columns as CSV text."""

import csv
import io
import math
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np


def columns_of(frame: Any) -> dict[str, list[Any]]:
    """The columns of a frame of any library, by name."""
    return {column.name: column.to_list() for column in nw.from_native(frame, eager_only=True).iter_columns()}


def to_csv(columns: Mapping[str, Any]) -> str:
    """Columns as CSV text; missing cells are empty, numbers have eight digits."""
    text = _Lines()
    writer = csv.writer(text, lineterminator=_Lines.QUOTED)
    writer.writerow(columns)
    writer.writerows(zip(*([_cell(cell) for cell in _list(values)] for values in columns.values())))
    return text.getvalue()


class _Lines(io.StringIO):
    """Lines that end in a line feed alone; the writer is told more, so that it quotes cells with a carriage return."""

    QUOTED = "\r\n"

    def write(self, line: str) -> int:
        return super().write(line.removesuffix(self.QUOTED) + "\n")


def _list(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _cell(cell: Any) -> Any:
    if isinstance(cell, float):
        return "" if math.isnan(cell) else f"{cell:.8g}"
    return cell
