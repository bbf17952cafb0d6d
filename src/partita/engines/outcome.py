"""What an engine found: all that an estimator keeps, saves and answers from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from partita.model.model import Model
from partita.model.predictive import Clusters
from partita.partitions import Partitions
from partita.posterior import Posterior
from partita.posterior.diagnostics import Diagnostics

DRAWS = 200
"""Made where their number is left open."""
MOST_LABEL_BYTES = 2**28
"""Of the labels of these draws: fewer are made of very many rows."""


class DrawsPlan(NamedTuple):
    """How to draw partitions when they are asked for: every row on its own, with its probabilities."""

    n_draws: int | str
    concentration: float
    provenance: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What an engine found about the rows of a model.

    Attributes
    ----------
    engine : Engine
    model : Model
        With the prior that was chosen, and what was learned of the likelihood at the values that answers use.
    clusters : Clusters
        What densities and memberships of rows are read from, largest cluster first.
    labels : (n,) int64 array
        Of all rows, also those that took no part.
    probabilities : (n, K) array
    converged : bool
    posterior : Posterior or None
        Draws; None where they are made when asked for, by ``draws``.
    draws : DrawsPlan or None
    notes : mapping
        What the engine says besides, in types that a file can hold. An estimator has it in attributes: ``n_iter`` in
        ``n_iter_``.
    diagnostics : Diagnostics or None
        Of chains.
    iterations : sequence
        What every iteration of the best start stood at, where that was asked for; not in files.
    state : object
        Where the engine ended; not in files.
    warnings : tuple of str
        What the person who called should be told.
    """

    engine: Any
    model: Model
    clusters: Clusters
    labels: np.ndarray
    probabilities: np.ndarray
    converged: bool
    posterior: Posterior | None = None
    draws: DrawsPlan | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: Diagnostics | None = None
    iterations: Sequence[Any] = ()
    state: Any = None
    warnings: tuple[str, ...] = ()

    def drawn(self, rng: np.random.Generator) -> Posterior:
        """The posterior; where there is none yet, partitions whose rows are drawn independently.

        Rows that do not take part are -1.
        """
        if self.posterior is not None:
            return self.posterior
        if self.draws is None:
            raise ValueError(f"{self.engine!r} left neither draws nor a plan to make them.")
        return _independent(self.model, self.clusters, self.probabilities, self.draws, rng)

    def kept_notes(self) -> dict[str, Any]:
        """What a file keeps of the notes, whether it converged, and what was learned."""
        return {**self.notes, "converged": bool(self.converged), "learned": dict(self.model.likelihood.learned)}


class Kept(NamedTuple):
    """What a file keeps of an outcome, as it was read."""

    posterior: Posterior
    log_seats: np.ndarray
    stats: np.ndarray
    labels: np.ndarray
    probabilities: np.ndarray
    notes: Mapping[str, Any]


def with_absent_rows(
    model: Model, clusters: Clusters, labels: np.ndarray, probabilities: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities of all rows, given those of the rows that took part.

    The others are labelled as `predict` does, or as a row that did take part and is equal.
    """
    table, absent = model.table, model.row_weights == 0
    if not absent.any():
        return labels, probabilities
    labels, probabilities = labels.copy(), probabilities.copy()
    rows = np.flatnonzero(absent)
    probabilities[rows] = clusters.membership(model, table.take(rows))
    labels[rows] = probabilities[rows].argmax(axis=1)
    rows, twins = _with_twins(rows, np.flatnonzero(~absent), table.identical_rows())
    probabilities[rows], labels[rows] = probabilities[twins], labels[twins]
    return labels, probabilities


def _with_twins(rows: np.ndarray, others: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Those of ``rows`` that share their group with one of ``others``, and that other row."""
    _, first = np.unique(groups[others], return_index=True)
    twin = np.full(groups.max() + 1, -1)
    twin[groups[others[first]]] = others[first]
    found = twin[groups[rows]] >= 0
    return rows[found], twin[groups[rows[found]]]


def _independent(
    model: Model, clusters: Clusters, probabilities: np.ndarray, plan: DrawsPlan, rng: np.random.Generator
) -> Posterior:
    taught, chosen = model.taught(), model.row_weights > 0
    logs = clusters.log_joint(taught, taught.table)[:, :-1]
    drawn = _independent_labels(rng, probabilities[chosen], _number_of_draws(plan.n_draws, model.table.n_rows))
    rows = np.arange(logs.shape[0])
    shares = np.stack([np.bincount(draw, taught.row_weights, logs.shape[1]) for draw in drawn]) / model.total
    traces = {
        "n_clusters": (shares > 0).sum(axis=1).astype(np.float64),
        "log_joint": np.array([taught.row_weights @ logs[rows, draw] for draw in drawn]),
        "entropy": -xlogy(shares, shares).sum(axis=1),
        "concentration": np.full(len(drawn), plan.concentration),
    }
    labels = np.full((1, len(drawn), model.table.n_rows), -1, dtype=drawn.dtype)
    labels[0, :, chosen] = drawn.T
    return Posterior(
        Partitions(labels), traces={name: values[None] for name, values in traces.items()}, provenance=plan.provenance
    )


def _independent_labels(rng: np.random.Generator, probabilities: np.ndarray, n_draws: int) -> np.ndarray:
    """Labels (n_draws, n): of every row one cluster, with its probabilities (n, K), independent of all others."""
    edges = np.cumsum(probabilities, axis=1)
    labels = np.empty((n_draws, probabilities.shape[0]), dtype=np.int16 if edges.shape[1] < 2**15 else np.int32)
    for draw in labels:
        chance = rng.random(edges.shape[0]) * edges[:, -1]
        draw[:] = (edges[:, :-1] <= chance[:, None]).sum(axis=1)
    return labels


def _number_of_draws(wanted: int | str, n_rows: int) -> int:
    """As many as were asked for; "auto": 200, or as many as fit in 256 MiB."""
    return min(DRAWS, max(1, MOST_LABEL_BYTES // (2 * max(1, n_rows)))) if wanted == "auto" else int(wanted)
