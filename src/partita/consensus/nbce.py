"""NBCE: the consensus of many clusterings, and how many clusters it has."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from partita.bayesian_mixture import BayesianMixture, FitOptions
from partita.consensus.agreement import base_agreement
from partita.consensus.canonical_table import CanonicalTable
from partita.consensus.label_table import LabelReader, label_table
from partita.consensus.nbce_options import consensus_family, consensus_prior, learned_from
from partita.engines import ENGINES, Engine, Progress
from partita.model.model import Model
from partita.options import engine_from, plan_from
from partita.parameters import seed_from, whole_number
from partita.partitions import Partitions
from partita.posterior import Loss
from partita.priors import FiniteDirichlet, Gamma, Prior, StickBreaking
from partita.table import Schema, Table
from partita.table.unseen import checked_unseen


class NBCE(BayesianMixture, ClusterMixin, BaseEstimator):
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
        beta, fixed or learned in the same way. Fixed ones may be one per base clustering.
    engine : {"gibbs", "vb", "cvb"} or an engine of `partita.engines`
        Sampling, variational or collapsed variational.
    learn : tuple
        What is learned, out of "concentration" and "pseudocount"; ``()`` fixes both.
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
        pseudocount: float | Sequence[float] | Gamma | None = 1.0,
        engine: str | Engine = "gibbs",
        learn: Sequence[str] = ("concentration",),
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
        self.learn = learn
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
        table = label_table(Y)
        self._forget()  # a failed fit is none
        options = options.begun()
        with options.plan.running_watch.listening():
            once = np.ones(table.n_rows, np.int64)
            options = options.settled(table, once)
            model = options.model(table, once)
            canonical = CanonicalTable(table)
            outcome = options.engine.fit(canonical.model(model), options.plan, seed)
            self._keep(canonical.put_back(outcome, model), seed, options.family)
            self._keep_table(table, _as_columns(Y))
        return self

    @property
    def base_agreement_(self) -> np.ndarray:
        """Nats per object that the consensus saves in telling each base clustering, (n_clusterings,)."""
        check_is_fitted(self)
        likelihood: Any = self._model.likelihood
        return base_agreement(self._model.table.codes, self.labels_, likelihood.pseudocount)

    def perplexity(self, Y: Any) -> float:
        """How many labels, on the geometric mean, the model is still in doubt between: training or held-out objects.

        exp(-sum_n log p(y_n | posterior) / observed entries), with the posterior predictive of `score_samples`, which
        is the same for every engine. From 1 to the number of labels of a column, about; the smaller, the better.
        """
        table = self._read(Y)
        n_labels = np.count_nonzero(table.codes >= 0)
        if n_labels == 0:
            raise ValueError("Y has no label at all: perplexity is an average over labels.")
        return float(np.exp(-self.score_samples(table).sum() / n_labels))

    def _model_like(self, table: Any) -> Model:
        labels = label_table(table)
        return self._options().model(labels, np.ones(labels.n_rows, np.int64))

    def _options(self) -> FitOptions:
        checked_unseen(self.unseen)
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
        return super()._read(_as_columns(X))

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


def _as_columns(Y: Any) -> Any:
    """Partitions with one column per clustering; anything else as it is."""
    return Y.flat.T if isinstance(Y, Partitions) else Y
