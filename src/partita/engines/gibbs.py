"""Collapsed Gibbs sampling with merge-split moves, for any family and any prior."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita.engines.gibbs_state import GibbsState
from partita.engines.sampler import Sampler
from partita.kernels.allocation import grown_allocation, new_allocation
from partita.kernels.gibbs import sweep
from partita.kernels.merge_split import SLOTS_NEEDED
from partita.model.model import Model, state_from

FIRST_SLOTS = 16
SWEEPS_PER_REBUILD = 32
WATCHED_SWEEPS = range(10, 50)  # during which rows of dust are noted; no draw is kept that early unless asked for
DUST = 5  # rows of a cluster that counts as dust
DUST_SCANS = 20  # extra scans per sweep over rows of dust
DUST_SHARE = 0.3  # of a sweep that they may take


@dataclass(frozen=True)
class GibbsInfo:
    """What one sweep reports; nothing in it depends on how clusters are numbered."""

    n_clusters: int
    log_joint: float
    entropy: float
    concentration: float
    n_accepted: int
    learned: dict[str, float]  # what is learned of the likelihood


class Gibbs(Sampler, name="gibbs"):
    """Collapsed Gibbs sampling (Neal 2000, algorithm 3) with sequentially-allocated merge-split moves.

    Every sweep reseats each row in turn given all others, parameters summed out, then proposes
    ``merge_split`` splits or merges of whole clusters (Dahl 2003), then draws the concentration and what the family
    learns. Exact for every conjugate family and every prior. Cost per sweep: rows x clusters predictive densities.

    Rows that open and leave tiny clusters are what the number of clusters waits for. Those that were in a cluster of at
    most 5 rows in sweeps 10 to 49 are reseated up to 20 more times in every later sweep, within 0.3
    of a sweep's cost. The choice is made once, so every later sweep leaves the posterior invariant.

    Good for: up to hundreds of thousands of rows; trustworthy uncertainty, also of the number of clusters.
    Not for: tens of millions of rows; likelihoods without a conjugate prior.

    Parameters
    ----------
    merge_split : int
        Merge-split moves per sweep. Without them single rows rarely cross between well separated
        allocations of whole clusters.
    collapse_identical : bool
        Store identical rows once, with a weight. Faster where many are, but another model: they are tied to one label
        and can never be parted.

    Examples
    --------
    >>> from partita import Mixture
    >>> model = Mixture(engine=Gibbs(merge_split=5), draws=20, random_state=0)
    >>> model.fit([[0.0], [0.1], [9.0], [9.1]]).labels_.size
    4
    """

    def __init__(self, *, merge_split: int = 10, collapse_identical: bool = False):
        self.merge_split = merge_split
        self.collapse_identical = collapse_identical

    def check(self) -> None:
        """Refuse options outside their range."""
        if not isinstance(self.merge_split, int | np.integer) or self.merge_split < 0:
            raise ValueError(f"Gibbs(merge_split=...) must be a whole number >= 0, got {self.merge_split!r}.")
        if not isinstance(self.collapse_identical, bool | np.bool_):
            raise ValueError(f"Gibbs(collapse_identical=...) must be True or False, got {self.collapse_identical!r}.")

    def init(self, rng: np.random.Generator, model: Model) -> GibbsState:
        """Seat the rows one after the other in random order, each given those before it."""
        _require_proper(model)
        concentration = model.prior.initial_concentration()
        n_slots = model.prior.least_slots() or min(FIRST_SLOTS, model.total + 1)
        n_slots += SLOTS_NEEDED + self.merge_split
        state = GibbsState(
            rows=_rows_to_write(model),
            likelihood=model.likelihood,
            slots=model.state_from(np.zeros((n_slots, model.n_stats))),
            prior=model.prior.compiled(model.total, concentration, n_slots),
            allocation=new_allocation(model.row_weights, n_slots),
            concentration=concentration,
            dusty=np.zeros(model.row_weights.shape[0], dtype=bool),
            again=np.empty(0, dtype=np.int64),
        )
        order = rng.permutation(state.allocation.active)
        return self._sweep(rng, state, model, order, self.merge_split)[0]

    def step(self, rng: np.random.Generator, state: GibbsState, model: Model) -> tuple[GibbsState, GibbsInfo]:
        """One sweep and one update of everything that is learned."""
        model = replace(model, likelihood=state.likelihood)
        if state.n_sweeps % SWEEPS_PER_REBUILD == 0:  # keep rounding from adding up
            stats = model.stats_of(state.rows, state.allocation.labels, state.allocation.sizes.shape[0])
            state = replace(state, slots=model.state_from(stats))
        state, log_joint, n_accepted = self._sweep(rng, state, model, state.allocation.active, self.merge_split)
        if state.again.size:
            state, log_joint, _ = self._sweep(rng, state, model, state.again, 0)
        state = self._watch_dust(state)
        state = self._learn(rng, state, model)
        state = self._learn_likelihood(rng, state)
        info = self._info(state, log_joint, n_accepted)
        return replace(state, n_sweeps=state.n_sweeps + 1), info

    def _sweep(self, rng, state: GibbsState, model: Model, order: np.ndarray, n_moves: int):
        position, full = 0, True
        while full:
            position, full, n_accepted, log_joint = sweep(
                rng, state.rows, state.slots, state.prior, state.allocation, order, position, n_moves
            )
            if full:
                state = self._grow(state, model)
        return state, log_joint, n_accepted

    def _grow(self, state: GibbsState, model: Model) -> GibbsState:
        """Twice as many slots, the statistics carried over."""
        stats = model.likelihood.stats_of(state.slots)
        n_slots = 2 * stats.shape[0]
        grown = np.vstack([stats, np.zeros_like(stats)])
        return replace(
            state,
            slots=model.state_from(grown),
            allocation=grown_allocation(state.allocation, n_slots),
            prior=model.prior.recompiled(state.prior, model.total, state.concentration, n_slots),
        )

    def _watch_dust(self, state: GibbsState) -> GibbsState:
        """Note rows of tiny clusters, and after the last watched sweep say how often to scan them again."""
        allocation = state.allocation
        if state.n_sweeps in WATCHED_SWEEPS:
            tiny = allocation.sizes[allocation.labels] <= DUST
            state.dusty[allocation.active] |= tiny[allocation.active]
        if state.n_sweeps != WATCHED_SWEEPS[-1]:
            return state
        rows = np.flatnonzero(state.dusty)
        n_scans = min(DUST_SCANS, int(DUST_SHARE * allocation.active.size / max(1, rows.size)))
        return replace(state, again=np.tile(rows, n_scans))

    def _learn(self, rng, state: GibbsState, model: Model) -> GibbsState:
        if not model.prior.learns_concentration:
            return state
        sizes = model.prior.component_sizes(state.prior, state.allocation.sizes)
        concentration = model.prior.update(rng, sizes, state.concentration)
        n_slots = state.allocation.sizes.shape[0]
        prior = model.prior.recompiled(state.prior, model.total, concentration, n_slots)
        return replace(state, concentration=concentration, prior=prior)

    def _learn_likelihood(self, rng, state: GibbsState) -> GibbsState:
        """Draw what the likelihood learns, and make the caches of all slots anew."""
        if not state.likelihood.learns:
            return state
        stats = state.likelihood.stats_of(state.slots)
        likelihood = state.likelihood.redrawn(rng, stats[state.allocation.sizes > 0])
        return replace(state, likelihood=likelihood, slots=state_from(likelihood, stats))

    def _info(self, state: GibbsState, log_joint: float, n_accepted: int) -> GibbsInfo:
        sizes = state.allocation.sizes[state.allocation.sizes > 0]
        shares = sizes / sizes.sum()
        entropy = float(-(shares * np.log(shares)).sum())
        learned = state.likelihood.learned
        return GibbsInfo(sizes.size, log_joint, entropy, state.concentration, n_accepted, learned)


def _require_proper(model: Model) -> None:
    """Refuse a hyperprior under which nothing can be drawn, before anything is compiled."""
    if model.prior.learns_concentration:
        model.prior.hyperprior.require_proper("A draw of the concentration")
    for name, hyperprior in getattr(model.likelihood, "hyperpriors", {}).items():
        hyperprior.require_proper(f"A draw of the {name}")


def _rows_to_write(model: Model) -> Any:
    """Rows of the chain's own where it will draw missing cells, else those that all chains share."""
    rows = model.shared_rows
    return model.likelihood.rows(model.table) if model.likelihood.draws_cells(rows) else rows
