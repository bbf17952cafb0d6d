"""One file for arrays and what is to be known about them: a zip archive that cannot lie.

The format is described in ``docs/file-format.md``.
"""

import hashlib
import json
import math
import os
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from partita.files.atomic import replacing
from partita.files.layout import Layout, MismatchError, UnknownClassError
from partita.wording import printable

FORMAT = "partita"
FORMAT_VERSION = 1
HEADER = "partita.json"
LARGEST_HEADER = 2**30
"""Bytes; a row index in text is by far the largest part of it."""

_COMMENT = b"sha256 "
_DIGEST_LENGTH = 64
_LOCAL_HEADER = b"PK\x03\x04"
_NAME_AT = 30
_BLOCK = 1 << 20
_LONGEST_REASON = 300
_NPY = b"\x93NUMPY\x01\x00"
_NPY_HEAD = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|][biuf][1248])', 'fortran_order': False,"
    rb" 'shape': \((?P<shape>[0-9, ]{0,200})\), \} *\n"
)
_UNREADABLE = (
    zipfile.BadZipFile,
    struct.error,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)

_IMPOSSIBLE = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def write_container(
    path: str | os.PathLike, layout: Layout, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write arrays and a JSON-able header to one file, all of it or nothing.

    See `partita.files.atomic.replacing`. What is not as the layout describes is not written.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a folder: name a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to save in.")
    about = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": layout.kind,
        "arrays": {name: _array_digest(array) for name, array in arrays.items()},
        **header,
    }
    layout.check_header(about)
    layout.check_arrays(about, arrays)
    text = json.dumps(about, indent=1).encode()
    if len(text) > LARGEST_HEADER:
        raise ValueError(
            f"Names of rows and columns take {len(text)} bytes, and a file holds at most {LARGEST_HEADER} of them:"
            " fit a frame with a plain index."
        )
    with replacing(target) as (temporary,):
        with open(temporary, "xb") as file:
            _write_archive(file, text, arrays)
        _seal(temporary)


def read_container(path: str | os.PathLike, *layouts: Layout) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the header and the arrays of a file of one of these layouts; anything doubtful is refused.

    Nothing is unpacked: members are stored, and their sizes, types and shapes are checked against the file and each
    other before memory is asked for. So reading takes no more memory than a small multiple of the file's size.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        It is not a partita file, holds another kind of thing, comes from a newer version, is not byte for byte what
        was written, or is not as its layout describes.
    """
    source = Path(path)
    if not source.is_file():
        raise FileNotFoundError(f"There is no file {str(source)!r}.")
    _check_first_bytes(source)
    try:
        with open(source, "rb") as file, zipfile.ZipFile(file) as archive:
            _check_members(archive, source.stat().st_size)
            header = json.loads(archive.read(HEADER))
            layout = _layout_of(source, header, layouts)
            _check_seal(source)
            layout.check_header(header)
            return header, _read_arrays(archive, header, layout)
    except _RefusedError as refusal:
        raise ValueError(str(refusal)) from None
    except MismatchError as mismatch:
        raise ValueError(foreign(source, str(mismatch))) from None
    except _UNREADABLE as error:
        raise ValueError(_damaged(source)) from error


def foreign(source: str | os.PathLike, why: str) -> str:
    """The words for a file that is whole and yet nothing that partita wrote."""
    return f"{str(source)!r} is not as partita writes files ({_short(why)}): make it again, and do not trust it."


@contextmanager
def building_from(path: str | os.PathLike) -> Iterator[None]:
    """Turn what the content of a file makes impossible into one sentence that names the file."""
    try:
        yield
    except UnknownClassError:
        raise
    except _IMPOSSIBLE as error:
        raise ValueError(foreign(path, str(error) or type(error).__name__)) from error


def _short(words: object) -> str:
    text = printable(words)
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}..."


def is_container(path: str | os.PathLike) -> bool:
    """Whether a file starts as `write_container` writes it; one that is not there, or cannot be read, does not."""
    try:
        _check_first_bytes(Path(path))
    except (OSError, ValueError):
        return False
    return True


class _RefusedError(Exception):
    """The file can be read but not used; the message says why."""


def _damaged(source: Path) -> str:
    return f"{str(source)!r} is damaged or incomplete: take another copy, or save it again."


def _check_first_bytes(source: Path) -> None:
    with open(source, "rb") as file:
        start = file.read(_NAME_AT + len(HEADER))
    if not start.startswith(_LOCAL_HEADER) or not HEADER.encode().startswith(start[_NAME_AT:]):
        raise ValueError(f"{str(source)!r} is not a partita file.")


def _layout_of(source: Path, header: Any, layouts: Iterable[Layout]) -> Layout:
    if not isinstance(header, dict) or header["format"] != FORMAT:
        raise _RefusedError(f"{str(source)!r} is not a partita file.")
    version = header["format_version"]
    if type(version) is not int or version < 1:
        raise _RefusedError(_damaged(source))
    if version > FORMAT_VERSION:
        raise _RefusedError(
            f"{str(source)!r} was written by a newer partita (format {version}; this version reads up to"
            f" {FORMAT_VERSION}): upgrade partita."
        )
    by_kind = {layout.kind: layout for layout in layouts}
    if header["kind"] not in by_kind:
        raise _RefusedError(f"{str(source)!r} holds a {_short(header['kind'])}, not a {' or a '.join(by_kind)}.")
    return by_kind[header["kind"]]


def _check_members(archive: zipfile.ZipFile, n_bytes: int) -> None:
    """Refuse members that are compressed, repeated, or together larger than the file."""
    members = archive.infolist()
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
            raise zipfile.BadZipFile(f"{member.filename} is compressed")
    if len({member.filename for member in members}) < len(members):
        raise zipfile.BadZipFile("a member is there twice")
    if sum(member.file_size for member in members) > n_bytes or archive.getinfo(HEADER).file_size > LARGEST_HEADER:
        raise zipfile.BadZipFile("members are larger than the file")


def _write_archive(file: IO[bytes], about: bytes, arrays: Mapping[str, np.ndarray]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = _COMMENT + b"0" * _DIGEST_LENGTH
        archive.writestr(_member(HEADER), about)
        for name, array in arrays.items():
            with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.external_attr = 0o644 << 16
    return info


def _seal(path: Path) -> None:
    """Put the hash of all bytes before it at the end of the file."""
    digest = _digest_before_seal(path)
    with open(path, "r+b") as file:
        file.seek(-_DIGEST_LENGTH, os.SEEK_END)
        file.write(digest.encode())


def _check_seal(path: Path) -> None:
    with open(path, "rb") as file:
        file.seek(-_DIGEST_LENGTH, os.SEEK_END)
        sealed = file.read().decode()
    if sealed != _digest_before_seal(path):
        raise _RefusedError(_damaged(path))


def _digest_before_seal(path: Path) -> str:
    digest = hashlib.sha256()
    left = path.stat().st_size - _DIGEST_LENGTH
    with open(path, "rb") as file:
        while left > 0 and (chunk := file.read(min(left, _BLOCK))):
            digest.update(chunk)
            left -= len(chunk)
    return digest.hexdigest()


def _read_arrays(archive: zipfile.ZipFile, header: Mapping[str, Any], layout: Layout) -> dict[str, np.ndarray]:
    """The arrays of the layout: first what they say of themselves, then their numbers."""
    names = [name for name in layout.arrays(header) if name in header["arrays"]]
    layout.check_shapes(header, {name: _type_and_shape(archive, name) for name in names})
    arrays = {name: _read_array(archive, name, header["arrays"][name]) for name in names}
    layout.check_arrays(header, arrays)
    return arrays


def _type_and_shape(archive: zipfile.ZipFile, name: str) -> tuple[np.dtype, tuple[int, ...]]:
    """What the head of an array's member says, held against the bytes that follow."""
    with archive.open(f"{name}.npy") as member:
        dtype, shape = _npy_head(member)
        left = archive.getinfo(f"{name}.npy").file_size - member.tell()
    if math.prod(shape) * dtype.itemsize != left:
        raise zipfile.BadZipFile(f"{name}.npy is not as long as its shape says")
    return dtype, shape


