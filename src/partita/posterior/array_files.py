"""Files of NumPy: one array, and nothing that runs when it is opened."""

import os
import sys
import zipfile
import zlib
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import IO, NoReturn

import numpy as np
from numpy.lib import format as npy

from partita.table.unpacking import TIMES_OF_TEXT, UnpackingLimit, checked_limit
from partita.wording import name_some

_NPY = b"\x93NUMPY"
_ZIP = b"PK\x03\x04"
_ENCRYPTED = 1
_NO_HEADER = (KeyError, MemoryError, OverflowError, RecursionError, SyntaxError, TokenError, TypeError, ValueError)
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_array_file(path: str | os.PathLike, shown: str, max_unpacked: int | None = None) -> np.ndarray | None:
    """The array in a .npy file, or in a .npz file that holds one; None for a file of another kind.

    Nothing is unpickled: arrays of Python objects are refused. So is a header that promises more than the file holds,
    and an archive that would become larger than ``max_unpacked`` bytes, or than a file of its size may: see
    `partita.table.unpacking`.
    """
    kind = _first_bytes(path)
    if not kind.startswith((_NPY, _ZIP)) or (kind.startswith(_ZIP) and not _holds_arrays(path)):
        return None
    size = os.path.getsize(path)
    limit = UnpackingLimit(size, TIMES_OF_TEXT, checked_limit(max_unpacked), shown)
    try:
        if kind.startswith(_NPY):
            with open(path, "rb") as file:
                return _read_array(file, size)
        with zipfile.ZipFile(path) as archive:
            member = _only_member(archive, limit)
            with archive.open(member) as file:
                return _read_array(file, member.file_size)
    except (EOFError, OSError, NotImplementedError, zipfile.BadZipFile, zlib.error):
        _refuse_damaged()


def _only_member(archive: zipfile.ZipFile, limit: UnpackingLimit) -> zipfile.ZipInfo:
    members = archive.infolist()
    if len(members) != 1:
        names = name_some([member.filename.removesuffix(".npy") for member in members], len(members))
        raise ValueError(f"the file holds {len(members)} arrays ({names}): pass one of them, np.load(path)[name].")
    member = members[0]
    limit.refuse_above(member.file_size)  # no more than that is ever unpacked
    if member.flag_bits & _ENCRYPTED or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        _refuse_damaged()
    return member


def _read_array(file: IO[bytes], size: int) -> np.ndarray:
    """The array that a header and ``size`` bytes, the header's included, are."""
    try:
        shape, _, dtype = _HEADERS[npy.read_magic(file)](file)
    except _NO_HEADER:
        _refuse_damaged()
    if dtype.hasobject:
        raise ValueError(
            "the array holds Python objects, which can only be unpickled, and that is not safe. Save integers:"
            " np.save(path, labels.astype(int))."
        )
    n_cells = prod(int(length) for length in shape)
    room = size - file.tell()
    if min(shape, default=1) < 0 or n_cells * dtype.itemsize > room or (n_cells and not dtype.itemsize):
        _refuse_damaged()
    file.seek(0)
    array = npy.read_array(file, allow_pickle=False)
    if dtype.kind == "V":
        raise ValueError("the array holds records, not labels: save one of its fields.")
    if dtype.kind == "U" and array.size:
        letters = np.ascontiguousarray(array).view(np.dtype("u4").newbyteorder(dtype.byteorder))
        if letters.max() > sys.maxunicode:
            _refuse_damaged()
    return array


def _refuse_damaged() -> NoReturn:
    raise ValueError("the NumPy file is cut short or damaged: write it or copy it again.") from None


def _first_bytes(path: str | os.PathLike) -> bytes:
    """What a file starts with; empty where it cannot be read, which the reader of text words."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_NPY))
    except (OSError, ValueError):
        return b""


def _holds_arrays(path: str | os.PathLike) -> bool:
    """Whether all members of a zip archive are arrays; a damaged one counts by its name."""
    try:
        with zipfile.ZipFile(path) as archive:
            return all(name.endswith(".npy") for name in archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError):
        return Path(path).suffix.lower() == ".npz"
