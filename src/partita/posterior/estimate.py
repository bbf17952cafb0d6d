"""One partition to report, and how surely each object belongs where it was put."""

from dataclasses import dataclass, replace

import numpy as np

from partita.parameters import choose
from partita.partitions import Partitions, by_size
from partita.posterior.condensing import Condensed, condense
from partita.posterior.losses import VI
from partita.posterior.membership import memberships
from partita.posterior.sweetening import sweeten

LOSSES = {"vi": VI}


@dataclass(frozen=True)
class Estimate:
    """A point estimate of the partition. It need not be one of the draws.

    Attributes
    ----------
    labels : (n_objects,) int64 array
        0, 1, ... from the largest cluster to the smallest, ties by first object.
    expected_loss : float
        Mean loss of the estimate over all draws, exactly; never more than that of the best draw.
    n_clusters : int
    probabilities : (n_objects, n_clusters) array
        See `membership_probabilities`; rows sum to 1.
    confidence : (n_objects,) array
        The probability of the object's own label; nan for an object without one.
    draw : int
        The (first) draw that the search started from, an index into ``Posterior.draws``: of the draws it has the
        least expected loss.
    """

    labels: np.ndarray
    expected_loss: float
    n_clusters: int
    probabilities: np.ndarray
    confidence: np.ndarray
    draw: int


def estimate(partitions: Partitions, weights: np.ndarray, loss: str | VI) -> Estimate:
    """Find the draw of least expected loss among those that label the most objects, and descend from it.

    Equal draws and equal objects are counted once; equal objects move as one. Cost: see `least_expected_vi` and
    `sweeten`.
    """
    measure = loss if isinstance(loss, VI) else choose("loss", loss, LOSSES)()
    draws = condense(partitions, weights)
    return _search(measure, draws, draws.labels, np.arange(len(draws.counts)))


def estimate_tied(partitions: Partitions, weights: np.ndarray, groups: np.ndarray) -> Estimate:
    """Find a partition of little expected variation of information that keeps groups of objects together.

    The search starts from the best of the draws after every group has moved to the cluster that holds most of it,
    and moves groups as one; with groups of one object each it is that of `estimate`.
    """
    draws, units = _parted(condense(partitions, weights), groups)
    return _search(VI(), draws, _tied(draws, units), units)


def _search(measure: VI, draws: Condensed, candidates: np.ndarray, units: np.ndarray) -> Estimate:
    """The best candidate, sweetened; atoms of one unit stay together."""
    if draws.labels.max() < 0:
        raise ValueError("No draw labels any object (all labels are -1): there is nothing to estimate.")
    labelled = (draws.labels >= 0) @ draws.counts if draws.partial else np.zeros(len(draws.draws))
    eligible = np.flatnonzero(labelled == labelled.max())
    if len(eligible) < len(candidates):
        candidates = candidates[eligible]
    best, _ = measure.least_expected(candidates, draws)
    start = candidates[best].astype(np.int64)
    pair = np.stack([start, sweeten(start, draws, units)])
    better, losses = measure.least_expected(pair, draws)
    return _estimate_of(pair[better][draws.inverse], draws, losses[better], int(draws.draws[eligible[best]]))


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


def _parted(draws: Condensed, groups: np.ndarray) -> tuple[Condensed, np.ndarray]:
    """Draws with the atoms of unlike objects split by group, and the unit of every atom.

    A group whose objects have more than one atom is a unit; the other objects of an atom are one unit.
    """
    n_atoms = len(draws.counts)
    least, most = np.full(int(groups.max()) + 1, n_atoms), np.full(int(groups.max()) + 1, -1)
    np.minimum.at(least, groups, draws.inverse)
    np.maximum.at(most, groups, draws.inverse)
    if not np.any(least < most):
        return draws, np.arange(n_atoms)
    unit = np.where((least < most)[groups], n_atoms + groups, draws.inverse)
    pairs, inverse, counts = np.unique(unit * n_atoms + draws.inverse, return_inverse=True, return_counts=True)
    units, atoms = np.divmod(pairs, n_atoms)
    labels = np.take(draws.labels, atoms, axis=1)
    return replace(draws, labels=labels, counts=counts, inverse=inverse.ravel()), units


def _tied(draws: Condensed, units: np.ndarray) -> np.ndarray:
    """The draws after every unit has moved to the label that most of its labelled objects have."""
    parted = np.flatnonzero(np.isin(units, units[:-1][units[1:] == units[:-1]]))
    if len(parted) == 0:
        return draws.labels
    candidates = draws.labels.copy()
    for labels in candidates:
        seen = parted[labels[parted] >= 0]
        labels[seen] = _majority(labels[seen].astype(np.int64), units[seen], draws.counts[seen])
    return candidates


def _majority(labels: np.ndarray, units: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The label that most objects of each one's unit have; of several the least."""
    n_labels = labels.max(initial=0) + 1
    pairs, which = np.unique(units * n_labels + labels, return_inverse=True)
    sizes = np.bincount(which.ravel(), weights=counts, minlength=len(pairs))
    by_size = np.lexsort((-sizes, pairs // n_labels))
    unit, first = np.unique(pairs[by_size] // n_labels, return_index=True)
    return (pairs[by_size][first] % n_labels)[np.searchsorted(unit, units)]


def _own(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    own = probabilities[np.arange(len(labels)), labels]
    return np.where(labels >= 0, own, np.nan)
