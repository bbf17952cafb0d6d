"""Where compiled code is kept between starts, and the one warning where it cannot be.

A folder is named after a hash of all that decides what the code is: every source file that can end up in a kernel,
the versions of what compiles it, and numba's settings. An edit leads to another folder.

Compiled code is unpickled, and a pickle can run anything. So it is read only from folders of this user into which
not everybody may write.
"""

import hashlib
import inspect
import os
import stat
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

_PACKAGE = Path(__file__).resolve().parent.parent
_ROOMS = ("kernels", "families", "priors")
_NUMBA_CONFIG: Any = numba.config
_SETTINGS = (
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "EXTEND_VARIABLE_LIFETIMES",
    "LLVM_REFPRUNE_FLAGS",
    "LLVM_REFPRUNE_PASS",
    "LOOP_VECTORIZE",
    "OPT",
    "SLP_VECTORIZE",
    "USING_SVML",
)  # of numba, those that change the code; the processor's kind is part of every file's name
_WARNED: list[str] = []  # what was said of the folder in this process


def cache_folder(function: Callable, kinds: tuple[type, ...]) -> Path | None:
    """The folder for compiled code of a function and these state classes, created if need be.

    None where there is no home directory, the folder cannot be made or is not this user's alone: then the code
    stays in memory, and a warning says so. None also for a function typed into a console, of which no file says when it
    has changed.
    """
    own_file = _source_file(function)
    if own_file is None:
        return None
    sources = {own_file, *(file for kind in kinds if (file := _source_file(kind)))}
    outside = sorted(file for file in sources if _PACKAGE not in file.parents)
    settings = tuple(str(getattr(_NUMBA_CONFIG, name, None)) for name in _SETTINGS)
    name = _fingerprint(tuple(outside), settings)
    root = Path("~/.cache/partita")
    try:
        root = _cache_root()
        for folder in (root, root / name):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _refuse_foreign(folder)
    except (OSError, RuntimeError) as error:  # the latter of Path.home()
        warn_once(root, error)
        return None
    return root / name


def warn_once(folder: Path, error: Exception) -> None:
    """Say that compiled code is not kept, why, and what to do; only the first time in a process."""
    if _WARNED:
        return
    reason = getattr(error, "strerror", None) or str(error).rstrip(".")
    _WARNED.append(reason)
    warnings.warn(
        f"Compiled code cannot be kept in {folder}: {reason}. It stays in the memory of this process, so the next "
        "start compiles again. Set the environment variable PARTITA_CACHE_DIR to a folder of your own with free space.",
        UserWarning,
        stacklevel=2,
    )


def _cache_root() -> Path:
    chosen = os.environ.get("PARTITA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "partita"


def _refuse_foreign(folder: Path) -> None:
    if not hasattr(os, "geteuid"):  # Windows, where a profile is its user's own
        return
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise PermissionError(f"it belongs to another user (number {status.st_uid}), whose code would be run")
    if status.st_mode & stat.S_IWOTH:
        raise PermissionError("everybody can write to it, and what they put there would be run (chmod o-w)")


def _source_file(thing: Any) -> Path | None:
    try:
        file = Path(inspect.getfile(thing))
    except (TypeError, OSError):  # a built-in, or a class typed into a console
        return None
    return file if file.is_file() else None


@cache
def _fingerprint(outside: tuple[Path, ...], settings: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for part in (numba.__version__, llvmlite.__version__, np.__version__, sys.version, *settings):
        digest.update(part.encode())
    digest.update(_OF_PACKAGE)
    for path in outside:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _digest_of_package() -> bytes:
    digest = hashlib.sha256()
    for path in (path for room in _ROOMS for path in sorted((_PACKAGE / room).rglob("*.py"))):
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.digest()


# Taken as the modules are loaded: an edit that follows must not name the folder of what they compile to.
_OF_PACKAGE = _digest_of_package()
