"""Files that are the old one or the whole new one, whatever happens in between."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(*targets: Path) -> Iterator[tuple[Path, ...]]:
    """Paths in the targets' folders to write to; they take the targets' places when the block ends well.

    All that was written is flushed to disk before the first is renamed. After an error the targets are
    as they were and what was written is gone.
    """
    temporaries = tuple(target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp") for target in targets)
    try:
        yield temporaries
        for temporary in temporaries:
            _flush(temporary)
        for temporary, target in zip(temporaries, targets):
            os.replace(temporary, target)
    finally:
        for temporary in temporaries:
            temporary.unlink(missing_ok=True)
    for folder in {target.parent for target in targets}:
        _flush_folder(folder)


def remove_leftovers(target: Path) -> None:
    """Remove what a process that was killed while it replaced this file has left beside it."""
    leftover = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.tmp")
    for path in target.parent.iterdir():
        if leftover.fullmatch(path.name):
            path.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
