"""Whether the parts of an outcome that a file keeps could come from one fit. Each check raises ValueError if not."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import logsumexp

from partita.model.model import Model
from partita.posterior import Posterior

ROUNDING = 1e-6  # of sums over clusters or rows


def check_draws(n_chains: int, weights: np.ndarray, posterior: Posterior) -> None:
    """Refuse more chains than were asked for, and draws of other rows than those that take part."""
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


def check_clusters(model: Model, log_seats: np.ndarray, stats: np.ndarray) -> None:
    """Refuse clusters that no rows of this model have."""
    n_completions, _, n_stats = stats.shape
    if n_completions == 0 or n_stats != model.n_stats:
        raise ValueError(f"{stats.shape} statistics are not those of a {model.likelihood.title} model")
    each = stats.reshape(-1, n_stats)
    if not (model.likelihood.possible(each).all() and np.isfinite(model.likelihood.log_marginal(each)).all()):
        raise ValueError(f"no rows have these statistics of a {model.likelihood.title} model")
    if abs(logsumexp(log_seats)) > ROUNDING:
        raise ValueError("the weights of the clusters do not sum to 1")


def check_learned(model: Model, learned: Any) -> None:
    """Refuse values of other numbers than those that the likelihood learns, and values that are not positive."""
    require_names(learned, set(model.likelihood.learned))
    if not all(isinstance(value, float) and 0 < value < np.inf for value in learned.values()):
        raise ValueError("what was learned is not positive")


def check_path(path: Any) -> None:
    """Refuse what is no list of numbers."""
    if not (isinstance(path, np.ndarray) and path.ndim == 1 and path.dtype == np.float64):
        raise ValueError("the path of the objective is no list of numbers")


def check_count(value: Any, what: str) -> None:
    """Refuse what is no whole number of at least 0."""
    if type(value) is not int or value < 0:
        raise ValueError(f"{what} is no whole number of at least 0")


def check_truth(value: Any) -> None:
    """Refuse what is neither true nor false."""
    if type(value) is not bool:
        raise ValueError("converged is neither true nor false")


def require_names(found: Any, names: set[str], *, at_least: bool = False) -> None:
    """Refuse other names than these; ``at_least``: without some of them."""
    if not isinstance(found, Mapping) or not (names <= found.keys() if at_least else names == found.keys()):
        raise ValueError(f"the notes do not hold {', '.join(sorted(names)) or 'nothing'}")
