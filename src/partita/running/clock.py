"""A clock that stands still while this process compiles: time limits leave that out."""

import time

from partita.kernels.compiling import compiling_seconds


def running_seconds() -> float:
    """Seconds on a clock that only differences mean something of."""
    return time.monotonic() - compiling_seconds()
