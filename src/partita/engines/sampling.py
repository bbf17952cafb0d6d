"""Draws of partitions by chains, identical rows tied to one label where that is asked for."""

from typing import Any

import numpy as np

from partita.engines import Gibbs
from partita.engines.provenance import provenance_of
from partita.engines.runner import Plan, run
from partita.model.model import Model
from partita.partitions import Partitions
from partita.posterior import Posterior


def sample(engine: Gibbs, model: Model, plan: Plan, seed: np.random.SeedSequence) -> tuple[Posterior, list[Any]]:
    """The posterior over partitions of the model's rows, and the last state of every chain."""
    if not engine.collapse_identical:
        _refuse_tied_gaps(model)
        return run(engine, model, plan, seed)
    atoms, atom = model.taught().collapsed()
    _refuse_tied_gaps(atoms)
    posterior, states = run(engine, atoms, plan, seed)
    drawn = np.asarray(posterior.partitions)
    labels = np.full((*drawn.shape[:-1], model.table.n_rows), -1, dtype=drawn.dtype)
    labels[..., model.row_weights > 0] = drawn[..., atom]
    provenance = posterior.provenance | provenance_of(engine, model, seed) | {"n_atoms": atoms.table.n_rows}
    return Posterior(Partitions(labels), traces=posterior.traces, provenance=provenance), states


def _refuse_tied_gaps(model: Model) -> None:
    if model.row_weights.max() > 1 and model.likelihood.draws_cells(model.taught().shared_rows):
        raise ValueError(
            "Tied copies of a row (sample_weight above 1, or collapse_identical) cannot be combined with missing cells "
            "under a full covariance: repeat the rows, or use Gaussian(covariance='diag')."
        )
