"""Where a table came from, so that results go back in the same form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

LIBRARIES = ("pandas", "polars", "pyarrow")
"""Libraries whose frames come back as they came, in order of preference; no other is ever imported."""


@dataclass(frozen=True, eq=False)
class Origin:
    """The kind of frame that came in.

    Parameters
    ----------
    library : {"pandas", "polars", "pyarrow"} or None
        The frame library; None for arrays and lists. Saved files name it and what is named is imported, so no other
        name is accepted; a frame of another library counts as one of the first of these that is installed.
    index : pandas index or None
        The row index of a pandas frame.
    """

    library: str | None = None
    index: Any = None

    def __post_init__(self) -> None:
        if self.library is not None and self.library not in LIBRARIES:
            raise ValueError(
                f"The frame library of a table must be one of {', '.join(LIBRARIES)}, or None; got {self.library!r}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary that survives JSON; an index of other cells than text and numbers is left out."""
        index = None if self.index is None else [_plain(cell) for cell in self.index.tolist()]
        if index is not None and not all(isinstance(cell, str | int | float) for cell in index):
            index = None
        name = getattr(self.index, "name", None)
        return {"library": self.library, "index": index, "index_name": name if isinstance(name, str) else None}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], n_rows: int) -> "Origin":
        """Origin written by ``to_dict``, of so many rows; without its index where pandas is not installed."""
        index = content["index"]
        if index is not None and (content["library"] != "pandas" or len(index) != n_rows):
            raise ValueError("the row index is not that of a pandas frame with as many rows")
        if index is None or find_spec("pandas") is None:
            return cls(content["library"])
        import pandas as pd

        return cls("pandas", pd.Index(index, name=content["index_name"]))

    def frame_like(self, columns: Mapping[str, np.ndarray], *, index: Sequence[Any] | None = None) -> Any:
        """Frame of the same library with these columns.

        A pandas frame gets ``index``, or by default the index that came in when the row counts
        agree. For arrays, and where that library is not installed, it is a frame of the first that is: pandas, polars,
        pyarrow. A column of text and numbers is text where the library has no column of both.
        """
        module = import_module(first_installed(self.library, *LIBRARIES))
        content = {name: v.tolist() if v.dtype == object else v for name, v in _arrays(columns).items()}
        if module.__name__ != "pandas":
            content = {name: _of_one_type(v) if isinstance(v, list) else v for name, v in content.items()}
        build = module.table if module.__name__ == "pyarrow" else module.DataFrame
        frame = build(content)
        if hasattr(frame, "index"):
            chosen = self.index if index is None else index
            if chosen is not None and len(chosen) == len(frame):
                frame.index = chosen
        return frame


def first_installed(*libraries: str | None) -> str:
    """The first of these libraries that is installed; None is passed over."""
    return next(library for library in libraries if library is not None and find_spec(library) is not None)


def _plain(cell: Any) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell


def _of_one_type(cells: list[Any]) -> list[Any]:
    """The cells as text where some are text and others numbers, nan as None; otherwise as they are."""
    kinds = set(map(type, cells))
    if not (str in kinds and float in kinds):
        return cells
    return [None if cell is None or cell != cell else str(cell) for cell in cells]  # noqa: PLR0124  (nan)


def _arrays(columns: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.asarray(values) for name, values in columns.items()}
