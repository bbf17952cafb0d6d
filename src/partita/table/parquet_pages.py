"""What the pages of a Parquet file say of themselves: how large they become, and how many values they hold.

A page begins with a PageHeader in Thrift's compact protocol
(https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift). The record at the end of the
file repeats the sums, but a reader trusts the headers.
"""

from typing import Any, NamedTuple

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
_DEEPEST = 8
# Numbers of fields, kinds of pages and encodings in parquet.thrift.
_TYPE, _UNCOMPRESSED, _COMPRESSED, _DATA, _DATA_V2 = 1, 2, 3, 5, 8
_N_VALUES, _ENCODING, _ENCODING_V2 = 1, 2, 4
_DICTIONARY_PAGE = 2
_DELTA_BYTE_ARRAY = 7


class Pages(NamedTuple):
    """What the pages of one column chunk become.

    ``n_bytes`` uncompressed, ``n_values`` all together; no value that may be repeated for next to nothing is longer
    than ``longest_repeated`` bytes: one in a dictionary, or one that the next value begins with.
    """

    n_bytes: int
    n_values: int
    longest_repeated: int


class PageError(ValueError):
    """Pages that cannot be read."""


def pages_of(content: bytes, start: int, length: int) -> Pages:
    """What the pages of one column chunk, in these bytes of the file, say of themselves."""
    n_bytes = n_values = longest = 0
    header = _Header(content, start)
    if start < 0 or start + length > len(content):
        raise PageError
    try:
        while header.position < start + length:
            page = header.struct()
            data = page.get(_DATA) or page.get(_DATA_V2) or {}
            encoding = data.get(_ENCODING if _DATA in page else _ENCODING_V2)
            n_bytes += page[_UNCOMPRESSED]
            n_values += data.get(_N_VALUES, 0)
            if page[_TYPE] == _DICTIONARY_PAGE or encoding == _DELTA_BYTE_ARRAY:
                longest = max(longest, page[_UNCOMPRESSED])
            header.skip(page[_COMPRESSED])
    except (IndexError, KeyError, TypeError, AttributeError):
        raise PageError from None
    return Pages(n_bytes, n_values, longest)


class _Header:
    """Reads what the compact protocol writes: structs as dictionaries from field numbers to values."""

    def __init__(self, content: bytes, position: int):
        self.content, self.position = content, position

    def skip(self, n_bytes: int) -> None:
        if n_bytes < 0:
            raise IndexError
        self.position += n_bytes

    def struct(self, depth: int = 0) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != _STOP:
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number] = self._value(head & 15, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise IndexError
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind == _BYTE:
            return self._byte()
        if kind == _DOUBLE:
            return self.skip(8)
        if kind == _BINARY:
            return self.skip(self._unsigned())
        if kind == _STRUCT:
            return self.struct(depth)
        if kind in (_LIST, _SET):
            head = self._byte()
            for _ in range(head >> 4 if head >> 4 < 15 else self._unsigned()):
                self._element(head & 15, depth)
            return None
        if kind == _MAP:
            raise IndexError  # no header holds one
        return self._signed()

    def _element(self, kind: int, depth: int) -> None:
        if kind in (_TRUE, _FALSE):
            self.skip(1)
        else:
            self._value(kind, depth + 1)

    def _byte(self) -> int:
        byte = self.content[self.position]
        self.position += 1
        return byte

    def _unsigned(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & 128:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
