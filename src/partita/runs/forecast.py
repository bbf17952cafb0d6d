"""Whether chains have time enough, and what variational Bayes would take instead, timed on one of its starts."""

import warnings
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from partita.engines import Progress, Variational
from partita.engines.runner import FIRST_CHECK
from partita.running.cached import cached_property
from partita.running.clock import running_seconds
from partita.running.progress import write_status
from partita.table import Table

TRIAL_SHARE = 0.1  # of the time limit that the start may take,
TRIAL_SECONDS = (1.0, 5.0)  # but at least and at most
LATE = 1.5  # times the limit that the sweeps needed would take
KNOWN = 0.05  # of the limit, after which the speed is known


class Approximation:
    """Variational Bayes in place of the sampler of a model that has a time limit, on the same table."""

    def __init__(self, model: Any, table: Table):
        self.model, self.table = clone(model), table

    @cached_property
    def seconds(self) -> str | None:
        """``about 12 s``: the time of one start, times the starts that are made one after the other.

        ``more than 12 s`` where the start had not converged in the time that it may take. At least 1 s. None
        where it fails: a forecast must not cost the answer.
        """
        engine = Variational(truncation=getattr(self.model, "n_components", Variational().truncation))
        n_rounds = -(-engine.n_init // effective_n_jobs(self.model.n_jobs))
        most = float(np.clip(TRIAL_SHARE * self.model.max_time, *TRIAL_SECONDS))
        trial = self.model.set_params(engine=engine.set_params(n_init=1), max_time=most, n_jobs=1, progress=False)
        try:
            trial.check()
        except Exception:  # it does not run the prior
            trial.set_params(prior=type(trial)().prior)
        started = running_seconds()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                trial.fit(self.table)
            except Exception:
                return None
        seconds = max(1.0, n_rounds * (running_seconds() - started))
        return f"{'about' if trial.converged_ else 'more than'} {round_seconds(seconds)} s"

    def in_words(self, option: str) -> str:
        """``--engine vb approximates, here in about 12 s``."""
        return f"{option} approximates" + (f", here in {self.seconds}" if self.seconds else "")


class Pace:
    """A progress callback: the status line, and one word of warning if chains cannot be judged in time.

    What came before the first sweep, such as the choice of a covariance, is not taken for the pace of sweeps.

    Parameters
    ----------
    max_time : float
        The time limit.
    automatic : bool
        Whether the diagnostics decide when to stop: then they must be reached. Otherwise all sweeps are needed.
    warn : callable
        Told the sweeps needed and the seconds that they would take, once at most.
    """

    def __init__(self, max_time: float, automatic: bool, warn: Callable[[int, float], None]):
        self.max_time, self.automatic, self.warn = max_time, automatic, warn
        self.first: tuple[float, int] | None = None  # when news of a chain came first, and of which sweep
        self.has_warned = False
        self.lock = Lock()

    def __call__(self, progress: Progress) -> None:
        """Take news of a chain."""
        write_status(progress)
        if not progress.samples:
            return
        now = running_seconds()
        needed = min(FIRST_CHECK, progress.n_sweeps) if self.automatic else progress.n_sweeps
        with self.lock:
            if self.first is None:
                self.first = (now, progress.sweep)
            elapsed, n_sweeps = now - self.first[0], progress.sweep - self.first[1]
            if n_sweeps <= 0:
                return
            seconds = elapsed * needed / n_sweeps
            if self.has_warned or elapsed < KNOWN * self.max_time or seconds < LATE * self.max_time:
                return
            self.has_warned = True
        self.warn(needed, seconds)


def round_seconds(seconds: float) -> str:
    """Two digits that mean something, no exponent."""
    return f"{float(f'{seconds:.2g}'):.0f}"
