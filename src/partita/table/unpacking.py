"""How large a compressed file may become: a small file that unpacks to gigabytes is refused before it does.

A compressed file may unpack to 128 MiB, or to 20 times its own size where that is more. In Parquet ordinary columns
shrink further (a column of 0 and 1 to a 64th), and 128 times is allowed. ``max_unpacked`` replaces the rule.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from typing import Any, NoReturn

from partita.parameters import whole_number

LEAST_LIMIT = 1 << 27
TIMES_OF_TEXT = 20
TIMES_OF_PARQUET = 128
_UNITS = {"": 0, "B": 0, "KB": 1, "MB": 2, "GB": 3, "TB": 4, "KIB": 1, "MIB": 2, "GIB": 3, "TIB": 4}
_LEAST_PIECE_IN = 1 << 10
_MOST_PIECE_IN = 1 << 18
_PIECE_OUT = 1 << 24


class UnpackingLimit:
    """How many bytes a file may become, and the words for one that would become more.

    Parameters
    ----------
    size : int
        Bytes of the file itself.
    times : int
        How many times larger it may become.
    max_unpacked : int or None
        How many bytes it may become, whatever its size.
    shown : str
        What messages call the file.
    """

    def __init__(self, size: int, times: int, max_unpacked: int | None, shown: str):
        self.shown = shown
        self.n_bytes = max(LEAST_LIMIT, times * size) if max_unpacked is None else max_unpacked

    def refuse_above(self, claimed: int) -> None:
        """Refuse a file that says of itself that it becomes larger than it may."""
        if claimed > self.n_bytes:
            self.refuse(claimed)

    def refuse(self, claimed: int = 0) -> NoReturn:
        """Say what the limit is, what the file's own record says, where it says more, and how to lift the limit."""
        record = f" (by its own record to {_shown_size(claimed)})" if claimed > self.n_bytes else ""
        enough = -(-max(claimed, 2 * self.n_bytes) // 10**9)
        raise ValueError(
            f"{self.shown} unpacks to more than {_shown_size(self.n_bytes)}{record}: if you trust it, read it with "
            f"max_unpacked={enough * 10**9} (command line: --max-unpacked {enough}GB)."
        )


def checked_limit(max_unpacked: Any) -> int | None:
    """The option ``max_unpacked``: a whole number of bytes above 0, or None."""
    return None if max_unpacked is None else whole_number("max_unpacked, a number of bytes,", max_unpacked, 1)


def size_in_bytes(text: str) -> int:
    """Bytes of a size like 500MB, 4GB or 1.5 GiB; a number alone is bytes."""
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    unit = parts[2].upper() if parts else None
    if parts is None or unit not in _UNITS:
        raise ValueError(f"--max-unpacked takes a size, for example 500MB or 4GB; got {text!r}.")
    n_bytes = int(float(parts[1]) * (1024 if "I" in unit else 1000) ** _UNITS[unit])
    if n_bytes < 1:
        raise ValueError(f"--max-unpacked must be at least 1 byte; got {text!r}.")
    return n_bytes


def gunzip(content: bytes, limit: UnpackingLimit) -> bytes:
    """What gzip-compressed bytes hold, all of their members, as long as it is no more than the limit.

    Raises
    ------
    ValueError
        More than the limit, or content that is cut short or damaged.
    """
    pieces: list[bytes] = []
    n_bytes = 0
    try:
        for piece in _members(content):
            n_bytes += len(piece)
            if n_bytes > limit.n_bytes:
                pieces.clear()
                limit.refuse(struct.unpack("<I", content[-4:])[0])
            pieces.append(piece)
    except (EOFError, zlib.error):
        raise ValueError(
            f"The gzip-compressed file {limit.shown} is cut short or damaged: copy it again from where it came from."
        ) from None
    return b"".join(pieces)


def _members(content: bytes) -> Iterator[bytes]:
    """Pieces of what all gzip members hold, one after the other; zeros may follow."""
    view, position = memoryview(content), 0
    while position < len(content):
        member = zlib.decompressobj(wbits=31)  # with header and checksum
        fed = _LEAST_PIECE_IN  # what follows a member is copied, so small members are fed small pieces
        while not member.eof:
            if position == len(content):
                raise EOFError
            rest: Any = view[position : position + fed]
            position += len(rest)
            fed = min(4 * fed, _MOST_PIECE_IN)
            piece = b""
            while rest or len(piece) == _PIECE_OUT:
                piece = member.decompress(rest, _PIECE_OUT)
                rest = member.unconsumed_tail
                yield piece
        position -= len(member.unused_data)
        while position < len(content) and content[position] == 0:
            position += 1


def _shown_size(n_bytes: int) -> str:
    for unit, exponent in (("TiB", 4), ("GiB", 3), ("MiB", 2), ("KiB", 1)):
        if n_bytes >= 1024**exponent:
            return f"{n_bytes / 1024**exponent:.3g} {unit}"
    return f"{n_bytes} bytes"
