"""Start an engine that climbs from many places at once, and keep the best of the tops it finds."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from partita.engines.base import Engine
from partita.engines.runner import Plan
from partita.model.model import Model
from partita.parameters import is_number, whole_number
from partita.places import Here
from partita.running.crew import Crew
from partita.running.progress import Reporter
from partita.wording import count_of


class Climber(Engine):
    """An engine that raises an objective from several starts, ``n_init``, each for at most ``max_iter`` steps.

    ``step`` reports the ``objective`` of the state that it is given and its ``n_clusters``. Where every step raises the
    objective (``monotone``) also ``settled``: whether nothing but the gain keeps it from the end; else ``change``,
    which is compared with ``tol``.
    """

    #: Whether every step raises the objective.
    monotone: ClassVar[bool] = True
    #: Whether the objective is the same function with fewer components.
    keeps_objective: ClassVar[bool] = True

    keep_iterations: bool = False
    n_init: int
    max_iter: int
    tol: float
    draws: int | None = None  # None: what the estimator says

    @abstractmethod
    def init(self, rng: np.random.Generator, model: Model) -> Any:
        """Where a start begins."""

    @abstractmethod
    def step(self, rng: np.random.Generator, state: Any, model: Model) -> tuple[Any, Any]:
        """The next state, and what is reported of the one given."""

    def check(self) -> None:
        """Refuse options outside their range."""
        kind = type(self).__name__
        for name in ("n_init", "max_iter"):
            whole_number(f"{kind}({name}=...)", getattr(self, name), 1)
        if not (is_number(self.tol) and self.tol >= 0):
            raise ValueError(f"{kind}(tol=...) must be a number of at least 0, got {self.tol!r}.")
        if self.draws is not None:
            whole_number(f"{kind}(draws=...)", self.draws, 1, also="None")

    def check_likelihood(self, model: Model) -> None:
        """Refuse a family that can be sampled alone."""
        if model.likelihood.only_sampled:
            raise ValueError(
                f"{model.likelihood.only_sampled}, which {type(self).__name__} cannot do: pass engine='gibbs'."
            )

    def n_draws(self, plan: Plan) -> int | str:
        """How many partitions are drawn from the responsibilities, when they are asked for."""
        return plan.draws if self.draws is None else self.draws


class Climb:
    """One start, iterated until an iteration gains too little.

    Parameters
    ----------
    engine, model
        What is run; see `Climber`.
    seed : SeedSequence
        The start's own.
    number : int
        Its place among the starts, for progress.
    state : object, optional
        Where it begins; by default where ``engine.init`` says.
    """

    def __init__(self, engine: Any, model: Model, seed: np.random.SeedSequence, number: int, state: Any = None):
        self.engine, self.model, self.number = engine, model, number
        self.rng = np.random.default_rng(seed)
        self.state: Any = state
        self.info: Any = None
        self.path: list[float] = []
        self.n_sweeps = 0
        self.history: list[tuple[Any, float]] = []  # states that were taken, and their objectives
        self.converged = False
        self.interrupted = False

    @property
    def objective(self) -> float:
        """What was reached."""
        return self.path[-1]

    def run(self, stop: Callable[[], bool], report: Callable[["Climb"], None]) -> None:
        """Iterate until ``stop`` says so; the state kept is the one whose objective is last on the path."""
        ahead = self.engine.init(self.rng, self.model) if self.state is None else self.state
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
        if self.engine.keep_iterations:
            self.history.append((state, info.objective))
        return not self.engine.monotone and info.change <= self.engine.tol


def shortfall(engine: Climber, climb: Climb, plan: Plan) -> tuple[str, ...]:
    """That the best start had not converged, and why; nothing where it had."""
    if climb.converged:
        return ()
    done = count_of(climb.n_sweeps, "iteration")
    if climb.n_sweeps == engine.max_iter:
        why = f"max_iter={engine.max_iter} was reached"
    elif climb.interrupted:
        why = "it was interrupted"
    else:
        why = f"max_time={plan.max_time:g} was reached"
    return (f"{engine.title} had not converged when {why}, after {done}.",)


def climb_all(
    engine: Climber,
    models: Sequence[Model],
    seeds: Sequence[Sequence[Any]],
    plan: Plan,
    *,
    states: Sequence[Sequence[Any]] | None = None,
    crew: Crew | None = None,
) -> list[list[Climb]]:
    """Run every start of every model; what each finds depends on its seed alone unless time runs out.

    Starts are in threads or, where rows are many, parts of the rows. ``seeds`` has one sequence of seeds per model;
    ``states`` one of states to begin with, where they are not to be made. When time has run out or Ctrl-C was pressed,
    every start ends after its present step; of those not begun only the first of a model is, and makes one step. The
    others are left out.
    """
    crew = plan.begun().crew() if crew is None else crew
    number = count()
    begun = [[None] * len(own) for own in seeds] if states is None else states
    for model in models:
        _ = model.shared_rows  # kept by the model: were they not there, every thread would make them
    in_parts = any(model.has_parts for model in models)
    if in_parts:
        models = [model.at(Here(plan.n_jobs)) for model in models]
    groups = [
        [Climb(engine, model, seed, next(number), state) for seed, state in zip(*own)]
        for model, *own in zip(models, seeds, begun)
    ]
    climbs = [climb for group in groups for climb in group]
    needed = {group[0] for group in groups}
    reporter = Reporter(plan.progress, engine.max_iter, crew.watch, samples=False)

    def run(climb: Climb) -> None:
        if not crew.is_over() or climb in needed:
            climb.run(crew.is_over, lambda one: reporter.report(one, climbs))

    with warnings.catch_warnings(), crew.watch.listening():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of k-means, whose clusters may coincide
        crew.run(run, climbs, at_once=1 if in_parts else None)
    reporter.close()
    for climb in climbs:
        climb.interrupted = crew.interrupted
    return [[climb for climb in group if climb.path] for group in groups]
