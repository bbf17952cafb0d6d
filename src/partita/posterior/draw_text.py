"""Draws as text: one line per draw, with or without a header and row names."""

import csv
import io
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.labels import code_numbers, code_values
from partita.posterior.row_names import counts_rows, has_row_names
from partita.table.csv_text import NO_SEPARATOR, NUMBER, TOLD_SEPARATOR, find_separator, refuse_encoding
from partita.table.csv_types import MISSING_WORDS
from partita.wording import count_of

if TYPE_CHECKING:
    import pyarrow as pa

_NUMBER = re.compile(NUMBER)
_MISSING_CELLS = ["", *MISSING_WORDS, *(word.upper() for word in MISSING_WORDS), "NaN"]
_BLOCK_SIZE = 1 << 24


@dataclass(frozen=True)
class _Lines:
    """Lines that are not empty, without quotes, and what separates their cells; ``numbers`` counts from 1."""

    lines: list[bytes]
    numbers: list[int]
    separator: bytes

    def cells(self, i: int) -> list[str]:
        return [cell.strip() for cell in self.lines[i].decode().split(self.separator.decode())]


def read_text(content: bytes, shown: str) -> tuple[np.ndarray, list[str] | None]:
    """Codes of the labels, (n_draws, n_objects), and the names of the objects where there is a header.

    The separator is found as for tables; lines without one are taken apart at spaces. A first line that holds
    something else than numbers and empty cells is a header, and so is one that counts the columns. A first column
    without a name that counts the lines is left out. Cost: a pass over the bytes for all whole numbers, and for other
    labels one dictionary look-up per cell.
    """
    try:
        content.decode()
    except UnicodeDecodeError:
        refuse_encoding(content, shown)
    text = _plain_lines(content)
    names = _header(text)
    start = 0 if names is None else 1
    if start == len(text.lines):
        raise ValueError("there is a header but no draw. Add at least one line of labels.")
    _refuse_ragged(text, start, len(names) if names else text.lines[0].count(text.separator) + 1)
    codes, values = _parse(b"\n".join(text.lines[start:]).replace(text.separator, b"\n") + b"\n")
    codes = codes.reshape(len(text.lines) - start, -1)
    first = codes[:, 0].tolist() if values is None else [values[code] for code in codes[:, 0]]
    if has_row_names(names[0] if names else None, first, codes.shape[1]):
        codes, names = codes[:, 1:], names and names[1:]
    _refuse_repeated(names or [])
    if names and values is not None:
        _warn_of_labels_above(names, values)
    return (code_numbers(codes) if values is None else _coded(values, codes)), names


def _plain_lines(content: bytes) -> _Lines:
    told = TOLD_SEPARATOR.match(content)
    content = content[told.end() :] if told else content
    if not content.strip():
        raise ValueError("there is no draw. Add at least one line of labels.")
    separator = told["separator"] if told else find_separator(content).encode()
    at_spaces = separator == NO_SEPARATOR.encode() and b" " in content.strip().splitlines()[0]
    separator = b" " if at_spaces else separator
    one_column = separator == NO_SEPARATOR.encode()
    content = _without_quotes(content, separator)
    if b'"' in content:
        content, separator = _requoted(content, separator), NO_SEPARATOR.encode()
    elif at_spaces:
        content, separator = b"\n".join(b"\t".join(line.split()) for line in content.splitlines()), b"\t"
    lines = content.splitlines()
    kept = [i for i, line in enumerate(lines) if line.strip(b" ")]
    kept = list(range(kept[0], kept[-1] + 1)) if one_column else kept  # where an empty line is an empty cell
    return _Lines([lines[i] for i in kept], [i + 1 for i in kept], separator)


def _without_quotes(content: bytes, separator: bytes) -> bytes:
    """The text without the quotes around cells that do not need them."""
    end = re.escape(separator)
    simple = rb'(?m)(^|(?<=%b))"([^"\r\n%b]*)"(?=%b|\r|\n|\Z)' % (end, end, end)
    return re.sub(simple, rb"\2", content) if b'"' in content else content


def _requoted(content: bytes, separator: bytes) -> bytes:
    """Text whose quoted cells hold separators or ends of lines, with a separator that no cell holds."""
    if content.count(b'"') % 2:
        raise ValueError("a quote is opened and never closed: close it or take it out.")
    records = csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator.decode(), skipinitialspace=True)
    try:
        lines = [NO_SEPARATOR.join(" ".join(cell.splitlines()) for cell in record) for record in records]
    except csv.Error:
        raise ValueError(f"a cell has more than {csv.field_size_limit()} letters: is a quote missing?") from None
    return "\n".join(lines).encode()


