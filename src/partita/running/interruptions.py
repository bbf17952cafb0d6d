"""What Ctrl-C does: a run of chains ends with what it has, a command gives up once, and files become whole first."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any


def give_up(number: int, frame: Any) -> None:
    """Raise KeyboardInterrupt, once: what comes while things are put away is not heard."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def hear_once() -> None:
    """Let `give_up` answer Ctrl-C in place of Python's own answer."""
    if _answered_by(signal.default_int_handler):
        signal.signal(signal.SIGINT, give_up)


def hear_no_more() -> None:
    """Let the process end undisturbed, where `hear_once` was in charge."""
    if _answered_by(give_up):
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def noting(note: Callable[[], bool]) -> Iterator[None]:
    """Call ``note`` at Ctrl-C where it would be raised anywhere, as while threads start.

    What it answers with False is raised nevertheless.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not _answered_by(signal.default_int_handler, give_up):
        yield
        return

    def answer(number: int, frame: Any) -> None:
        if not note() and callable(handler):
            handler(number, frame)

    signal.signal(signal.SIGINT, answer)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is answer:
            signal.signal(signal.SIGINT, handler)


@contextmanager
def holding() -> Iterator[Callable[[], None]]:
    """Give a function that makes Ctrl-C unheard from its call to the end of the block."""
    handler = signal.getsignal(signal.SIGINT)
    heard = _answered_by(signal.default_int_handler, give_up)

    def hold() -> None:
        if heard:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    try:
        yield hold
    finally:
        if heard and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, handler)


def _answered_by(*handlers: Any) -> bool:
    """Whether this thread may say what answers Ctrl-C, and one of these does."""
    return current_thread() is main_thread() and signal.getsignal(signal.SIGINT) in handlers
