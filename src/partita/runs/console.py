"""What the command line says, and how it refuses: one sentence and an exit code."""

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from partita.wording import printable

BAD_INPUT = 2
TRACEBACK = "PARTITA_TRACEBACK"


def say(lines: Iterable[str], quiet: bool) -> None:
    """Print lines; a reader that went away is no reason to stop."""
    if quiet:
        return
    try:
        typer.echo("\n".join(map(printable, lines)))
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(words: str) -> None:
    """Say what is wrong in one line; that nobody may be listening changes nothing."""
    with suppress(OSError):
        typer.echo(printable(" ".join(words.split())), err=True)


@contextmanager
def collecting() -> Iterator[list[str]]:
    """The words of all warnings of a block, each once, to be shown and stored with the result."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    said.extend(dict.fromkeys(str(warning.message) for warning in caught))


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """Take a folder that the block made away again when the block fails and left nothing in it."""
    is_new = not folder.exists()
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what cannot be used into one sentence and exit code 2."""
    try:
        yield
    except (OSError, ValueError, TypeError) as error:
        if TRACEBACK in os.environ:
            raise
        complain(str(error))
        raise typer.Exit(BAD_INPUT) from None


@contextmanager
def writing_to(target: Path) -> Iterator[None]:
    """Turn a place that cannot be written to into one sentence and exit code 2."""
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        complain(f"Cannot write to {str(target)!r}: {why}. Choose another place with --out.")
        raise typer.Exit(BAD_INPUT) from None
