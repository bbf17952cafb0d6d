"""Start an engine that climbs from many places at once, and keep the best of the tops it finds."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from partita.engines.model import Model
from partita.engines.reporting import Reporter
from partita.engines.runner import Plan


class Climb:
    """One start, iterated until an iteration gains too little.

    Parameters
    ----------
    engine, model
        What is run: ``engine.step`` reports the objective of the state that it is given.
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

    def run(self, deadline: float, report: Callable[["Climb"], None]) -> None:
        """Iterate; the state kept is the one whose objective is last on the path.

        A removed component changes what is maximised, and the path begins anew. A step that loses (rounding, or
        a variance raised by ``reg_covar``, which is then no exact maximum) is not taken.
        """
        ahead = self.engine.init(self.rng, self.model)
        least_gain = self.engine.tol * self.model.total
        while self.n_sweeps < self.engine.max_iter:
            following, info = self.engine.step(self.rng, ahead, self.model)
            self.n_sweeps += 1
            if self.path and info.n_clusters < self.info.n_clusters:
                self.path.clear()
            gain = info.objective - self.path[-1] if self.path else np.inf
            if gain >= 0:
                self.state, self.info = ahead, info
                self.path.append(info.objective)
            report(self)
            if gain < least_gain or gain <= 0:
                self.converged = True
            if self.converged or time.monotonic() > deadline:
                return
            ahead = following


def climb_all(engine: Any, starts: Iterable[tuple[Model, np.random.SeedSequence]], plan: Plan) -> list[Climb]:
    """Run every start in threads; what each finds depends on its seed alone unless time runs out."""
    climbs = [Climb(engine, model, seed, number) for number, (model, seed) in enumerate(starts)]
    deadline = np.inf if plan.max_time is None else time.monotonic() + plan.max_time
    reporter = Reporter(plan.progress, engine.max_iter, plan.max_time)
    with ThreadPoolExecutor(min(len(climbs), effective_n_jobs(plan.n_jobs))) as pool:
        futures = [pool.submit(climb.run, deadline, lambda one: reporter.report(one, climbs)) for climb in climbs]
        for future in futures:
            future.result()
    reporter.close()
    return climbs
