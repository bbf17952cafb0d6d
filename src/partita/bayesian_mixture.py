"""What every Bayesian mixture's `fit` does once it has a table: run an engine, keep its outcome, form groups."""

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from partita.engines import Engine, Outcome, outcome_checks
from partita.engines.family_evidence import best_family
from partita.engines.outcome import Kept
from partita.engines.outcome_files import kept_outcome, outcome_contents
from partita.engines.runner import Plan
from partita.engines.sampler import Sampler
from partita.engines.steps import Steps
from partita.engines.table_reader import TableReader
from partita.families import Family
from partita.families.automatic import candidate_families, family_from
from partita.families.dirichlet_categorical import LARGEST_TOTAL
from partita.families.powered import powered
from partita.files.json_options import from_json, to_json
from partita.files.layout import UnknownClassError
from partita.files.layouts import MIXTURE
from partita.mixture_answers import MixtureAnswers
from partita.model.grouping import Grouping, answer, check_grouping, interrupted_answer, prior_of
from partita.model.model import Model
from partita.parameters import check_random_state
from partita.posterior import Posterior
from partita.posterior.hierarchy import summed
from partita.priors import Gamma, Prior, StickBreaking
from partita.table import Table
from partita.wording import printable

EDITION = 2
"""Of the defaults of families and priors: a file says by which its model was made."""

_ESTIMATORS = {"Mixture": "partita.mixture", "NBCE": "partita.consensus"}


class FitOptions(NamedTuple):
    """The options of an estimator, checked, names turned into the objects they stand for."""

    plan: Plan
    engine: Engine
    prior: Prior  # as the engine runs it
    family: str | Family
    n_groups: int | None = None  # that labels are to have
    family_note: str = ""  # where the family was not chosen by evidence
    power: float = 1.0  # how often a row counts in the likelihood

    def model(self, table: Table, weights: np.ndarray, **how: Any) -> Model:
        """The model of a table; see `build_model`."""
        fixed = not self.engine.learns
        return build_model(self.family, table, self.prior, weights, fixed=fixed, power=self.power, **how)

    def settled(self, table: Table, weights: np.ndarray) -> "FitOptions":
        """The options with the family that the table gets; one that is open is chosen by evidence, once."""
        taught, fixed = taught_rows(table, weights), not self.engine.learns
        if self.family != "auto":
            return self._replace(family=family_from(self.family, taught, fixed=fixed))
        drawn, uneven = isinstance(self.engine, Sampler), self.power != 1.0 or taught.row_weights.max() > 1
        candidates = candidate_families(taught, fixed=fixed, drawn_unevenly=drawn and uneven)
        best = best_family(candidates, taught, self.plan, fixed=fixed, power=self.power)
        note = "" if best else f"There was no time to weigh {' against '.join(map(repr, candidates))}."
        return self._replace(family=best or candidates[0], family_note=note)

    def begun(self) -> "FitOptions":
        """The options with a plan whose time runs from now on; a number of groups may need a second fit."""
        n_fits = 1 if self.n_groups is None else 2
        return self._replace(plan=replace(self.plan, n_fits=n_fits).begun())

    def with_components(self, n_components: Any) -> "FitOptions":
        """The options with a prior of so many components, none of which needs support: they were asked for."""
        estimate = self.plan.estimate
        estimate = estimate._replace(options=replace(estimate.options, min_support=0.0))
        prior = self.engine.prior_for(prior_of(n_components))
        return self._replace(prior=prior, plan=replace(self.plan, estimate=estimate, n_fits=1))


