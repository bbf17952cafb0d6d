"""Two engines, each of which is one class: all partitions of a few rows, and a chain that moves one row at a time."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import logsumexp
from tests.oracles.partitions import set_partitions

from partita.engines import Engine, Outcome
from partita.engines.provenance import provenance_of
from partita.engines.runner import Plan
from partita.engines.sampler import Sampler, outcome_of_draws
from partita.families.base import one_hot
from partita.model.model import Model
from partita.partitions import Partitions
from partita.posterior import Posterior


class Enumerated(Engine, name="enumerated"):
    """The exact posterior: every partition, with its probability as weight."""

    title = "Enumeration"

    def __init__(self, *, most_rows: int = 8):
        self.most_rows = most_rows

    def fit(self, model: Model, plan: Plan, seed: np.random.SeedSequence) -> Outcome:
        chosen = np.flatnonzero(model.row_weights)
        if chosen.size > self.most_rows:
            raise ValueError(f"Enumerated(most_rows={self.most_rows}) cannot enumerate {chosen.size} rows.")
        partitions = np.array(list(set_partitions(chosen.size)))
        logs = np.array([log_joint(model.taught(), labels) for labels in partitions])
        labels = np.full((1, len(logs), model.table.n_rows), -1)
        labels[0][:, chosen] = partitions
        concentration = np.full((1, len(logs)), model.prior.initial_concentration())
        posterior = Posterior(
            Partitions(labels),
            weights=np.exp(logs - logsumexp(logs)),
            traces={"concentration": concentration, "log_joint": logs[None]},
            provenance=provenance_of(self, model, seed),
        )
        return replace(outcome_of_draws(self, model, posterior, plan, seed), converged=True)


@dataclass(frozen=True)
class Info:
    n_clusters: int
    log_joint: float
    entropy: float
    concentration: float
    learned: dict[str, float]


class OneRow(Sampler, name="one-row"):
    """Metropolis: a row is proposed a cluster at random, one of those there are or a new one."""

    def init(self, rng: np.random.Generator, model: Model) -> Any:
        return self._state(np.where(model.row_weights > 0, 0, -1))

    def step(self, rng: np.random.Generator, state: Any, model: Model) -> tuple[Any, Info]:
        labels = state.allocation.labels
        for row in np.flatnonzero(labels >= 0):
            labels = self._moved(rng, model, labels, row)
        sizes = np.bincount(labels[labels >= 0])
        shares = sizes[sizes > 0] / sizes.sum()
        entropy = -float(shares @ np.log(shares))
        concentration = model.prior.initial_concentration()
        return self._state(labels), Info(shares.size, log_joint(model, labels), entropy, concentration, {})

    def _state(self, labels: np.ndarray) -> Any:
        sizes = np.bincount(labels[labels >= 0], minlength=labels.size)
        return SimpleNamespace(allocation=SimpleNamespace(labels=labels, sizes=sizes))

    def _moved(self, rng: np.random.Generator, model: Model, labels: np.ndarray, row: int) -> np.ndarray:
        """Proposals are symmetric: with the row taken out, every cluster and a new one are as probable."""
        others = np.unique(np.delete(labels, row))
        others = others[others >= 0]
        free = np.setdiff1d(np.arange(labels.size), others)[0]
        proposed = labels.copy()
        proposed[row] = rng.choice([*others, free])
        return proposed if np.log(rng.random()) < log_joint(model, proposed) - log_joint(model, labels) else labels


def log_joint(model: Model, labels: np.ndarray) -> float:
    seated = labels >= 0
    _, codes = np.unique(labels[seated], return_inverse=True)
    rows = model.likelihood.rows(model.table.take(seated))
    stats = model.likelihood.suffstats(rows, one_hot(codes, codes.max() + 1, model.row_weights[seated]))
    return model.prior.log_probability(codes) + float(model.likelihood.log_marginal(stats).sum())
