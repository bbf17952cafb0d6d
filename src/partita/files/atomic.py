"""Files that are the old one or the whole new one, whatever happens in between."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PROBE = "writable"


@contextmanager
def replacing(*targets: Path) -> Iterator[tuple[Path, ...]]:
    """Paths in the targets' folders to write to; they take the targets' places when the block ends well.

    All that was written is flushed to disk before the first is renamed. After an error in the block the targets
    are as they were and what was written is gone.
    """
    temporaries = tuple(_temporary(target) for target in targets)
    try:
        yield temporaries
        for temporary in temporaries:
            flush(temporary)
        for temporary, target in zip(temporaries, targets):
            os.replace(temporary, target)
    finally:
        for temporary in temporaries:
            temporary.unlink(missing_ok=True)
    for folder in {target.parent for target in targets}:
        _flush_folder(folder)


def flush(path: Path) -> None:
    """Have all that was written to a file on disk."""
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def check_writable(folder: Path) -> None:
    """Make sure that a file can be made in a folder; raises OSError otherwise. No file that is there is touched."""
    temporary = _temporary(folder / _PROBE)
    open(temporary, "xb").close()
    temporary.unlink()
    remove_leftovers(folder / _PROBE)


def remove_leftovers(target: Path) -> None:
    """Remove what processes that were killed while they replaced this file have left beside it."""
    leftover = re.compile(rf"\.+{re.escape(target.name)}(\.(?P<process>\d+)-[0-9a-f]{{8}}\.tmp)+")
    for path in target.parent.iterdir():
        match = leftover.fullmatch(path.name)
        if match and not _may_run(int(match["process"])):
            path.unlink(missing_ok=True)


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")


def _may_run(process: int) -> bool:
    if os.name != "posix":  # elsewhere asking would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return process != os.getpid()


def _flush_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
