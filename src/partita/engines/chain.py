"""One chain: its random numbers, its state, and the draws it has kept."""

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np

from partita.model.model import Model

TRACES = ("n_clusters", "log_joint", "entropy", "concentration")


class Chain:
    """A Markov chain that advances in bouts and keeps what it is told to keep.

    Parameters
    ----------
    engine, model
        What is run.
    seed : SeedSequence
        The chain's own; results do not depend on which thread runs it.
    number : int
        Its place among the chains, for progress.
    """

    def __init__(self, engine: Any, model: Model, seed: np.random.SeedSequence, number: int):
        self.engine = engine
        self.model = model
        self.number = number
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.state: Any = None
        self.info: Any = None
        self.n_sweeps = 0
        self.labels: list[np.ndarray] = []
        self.sweeps: list[int] = []  # the number of the sweep that each draw was made in
        self.records: list[tuple[float, ...]] = []
        self.learned = tuple(model.likelihood.learned)  # names of what is learned of the likelihood
        taken = [name for name in self.learned if name in TRACES]
        if taken:
            raise ValueError(
                f"A {model.likelihood.title} model learns a number called {taken[0]!r}, which is what the draws call "
                "one of their own: let it have another name in the family's learned."
            )

    def advance(
        self,
        n_sweeps: int,
        keep_every: int,
        is_over: Callable[[], bool],
        report: Callable[["Chain"], None],
    ) -> None:
        """Run until ``n_sweeps`` sweeps are done in all, keeping every ``keep_every``-th.

        Stops early, but not before the first sweep, when ``is_over`` says so.
        """
        if self.state is None:
            self.state = self.engine.init(self.rng, self.model)
        while self.n_sweeps < n_sweeps:
            if self.n_sweeps and is_over():
                return
            self.state, self.info = self.engine.step(self.rng, self.state, self.model)
            self.n_sweeps += 1
            if self.n_sweeps % keep_every == 0:
                self.keep()
            report(self)

    def keep(self) -> None:
        """Store the present partition and its trace values."""
        labels = self.state.allocation.labels
        slots = self.state.allocation.sizes.shape[0]
        self.labels.append(labels.astype(np.int16 if slots <= np.iinfo(np.int16).max else np.int32))
        self.sweeps.append(self.n_sweeps)
        of_likelihood = (self.info.learned[name] for name in self.learned)
        self.records.append((*(float(getattr(self.info, name)) for name in TRACES), *of_likelihood))

    def forget(self, n_draws: int) -> None:
        """Drop the oldest draws."""
        for kept in (self.labels, self.sweeps, self.records):
            del kept[:n_draws]

    def n_draws_after(self, sweep: int) -> int:
        """Draws of later sweeps than this."""
        return len(self.sweeps) - bisect_right(self.sweeps, sweep)

    def thin(self, every: int, *, after: int = 0) -> None:
        """Of the draws after a sweep, leave those of every so many sweeps."""
        left = [k for k, sweep in enumerate(self.sweeps) if sweep <= after or sweep % every == 0]
        self.labels = [self.labels[k] for k in left]
        self.sweeps = [self.sweeps[k] for k in left]
        self.records = [self.records[k] for k in left]

    def traces(self, n_draws: int) -> dict[str, np.ndarray]:
        """The last ``n_draws`` values of every trace."""
        names = (*TRACES, *self.learned)
        values = np.array(self.records[len(self.records) - n_draws :]).reshape(n_draws, len(names))
        return dict(zip(names, values.T))
