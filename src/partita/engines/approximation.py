"""Engines that approximate: where the best start ended, the expected clusters behind it, and the bound on its way."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from partita.engines import outcome_checks
from partita.engines.climbing import Climb, Climber, climb_all, shortfall
from partita.engines.outcome import DrawsPlan, Outcome, with_absent_rows
from partita.engines.provenance import provenance_of
from partita.engines.runner import Plan
from partita.model.model import Model
from partita.model.predictive import Expected
from partita.partitions import largest_first
from partita.priors import DirichletProcess, FiniteDirichlet, Prior, StickBreaking
from partita.priors.weights import LabelledComponents


class Approximator(Climber):
    """An engine that raises a bound on the log evidence, over priors of finitely many components.

    A state has ``likelihood``, ``stats`` (K, S) and ``concentration``.
    """

    caveat: ClassVar[str] = (
        "probabilities and confidence are those of an approximation, which is mostly surer than it should be"
    )
    truncates: ClassVar[bool] = True

    truncation: int

    @property
    @abstractmethod
    def shares_rows(self) -> bool:
        """Whether equal rows have equal responsibilities, so that they are stored once, with a weight."""

    @abstractmethod
    def responsibilities(self, state: Any, model: Model) -> np.ndarray:
        """Shares (n, K) of the model's rows."""

    def prior_for(self, prior: Prior) -> LabelledComponents:
        """The prior of finitely many components that stands for ``prior``, checked."""
        prior.check()
        if isinstance(prior, DirichletProcess):
            return StickBreaking(n_components=self.truncation, concentration=prior.concentration)
        if isinstance(prior, FiniteDirichlet | StickBreaking):
            return prior
        raise ValueError(
            f"{type(self).__name__} runs DirichletProcess, StickBreaking and FiniteDirichlet, not "
            f"{type(prior).__name__}: pass one of these as prior, or engine='gibbs', which runs them all."
        )

    def fit(self, model: Model, plan: Plan, seed: np.random.SeedSequence) -> Outcome:
        """The best of ``n_init`` starts, and of those that `more_states` adds."""
        self.check_likelihood(model)
        taught = model.taught()
        atoms, atom = taught.collapsed() if self.shares_rows else (taught, np.arange(taught.table.n_rows))
        states = [*[None] * self.n_init, *self.more_states(atoms)]
        [climbs] = climb_all(self, [atoms], [seed.spawn(len(states))], plan, states=[states])
        best = max(climbs, key=lambda climb: climb.objective)
        draws = DrawsPlan(self.n_draws(plan), float(best.state.concentration), provenance_of(self, model, seed))
        outcome = _outcome(self, best, model, taught, atom)
        return replace(outcome, draws=draws, warnings=shortfall(self, best, plan))

    def more_states(self, model: Model) -> list[Any]:
        """Where further starts begin."""
        return []

    def check_notes(self, notes: Mapping[str, Any]) -> None:
        """Refuse notes that a variational engine does not make."""
        super().check_notes(notes)
        outcome_checks.require_names(notes, {"converged", "learned", "elbo_path", "n_iter"})
        outcome_checks.check_path(notes["elbo_path"])
        outcome_checks.check_count(notes["n_iter"], "n_iter")

    def clusters_from(self, model: Model, log_seats: np.ndarray, stats: np.ndarray) -> Expected:
        """Expectations over all partitions."""
        return Expected(log_seats, stats)


def _outcome(engine: Approximator, climb: Climb, model: Model, taught: Model, atom: np.ndarray) -> Outcome:
    """The clusters that at least one row most probably belongs to, most rows first."""
    state = climb.state
    resp = engine.responsibilities(state, climb.model)[atom]
    labels = resp.argmax(axis=1)
    order = largest_first(labels, taught.row_weights, resp.shape[1])
    order = order[: np.unique(labels).size]
    probabilities = resp[:, order]
    learned = replace(model, likelihood=state.likelihood)
    if order.size < resp.shape[1]:  # what no row prefers is shared out among the others
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        expected = state.likelihood.expected_params(state.stats[order])
        stats = taught.shared_stats(probabilities, expected)
    else:
        stats = state.stats[order]
    sizes = taught.row_weights @ probabilities
    clusters = Expected(_log_seats(learned, sizes, order, state.concentration), _with_unseen(stats))
    of_all = np.empty((model.table.n_rows, order.size))
    of_all[model.row_weights > 0] = probabilities
    labels, of_all = with_absent_rows(learned, clusters, of_all.argmax(axis=1), of_all)
    return Outcome(
        engine=engine,
        model=learned,
        clusters=clusters,
        labels=labels,
        probabilities=of_all,
        converged=climb.converged,
        notes={
            "elbo_path": np.array(climb.path) + float(model.row_weights @ model.log_jacobian()),
            "n_iter": climb.n_sweeps,
        },
        state=state,
    )


def _log_seats(model: Model, sizes: np.ndarray, order: np.ndarray, concentration: float) -> np.ndarray:
    """Log expected weights (K + 1,); components of a stick stand in the engine's order."""
    place = np.argsort(order)
    ordered = model.prior.log_mean_weights(sizes[place], concentration)  # type: ignore[attr-defined]
    seats = np.empty_like(ordered)
    seats[place], seats[-1] = ordered[:-1], ordered[-1]
    return seats


def _with_unseen(stats: np.ndarray) -> np.ndarray:
    return np.vstack([stats, np.zeros((1, stats.shape[1]))])[None]