class BayesianMixture(MixtureAnswers, layout=MIXTURE):
    """A `fit` that ends in labels; an estimator brings its options and the table."""

    _left_by_fit = ("_table", "_entropy", "_edition", "_outcome", "_grouping", "_profile", "_described")
    _truncations: ClassVar[tuple[type[Prior], ...]] = (StickBreaking,)  # priors whose components stand for more

    random_state: Any
    n_jobs: int | None
    unseen: str
    _edition: int

    @abstractmethod
    def _options(self) -> FitOptions:
        """The options, checked."""

    def check(self) -> None:
        """Refuse options outside their range, as `fit` does, without a table."""
        self._options()
        check_random_state(self.random_state)

    @property
    def steps_(self) -> Steps:
        """The halves of an iteration of "vb" or "em", for machines that have a part of the rows each.

        Bound to the fitted model and to how it reads rows; ``state_`` is where the fit ended.
        """
        outcome = self._outcome
        if not hasattr(outcome.engine, "steps"):
            raise AttributeError(f"steps_ is for engine='vb' and 'em', and the engine is {outcome.engine!r}.")
        return outcome.engine.steps(outcome.model, self._reader())

    def _keep(self, outcome: Outcome, seed: np.random.SeedSequence, family: str | Family) -> None:
        """Become what an engine has found, and pass its warnings on."""
        self._forget()
        self._entropy, self._edition, self.family_ = seed.entropy, EDITION, family
        self._answer_from(outcome)
        for words in (*outcome.warnings, *self._fullness(outcome)):
            warnings.warn(words, ConvergenceWarning, stacklevel=3)

    def _answer_from(self, outcome: Outcome) -> None:
        for name, value in {**outcome.clusters.readable(outcome.model), **outcome.notes}.items():
            setattr(self, f"{name}_", value)
        self._outcome, self.engine_ = outcome, outcome.engine
        self.labels_, self.probabilities_ = outcome.labels, outcome.probabilities
        self.n_clusters_ = outcome.probabilities.shape[1]
        self.converged_ = outcome.converged
        if outcome.iterations:
            self.iterations_ = list(outcome.iterations)
        if outcome.diagnostics is not None:
            self.diagnostics_ = outcome.diagnostics
        if outcome.state is not None:
            self.state_ = outcome.state

    def _fullness(self, outcome: Outcome) -> tuple[str, ...]:
        """That a truncated prior may have had too few components."""
        prior: Any = outcome.model.prior
        if not (outcome.engine.truncates and isinstance(prior, self._truncations)):
            return ()
        if not 1 < outcome.probabilities.shape[1] == prior.n_components < outcome.model.total:
            return ()
        return (
            f"All {prior.n_components} components are in use, so there may be more clusters than could be found: "
            "allow more components (n_components of the prior, or truncation of the engine).",
        )

    def _form_groups(self, model: Model, options: FitOptions, seed: np.random.SeedSequence) -> None:
        """Give the labels as many groups as were asked for: merge pieces, or fit again with so many components."""
        if options.n_groups is None:
            return
        wanted, found = options.n_groups, self.n_clusters_
        if found >= wanted:
            self._group(answer(wanted, found, self.hierarchy().groups(wanted) if found > wanted else None))
            return
        if options.plan.running_watch.interrupted:
            self._group(interrupted_answer(wanted, found))
            warnings.warn(self.groups_note_, ConvergenceWarning, stacklevel=3)
            return
        again = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, wanted))
        options = options.with_components(wanted)
        found_again = options.engine.fit(replace(model, prior=options.prior), options.plan, again)
        self._keep(found_again, again, self.family_)
        occupied = np.unique(self.labels_).size
        self._group(answer(wanted, found, None, occupied))
        if occupied < wanted:
            warnings.warn(self.groups_note_, ConvergenceWarning, stacklevel=3)

    def _group(self, grouping: Grouping) -> None:
        """Report groups instead of pieces, which the outcome keeps."""
        self._grouping, self.groups_note_ = grouping, grouping.note
        if grouping.groups is not None:
            self.labels_ = grouping.groups[self._outcome.labels]
            self.probabilities_ = summed(self._outcome.probabilities, grouping.groups)
        self.n_clusters_ = self.probabilities_.shape[1]

    def _reader(self) -> TableReader:
        """What reads raw rows as `fit` does."""
        return TableReader(self.table_.schema, self.unseen)

    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        header, arrays = super()._contents()
        posterior_header, posterior_arrays = self.posterior_.to_container()
        notes, found = outcome_contents(self._outcome)
        header[MIXTURE.kind] |= notes | {
            "estimator": next(kind.__name__ for kind in type(self).__mro__ if kind.__name__ in _ESTIMATORS),
            "edition": self._edition,
            "family": to_json(self.family_),
            "power": self._model.likelihood.power,
            "grouping": None if self._grouping is None else to_json(self._grouping._asdict()),
        }
        return posterior_header | header, posterior_arrays | arrays | found

    @classmethod
    def _from_contents(cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Any:
        own = header[MIXTURE.kind]
        kind = _estimator_named(own.get("estimator", "Mixture"))
        estimator = super(BayesianMixture, kind)._from_contents(header, arrays)
        kept = kept_outcome(own, arrays, Posterior.from_container(header, arrays))
        weighted = "notes" in own or "maximum" in own  # before, families did not read weights
        estimator._edition = own.get("edition", 1)
        if "family" in own:
            estimator.family_ = from_json(own["family"])
        grouping, power = from_json(own.get("grouping")), own.get("power", 1.0)
        estimator._restore(arrays["table/weights"], kept, grouping, weighted=weighted, power=power)
        return estimator

    def _restore(self, weights: np.ndarray, kept: Kept, grouping: Any, *, weighted: bool, power: float) -> None:
        """Become what `fit` left, from the parts that a file holds; parts that do not fit each other are refused.

        ``grouping``: how a wish for a number of groups was answered. ``weighted``, ``power``: see
        `build_model`.
        """
        options = self._options()
        check_grouping(options.n_groups, grouping, kept.probabilities.shape[1])
        if grouping is not None and grouping["refitted"]:
            options = options.with_components(options.n_groups)
        outcome_checks.check_draws(options.engine.n_chains(options.plan), weights, kept.posterior)
        outcome_checks.check_estimate(kept.probabilities)
        first = self._edition == 1
        prior = of_first_edition(options.prior) if first else options.prior
        fixed = first or not options.engine.learns
        family = getattr(self, "family_", options.family)  # before, it was by the shape of the table alone
        self.family_ = family_from(family, taught_rows(self._table, weights, weighted=weighted), fixed=fixed)
        model = build_model(self.family_, self._table, prior, weights, weighted=weighted, fixed=fixed, power=power)
        self._answer_from(options.engine.restore(model, kept))
        if hasattr(self, "diagnostics_"):
            self.diagnostics_ = replace(self.diagnostics_, groups=self.estimate_.verdict)
        if grouping is not None:
            self._group(Grouping(**grouping))

    def __getstate__(self) -> dict[str, Any]:
        """All but the profile and the estimate, which are computed again where they are needed."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_profile", "_described")}


def _estimator_named(name: str) -> type[BayesianMixture]:
    if name not in _ESTIMATORS:
        raise UnknownClassError(
            f"The file holds a {printable(name)}, which this version of partita does not know: upgrade partita."
        )
    return getattr(import_module(_ESTIMATORS[name]), name)


def build_model(
    family: str | Family,
    table: Table,
    prior: Prior,
    weights: np.ndarray,
    *,
    weighted: bool = True,
    fixed: bool = False,
    power: float = 1.0,
) -> Model:
    """The model of a table; rows without any observed cell teach nothing, whatever their weight.

    Parameters
    ----------
    weighted : bool
        Whether the family's open numbers come from the rows with their weights; else from every row once.
    fixed : bool
        Whether the engine learns nothing unasked.
    power : float
        How often a row counts in the likelihood; in the prior it counts once.
    """
    taught = taught_rows(table, weights, weighted=weighted)
    weights = np.where(table.empty_rows, 0, weights)
    chosen = family_from(family, taught, fixed=fixed)
    likelihood = chosen.resolve_fixed(taught) if fixed else chosen.resolve(taught)
    if weights.sum() >= LARGEST_TOTAL:
        raise ValueError(f"sample_weight sums to {weights.sum()}; the most that can be counted is {LARGEST_TOTAL}.")
    return Model(powered(likelihood, power), prior, table, weights)


def taught_rows(table: Table, weights: np.ndarray, *, weighted: bool = True) -> Table:
    """The rows that take part, with their weights: those of positive weight that have an observed cell."""
    weights = np.where(table.empty_rows, 0, weights)
    taught = table.take(weights > 0)
    return replace(taught, weights=weights[weights > 0]) if weighted else taught


def of_first_edition(prior: Prior) -> Prior:
    """The prior as it was when every open concentration had the same hyperprior."""
    return clone(prior).set_params(concentration=Gamma(1.0, 1.0)) if prior.concentration is None else prior
