"""Files of NumPy: one array, and nothing that runs when it is opened."""

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from partita.table.wording import name_some

_NPY = b"\x93NUMPY"
_ZIP = b"PK\x03\x04"


def read_array_file(path: str | os.PathLike) -> np.ndarray | None:
    """The array in a .npy file, or in a .npz file that holds one; None for a file of another kind.

    Nothing is unpickled: arrays of Python objects are refused.
    """
    kind = _first_bytes(path)
    if not kind.startswith((_NPY, _ZIP)) or (kind.startswith(_ZIP) and not _holds_arrays(path)):
        return None
    try:
        content = np.load(path, allow_pickle=False)
        return content if isinstance(content, np.ndarray) else _only(content)
    except (EOFError, OSError, zipfile.BadZipFile):
        raise ValueError("the NumPy file is cut short or damaged: write it or copy it again.") from None
    except ValueError as error:
        if "allow_pickle" in str(error):
            raise ValueError(
                "the array holds Python objects, which can only be unpickled, and that is not safe. Save integers:"
                " np.save(path, labels.astype(int))."
            ) from None
        if isinstance(error, _SeveralError):
            raise
        raise ValueError(f"the NumPy file cannot be read ({error}): write it again.") from None


class _SeveralError(ValueError):
    """A file of several arrays."""


def _only(content: Any) -> np.ndarray:
    with content:
        if len(content.files) == 1:
            return content[content.files[0]]
        names = name_some(content.files, len(content.files))
        raise _SeveralError(
            f"the file holds {len(content.files)} arrays ({names}): pass one of them, np.load(path)[name]."
        )


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
    except zipfile.BadZipFile:
        return Path(path).suffix.lower() == ".npz"
