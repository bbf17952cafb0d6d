"""One fit from its start to its answer: when it began, when it must be over, whether Ctrl-C was pressed."""

import math
import time
from contextlib import AbstractContextManager

from partita.running.clock import running_seconds
from partita.running.interruptions import noting


class Watch:
    """What all parts of a fit ask: chains or starts, the search for an estimate, a second fit.

    Parameters
    ----------
    max_time : float, optional
        Seconds from now on, compiling left out; by default there is no limit.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C was pressed, or a progress callback raised KeyboardInterrupt.
    """

    def __init__(self, max_time: float | None = None):
        self._began = time.monotonic()
        self._deadline = math.inf if max_time is None else running_seconds() + max_time
        self.interrupted = False

    @property
    def elapsed(self) -> float:
        """Seconds since the start, compiling included."""
        return time.monotonic() - self._began

    @property
    def time_left(self) -> float:
        """Seconds until all must be over, compiling left out; less than 0 where that has passed."""
        return self._deadline - running_seconds()

    def deadline(self, share: float = 1.0) -> float:
        """When what may take a share of the time that is left must be over, on `running_seconds`."""
        return math.inf if math.isinf(self._deadline) else running_seconds() + share * max(0.0, self.time_left)

    def listening(self) -> AbstractContextManager[None]:
        """Where Ctrl-C is noted instead of raised, the first time; within another such place the outer one hears it."""
        return noting(self.note)

    def note(self) -> bool:
        """Note an interruption; whether it was the first."""
        first, self.interrupted = not self.interrupted, True
        return first
