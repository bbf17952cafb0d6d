"""Text with a separator, taken apart into named columns of text."""

import csv
import io
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NoReturn

from partita.wording import count_of, join_words, printable

if TYPE_CHECKING:
    import pyarrow as pa

_LINE_ENDS = b"\r\n"
TOLD_SEPARATOR = re.compile(rb"sep=(?P<separator>[,;|\t])\r?\n")
"""A first line that spreadsheets write and read."""
NUMBER = r"[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]+)?"
"""A number as text, with a point or a comma."""
# Comma last: where another one fits, commas are part of the cells.
_SEPARATORS = ("\t", ";", "|", ",")
NO_SEPARATOR = "\x1f"
"""Of a table with one column: the separator that no text table holds."""
_RECORDS_LOOKED_AT = 20
_MOST_NAMED = 20
# A record must fit into one block.
_BLOCK_SIZE = 1 << 24


@dataclass(frozen=True)
class TextTable:
    """Columns of text by name; names may repeat. Every cell is text, an empty one too."""

    names: list[str]
    columns: "list[pa.Array]"
    separator: str


def read_text(content: bytes, shown: str) -> TextTable:
    """Take UTF-8 text apart into columns.

    The separator is the first of tab, semicolon, bar and comma that gives all of the first records the same number of
    cells, above one; otherwise the most frequent one in the header; otherwise the table has one column. Empty lines
    are skipped, except inside a table of one column, where they are empty cells.

    Parameters
    ----------
    content : bytes
        The whole text, with at least one line that is not empty.
    shown : str
        What messages call the file.
    """
    told = TOLD_SEPARATOR.match(content)
    content = content[told.end() :] if told else content
    if not content.strip(_LINE_ENDS):
        raise ValueError(f"{shown} names its separator and holds nothing else. Write a header and one line per row.")
    try:
        separator = told["separator"].decode() if told else find_separator(content)
        header = next(filter(None, _records(content, separator)))
    except UnicodeDecodeError:
        refuse_encoding(content, shown)
    except csv.Error:
        _refuse_open_quote(1, shown)
    columns = _parse(content, separator, len(header), shown)
    _refuse_swallowed_lines(content, columns, shown)
    if len(columns[0]) == 1:
        raise ValueError(f"{shown} has a header but no rows. Add at least one row.")
    rows = [column.slice(1) for column in columns]
    return TextTable(_name_columns(header, rows, shown), rows, separator)


def _records(content: bytes, separator: str) -> Iterator[list[str]]:
    return csv.reader(_lines(content), delimiter=separator)


