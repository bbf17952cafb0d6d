"""One partition to report, and how surely each object belongs where it was put."""

from dataclasses import dataclass

import numpy as np

from partita.parameters import choose
from partita.partitions import Partitions, by_size
from partita.posterior.condensing import Condensed, condense
from partita.posterior.losses import VI, least_expected_vi
from partita.posterior.membership import memberships

LOSSES = {"vi": VI}


@dataclass(frozen=True)
class Estimate:
    """A point estimate of the partition.

    Attributes
    ----------
    labels : (n_objects,) int64 array
        0, 1, ... from the largest cluster to the smallest, ties by first object.
    expected_loss : float
        Mean loss of the estimate over the draws.
    n_clusters : int
    probabilities : (n_objects, n_clusters) array
        See `membership_probabilities`; rows sum to 1.
    confidence : (n_objects,) array
        The probability of the object's own label; nan for an object without one.
    draw : int
        The (first) draw that is the estimate, an index into ``Posterior.draws``.
    """

    labels: np.ndarray
    expected_loss: float
    n_clusters: int
    probabilities: np.ndarray
    confidence: np.ndarray
    draw: int


def estimate(partitions: Partitions, weights: np.ndarray, loss: str | VI) -> Estimate:
    """Find the draw of least expected loss among those that label the most objects.

    Equal draws and equal objects are counted once. Cost: see `least_expected_vi`.
    """
    measure = loss if isinstance(loss, VI) else choose("loss", loss, LOSSES)()
    draws = condense(partitions, weights)
    if draws.labels.max() < 0:
        raise ValueError("No draw labels any object (all labels are -1): there is nothing to estimate.")
    labelled = (draws.labels >= 0) @ draws.counts if draws.partial else np.zeros(len(draws.draws))
    eligible = np.flatnonzero(labelled == labelled.max())
    candidates = draws.labels[eligible] if len(eligible) < len(draws.labels) else draws.labels
    best, losses = measure.least_expected(candidates, draws)
    draw = int(draws.draws[eligible[best]])
    return _estimate_of(partitions.flat[draw], draws, losses[best], draw)


def estimate_tied(partitions: Partitions, weights: np.ndarray, groups: np.ndarray) -> Estimate:
    """Find the partition of least expected variation of information that keeps groups of objects together.

    Candidates are the draws after every group has moved to the cluster that holds most of it; with groups
    of one object each they are the draws themselves.
    """
    if np.unique(groups).size == groups.size:
        return estimate(partitions, weights, "vi")
    candidates = np.array(partitions.flat)
    for labels in candidates:
        _tie(labels, groups)
    best, losses = least_expected_vi(candidates, partitions.flat, weights)
    return _estimate_of(candidates[best], condense(partitions, weights), losses[best], best)


def _estimate_of(chosen: np.ndarray, draws: Condensed, loss: float, draw: int) -> Estimate:
    labels = by_size(chosen)
    probabilities = memberships(labels, draws)
    return Estimate(
        labels=labels,
        expected_loss=float(loss),
        n_clusters=probabilities.shape[1],
        probabilities=probabilities,
        confidence=_own(probabilities, labels),
        draw=draw,
    )


def _tie(labels: np.ndarray, groups: np.ndarray) -> None:
    """Move every group, in place, to the label that most of its labelled objects have."""
    seen = np.flatnonzero(labels >= 0)
    n_labels = int(labels.max()) + 1
    pairs, counts = np.unique(groups[seen] * n_labels + labels[seen], return_counts=True)
    by_count = np.lexsort((-counts, pairs // n_labels))
    group, first = np.unique(pairs[by_count] // n_labels, return_index=True)
    majority = np.full(int(groups.max()) + 1, -1, dtype=labels.dtype)
    majority[group] = pairs[by_count][first] % n_labels
    labels[seen] = majority[groups[seen]]


def _own(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    own = probabilities[np.arange(len(labels)), labels]
    return np.where(labels >= 0, own, np.nan)
