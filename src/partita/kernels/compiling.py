"""Compile once, keep the result on disk, and never run stale code.

numba's cache does not notice an edit in another file that the compiled function calls. So the
cache folder is named after a hash of every source file that can end up in a kernel: partita's own
and, for a state class defined elsewhere, the file that defines it.
"""

import hashlib
import inspect
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

_PACKAGE = Path(__file__).resolve().parent.parent
_NUMBA_CONFIG: Any = numba.config
_NJIT: Any = numba.njit  # "_nrt" is missing from its annotations
_ROOMS = ("kernels", "families", "priors")
_ENTRIES: list["Entry"] = []


class Entry:
    """A compiled function called from Python, with one cache folder per source fingerprint."""

    def __init__(self, function: Callable, allocates: bool):
        self.function = function
        self.allocates = allocates
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self._by_kinds: dict[tuple[type, ...], Any] = {}
        self._lock = threading.Lock()
        self.seconds = 0.0  # spent in first calls
        _ENTRIES.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled function, compiling or loading it first if need be."""
        kinds = tuple(type(a) for a in arguments if isinstance(a, tuple))
        dispatcher = self._by_kinds.get(kinds)
        if dispatcher is not None:
            return dispatcher(*arguments)
        with self._lock:
            if kinds in self._by_kinds:
                return self._by_kinds[kinds](*arguments)
            folder = cache_folder(kinds)
            ready = folder / "-".join([self.__name__, *(kind.__name__ for kind in kinds), "ready"])
            if not ready.exists():
                _announce()
            started = time.monotonic()
            dispatcher = _cached_njit(self.function, self.allocates, folder)
            result = dispatcher(*arguments)
            self.seconds += time.monotonic() - started
            ready.touch()
            self._by_kinds[kinds] = dispatcher
            return result

    @property
    def compilations(self) -> int:
        """How many specialisations this process compiled rather than loaded from disk."""
        dispatchers = {id(d): d for d in self._by_kinds.values()}.values()
        return sum(sum(d.stats.cache_misses.values()) for d in dispatchers)


def entry(function: Callable | None = None, *, allocates: bool = False) -> Any:
    """Compile a function on first call for each kind of state, and cache it on disk.

    Arrays are not reference counted in a kernel and in all it calls, which is several times faster
    where states are tuples of many arrays; a kernel that creates arrays says ``allocates=True``.
    """
    if function is None:
        return lambda given: Entry(given, allocates)
    return Entry(function, allocates)


def compilations() -> int:
    """Count the specialisations compiled by this process; 0 means that the disk cache had them all."""
    return sum(e.compilations for e in _ENTRIES)


def compiling_seconds() -> float:
    """Seconds that this process spent in first calls, compiling or loading; time limits leave them out."""
    return sum(e.seconds for e in _ENTRIES)


def cache_folder(kinds: tuple[type, ...]) -> Path:
    """The folder that holds the compiled code of these state classes, created if need be."""
    outside = sorted({f for kind in kinds if (f := _source_file(kind)) and _PACKAGE not in Path(f).parents})
    folder = _cache_root() / _fingerprint(tuple(outside))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _cached_njit(function: Callable, allocates: bool, folder: Path) -> Any:
    # The setting is read when the dispatcher is made; other packages' caches stay where they are.
    before = _NUMBA_CONFIG.CACHE_DIR
    _NUMBA_CONFIG.CACHE_DIR = str(folder)
    try:
        return _NJIT(cache=True, nogil=True, _nrt=allocates)(function)
    finally:
        _NUMBA_CONFIG.CACHE_DIR = before


def _source_file(kind: type) -> str | None:
    try:
        return inspect.getfile(kind)
    except (TypeError, OSError):  # a built-in, or a class typed into a console
        return None


@cache
def _fingerprint(outside: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for part in (numba.__version__, llvmlite.__version__, np.__version__, sys.version):
        digest.update(part.encode())
    inside = [path for room in _ROOMS for path in sorted((_PACKAGE / room).rglob("*.py"))]
    for path in [*inside, *map(Path, outside)]:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _cache_root() -> Path:
    chosen = os.environ.get("PARTITA_CACHE_DIR")
    shared = os.environ.get("XDG_CACHE_HOME")
    home = Path(shared) if shared else Path.home() / ".cache"
    root = Path(chosen) if chosen else home / "partita"
    try:
        root.mkdir(parents=True, exist_ok=True)
        if os.access(root, os.W_OK):
            return root
    except OSError:
        return _temporary_root()
    return _temporary_root()


def _temporary_root() -> Path:
    """A folder of this user alone: compiled code is not read from where others can write."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    root = Path(tempfile.gettempdir()) / f"partita-{user}"
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    owned = not hasattr(os, "getuid") or (root.stat().st_uid == user and not root.stat().st_mode & 0o022)
    return root if owned and not root.is_symlink() else Path(tempfile.mkdtemp(prefix="partita-"))


@cache
def _announce() -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("partita: compiling the sampler for its first use; later starts read it from disk.\n")
        sys.stderr.flush()
