"""Threads of one run, which may end early with what they have: at a deadline, by Ctrl-C, or because one has failed."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs

from partita.running.clock import running_seconds
from partita.running.interruptions import noting

T = TypeVar("T")
SECONDS_BETWEEN_LOOKS = 0.1  # at the keyboard: a wait without an end may not notice an interruption


class Crew:
    """Threads that work on chains, starts or whatever else advances step by step.

    Parameters
    ----------
    n_jobs : int or None
        As joblib has it.
    seconds : float
        Until the deadline; compiling does not count.
    deadline : float, optional
        In place of ``seconds``, on `running_seconds`.

    Attributes
    ----------
    n_workers : int
    interrupted : bool
        Whether Ctrl-C was pressed, or a progress callback raised KeyboardInterrupt.
    """

    def __init__(self, n_jobs: int | None, seconds: float = np.inf, *, deadline: float | None = None):
        self.n_workers = effective_n_jobs(n_jobs)
        self.deadline = running_seconds() + seconds if deadline is None else deadline
        self.interrupted = False
        self._stopping = False

    def listening(self) -> AbstractContextManager[None]:
        """Where Ctrl-C is noted instead of raised, the first time."""
        return noting(self._interrupt)

    def is_over(self, deadline: float | None = None) -> bool:
        """Whether work should end after its present step: at the deadline, or at one of its own."""
        return self._stopping or running_seconds() > (self.deadline if deadline is None else deadline)

    def run(self, work: Callable[[T], None], items: Sequence[T], at_once: int | None = None) -> None:
        """Call ``work`` with every item, as many at a time as there are workers; return when all have ended.

        ``work`` asks `is_over` between its steps. What it raises is raised here, once the others have ended.
        """

        def task(item: T) -> None:
            try:
                work(item)
            except KeyboardInterrupt:  # of a progress callback
                self.interrupted = self._stopping = True

        with ThreadPoolExecutor(max(1, min(at_once or self.n_workers, len(items)))) as pool:
            futures = [pool.submit(task, item) for item in items]
            self._watch(futures)
        for future in futures:
            future.result()

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """What ``function`` returns for every item, in their order; Ctrl-C is raised once all have ended."""
        results: list[Any] = [None] * len(items)

        def fill(k: int) -> None:
            results[k] = function(items[k])

        self.run(fill, range(len(items)))
        if self.interrupted:
            raise KeyboardInterrupt
        return results

    def _watch(self, futures: list[Future]) -> None:
        """Wait for all; after an interruption or a failure every one ends after its present step."""
        waiting: Any = futures
        while waiting:
            done: Any = ()
            try:
                done, waiting = wait(futures, timeout=SECONDS_BETWEEN_LOOKS, return_when=FIRST_EXCEPTION)
            except KeyboardInterrupt:
                self.interrupted = True
            if self.interrupted or any(future.exception() for future in done):
                self._stopping = True
                return

    def _interrupt(self) -> bool:
        """Note an interruption from the keyboard; whether it was the first."""
        first, self.interrupted, self._stopping = not self.interrupted, True, True
        return first
