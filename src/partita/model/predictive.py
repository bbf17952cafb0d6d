"""Densities of new rows given a model and a partition of its table, its parameters, or all draws of a posterior."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import logsumexp, softmax

from partita.families.base import ROWS_AT_ONCE, Cells, Conjugate
from partita.families.blocks import row_blocks
from partita.kernels.gibbs import complete_rows, log_predictive_matrix
from partita.model.component_parameters import component_parameters
from partita.model.model import Model
from partita.posterior import Posterior
from partita.table import Table

COMPLETIONS = 20  # draws of missing cells per partition, where they must be drawn
FIRST_PASSES = 20  # Gibbs passes over the missing cells before the first of them
PASSES = 3  # and between two
MOST_CELLS = 4_000_000  # rows x draws that a posterior predictive works through, but at least:
LEAST_DRAWS = 100


@dataclass(frozen=True)
class Clusters:
    """A partition as prediction sees it: log prior of each cluster and the statistics behind it.

    The last entry of ``log_seats`` and the last row of the statistics are a cluster not seen yet.
    """

    whole: ClassVar[bool] = False  # whether it is all that is known, or one partition of many draws

    log_seats: np.ndarray  # (K + 1,)
    stats: np.ndarray  # (completions, K + 1, S); several completions where missing cells were drawn

    def taken(self, order: np.ndarray) -> Self:
        """The clusters in another order (K,)."""
        everything = np.append(order, order.size)
        return replace(self, log_seats=self.log_seats[everything], stats=self.stats[:, everything])

    def joined(self, groups: np.ndarray) -> "Clusters":
        """Clusters united by the group of each (K,): weights and statistics add."""
        members = [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]
        members.append(np.array([groups.size]))
        log_seats = np.array([logsumexp(self.log_seats[pieces]) for pieces in members])
        return Clusters(log_seats, np.stack([self.stats[:, pieces].sum(axis=1) for pieces in members], axis=1))

    def log_joint(self, model: Model, table: Table) -> np.ndarray:
        """log p(cluster, row) of every new row's observed cells, (rows, K + 1), parameters summed out."""
        rows = model.likelihood.rows(table)
        shape = (table.n_rows, self.log_seats.shape[0])
        densities = [log_predictive_matrix(rows, model.state_from(stats), *shape) for stats in self.stats]
        return self.log_seats + logsumexp(np.stack(densities), axis=0) - np.log(len(densities))

    def log_density(self, model: Model, table: Table) -> np.ndarray:
        """Log density (rows,) of every new row's observed cells, whatever the power of the likelihood."""
        return logsumexp(self.log_joint(model.plain, table), axis=1)

    def readable(self, model: Model) -> dict[str, Any]:
        """Parameters of the clusters by name, where they are known; an estimator has them in attributes."""
        return {}

    def membership(self, model: Model, table: Table) -> np.ndarray:
        """Probability (rows, K) of each cluster, given that the row is in one of them."""
        logs = self.log_joint(model, table)[:, :-1]
        logs[is_far(logs)] = self.log_seats[:-1]
        return softmax(logs, axis=1)

    def novelty(self, model: Model, table: Table) -> np.ndarray:
        """Probability that each new row belongs to a cluster not seen yet; 1 where no float can hold its density."""
        logs = self.log_joint(model, table)
        logs[is_far(logs), -1] = 0.0
        return softmax(logs, axis=1)[:, -1]

    def terms(self, model: Model, table: Table, *, reverse: bool) -> np.ndarray:
        """Terms (completions, rows, K, d) of the log densities, column by column; see `Conjugate`.

        To a power the predictive of a row is not quite the power of its density: what it has beyond the powers of the
        columns' terms goes to the cells of the row in equal parts.
        """
        rows = model.likelihood.rows(table)
        each = [model.likelihood.log_predictive_by_column(rows, one[:-1], reverse=reverse) for one in self.stats]
        if model.plain is model:
            return np.stack(each)
        size = (table.n_rows, self.log_seats.shape[0] - 1)
        whole = [log_predictive_matrix(rows, model.state_from(one[:-1]), *size) for one in self.stats]
        return np.stack([_summing_to(total, terms) for total, terms in zip(whole, each)])

    def simulate(self, model: Model, n: int, rng: np.random.Generator) -> tuple[Cells, np.ndarray]:
        """New rows and the cluster of each; the last cluster is one not seen yet, new for every such row."""
        n_clusters = self.log_seats.shape[0] - 1
        labels = rng.choice(n_clusters + 1, size=n, p=np.exp(self.log_seats))
        stats = self.stats[rng.integers(len(self.stats))]
        unseen = np.flatnonzero(labels == n_clusters)
        component = labels.copy()
        component[unseen] = n_clusters + np.arange(unseen.size)
        stats = np.vstack([stats[:n_clusters], np.repeat(stats[n_clusters:], unseen.size, axis=0)])
        params = model.likelihood.sample_params(rng, stats)
        return model.likelihood.simulate(rng, params, component), labels


