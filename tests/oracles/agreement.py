"""How far the frequencies of a chain may lie from exact probabilities, in standard errors by batch means."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import chi2, t
from tests.oracles.enumeration import Exact

MOST_BATCHES, LEAST_BATCH = 50, 50
LEAST_EXPECTED = 100.0
LEVEL = 1e-5


@dataclass(frozen=True)
class Agreement:
    """Distances between frequencies and probabilities in standard errors."""

    z: dict[str, np.ndarray]
    n_batches: int
    impossible: int = 0  # draws of states that have probability 0

    @property
    def worst(self) -> float:
        """The largest distance."""
        return float(np.abs(np.concatenate(list(self.z.values()))).max())

    @property
    def limit(self) -> float:
        """What the largest of so many distances may be (Bonferroni, Student-t of batch means)."""
        return float(t.isf(LEVEL / (2 * sum(z.size for z in self.z.values())), self.n_batches - 1))

    @property
    def rms(self) -> float:
        """Root mean square distance of the states' frequencies, which are nearly independent.

        0 where a chain is so short that no state is expected often.
        """
        if not self.z["states"].size:
            return 0.0
        return float(np.sqrt(np.mean(self.z["states"] ** 2)))

    @property
    def rms_limit(self) -> float:
        """What it may be."""
        m = max(self.z["states"].size, 1)
        return float(np.sqrt(chi2.isf(LEVEL, m) / m * (self.n_batches - 1) / (self.n_batches - 3)))

    @property
    def agrees(self) -> bool:
        """Whether the chain is within Monte-Carlo error of the exact posterior."""
        return self.impossible == 0 and self.worst < self.limit and self.rms < self.rms_limit

    def __str__(self) -> str:
        return (
            f"max |z| {self.worst:.2f} of {sum(z.size for z in self.z.values())} (limit {self.limit:.2f}), "
            f"rms z {self.rms:.2f} (limit {self.rms_limit:.2f}), {self.impossible} impossible draws"
        )


def compare_partitions(labels: np.ndarray, exact: Exact) -> Agreement:
    """Partition frequencies, P(K) and co-clustering of draws (draws, n) against enumeration."""
    codes, of_states = partition_codes(labels), partition_codes(exact.states)
    pairs = list(combinations(range(labels.shape[1]), 2))
    together = np.column_stack([labels[:, i] == labels[:, j] for i, j in pairs])
    similarity = exact.similarity()
    k = exact.sizes_of_states[state_positions(codes, of_states)]
    by_k = np.arange(labels.shape[1] + 1)
    z = {
        "states": _frequencies(codes, of_states, exact.probabilities),
        "n_clusters": z_scores(k[:, None] == by_k, exact.n_clusters()),
        "similarity": z_scores(together, np.array([similarity[i, j] for i, j in pairs])),
    }
    return Agreement(z, n_batches(codes.size), _impossible(codes, of_states, exact))


def compare_labelled(components: np.ndarray, exact: Exact) -> Agreement:
    """Frequencies of labelled states against enumeration."""
    base = exact.states.max() + 1
    powers = base ** np.arange(components.shape[1])
    codes, of_states = components @ powers, exact.states @ powers
    z = {"states": _frequencies(codes, of_states, exact.probabilities)}
    return Agreement(z, n_batches(codes.size), _impossible(codes, of_states, exact))


def n_batches(n_draws: int) -> int:
    """How many batches a chain is cut into: few where it is short, so that batches hardly depend on each other."""
    return min(MOST_BATCHES, n_draws // LEAST_BATCH)


def batch_means(values: np.ndarray) -> np.ndarray:
    """Means of successive batches of draws, (batches, ...)."""
    n = n_batches(len(values))
    return values.reshape(n, len(values) // n, *values.shape[1:]).mean(axis=1)


def partition_codes(labels: np.ndarray) -> np.ndarray:
    """One number per partition: a bit for every pair of rows that are together."""
    code = np.zeros(labels.shape[0], np.int64)
    for i, j in combinations(range(labels.shape[1]), 2):
        code = 2 * code + (labels[:, i] == labels[:, j])
    return code


def state_positions(codes: np.ndarray, of_states: np.ndarray) -> np.ndarray:
    """Position of every draw among the states."""
    order = np.argsort(of_states)
    return order[np.searchsorted(of_states[order], codes)]


def _impossible(codes: np.ndarray, of_states: np.ndarray, exact: Exact) -> int:
    return int(np.isin(codes, of_states[exact.probabilities == 0]).sum())


def _frequencies(codes: np.ndarray, of_states: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Distances of the states that are expected often, and of all the others together."""
    often = probabilities * codes.size >= LEAST_EXPECTED
    visits = codes[:, None] == of_states[often]
    rest = ~visits.any(axis=1, keepdims=True)
    return z_scores(np.hstack([visits, rest]), np.append(probabilities[often], probabilities[~often].sum()))


def z_scores(events: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Frequency of events (draws, m) minus probability over its standard error by batch means.

    The error is at least that of independent draws. Events expected, or expected to fail, fewer than
    ``LEAST_EXPECTED`` times are left out.
    """
    n_draws = events.shape[0]
    spread = probabilities * (1 - probabilities)
    kept = spread * n_draws >= LEAST_EXPECTED
    means = batch_means(events[:, kept])
    by_batches = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    error = np.maximum(by_batches, np.sqrt(spread[kept] / n_draws))
    return (means.mean(axis=0) - probabilities[kept]) / error
