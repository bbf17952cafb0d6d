"""One partition to report, and how surely each object belongs where it was put."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from partita.cached import cached_property
from partita.parameters import jobs, seed_from, whole_number
from partita.partitions import Partitions, by_size
from partita.posterior.condensing import Condensed, condense
from partita.posterior.descent import Limits
from partita.posterior.entropy import effective_draws, entropy_weights, resampled_weights, warn_if_few
from partita.posterior.expected import expected_losses, least_of
from partita.posterior.losses import VI, Loss, ZeroOne, loss_from
from partita.posterior.membership import is_large, memberships, own_memberships
from partita.posterior.search import Run, search
from partita.posterior.zero_one import most_probable


@dataclass(frozen=True)
class Estimate:
    """A point estimate of the partition. It need not be one of the draws.

    Attributes
    ----------
    labels : (n_objects,) int64 array
        0, 1, ... from the largest cluster to the smallest, ties by first object; -1 for an object that no draw labels.
    expected_loss : float
        Weighted mean of the loss over all draws, exactly.
    n_clusters : int
    probabilities : (n_objects, n_clusters) array
        See `membership_probabilities`; rows sum to 1. Computed when first asked for.
    confidence : (n_objects,) array
        The probability of the object's own label; nan for an object without one.
    ess : float
        Effective number of draws that the estimate rests on, 1 / sum of squared weights.
    runs : list of Run
        Every start of the search, its expected loss and its scans.
    loss : Loss
    draws : Condensed
        The draws and weights that it is the estimate of.
    """

    labels: np.ndarray
    expected_loss: float
    n_clusters: int
    ess: float
    runs: list[Run]
    loss: Loss
    draws: Condensed = field(repr=False)

    @cached_property
    def probabilities(self) -> np.ndarray:
        """How probably each object belongs to each cluster; refused where that would take more than 1 GiB."""
        return memberships(self.labels, self.draws)

    @cached_property
    def confidence(self) -> np.ndarray:
        """The probability of every object's own label."""
        if is_large(self.labels, self.draws):
            return own_memberships(self.labels, self.draws)
        own = self.probabilities[np.arange(len(self.labels)), self.labels]
        return np.where(self.labels >= 0, own, np.nan)

    def __repr__(self) -> str:
        return (
            f"Estimate({self.n_clusters} cluster{'s' * (self.n_clusters > 1)} of {len(self.labels)} objects,"
            f" expected loss {self.expected_loss:.4g} under {self.loss!r})"
        )


@dataclass(frozen=True)
class Options:
    """How to search: see `Posterior.estimate`. ``runs`` of None is what can be afforded.

    After the ``deadline``, a reading of `partita.clock.running_seconds`, no start but the first is begun.
    """

    max_clusters: int | None = None
    min_size: int | None = None
    runs: int | None = 16
    n_jobs: int | None = None
    random_state: Any = None
    deadline: float | None = None

    def __post_init__(self) -> None:
        """Refuse values outside their range, whatever the search will need of them."""
        for name in ("max_clusters", "min_size", "runs"):
            if getattr(self, name) is not None:
                whole_number(name, getattr(self, name), 1)
        jobs(self.n_jobs)

    def limits(self, n_objects: int) -> Limits:
        """The limits on a partition of so many labelled objects."""
        most = n_objects if self.max_clusters is None else self.max_clusters
        least = 1 if self.min_size is None else self.min_size
        if least > n_objects:
            raise ValueError(f"min_size is {least}, but there are only {n_objects} labelled objects: lower it.")
        return Limits(min(most, n_objects), least, bind=most < n_objects or least > 1)

    def n_workers(self) -> int:
        """Threads at the same time; None is all cores."""
        return effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs)

    def seed(self) -> np.random.SeedSequence:
        """None is a fixed seed, so that the same draws give the same answer."""
        if isinstance(self.random_state, np.random.SeedSequence):
            return self.random_state
        return seed_from(0 if self.random_state is None else self.random_state)


MOST_APART = 10_000
"""Objects up to which those that no draw parts may be parted to obey ``min_size``."""


