"""Exact posteriors of a few rows by enumeration, and chains to hold against them.

The likelihood of a partition is a product over blocks, so the marginal likelihoods of all 2^n subsets of the rows
give that of every partition. One missing cell of a full covariance is integrated out on a grid.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betaln, logsumexp
from tests.oracles.partitions import labelled_states, set_partitions

from partita.engines.gibbs import Gibbs, GibbsState
from partita.families import Conjugate
from partita.kernels.allocation import new_allocation
from partita.kernels.gibbs import sweep
from partita.model.model import Model
from partita.priors import Prior, StickBreaking

_CELL_GRID = np.linspace(-6.0, 6.0, 601)


@dataclass(frozen=True)
class Exact:
    """All partitions of the rows, or all their labelled states, with posterior probabilities."""

    states: np.ndarray  # (states, n) labels
    probabilities: np.ndarray  # (states,)
    log_evidence: float

    @cached_property
    def sizes_of_states(self) -> np.ndarray:
        """Number of clusters of every state."""
        return np.array([np.unique(state).size for state in self.states])

    def n_clusters(self) -> np.ndarray:
        """P(K) by K = 0, 1, ..., n."""
        return np.bincount(self.sizes_of_states, weights=self.probabilities, minlength=self.states.shape[1] + 1)

    def similarity(self) -> np.ndarray:
        """Probability of every pair of rows to share a cluster, (n, n)."""
        same = self.states[:, :, None] == self.states[:, None, :]
        return np.tensordot(self.probabilities, same, axes=1)


def take(rows: Any, index: np.ndarray) -> Any:
    """The rows of a nested NamedTuple of arrays at ``index``."""
    if isinstance(rows, np.ndarray):
        return rows[index]
    return type(rows)(*(take(part, index) for part in rows))


def subset_log_marginals(likelihood: Conjugate, rows: Any, copies: np.ndarray | None = None) -> np.ndarray:
    """Log marginal likelihood of every subset of the rows, numbered by its bits; row i repeated ``copies[i]`` times."""
    n = first_array(rows).shape[0]
    repeated = np.repeat(np.arange(n), 1 if copies is None else copies)
    inside = (np.arange(2**n)[None, :] >> repeated[:, None]) & 1
    if not likelihood.draws_cells(rows):
        return likelihood.log_marginal(likelihood.suffstats(take(rows, repeated), inside.astype(float)))
    if copies is not None:
        raise ValueError("A missing cell is integrated out for rows that count once only.")
    return _over_missing_cell(likelihood, rows, inside.astype(float))


def _over_missing_cell(likelihood: Conjugate, rows: Any, inside: np.ndarray) -> np.ndarray:
    """The same where one cell is missing: subsets that hold its row are integrated over it (x = sinh u)."""
    [(row, column)] = np.argwhere(full_block(rows).missing)
    others = inside.copy()
    others[row] = 0.0
    fixed = likelihood.suffstats(rows, others)
    completed = take(rows, np.full(_CELL_GRID.size, row))
    full_block(completed).x[:, column] = np.sinh(_CELL_GRID)
    of_row = likelihood.suffstats(completed, np.eye(_CELL_GRID.size))
    log_step = np.log(_CELL_GRID[1] - _CELL_GRID[0]) + np.log(np.cosh(_CELL_GRID))
    values = likelihood.log_marginal(fixed)
    for subset in np.flatnonzero(inside[row]):
        values[subset] = logsumexp(likelihood.log_marginal(fixed[subset] + of_row) + log_step)
    return values


def full_block(rows: Any) -> Any:
    """The rows of the full-covariance block."""
    return full_block(rows.first) if hasattr(rows, "first") else getattr(rows, "full", rows)


def first_array(rows: Any) -> np.ndarray:
    """Any array of the rows."""
    return rows if isinstance(rows, np.ndarray) else first_array(rows[0])


def log_likelihoods(subsets: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Log likelihood of every state: the sum over its clusters."""
    bits = 1 << np.arange(states.shape[1])
    total = np.zeros(states.shape[0])
    for label in range(states.max() + 1):
        total += subsets[(states == label) @ bits]
    return total


