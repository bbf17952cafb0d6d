"""From many starts to one partition of little expected loss: SALSO (Dahl, Johnson and Mueller, 2022)."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from partita.partitions import canonical
from partita.posterior.condensing import Condensed
from partita.posterior.estimate.descent import Problem
from partita.posterior.estimate.holding import held
from partita.posterior.estimate.limits import Limits
from partita.posterior.estimate.losses import VI, Loss
from partita.running.crew import Crew

ALL_WORK = 1e8
"""Elementary steps (about half a nanosecond each) that all runs may take together where their number is free."""

_TIE = 1e-12
_MOST_HELD = 4  # of the partitions found, which are given the support that is asked for


@dataclass(frozen=True)
class SearchResult:
    """Where the search ended.

    Attributes
    ----------
    labels : (n_atoms,) int array
    loss : float
        Its expected loss.
    runs : list of Run
    support_cost : float
        What the expected loss would be less if clusters needed no support.
    """

    labels: np.ndarray
    loss: float
    runs: list["Run"]
    support_cost: float = 0.0


@dataclass(frozen=True)
class Run:
    """One start of the search and where it led.

    Attributes
    ----------
    start : str
        "draw" (the best of the draws), "sequential" (objects one after the other in random order, each where it costs
        least) or "random" (random labels).
    expected_loss : float
        Of the partition found, exactly.
    n_clusters : int
    scans : int
        Passes over all objects.
    """

    start: str
    expected_loss: float
    n_clusters: int
    scans: int


def search(
    loss: Loss,
    draws: Condensed,
    units: np.ndarray,
    best_draw: np.ndarray,
    *,
    limits: Limits,
    min_support: float,
    runs: int | None,
    seed: np.random.SeedSequence,
    crew: Crew,
) -> SearchResult:
    """Find a partition of the atoms of ``draws``.

    A run seats units, then *sweetens*: takes every unit in turn out of its cluster and puts it where the expected
    loss is least, an existing cluster or a new one, until none moves; then *zealous updates* dissolve up to ten
    clusters, one at a time, seat their units anew and sweeten, and keep what is better. The first run starts from
    ``best_draw`` (units at -1 have no seat yet), the others from a sequential or a random allocation in turn. The
    result is the best of all runs, of one single cluster and, where it obeys the limits, of ``best_draw`` itself.
    Where clusters need support, the best four of these are taken, clusters without it are dissolved (see `held`), and
    the result is the best of what is left of them.

    A single distinct draw that obeys the limits is its own estimate, without a search.

    Atoms of equal number in ``units`` move as one; atoms that no draw labels get -1. Given ``seed`` the result
    does not depend on the number of threads. ``runs`` of None is as many as take ``ALL_WORK`` steps, 1 to 16. Cost: see
    `Problem`. When the ``crew`` is over, the first run goes on to its end, and no other is begun.
    """
    if len(draws.labels) == 1 and limits.allow(best_draw, draws.counts) and np.array_equal(best_draw, draws.labels[0]):
        return SearchResult(best_draw, 0.0, [Run("draw", 0.0, int(best_draw.max()) + 1, 0)])
    problem = _problem(loss, draws, units, limits)
    runs = min(16, max(1, int(ALL_WORK / problem.work))) if runs is None else runs
    starts, found, scans = _found(problem, list(_starts(problem, best_draw, runs, seed)), crew)
    tried = [*found, problem.on_atoms(np.zeros(problem.n_units, np.int64))]
    if np.all(best_draw[problem.kept] >= 0):
        tried.append(canonical(best_draw))
    losses = _expected(loss, tried, draws)
    best = _first_best(losses, tried, draws, limits)
    if problem.reads_some and best < len(found) and not crew.is_over():
        tried.append(problem.polish(tried[best]))
        losses += _expected(loss, tried[-1:], draws)
        best = _first_best(losses, tried, draws, limits)
    records = [
        Run(start, value, int(labels.max()) + 1, n)
        for (start, *_), labels, value, n in zip(starts, found, losses, scans)
    ]
    if min_support == 0 or problem.is_too_large:
        return SearchResult(tried[best], losses[best], records)
    chosen = _best_first(losses, tried, draws, limits)[: 1 if crew.is_over() else _MOST_HELD]
    supported = crew.map(lambda labels: held(problem, labels, min_support, crew.is_over), chosen)
    with_support = _known_or_expected(loss, supported, draws, tried, losses)
    k = _first_best(with_support, supported, draws, limits)
    return SearchResult(supported[k], with_support[k], records, max(0.0, with_support[k] - losses[best]))


def _problem(loss: Loss, draws: Condensed, units: np.ndarray, limits: Limits) -> Problem:
    problem = Problem(loss, draws, units, limits)
    if problem.is_too_large and len(problem.kept) > loss.most_atoms:
        _warn(f"{loss!r} compares all pairs, too many for {len(problem.kept):,} objects: the search was for 'vi'.")
        problem = Problem(VI(), draws, units, limits)
    if problem.is_too_large:
        _warn(
            f"{len(draws.labels):,} draws of up to {problem.n_drawn:,} clusters are too large to search: the"
            " estimate is the best draw. Where fewer clusters will do, limit them with max_clusters."
        )
    return problem


def _found(problem: Problem, starts: list, crew: Crew) -> tuple[list, list[np.ndarray], list[int]]:
    """The starts that there was time for, where they led, as labels of the atoms, and their scans.

    Without a search the first start.
    """
    if problem.is_too_large:
        return starts[:1], [problem.on_atoms(problem.finish_alone(starts[0][1]))], [0]

    def led_to(start: tuple) -> tuple[np.ndarray, int] | None:
        return None if start is not starts[0] and crew.is_over() else problem.descend(*start[1:])

    results = [(start, end) for start, end in zip(starts, crew.map(led_to, starts)) if end is not None]
    found = [problem.on_atoms(labels) for _, (labels, _) in results]
    return [start for start, _ in results], found, [n_scans for _, (_, n_scans) in results]


def _starts(
    problem: Problem, best_draw: np.ndarray, runs: int, seed: np.random.SeedSequence
) -> Iterator[tuple[str, np.ndarray, np.random.Generator]]:
    n_labels = max(1, min(problem.n_drawn, problem.limits.max_clusters))
    for run, child in enumerate(seed.spawn(runs)):
        rng = np.random.Generator(np.random.PCG64(child))
        if run == 0:
            yield "draw", problem.on_units(best_draw), rng
        elif run % 2:
            yield "sequential", np.full(problem.n_units, -1), rng
        else:
            yield "random", canonical(rng.integers(0, n_labels, problem.n_units)), rng


def _warn(words: str) -> None:
    warnings.warn(words, UserWarning, stacklevel=8)


def _expected(loss: Loss, tried: list[np.ndarray], draws: Condensed) -> list[float]:
    """Expected losses; equal partitions are evaluated once."""
    distinct, which = np.unique(np.stack(tried), axis=0, return_inverse=True)
    return [float(value) for value in loss.expected(distinct, draws)[which.ravel()]]


def _known_or_expected(
    loss: Loss, wanted: list[np.ndarray], draws: Condensed, tried: list[np.ndarray], losses: list[float]
) -> list[float]:
    """Expected losses of partitions, those among the ``tried`` ones as they were found."""
    known = [next((value for other, value in zip(tried, losses) if np.array_equal(one, other)), None) for one in wanted]
    new = [one for one, value in zip(wanted, known) if value is None]
    found = iter(_expected(loss, new, draws)) if new else iter(())
    return [next(found) if value is None else value for value in known]


def _best_first(losses: list[float], tried: list[np.ndarray], draws: Condensed, limits: Limits) -> list[np.ndarray]:
    """The different partitions that obey the limits, the best first."""
    chosen: list[np.ndarray] = []
    for k in np.argsort(losses, kind="stable"):
        if limits.allow(tried[k], draws.counts) and not any(np.array_equal(tried[k], other) for other in chosen):
            chosen.append(tried[k])
    return chosen


def _first_best(losses: list[float], tried: list[np.ndarray], draws: Condensed, limits: Limits) -> int:
    """Of what obeys the limits the least loss, of equal ones the fewest clusters, of those the first."""
    allowed = [k for k, labels in enumerate(tried) if limits.allow(labels, draws.counts)]
    least = min(losses[k] for k in allowed)
    ties = [k for k in allowed if losses[k] <= least + _TIE * max(1.0, abs(least))]
    return min(ties, key=lambda k: int(tried[k].max()))
