"""What came in: an array, a list of rows, a frame or a file, taken apart into named columns."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from narwhals import dependencies
from scipy.sparse import issparse
from sklearn.utils import check_array

from partita.parameters import choose
from partita.table.column_keys import by_column, refuse_strange_keys
from partita.table.csv_types import DECIMAL_COMMA
from partita.table.files import read_file
from partita.table.missing_values import missing_pairs
from partita.table.names import refuse_repeated
from partita.table.origin import LIBRARIES, Origin, first_installed
from partita.table.schema import TOLD, MissingPairs, Schema, automatic_names
from partita.wording import count_of, name_some

_SAME_COLUMNS = "Pass all columns of fit; cells may be empty: missing cells are fine."


@dataclass(frozen=True)
class Source:
    """Named columns that are not yet typed: each a one-dimensional array or a narwhals Series.

    ``decimal_comma``: of a file whose numbers may have one, since commas do not separate its cells.
    """

    names: tuple[str, ...]
    columns: tuple[Any, ...]
    n_rows: int
    is_frame: bool
    origin: Origin
    decimal_comma: bool = False


def open_source(
    X: Any,
    *,
    column_types: Mapping[Any, str] | None = None,
    schema: Schema | None = None,
    missing: Any = None,
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
        how = {"column_types": column_types, "schema": schema, "missing": missing, "max_unpacked": max_unpacked}
        opened = open_source(read_file(X, **how))
        return replace(opened, origin=Origin())
    if issparse(X):
        raise TypeError("X is a sparse matrix, and a table is dense: pass X.toarray().")
    frame = frame_or_other(X, "X")
    if isinstance(frame, nw.DataFrame):
        metadata = X.schema.metadata if dependencies.is_pyarrow_table(X) else None
        return replace(_open_frame(frame), decimal_comma=DECIMAL_COMMA in (metadata or ()))
    _refuse_records(X)
    return _open_array(_as_array(X))


def frame_or_other(given: Any, what: str) -> Any:
    """A frame of any library as narwhals has it, names checked; anything else as it is. Lazy frames are refused."""
    refuse_repeated(column_labels(given))
    frame = nw.from_native(given, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{what} is a lazy frame: pass {what}.collect().")
    return frame


def told_kinds(column_types: Mapping[Any, str] | None, source: Source) -> dict[str, str]:
    """Kinds that the user gave, by column name; see `column_keys`: whole numbers as keys are positions in an array."""
    if column_types is None:
        return {}
    if not isinstance(column_types, Mapping):
        raise TypeError(
            "column_types must map column names to kinds, for example {'zip': 'categorical'}, "
            f"not {type(column_types).__name__}."
        )
    kinds = {kind: kind for kind in TOLD}
    refuse_strange_keys("column_types", column_types, source.names, by_position=not source.is_frame)
    chosen = {key: choose(f"column_types[{key!r}]", kind, kinds) for key, kind in column_types.items()}
    return by_column(chosen, source.names, by_position=not source.is_frame)


def told_missing(missing: Any, source: Source) -> MissingPairs:
    """What the user says stands for missing cells; a column that is not there is refused."""
    by_position = not source.is_frame
    if isinstance(missing, Mapping):
        refuse_strange_keys("missing", missing, source.names, by_position=by_position)
    return missing_pairs(missing, source.names, by_position=by_position)


def told_steps(column_steps: Any, source: Source) -> dict[str, float]:
    """Steps that the user gave, by column name: those of a mapping, or one number for all columns."""
    if column_steps is None:
        return {}
    if not isinstance(column_steps, Mapping):
        return dict.fromkeys(source.names, _checked_step("column_steps", column_steps))
    by_position = not source.is_frame
    refuse_strange_keys("column_steps", column_steps, source.names, by_position=by_position)
    steps = {key: _checked_step(f"column_steps[{key!r}]", step) for key, step in column_steps.items()}
    return by_column(steps, source.names, by_position=by_position)


def align(source: Source, names: Sequence[str]) -> dict[str, Any]:
    """Columns of a new table by the names seen in fit.

    Frames are matched by name, and columns that fit did not see are left out with a warning; arrays are matched by
    position, and so are frames when fit saw an array.
    """
    by_name = dict(zip(source.names, source.columns)) if source.is_frame else {}
    absent = [name for name in names if name not in by_name]
    if not absent:
        warn_of_extra(source.names, names)
        return {name: by_name[name] for name in names}
    if len(source.names) != len(names):
        raise ValueError(
            f"X has {len(source.names)} columns, but {len(names)} were seen in fit"
            f"{_difference(source, names)}. {_SAME_COLUMNS}"
        )
    fitted_on_array = tuple(names) == automatic_names(len(names))
    if not source.is_frame or (fitted_on_array and len(absent) == len(names)):
        return dict(zip(names, source.columns))
    raise ValueError(f"X lacks columns seen in fit: {name_some(absent, len(absent))}. {_SAME_COLUMNS}")


def without_extra_columns(X: Any, names: Sequence[str]) -> Any:
    """A frame without the columns that fit did not see, which a warning names; anything else as it is.

    So is a frame that lacks a column of fit: it is refused where it is read.
    """
    if not dependencies.is_into_dataframe(X):
        return X
    frame = frame_or_other(X, "X")
    given, seen = [str(label) for label in frame.columns], set(names)
    if len(given) == len(names) or not seen <= set(given):
        return X
    warn_of_extra(given, names)
    return frame[:, [j for j, name in enumerate(given) if name in seen]].to_native()


def warn_of_extra(given: Sequence[str], names: Sequence[str]) -> None:
    """Warn once of all columns that fit did not see; those that it saw are all among the given ones."""
    if len(given) == len(names):
        return
    seen = set(names)
    extra = [name for name in given if name not in seen]
    warnings.warn(
        f"{count_of(len(extra), 'column')} not seen in fit {'is' if len(extra) == 1 else 'are'} ignored: "
        f"{name_some(extra, len(extra))}.",
        UserWarning,
        stacklevel=5,
    )


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


def _checked_step(option: str, step: Any) -> float:
    is_number = isinstance(step, Real) and not isinstance(step, bool)
    if not (is_number and 0.0 <= float(step) < np.inf):
        raise ValueError(
            f"{option} must be a number of at least 0, what the numbers were recorded in (0: continuous), got {step!r}."
        )
    return float(step)
