"""Columns of text as codes, without looking at the cells one by one."""

from typing import Any

import narwhals as nw
import numpy as np

_TEXT_OR_NOTHING = (str, float, type(None))


def text_codes(column: Any) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """Codes (-1 = missing) and the values they count, of a frame's column of strings or categories.

    Values may include some that do not occur. None for arrays, for columns of another type, for strings that
    are all missing and for categories of which one is no text; such cells are to be looked at one by one.
    Cost O(n) inside Arrow.
    """
    if not isinstance(column, nw.Series) or column.dtype not in (nw.String, nw.Categorical, nw.Enum):
        return None
    import pyarrow as pa

    try:
        encoded = _dictionary(column.to_arrow())
        distinct = encoded.dictionary.to_pylist()
    except (pa.ArrowException, UnicodeError, OverflowError):  # categories of several types, text that is no UTF-8
        return None
    if not all(isinstance(value, str) for value in distinct) or len(set(distinct)) < len(distinct):
        return None
    # The last entry is what -1 points to.
    present = np.array([*(value != "" for value in distinct), False])
    codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy()
    codes = np.where(present[codes], codes, -1)
    if column.dtype == nw.String and codes.max() < 0:
        return None
    return codes, tuple(distinct)


def codes_of_objects(column: Any) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """Codes and values, as of `text_codes`, of an array whose cells are text or missing; None for other arrays."""
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "OU":
        return None
    cells = column.astype(object)
    kinds = set(map(type, cells))
    if not any(issubclass(kind, str) for kind in kinds):
        return None
    if not all(issubclass(kind, _TEXT_OR_NOTHING) for kind in kinds):
        return None
    if any(isinstance(cell, float) and cell == cell for cell in cells):  # noqa: PLR0124  (not nan)
        return None
    code_of: dict[str, int] = {}
    codes = [code_of.setdefault(c, len(code_of)) if isinstance(c, str) and c != "" else -1 for c in cells]
    return (np.array(codes), tuple(map(str, code_of))) if code_of else None


def is_categorical(column: Any) -> bool:
    """Whether a frame's column says of itself that its text is categories."""
    return isinstance(column, nw.Series) and column.dtype in (nw.Categorical, nw.Enum)


def _dictionary(cells: Any) -> Any:
    import pyarrow as pa

    if isinstance(cells, pa.ChunkedArray):
        cells = cells.unify_dictionaries().combine_chunks()
    if pa.types.is_dictionary(cells.type):
        return cells
    return cells.cast(pa.large_string()).dictionary_encode()
