"""A path is a table: Parquet, or text with a separator, plain or gzip-compressed."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from partita.parameters import nearest
from partita.table.column_keys import by_column
from partita.table.csv_text import read_text
from partita.table.csv_types import Wanted, type_columns
from partita.table.date_text import ORDERS
from partita.table.missing_values import empty_text, missing_pairs
from partita.table.names import refuse_repeated
from partita.table.parquet import SIGNATURE, read_parquet
from partita.table.schema import Column, Schema
from partita.table.unpacking import TIMES_OF_PARQUET, TIMES_OF_TEXT, UnpackingLimit, checked_limit, gunzip

if TYPE_CHECKING:
    import pyarrow as pa

_PARQUET_SUFFIXES = (".parquet", ".pq")
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_OTHER_FORMATS = {
    b"PK\x03\x04": "an Excel workbook or another zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"ARROW1": "an Arrow or Feather file",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "an SQLite database",
    b"\x93NUMPY": "a numpy array file",
    b"RDX": "an R workspace",
    b"X\n\x00\x00\x00": "an R data file",
    b"%PDF": "a PDF document",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
}
_SHOWN_LENGTH = 80


def read_file(
    path: str | os.PathLike,
    *,
    column_types: Mapping[Any, str] | None = None,
    schema: Schema | None = None,
    missing: Any = None,
    text: Collection[str] = (),
    categories: bool = False,
    max_unpacked: int | None = None,
) -> "pa.Table":
    """Read a table from a Parquet or CSV file.

    Parquet and gzip are known by their first bytes; everything else is text. The separator of text (comma, semicolon,
    tab or bar) is found from its first records, the first record is the header, and each column gets its type
    from its cells, see :func:`~.csv_types.type_columns`. Of Parquet the types are kept; the unnamed row index that
    pandas may store is left out, a named one is a column.

    Parameters
    ----------
    path : str or path
        The file.
    column_types : mapping, optional
        Kinds by column name or pattern, as for ``Table.read``: cells told to be numbers are read as numbers wherever
        possible, dates told to be categories keep their text.
    schema : Schema, optional
        What an earlier table learned: columns whose levels are text are read as text.
    missing : text, number, list or mapping, optional
        What stands for a missing cell, as for ``Table.read``; that of the schema where there is one. "unknown" among
        numbers does not make the column text then.
    text : collection of str
        Columns whose cells are to stay the text that they are, where the file is text.
    categories : bool
        Whether all other columns hold categories, which may be numbers.
    max_unpacked : int, optional
        Bytes that a compressed file may become. By default 128 MiB, or 20 times the size of a gzip-compressed file and
        128 times that of a Parquet file where that is more: a file that becomes larger is refused.

    Raises
    ------
    OSError
        No such file, a directory, no permission.
    ValueError
        An empty or damaged file, no rows, lines of different lengths, text that is not UTF-8, other formats,
        repeated column names.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("people.csv").write_text("age;town\\n41;Ulm\\n;Bonn\\n")
    >>> read_file("people.csv").to_pydict()
    {'age': [41, None], 'town': ['Ulm', 'Bonn']}
    """
    shown = shown_path(path)
    content = read_parquet_or_text(path, shown, max_unpacked)
    if not isinstance(content, bytes):
        refuse_repeated(content.column_names)
        return content
    cells = read_text(content, shown)
    refuse_repeated(cells.names)
    marks = missing_pairs(missing, cells.names) if schema is None else schema.missing
    cells = empty_text(cells, marks, tuple(text))
    others: dict[str, Wanted] = dict.fromkeys(cells.names, "categories") if categories else {}
    told = by_column(column_types, cells.names) if isinstance(column_types, Mapping) else column_types
    return type_columns(cells, others | _wanted(told, schema) | dict.fromkeys(text, "text"))


def read_parquet_or_text(path: str | os.PathLike, shown: str, max_unpacked: int | None = None) -> "pa.Table | bytes":
    """The table in a Parquet file, or the text in any other one; ``shown`` is what messages call the file."""
    max_unpacked = checked_limit(max_unpacked)
    content = _bytes_of(path, shown)
    if content.startswith(_GZIP):
        content = gunzip(content, UnpackingLimit(len(content), TIMES_OF_TEXT, max_unpacked, shown))
    content = content.removeprefix(_BYTE_ORDER_MARK)
    if not content.strip():
        raise ValueError(f"{shown} is empty. Write a header and one line per row into it.")
    if content.startswith(SIGNATURE):
        return read_parquet(content, UnpackingLimit(len(content), TIMES_OF_PARQUET, max_unpacked, shown))
    if Path(path).suffix.lower() in _PARQUET_SUFFIXES:
        raise ValueError(
            f"{shown} is no Parquet file, despite its name. Write it again, or name it .csv if it is text."
        )
    _refuse_other_formats(content, shown)
    return content


def _wanted(column_types: Mapping[Any, str] | None, schema: Schema | None) -> dict[str, Wanted]:
    if schema is not None:
        return {column.name: _wanted_again(column) for column in schema.used}
    if not isinstance(column_types, Mapping):
        return {}
    return {str(name): _wanted_as(kind) for name, kind in column_types.items()}


def _wanted_as(told: str) -> Wanted:
    if told == "categorical":
        return "categories"
    return "text" if told in ("date", *ORDERS) else "numbers"


def _wanted_again(column: Column) -> Wanted:
    if column.kind == "date" or column.written:
        return "text"
    if column.kind != "categorical":
        return "numbers"
    return "text" if column.levels and all(isinstance(level, str) for level in column.levels) else "categories"


def shown_path(path: str | os.PathLike) -> str:
    """What messages call a file: its path, or the end of a long one."""
    text = os.fspath(path)
    return repr(text if len(text) <= _SHOWN_LENGTH else f"...{text[-_SHOWN_LENGTH:]}")


def _bytes_of(path: str | os.PathLike, shown: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except IsADirectoryError:
        raise IsADirectoryError(f"{shown} is a folder: name one file in it.") from None
    except PermissionError:
        if Path(path).is_dir():  # Windows says so of folders
            raise IsADirectoryError(f"{shown} is a folder: name one file in it.") from None
        raise PermissionError(
            f"{shown} may not be read: give yourself read permission, or copy it to a place of your own."
        ) from None
    except (FileNotFoundError, NotADirectoryError, ValueError):
        _refuse_missing(path, shown)
    except OSError as error:
        if not os.path.exists(path):
            _refuse_missing(path, shown)
        raise OSError(f"{shown} could not be read ({error.strerror}). Copy it and try again.") from None
    except MemoryError:
        raise ValueError(f"{shown} is larger than the memory that there is: take fewer rows of it.") from None


def _refuse_missing(path: str | os.PathLike, shown: str) -> NoReturn:
    if "://" in os.fspath(path):
        raise FileNotFoundError(f"{shown} is an address, and tables are read from files: download it first.") from None
    folder = Path(path).parent
    try:
        hint = nearest(Path(path).name, (entry.name for entry in folder.iterdir()))
    except (OSError, ValueError):
        hint = ""
    raise FileNotFoundError(f"There is no file {shown}. {hint or 'Check its name and folder.'}") from None


def _refuse_other_formats(content: bytes, shown: str) -> None:
    for signature, description in _OTHER_FORMATS.items():
        if content.startswith(signature):
            raise ValueError(f"{shown} is {description}, not a text table. Save it as CSV or Parquet.")
    if content.startswith(_UTF16):
        raise ValueError(f"{shown} is text in UTF-16. Save it as UTF-8.")
    if b"\0" in content:
        raise ValueError(f"{shown} is not a text table: it holds binary data. Save it as CSV or Parquet.")