def _header(text: _Lines) -> list[str] | None:
    """Names in the first line, an empty one added where R left out that of the row names; None: no header."""
    cells = text.cells(0)
    n_lines = len(text.lines)
    short = n_lines > 1 and text.lines[1].count(text.separator) == len(cells)
    if not all(_NUMBER.fullmatch(cell) or _is_missing(cell) for cell in cells):
        return ["", *cells] if short else cells
    named = cells[1:] if cells[0] == "" else cells
    if n_lines == 1 or len(named) < 2 or not counts_rows([_number(cell) for cell in named]):
        return None
    if cells[0]:
        warnings.warn(
            f"The first line counts the columns ({named[0]} to {named[-1]}) and is read as a header. If it is a draw,"
            " write a line of names above it.",
            UserWarning,
            stacklevel=2,
        )
    return ["", *cells] if short else cells


def _refuse_ragged(text: _Lines, start: int, n_cells: int) -> None:
    for i in range(start, len(text.lines)):
        found = text.lines[i].count(text.separator) + 1
        if found != n_cells:
            other = "the header" if start else f"line {text.numbers[0]}"
            raise ValueError(
                f"line {text.numbers[i]} (draw {i - start}) has {count_of(found, 'cell')}, but {other} has {n_cells}:"
                " every draw needs a cell for every object; it may be empty."
            )


def _warn_of_labels_above(names: list[str], values: list[Any]) -> None:
    """Say that the first line, read as a header, may be a draw: all its names are labels further down."""
    if set(names) <= {value for value in values if isinstance(value, str)}:
        warnings.warn(
            "The first line is read as names of the objects, but all of its cells are labels further down. If it is a"
            " draw, write a line of names above it.",
            UserWarning,
            stacklevel=2,
        )


def _refuse_repeated(names: list[str]) -> None:
    repeated = [name for name, n in Counter(names).items() if n > 1]
    if repeated:
        raise ValueError(
            f"the first line is read as names of the objects, and {repeated[0]!r} repeats. Names must differ; if the"
            " first line is a draw, write a line of names above it."
        )


def _parse(cells: bytes) -> tuple[np.ndarray, list[Any] | None]:
    """Cells, one per line, as integers; otherwise as positions among values, and these values."""
    import pyarrow as pa

    try:
        return _column(cells, pa.int64()).fill_null(-1).to_numpy(), None
    except pa.ArrowInvalid:
        encoded = _column(cells, pa.string()).combine_chunks().dictionary_encode()
        words = [word.strip() for word in encoded.dictionary.to_pylist()]
        return encoded.indices.to_numpy().astype(np.int64), _values(words)


def _column(cells: bytes, kind: "pa.DataType") -> "pa.ChunkedArray":
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(
        pa.BufferReader(cells),
        read_options=arrow_csv.ReadOptions(column_names=["cell"], block_size=_BLOCK_SIZE),
        parse_options=arrow_csv.ParseOptions(delimiter=NO_SEPARATOR, quote_char=False, ignore_empty_lines=False),
        convert_options=arrow_csv.ConvertOptions(
            column_types={"cell": kind}, null_values=_MISSING_CELLS, strings_can_be_null=False
        ),
    )["cell"]


def _values(words: Sequence[str]) -> list[Any]:
    """Numbers where all words are numbers, otherwise text; None where a word says that there is no label.

    A number that is not whole stays one among text too, and is refused as such: it is a measurement, not a label.
    """
    told = [word for word in words if not _is_missing(word)]
    if all(_NUMBER.fullmatch(word) for word in told) or any(_is_measurement(word) for word in told):
        return [None if _is_missing(word) else word if (n := _number(word)) is None else n for word in words]
    return [None if _is_missing(word) or word == "-1" else word for word in words]


def _coded(values: list[Any], positions: np.ndarray) -> np.ndarray:
    """Codes of labels given as positions among values, of which several may be equal."""
    code_of: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(code_of.__getitem__, values), np.int64, len(values))
    return code_values(list(code_of), codes[positions])


def _is_measurement(word: str) -> bool:
    number = _number(word)
    return isinstance(number, float) and not number.is_integer()


def _is_missing(word: str) -> bool:
    return not word or word.lower() in MISSING_WORDS


def _number(word: str) -> int | float | None:
    if not _NUMBER.fullmatch(word):
        return None
    try:
        return int(word)
    except ValueError:
        return float(word.replace(",", "."))
