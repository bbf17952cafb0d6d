"""A label table whose objects, clusterings and labels are in canonical order, and the way back."""

from dataclasses import replace

import numpy as np

from partita.consensus.canonical import canonical_order
from partita.engines import Outcome
from partita.model.model import Model
from partita.partitions import Partitions, largest_first
from partita.posterior import Posterior
from partita.table import Schema, Table


class CanonicalTable:
    """The table that all tables become which differ by the order of objects or columns, or the names of labels.

    Parameters
    ----------
    given : Table
        Of categorical columns only.

    Attributes
    ----------
    table : Table
        In canonical order.
    rows : (n,) array
        The objects of ``given`` in canonical order.
    place : (n,) array
        Where each object of ``given`` is in it.
    kinds : (n,) array
        A number for every kind of equal objects of ``given``.
    columns : (M,) array
        The columns of ``given`` in canonical order.
    cells : (L,) array
        Where each label of ``given``, counted over all columns, is among those of ``table``.
    """

    def __init__(self, given: Table):
        order = canonical_order(given.codes, given.schema.n_levels)
        self.rows, self.columns, self.kinds = order.rows, order.columns, order.kinds
        self.place = _inverse(order.rows)
        ranks = order.labels
        codes = np.empty_like(given.codes)
        for position, m in enumerate(order.columns):
            old = given.codes[order.rows, m]
            codes[:, position] = np.where(old < 0, -1, ranks[m][np.maximum(old, 0)])
        columns = [
            replace(column, levels=tuple(column.levels[old] for old in _inverse(ranks[m])) if column.levels else ())
            for m, column in enumerate(given.schema.columns)
        ]
        schema = Schema(tuple(columns[m] for m in order.columns))
        self.table = Table(schema, given.numeric, codes, given.counts)
        starts = np.concatenate([[0], np.cumsum([ranks[m].size for m in order.columns])[:-1]])
        self.cells = np.concatenate([starts[c] + own for c, own in zip(_inverse(order.columns), ranks)])

    def model(self, given: Model) -> Model:
        """The model of the table in canonical order."""
        likelihood = given.likelihood.of_columns(self.columns)  # type: ignore[attr-defined]
        return Model(likelihood, given.prior, self.table, given.row_weights[self.rows])

    def put_back(self, found: Outcome, given: Model) -> Outcome:
        """What was found about the canonical model as an outcome of the given one.

        Clusters are numbered anew, the largest first, ties by the first object as given. Probabilities of equal objects
        are averaged: draws tell them apart by chance alone.
        """
        labels = found.labels[self.place]
        order = largest_first(labels, np.ones(labels.size), found.probabilities.shape[1])
        model = replace(given, prior=found.model.prior).with_learned(found.model.likelihood.learned)
        clusters = found.clusters.taken(order)
        data = {"data": given.table.fingerprint()}
        draws = found.draws and found.draws._replace(provenance=found.draws.provenance | data)
        return replace(
            found,
            model=model,
            labels=np.argsort(order)[labels],
            probabilities=_averaged(found.probabilities[self.place], self.kinds)[:, order],
            clusters=replace(clusters, stats=clusters.stats[..., self.cells]),
            posterior=found.posterior and self._given_draws(found.posterior, data),
            draws=draws,
            state=found.engine.state_of(found.state, model.likelihood, self.cells),
        )

    def _given_draws(self, drawn: Posterior, data: dict[str, str]) -> Posterior:
        return Posterior(
            Partitions(np.asarray(drawn.partitions)[..., self.place]),
            weights=drawn.weights,
            traces=drawn.traces,
            provenance=drawn.provenance | data,
        )


def _averaged(probabilities: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    counts = np.bincount(kinds)
    return np.stack([(np.bincount(kinds, of_one) / counts)[kinds] for of_one in probabilities.T], axis=1)


def _inverse(order: np.ndarray) -> np.ndarray:
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place
