"""Store equal draws once and equal objects once: every cost after that is per distinct thing."""

from dataclasses import dataclass

import numpy as np

from partita.partitions import Partitions


@dataclass(frozen=True)
class Condensed:
    """Weighted distinct draws of weighted atoms.

    Attributes
    ----------
    labels : (n_distinct, n_atoms) int array
    weights : (n_distinct,) float array
        Summed weights of the equal draws.
    counts : (n_atoms,) int array
        Objects per atom.
    inverse : (n_objects,) int array
        The atom of every object.
    draws : (n_distinct,) int array
        The first draw that equals each distinct one.
    """

    labels: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    inverse: np.ndarray
    draws: np.ndarray

    @property
    def partial(self) -> bool:
        """Whether some draw leaves an object without a label."""
        return bool(self.labels.min() < 0)


def condense(partitions: Partitions, weights: np.ndarray, *, merge_objects: bool = True) -> Condensed:
    """Merge equal objects (if wanted), then equal draws; draws of weight 0 are left out. Cost O(draws x objects)."""
    _, inverse, counts = partitions.atoms()
    labels = partitions.atom_labels()
    if not merge_objects:
        labels, counts, inverse = labels[:, inverse], np.ones(len(inverse), np.int64), np.arange(len(inverse))
    draws, group = _distinct(labels, np.flatnonzero(weights > 0))
    summed = np.bincount(group, weights=weights[weights > 0])
    labels = labels[draws] if len(draws) < len(labels) else labels
    return Condensed(labels, summed, counts, inverse, draws)


def checked_weights(weights: np.ndarray | None, n_draws: int) -> np.ndarray:
    """Weights of draws as float64 that sum to 1; ``None`` is equal weights."""
    if weights is None:
        return np.full(n_draws, 1.0 / n_draws)
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError("weights must be numbers, one per draw.") from None
    if given.shape != (n_draws,):
        raise ValueError(f"weights must have one entry per draw, shape ({n_draws},); got {given.shape}.")
    bad = np.flatnonzero(~np.isfinite(given) | (given < 0))
    if len(bad):
        raise ValueError(f"The weight of draw {bad[0]} is {given[bad[0]]}: weights must be finite and non-negative.")
    largest = given.max()
    if largest <= 0:
        raise ValueError("weights are all 0: at least one draw needs a positive weight.")
    if largest > np.finfo(np.float64).max / n_draws:
        given = given / largest
    total = given.sum()
    # Weights that sum to 1 up to rounding stay as they are: saving and loading change nothing.
    return given.copy() if abs(total - 1.0) < 1e-12 else given / total


def _distinct(labels: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First rows of every group of equal rows, and the group of each; equal hashes are compared."""
    first: list[int] = []
    by_hash: dict[int, list[int]] = {}
    group = np.empty(len(rows), np.int64)
    for position, row in enumerate(rows):
        known = by_hash.setdefault(hash(labels[row].tobytes()), [])
        match = next((g for g in known if np.array_equal(labels[first[g]], labels[row])), None)
        if match is None:
            match = len(first)
            known.append(match)
            first.append(int(row))
        group[position] = match
    return np.array(first, np.int64), group
