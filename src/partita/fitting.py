"""What every estimator's `fit` does once it has a table: run an engine, keep what it found, label the rows."""

import os
import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from partita import consistency
from partita.engines import EM, CollapsedVariational, Engine, Variational
from partita.engines.approximation import Approximation, approximate
from partita.engines.em import CRITERIA
from partita.engines.endings import doubt
from partita.engines.maximum import Maximum, components_of, maximize
from partita.engines.provenance import provenance_of
from partita.engines.responsibilities import PosteriorPlan
from partita.engines.runner import Plan
from partita.engines.sampling import sample
from partita.engines.table_reader import TableReader
from partita.families import Family
from partita.families.dirichlet_categorical import LARGEST_TOTAL
from partita.fitted import Fitted
from partita.model.grouping import Grouping, answer, prior_of
from partita.model.model import Model
from partita.model.predictive import Clusters, Expected, clusters_of
from partita.options import EstimatePlan, family_from, priors_from
from partita.parameters import check_random_state
from partita.posterior import Posterior
from partita.posterior.estimate import estimate
from partita.posterior.hierarchy import summed
from partita.priors import Gamma, Prior, StickBreaking
from partita.running.clock import running_seconds
from partita.table import Table
from partita.wording import count_of, printable_errors

EDITION = 2
"""Of the defaults of families and priors: a file says by which its model was made."""

LEFT_BY_FIT = (
    "_model",
    "_clusters",
    "_posterior",
    "_posterior_plan",
    "_profile",
    "_pieces",
    "_grouping",
    "_support_cost",
    "_described",
)


class Asked(NamedTuple):
    """The options of an estimator, checked, names turned into the objects they stand for."""

    plan: Plan
    engine: Engine
    priors: list[Prior]  # several where EM is to choose among them
    family: str | Family
    estimate: EstimatePlan
    n_groups: int | None = None  # that labels are to have


