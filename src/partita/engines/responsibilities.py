"""What responsibilities say of the rows: draws of partitions."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from partita.model.model import Model
from partita.model.predictive import Clusters
from partita.partitions import Partitions
from partita.posterior import Posterior
from partita.posterior.independent import independent_draws, number_of_draws


class PosteriorPlan(NamedTuple):
    """What is needed to draw partitions later."""

    n_draws: int | str
    concentration: float
    provenance: dict[str, Any]


def posterior_given(
    model: Model, clusters: Clusters, probabilities: np.ndarray, plan: PosteriorPlan, rng: np.random.Generator
) -> Posterior:
    """Partitions whose rows are drawn independently, each with its probabilities (n, K).

    Rows that do not take part are -1.
    """
    taught, chosen = model.taught(), model.row_weights > 0
    logs = clusters.log_joint(taught, taught.table)[:, :-1]
    drawn = independent_draws(rng, probabilities[chosen], number_of_draws(plan.n_draws, model.table.n_rows))
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
