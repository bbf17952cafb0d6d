"""Parts of the rows in this process, several at a time."""

from collections.abc import Callable, Sequence
from typing import Any

from partita.running.crew import Crew


class Here:
    """This process. Results come in the order of the parts, whatever the number of threads.

    Parameters
    ----------
    n_jobs : int or None
        Threads, as in joblib: None is 1, -1 all cores.
    """

    def __init__(self, n_jobs: int | None = None):
        self.n_jobs = n_jobs

    def map(self, function: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
        """What ``function`` says of every part."""
        if self.n_jobs in (None, 1) or len(parts) == 1:
            return [function(part) for part in parts]
        return Crew(self.n_jobs).map(function, parts)