def _npy_head(stream: Any) -> tuple[np.dtype, tuple[int, ...]]:
    """Type and shape, from the one form of the head that NumPy writes for numbers in C order; nothing is evaluated."""
    start = stream.read(len(_NPY) + 2)
    head = stream.read(int.from_bytes(start[len(_NPY) :], "little"))
    match = _NPY_HEAD.fullmatch(head)
    if not start.startswith(_NPY) or match is None:
        raise zipfile.BadZipFile("an array is not in version 1.0 of NumPy's format")
    return np.dtype(match["dtype"].decode()), tuple(int(length) for length in re.findall(rb"[0-9]+", match["shape"]))


def _read_array(archive: zipfile.ZipFile, name: str, expected: str) -> np.ndarray:
    with archive.open(f"{name}.npy") as member:
        source = _Hashing(member)
        dtype, shape = _npy_head(source)
        array = np.empty(shape, dtype)
        source.fill(array)
    if source.digest.hexdigest() != expected:
        raise zipfile.BadZipFile(f"{name}.npy does not match its checksum")
    return array.astype(dtype.newbyteorder("="), copy=False)


class _Hashing:
    """A stream that hashes what passes: bytes read from ``source``, or bytes written to nowhere."""

    def __init__(self, source: IO[bytes] | None = None) -> None:
        self.digest = hashlib.sha256()
        self.source = source

    def read(self, size: int) -> bytes:
        chunk = self.source.read(size) if self.source else b""
        self.digest.update(chunk)
        return chunk

    def fill(self, array: np.ndarray) -> None:
        """Read the bytes of an array, in place and block by block."""
        left: Any = memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
        while left:
            chunk = self.read(min(len(left), _BLOCK))
            if not chunk:
                raise EOFError
            left[: len(chunk)] = chunk
            left = left[len(chunk) :]

    def write(self, chunk: bytes) -> None:
        self.digest.update(chunk)


def _array_digest(array: np.ndarray) -> str:
    """The sha256 of the array's .npy form."""
    sink = _Hashing()
    np.lib.format.write_array(sink, np.ascontiguousarray(array), allow_pickle=False)  # type: ignore[arg-type]
    return sink.digest.hexdigest()