def estimate(
    partitions: Partitions,
    weights: np.ndarray,
    loss: Any,
    options: Options,
    *,
    entropy: float = 0.0,
    resample: bool = False,
) -> Estimate:
    """Find a partition of least expected loss; see `Posterior.estimate`."""
    measure = loss_from(loss)
    seed = options.seed()
    used = entropy_weights(partitions, weights, entropy)
    warn_if_few(used, weights, f"entropy = {float(entropy):g}", instead="one nearer to 0")
    if resample:
        used = resampled_weights(used, len(used), np.random.default_rng(seed.spawn(1)[0]))
    together = options.min_size in (None, 1) or partitions.n_objects > MOST_APART
    draws = condense(partitions, used, merge_objects=together)
    units = np.arange(len(draws.counts))
    return _estimate(measure, draws, draws.labels, units, replace(options, random_state=seed), effective_draws(used))


def estimate_tied(partitions: Partitions, weights: np.ndarray, groups: np.ndarray, options: Options) -> Estimate:
    """Find a partition of little expected variation of information that keeps groups of objects together.

    The first run starts from the best of the draws after every group has moved to the cluster that holds most of it,
    and all move groups as one; with groups of one object each it is `estimate`.
    """
    draws, units = _parted(condense(partitions, weights), groups)
    return _estimate(VI(), draws, _tied(draws, units), units, options, effective_draws(weights))


def _estimate(
    loss: Loss, draws: Condensed, candidates: np.ndarray, units: np.ndarray, options: Options, ess: float
) -> Estimate:
    n_objects = _n_labelled(draws)
    limits = options.limits(n_objects)
    if isinstance(loss, ZeroOne):
        found, expected, runs = _most_probable(draws, limits, options)
    else:
        found, expected, runs = _search(loss, draws, candidates, units, limits, options)
    labels = by_size(found[draws.inverse])
    return Estimate(labels, float(expected), int(labels.max()) + 1, float(ess), runs, loss, draws)


def _search(
    loss: Loss, draws: Condensed, candidates: np.ndarray, units: np.ndarray, limits: Limits, options: Options
) -> tuple[np.ndarray, float, list[Run]]:
    """Search from the best of the candidates, and from other starts.

    Of the candidates those count that obey the limits, if any do, and of these those that label the most objects.
    """
    labelled = (draws.labels >= 0) @ draws.counts if draws.partial else np.zeros(len(candidates))
    if limits.bind:
        allowed = np.array([limits.allow(labels, draws.counts) for labels in candidates])
        labelled = np.where(allowed, labelled, -1) if allowed.any() else labelled
    candidates = candidates[np.flatnonzero(labelled == labelled.max())]
    best, _ = least_of(loss, candidates, draws)
    return search(
        loss,
        draws,
        units,
        candidates[best].astype(np.int64),
        limits=limits,
        runs=options.runs,
        n_jobs=options.n_workers(),
        seed=options.seed(),
        deadline=options.deadline,
    )


def _most_probable(draws: Condensed, limits: Limits, options: Options) -> tuple[np.ndarray, float, list[Run]]:
    """The most probable partition; where the limits allow none that was drawn, that of least expected VI."""
    tried = most_probable(draws, limits)
    if not tried:
        warnings.warn(
            "No draw obeys max_clusters and min_size: the estimate is that of 'vi'.", UserWarning, stacklevel=5
        )
        units = np.arange(len(draws.counts))
        tried = [_search(VI(), draws, draws.labels, units, limits, options)[0]]
    found = tried[0]
    if len(tried) > 1:
        found = tried[int(np.argmin(expected_losses(ZeroOne(), np.stack(tried), draws)))]
    loss = min(1.0, float(expected_losses(ZeroOne(), found[None], draws)[0]))
    return found, loss, [Run("draw", loss, int(found.max()) + 1, 0)]


def _n_labelled(draws: Condensed) -> int:
    """Objects that some draw labels."""
    n_labelled = int(draws.counts[(draws.labels >= 0).any(axis=0)].sum()) if draws.partial else int(draws.counts.sum())
    if n_labelled == 0:
        raise ValueError("No draw labels any object (all labels are -1): there is nothing to estimate.")
    return n_labelled


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
