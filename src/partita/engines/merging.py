"""Merge moves of a variational mixture: pairs of components that the bound wants to be one.

With everything but the responsibilities r at its best, the bound on the log evidence is

    log_allocation(sizes) + sum_k log_marginal(stats_k) - sum_nk w_n r_nk log r_nk + log hyperpriors,

and the statistics of a merged component are the sums of both. Merging i and j therefore gains exact terms of sizes and
statistics, less the overlap sum_n w_n [(r_i + r_j) log(r_i + r_j) - r_i log r_i - r_j log r_j] >= 0, the only one that
needs the rows. (Where missing cells have a distribution of their own, that of the merged component is a mixture, whose
entropy makes the true gain larger still.) Reference: Hughes and Sudderth (2013), Memoized online variational inference
for Dirichlet process mixture models, section 3.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from partita.families.base import Conjugate
from partita.priors.weights import LabelledComponents

PARTNERS = 2  # of every component, the most promising ones
LEAST_SIZE = 1e-10  # rows of a component that counts as empty
LEAST_OVERLAP = 1e-20  # of a row that counts where components overlap
PAIRS_AT_ONCE = 512  # whose statistics are summed at a time


class Holdings(NamedTuple):
    """What K components hold, and the model they belong to."""

    likelihood: Conjugate
    prior: LabelledComponents
    sizes: np.ndarray  # (K,)
    stats: np.ndarray  # (K, S)
    concentration: float


def promising_pairs(holdings: Holdings) -> np.ndarray:
    """Pairs (P, 2) whose merging would gain if they did not overlap, at most two for every component.

    Cost: K (K - 1) / 2 marginal likelihoods.
    """
    sizes = holdings.sizes
    first, second = np.triu_indices(sizes.size, 1)
    gains = marginal_gains(holdings, np.column_stack([first, second]))
    both = sizes[first] + sizes[second]
    shared = gains + xlogy(both, both) - xlogy(sizes, sizes)[first] - xlogy(sizes, sizes)[second]
    chosen = _best_partners(first, second, shared, sizes.size)
    pairs = np.column_stack([first[chosen], second[chosen]])
    return pairs[gains[chosen] + allocation_gains(holdings, pairs) > 0]


def overlaps(resp: np.ndarray, row_weights: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Sum over rows of w_n [(r_i + r_j) log(r_i + r_j) - r_i log r_i - r_j log r_j] (P,) of every pair.

    Rows that one of both has less than 1e-20 of add next to nothing, and are most of them where groups are apart.
    """
    found = np.empty(pairs.shape[0])
    shared = resp > LEAST_OVERLAP
    for p, (i, j) in enumerate(pairs):
        rows = np.flatnonzero(shared[:, i] & shared[:, j])
        one, other = resp[rows, i], resp[rows, j]
        both = one + other
        found[p] = row_weights[rows] @ (both * np.log(both) - one * np.log(one) - other * np.log(other))
    return found


def gaining_pairs(holdings: Holdings, pairs: np.ndarray, overlap: np.ndarray) -> np.ndarray:
    """Pairs (M, 2) whose merging gains, greatest first, each component in one of them at most."""
    apart = marginal_gains(holdings, pairs) - overlap
    gains = apart + allocation_gains(holdings, pairs)
    sizes, free, chosen = holdings.sizes.copy(), np.ones(holdings.sizes.size, dtype=bool), []
    for p in np.argsort(-gains, kind="stable"):
        i, j = pairs[p]
        if not (gains[p] > 0 and free[i] and free[j]):
            continue
        if apart[p] + allocation_gains(holdings._replace(sizes=sizes), pairs[[p]])[0] > 0:
            sizes[i], sizes[j] = sizes[i] + sizes[j], 0.0
            free[[i, j]] = False
            chosen.append(p)
    return pairs[chosen]


def merge_pairs(holdings: Holdings, pairs: np.ndarray, overlap: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sizes and statistics after the merges of ``gaining_pairs``."""
    first, second = gaining_pairs(holdings, pairs, overlap).T
    sizes, stats = holdings.sizes.copy(), holdings.stats.copy()
    sizes[first] += sizes[second]
    stats[first] += stats[second]
    return np.delete(sizes, second), np.delete(stats, second, axis=0)


def marginal_gains(holdings: Holdings, pairs: np.ndarray) -> np.ndarray:
    """What the marginal likelihoods gain (P,) when two components become one."""
    likelihood, stats = holdings.likelihood, holdings.stats
    alone = likelihood.log_marginal(stats)
    gains = np.empty(pairs.shape[0])
    for start in range(0, gains.size, PAIRS_AT_ONCE):
        i, j = pairs[start : start + PAIRS_AT_ONCE].T
        gains[start : start + PAIRS_AT_ONCE] = likelihood.log_marginal(stats[i] + stats[j]) - alone[i] - alone[j]
    return gains


def allocation_gains(holdings: Holdings, pairs: np.ndarray) -> np.ndarray:
    """What the probability of labels gains (P,) when components i < j become one, in the best orders of components.

    With one component fewer than there may be, that is the order by size.
    """
    _, prior, sizes, _, concentration = holdings
    before = prior.log_allocation(sizes[prior.best_order(sizes, concentration)], concentration)
    merged = np.tile(sizes, (pairs.shape[0], 1))
    each = np.arange(pairs.shape[0])
    merged[each, pairs[:, 0]] += sizes[pairs[:, 1]]
    merged[each, pairs[:, 1]] = 0.0
    by_size = -np.sort(-merged, axis=1)[:, :-1]
    return prior.log_allocation(by_size, concentration) - before


def _best_partners(first: np.ndarray, second: np.ndarray, gains: np.ndarray, n_components: int) -> np.ndarray:
    """Positions of the pairs that are among the best of one of their components."""
    table = np.full((n_components, n_components), -np.inf)
    position = np.zeros((n_components, n_components), dtype=np.int64)
    for i, j in ((first, second), (second, first)):
        table[i, j], position[i, j] = gains, np.arange(gains.size)
    partners = np.argsort(-table, axis=1, kind="stable")[:, : min(PARTNERS, n_components - 1)]
    chosen = np.take_along_axis(position, partners, axis=1)
    return np.unique(chosen)
