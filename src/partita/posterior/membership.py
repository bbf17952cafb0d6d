"""How surely each object belongs to each estimated cluster, from draws alone."""

from typing import Any

import numpy as np

from partita.kernels.contingency import DRAWS_TOGETHER, add_memberships
from partita.partitions import Partitions
from partita.posterior.condensing import Condensed, checked_weights, condense

MOST_CELLS = 1 << 27
"""Numbers that probabilities may take: 1 GiB."""


def membership_probabilities(labels: Any, draws: Any, weights: Any = None) -> np.ndarray:
    """Probability that object i belongs to estimated cluster k, (n_objects, n_clusters).

    p_ik is proportional to sum_b w_b |C_b(i) and T_k without i| / |T_k without i|, where C_b(i) is the
    cluster of i in draw b and T_k the estimated cluster. The own column of a singleton is the weight
    of the draws in which it is alone. Rows sum to 1.

    Parameters
    ----------
    labels : array-like of int, (n_objects,)
        The estimate, labels 0 .. K - 1; -1 for an object that it leaves out.
    draws : Partitions or array-like of int, (n_draws, n_objects)
    weights : array-like, (n_draws,), optional
        Non-negative; equal by default.

    Notes
    -----
    Where draws leave objects out (-1), T_k means its objects that draw b labels, and the sum is divided
    by the weight of the draws that label i and some of T_k without i.

    A row of zeros (an object that is alone in every draw, or is in none, but was put in a cluster with
    others) is certain of its own label; without a label it is spread evenly.

    Cost O(draws x atoms x K); equal draws and equal objects are counted once.
    """
    partitions = draws if isinstance(draws, Partitions) else Partitions(draws)
    estimate = np.asarray(labels)
    if estimate.shape != (partitions.n_objects,):
        raise ValueError(f"labels must be one per object, ({partitions.n_objects},); got {estimate.shape}.")
    if estimate.max() < 0:
        raise ValueError("The estimate labels no object (all labels are -1): it has no clusters.")
    weights = checked_weights(weights, len(partitions.flat))
    return memberships(estimate.astype(np.int64), condense(partitions, weights))


def memberships(estimate: np.ndarray, draws: Condensed) -> np.ndarray:
    """The same from draws that are condensed already; refused where it would take more than ``MOST_CELLS`` numbers."""
    if is_large(estimate, draws):
        n_clusters = int(estimate.max()) + 1
        raise ValueError(
            f"Probabilities of {len(estimate):,} objects in {n_clusters:,} clusters need"
            f" {8 * _n_cells(estimate, draws) / 1e9:.1f} GB of memory: limit the estimate with max_clusters=, or read"
            " confidence, which needs none."
        )
    n_clusters = int(estimate.max()) + 1
    columns, own, inverse, counts = _parted(estimate, draws)
    distinct = draws.labels
    if not np.array_equal(columns, np.arange(distinct.shape[1])):
        distinct = np.take(distinct, columns, axis=1)
    shares = np.zeros((len(counts), n_clusters))
    observed = np.zeros(shares.shape if draws.partial else (0, 0))
    n_labels = int(distinct.max()) + 1
    alone = np.bincount(estimate[estimate >= 0], minlength=n_clusters) == 1
    add_memberships(own, distinct, draws.weights, counts, alone, n_labels, draws.partial, shares, observed)
    if draws.partial:
        shares /= np.where(observed > 0, observed, 1.0)
    return _normalized(shares, own)[inverse]


def is_large(estimate: np.ndarray, draws: Condensed) -> bool:
    """Whether the probabilities of all clusters, or the tables that they are made from, are too large."""
    return _n_cells(estimate, draws) > MOST_CELLS


def own_memberships(estimate: np.ndarray, draws: Condensed) -> np.ndarray:
    """Probability of every object's own label, nan without one, in memory that is linear in objects.

    Draws must label all objects or none: otherwise the denominators differ from cluster to cluster.
    """
    if draws.partial and not np.array_equal((draws.labels < 0).all(axis=0), (draws.labels < 0).any(axis=0)):
        raise ValueError(
            f"The confidence of {len(estimate):,} objects in {int(estimate.max()) + 1:,} clusters needs too much memory"
            " where draws leave objects out: limit the estimate with max_clusters=."
        )
    columns, own, inverse, counts = _parted(estimate, draws)
    seen = (own >= 0) & (draws.labels[0, columns] >= 0)
    own, counts, columns = own[seen], counts[seen], columns[seen]
    sizes = np.bincount(own, weights=counts)
    alone = sizes[own] == 1
    mine, total = np.zeros(len(own)), np.zeros(len(own))
    for weight, row in zip(draws.weights, draws.labels):
        labels = row[columns].astype(np.int64)
        pairs, cell = np.unique(labels * len(sizes) + own, return_inverse=True)
        shared = np.bincount(cell.ravel(), weights=counts)
        share = shared / sizes[pairs % len(sizes)]
        in_draw = np.bincount(pairs // len(sizes), weights=share)
        with_own = (shared[cell.ravel()] - 1.0) / np.maximum(sizes[own] - 1.0, 1.0)
        company = np.bincount(labels, weights=counts)
        with_own = np.where(alone, company[labels] == 1, with_own)
        mine += weight * with_own
        total += weight * (in_draw[labels] - share[cell.ravel()] + with_own)
    found = np.full(len(seen), np.nan)
    found[seen] = np.divide(mine, total, out=np.ones(len(own)), where=total > 0)
    return found[inverse]


def _parted(estimate: np.ndarray, draws: Condensed) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Atoms parted by label: their column among the draws' atoms, label, the atom of every object, objects per atom."""
    n_clusters = int(estimate.max()) + 1
    keys = draws.inverse * (n_clusters + 1) + estimate + 1
    atoms, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    columns, own = np.divmod(atoms, n_clusters + 1)
    return columns, own - 1, inverse.ravel(), counts


def _n_cells(estimate: np.ndarray, draws: Condensed) -> int:
    """Numbers that the probabilities and the tables of a few draws hold."""
    n_clusters, n_labels = int(estimate.max()) + 1, int(draws.labels.max()) + 1
    return n_clusters * (len(estimate) + 2 * DRAWS_TOGETHER * n_labels)


def _normalized(shares: np.ndarray, own: np.ndarray) -> np.ndarray:
    totals = shares.sum(axis=1)
    empty = np.flatnonzero(totals <= 0)
    labelled = empty[own[empty] >= 0]
    shares[empty] = 1.0 / shares.shape[1]
    shares[labelled] = 0.0
    shares[labelled, own[labelled]] = 1.0
    totals[empty] = 1.0
    return shares / totals[:, None]


def runners_up(labels: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """The most probable cluster of every object besides its own label; -1 where there is only one cluster."""
    if probabilities.shape[1] < 2:
        return np.full(labels.size, -1, dtype=np.int64)
    others = probabilities.copy()
    others[np.arange(labels.size), labels] = -1.0
    return others.argmax(axis=1)
