"""How surely each object belongs to each estimated cluster, from draws alone."""

from dataclasses import replace
from typing import Any

import numpy as np

from partita.kernels.contingency import DRAWS_TOGETHER, add_memberships
from partita.partitions import Partitions
from partita.posterior.condensing import Condensed, checked_weights, condense

MOST_CELLS = 1 << 27
"""Numbers that probabilities may take: 1 GiB."""


def membership_probabilities(labels: Any, draws: Any, weights: Any = None) -> np.ndarray:
    """Probability that object i belongs to estimated cluster k, (n_objects, n_clusters).

    The share of i's company that is in the cluster, on average over the draws:

        p_ik = sum_b w_b |C_b(i) without i, in T_k| / |C_b(i) without i|,

    C_b(i) the cluster of i in draw b, T_k the estimated one. A draw in which i is alone counts for i's own cluster.
    Rows sum to 1, and an object that wanders changes the others' by about one over the size of their cluster at most.

    Parameters
    ----------
    labels : array-like of int, (n_objects,)
        The estimate, labels 0 .. K - 1; -1 for an object that it leaves out.
    draws : Partitions or array-like of int, (n_draws, n_objects)
    weights : array-like, (n_draws,), optional
        Non-negative; equal by default.

    Notes
    -----
    C_b(i) are objects that both draw b and the estimate label, and the mean is over the draws that label i. An object
    in no draw is certain of its own label; one that the estimate leaves out and that never has company is spread
    evenly.

    Cost O(draws x atoms x K); equal draws and equal objects are counted once.

    Examples
    --------
    >>> membership_probabilities([0, 0, 1, 1], [[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]).round(2)
    array([[1.  , 0.  ],
           [0.67, 0.33],
           [0.17, 0.83],
           [0.17, 0.83]])
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
    """Probabilities from draws that are condensed already; refused where they would be more than ``MOST_CELLS``."""
    if is_large(estimate, draws):
        n_clusters = int(estimate.max()) + 1
        raise ValueError(
            f"Probabilities of {len(estimate):,} objects in {n_clusters:,} clusters need"
            f" {8 * _n_cells(estimate, draws) / 1e9:.1f} GB of memory: limit the estimate with max_clusters=, or read"
            " confidence, which needs none."
        )
    columns, own, inverse, counts = _parted(estimate, draws)
    distinct = draws.labels
    if not np.array_equal(columns, np.arange(distinct.shape[1])):
        distinct = np.take(distinct, columns, axis=1)
    shares = np.zeros((len(counts), int(estimate.max()) + 1))
    add_memberships(own, distinct, draws.weights, counts, int(distinct.max()) + 1, shares)
    return _normalized(shares, own)[inverse]


def is_large(estimate: np.ndarray, draws: Condensed) -> bool:
    """Whether the probabilities of all clusters, or the tables that they are made from, are too large."""
    return _n_cells(estimate, draws) > MOST_CELLS


def own_memberships(estimate: np.ndarray, draws: Condensed) -> np.ndarray:
    """Probability of every object's own label, nan without one, in memory that is linear in objects."""
    columns, own, inverse, counts = _parted(estimate, draws)
    n_clusters = int(estimate.max()) + 1
    mine, total = np.zeros(len(own)), np.zeros(len(own))
    for weight, row in zip(draws.weights, draws.labels):
        seen = np.flatnonzero((row[columns] >= 0) & (own >= 0))
        labels = row[columns[seen]].astype(np.int64)
        company = np.bincount(labels, weights=counts[seen])[labels] - 1.0
        _, cell = np.unique(labels * n_clusters + own[seen], return_inverse=True)
        of_own = np.bincount(cell.ravel(), weights=counts[seen])[cell.ravel()] - 1.0
        mine[seen] += weight * np.where(company > 0, of_own / np.maximum(company, 1.0), 1.0)
        total[seen] += weight
    confidence = np.divide(mine, total, out=np.ones(len(own)), where=total > 0)
    return np.where(own >= 0, confidence, np.nan)[inverse]


def parted_by(estimate: np.ndarray, draws: Condensed) -> Condensed:
    """The draws with atoms such that all objects of one have the same label in the estimate."""
    columns, _, inverse, counts = _parted(estimate, draws)
    return replace(draws, labels=np.take(draws.labels, columns, axis=1), counts=counts, inverse=inverse)


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
    return n_clusters * (len(estimate) + DRAWS_TOGETHER * n_labels)


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
