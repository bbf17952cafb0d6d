"""Every case in a process of its own, with little memory and little time: what may come out of it, and what not."""

import os
import resource
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

MEMORY = 2 * 2**30
SECONDS = 30
DOCUMENTED = (ValueError, TypeError, OSError)  # of what a person gave; NotFittedError is a ValueError
LONGEST_MESSAGE = 2000

Case = Callable[[int, Path], None]


@dataclass(frozen=True)
class Failure:
    """A case that ended in another way than with a result or a documented error."""

    seed: int
    what: str


def failures(case: Case, seeds: Iterable[int], *, workers: int = 2, seconds: int = SECONDS) -> list[Failure]:
    """Run ``case(seed, folder)`` for every seed; the folder is new and goes away.

    A case fails when its process crashes, is not done after ``seconds``, takes more than `MEMORY` beyond what the
    parent has, or raises anything but `DOCUMENTED` errors in words without control characters.
    """
    waiting = iter(seeds)
    running: dict[int, tuple[int, tempfile.TemporaryDirectory]] = {}
    found = []
    while True:
        for seed in waiting:
            folder = tempfile.TemporaryDirectory()
            running[_start(case, seed, Path(folder.name), seconds)] = seed, folder
            if len(running) == workers:
                break
        if not running:
            return sorted(found, key=lambda failure: failure.seed)
        process, status, used = os.wait4(-1, 0)
        seed, folder = running.pop(process)
        found += _judge(seed, status, used, Path(folder.name))
        folder.cleanup()


def _start(case: Case, seed: int, folder: Path, seconds: int) -> int:
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        _limit(seconds)
        code = _run(case, seed, folder)
    finally:
        os._exit(code)


def _limit(seconds: int) -> None:
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)


def _run(case: Case, seed: int, folder: Path) -> int:
    problem = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            inside = folder / "case"
            inside.mkdir()
            case(seed, inside)
        except DOCUMENTED as error:
            problem = _bad_words(str(error))
        except BaseException:
            problem = traceback.format_exc()
    if problem:
        (folder / "problem").write_text(problem)
    return int(bool(problem))


def _bad_words(message: str) -> str:
    if not message.strip() or len(message) > LONGEST_MESSAGE:
        return f"a message of {len(message)} letters: {message[:200]!r}"
    strange = {letter for letter in message if not letter.isprintable()} - {"\n"}
    return f"control characters {strange} in {message!r}" if strange else ""


def _judge(seed: int, status: int, used: resource.struct_rusage, folder: Path) -> list[Failure]:
    problem = folder / "problem"
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return [Failure(seed, "not done in time" if name == "SIGALRM" else f"ended by {name}")]
    if problem.exists():
        return [Failure(seed, problem.read_text())]
    return [Failure(seed, "ended without a word")] if os.WEXITSTATUS(status) else []
