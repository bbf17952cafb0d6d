"""Start an engine that climbs from many places at once, and keep the best of the tops it finds."""

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from partita.engines.reporting import Reporter
from partita.engines.runner import Plan
from partita.model.model import Model
from partita.running.clock import running_seconds


class Climb:
    """One start, iterated until an iteration gains too little.

    Parameters
    ----------
    engine, model
        What is run. ``engine.step`` reports the objective of the state that it is given. Its class says whether every
        step raises the objective (``monotone``), and whether this is the same with fewer components
        (``keeps_objective``).
    seed : SeedSequence
        The start's own.
    number : int
        Its place among the starts, for progress.
    """

    def __init__(self, engine: Any, model: Model, seed: np.random.SeedSequence, number: int):
        self.engine, self.model, self.number = engine, model, number
        self.rng = np.random.default_rng(seed)
        self.state: Any = None
        self.info: Any = None
        self.path: list[float] = []
        self.n_sweeps = 0
        self.converged = False

    @property
    def objective(self) -> float:
        """What was reached."""
        return self.path[-1]

    def run(self, stop: Callable[[], bool], report: Callable[["Climb"], None]) -> None:
        """Iterate until ``stop`` says so; the state kept is the one whose objective is last on the path."""
        ahead = self.engine.init(self.rng, self.model)
        while self.n_sweeps < self.engine.max_iter:
            following, info = self.engine.step(self.rng, ahead, self.model)
            self.n_sweeps += 1
            if not np.isfinite(info.objective):
                raise ValueError(
                    f"{type(self.engine).__name__} left the range of floating-point numbers: its objective is "
                    f"{info.objective}. Bring the columns to a common scale, for example with standardize=True."
                )
            self.converged = self._rise(ahead, info) if self.engine.monotone else self._move(ahead, info)
            report(self)
            if self.converged or stop():
                return
            ahead = following

    def _rise(self, state: Any, info: Any) -> bool:
        """Take a state that is no loss; whether the top is reached.

        A removed component may change what is maximised, and the path begins anew. A step that loses (rounding, or
        a variance raised by ``reg_covar``, which is then no exact maximum) is not taken.
        """
        if self.path and not self.engine.keeps_objective and info.n_clusters < self.info.n_clusters:
            self.path.clear()
        gain = info.objective - self.path[-1] if self.path else np.inf
        if gain >= 0:
            self._move(state, info)
        return info.settled and (gain < self.engine.tol * self.model.total or gain <= 0)

    def _move(self, state: Any, info: Any) -> bool:
        """Take a state, whatever its objective; whether next to nothing has changed."""
        self.state, self.info = state, info
        self.path.append(info.objective)
        return not self.engine.monotone and info.change <= self.engine.tol


def climb_all(engine: Any, models: Sequence[Model], seeds: Sequence[Sequence[Any]], plan: Plan) -> list[list[Climb]]:
    """Run every start of every model in threads; what each finds depends on its seed alone unless time runs out.

    ``seeds`` has one sequence of seeds per model. When time has run out, only the first start of a model is begun;
    those that were not are left out. An interruption from the keyboard ends every start after its present step.
    """
    number = count()
    groups = [[Climb(engine, model, seed, next(number)) for seed in own] for model, own in zip(models, seeds)]
    climbs = [climb for group in groups for climb in group]
    needed = {group[0] for group in groups}
    deadline = running_seconds() + plan.engine_time
    reporter = Reporter(plan.progress, engine.max_iter, plan.max_time, samples=False)
    interrupted = Event()
    for model in models:
        _ = model.shared_rows  # kept by the model: were they not there, every thread would make them

    def stop() -> bool:
        return interrupted.is_set() or running_seconds() > deadline

    def run(climb: Climb) -> None:
        if not stop() or climb in needed:
            climb.run(stop, lambda one: reporter.report(one, climbs))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of k-means, whose clusters may coincide
        _run_all(run, climbs, effective_n_jobs(plan.n_jobs), interrupted)
    reporter.close()
    return [[climb for climb in group if climb.path] for group in groups]


def _run_all(run: Callable[[Climb], None], climbs: Sequence[Climb], n_jobs: int, interrupted: Event) -> None:
    with ThreadPoolExecutor(min(len(climbs), n_jobs)) as pool:
        futures = [pool.submit(run, climb) for climb in climbs]
        try:
            for future in futures:
                future.result()
        except BaseException:
            interrupted.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
