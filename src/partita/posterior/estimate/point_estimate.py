"""One partition to report, and how surely each object belongs where it was put."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from partita.parameters import is_number, jobs, seed_from, whole_number
from partita.partitions import Partitions, by_size, canonical
from partita.posterior.condensing import Condensed, condense
from partita.posterior.entropy import effective_draws, entropy_weights, resampled_weights, warn_if_few
from partita.posterior.estimate.comparing import evenly_spaced, n_labels
from partita.posterior.estimate.expected import least_of
from partita.posterior.estimate.holding import holds
from partita.posterior.estimate.limits import Limits
from partita.posterior.estimate.losses import VI, Loss, loss_from
from partita.posterior.estimate.search import Run, SearchResult, search
from partita.posterior.membership import is_large, memberships, own_memberships, parted_by
from partita.posterior.support import MOST_CLUSTERS, Support, support_of
from partita.running.cached import cached_property
from partita.running.crew import Crew

MAJORITY = 0.5
"""Support from which most draws agree."""

_TIE = 1e-12


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
    support : Support
        For every cluster how much of its objects' company is its own, how often its pairs are together, and how often
        it is apart from the nearest other: see `Support`. Computed when first asked for.
    support_cost : float
        What the expected loss would be less if clusters needed no support (``min_support=0``).
    diffuse : bool
        Whether the draws do not determine groups: every object alone would have the smaller expected loss, or all are
        in one cluster although most pairs are apart more often than together.
    verdict : str
        One plain sentence on what the draws say for the groups.
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
    support_cost: float = 0.0

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

    @cached_property
    def support(self) -> Support:
        """How well the draws hold every cluster together and apart."""
        labels = np.full(len(self.draws.counts), -1)
        labels[self.draws.inverse] = self.labels
        return support_of(labels, self.draws)

    @cached_property
    def diffuse(self) -> bool:
        """Whether the draws do not determine groups."""
        if self.n_clusters == 1:
            return bool(self.support.together[0] < MAJORITY)
        if self.n_clusters == np.count_nonzero(self.labels >= 0):
            return bool(np.nanmean(self.confidence) < MAJORITY)  # how often they are alone
        alone = self.loss.expected_alone(self.draws)
        return alone < self.expected_loss - _TIE * max(1.0, self.expected_loss)

    @property
    def verdict(self) -> str:
        """One plain sentence on what the draws say for the groups."""
        if self.diffuse:
            return f"The draws do not determine groups: {self._why_diffuse()}."
        if self.n_clusters > MOST_CLUSTERS:
            return f"{self.n_clusters:,} groups are too many to say how well the draws hold each."
        n_weak = int((self.support.least < MAJORITY).sum())
        if n_weak:
            return f"Most draws do not keep {n_weak} of {self.n_clusters} groups to themselves."
        one = self.n_clusters == 1
        return "Most draws hold all objects together." if one else "Most draws keep every group to itself."

    def _why_diffuse(self) -> str:
        if self.n_clusters == 1:
            return f"two objects are together with probability {self.support.together[0]:.2f}, and no group stands out"
        return "every object on its own would be nearer to them than any groups"

    def __repr__(self) -> str:
        return (
            f"Estimate({self.n_clusters} cluster{'s' * (self.n_clusters > 1)} of {len(self.labels)} objects,"
            f" expected loss {self.expected_loss:.4g} under {self.loss!r})"
        )


@dataclass(frozen=True)
class EstimateOptions:
    """How to search: see `Posterior.estimate`. ``runs`` of None is what can be afforded."""

    max_clusters: int | str | None = None
    min_size: int | None = None
    min_support: float = 0.0
    runs: int | None = 16
    n_jobs: int | None = -1
    random_state: Any = 0

    def __post_init__(self) -> None:
        """Refuse values outside their range, whatever the search will need of them."""
        for name in ("max_clusters", "min_size", "runs"):
            if getattr(self, name) is not None and (name, getattr(self, name)) != ("max_clusters", "n"):
                whole_number(name, getattr(self, name), 1, also="'n'" if name == "max_clusters" else "")
        if not (is_number(self.min_support) and 0 <= self.min_support <= 1):
            raise ValueError(f"min_support must be a number from 0 to 1, got {self.min_support!r}.")
        jobs(self.n_jobs)

    def limits(self, n_objects: int, n_drawn: int) -> Limits:
        """The limits on a partition of so many labelled objects, where the largest draw has so many clusters."""
        most: Any = n_drawn if self.max_clusters is None else self.max_clusters
        most = n_objects if most == "n" else most
        least = 1 if self.min_size is None else self.min_size
        if least > n_objects:
            raise ValueError(f"min_size is {least}, but there are only {n_objects} labelled objects: lower it.")
        return Limits(min(most, n_objects), least, bind=most < n_objects or least > 1)

    def seed(self) -> np.random.SeedSequence:
        """The root of the search's random numbers."""
        if isinstance(self.random_state, np.random.SeedSequence):
            return self.random_state
        return seed_from(self.random_state)


DRAWS_TRIED = 1000
"""Draws of which the best is the first start; of more, so many, evenly spaced in weight."""

MOST_APART = 10_000
"""Objects up to which those that no draw parts may be parted to obey ``min_size``."""


