"""One partition to report, and how surely each object belongs where it was put."""

from dataclasses import dataclass

import numpy as np

from partita.parameters import choose
from partita.partitions import Partitions, by_size
from partita.posterior.condensing import condense
from partita.posterior.losses import VI
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
    labels = by_size(partitions.flat[draw])
    probabilities = memberships(labels, draws)
    return Estimate(
        labels=labels,
        expected_loss=float(losses[best]),
        n_clusters=probabilities.shape[1],
        probabilities=probabilities,
        confidence=_own(probabilities, labels),
        draw=draw,
    )


def _own(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    own = probabilities[np.arange(len(labels)), labels]
    return np.where(labels >= 0, own, np.nan)
