"""NBCE: the consensus of many clusterings, and how many clusters it has."""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from partita.bayesian_mixture import BayesianMixture, FitOptions
from partita.consensus.agreement import base_agreement
from partita.consensus.canonical_table import CanonicalTable
from partita.consensus.label_table import LabelReader, columns_of, label_table
from partita.consensus.nbce_options import consensus_family, consensus_prior, few_beforehand, learned_from
from partita.consensus.perplexity import Perplexity
from partita.consensus.votes import checked_votes, column_weight, telling
from partita.engines import ENGINES, Engine, Progress
from partita.engines.outcome import Kept
from partita.families import Categorical
from partita.model.model import Model
from partita.options import engine_from, plan_from
from partita.parameters import seed_from, whole_number
from partita.posterior import Loss
from partita.priors import FiniteDirichlet, Gamma, Prior, StickBreaking
from partita.table import Schema, Table
from partita.table.unseen import checked_unseen


class NBCE(Perplexity, BayesianMixture, ClusterMixin, BaseEstimator):
    """Nonparametric Bayesian clustering ensembles: one clustering out of many, without the data behind them.

    A mixture over a table of categories: y_nm | z_n = k ~ Cat(theta_km), theta_km ~ Dirichlet(beta, ..., beta), with z
    from the prior; y_nm is the label of object n in base clustering m. Labels of different base clusterings need not
    correspond, and their numbers of clusters may differ.

    Parameters
    ----------
    prior : str or Prior
        How objects fall into clusters: a prior by its name, such as "stick-breaking", "finite-dirichlet",
        "dirichlet-process" or "pitman-yor"; or a prior object, which brings its own ``n_components`` and concentration.
    n_components : int
        The most clusters there can be, of a prior that is named and has such a limit, and where the variational engines
        truncate one that has none.
    concentration : float, Gamma or None
        alpha of a prior that is named: fixed, or learned if ``learn`` says so, a number then being the mean of its
        Gamma(1, 1/value) hyperprior. None is 1.
    pseudocount : float, Gamma or None
        beta, fixed or learned in the same way. Fixed ones may be one per base clustering. None is 1, and of fewer votes
        than ``"all"`` at most 4 / J for each of J labels: see `partita.consensus.nbce_options`.
    engine : {"gibbs", "vb", "cvb"} or an engine of `partita.engines`
        Sampling, variational or collapsed variational.
    votes : {"auto", "all"} or float
        How many votes the base clusterings have together: the effective number, from how much they share
        (`partita.consensus.votes`); as many as they are, which is the paper's model; or a number up to theirs. Each
        counts ``votes_ / n_clusterings`` times as evidence (`families.Categorical`, ``column_weight``): with fewer
        votes than clusterings the posterior is a generalised one. Those that part no objects have none.
    learn : tuple
        What is learned, out of "concentration" and "pseudocount"; ``()`` fixes both.
    n_labels : int or sequence of int, optional
        How many labels the base clusterings have, or each of them, where some may not occur in ``Y``; by default those
        that occur. Of whole numbers they are 0, 1, ..., or 1, 2, ...: such a label is known when it is met later.
    unseen : {"missing", "error"}
        What becomes of a label that `predict` and its like meet and ``fit`` did not see: none, with one warning that
        names clusterings, labels and objects; or an error.
    chains, draws, warmup, loss, entropy, max_clusters, min_size, min_support, n_jobs, max_time, progress, random_state
        As in `Mixture`.

    Attributes
    ----------
    labels_ : (n_objects,) int64
        The consensus; 0 is the largest cluster. The partition of least expected variation of information, objects with
        equal labels together; of the variational engines the component of the largest responsibility.
    n_clusters_ : int
    probabilities_ : (n_objects, n_clusters_)
        How surely each object belongs to each cluster.
    posterior_ : Posterior
        All draws. Objects without any label are -1 in it.
    base_agreement_ : (n_clusterings,)
        How well the consensus predicts each base clustering, in nats saved per object; see
        `partita.consensus.agreement.base_agreement`.
    votes_ : float
        How many votes the base clusterings had.
    converged_ : bool
    diagnostics_ : Diagnostics
        Of sampling only.
    elbo_path_ : (n_iter,)
        Of the variational engines: the bound at every iteration of the best start.
    engine_, state_
        The engine and its last state; of "gibbs" one per chain. Objects, clusterings and labels of a state are in
        canonical order, but of "vb" as given. States are not in files.
    steps_ : Steps
        Of "vb" only: its iteration, for machines that have parts of the objects or of the clusterings; see
        `partita.engines.steps`.
    table_ : Table
    n_features_in_, feature_names_in_

    Notes
    -----
    Neither the order of objects or of base clusterings nor the names of labels matter: all of them are put into an
    order of their own first (`partita.consensus.canonical`).

    The paper's printed conditionals and updates have errors, listed in ``docs/consensus.md``; what runs here is the
    corrected form. `FiniteDirichlet(as_printed=True)` is the printed conditional of FSD.

    References
    ----------
    Wang, Domeniconi and Laskey (2010), Nonparametric Bayesian clustering ensembles.

    Examples
    --------
    >>> import numpy as np
    >>> first = np.repeat([0, 1], 10)
    >>> NBCE(draws=50, random_state=0).fit(np.column_stack([first, 1 - first, first])).labels_
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    """

    _truncations: ClassVar[tuple[type[Prior], ...]] = (StickBreaking, FiniteDirichlet)

    def __init__(
        self,
        *,
        prior: str | Prior = "stick-breaking",
        n_components: int = 100,
        concentration: float | Gamma | None = None,
        pseudocount: float | Sequence[float] | Gamma | None = None,
        engine: str | Engine = "gibbs",
        votes: str | float = "auto",
        learn: Sequence[str] = ("concentration",),
        n_labels: int | Sequence[int] | None = None,
        unseen: str = "missing",
        chains: int = 4,
        draws: int | str = "auto",
        warmup: int | None = None,
        loss: str | Loss = "vi",
        entropy: float = 0.0,
        max_clusters: int | str | None = None,
        min_size: int | None = None,
        min_support: float = 0.5,
        n_jobs: int | None = None,
        max_time: float | None = None,
        progress: bool | Callable[[Progress], None] = False,
        random_state: Any = None,
    ):
        self.prior = prior
        self.n_components = n_components
        self.concentration = concentration
        self.pseudocount = pseudocount
        self.engine = engine
        self.votes = votes
        self.learn = learn
        self.n_labels = n_labels
        self.unseen = unseen
        self.chains = chains
        self.draws = draws
        self.warmup = warmup
        self.loss = loss
        self.entropy = entropy
        self.max_clusters = max_clusters
        self.min_size = min_size
        self.min_support = min_support
        self.n_jobs = n_jobs
        self.max_time = max_time
        self.progress = progress
        self.random_state = random_state

    def fit(self, Y: Any, y: Any = None) -> "NBCE":
        """Find the posterior over partitions of the objects.

        Parameters
        ----------
        Y : array-like, frame or path of shape (n_objects, n_clusterings), or Partitions
            The label of every object in every base clustering: whole numbers, text, truth values or categories. -1,
            None, nan and empty text mean that there is none. Of a `Partitions` every row is a base clustering.
        y
            Ignored.
        """
        options, seed = self._options(), seed_from(self.random_state)
        table = label_table(Y, n_labels=self.n_labels)
        self._forget()  # a failed fit is none
        options = options.begun()
        with options.plan.running_watch.listening():
            once = np.ones(table.n_rows, np.int64)
            canonical = CanonicalTable(table)
            weight = column_weight(canonical.table.codes, self.votes)
            options = self._with_votes(options, table, weight).settled(table, once)
            model = options.model(table, once)
            outcome = options.engine.fit(canonical.model(model), options.plan, seed)
            self._keep(canonical.put_back(outcome, model), seed, options.family)
            self._keep_table(table, columns_of(Y))
        return self

    @property
    def votes_(self) -> float:
        """How many votes the base clusterings had together."""
        check_is_fitted(self)
        family: Any = self.family_
        return family.column_weight * float(np.count_nonzero(telling(self._model.table.codes)))

    @property
    def base_agreement_(self) -> np.ndarray:
        """Nats per object that the consensus saves in telling each base clustering, (n_clusterings,)."""
        check_is_fitted(self)
        likelihood: Any = self._model.likelihood
        return base_agreement(self._model.table.codes, self.labels_, likelihood.pseudocount)

    def _model_like(self, table: Any) -> Model:
        labels = label_table(table, n_labels=self.n_labels)
        options = self._with_votes(self._options(), labels, column_weight(labels.codes, self.votes))
        return options.model(labels, np.ones(labels.n_rows, np.int64))

    def _restore(self, weights: np.ndarray, kept: Kept, grouping: Any, **how: Any) -> None:
        """Become what `fit` left; parts of a file that no `fit` leaves together are refused."""
        self.learn = tuple(self.learn) if isinstance(self.learn, list) else self.learn  # files have lists alone
        self._refuse_other_labels()
        if not isinstance(getattr(self, "family_", Categorical()), Categorical):
            raise ValueError("the family of an NBCE is no model of labels")
        super()._restore(weights, kept, grouping, **how)
        self._refuse_other_votes()

    def _refuse_other_labels(self) -> None:
        n_labels: Any = self.n_labels
        n_levels = list(self._table.schema.n_levels)
        each = [n_labels] * len(n_levels) if np.ndim(n_labels) == 0 else list(n_labels)
        if n_labels is not None and each != n_levels:
            raise ValueError("n_labels is not how many labels the columns have")

    def _refuse_other_votes(self) -> None:
        """Refuse more votes than there can be, and others than were asked for; "auto" may have been another rule's."""
        n_members = np.count_nonzero(telling(self._table.codes))
        if self.votes_ > n_members:
            raise ValueError(f"base clusterings have {self.votes_:g} votes, more than the {n_members} that there are")
        expected = self.votes_ if self.votes == "auto" else column_weight(self._table.codes, self.votes) * n_members
        if not math.isclose(self.votes_, expected):
            raise ValueError(f"base clusterings have {self.votes_:g} votes, and votes is {self.votes!r}")

    def _with_votes(self, options: FitOptions, table: Table, weight: float) -> FitOptions:
        """What clusters hold beforehand, and how often a base clustering counts."""
        family = clone(options.family).set_params(column_weight=weight)
        if self.pseudocount is None and self.votes != "all" and "pseudocount" not in self.learn:
            family.set_params(pseudocount=few_beforehand(table.schema.n_levels))
        return options._replace(family=family)

    def _options(self) -> FitOptions:
        checked_unseen(self.unseen)
        checked_votes(self.votes)
        learned = learned_from(self.learn)
        engine = self._engine()
        prior = consensus_prior(self.prior, self.n_components, self.concentration, learned)
        family = consensus_family(self.pseudocount, learned)
        return FitOptions(plan_from(self), engine, engine.prior_for(prior), family)

    def _engine(self) -> Engine:
        engine = engine_from(self.engine, {name: kind for name, kind in ENGINES.items() if kind.finds_number})
        if not engine.finds_number:
            name = type(engine).__name__
            raise ValueError(
                f"NBCE finds the number of clusters, which {name} is told: pass engine='gibbs', 'vb' or 'cvb'."
            )
        if isinstance(self.engine, str) and engine.truncates:
            engine.set_params(truncation=whole_number("n_components", self.n_components, 1))
        return engine

    def _read(self, X: Any) -> Table:
        return super()._read(columns_of(X))

    def _read_table(self, X: Any, schema: Schema) -> Table:
        return label_table(X, schema=schema, unseen=self.unseen)

    def _reader(self) -> LabelReader:
        return LabelReader(self.table_.schema, self.unseen)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = False
        return tags