def estimate(
    partitions: Partitions,
    weights: np.ndarray,
    loss: Any,
    options: EstimateOptions,
    *,
    entropy: float = 0.0,
    resample: bool = False,
    groups: np.ndarray | None = None,
    crew: Crew | None = None,
) -> Estimate:
    """Find a partition of least expected loss; see `Posterior.estimate`.

    When the ``crew`` is over, no start but the first is begun.

    Objects of equal number in ``groups`` stay together. Under VI and Binder's loss they move as one: the first run
    starts from the best of the draws after every group has moved to the cluster that holds most of it. Under other
    losses objects move singly, and at the end every group goes to the cluster that holds most of it.
    """
    measure = loss_from(loss)
    seed = options.seed()
    used = entropy_weights(partitions, weights, entropy)
    warn_if_few(used, weights, f"entropy = {float(entropy):g}", instead="one nearer to 0")
    if resample:
        used = resampled_weights(used, len(used), np.random.default_rng(seed.spawn(1)[0]))
    together = options.min_size in (None, 1) or partitions.n_objects > MOST_APART
    draws = condense(partitions, used, merge_objects=together)
    units = np.arange(len(draws.counts))
    if groups is not None:
        draws, units = _parted(draws, groups)
    estimation = _Estimation(measure, draws, units, replace(options, random_state=seed), crew or Crew(options.n_jobs))
    limits = options.limits(estimation.n_objects, n_labels(draws.labels))
    estimated = estimation.estimate(limits, effective_draws(used))
    if options.max_clusters is None and estimated.n_clusters == estimation.n_objects > 1 and estimated.diffuse:
        estimated = estimation.estimate(
            replace(limits, max_clusters=estimation.n_objects - 1, bind=True), estimated.ess
        )
    return estimated


def estimate_given(
    labels: np.ndarray,
    partitions: Partitions,
    weights: np.ndarray,
    loss: Any,
    *,
    entropy: float = 0.0,
    support_cost: float = 0.0,
) -> Estimate:
    """The estimate that these labels are, 0 the largest cluster; nothing is searched for."""
    measure = loss_from(loss)
    used = entropy_weights(partitions, weights, entropy)
    draws = parted_by(labels, condense(partitions, used))
    of_atoms = np.empty(len(draws.counts), np.int64)
    of_atoms[draws.inverse] = labels
    expected = float(measure.expected(of_atoms[None], draws)[0])
    n_clusters = int(labels.max()) + 1
    return Estimate(labels, expected, n_clusters, effective_draws(used), [], measure, draws, support_cost)


@dataclass(frozen=True)
class _Estimation:
    """A loss, draws, the units of their atoms that stay together, how to search, and by whom."""

    loss: Loss
    draws: Condensed
    units: np.ndarray
    options: EstimateOptions
    crew: Crew

    @property
    def n_objects(self) -> int:
        """Objects that some draw labels."""
        return _n_labelled(self.draws)

    def estimate(self, limits: Limits, ess: float) -> Estimate:
        """The partition of the objects, the largest cluster first."""
        found = self._found(limits)
        labels = by_size(found.labels[self.draws.inverse])
        n_clusters = int(labels.max()) + 1
        return Estimate(labels, found.loss, n_clusters, ess, found.runs, self.loss, self.draws, found.support_cost)

    def _found(self, limits: Limits) -> SearchResult:
        answers = self.loss.answers(self.draws, limits)
        if answers is not None:
            return self._best_of(answers, limits)
        if self.loss.adds:
            return self._search(self.loss, _tied(self.draws, self.units), self.units, limits)
        found = self._search(self.loss, self.draws.labels, np.arange(len(self.units)), limits)
        return self._with_units(found)

    def _search(self, loss: Loss, candidates: np.ndarray, units: np.ndarray, limits: Limits) -> SearchResult:
        """Search from the best of the candidates, and from other starts.

        Of the candidates those count that obey the limits, if any do, and of these those that label the most objects.
        """
        draws, options = self.draws, self.options
        labelled = (draws.labels >= 0) @ draws.counts if draws.partial else np.zeros(len(candidates))
        if limits.bind:
            allowed = np.array([limits.allow(labels, draws.counts) for labels in candidates])
            labelled = np.where(allowed, labelled, -1) if allowed.any() else labelled
        tried = np.flatnonzero(labelled == labelled.max())
        if len(tried) > DRAWS_TRIED:
            tried = tried[evenly_spaced(draws.weights[tried], DRAWS_TRIED)[0]]
        candidates = candidates[tried]
        best, _ = least_of(loss, candidates, draws)
        return search(
            loss,
            draws,
            units,
            candidates[best].astype(np.int64),
            limits=limits,
            min_support=options.min_support,
            runs=options.runs,
            seed=options.seed(),
            crew=self.crew,
        )

    def _best_of(self, answers: list[np.ndarray], limits: Limits) -> SearchResult:
        """The best of these that has the support; where there is none, the partition of least expected VI."""
        tried = [labels for labels in answers if self._holds(labels)]
        if not tried:
            warnings.warn(
                "No draw obeys max_clusters, min_size and min_support: the estimate is that of 'vi'.",
                UserWarning,
                stacklevel=5,
            )
            tried = [self._search(VI(), _tied(self.draws, self.units), self.units, limits).labels]
        losses = self.loss.expected(np.stack(tried), self.draws)
        labels, loss = tried[int(np.argmin(losses))], float(losses.min())
        return self._with_units(SearchResult(labels, loss, [Run("draw", loss, int(labels.max()) + 1, 0)]))

    def _holds(self, labels: np.ndarray) -> bool:
        least = self.options.min_support
        return least == 0 or labels.max() >= MOST_CLUSTERS or holds(support_of(labels, self.draws), least)

    def _with_units(self, found: SearchResult) -> SearchResult:
        """The partition after every unit has moved to the cluster that holds most of it."""
        if len(np.unique(self.units)) == len(self.units):
            return found
        seen = np.flatnonzero(found.labels >= 0)
        labels = found.labels.copy()
        labels[seen] = _majority(labels[seen], self.units[seen], self.draws.counts[seen])
        loss = float(self.loss.expected(canonical(labels)[None], self.draws)[0])
        return replace(found, labels=canonical(labels), loss=loss)


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
