"""The type of a column of text, from what its cells look like."""

import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from partita.table.csv_text import NUMBER, TextTable
from partita.table.number_text import read_numbers
from partita.wording import declare

if TYPE_CHECKING:
    import pyarrow as pa

# What is known of a column beforehand: it holds numbers, categories (which may be numbers), or nothing but text.
Wanted = Literal["numbers", "categories", "text"]

DECIMAL_COMMA = b"partita.decimal_comma"
"""In the metadata of a table whose numbers may have a decimal comma."""
MISSING_WORDS = ("na", "n/a", "#n/a", "nan", "null", "none", "?", ".")
"""What stands for no value among numbers, in lower case."""
_TRUTH_WORDS = ("true", "false")
_NUMBER = re.compile(rf"{NUMBER}|[+-]?inf(inity)?", re.IGNORECASE)
_CODE = r"^0[0-9]+$"
_WHOLE = r"^[+-]?[0-9]+$"
_TIME = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$"
_BELOW_MICROSECONDS = r"(\.\d{6})\d+"


def type_columns(text: TextTable, wanted: Mapping[str, Wanted]) -> "pa.Table":
    """Give every column the type that all its cells have, whitespace around them aside.

    Empty cells are missing. Whole numbers are int64 where they fit; other numbers float64 (1e-300, inf), with
    decimal comma too unless commas separate the cells; true and false in any case are bool; ISO dates and times are
    date32 or timestamps; all else is text as it stands. Among numbers the words NA, N/A, #N/A, NaN, null, None, ? and .
    are missing; among text only the empty cell is, since a category may be called NA. A number that starts with
    a zero, 007, is a code and its column text. A column without any cell is float64. Numbers with thousands separators
    or signs and dates in other orders stay text here: `Table.read` understands them.

    Columns wanted as "numbers" take codes as numbers and missing words as missing even beside text; columns wanted
    as "categories" keep the text of times, and of whole numbers beyond int64; "text" leaves all as it stands.
    """
    import pyarrow as pa

    decimal_comma = text.separator != ","
    columns = [_type_column(column, wanted.get(name), decimal_comma) for name, column in zip(text.names, text.columns)]
    metadata = {DECIMAL_COMMA: b"yes"} if decimal_comma else None
    table = pa.table(columns, names=text.names, metadata=metadata)
    _warn_of_numbers_beside_text(table, wanted)
    return table


def _warn_of_numbers_beside_text(table: "pa.Table", wanted: Mapping[str, Wanted]) -> None:
    """Warn of columns of text most of whose cells are numbers: the others were hardly meant."""
    import pyarrow as pa
    from pyarrow import compute as pc

    for name, column in zip(table.column_names, table.columns):
        if name in wanted or not pa.types.is_string(column.type):
            continue
        is_number = pc.match_substring_regex(pc.utf8_trim_whitespace(column), rf"^{NUMBER}$").fill_null(False)
        is_code = pc.match_substring_regex(column, _CODE).fill_null(False)
        n_numbers, n_cells = pc.sum(is_number).as_py() or 0, len(column) - column.null_count
        if 2 * n_numbers <= n_cells or pc.any(is_code).as_py() or n_numbers == n_cells:
            continue
        cells = [cell for cell in column.unique().to_pylist() if cell and cell.strip().lower() not in MISSING_WORDS]
        if read_numbers(cells) is not None:  # with thousands separators, say, which are understood later
            continue
        row = pc.and_(column.is_valid(), pc.invert(is_number)).index(True).as_py()
        warnings.warn(
            f"{n_numbers} of {n_cells} cells of column {name!r} are numbers, but row {row} holds "
            f"{column[row].as_py()!r}: the column is read as text. Empty the cells that are no numbers, or "
            f"{declare(name, 'categorical')}.",
            UserWarning,
            stacklevel=2,
        )


def _type_column(text: "pa.Array", wanted: Wanted | None, decimal_comma: bool) -> "pa.Array":
    import pyarrow as pa
    from pyarrow import compute as pc

    cells = pc.utf8_trim_whitespace(text)
    observed = pc.not_equal(cells, "")
    cells, text = _only(cells, observed), _only(text, observed)
    if wanted == "text":
        return text
    if text.null_count == len(text):
        return pa.nulls(len(text), pa.float64())
    if wanted == "numbers":
        text = _only(text, pc.invert(_is_missing_word(cells)))
    typed = _as_numbers(cells, wanted, decimal_comma)
    if typed is None:
        typed = _as_truth(cells)
    if typed is None and wanted != "categories":
        typed = _as_times(cells)
    return text if typed is None else typed


def _only(cells: "pa.Array", kept: "pa.Array") -> "pa.Array":
    import pyarrow as pa
    from pyarrow import compute as pc

    return pc.if_else(kept, cells, pa.scalar(None, cells.type))


def _first(cells: "pa.Array") -> str:
    return cells[cells.is_valid().index(True).as_py()].as_py()


def _is_missing_word(cells: "pa.Array") -> "pa.Array":
    import pyarrow as pa
    from pyarrow import compute as pc

    return pc.is_in(pc.utf8_lower(cells), value_set=pa.array(MISSING_WORDS))


def _as_numbers(cells: "pa.Array", wanted: Wanted | None, decimal_comma: bool) -> "pa.Array | None":
    import pyarrow as pa
    from pyarrow import compute as pc

    first = _first(cells)
    if not _NUMBER.fullmatch(first) and first.lower() not in MISSING_WORDS:
        return None  # most columns of text end here, before all of their cells are looked at
    if wanted != "numbers" and pc.any(pc.match_substring_regex(cells, _CODE)).as_py():
        return None
    cells = _only(cells, pc.invert(_is_missing_word(cells)))
    if cells.null_count == len(cells) and wanted != "numbers":
        return None
    if decimal_comma:
        cells = pc.replace_substring(cells, ",", ".")
    try:
        numbers = cells.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    if not pc.all(pc.equal(pc.floor(numbers), numbers), min_count=0).as_py():
        return numbers
    return _as_whole_numbers(cells, numbers, wanted)


def _as_whole_numbers(cells: "pa.Array", numbers: "pa.Array", wanted: Wanted | None) -> "pa.Array | None":
    import pyarrow as pa
    from pyarrow import compute as pc

    try:
        return pc.utf8_ltrim(cells, characters="+").cast(pa.int64())
    except pa.ArrowInvalid:
        beyond_int64 = pc.all(pc.match_substring_regex(cells, _WHOLE), min_count=0).as_py()
        return None if wanted == "categories" and beyond_int64 else numbers


def _as_truth(cells: "pa.Array") -> "pa.Array | None":
    import pyarrow as pa
    from pyarrow import compute as pc

    if _first(cells).lower() not in _TRUTH_WORDS:
        return None
    words = pc.utf8_lower(cells)
    if not pc.all(pc.is_in(words, value_set=pa.array([*_TRUTH_WORDS, None]))).as_py():
        return None
    return pc.equal(words, "true")


def _as_times(cells: "pa.Array") -> "pa.Array | None":
    import pyarrow as pa
    from pyarrow import compute as pc

    if not re.match(_TIME, _first(cells)) or not pc.all(pc.match_substring_regex(cells, _TIME)).as_py():
        return None
    cells = pc.replace_substring_regex(cells, _BELOW_MICROSECONDS, r"\1")
    for kind in (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return cells.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None
