"""The columns of a file that are not clustered by: one that names the rows, and those to be ignored."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from partita.parameters import nearest
from partita.wording import name_some

if TYPE_CHECKING:
    import pyarrow as pa


def set_aside(frame: "pa.Table", id: str | None, ignore: Iterable[str]) -> "tuple[pa.Table, list[Any] | None]":
    """The frame without these columns, and the cells of the one that names the rows.

    Raises
    ------
    ValueError
        A column that is not there, with the nearest one that is; or when none is left.
    """
    ids = None
    if id is not None:
        refuse_unknown("--id", id, frame.column_names)
        ids = frame.column(id).to_pylist()
    for column in ignore:
        refuse_unknown("--ignore", column, frame.column_names)
    left_out = {id, *ignore}
    kept = [name for name in frame.column_names if name not in left_out]
    if not kept:
        raise ValueError("--id and --ignore leave no column to cluster by: name fewer columns.")
    return frame.select(kept), ids


def refuse_unknown(option: str, column: str, columns: list[str]) -> None:
    """Refuse an option that names a column which the table does not have."""
    if column not in columns:
        hint = nearest(column, columns) or f"The columns are {name_some(columns, len(columns))}."
        raise ValueError(f"{option} names {column!r}, which is no column of the table. {hint}")
