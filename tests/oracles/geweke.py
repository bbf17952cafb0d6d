"""Geweke's joint distribution test: two simulators of parameters and data that must agree.

One draws concentration, what the likelihood learns, partition, parameters and data from the top down. The other
alternates one step of the engine given the data with new parameters and data given the partition. Any step that does
not keep its conditional distribution pulls the second away from the first (Geweke 2004, Getting it right).
"""

from dataclasses import replace
from typing import Any

import numpy as np
from arviz_stats.base import array_stats
from scipy.stats import norm

from partita.engines.gibbs import Gibbs, GibbsState
from partita.families import Conjugate
from partita.families.base import Cells
from partita.model.model import Model, state_from
from partita.table import Table

LEVEL = 1e-5
WARMUP = 200
NAMES = (
    "clusters",
    "sum of squared sizes",
    "singletons",
    "first two together",
    "log concentration",
    "concentration below 1/2",
    "first row",
    "square of the first row",
    "product of two rows",
    "log of what is learned",  # the last: without it nothing is learned
)


def z_scores(forward: np.ndarray, chain: np.ndarray) -> dict[str, float]:
    """Differences of means in standard errors, the chain's from its effective sample size."""
    scores = {}
    for name, independent, dependent in zip(NAMES, forward.T, chain.T):
        ess = array_stats.ess(dependent[None, :], method="mean")
        variance = independent.var() / independent.size + dependent.var() / ess
        scores[name] = float((dependent.mean() - independent.mean()) / np.sqrt(variance))
    return scores


def limit() -> float:
    """What the largest of the distances may be."""
    return float(norm.isf(LEVEL / (2 * len(NAMES))))


def forward_draws(model: Model, *, n_draws: int, seed: int) -> np.ndarray:
    """Independent draws of the joint distribution from the top down, as statistics (draws, names)."""
    rng = np.random.default_rng(seed)
    n = model.table.n_rows
    out = np.empty((n_draws, len(NAMES) - (not model.likelihood.learns)))
    for draw in range(n_draws):
        concentration = model.prior.hyperprior.sample(rng)
        labels = model.prior.sample_partition_given(n, rng, concentration)
        likelihood = from_hyperprior(rng, model.likelihood)
        params = likelihood.sample_params(rng, no_rows(model, labels.max() + 1))
        cells = likelihood.simulate(rng, params, labels)
        out[draw] = statistics(labels, concentration, cells, likelihood)
    return out


def chain_draws(engine: Gibbs, model: Model, *, n_draws: int, seed: int) -> np.ndarray:
    """Draws that alternate the engine's step with new data, as statistics (draws, names).

    Cells missing in the model's table stay missing; where the engine draws them, they are part of the state.
    """
    rng = np.random.default_rng(seed)
    hidden = np.isnan(model.table.numeric), model.table.codes < 0, model.table.counts < 0
    cells = first_cells(rng, model)
    model = replace(model, table=hide(model.table, cells, hidden))
    state = engine.init(rng, model)
    out = np.empty((n_draws, len(NAMES) - (not model.likelihood.learns)))
    for draw in range(-WARMUP, n_draws):
        state, _ = engine.step(rng, state, model)
        labels = state.allocation.labels
        used = state.likelihood.stats_of(state.slots)[: labels.max() + 1]
        params = state.likelihood.sample_params(rng, used)
        cells = state.likelihood.simulate(rng, params, labels)
        model = replace(model, table=hide(model.table, cells, hidden))
        state = with_cells(state, model, cells)
        if draw >= 0:
            out[draw] = statistics(labels, state.concentration, cells, state.likelihood)
    return out


def from_hyperprior(rng: np.random.Generator, likelihood: Any) -> Any:
    """The likelihood with what it learns drawn from its hyperpriors."""
    values = {name: likelihood.hyperpriors[name].sample(rng) for name in likelihood.learned}
    return likelihood.with_learned(**values) if values else likelihood


def no_rows(model: Model, n_clusters: int) -> np.ndarray:
    """Statistics of empty clusters."""
    return np.zeros_like(model.likelihood.stats_of(model.likelihood.state(n_clusters)))


def first_cells(rng: np.random.Generator, model: Model) -> Cells:
    """Data of one cluster from the prior."""
    params = model.likelihood.sample_params(rng, no_rows(model, 1))
    return model.likelihood.simulate(rng, params, np.zeros(model.table.n_rows, np.int64))


def hide(table: Table, cells: Cells, hidden: tuple[np.ndarray, ...]) -> Table:
    """The table with these cells, but for the missing ones."""
    numeric, codes, counts = hidden
    return replace(
        table,
        numeric=np.where(numeric, np.nan, cells.numeric),
        codes=np.where(codes, -1, cells.codes),
        counts=np.where(counts, -1, cells.counts),
    )


def with_cells(state: GibbsState, model: Model, cells: Cells) -> GibbsState:
    """The state on new data: missing cells that the engine draws start at their simulated values."""
    rows = model.likelihood.rows(model.table)
    if model.likelihood.draws_cells(rows):
        known = replace(model.table, numeric=cells.numeric)
        rows.x[:] = model.likelihood.rows(known).x
    stats = model.stats_of(rows, state.allocation.labels, state.allocation.sizes.size)
    return replace(state, rows=rows, slots=state_from(state.likelihood, stats))


def statistics(labels: np.ndarray, concentration: float, cells: Cells, likelihood: Conjugate) -> list[float]:
    """What both simulators report; data enter through bounded functions, whose moments exist."""
    sizes = np.bincount(labels)
    x = bounded(cells)
    return [
        np.count_nonzero(sizes),
        (sizes**2).sum(),
        np.count_nonzero(sizes == 1),
        labels[0] == labels[1],
        np.log(concentration),
        concentration < 0.5,
        x[0],
        x[0] ** 2,
        x[0] * x[1],
        *([np.log(list(likelihood.learned.values())).sum()] if likelihood.learns else []),
    ]


def bounded(cells: Cells) -> Any:
    """A number between -1 and 1 for each of the first two rows, from the first block that has columns."""
    if cells.numeric.shape[1]:
        return np.tanh(cells.numeric[:2].sum(axis=1))
    if cells.codes.shape[1]:
        return np.tanh(cells.codes[:2].sum(axis=1) - 1.0)
    return np.tanh(cells.counts[:2].sum(axis=1) / 4.0 - 1.0)
