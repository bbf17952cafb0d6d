"""One file for arrays and what is to be known about them: a zip archive that cannot lie.

The format is described in ``docs/file-format.md``.
"""

import hashlib
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from partita.atomic import replacing

FORMAT = "partita"
FORMAT_VERSION = 1
HEADER = "partita.json"

_COMMENT = b"sha256 "
_DIGEST_LENGTH = 64
_LOCAL_HEADER = b"PK\x03\x04"
_NAME_AT = 30
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


def write_container(
    path: str | os.PathLike, kind: str, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write arrays and a JSON-able header to one file, all of it or nothing.

    See `partita.atomic.replacing`.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a folder: name a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to save in.")
    about = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "arrays": {name: _array_digest(array) for name, array in arrays.items()},
        **header,
    }
    with replacing(target) as (temporary,):
        with open(temporary, "xb") as file:
            _write_archive(file, json.dumps(about, indent=1), arrays)
        _seal(temporary)


def read_container(path: str | os.PathLike, *kinds: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the header and the arrays of a file of one of these kinds; anything doubtful is refused.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        It is not a partita file, holds another kind of thing, comes from a newer version, or is not
        byte for byte what was written.
    """
    source = Path(path)
    if not source.is_file():
        raise FileNotFoundError(f"There is no file {str(source)!r}.")
    _check_first_bytes(source)
    try:
        with zipfile.ZipFile(source) as archive:
            header = json.loads(archive.read(HEADER))
            _check_header(source, header, kinds)
            _check_seal(source)
            return header, {name: _read_array(archive, name, header) for name in header["arrays"]}
    except _RefusedError as refusal:
        raise ValueError(str(refusal)) from None
    except _UNREADABLE as error:
        raise ValueError(_damaged(source)) from error


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


def _check_header(source: Path, header: Mapping[str, Any], kinds: tuple[str, ...]) -> None:
    if header["format"] != FORMAT:
        raise _RefusedError(f"{str(source)!r} is not a partita file.")
    if header["format_version"] > FORMAT_VERSION:
        raise _RefusedError(
            f"{str(source)!r} was written by a newer partita (format {header['format_version']}; this"
            f" version reads up to {FORMAT_VERSION}): upgrade partita."
        )
    if header["kind"] not in kinds:
        raise _RefusedError(f"{str(source)!r} holds a {header['kind']}, not a {' or a '.join(kinds)}.")


def _write_archive(file: IO[bytes], about: str, arrays: Mapping[str, np.ndarray]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = _COMMENT + b"0" * _DIGEST_LENGTH
        archive.writestr(_member(HEADER), about.encode())
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
        while left > 0 and (chunk := file.read(min(left, 1 << 20))):
            digest.update(chunk)
            left -= len(chunk)
    return digest.hexdigest()


def _read_array(archive: zipfile.ZipFile, name: str, header: Mapping[str, Any]) -> np.ndarray:
    with archive.open(f"{name}.npy") as member:
        source = _Hashing(member)
        array = np.lib.format.read_array(source, allow_pickle=False)  # type: ignore[arg-type]
    if source.digest.hexdigest() != header["arrays"][name]:
        raise zipfile.BadZipFile(f"{name}.npy does not match its checksum")
    return array


class _Hashing:
    """A stream that hashes what passes: bytes read from ``source``, or bytes written to nowhere."""

    def __init__(self, source: IO[bytes] | None = None) -> None:
        self.digest = hashlib.sha256()
        self.source = source

    def read(self, size: int) -> bytes:
        chunk = self.source.read(size) if self.source else b""
        self.digest.update(chunk)
        return chunk

    def write(self, chunk: bytes) -> None:
        self.digest.update(chunk)


def _array_digest(array: np.ndarray) -> str:
    """The sha256 of the array's .npy form."""
    sink = _Hashing()
    np.lib.format.write_array(sink, np.ascontiguousarray(array), allow_pickle=False)  # type: ignore[arg-type]
    return sink.digest.hexdigest()
