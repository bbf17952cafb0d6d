"""How far the chains are: what a progress callback is told, and the status line of a terminal."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from partita.kernels.compiling import compiling_seconds
from partita.running.watch import Watch

SECONDS_BETWEEN_REPORTS = 0.2
CLEAR_LINE = "\r\033[K"


@dataclass(frozen=True)
class Progress:
    """What a progress callback is told.

    Attributes
    ----------
    chain : int
        The chain that has news, from 0.
    sweep, n_sweeps : int
        Its sweeps so far, and the most there will be.
    n_clusters : int
        Clusters it has now.
    elapsed : float
        Seconds since the start of the fit.
    n_chains : int
    time_left : float
        Seconds until all chains have made all their sweeps at the present speed, or until the time limit if
        that is sooner. Chains that agree earlier stop earlier.
    samples : bool
        Whether these are chains and sweeps; of engines that climb they are starts and iterations.
    """

    chain: int
    sweep: int
    n_sweeps: int
    n_clusters: int
    elapsed: float
    n_chains: int
    time_left: float
    samples: bool = True


class Reporter:
    """Calls the progress callback now and then, from whichever thread has news."""

    def __init__(
        self,
        progress: Callable[[Progress], None] | bool,
        n_sweeps: int,
        watch: Watch,
        *,
        samples: bool = True,
    ):
        self.callback = write_status if progress is True else (progress or None)
        self.writes_status = progress is True
        self.n_sweeps = n_sweeps
        self.samples = samples
        self.watch = watch
        self.started = time.monotonic()
        self.compiled_before = compiling_seconds()
        self.last = 0.0
        self.lock = Lock()

    def report(self, chain: Any, chains: Sequence[Any]) -> None:
        """Tell the callback about one of the chains, unless it was told a moment ago."""
        if self.callback is None:
            return
        with self.lock:
            now = time.monotonic()
            if now - self.last < SECONDS_BETWEEN_REPORTS:
                return
            self.last = now
            self.callback(
                Progress(
                    chain.number,
                    chain.n_sweeps,
                    self.n_sweeps,
                    chain.info.n_clusters,
                    self.watch.elapsed,
                    len(chains),
                    self._time_left(now - self.started, chains),
                    self.samples,
                )
            )

    def _time_left(self, elapsed: float, chains: Sequence[Any]) -> float:
        sampling = elapsed - (compiling_seconds() - self.compiled_before)
        done = sum(chain.n_sweeps for chain in chains)
        left = len(chains) * self.n_sweeps - done
        return max(0.0, min(left * sampling / done, self.watch.time_left))

    def close(self) -> None:
        """Remove the status line."""
        if self.writes_status:
            clear_status()


def clear_status() -> None:
    """Remove the status line of a terminal."""
    if _on_terminal():
        sys.stderr.write(CLEAR_LINE)
        sys.stderr.flush()


def write_status(progress: Progress) -> None:
    """Show one line on a terminal, over the one before; nothing anywhere else."""
    if _on_terminal():
        chain, sweep = ("chain", "sweep") if progress.samples else ("start", "iteration")
        sys.stderr.write(
            f"{CLEAR_LINE}{chain} {progress.chain + 1} of {progress.n_chains}: {sweep} {progress.sweep} of at most "
            f"{progress.n_sweeps}, {progress.n_clusters} groups, {progress.elapsed:.0f} s, "
            f"at most {progress.time_left:.0f} s left"
        )
        sys.stderr.flush()


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()  # None: it was closed before the start
