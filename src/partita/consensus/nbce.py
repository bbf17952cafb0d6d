"""NBCE: the consensus of many clusterings, and how many clusters it has."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from partita.consensus.agreement import base_agreement
from partita.consensus.canonical_table import CanonicalTable
from partita.consensus.label_table import LabelReader, label_table
from partita.consensus.nbce_options import consensus_family, consensus_prior, learned_from
from partita.engines import EM, ENGINES, CollapsedVariational, Engine, Progress, Variational
from partita.engines.model import Model
from partita.engines.variational_state import VariationalState
from partita.families import Categorical
from partita.fitting import Asked, Fitting, build_model, with_learned
from partita.options import engine_from, estimate_plan_from, plan_from, priors_from
from partita.parameters import seed_from, whole_number
from partita.partitions import Partitions, largest_first
from partita.posterior import Loss, Posterior
from partita.priors import FiniteDirichlet, Gamma, Prior, StickBreaking
from partita.table import Schema, Table


class NBCE(Fitting, ClusterMixin, BaseEstimator):
    """Nonparametric Bayesian clustering ensembles: one clustering out of many, without the data behind them.

    A mixture over a table of categories: y_nm | z_n = k ~ Cat(theta_km), theta_km ~ Dirichlet(beta, ..., beta), with z
    from the prior; y_nm is the label of object n in base clustering m. Labels of different base clusterings need not
    correspond, and their numbers of clusters may differ.

    Parameters
    ----------
    prior : {"stick-breaking", "finite-dirichlet", "dirichlet-process"} or Prior
        How objects fall into clusters. A prior object brings its own ``n_components`` and concentration.
    n_components : int
        The most clusters there can be, of a prior that is named. The Dirichlet process has no limit; for the
        variational engines this is where it is truncated.
    concentration : float, Gamma or None
        alpha of a prior that is named: fixed, or learned if ``learn`` says so, a number then being the mean of its
        Gamma(1, 1/value) hyperprior. None is 1.
    pseudocount : float, Gamma or None
        beta, fixed or learned in the same way. Fixed ones may be one per base clustering.
    engine : {"gibbs", "vb", "cvb"} or an engine of `partita.engines`
        Sampling, variational or collapsed variational.
    learn : tuple
        What is learned, out of "concentration" and "pseudocount"; ``()`` fixes both.
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
        The engine and its last state; of "gibbs" one per chain. Objects, clusterings and labels are in canonical order
        there, but of "vb", whose engine is bound to the model as given: machines call it that have parts of the objects
        or of the clusterings, see `partita.engines.steps.Steps`.
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
        asked, seed = self._asked(), seed_from(self.random_state)
        table = label_table(Y)
        family: Any = asked.family
        family.resolve(table)  # refuses a pseudocount as it was given, before the columns change places
        canonical = CanonicalTable(table)
        moved = Categorical(pseudocount=canonical.per_column(family.pseudocount))
        self._fit_table(canonical.table, np.ones(table.n_rows, np.int64), asked._replace(family=moved), seed)
        self._put_back(table, canonical, asked)
        self._note_columns(_as_columns(Y), table)
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
        n_labels = np.count_nonzero(self._read(Y).codes >= 0)
        if n_labels == 0:
            raise ValueError("Y has no label at all: perplexity is an average over labels.")
        return float(np.exp(-self.score_samples(Y).sum() / n_labels))

    def _model_like(self, table: Any) -> Model:
        asked, table = self._asked(), label_table(table)
        return build_model(asked.family, table, asked.priors[0], np.where(table.empty_rows, 0, 1))

    def _asked(self) -> Asked:
        learned = learned_from(self.learn)
        engine = self._engine()
        prior = consensus_prior(self.prior, self.n_components, self.concentration, learned)
        family = consensus_family(self.pseudocount, learned)
        return Asked(plan_from(self), engine, priors_from(prior, engine), family, estimate_plan_from(self))

    def _engine(self) -> Engine:
        engine = engine_from(self.engine, {name: kind for name, kind in ENGINES.items() if kind is not EM})
        if isinstance(engine, EM):
            raise ValueError("NBCE finds the number of clusters, which EM is told: pass engine='gibbs', 'vb' or 'cvb'.")
        if isinstance(self.engine, str) and isinstance(engine, Variational | CollapsedVariational):
            engine.set_params(truncation=whole_number("n_components", self.n_components, 1))
        return engine

    def _put_back(self, table: Table, canonical: CanonicalTable, asked: Asked) -> None:
        """Return from the canonical table to the one that came."""
        place, found = canonical.place, self._model
        order = largest_first(self.labels_[place], np.ones(table.n_rows), self.n_clusters_)
        self.labels_ = np.argsort(order)[self.labels_[place]]
        self.probabilities_ = _averaged(self.probabilities_[place], canonical.kinds)[:, order]
        model = build_model(asked.family, table, found.prior, found.row_weights[place])
        self._model = with_learned(model, found.likelihood.learned)
        clusters = self._clusters.taken(order)
        self._clusters = replace(clusters, stats=clusters.stats[..., canonical.cells])
        self._put_back_draws(place, {"data": table.fingerprint()})
        if isinstance(self.state_, VariationalState):
            self.state_ = self.state_.of_likelihood(self._model.likelihood, self.state_.stats[:, canonical.cells])
            self.engine_ = self._steps(asked.engine)

    def _put_back_draws(self, place: np.ndarray, data: dict[str, str]) -> None:
        if "_posterior" in vars(self):
            draws = self._posterior
            self._posterior = Posterior(
                Partitions(np.asarray(draws.partitions)[..., place]),
                weights=draws.weights,
                traces=draws.traces,
                provenance=draws.provenance | data,
            )
        else:
            provenance = self._posterior_plan.provenance | data
            self._posterior_plan = self._posterior_plan._replace(provenance=provenance)

    def _read(self, X: Any) -> Table:
        return super()._read(_as_columns(X))

    def _read_table(self, X: Any, schema: Schema) -> Table:
        return label_table(X, schema=schema)

    def _reader(self) -> LabelReader:
        return LabelReader(self._model.table.schema)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = False
        return tags


def _averaged(probabilities: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Rows of equal objects averaged: draws tell them apart by chance alone."""
    counts = np.bincount(kinds)
    return np.stack([(np.bincount(kinds, of_one) / counts)[kinds] for of_one in probabilities.T], axis=1)


def _as_columns(Y: Any) -> Any:
    """Partitions with one column per clustering; anything else as it is."""
    return Y.flat.T if isinstance(Y, Partitions) else Y
