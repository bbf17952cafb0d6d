"""Parquet: read piece by piece, as long as it does not become larger than a file of its size may."""

import re
from typing import TYPE_CHECKING, NamedTuple

from partita.table.parquet_pages import PageError, pages_of
from partita.table.unpacking import UnpackingLimit

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

SIGNATURE = b"PAR1"
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
_ROWS_AT_ONCE = 1 << 17
_BATCHES = 8  # that the limit has room for at least; while one is read it takes a few times its size
_TEXT = "BYTE_ARRAY"
_WIDTHS = {"BOOLEAN": 0.125, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 8, _TEXT: 4}


def read_parquet(content: bytes, limit: UnpackingLimit) -> "pa.Table":
    """The table in a Parquet file, without the unnamed row index that pandas may store.

    What the file says of itself (rows x width of the columns, bytes of its pages) is held against the limit before
    anything is read, and what is read is counted while it is. One long text that many rows repeat is small in a file
    and large in memory, so as few rows are read at once as could pass the limit together.

    Raises
    ------
    ValueError
        More than the limit, no rows, no columns, content that is cut short or damaged.
    """
    import pyarrow as pa

    try:
        table = _read(content, limit)
        table.validate(full=True)
    except pa.ArrowMemoryError:
        raise ValueError(
            f"The Parquet file {limit.shown} does not fit into memory: take fewer rows or columns."
        ) from None
    except (pa.ArrowException, OSError, PageError):
        raise ValueError(
            f"The Parquet file {limit.shown} is cut short or damaged: write it or copy it again."
        ) from None
    # By position: names may repeat, and are refused later.
    table = table.select([j for j, name in enumerate(table.column_names) if not _UNNAMED_INDEX.fullmatch(name)])
    if table.num_columns == 0:
        raise ValueError(f"{limit.shown} has no columns. Write at least one.")
    if table.num_rows == 0:
        raise ValueError(f"{limit.shown} has columns but no rows. Add at least one row.")
    return table


def _read(content: bytes, limit: UnpackingLimit) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.parquet as pq

    record = pq.ParquetFile(pa.BufferReader(content)).metadata
    if record.num_columns == 0:
        return pa.table({})
    contents = _contents(content, record)
    limit.refuse_above(contents.n_bytes)
    # Values of nested text stay positions among the distinct ones: how many a row holds is not known beforehand.
    file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=contents.nested_text)
    batches, n_bytes = [], 0
    rows_at_once = max(1, min(_ROWS_AT_ONCE, limit.n_bytes // (_BATCHES * max(1, contents.longest_row))))
    for batch in file.iter_batches(rows_at_once):
        n_bytes += batch.nbytes
        limit.refuse_above(n_bytes)
        batches.append(batch)
    return pa.Table.from_batches(batches, file.schema_arrow)


class _Contents(NamedTuple):
    """What the file says of its columns: bytes of all, the most that repeated text of one row can be, nested text."""

    n_bytes: int
    longest_row: int
    nested_text: list[str]


def _contents(content: bytes, record: "pq.FileMetaData") -> _Contents:
    """Bytes are values x width, or those of the pages where these are more."""
    total, longest_row = 0.0, 0
    columns = [record.schema.column(j) for j in range(record.num_columns)]
    for i in range(record.num_row_groups):
        group = record.row_group(i)
        if group.num_rows == 0:  # without a page where its columns say that one is
            continue
        longest = 0
        for j, column in enumerate(columns):
            chunk = group.column(j)
            start = chunk.data_page_offset
            if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
                start = chunk.dictionary_page_offset
            pages = pages_of(content, start, chunk.total_compressed_size)
            width = _WIDTHS.get(chunk.physical_type) or column.length
            n_values = max(pages.n_values, chunk.num_values, group.num_rows)
            total += max(width * n_values, pages.n_bytes, chunk.total_uncompressed_size)
            longest += pages.longest_repeated if chunk.physical_type == _TEXT else 0
        longest_row = max(longest_row, longest)
    nested = [c.path for c in columns if c.physical_type == _TEXT and c.max_repetition_level > 0]
    return _Contents(int(total), longest_row, nested)
