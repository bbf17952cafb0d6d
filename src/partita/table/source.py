"""What came in: an array, a list of rows, a frame or a file, taken apart into named columns."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from narwhals import dependencies
from scipy.sparse import issparse
from sklearn.utils import check_array

from partita.parameters import choose, nearest
from partita.table.files import read_file
from partita.table.names import refuse_repeated
from partita.table.origin import LIBRARIES, Origin, first_installed
from partita.table.schema import KINDS, Kind, Schema, automatic_names
from partita.wording import name_some

_SAME_COLUMNS = "Pass the columns of fit and no others; cells may be empty: missing cells are fine."


@dataclass(frozen=True)
class Source:
    """Named columns that are not yet typed: each a one-dimensional array or a narwhals Series."""

    names: tuple[str, ...]
    columns: tuple[Any, ...]
    n_rows: int
    is_frame: bool
    origin: Origin


def open_source(
    X: Any,
    *,
    column_types: Mapping[Any, str] | None = None,
    schema: Schema | None = None,
    max_unpacked: int | None = None,
) -> Source:
    """Take the input apart into columns; a str or path is a file, see :func:`~.files.read_file`.

    Raises
    ------
    OSError
        A file that cannot be read.
    TypeError
        Sparse matrices, frames that are not yet collected, dictionaries and single values.
    ValueError
        Anything else that is not two-dimensional, has no rows, no columns or repeated column names.
    """
    if isinstance(X, str | os.PathLike):
        opened = open_source(read_file(X, column_types=column_types, schema=schema, max_unpacked=max_unpacked))
        return replace(opened, origin=Origin())
    if issparse(X):
        raise TypeError("X is a sparse matrix, and a table is dense: pass X.toarray().")
    frame = frame_or_other(X, "X")
    if isinstance(frame, nw.DataFrame):
        return _open_frame(frame)
    _refuse_records(X)
    return _open_array(_as_array(X))


def frame_or_other(given: Any, what: str) -> Any:
    """A frame of any library as narwhals has it, names checked; anything else as it is. Lazy frames are refused."""
    refuse_repeated(column_labels(given))
    frame = nw.from_native(given, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{what} is a lazy frame: pass {what}.collect().")
    return frame


def told_kinds(column_types: Mapping[Any, str] | None, source: Source) -> dict[str, Kind]:
    """Kinds that the user gave, by column name; whole numbers as keys are positions in an array."""
    if column_types is None:
        return {}
    if not isinstance(column_types, Mapping):
        raise TypeError(
            "column_types must map column names to kinds, for example {'zip': 'categorical'}, "
            f"not {type(column_types).__name__}."
        )
    kinds: Mapping[str, Kind] = {kind: kind for kind in KINDS}
    return {
        _column_named(key, source): choose(f"column_types[{key!r}]", kind, kinds) for key, kind in column_types.items()
    }


def align(source: Source, names: Sequence[str]) -> dict[str, Any]:
    """Columns of a new table by the names seen in fit.

    Frames are matched by name, arrays by position; so are frames when fit saw an array.
    """
    if len(source.names) != len(names):
        raise ValueError(
            f"X has {len(source.names)} columns, but {len(names)} were seen in fit"
            f"{_difference(source, names)}. {_SAME_COLUMNS}"
        )
    fitted_on_array = tuple(names) == automatic_names(len(names))
    if not source.is_frame or (fitted_on_array and not set(names) & set(source.names)):
        return dict(zip(names, source.columns))
    by_name = dict(zip(source.names, source.columns))
    absent = [name for name in names if name not in by_name]
    if absent:
        raise ValueError(f"X lacks columns seen in fit: {name_some(absent, len(absent))}. {_SAME_COLUMNS}")
    return {name: by_name[name] for name in names}


def column_labels(X: Any) -> list[str]:
    """Names of the columns of a frame whose library allows them to repeat; nothing otherwise."""
    if dependencies.is_pandas_like_dataframe(X):
        return [str(label) for label in X.columns]
    return list(X.column_names) if dependencies.is_pyarrow_table(X) else []


def _open_frame(frame: nw.DataFrame) -> Source:
    _refuse_empty(frame.shape)
    library = frame.implementation.value
    known = library in LIBRARIES
    return Source(
        names=tuple(str(label) for label in frame.columns),
        columns=tuple(frame.iter_columns()),
        n_rows=frame.shape[0],
        is_frame=True,
        origin=Origin(library, nw.maybe_get_index(frame)) if known else Origin(first_installed(*LIBRARIES)),
    )


def _open_array(values: np.ndarray) -> Source:
    if values.ndim != 2:  # scikit-learn's words would quote all cells
        raise ValueError(
            f"Expected 2D array, got {values.ndim}D array instead. Reshape your data: X.reshape(-1, 1) is one column, "
            "X.reshape(1, -1) one row."
        )
    values = check_array(values, dtype=None, ensure_all_finite=False)
    n_rows, n_columns = values.shape
    columns = tuple(np.ascontiguousarray(values[:, j]) for j in range(n_columns))
    return Source(automatic_names(n_columns), columns, n_rows, is_frame=False, origin=Origin())


def _as_array(X: Any) -> np.ndarray:
    if isinstance(X, np.ma.MaskedArray):
        values = np.ma.getdata(X).astype(object)
        values[np.ma.getmaskarray(X)] = None
        return values
    if isinstance(X, list | tuple):
        _refuse_ragged(X)
        # As objects: numpy would turn the numbers of [[1, "a"]] into text.
        return np.array(X, dtype=object)
    values = X if isinstance(X, np.ndarray) else np.asarray(X)
    if values.ndim == 0:
        raise TypeError(
            f"X is a single value of type {type(X).__name__}, not a table: pass a frame, a two-dimensional array, "
            "a list of rows or the path of a file."
        )
    return values


def _refuse_records(X: Any) -> None:
    rows = X if isinstance(X, list | tuple) else ()
    if isinstance(X, Mapping) or (rows and all(isinstance(row, Mapping) for row in rows)):
        what = "list of dictionaries" if rows else "dictionary"
        raise TypeError(f"X is a {what}: pass a frame, for example pandas.DataFrame(X).")


def _refuse_ragged(rows: Sequence[Any]) -> None:
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return
    lengths = [np.size(row) if isinstance(row, np.ndarray) else len(row) for row in rows]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            raise ValueError(
                f"The rows of X differ in length: row 0 has {lengths[0]} cells, row {i} has {length}. "
                "Fill the gaps with None: missing cells are fine."
            )


def _refuse_empty(shape: tuple[int, int]) -> None:
    if 0 in shape:
        check_array(np.empty(shape))


def _difference(source: Source, names: Sequence[str]) -> str:
    if not source.is_frame:
        return ""
    seen, given = set(names), set(source.names)
    absent = [name for name in names if name not in given]
    extra = [name for name in source.names if name not in seen]
    parts = [f"missing: {name_some(absent, len(absent))}"] if absent else []
    parts += [f"not seen in fit: {name_some(extra, len(extra))}"] if extra else []
    return f" ({'; '.join(parts)})"


def _column_named(key: Any, source: Source) -> str:
    if not source.is_frame and isinstance(key, int | np.integer):
        if 0 <= key < len(source.names):
            return source.names[key]
        raise ValueError(f"column_types names column {key}, but X has columns 0 to {len(source.names) - 1}.")
    if str(key) in source.names:
        return str(key)
    hint = nearest(key, source.names) or f"The columns are {name_some(source.names, len(source.names))}."
    raise ValueError(f"column_types names {key!r}, which is no column of X. {hint}")
