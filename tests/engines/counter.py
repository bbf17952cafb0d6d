"""An engine that only counts its sweeps, so that what the runner kept can be read from the draws."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
from tests.engines.models import KNOWN

from partita import Posterior
from partita.engines.runner import Plan, run
from partita.priors import DirichletProcess

MODEL = KNOWN.model(DirichletProcess(concentration=1.0))
N_ROWS = MODEL.table.n_rows


@dataclass(frozen=True)
class Info:
    n_clusters: int
    log_joint: float  # the number of the sweep, unless the engine settles
    entropy: float
    concentration: float


@dataclass
class Counter:
    """An engine without a model: every sweep seats the rows anew by coin flips."""

    settles: bool = False
    after_step: list = field(default_factory=list)  # called with the number of the sweep

    def init(self, rng, model):
        return SimpleNamespace(n=0)

    def step(self, rng, state, model):
        labels = rng.integers(0, 2, N_ROWS)
        n = state.n + 1
        for call in self.after_step:
            call(n)
        sizes = np.bincount(labels, minlength=16)
        noise = rng.normal(size=3)
        info = Info(int((sizes > 0).sum()), noise[0] if self.settles else n, noise[1], noise[2])
        return SimpleNamespace(n=n, allocation=SimpleNamespace(labels=labels, sizes=sizes)), info


def count(*, settles=False, after_step=(), seed=0, **plan) -> Posterior:
    engine = Counter(settles, list(after_step))
    return run(engine, MODEL, Plan(**plan), np.random.SeedSequence(seed))[0]


def kept_sweeps(posterior: Posterior) -> np.ndarray:
    """Numbers of the sweeps that were kept, (chain, draw)."""
    return posterior.traces["log_joint"].astype(int)