def log_prior_probabilities(prior: Prior, states: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """Log probability of every partition of the rows, each repeated ``copies`` times; equal sizes share a value."""
    known: dict[tuple[int, ...], float] = {}
    values = np.empty(states.shape[0])
    for position, state in enumerate(states):
        labels = np.repeat(state, copies)
        sizes = tuple(sorted(np.bincount(labels)))
        if sizes not in known:
            known[sizes] = prior.log_probability(labels)
        values[position] = known[sizes]
    return values


def exact_posterior(subsets: np.ndarray, prior: Prior, copies: np.ndarray | None = None) -> Exact:
    """Posterior of all partitions, given ``subset_log_marginals``; tied ``copies`` share a label.

    Without copies the prior must sum to 1 over all partitions: a wrong normalising constant shows here, as
    it could not in frequencies.
    """
    n = subsets.size.bit_length() - 1
    states = np.array(list(set_partitions(n)))
    log_prior = log_prior_probabilities(prior, states, np.ones(n, int) if copies is None else copies)
    if copies is None and abs(logsumexp(log_prior)) > 1e-8:
        raise AssertionError(f"{prior} sums to {np.exp(logsumexp(log_prior))} over all partitions of {n} rows.")
    return _normalised(states, log_likelihoods(subsets, states) + log_prior)


def exact_labelled(subsets: np.ndarray, prior: StickBreaking) -> Exact:
    """Posterior of all labelled states of a stick-breaking prior, whose formula is written out here."""
    n = subsets.size.bit_length() - 1
    states = np.array(list(labelled_states(n, prior.n_components)))
    sizes = (states[:, :, None] == np.arange(prior.n_components)).sum(axis=1)
    after = np.cumsum(sizes[:, ::-1], axis=1)[:, ::-1] - sizes
    sticks = np.log(prior.concentration) + betaln(1 + sizes, prior.concentration + after)
    return _normalised(states, log_likelihoods(subsets, states) + sticks[:, :-1].sum(axis=1))


def _normalised(states: np.ndarray, log_joint: np.ndarray) -> Exact:
    log_evidence = float(logsumexp(log_joint))
    return Exact(states, np.exp(log_joint - log_evidence), log_evidence)


# --- chains ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chain:
    """What a chain visited."""

    labels: np.ndarray  # (draws, n) slots, or components where they have labels
    concentration: np.ndarray  # (draws,)


def run_gibbs(model: Model, *, n_draws: int, seed: int, merge_split: int = 3) -> Chain:
    """Draws of the engine, every sweep one, after a short warm-up; rows of weight 0 left out."""
    rng = np.random.default_rng(seed)
    engine = Gibbs(merge_split=merge_split)
    state = engine.init(rng, model)
    labels = np.empty((n_draws, state.allocation.active.size), np.int64)
    concentration = np.empty(n_draws)
    for draw in range(-100, n_draws):
        state, _ = engine.step(rng, state, model)
        if draw >= 0:
            labels[draw] = seats(state)
            concentration[draw] = state.concentration
    return Chain(labels, concentration)


def run_merge_split(model: Model, *, n_draws: int, seed: int, moves: int = 10) -> Chain:
    """Draws of merge-split moves without any scan: rows never move alone."""
    rng = np.random.default_rng(seed)
    state = Gibbs().init(rng, model)
    nobody = np.empty(0, np.int64)
    labels = np.empty((n_draws, state.allocation.active.size), np.int64)
    for draw in range(-100, n_draws):
        _, full, _, _ = sweep(rng, state.rows, state.slots, state.prior, state.allocation, nobody, 0, moves)
        if full:
            raise AssertionError("The chain needs more slots.")
        if draw >= 0:
            labels[draw] = seats(state)
    return Chain(labels, np.full(n_draws, state.concentration))


def state_at(model: Model, labels: np.ndarray, n_slots: int) -> GibbsState:
    """The engine's state with every row in the slot of its label and the concentration at its start."""
    concentration = model.prior.initial_concentration()
    rows = model.likelihood.rows(model.table)
    allocation = new_allocation(model.row_weights, n_slots)
    allocation.labels[:] = labels
    allocation.sizes[:] = np.bincount(labels, weights=model.row_weights, minlength=n_slots)
    return GibbsState(
        rows=rows,
        likelihood=model.likelihood,
        slots=model.state_from(model.stats_of(rows, labels, n_slots)),
        prior=model.prior.compiled(model.total, concentration, n_slots),
        allocation=allocation,
        concentration=concentration,
        dusty=np.zeros(labels.size, dtype=bool),
        again=np.empty(0, dtype=np.int64),
    )


def seats(state: GibbsState) -> np.ndarray:
    """Slot of every row that takes part, or its component where slots stand for components."""
    labels = state.allocation.labels[state.allocation.active]
    order = getattr(state.prior, "order", None)
    if order is None:
        return labels
    components = np.full(state.allocation.sizes.size, -1)
    components[order] = np.arange(order.size)
    return components[labels]