class Fitting(Fitted):
    """A `fit` that ends in labels; an estimator brings its options and the table."""

    _truncations: ClassVar[tuple[type[Prior], ...]] = (StickBreaking,)  # priors whose components stand for more
    random_state: Any
    n_jobs: int | None

    @abstractmethod
    def _asked(self) -> Asked:
        """The options, checked."""

    def check(self) -> None:
        """Refuse options outside their range, as `fit` does, without a table."""
        self._asked()
        check_random_state(self.random_state)

    def _fit_table(self, table: Table, weights: np.ndarray, asked: Asked, seed: np.random.SeedSequence) -> None:
        """Run the engine and label the rows; rows without any observed cell teach nothing."""
        self._forget()
        started = running_seconds()
        engine, plan = asked.engine, asked.plan
        weights = np.where(table.empty_rows, 0, weights)
        model = build_model(asked.family, table, asked.priors[0], weights, fixed=isinstance(engine, EM))
        self._entropy, self._edition = seed.entropy, EDITION
        if isinstance(engine, EM):
            self._keep_maximum(maximize(engine, model, asked.priors, plan, seed))
            self._plan_posterior(asked, self._model.prior.initial_concentration(), seed)
            self._label_by_components()
            self._warn_if_short(engine, plan)
        elif isinstance(engine, Variational | CollapsedVariational):
            found = approximate(engine, model, plan, seed)
            self._keep_approximation(found)
            self._plan_posterior(asked, found.state.concentration, seed)
            self.engine_, self.state_ = self._steps(engine), found.state
            self._warn_if_short(engine, plan)
            self._warn_if_full()
        else:
            posterior, states = sample(engine, model, plan, seed)
            self._model, self.engine_, self.state_ = model, engine, states
            self._keep(posterior)
            self._warn_if_untrustworthy(plan)
            self._estimate(asked.estimate, None if plan.max_time is None else started + plan.max_time)

    def _form_groups(self, table: Table, weights: np.ndarray, asked: Asked, seed: np.random.SeedSequence) -> None:
        """Give the labels as many groups as were asked for: merge pieces, or fit again with so many components."""
        if asked.n_groups is None:
            return
        wanted, found = asked.n_groups, self.n_clusters_
        if found > wanted:
            self._group(answer(wanted, found, self.hierarchy().groups(wanted)))
        elif found == wanted:
            self._group(answer(wanted, found, None))
        else:
            again = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, wanted))
            self._fit_table(table, weights, _with_components(asked, wanted), again)
            occupied = np.unique(self.labels_).size
            self._group(answer(wanted, found, None, occupied))
            if occupied < wanted:
                warnings.warn(self.groups_note_, ConvergenceWarning, stacklevel=3)

    def _group(self, grouping: Grouping) -> None:
        """Report groups instead of pieces, which are kept."""
        self._grouping, self.groups_note_ = grouping, grouping.note
        if grouping.groups is not None:
            self._pieces = self.labels_, self.probabilities_
            self.labels_ = grouping.groups[self.labels_]
            self.probabilities_ = summed(self.probabilities_, grouping.groups)
        self.n_clusters_ = self.probabilities_.shape[1]

    def _steps(self, engine: Variational | CollapsedVariational) -> Any:
        """The engine as machines call it that have parts of the rows or columns, where it can run so."""
        return engine.steps(self._model, self._reader()) if isinstance(engine, Variational) else engine

    def _reader(self) -> TableReader:
        """What reads raw rows as `fit` does."""
        return TableReader(self._model.table.schema)

    def _plan_posterior(self, asked: Asked, concentration: float, seed: np.random.SeedSequence) -> None:
        provenance = provenance_of(asked.engine, self._model, seed)
        self._posterior_plan = PosteriorPlan(asked.plan.draws, float(concentration), provenance)

    def _forget(self) -> None:
        """Drop what an earlier fit, perhaps by another engine, has left."""
        for name in [name for name in vars(self) if name.endswith("_") or name in LEFT_BY_FIT]:
            delattr(self, name)

    def _note_columns(self, X: Any, table: Table) -> None:
        if not isinstance(X, str | os.PathLike | Table):
            with printable_errors():
                _check_feature_names(self, X, reset=True)
            _check_n_features(self, X, reset=True)
            return
        self.n_features_in_ = len(table.names)
        if not table.schema.names_are_automatic:
            self.feature_names_in_ = np.array(table.names, dtype=object)

    def _keep(self, posterior: Posterior) -> None:
        """Keep the draws; what was learned of the likelihood is at its average wherever one number has to do."""
        self._posterior = posterior
        learned = {name: _average(posterior, name) for name in self._model.likelihood.learned}
        self._model = with_learned(self._model, learned)
        self.diagnostics_ = posterior.diagnostics()
        self.converged_ = self.diagnostics_.converged

    def _keep_maximum(self, found: Maximum) -> None:
        self._model = found.model
        self._clusters = found.components
        self.loglik_path_ = found.path
        self.n_iter_ = found.n_iter
        self.bic_, self.aic_, self.icl_ = (found.criteria[name] for name in CRITERIA)
        self.selection_ = found.selection
        self.converged_ = found.converged

    def _keep_approximation(self, found: Approximation) -> None:
        self._model = found.model
        self._clusters = found.clusters
        self.elbo_path_ = found.path
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        self.n_clusters_ = found.probabilities.shape[1]
        self.probabilities_ = np.empty((found.model.table.n_rows, self.n_clusters_))
        self.probabilities_[found.model.row_weights > 0] = found.probabilities
        self.labels_ = self.probabilities_.argmax(axis=1)
        self._label_absent()

    def _label_by_components(self) -> None:
        self.probabilities_ = self._membership(self._model.table)
        self.labels_ = self.probabilities_.argmax(axis=1)
        self.n_clusters_ = self.probabilities_.shape[1]

    def _warn_if_full(self) -> None:
        prior: Any = self._model.prior
        if isinstance(prior, self._truncations) and 1 < self.n_clusters_ == prior.n_components < self._model.total:
            warnings.warn(
                f"All {prior.n_components} components are in use, so there may be more clusters than could be found: "
                "allow more components (n_components of the prior, or truncation of the engine).",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _warn_if_short(self, engine: Any, plan: Plan) -> None:
        if not self.converged_:
            at_the_last = self.n_iter_ == engine.max_iter
            reached = f"max_iter={engine.max_iter}" if at_the_last else f"max_time={plan.max_time:g}"
            done = count_of(self.n_iter_, "iteration")
            warnings.warn(
                f"{engine.title} had not converged when {reached} was reached, after {done}.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _estimate(self, plan: EstimatePlan, deadline: float | None) -> None:
        posterior, model = self.posterior_, self._model
        found = estimate(
            posterior.partitions,
            posterior.weights,
            plan.loss,
            replace(plan.options, deadline=deadline),
            entropy=plan.entropy,
            groups=model.table.identical_rows(),
        )
        self._clusters = clusters_of(model, found.labels, _average(posterior, "concentration"), self._rng(1))
        self.labels_ = found.labels
        self.probabilities_ = found.probabilities
        self.n_clusters_ = found.n_clusters
        self._support_cost = found.support_cost
        self.diagnostics_ = replace(self.diagnostics_, groups=found.verdict)
        self._label_absent()

    def _label_absent(self) -> None:
        """Label the rows that did not take part as `predict` does, or as a row that did and is equal."""
        table, absent = self._model.table, self._model.row_weights == 0
        if not absent.any():
            return
        rows = np.flatnonzero(absent)
        self.probabilities_[rows] = self._membership(table.take(rows))
        self.labels_[rows] = self.probabilities_[rows].argmax(axis=1)
        rows, twins = _with_twins(rows, np.flatnonzero(~absent), table.identical_rows())
        self.probabilities_[rows] = self.probabilities_[twins]
        self.labels_[rows] = self.labels_[twins]

    def _warn_if_untrustworthy(self, plan: Plan) -> None:
        words = doubt(plan, self.posterior_, self.diagnostics_)
        if words:
            warnings.warn(words, ConvergenceWarning, stacklevel=4)

    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted model to one file, all of it or nothing; ``partita.load(path)`` reads it.

        The file holds options, table, draws and estimate, and nothing that runs: see ``docs/file-format.md``.
        """
        from partita.saving import save

        check_is_fitted(self)
        save(self, path)

    def _restore(
        self,
        table: Table,
        weights: np.ndarray,
        posterior: Posterior,
        clusters: Clusters,
        estimate: tuple[np.ndarray, np.ndarray],
        entropy: Any,
        notes: Mapping[str, Any],
        *,
        weighted: bool,
        edition: int,
    ) -> None:
        """Become what `fit` left, from the parts that a file holds; parts that do not fit each other are refused.

        ``notes["maximum"]`` and ``notes["approximation"]`` are what EM and the variational engines note besides,
        ``notes["grouping"]`` how a wish for a number of groups was answered. ``edition``: of the defaults.
        """
        asked, self._entropy, self._edition = self._asked(), entropy, edition
        maximum, approximation, grouping = notes["maximum"], notes["approximation"], notes["grouping"]
        consistency.check_grouping(asked.n_groups, grouping, estimate[1].shape[1])
        if grouping is not None and grouping["refitted"]:
            asked = _with_components(asked, asked.n_groups)
        consistency.check_notes(asked.engine, notes)
        consistency.check_draws(asked.engine, asked.plan, weights, posterior)
        self.labels_, self.probabilities_ = estimate
        consistency.check_estimate(self.probabilities_)
        prior = asked.priors[0]
        if maximum is not None:
            [prior] = [one for one in asked.priors if one.n_components == maximum["n_components"]]
        if edition == 1:
            prior = of_first_edition(prior)
        fixed = edition == 1 or isinstance(asked.engine, EM)
        model = build_model(asked.family, table, prior, weights, weighted=weighted, fixed=fixed)
        consistency.check_clusters(model, clusters)
        consistency.check_numbers(model, posterior, self.probabilities_.shape[1])
        if approximation is not None:
            consistency.check_learned(model, approximation["learned"])
            self._model, self._posterior = with_learned(model, approximation["learned"]), posterior
            self._clusters = Expected(clusters.log_seats, clusters.stats)
            self.elbo_path_, self.n_iter_ = approximation["path"], approximation["n_iter"]
            self.converged_ = approximation["converged"]
        elif maximum is None:
            consistency.check_traces(model, posterior)
            self._model, self._clusters = model, clusters
            self._keep(posterior)
            self._support_cost = notes["support_cost"] or 0.0
            self.n_clusters_ = self.probabilities_.shape[1]
            self.diagnostics_ = replace(self.diagnostics_, groups=self.estimate_.verdict)
        else:
            components = components_of(asked.engine, model, clusters.log_seats[:-1], clusters.stats[0, :-1])
            self._keep_maximum(Maximum(model, components, **maximum["found"]))
            self._posterior = posterior
        self.n_clusters_ = self.probabilities_.shape[1]
        if grouping is not None:
            self._group(Grouping(**grouping))
        self.n_features_in_ = len(table.names)

    def __getstate__(self) -> dict[str, Any]:
        """All but the profile and the estimate, which are computed again where they are needed."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_profile", "_described")}


