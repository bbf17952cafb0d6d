"""Mixture: the groups in a table, how many, which row is where, how sure that is."""

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from partita.engines import EM, Gibbs
from partita.engines.em import CRITERIA
from partita.engines.model import Model
from partita.engines.provenance import provenance_of
from partita.engines.reporting import Progress
from partita.engines.runner import Plan, run
from partita.families import Family
from partita.families.dirichlet_categorical import LARGEST_TOTAL
from partita.fitted import Fitted
from partita.maximum import Maximum, components_of, maximize
from partita.mixture_options import engine_from, family_from, plan_from, priors_from
from partita.parameters import check_random_state, seed_from, whole_number
from partita.posterior import Posterior
from partita.posterior.estimate import Options, estimate_tied
from partita.predictive import Clusters, clusters_of, simulate_prior
from partita.priors import FiniteDirichlet, Prior
from partita.table import Table
from partita.table.wording import count_of

LEFT_BY_FIT = ("_model", "_clusters", "_posterior", "_posterior_plan", "_profile")
DISAGREEMENT = 1.05  # R-hat of any trace, membership included, from which a fit warns


class Mixture(Fitted, ClusterMixin, BaseEstimator):
    """A mixture model of a family and a prior; the number of clusters is unknown, or given to EM.

    Parameters
    ----------
    family : "auto", Family or name of one
        What the rows of one cluster look like. "auto": full-covariance Gaussian for numeric tables with few columns
        for their rows, otherwise diagonal; categories and counts by type; `Mixed` for several types.
    prior : Prior or name of one, default DirichletProcess()
        How rows fall into clusters.
    engine : {"gibbs", "em"}, Gibbs or EM
        How the posterior is found: by sampling, or at the best parameters of ``FiniteDirichlet(n_components=K)``.
    chains : int
        Independent chains; their agreement is what the diagnostics judge. EM reads neither this nor ``warmup`` and
        ``thin``.
    draws : "auto" or int
        "auto": until R-hat <= 1.01 and ESS >= 400 on the label-invariant traces, or ``max_time``, or 5000 sweeps per
        chain. A number: that many draws per chain. EM draws them from its responsibilities, 200 by default.
    warmup : int, optional
        Sweeps per chain that are not kept. By default the first quarter or half of all sweeps ("auto"), or half as
        many as there are draws and at least 50.
    thin : int
        Keep every so many sweeps.
    standardize : bool
        Whether numeric columns are centred and scaled first. Prior options are then in those units; results are not.
    column_types : mapping, optional
        Column name (or position) to "numeric", "categorical" or "count"; overrides what the values suggest.
    max_time : float, optional
        Seconds after which the engine stops with what it has; compiling on first use does not count.
    n_jobs : int, optional
        Chains, or starts of EM, run at the same time, as in joblib: None is 1, -1 all cores. Results do not depend
        on it.
    progress : bool or callable
        True: a status line on a terminal. A callable receives `partita.engines.Progress` objects.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    labels_ : (n,) int64
        The estimated partition: a minimum of the expected variation of information, found by moving rows from
        the best draw (see `Posterior.estimate`), identical rows together. 0 is the largest cluster. Of EM the
        component of the largest responsibility.
    n_clusters_ : int
    probabilities_ : (n, n_clusters_)
        How surely each row belongs to each estimated cluster; rows sum to 1. Of EM the responsibilities.
    posterior_ : Posterior
        All draws. Rows of weight 0 and rows without any observed cell are -1 in it.
    converged_ : bool
    diagnostics_ : Diagnostics
        Of sampling only.
    profile_ : frame
        What is typical of every cluster, column by column, in the units of X; computed on first access.
    loglik_path_ : (n,) array
        Of EM only: what it maximises, iteration by iteration, in the units of X, since the last component was removed.
        The log likelihood; for ``EM(estimate="map")`` plus the log prior density of weights and parameters.
    bic_, aic_, icl_ : float
        Of EM only; the smaller, the better.
    selection_ : dict
        Of EM only: every number of components tried to its value of the criterion, where there was a choice.
    n_iter_ : int
        Of EM only: iterations of the best start.
    n_features_in_, feature_names_in_

    Notes
    -----
    ``predict`` conditions on the statistics of the estimated partition, so ``predict(X_train)`` may differ from
    ``labels_`` for rows near a border. ``score_samples`` averages over all draws. EM's parameters are one set, and
    ``predict``, ``labels_`` and ``score_samples`` agree.
    """

    def __init__(
        self,
        *,
        family: str | Family = "auto",
        prior: str | Prior | None = None,
        engine: str | Gibbs | EM = "gibbs",
        chains: int = 4,
        draws: int | str = "auto",
        warmup: int | None = None,
        thin: int = 1,
        standardize: bool = True,
        column_types: Mapping[Any, str] | None = None,
        max_time: float | None = None,
        n_jobs: int | None = None,
        progress: bool | Callable[[Progress], None] = False,
        random_state: Any = None,
    ):
        self.family = family
        self.prior = prior
        self.engine = engine
        self.chains = chains
        self.draws = draws
        self.warmup = warmup
        self.thin = thin
        self.standardize = standardize
        self.column_types = column_types
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "Mixture":
        """Find the posterior over partitions of the rows of X.

        X is a frame, an array, the path of a CSV or Parquet file, or a `Table`. ``sample_weight``: non-negative
        whole numbers; a row of weight w is w copies tied to one label, a row of weight 0 is labelled by
        ``predict`` and teaches nothing; so is a row without any observed cell. ``y`` is ignored. Of a `Table` columns
        are as they were read: ``column_types`` and ``standardize`` are options of `Table.read`.
        """
        plan, engine = plan_from(self), engine_from(self.engine)
        priors = priors_from(self.prior, engine)
        seed = seed_from(self.random_state)
        table = Table.read(X, column_types=self.column_types, standardize=self.standardize, sample_weight=sample_weight)
        self._forget()
        weights = np.where(table.empty_rows, 0, _whole_weights(sample_weight, table.n_rows))
        model = self._build(table, priors[0], weights)
        self._entropy = seed.entropy
        if isinstance(engine, EM):
            self._keep_maximum(maximize(engine, model, priors, plan, seed))
            self._posterior_plan = (plan.draws, provenance_of(engine, self._model, seed))
            self._label_by_components()
            self._warn_if_short(engine, plan)
        else:
            self._refuse_tied_gaps(model)
            self._model = model
            self._keep(run(engine, model, plan, seed))
            self._warn_if_untrustworthy(plan)
            self._estimate()
        self._note_columns(X, table)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit and return ``labels_``."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def check(self) -> None:
        """Refuse options outside their range, as `fit` does, without a table."""
        plan_from(self)
        priors_from(self.prior, engine_from(self.engine))
        check_random_state(self.random_state)

    def _build(self, table: Table, prior: Prior, weights: np.ndarray, *, weighted: bool = True) -> Model:
        """The model; a family that is not ``weighted`` learns its open numbers from every row once."""
        taught = table.take(weights > 0)
        if weighted:
            taught = replace(taught, weights=weights[weights > 0])
        likelihood = family_from(self.family, taught).resolve(taught)
        if weights.sum() >= LARGEST_TOTAL:
            raise ValueError(f"sample_weight sums to {weights.sum()}; the most that can be counted is {LARGEST_TOTAL}.")
        return Model(likelihood, prior, table, weights)

    def _refuse_tied_gaps(self, model: Model) -> None:
        if model.row_weights.max() > 1 and model.likelihood.draws_cells(model.taught().shared_rows):
            raise ValueError(
                "sample_weight above 1 cannot be combined with missing cells under a full covariance: "
                "repeat the rows, or use Gaussian(covariance='diag')."
            )

    def _forget(self) -> None:
        """Drop what an earlier fit, perhaps by another engine, has left."""
        for name in [name for name in vars(self) if name.endswith("_") or name in LEFT_BY_FIT]:
            delattr(self, name)

    def _note_columns(self, X: Any, table: Table) -> None:
        if not isinstance(X, str | os.PathLike | Table):
            _check_feature_names(self, X, reset=True)
            _check_n_features(self, X, reset=True)
            return
        self.n_features_in_ = len(table.names)
        if not table.schema.names_are_automatic:
            self.feature_names_in_ = np.array(table.names, dtype=object)

    def _keep(self, posterior: Posterior) -> None:
        self._posterior = posterior
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

    def _label_by_components(self) -> None:
        self.probabilities_ = self._membership(self._model.table)
        self.labels_ = self.probabilities_.argmax(axis=1)
        self.n_clusters_ = self.probabilities_.shape[1]

    def _warn_if_short(self, engine: EM, plan: Plan) -> None:
        if not self.converged_:
            at_the_last = self.n_iter_ == engine.max_iter
            reached = f"max_iter={engine.max_iter}" if at_the_last else f"max_time={plan.max_time:g}"
            warnings.warn(
                f"EM had not converged when {reached} was reached, after {count_of(self.n_iter_, 'iteration')}.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _estimate(self) -> None:
        posterior, model = self.posterior_, self._model
        groups = model.table.identical_rows()
        absent = model.row_weights == 0
        options = Options(runs=None, n_jobs=self.n_jobs or 1)
        estimate = estimate_tied(posterior.partitions, posterior.weights, groups, options)
        concentration = float(np.average(posterior.traces["concentration"].ravel(), weights=posterior.weights))
        self._clusters = clusters_of(model, estimate.labels, concentration, self._rng(1))
        self.labels_ = estimate.labels
        self.probabilities_ = estimate.probabilities
        self.n_clusters_ = estimate.n_clusters
        if absent.any():
            rows = np.flatnonzero(absent)
            self.probabilities_[rows] = self._membership(model.table.take(rows))
            self.labels_[rows] = self.probabilities_[rows].argmax(axis=1)
            rows, twins = _with_twins(rows, np.flatnonzero(~absent), groups)
            self.probabilities_[rows] = self.probabilities_[twins]
            self.labels_[rows] = self.labels_[twins]

    def _warn_if_untrustworthy(self, plan: Plan) -> None:
        worst = np.max([row["rhat"] for row in self.diagnostics_.table.values()])
        stopped = self.posterior_.provenance["stopped"]
        if stopped == "interrupted":
            message = f"Interrupted: the result rests on {self.posterior_.n_draws} draws. {self.diagnostics_.verdict}"
        elif plan.automatic and not self.converged_:
            n_sweeps = max(self.posterior_.provenance["sweeps"])
            why = "max_time was reached" if stopped == "max_time" else f"{n_sweeps} sweeps per chain were reached"
            message = f"The chains had not converged when {why}. {self.diagnostics_.verdict}"
        elif not worst <= DISAGREEMENT:  # nan: too few draws to tell
            message = self.diagnostics_.verdict
        else:
            return
        warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def sample_prior(self, n_samples: int = 100, *, like: Any = None) -> tuple[Any, np.ndarray]:
        """Rows of a table that the model could have produced before it saw any, and the cluster of each.

        The prior's draw of a partition, a draw of every cluster's parameters, then a row from each row's cluster.

        Parameters
        ----------
        n_samples : int
            Rows of the table.
        like : table, optional
            What the rows are to look like: columns, their types, and all numbers of the family that were left
            open, which are taken from it as `fit` does. By default the table of `fit`.

        Returns
        -------
        rows, labels
            Rows as ``like`` came: an array for an array of numbers, otherwise a frame of the same kind. Labels are
            numbered in order of appearance.
        """
        n_samples = whole_number("n_samples", n_samples, 1)
        if like is None:
            check_is_fitted(self, msg="sample_prior needs a table to go by: pass like=X, or call fit first.")
            model, rng = self._model, self._rng(5)
        else:
            prior = self._one_prior()
            table = Table.read(like, column_types=self.column_types, standardize=self.standardize)
            model = self._build(table, prior, np.where(table.empty_rows, 0, 1))
            rng = np.random.default_rng(seed_from(self.random_state))
        cells, labels = simulate_prior(model, n_samples, rng)
        return self._rows_like(model.table, cells), labels

    def _one_prior(self) -> Prior:
        if isinstance(self.prior, FiniteDirichlet) and len(self.prior.candidates()) > 1:
            raise ValueError("n_components are several numbers: set one of them to draw from the prior.")
        return priors_from(self.prior, engine_from(self.engine))[0]

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
        maximum: Mapping[str, Any] | None,
        *,
        weighted: bool,
    ) -> None:
        """Become what `fit` left, from the parts that a file holds; ``maximum`` is what EM notes besides."""
        engine, self._entropy = engine_from(self.engine), entropy
        priors = priors_from(self.prior, engine)
        if maximum is None:
            self._model, self._clusters = self._build(table, priors[0], weights, weighted=weighted), clusters
            self._keep(posterior)
        else:
            prior = next(one for one in priors if one.n_components == maximum["n_components"])
            model = self._build(table, prior, weights)
            components = components_of(engine, model, clusters.log_seats[:-1], clusters.stats[0, :-1])
            self._keep_maximum(Maximum(model, components, **maximum["found"]))
            self._posterior = posterior
        self.labels_, self.probabilities_ = estimate
        self.n_clusters_ = self.probabilities_.shape[1]
        self.n_features_in_ = len(table.names)

    def __getstate__(self) -> dict[str, Any]:
        """All but the profile, which is computed again where it is needed."""
        return {name: value for name, value in super().__getstate__().items() if name != "_profile"}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.non_deterministic = False
        return tags


def _with_twins(rows: np.ndarray, others: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Those of ``rows`` that share their group with one of ``others``, and that other row."""
    _, first = np.unique(groups[others], return_index=True)
    twin = np.full(groups.max() + 1, -1)
    twin[groups[others[first]]] = others[first]
    found = twin[groups[rows]] >= 0
    return rows[found], twin[groups[rows[found]]]


def _whole_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Weights, already checked by the table, as whole numbers."""
    if sample_weight is None:
        return np.ones(n_rows, dtype=np.int64)
    return np.asarray(sample_weight, dtype=np.float64).astype(np.int64)
