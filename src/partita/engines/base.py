"""What every engine is: options known by a name, and a fit that ends in an `Outcome`."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from partita.engines import outcome_checks
from partita.engines.outcome import Kept, Outcome
from partita.engines.runner import Plan
from partita.model.model import Model
from partita.model.predictive import Clusters
from partita.parameters import Named
from partita.priors import Prior


class Engine(Named, ABC, kind="engine"):
    """How a posterior is found.

    ``class Mine(Engine, name="mine")`` with a ``fit`` is known to every estimator, in files and in the words for a
    wrong choice. An engine of chains is a `Sampler`, one that maximises from several starts a `Climber`.
    """

    #: What it is called where a sentence begins.
    title: ClassVar[str]
    #: What to know of its answer, in words that follow the title; none where chains speak for themselves.
    caveat: ClassVar[str] = ""
    #: Whether it learns the numbers that a family or prior leaves open; if not, they are set from the table.
    learns: ClassVar[bool] = True
    #: Whether it finds the number of clusters; if not, the prior must say it.
    finds_number: ClassVar[bool] = True
    #: Whether finitely many components stand for a prior of more.
    truncates: ClassVar[bool] = False

    @abstractmethod
    def fit(self, model: Model, plan: Plan, seed: np.random.SeedSequence) -> Outcome:
        """Find what can be found about the model's rows; the same seed gives the same outcome."""

    def check(self) -> None:
        """Refuse options outside their range."""

    def prior_for(self, prior: Prior) -> Prior:
        """The prior as this engine runs it, checked."""
        prior.check()
        return prior

    def n_chains(self, plan: Plan) -> int:
        """The most chains that a posterior of this engine has."""
        return 1

    def state_of(self, state: Any, likelihood: Any, numbers: np.ndarray) -> Any:
        """The last state, for a likelihood whose statistics are ``numbers`` of those before; by default as it is."""
        return state

    def restore(self, model: Model, kept: Kept) -> Outcome:
        """The outcome that a file keeps; parts that do not fit each other are refused.

        Raises
        ------
        ValueError
        """
        self.check_notes(kept.notes)
        model = self.restored_model(model, kept)
        outcome_checks.check_clusters(model, kept.log_seats, kept.stats)
        outcome_checks.check_numbers(model, kept.posterior, kept.probabilities.shape[1])
        notes = {name: value for name, value in kept.notes.items() if name not in ("converged", "learned")}
        return Outcome(
            engine=self,
            model=model,
            clusters=self.clusters_from(model, kept.log_seats, kept.stats),
            labels=kept.labels,
            probabilities=kept.probabilities,
            converged=kept.notes["converged"],
            posterior=kept.posterior,
            notes=notes,
        )

    def check_notes(self, notes: Mapping[str, Any]) -> None:
        """Refuse notes from a file that this engine does not make."""
        outcome_checks.require_names(notes, {"converged", "learned"}, at_least=True)
        outcome_checks.check_truth(notes["converged"])

    def restored_model(self, model: Model, kept: Kept) -> Model:
        """The model that a fit ended with, given the one that options and table make."""
        outcome_checks.check_learned(model, kept.notes["learned"])
        return model.with_learned(kept.notes["learned"])

    def clusters_from(self, model: Model, log_seats: np.ndarray, stats: np.ndarray) -> Clusters:
        """What answers are read from, given weights (K + 1,) and statistics (completions, K + 1, S)."""
        return Clusters(log_seats, stats)