def _lines(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")


def find_separator(content: bytes) -> str:
    """The separator of text that does not tell it; see `read_text`."""
    fitting = [separator for separator in _SEPARATORS if _shared_length(content, separator) > 1]
    if fitting:
        return fitting[0]
    header = next(line for line in _lines(content) if line.strip("\r\n"))
    best = max(_SEPARATORS, key=header.count)
    return best if best in header else NO_SEPARATOR


def _shared_length(content: bytes, separator: str) -> int:
    """Number of cells that all of the first records have; 0 when they differ or a cell is endless."""
    try:
        lengths = {len(record) for record in islice(filter(None, _records(content, separator)), _RECORDS_LOOKED_AT)}
    except csv.Error:
        return 0
    return lengths.pop() if len(lengths) == 1 else 0


def _parse(content: bytes, separator: str, n_columns: int, shown: str) -> "list[pa.Array]":
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    names = [str(j) for j in range(n_columns)]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(content.strip(_LINE_ENDS)),
            read_options=arrow_csv.ReadOptions(column_names=names, block_size=_BLOCK_SIZE),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator,
                newlines_in_values=b'"' in content,
                ignore_empty_lines=separator != NO_SEPARATOR,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        _refuse_text(content, separator, n_columns, shown, printable(error))
    return [pa.concat_arrays(column.chunks) for column in table.columns]


def _name_columns(header: list[str], rows: "list[pa.Array]", shown: str) -> list[str]:
    names = [cell.strip() for cell in header]
    _doubt_header(names, rows, shown)
    unnamed = [j for j, name in enumerate(names) if not name]
    taken = set(names)
    for j in unnamed:
        name = f"column {j + 1}"
        while name in taken:
            name += "_"
        taken.add(name)
        names[j] = name
    if unnamed:
        one = len(unnamed) == 1
        new = [repr(names[j]) for j in unnamed]
        called = join_words(new) if len(new) <= _MOST_NAMED else f"{join_words(new[:_MOST_NAMED])} and so on"
        warnings.warn(
            f"{count_of(len(unnamed), 'column')} of {shown} {'has' if one else 'have'} no name and "
            f"{'is' if one else 'are'} called {called}.",
            UserWarning,
            stacklevel=2,
        )
    return names


def _doubt_header(names: list[str], rows: "list[pa.Array]", shown: str) -> None:
    """Warn of a first line that looks like a row, or refuse it where it cannot be a header.

    It does where every cell is a number, or a value of its own column below; some must be numbers, or names repeat.
    """
    told = [(name, column) for name, column in zip(names, rows) if name]
    others = [(name, column) for name, column in told if not re.fullmatch(NUMBER, name)]
    repeated = len({name for name, _ in told}) < len(told)
    if len(told) < 2 or (len(others) == len(told) and not repeated) or not all(_occurs(*cell) for cell in others):
        return
    if repeated:
        raise ValueError(
            f"The first line of {shown} looks like a row, and no two columns of a header may have one name: write "
            "names above the rows."
        )
    what = "looks like a row" if others else "holds numbers only"
    warnings.warn(
        f"The first line of {shown} {what} and is taken as the header: write names above the rows.",
        UserWarning,
        stacklevel=2,
    )


def _occurs(name: str, cells: "pa.Array") -> bool:
    from pyarrow import compute as pc

    return pc.any(pc.equal(pc.utf8_trim_whitespace(cells), name)).as_py() or False


def _refuse_text(content: bytes, separator: str, n_columns: int, shown: str, reason: str) -> NoReturn:
    records = csv.reader(_lines(content), delimiter=separator)
    line = 1
    try:
        for record in records:
            if record and len(record) != n_columns:
                if _reaches_the_end(record[-1], content):
                    _refuse_open_quote(line, shown)
                _refuse_ragged(line, len(record), n_columns, shown)
            line = records.line_num + 1
    except UnicodeDecodeError:
        refuse_encoding(content, shown)
    except csv.Error:
        _refuse_open_quote(line, shown)
    raise ValueError(f"{shown} could not be read as a text table ({reason}). Write it again as CSV.") from None


def _refuse_ragged(line: int, n_cells: int, n_columns: int, shown: str) -> NoReturn:
    if n_cells > n_columns:
        remedy = "take out what is too much, or put quotes around cells that hold the separator"
    else:
        remedy = "add the missing cells; they may be empty"
    raise ValueError(
        f"Line {line} of {shown} has {count_of(n_cells, 'cell')}, but the header has {n_columns}: {remedy}."
    ) from None


def _reaches_the_end(cell: str, content: bytes) -> bool:
    """Whether the last cell of a record swallowed the rest of the file because a quote was left open."""
    several_lines = "\n" in cell or "\r" in cell
    return several_lines and content.count(b'"') % 2 == 1 and content.endswith(cell.encode())


def _refuse_swallowed_lines(content: bytes, columns: "list[pa.Array]", shown: str) -> None:
    last_cell = columns[-1][-1].as_py()
    content = content.rstrip(_LINE_ENDS)
    if _reaches_the_end(last_cell, content):
        _refuse_open_quote(_line_of(content, len(content) - len(last_cell.encode())), shown)


def _refuse_open_quote(line: int, shown: str) -> NoReturn:
    raise ValueError(f"A quote opened in line {line} of {shown} is never closed: close it or take it out.") from None


def refuse_encoding(content: bytes, shown: str) -> NoReturn:
    """Name the first line that is not UTF-8."""
    place = _first_bad_byte(content)
    raise ValueError(
        f"Line {_line_of(content, place)} of {shown} is not text in UTF-8 (byte 0x{content[place : place + 1].hex()}). "
        "Save the file as UTF-8."
    ) from None


def _first_bad_byte(content: bytes) -> int:
    try:
        return len(content.decode())
    except UnicodeDecodeError as error:
        return error.start


def _line_of(content: bytes, position: int) -> int:
    before = content[:position]
    return (before.count(b"\n") or before.count(b"\r")) + 1
