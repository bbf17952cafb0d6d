"""Files of NumPy: one array, and nothing that runs when it is opened."""

import os
import zipfile
from pathlib import Path

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
    arrays = _arrays(path)
    if len(arrays) != 1:
        names = name_some(arrays, len(arrays))
        raise ValueError(f"the file holds {len(arrays)} arrays ({names}): pass one of them, np.load(path)[name].")
    return next(iter(arrays.values()))


def _arrays(path: str | os.PathLike) -> dict[str, np.ndarray]:
    try:
        with open(path, "rb") as file:
            content = np.load(file, allow_pickle=False)
            return {"": content} if isinstance(content, np.ndarray) else {name: content[name] for name in content.files}
    except (EOFError, OSError, ValueError, zipfile.BadZipFile) as error:
        if "allow_pickle" not in str(error):
            raise ValueError("the NumPy file is cut short or damaged: write it or copy it again.") from None
        raise ValueError(
            "the array holds Python objects, which can only be unpickled, and that is not safe. Save integers:"
            " np.save(path, labels.astype(int))."
        ) from None


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
