"""The most memory that the process holds while something runs, where the system keeps count of it."""

import math
from contextlib import suppress
from pathlib import Path

_PROCESS = Path("/proc/self")
_FORGET_THE_PEAK = "5"


class PeakMemory:
    """The most memory that the process holds from now on, above what it holds now.

    Linux counts pages in use, whoever asked for them: arrays, compiled code, other libraries. Pages that were given
    back to the process but not to the system are used again unseen, some tens of megabytes.
    """

    def __init__(self) -> None:
        self._before = math.nan
        with suppress(OSError):
            (_PROCESS / "clear_refs").write_text(_FORGET_THE_PEAK)
            self._before = _peak()

    @property
    def megabytes(self) -> float:
        """Of a million bytes; nan where the system does not say."""
        return math.nan if math.isnan(self._before) else _peak() - self._before


def _peak() -> float:
    """The most that the process has held since the peak was last forgotten, in megabytes; nan where none is counted."""
    try:
        lines = (_PROCESS / "status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return math.nan
    kibibytes = next((line.split()[1] for line in lines if line.startswith("VmHWM:")), math.nan)
    return float(kibibytes) * 1024 / 1e6
