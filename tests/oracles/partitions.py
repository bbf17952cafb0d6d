"""Every partition, every labelled state, and how far counts may lie from their probabilities."""

from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.stats import chi2

from partita.priors import Prior

BELL = (1, 1, 2, 5, 15, 52, 203, 877, 4140, 21147)


def set_partitions(n: int) -> Iterator[tuple[int, ...]]:
    """Yield the labels of all partitions of n rows, as restricted-growth strings."""
    if n == 0:
        yield ()
        return
    for start in set_partitions(n - 1):
        for label in range(max(start, default=-1) + 2):
            yield (*start, label)


def labelled_states(n: int, n_components: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to put n rows into labelled components."""
    yield from product(range(n_components), repeat=n)


def canonical(labels: tuple[int, ...]) -> tuple[int, ...]:
    """Rename labels in order of appearance."""
    names: dict[int, int] = {}
    return tuple(names.setdefault(label, len(names)) for label in labels)


def partition_probabilities(prior: Prior, n: int) -> np.ndarray:
    """Probability of every partition of n rows, in the order of ``set_partitions``; equal sizes share a value."""
    kinds = [tuple(sorted(Counter(labels).values())) for labels in set_partitions(n)]
    known = {sizes: prior.log_probability(np.repeat(np.arange(len(sizes)), sizes)) for sizes in set(kinds)}
    return np.exp([known[sizes] for sizes in kinds])


def counts_agree(counts: np.ndarray, probabilities: np.ndarray, *, level: float = 6.3e-5) -> bool:
    """Whether independent counts are within Monte-Carlo error of their probabilities.

    Pearson's chi-square, cells that expect fewer than 5 pooled. The default level is that of 4 standard
    errors. A count where the probability is 0 never agrees.
    """
    counts, probabilities = np.asarray(counts, dtype=float), np.asarray(probabilities, dtype=float)
    if np.any(counts[probabilities == 0] > 0) or abs(probabilities.sum() - 1) > 1e-9:
        return False
    expected = counts.sum() * probabilities
    rare = expected < 5
    pooled_counts = np.append(counts[~rare], counts[rare].sum())
    pooled = np.append(expected[~rare], expected[rare].sum())
    keep = pooled > 0
    statistic = np.sum((pooled_counts[keep] - pooled[keep]) ** 2 / pooled[keep])
    freedom = max(int(keep.sum()) - 1, 1)
    return bool(chi2.sf(statistic, freedom) > level)
