"""Threads of one run, which may end early with what they have: at a deadline, by Ctrl-C, or because one has failed."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs

from partita.running.clock import running_seconds
from partita.running.watch import Watch

T = TypeVar("T")
SECONDS_BETWEEN_LOOKS = 0.1  # at the keyboard: a wait without an end may not notice an interruption


class Crew:
    """Threads that work on chains, starts or whatever else advances step by step.

    Parameters
    ----------
    n_jobs : int or None
        As joblib has it.
    deadline : float
        On `running_seconds`, which leaves compiling out.
    watch : Watch, optional
        Of the fit that this is a part of. What was interrupted before this part does not end it.

    Attributes
    ----------
    n_workers : int
    """

    def __init__(self, n_jobs: int | None, deadline: float = np.inf, watch: Watch | None = None):
        self.n_workers = effective_n_jobs(n_jobs)
        self.deadline = deadline
        self.watch = Watch() if watch is None else watch
        self._interrupted_before = self.watch.interrupted
        self._stopping = self._interrupted = self._raised = False

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed since this began, or a progress callback raised KeyboardInterrupt."""
        return self._interrupted or (self.watch.interrupted and not self._interrupted_before)

    def is_over(self, deadline: float | None = None) -> bool:
        """Whether work should end after its present step: at the deadline, or at one of its own."""
        ended = self._stopping or self.interrupted
        return ended or running_seconds() > (self.deadline if deadline is None else deadline)

    def run(self, work: Callable[[T], None], items: Sequence[T], at_once: int | None = None) -> None:
        """Call ``work`` with every item, as many at a time as there are workers; return when all have ended.

        ``work`` asks `is_over` between its steps. What it raises is raised here, once the others have ended.
        """

        def task(item: T) -> None:
            try:
                work(item)
            except KeyboardInterrupt:  # of a progress callback
                self._interrupt()

        with ThreadPoolExecutor(max(1, min(at_once or self.n_workers, len(items)))) as pool:
            futures = [pool.submit(task, item) for item in items]
            self._watch(futures)
        for future in futures:
            future.result()

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """What ``function`` returns for every item, in their order.

        A Ctrl-C that no `Watch` has noted is raised once all have ended.
        """
        results: list[Any] = [None] * len(items)

        def fill(k: int) -> None:
            results[k] = function(items[k])

        self.run(fill, range(len(items)))
        if self._raised:
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
                self._raised = True
                self._interrupt()
            if self.interrupted or any(future.exception() for future in done):
                self._stopping = True
                return

    def _interrupt(self) -> None:
        self._interrupted = True
        self.watch.note()
