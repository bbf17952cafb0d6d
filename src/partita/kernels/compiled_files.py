"""Compiled code on disk: one file per specialisation, its checksum first.

numba's own files are an index and what it numbers, believed as they are: a flipped bit ends a process, an index cut
short ends every later start, and two processes that write at once can leave an index that names the other's code.
Here a file stands for itself. What does not match its checksum is as if it were not there: it is compiled again and
replaced.
"""

import hashlib
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from partita.files.atomic import replacing
from partita.kernels.cache_folder import warn_once

SUFFIX = ".compiled"
_UNRESOLVED = b".numba.unresolved$"  # before the name of a recursive function, whose address one process knows
_CHECKSUM_BYTES = hashlib.sha256().digest_size


class CompiledFiles(NullCache):
    """What numba asks for compiled code of one function before it compiles, and gives it to afterwards.

    Parameters
    ----------
    function : callable
    folder : Path
        Where the files are.
    announce : callable
        Called when there is no file to load, before numba compiles.
    """

    def __init__(self, function: Callable, folder: Path, announce: Callable[[], None]):
        self.function = function
        self.folder = folder
        self.announce = announce

    @property
    def cache_path(self) -> str:
        """The folder, for numba's statistics."""
        return str(self.folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for these argument types and this processor, or None."""
        target_context.refresh()  # numba's, before anything is linked
        key = self._key(sig, target_context.codegen())
        payload = _read_checked(self._path(key))
        if payload is not None:
            stored_key, reduced = _unpickled(payload)
            if stored_key == key:  # the name is a hash of what types are called, and two may be called alike
                return CompileResult._rebuild(target_context, *reduced)
        self.announce()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code; where the disk refuses it, the process goes on with what it has in memory."""
        if data.library.has_dynamic_globals:
            warnings.warn(
                f"{self.function.__name__} refers to an address of this process (a ctypes function or a large global "
                "array), so its compiled code cannot be kept for the next start. Pass such arrays in the state.",
                UserWarning,
                stacklevel=2,
            )
            return
        key = self._key(sig, data.codegen)
        payload = dumps((key, data._reduce()))
        if _UNRESOLVED in payload:
            warnings.warn(
                f"{self.function.__name__} calls a function that is compiled while it is called, so its compiled code "
                "cannot be kept for the next start. Let generic names call each other, not one numba.njit function.",
                UserWarning,
                stacklevel=2,
            )
            return
        try:
            with replacing(self._path(key)) as (new,):
                new.write_bytes(hashlib.sha256(payload).digest() + payload)
        except OSError as error:
            warn_once(self.folder, error)

    def _key(self, sig: Any, codegen: Any) -> tuple:
        return self.function.__module__, self.function.__qualname__, sig, codegen.magic_tuple()

    def _path(self, key: tuple) -> Path:
        address = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return self.folder / f"{self.function.__name__}-{address}{SUFFIX}"


def _unpickled(payload: bytes) -> tuple[Any, Any]:
    """What was kept; nothing where it names a class that is gone."""
    try:
        return pickle.loads(payload)
    except (ImportError, AttributeError):
        return None, None


def _read_checked(path: Path) -> bytes | None:
    """What lies behind a checksum that it matches; None where there is no such file."""
    try:
        content = path.read_bytes()
    except OSError:  # not there, or not readable: saving will say what is wrong
        return None
    checksum, payload = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
    return payload if hashlib.sha256(payload).digest() == checksum else None
