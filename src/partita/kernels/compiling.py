"""Compile once, keep the result on disk, and never run stale code.

numba's cache does not notice an edit in another file that the compiled function calls, and believes files that are
damaged. So kernels have a cache of their own: `cache_folder` says where, `compiled_files` what.
"""

import os
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import register_jitable

from partita.kernels.cache_folder import cache_folder
from partita.kernels.compiled_files import CompiledFiles

_NJIT: Any = numba.njit  # "_nrt" is missing from its annotations
_ENTRIES: list["Entry"] = []

if hasattr(os, "register_at_fork"):  # not where processes do not fork
    # A child has the forking thread alone: were the lock another's, it would wait for it forever. So a fork waits
    # until nothing is being compiled. Kernels run outside the lock, however long they take.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


class Entry:
    """A compiled function called from Python, with one cache folder per source fingerprint."""

    def __init__(self, function: Callable, allocates: bool):
        self.function = function
        self.allocates = allocates
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self._by_kinds: dict[tuple[type, ...], Any] = {}
        self.seconds = 0.0  # spent compiling or loading
        _ENTRIES.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled function, compiling or loading it first if need be."""
        kinds = tuple(_tuple_classes(arguments))
        dispatcher = self._by_kinds.get(kinds)
        if dispatcher is None:
            dispatcher = self._prepared(kinds, arguments)
        return dispatcher(*arguments)

    def _prepared(self, kinds: tuple[type, ...], arguments: tuple) -> Any:
        """The function compiled or loaded for arguments like these, once for all threads."""
        with global_compiler_lock:
            if kinds not in self._by_kinds:
                started = time.monotonic()
                dispatcher = _NJIT(nogil=True, no_cfunc_wrapper=True, _nrt=self.allocates)(self.function)
                folder = cache_folder(self.function, kinds)
                if folder is not None:
                    dispatcher._cache = CompiledFiles(self.function, folder, _announce)
                dispatcher.compile(tuple(dispatcher.typeof_pyval(a) for a in arguments))
                self.seconds += time.monotonic() - started
                self._by_kinds[kinds] = dispatcher
            return self._by_kinds[kinds]

    @property
    def compilations(self) -> int:
        """How many specialisations this process compiled rather than loaded from disk."""
        return sum(sum(dispatcher.stats.cache_misses.values()) for dispatcher in list(self._by_kinds.values()))


def _tuple_classes(arguments: tuple) -> list[type]:
    """Classes of the tuples among arguments and within them: what decides which code is run."""
    found = []
    for argument in arguments:
        if isinstance(argument, tuple):
            found.append(type(argument))
            found += _tuple_classes(argument)
    return found


def entry(function: Callable | None = None, *, allocates: bool = False) -> Any:
    """Compile a function on first call for each kind of state, and cache it on disk.

    Arrays are not reference counted in a kernel and in all it calls, which is several times faster
    where states are tuples of many arrays; a kernel that creates arrays says ``allocates=True``.
    """
    if function is None:
        return lambda given: Entry(given, allocates)
    return Entry(function, allocates)


def inner(function: Callable | None = None, **options: Any) -> Any:
    """Compile a function where compiled code calls it, without what Python would call: a fifth of the time.

    Called from Python it is the function as written. ``options`` are numba's.
    """
    compiled_where_called = register_jitable(no_cfunc_wrapper=True, **options)
    return compiled_where_called if function is None else compiled_where_called(function)


def compilations() -> int:
    """Count the specialisations compiled by this process; 0 means that the disk cache had them all."""
    return sum(e.compilations for e in _ENTRIES)


def compiling_seconds() -> float:
    """Seconds that this process spent in first calls, compiling or loading; time limits leave them out."""
    return sum(e.seconds for e in _ENTRIES)


@cache
def _announce() -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("partita: compiling the sampler for its first use; later starts read it from disk.\n")
        sys.stderr.flush()
