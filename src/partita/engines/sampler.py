"""Engines that draw: chains of partitions, and the one partition that is estimated from them."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from partita.engines import outcome_checks
from partita.engines.base import Engine
from partita.engines.endings import doubt
from partita.engines.outcome import Kept, Outcome, with_absent_rows
from partita.engines.provenance import provenance_of
from partita.engines.runner import Plan, run
from partita.model.model import Model
from partita.model.predictive import clusters_of
from partita.parameters import stream_of, whole_number
from partita.partitions import Partitions
from partita.posterior import Posterior
from partita.posterior.estimate import estimate

RUN_OPTIONS = {"chains": 1, "draws": 1, "warmup": 0, "thin": 1}
"""Options of how long chains run, and the least value of each."""


class Sampler(Engine):
    """An engine of chains. A subclass says where a chain starts and how it moves; the rest is here.

    A state has ``allocation.labels`` (n,), -1 for rows that take no part, and ``allocation.sizes``; an info
    ``n_clusters``, ``log_joint``, ``entropy``, ``concentration`` and ``learned``, by name, of the likelihood.
    """

    title: ClassVar[str] = "Sampling"
    collapse_identical: bool = False
    chains: int | None = None  # this and the next three: None is what the estimator says
    draws: int | str | None = None
    warmup: int | None = None
    thin: int | None = None

    @abstractmethod
    def init(self, rng: np.random.Generator, model: Model) -> Any:
        """Where a chain starts."""

    @abstractmethod
    def step(self, rng: np.random.Generator, state: Any, model: Model) -> tuple[Any, Any]:
        """One sweep, which leaves the posterior invariant: the next state, and what is reported of it."""

    def n_chains(self, plan: Plan) -> int:
        """As many as are run."""
        return self.planned(plan).chains

    def planned(self, plan: Plan) -> Plan:
        """The plan with this engine's own numbers, where it has some."""
        own = {name: getattr(self, name) for name in RUN_OPTIONS}
        return replace(plan, **{name: value for name, value in own.items() if value is not None})

    def check_run(self) -> None:
        """Refuse numbers of chains, draws and sweeps outside their range."""
        kind = type(self).__name__
        for name, least in RUN_OPTIONS.items():
            value = getattr(self, name)
            if value is not None and (name, value) != ("draws", "auto"):
                also = "None or 'auto'" if name == "draws" else "None"
                whole_number(f"{kind}({name}=...)", value, least, also=also)

    def fit(self, model: Model, plan: Plan, seed: np.random.SeedSequence) -> Outcome:
        """Run the chains, then estimate the partition."""
        plan = self.planned(plan).begun()
        posterior, states = sample(self, model, plan, seed)
        outcome = outcome_of_draws(self, model, posterior, plan, seed)
        words = doubt(plan, posterior, outcome.diagnostics)  # type: ignore[arg-type]
        return replace(outcome, state=states, warnings=(words,) if words else ())

    def check_notes(self, notes: Mapping[str, Any]) -> None:
        """Refuse notes that sampling does not make."""
        super().check_notes(notes)
        outcome_checks.require_names(notes, {"converged", "learned", "support_cost"})
        cost = notes["support_cost"]
        if not (isinstance(cost, float | int) and 0 <= cost < np.inf):
            raise ValueError("support_cost is no number of at least 0")

    def restored_model(self, model: Model, kept: Kept) -> Model:
        """What was learned at its average over the draws."""
        outcome_checks.check_traces(model, kept.posterior)
        return _at_averages(model, kept.posterior)

    def restore(self, model: Model, kept: Kept) -> Outcome:
        """The outcome that a file keeps, diagnosed anew."""
        outcome = super().restore(model, kept)
        diagnostics = kept.posterior.diagnostics()
        return replace(outcome, converged=diagnostics.converged, diagnostics=diagnostics)


def outcome_of_draws(
    engine: Engine, model: Model, posterior: Posterior, plan: Plan, seed: np.random.SeedSequence
) -> Outcome:
    """The partition that the plan's loss estimates from draws of the model, and what goes with it.

    The posterior has the trace "concentration", and one of every number that the likelihood learns: these are at their
    averages wherever one number has to do.
    """
    model = _at_averages(model, posterior)
    options = plan.estimate.options
    found = estimate(
        posterior.partitions,
        posterior.weights,
        plan.estimate.loss,
        options,
        entropy=plan.estimate.entropy,
        groups=model.table.identical_rows(),
        crew=plan.begun().reading_crew(),
    )
    clusters = clusters_of(model, found.labels, _average(posterior, "concentration"), stream_of(seed.entropy, 1))
    labels, probabilities = with_absent_rows(model, clusters, found.labels, found.probabilities)
    diagnostics = replace(posterior.diagnostics(), groups=found.verdict)
    return Outcome(
        engine=engine,
        model=model,
        clusters=clusters,
        labels=labels,
        probabilities=probabilities,
        converged=diagnostics.converged,
        posterior=posterior,
        notes={"support_cost": found.support_cost},
        diagnostics=diagnostics,
    )


def sample(engine: Sampler, model: Model, plan: Plan, seed: np.random.SeedSequence) -> tuple[Posterior, list[Any]]:
    """The posterior over partitions of the model's rows, and the last state of every chain."""
    if not engine.collapse_identical:
        _refuse_gaps(model)
        return run(engine, model, plan, seed)
    atoms, atom = model.taught().collapsed()
    _refuse_gaps(atoms)
    posterior, states = run(engine, atoms, plan, seed)
    drawn = np.asarray(posterior.partitions)
    labels = np.full((*drawn.shape[:-1], model.table.n_rows), -1, dtype=drawn.dtype)
    labels[..., model.row_weights > 0] = drawn[..., atom]
    provenance = posterior.provenance | provenance_of(engine, model, seed) | {"n_atoms": atoms.table.n_rows}
    return Posterior(Partitions(labels), traces=posterior.traces, provenance=provenance), states


def _refuse_gaps(model: Model) -> None:
    """Refuse missing cells that would have to be drawn for rows that do not count once."""
    tied, raised = model.row_weights.max() > 1, model.likelihood.power != 1.0
    if not (tied or raised) or not model.likelihood.draws_cells(model.taught().shared_rows):
        return
    if tied:
        raise ValueError(
            "Tied copies of a row (sample_weight above 1, or collapse_identical) cannot be combined with missing cells "
            "under a full covariance: repeat the rows, or use Gaussian(covariance='diag')."
        )
    raise ValueError(
        "A power of the likelihood cannot be sampled with missing cells under a full covariance: use "
        "Gaussian(covariance='diag'), or engine='vb' or 'em'."
    )


def _at_averages(model: Model, posterior: Posterior) -> Model:
    return model.with_learned({name: _average(posterior, name) for name in model.likelihood.learned})


def _average(posterior: Posterior, trace: str) -> float:
    return float(np.average(posterior.traces[trace].ravel(), weights=posterior.weights))
