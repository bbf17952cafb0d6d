"""Whether the parts of a saved model could come from one fit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import logsumexp

from partita.engines import EM, CollapsedVariational, Engine, Gibbs, Variational
from partita.engines.em import CRITERIA
from partita.engines.runner import Plan
from partita.model.model import Model
from partita.model.predictive import Clusters
from partita.posterior import Posterior

ROUNDING = 1e-6  # of sums over clusters or rows
_NOTES = {"maximum": (EM,), "approximation": (Variational, CollapsedVariational)}


def check_notes(engine: Engine, notes: Mapping[str, Any]) -> None:
    """Refuse notes of another engine than the one that is named, and incomplete ones.

    Raises
    ------
    ValueError
    """
    for name, kinds in _NOTES.items():
        if isinstance(engine, kinds) != (notes[name] is not None):
            raise ValueError(f"{name} does not belong to {engine!r}")
    if notes["maximum"] is not None:
        _require(notes["maximum"], "maximum", {"n_components", "found"})
        found = notes["maximum"]["found"]
        _require(found, "maximum", {"path", "n_iter", "converged", "criteria", "selection"})
        _require(found["criteria"], "criteria", set(CRITERIA))
        _check_climb(found)
    if notes["approximation"] is not None:
        _require(notes["approximation"], "approximation", {"path", "n_iter", "converged", "learned"})
        _check_climb(notes["approximation"])


def check_draws(engine: Engine, plan: Plan, weights: np.ndarray, posterior: Posterior) -> None:
    """Refuse more chains than were asked for, and draws of other rows than those that take part."""
    n_chains = plan.chains if isinstance(engine, Gibbs) else 1
    if posterior.n_chains > n_chains:
        raise ValueError(f"there are {posterior.n_chains} chains, and {n_chains} were asked for")
    placed = posterior.draws >= 0
    if not np.array_equal(placed.all(axis=0), weights > 0) or not np.array_equal(placed.any(axis=0), weights > 0):
        raise ValueError("the draws do not place the rows that take part")


def check_numbers(model: Model, posterior: Posterior, n_clusters: int) -> None:
    """Refuse more clusters, estimated or drawn, than the prior allows."""
    most = max(n_clusters, int(posterior.partitions.n_clusters().max()))
    if not model.prior.possible(np.ones(most, dtype=np.int64)):
        raise ValueError(f"there are {most} clusters, more than {model.prior!r} allows")


def check_traces(model: Model, posterior: Posterior) -> None:
    """Refuse draws without the positive numbers that prediction reads beside them."""
    for name in ("concentration", *model.likelihood.learned):
        trace = posterior.traces.get(name)
        if trace is None or not (np.isfinite(trace).all() and (trace > 0).all()):
            raise ValueError(f"the trace {name} is missing or not positive")


def check_estimate(probabilities: np.ndarray) -> None:
    """Refuse probabilities that do not sum to 1."""
    if np.abs(probabilities.sum(axis=1) - 1.0).max() > ROUNDING:
        raise ValueError("the probabilities of some row do not sum to 1")


def check_clusters(model: Model, clusters: Clusters) -> None:
    """Refuse clusters that no rows of this model have."""
    n_completions, _, n_stats = clusters.stats.shape
    if n_completions == 0 or n_stats != model.n_stats:
        raise ValueError(f"{clusters.stats.shape} statistics are not those of a {model.likelihood.title} model")
    stats = clusters.stats.reshape(-1, n_stats)
    if not (model.likelihood.possible(stats).all() and np.isfinite(model.likelihood.log_marginal(stats)).all()):
        raise ValueError(f"no rows have these statistics of a {model.likelihood.title} model")
    if abs(logsumexp(clusters.log_seats)) > ROUNDING:
        raise ValueError("the weights of the clusters do not sum to 1")


def check_grouping(n_groups: int | None, grouping: Any, n_clusters: int) -> None:
    """Refuse groups that are not formed of the clusters, or that nobody asked for."""
    if (n_groups is None) != (grouping is None):
        raise ValueError("the grouping does not belong to the option n_clusters")
    if grouping is None:
        return
    _require(grouping, "grouping", {"groups", "refitted", "note"})
    groups, refitted = grouping["groups"], grouping["refitted"]
    if type(refitted) is not bool or not isinstance(grouping["note"], str) or (refitted and groups is not None):
        raise ValueError("the grouping is not one that a fit makes")
    if groups is None:
        return
    if not (isinstance(groups, np.ndarray) and groups.dtype == np.int64 and groups.shape == (n_clusters,)):
        raise ValueError("there is not one group for every cluster")
    if np.unique(groups).tolist() != list(range(n_groups or 0)):
        raise ValueError("the groups are not as many as were asked for")


def check_learned(model: Model, learned: Mapping[str, Any]) -> None:
    """Refuse values of other numbers than those that the likelihood learns, and values that are not positive."""
    if learned.keys() != model.likelihood.learned.keys():
        raise ValueError("what was learned is not what the family learns")
    if not all(isinstance(value, float) and 0 < value < np.inf for value in learned.values()):
        raise ValueError("what was learned is not positive")


def _require(found: Any, what: str, names: set[str]) -> None:
    if not isinstance(found, dict) or found.keys() != names:
        raise ValueError(f"{what} does not hold {', '.join(sorted(names))}")


def _check_climb(found: Mapping[str, Any]) -> None:
    path, n_iter = found["path"], found["n_iter"]
    if not (isinstance(path, np.ndarray) and path.ndim == 1 and path.dtype == np.float64):
        raise ValueError("the path of the objective is no list of numbers")
    if type(n_iter) is not int or n_iter < 0 or type(found["converged"]) is not bool:
        raise ValueError("n_iter is no number, or converged neither true nor false")
