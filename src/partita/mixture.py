"""Mixture: the groups in a table, how many, which row is where, how sure that is."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from partita.bayesian_mixture import BayesianMixture, FitOptions
from partita.engines import Engine
from partita.families import Family
from partita.families.automatic import guessing, positive_columns, standardizing
from partita.families.powered import checked_power
from partita.model.model import Model
from partita.options import engine_from, plan_from
from partita.parameters import seed_from, whole_number
from partita.posterior import Loss
from partita.priors import FiniteDirichlet, Prior
from partita.priors.named import prior_from
from partita.running.progress import Progress
from partita.table import Table
from partita.table.missing_values import missing_pairs
from partita.table.unseen import checked_unseen


class Mixture(BayesianMixture, ClusterMixin, BaseEstimator):
    """A mixture model of a family and a prior; the number of clusters is unknown, or given to EM.

    Parameters
    ----------
    family : "auto", Family or name of one
        What the rows of one cluster look like. "auto": categories and counts by type, `Mixed` for several types;
        numeric columns with a full or a diagonal covariance, whichever has the higher evidence
        (`partita.engines.family_evidence`), diagonal where there are more than 50, or fewer than two rows for each.
    prior : Prior or name of one, default DirichletProcess()
        How rows fall into clusters.
    n_clusters : int, optional
        How many groups the labels are to have. By default as many as are found. Where the estimate has more, its pieces
        are merged (see `hierarchy`); where it has fewer, the model is fitted again with so many components.
        ``groups_note_`` says which it was.
    engine : {"gibbs", "vb", "cvb", "em"}, or an engine of `partita.engines`
        How the posterior is found: by sampling, by a variational or collapsed variational approximation, or at the best
        parameters of ``FiniteDirichlet(n_components=K)``.
    chains : int
        Independent chains; their agreement is what the diagnostics judge. Only "gibbs" reads this, ``warmup`` and
        ``thin``.
    draws : "auto" or int
        "auto": until R-hat <= 1.01 and ESS >= 400 on the label-invariant traces, or ``max_time``, or 5000 sweeps per
        chain. A number: that many draws per chain. Other engines draw them from their responsibilities, 200 by default.
    warmup : int, optional
        Sweeps per chain that are not kept. By default the first quarter or half of all sweeps ("auto"), or half as
        many as there are draws and at least 50.
    thin : int
        Keep every so many sweeps.
    standardize : bool
        Whether numeric columns are centred and scaled first. Prior options are then in those units; results are not.
        Columns of a family that reads numbers as they are stay so (`Family.standardizes`).
    column_types : mapping, optional
        Column name, position, pattern (``"item_*"``) or tuple of these to "numeric", "positive" (log-normal),
        "categorical", "count" or "date" (of text "day-first" or "month-first"); overrides what the values suggest. A
        name wins over a pattern, a later pattern over an earlier one.
    column_steps : mapping or float, optional
        The same keys to the step that a column's numbers were recorded in, where that is not what the values suggest:
        ``{"age": 5}``. One number is for all columns, 0 for continuous numbers. A Gaussian cell stands for what lies
        within half a step of it.
    guess_types : bool
        Whether numbers that are better told as categories are read so (any two; a few, or evenly spread ones, in equal
        steps), those that are better told by their logs as positive numbers (all above 0, with a long tail), and
        those of which many are 0 as two columns, 0 or not and how much, in columns that ``column_types`` does not name.
        A family that reads one kind of columns leaves nothing to guess.
    missing : text, number, list or mapping, optional
        What stands for a missing cell, here and in `predict`: ``-999``, ``[-9, "unknown"]``, or by columns
        ``{"age": -999, "item_*": [8, 9]}`` with keys as in ``column_types``.
    unseen : {"missing", "error"}
        What becomes of a category that `predict` and its like meet and ``fit`` did not see, and of a number without a
        log in a positive column: a missing cell, with one warning that names columns, values and rows; or an error.
    power : float
        How often a row counts in the likelihood; in the prior it counts once. 1 is Bayes' rule, less trusts rows less,
        where columns repeat each other or groups are not quite of the family's shape: see ``docs/power.md``.
    loss, entropy, max_clusters, min_size, min_support
        How the draws become ``labels_``, as in `Posterior.estimate`. By default a group is reported where most draws
        hold it together, and apart from every other group; ``min_support=0`` reports the partition of least
        expected loss. Only "gibbs" reads these.
    max_time : float, optional
        Seconds for everything up to ``labels_``: four fifths for the engine, which stops with what it has, the rest for
        what is read from it. Compiling on first use does not count.
    n_jobs : int, optional
        Chains, or starts of the other engines (of many rows parts of them), run at the same time, as in joblib: None
        is 1, -1 all cores. Results do not depend on it.
    progress : bool or callable
        True: a status line on a terminal. A callable receives `partita.engines.Progress` objects.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    labels_ : (n,) int64
        The estimated partition: of least expected loss among those that the draws support, found by moving rows
        from the best draw (see `Posterior.estimate`), identical rows together. 0 is the largest cluster. Of other
        engines than "gibbs" the component of the largest responsibility.
    n_clusters_ : int
    probabilities_ : (n, n_clusters_)
        How surely each row belongs to each estimated cluster; rows sum to 1. Of engines other than "gibbs" the
        responsibilities. Where ``n_clusters`` merges pieces, sums of theirs.
    groups_note_ : str
        Where ``n_clusters`` is given: how that number came about.
    family_note_ : str
        Where ``max_time`` left no time to choose between a full and a diagonal covariance by evidence: says so.
    posterior_ : Posterior
        All draws. Rows of weight 0 and rows without any observed cell are -1 in it.
    estimate_ : Estimate
        What the draws say for ``labels_``: support of every cluster, expected loss, and whether they determine groups.
    converged_ : bool
    diagnostics_ : Diagnostics
        Of sampling only; ``diagnostics_.groups`` is the verdict of ``estimate_``.
    profile_ : frame
        What is typical of every cluster, column by column, in the units of X; computed on first access.
    inclusion_ : (n_clusters_, n_columns) array
        Of ``family=Selective(...)`` only: the probability that each cluster selects each column of X.
    cluster_centers_ : (n_clusters_, n_features_in_) array
        Of tables of numeric columns only: means of the rows of every cluster in the units of X, of positive columns
        geometric means, unless many of their cells are 0.
    loglik_path_ : (n,) array
        Of EM only: what it maximises, iteration by iteration, in the units of X, since the last component was removed.
        The log likelihood; for ``EM(estimate="map")`` plus the log prior density of weights and parameters.
    weights_, means_, covariances_, rates_, shares_
        Of EM only: weights (K,) of the components; in the units of X means (K, d) and covariances (K, d, d) of the
        numeric columns (of positive ones the medians, and covariances of their logs); rates (K, q) of counts; a dict
        from a categorical column to the shares (K, levels) of its levels. What the table has no columns of is missing.
    iterations_ : list of ComponentParameters
        Of ``EM(keep_iterations=True)``: the same at every iteration of the best start, and its ``objective``.
    n_components_ : int
        Of EM only: the number of components that was chosen; some may have been removed.
    bic_, aic_, icl_ : float
        Of EM only; the smaller, the better.
    selection_ : dict
        Of EM only: every number of components tried to its value of the criterion, where there was a choice.
    elbo_path_ : (n,) array
        Of the variational engines only: the lower bound on the log evidence, all constants included, iteration by
        iteration of the best start, in the units of X. Where numbers are learned, plus the log density of their logs.
    n_iter_ : int
        Of all engines but "gibbs": iterations of the best start.
    family_ : Family
        The family that was fitted: what "auto" stood for.
    engine_, state_
        The engine and its last state (of "gibbs" one per chain); the state is not in files.
    steps_ : Steps
        Of "vb" and "em": an iteration, for machines that have a part of the rows each; see `partita.engines.steps`.
    table_ : Table
    n_features_in_, feature_names_in_

    Notes
    -----
    ``predict`` conditions on the statistics of the estimated partition, so ``predict(X_train)`` may differ from
    ``labels_`` for rows near a border. ``score_samples`` averages over all draws. Of "vb" and "cvb" both read the
    expected statistics under q. EM's parameters are one set, and ``predict``, ``labels_`` and ``score_samples`` agree.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 2))
    >>> model = Mixture(draws=50, random_state=0).fit(rows)
    >>> model.n_clusters_, model.predict([[8.0, 10.0]]) == model.labels_[-1]
    (2, array([ True]))
    """

    def __init__(
        self,
        *,
        family: str | Family = "auto",
        prior: str | Prior | None = None,
        n_clusters: int | None = None,
        engine: str | Engine = "gibbs",
        chains: int = 4,
        draws: int | str = "auto",
        warmup: int | None = None,
        thin: int = 1,
        standardize: bool = True,
        column_types: Mapping[Any, str] | None = None,
        column_steps: Mapping[Any, float] | float | None = None,
        guess_types: bool = True,
        missing: Any = None,
        unseen: str = "missing",
        power: float = 1.0,
        loss: str | Loss = "vi",
        entropy: float = 0.0,
        max_clusters: int | str | None = None,
        min_size: int | None = None,
        min_support: float = 0.5,
        max_time: float | None = None,
        n_jobs: int | None = None,
        progress: bool | Callable[[Progress], None] = False,
        random_state: Any = None,
    ):
        self.family = family
        self.prior = prior
        self.n_clusters = n_clusters
        self.engine = engine
        self.chains = chains
        self.draws = draws
        self.warmup = warmup
        self.thin = thin
        self.standardize = standardize
        self.column_types = column_types
        self.column_steps = column_steps
        self.guess_types = guess_types
        self.missing = missing
        self.unseen = unseen
        self.power = power
        self.loss = loss
        self.entropy = entropy
        self.max_clusters = max_clusters
        self.min_size = min_size
        self.min_support = min_support
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "Mixture":
        """Find the posterior over partitions of the rows of X.

        X is a frame, an array, the path of a CSV or Parquet file, or a `Table`. ``sample_weight``: non-negative
        whole numbers; a row of weight w is w copies tied to one label, a row of weight 0 is labelled by
        ``predict`` and teaches nothing; so is a row without any observed cell. ``y`` is ignored. Of a `Table` columns
        are as they were read: ``column_types``, ``column_steps``,
        ``guess_types``, ``missing`` and ``standardize`` are options of `Table.read`.
        """
        options, seed = self._options(), seed_from(self.random_state)
        table = self._read_anew(X, sample_weight=sample_weight)
        weights = _whole_weights(sample_weight, table.n_rows)
        _require_rows(options.n_groups, np.where(table.empty_rows, 0, weights))
        self._forget()  # a failed fit is none
        options = options.begun()
        with options.plan.running_watch.listening():
            options = options.settled(table, weights)
            model = options.model(table, weights)
            self._keep(options.engine.fit(model, options.plan, seed), seed, options.family)
            self._form_groups(model, options, seed)
            if options.family_note:
                self.family_note_ = options.family_note
            self._keep_table(table, X)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit and return ``labels_``."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def _options(self) -> FitOptions:
        for option in ("standardize", "guess_types"):
            if not isinstance(getattr(self, option), bool | np.bool_):
                raise TypeError(f"{option} must be True or False, got {getattr(self, option)!r}.")
        missing_pairs(self.missing, ())
        checked_unseen(self.unseen)
        engine = engine_from(self.engine)
        n_groups = None if self.n_clusters is None else whole_number("n_clusters", self.n_clusters, 1, also="None")
        prior, power = self._prior_of(engine), checked_power(self.power)
        return FitOptions(plan_from(self), engine, prior, self.family, n_groups, power=power)

    def _prior_of(self, engine: Engine) -> Prior:
        """The prior as the engine runs it; one that must be told the number of groups takes what is asked for."""
        prior = self.prior
        if prior is None and self.n_clusters is not None and not engine.finds_number:
            prior = FiniteDirichlet(n_components=self.n_clusters)
        return engine.prior_for(prior_from(prior))

    def _model_like(self, table: Any) -> Model:
        if isinstance(self.prior, FiniteDirichlet) and len(self.prior.candidates()) > 1:
            raise ValueError("n_components are several numbers: set one of them to draw from the prior.")
        rows = self._read_anew(table)
        once = np.ones(rows.n_rows, np.int64)
        return self._options().begun().settled(rows, once).model(rows, once)

    def _read_anew(self, X: Any, **how: Any) -> Table:
        """A table that is to be learned from."""
        return Table.read(
            X,
            column_types=self.column_types,
            column_steps=self.column_steps,
            guess_types=guessing(self.guess_types, self.family),
            missing=self.missing,
            standardize=standardizing(self.standardize, self.family),
            **positive_columns(self.family),
            **how,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.non_deterministic = False
        return tags


def _require_rows(n_groups: int | None, weights: np.ndarray) -> None:
    n_rows = int(np.count_nonzero(weights))
    if n_groups is not None and n_groups > n_rows:
        raise ValueError(
            f"n_clusters={n_groups} is more than there are rows to learn from: n_samples = {n_rows}, without rows of "
            f"weight 0 and rows that have no observed cell. Ask for at most {n_rows}."
        )


def _whole_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Weights, already checked by the table, as whole numbers."""
    if sample_weight is None:
        return np.ones(n_rows, dtype=np.int64)
    return np.asarray(sample_weight, dtype=np.float64).astype(np.int64)
