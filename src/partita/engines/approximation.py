"""Where a variational engine ended: responsibilities, the expected clusters behind them, and the bound on its way."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita.engines.climbing import Climb, climb_all
from partita.engines.runner import Plan
from partita.model.model import Model
from partita.model.predictive import Expected
from partita.partitions import largest_first


@dataclass(frozen=True)
class Approximation:
    """The best of the starts.

    Attributes
    ----------
    model : Model
        With the numbers that the engine has learned.
    clusters : Expected
        Those that at least one row most probably belongs to, most rows first.
    probabilities : (n, K) array
        Of the rows that take part.
    path : (n_iter,) array
        The bound on the log evidence at every iteration, in the units of the table that came in.
    n_iter : int
    converged : bool
    state
        The engine's own.
    """

    model: Model
    clusters: Expected
    probabilities: np.ndarray
    path: np.ndarray
    n_iter: int
    converged: bool
    state: Any


def approximate(engine: Any, model: Model, plan: Plan, seed: np.random.SeedSequence) -> Approximation:
    """Run a variational engine from ``n_init`` starts, on different rows only where that changes nothing."""
    taught = model.taught()
    atoms, atom = taught.collapsed() if engine.shares_rows else (taught, np.arange(taught.table.n_rows))
    [climbs] = climb_all(engine, [atoms], [seed.spawn(engine.n_init)], plan)
    best = max(climbs, key=lambda climb: climb.objective)
    return _end(engine, best, model, taught, atom)


def _end(engine: Any, climb: Climb, model: Model, taught: Model, atom: np.ndarray) -> Approximation:
    state = climb.state
    resp = engine.responsibilities(state, climb.model)[atom]
    labels = resp.argmax(axis=1)
    order = largest_first(labels, taught.row_weights, resp.shape[1])
    order = order[: np.unique(labels).size]
    probabilities = resp[:, order]
    learned = replace(model, likelihood=state.likelihood)
    if order.size < resp.shape[1]:  # what no row prefers is shared out among the others
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        expected = state.likelihood.expected_params(state.stats[order])
        stats = taught.shared_stats(probabilities, expected)
    else:
        stats = state.stats[order]
    sizes = taught.row_weights @ probabilities
    return Approximation(
        model=learned,
        clusters=Expected(_log_seats(learned, sizes, order, state.concentration), _with_unseen(stats)),
        probabilities=probabilities,
        path=np.array(climb.path) + float(model.row_weights @ model.table.log_jacobian()),
        n_iter=climb.n_sweeps,
        converged=climb.converged,
        state=state,
    )


def _log_seats(model: Model, sizes: np.ndarray, order: np.ndarray, concentration: float) -> np.ndarray:
    """Log expected weights (K + 1,); components of a stick stand in the engine's order."""
    place = np.argsort(order)
    ordered = model.prior.log_mean_weights(sizes[place], concentration)  # type: ignore[attr-defined]
    seats = np.empty_like(ordered)
    seats[place], seats[-1] = ordered[:-1], ordered[-1]
    return seats


def _with_unseen(stats: np.ndarray) -> np.ndarray:
    return np.vstack([stats, np.zeros((1, stats.shape[1]))])[None]