def build_model(
    family: str | Family,
    table: Table,
    prior: Prior,
    weights: np.ndarray,
    *,
    weighted: bool = True,
    fixed: bool = False,
) -> Model:
    """The model; a family that is not ``weighted`` learns its open numbers from every row once.

    ``fixed``: it learns nothing unasked while the engine runs.
    """
    taught = table.take(weights > 0)
    if weighted:
        taught = replace(taught, weights=weights[weights > 0])
    chosen = family_from(family, taught, fixed=fixed)
    likelihood = chosen.resolve_fixed(taught) if fixed else chosen.resolve(taught)
    if weights.sum() >= LARGEST_TOTAL:
        raise ValueError(f"sample_weight sums to {weights.sum()}; the most that can be counted is {LARGEST_TOTAL}.")
    return Model(likelihood, prior, table, weights)


def of_first_edition(prior: Prior) -> Prior:
    """The prior as it was when every open concentration had the same hyperprior."""
    return clone(prior).set_params(concentration=Gamma(1.0, 1.0)) if prior.concentration is None else prior


def _with_components(asked: Asked, n_components: Any) -> Asked:
    """The options with a prior of so many components, none of which needs support: they were asked for."""
    plan = asked.estimate._replace(options=replace(asked.estimate.options, min_support=0.0))
    return asked._replace(priors=priors_from(prior_of(n_components), asked.engine), estimate=plan)


def with_learned(model: Model, values: Mapping[str, float]) -> Model:
    """The model with what its likelihood learns at these values; the same where it learns nothing."""
    return replace(model, likelihood=model.likelihood.with_learned(**values)) if values else model


def _average(posterior: Posterior, trace: str) -> float:
    return float(np.average(posterior.traces[trace].ravel(), weights=posterior.weights))


def _with_twins(rows: np.ndarray, others: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Those of ``rows`` that share their group with one of ``others``, and that other row."""
    _, first = np.unique(groups[others], return_index=True)
    twin = np.full(groups.max() + 1, -1)
    twin[groups[others[first]]] = others[first]
    found = twin[groups[rows]] >= 0
    return rows[found], twin[groups[rows[found]]]
