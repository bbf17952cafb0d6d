"""Where collapsed variational inference stands, and the moves that give components up."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import xlogy

from partita.engines.merging import LEAST_SIZE, Holdings, gaining_pairs, overlaps, promising_pairs
from partita.families.base import Conjugate
from partita.model.model import Model
from partita.priors.weights import LabelledComponents

DUST = 1.0  # rows of a component that may be given up


@dataclass(frozen=True)
class CollapsedVariationalState:
    """Responsibilities, and what follows from them: nothing is carried from sweep to sweep that could drift."""

    resp: np.ndarray  # (n, K), rows sum to 1
    sizes: np.ndarray  # (K,)
    stats: np.ndarray  # (K, S)
    concentration: float
    likelihood: Conjugate
    n_sweeps: int = 0  # since components were last given up

    @property
    def n_components(self) -> int:
        """How many components hold anything."""
        return self.sizes.size


def state_of(model: Model, resp: np.ndarray, concentration: float, likelihood: Conjugate) -> CollapsedVariationalState:
    """The state with these responsibilities, what is learned at its best given them."""
    sizes = model.row_weights @ resp
    stats = model.shared_stats(resp)
    concentration = model.prior.learned_concentration(sizes, concentration)
    return CollapsedVariationalState(resp, sizes, stats, concentration, likelihood.relearned(stats))


def arranged(model: Model, resp: np.ndarray, concentration: float) -> np.ndarray:
    """Responsibilities without components that hold nothing, sticks in order of size."""
    sizes = model.row_weights @ resp
    full = np.flatnonzero(sizes >= LEAST_SIZE)
    order = full[model.prior.best_order(sizes[full], concentration)]
    if not np.array_equal(order, np.arange(sizes.size)):
        resp = np.ascontiguousarray(resp[:, order])
    if full.size < sizes.size:
        resp /= resp.sum(axis=1, keepdims=True)
    return resp


def following(model: Model, state: CollapsedVariationalState, resp: np.ndarray) -> CollapsedVariationalState:
    """The state with other responsibilities: empty components dropped, sticks in order, numbers learned anew."""
    resp = arranged(model, resp, state.concentration)
    return replace(state_of(model, resp, state.concentration, state.likelihood), n_sweeps=state.n_sweeps)


def merged(model: Model, state: CollapsedVariationalState) -> CollapsedVariationalState:
    """The state after all merges of two components that raise the bound."""
    holdings = Holdings(state.likelihood, model.prior, state.sizes, state.stats, state.concentration)
    pairs = promising_pairs(holdings)
    joined = gaining_pairs(holdings, pairs, overlaps(state.resp, model.row_weights, pairs))
    if joined.shape[0] == 0:
        return state
    resp = state.resp.copy()
    for i, j in joined:
        resp[:, i] += resp[:, j]
    return following(model, state, np.delete(resp, joined[:, 1], axis=1))


def without_dust(model: Model, state: CollapsedVariationalState) -> CollapsedVariationalState:
    """The state without components of less than one row in all, their shares given to the others.

    The same state if that does not raise the bound.
    """
    kept = state.sizes >= DUST
    left = state.resp[:, kept].sum(axis=1, keepdims=True)
    if kept.all() or not np.all(left > 0):
        return state
    cleaned = following(model, state, state.resp[:, kept] / left)
    return cleaned if bound(model, cleaned) > bound(model, state) else state


def bound(model: Model, state: CollapsedVariationalState) -> float:
    """Lower bound of the log evidence, plus the log densities of what is learned."""
    entropy = -float(model.row_weights @ xlogy(state.resp, state.resp).sum(axis=1))
    return bound_without_entropy(model.prior, state) + entropy


def bound_without_entropy(prior: LabelledComponents, state: CollapsedVariationalState) -> float:
    """Log density of expected sizes and statistics, and of the learned numbers."""
    allocation = prior.log_allocation(state.sizes, state.concentration) + prior.log_hyperprior(state.concentration)
    return allocation + float(state.likelihood.log_marginal(state.stats).sum()) + state.likelihood.log_hyperprior()