def _summing_to(total: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Terms (rows, K, d) changed by equal parts, but for those that are 0, so that their sums are ``total``."""
    told = terms != 0.0
    with np.errstate(invalid="ignore"):  # where a cell is impossible, so is the row
        rest = (total - terms.sum(axis=2)) / np.maximum(told.sum(axis=2), 1)
    return terms + np.where(told & np.isfinite(rest)[..., None], rest[..., None], 0.0)


@dataclass(frozen=True)
class Expected(Clusters):
    """Clusters of a variational posterior: weights and statistics are expectations over all partitions."""

    whole: ClassVar[bool] = True


@dataclass(frozen=True)
class MixtureComponents(Clusters):
    """A mixture of components whose parameters are known; there is no cluster that was not seen."""

    whole: ClassVar[bool] = True

    params: Any  # of the K components, as the family has them

    def readable(self, model: Model) -> dict[str, Any]:
        """Weights and parameters, by name, in the user's units."""
        found = component_parameters(model, self.log_seats[:-1], self.params)
        named = found._replace(others=None)._asdict() | (found.others or {})
        return {name: value for name, value in named.items() if name != "objective" and value is not None}

    def novelty(self, model: Model, table: Table) -> np.ndarray:
        """0: every row comes from one of the components."""
        return np.zeros(table.n_rows)

    def log_joint(self, model: Model, table: Table) -> np.ndarray:
        """log p(component, row) of every new row's observed cells, (rows, K + 1), the last one -inf."""
        logs = np.full((table.n_rows, self.log_seats.shape[0]), -np.inf)
        rows = model.likelihood.rows(table)
        for block, part in row_blocks(rows, table.n_rows, ROWS_AT_ONCE):
            logs[block, :-1] = model.likelihood.log_likelihood(part, self.params)
        return self.log_seats + logs

    def terms(self, model: Model, table: Table, *, reverse: bool) -> np.ndarray:
        """Terms (1, rows, K, d) of the log densities, column by column; see `Conjugate`."""
        rows = model.likelihood.rows(table)
        return model.likelihood.log_likelihood_by_column(rows, self.params, reverse=reverse)[None]

    def simulate(self, model: Model, n: int, rng: np.random.Generator) -> tuple[Cells, np.ndarray]:
        """New rows and the component of each."""
        weights = np.exp(self.log_seats[:-1])
        labels = rng.choice(weights.size, size=n, p=weights / weights.sum())
        return model.likelihood.simulate(rng, self.params, labels), labels


def is_far(logs: np.ndarray) -> np.ndarray:
    """Rows whose density no float can hold in any cluster: nothing but sizes can tell where they belong."""
    return ~np.isfinite(logs.max(axis=1))


def clusters_of(model: Model, labels: np.ndarray, concentration: float, rng: np.random.Generator) -> Clusters:
    """Statistics and prior weights of a partition of the model's rows (-1: row in no cluster)."""
    log_seats = model.prior.log_seats(_sizes(model, labels), concentration)
    rows = model.likelihood.rows(model.table)
    n_slots = log_seats.shape[0]
    if not model.likelihood.draws_cells(rows):
        return Clusters(log_seats, model.stats_of(rows, labels, n_slots)[None])
    passes = [FIRST_PASSES] + [PASSES] * (COMPLETIONS - 1)
    return Clusters(log_seats, np.stack([_completed_stats(model, rows, labels, n_slots, rng, p) for p in passes]))


def _sizes(model: Model, labels: np.ndarray) -> np.ndarray:
    seated = labels >= 0
    return np.bincount(labels[seated], weights=model.row_weights[seated]).astype(np.int64)


def _completed_stats(
    model: Model, rows: Any, labels: np.ndarray, n_slots: int, rng: np.random.Generator, n_passes: int
) -> np.ndarray:
    """Statistics after ``n_passes`` over the missing cells, which stay in ``rows``; plain ones where none is drawn."""
    if model.likelihood.draws_cells(rows):
        state = model.state_from(model.stats_of(rows, labels, n_slots))
        for _ in range(n_passes):
            complete_rows(rng, rows, state, labels)
    return model.stats_of(rows, labels, n_slots)


def log_posterior_predictive(model: Model, posterior: Posterior, table: Table, rng: np.random.Generator) -> np.ndarray:
    """Log density of every new row's observed cells, averaged over the posterior's draws.

    Long posteriors are represented by evenly spaced draws: as many as keep rows x draws below
    four million, and at least 100. Equal partitions are evaluated once, unless the likelihood differs
    from draw to draw.
    """
    logs: list[np.ndarray] = []
    log_weights = []
    rows = model.likelihood.rows(model.table)  # missing cells go on from draw to draw
    for draw in _distinct_draws(model, posterior, table.n_rows):
        n_passes = PASSES if logs else FIRST_PASSES
        own = replace(model, likelihood=draw.likelihood)
        stats = _completed_stats(own, rows, draw.labels, draw.log_seats.shape[0], rng, n_passes)
        clusters = Clusters(draw.log_seats, stats[None])
        logs.append(clusters.log_density(own, table))
        log_weights.append(draw.log_weight)
    return logsumexp(np.stack(logs) + np.array(log_weights)[:, None], axis=0)


class _Draw(NamedTuple):
    labels: np.ndarray
    log_weight: float
    log_seats: np.ndarray  # averaged over the concentrations of equal partitions
    likelihood: Conjugate


def _distinct_draws(model: Model, posterior: Posterior, n_new: int) -> Iterator[_Draw]:
    """Distinct partitions; all draws, each with its own likelihood, where that is learned."""
    n_used = max(LEAST_DRAWS, MOST_CELLS // max(posterior.n_objects, n_new))
    weighty = np.flatnonzero(posterior.weights > 0)
    chosen = weighty[np.unique(np.linspace(0, weighty.size - 1, min(n_used, weighty.size)).astype(int))]
    weights = posterior.weights[chosen] / posterior.weights[chosen].sum()
    concentrations = posterior.traces["concentration"].ravel()[chosen]
    draws = posterior.draws[chosen]
    first = group = np.arange(len(draws))
    if not model.likelihood.learns:
        _, first, group = np.unique(draws, axis=0, return_index=True, return_inverse=True)
    learned = {name: posterior.traces[name].ravel()[chosen] for name in model.likelihood.learned}
    for g, start in enumerate(first):
        members = np.flatnonzero(group.ravel() == g)
        labels = draws[start].astype(np.int64)
        sizes = _sizes(model, labels)
        seats = np.stack([model.prior.log_seats(sizes, concentrations[m]) for m in members])
        share = weights[members]
        with np.errstate(divide="ignore"):
            log_share = np.log(share / share.sum())
        likelihood = model.likelihood
        if learned:
            likelihood = likelihood.with_learned(**{name: float(values[start]) for name, values in learned.items()})
        yield _Draw(labels, float(np.log(share.sum())), logsumexp(seats + log_share[:, None], axis=0), likelihood)


def simulate_prior(model: Model, n: int, rng: np.random.Generator) -> tuple[Cells, np.ndarray]:
    """Rows of a model that has seen no data: a partition, parameters for each of its clusters, then cells."""
    labels = model.prior.sample_partition(n, rng)
    params = model.likelihood.sample_params(rng, np.zeros((int(labels.max()) + 1, model.n_stats)))
    return model.likelihood.simulate(rng, params, labels), labels
