"""MultinomialMixture: every cluster has shares of its own of the labels of every base clustering."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.utils.validation import check_is_fitted

from partita.consensus.ensemble import Ensemble
from partita.consensus.label_model import MOST_OFF_ONE, Climbed, LabelModel, LabelParameters, kinds_table
from partita.engines import EM
from partita.engines.runner import Plan
from partita.families import Categorical
from partita.model.model import Model
from partita.priors import FiniteDirichlet


class MultinomialMixture(LabelModel, name="mm"):
    """A mixture model of labels with a number of clusters that is given (MM), by expectation-maximisation.

    p(y_n) = sum_k pi_k prod_m theta_km[y_nm], over the base clusterings m in which object n has a label. With
    responsibilities r_nk = pi_k prod_m theta_km[y_nm] / p(y_n) an iteration of `partita.engines.EM` makes

        pi_k = sum_n r_nk / N,    theta_km[j] ~ smoothing + sum_n r_nk [y_nm = j].

    Good for: labels with gaps; new objects; a comparison. Not for: a number of clusters that is not known, which `NBCE`
    finds; how sure the clusters are, since parameters are taken as known.

    Parameters
    ----------
    n_components : int
        The most clusters there can be. One that loses all objects is removed.
    smoothing : float
        Added to the expected number of objects with every label, so that a label which a cluster has not seen does not
        have probability 0; 0 is maximum likelihood. A tenth of an object says little beside those that are there, also
        where a cluster of few objects meets many labels. On k-means ensembles of labelled tables the perplexity of
        held-out objects hardly changes from 0.01 to 0.1, is 5 to 12 % larger at 1, and mostly infinite at 0. With 1
        shares are posterior means under a uniform prior: what `NBCE` predicts by given the same clusters and
        ``pseudocount=1``.
    n_init : int
        Starts, each from its own run of k-means; the best end is kept.
    max_iter : int
        Iterations of every start.
    tol : float
        Converged when an iteration gains less than this per object.
    n_labels : int or sequence of int, optional
        How many labels the base clusterings have, or each of them, where some may not occur in ``Y``; see `NBCE`.
    unseen : {"missing", "error"}
        What becomes of a label that `predict` and its like meet and ``fit`` did not see: none, with one warning; or an
        error.
    random_state : int, RandomState, Generator or None
        For k-means.

    Attributes
    ----------
    labels_ : (n_objects,) int64
        The cluster of the largest responsibility; 0 is the largest cluster.
    n_clusters_ : int
        Clusters that hold an object; a warning says where they are fewer than ``n_components``.
    probabilities_ : (n_objects, n_components left)
        Responsibilities: clusters first, then components that are nobody's most probable one.
    weights_ : (n_components left,)
        pi.
    shares_ : dict
        Name of a column to theta_m (n_components left, n_labels), labels in the order of ``table_``'s levels.
    loglik_path_ : (n_iterations,)
        What is maximised, at every iteration of the best start with the components that are left: the log likelihood,
        and where labels are smoothed the log density of all shares under Dirichlet(1 + smoothing, ..., 1 + smoothing).
        It never falls.
    converged_ : bool
    n_iter_ : int
    base_agreement_ : (n_clusterings,)

    Notes
    -----
    ``smoothing`` is the pseudocount less 1 of the Dirichlet density whose mode theta is, so that what a smoothed fit
    maximises is a posterior density. With ``smoothing=0`` a label that no cluster has seen together with an object's
    other labels makes `score_samples` of that object -inf and `perplexity` infinite: that is what maximum likelihood
    says of it. `predict` then goes by the weights.

    Equal objects are one with a weight. Cost of an iteration: kinds of objects x base clusterings x components.

    References
    ----------
    Topchy, Jain and Punch (2004), A mixture model for clustering ensembles.

    Examples
    --------
    >>> import numpy as np
    >>> first = np.repeat([0, 1], [6, 4])
    >>> MultinomialMixture(n_components=2, random_state=0).fit(np.column_stack([first, 1 - first, first])).labels_
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
    """

    def __init__(
        self,
        *,
        n_components: int,
        smoothing: float = 0.1,
        n_init: int = 10,
        max_iter: int = 500,
        tol: float = 1e-6,
        n_labels: int | Sequence[int] | None = None,
        unseen: str = "missing",
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.smoothing = smoothing
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_labels = n_labels
        self.unseen = unseen
        self.random_state = random_state

    @property
    def weights_(self) -> np.ndarray:
        """Shares of the components, clusters first."""
        check_is_fitted(self)
        return self._parameters.prior[self._order]

    @property
    def loglik_path_(self) -> np.ndarray:
        """What is maximised, at every iteration of the best start."""
        check_is_fitted(self)
        return self._parameters.path

    def _climb(self, ensemble: Ensemble, rng: np.random.Generator) -> Climbed:
        table, pseudocount = kinds_table(ensemble), 1.0 + float(self.smoothing)
        estimate = "map" if pseudocount > 1.0 else "ml"
        engine = EM(estimate=estimate, n_init=self.n_init, max_iter=self.max_iter, tol=self.tol)
        flat = FiniteDirichlet(n_components=int(self.n_components), concentration=float(self.n_components))
        model = Model(Categorical(pseudocount=pseudocount).resolve(table), flat, table, ensemble.weights)
        outcome = engine.fit(model, Plan(), np.random.SeedSequence(rng.integers(2**63, size=4).tolist()))
        weights, shares = np.exp(outcome.clusters.log_seats[:-1]), np.hstack(outcome.clusters.params).T  # type: ignore[attr-defined]
        parameters = LabelParameters(weights / weights.sum(), shares, outcome.notes["loglik_path"])
        return Climbed(parameters, outcome.converged, outcome.notes["n_iter"], outcome.warnings)

    def _memberships(self, position: np.ndarray) -> np.ndarray:
        logs = self._log_joint(position)
        impossible = logs.max(axis=1) == -np.inf
        logs[impossible] = np.log(self._parameters.prior)
        return softmax(logs, axis=1)

    def _log_predictive(self, position: np.ndarray) -> np.ndarray:
        return logsumexp(self._log_joint(position), axis=1)

    def _is_prior(self, prior: np.ndarray) -> bool:
        return bool(abs(prior.sum() - 1.0) <= MOST_OFF_ONE)

    def _log_joint(self, position: np.ndarray) -> np.ndarray:
        """log of pi_k prod_m theta_km[y_m], (A, K)."""
        weights, shares, _ = self._parameters
        with np.errstate(divide="ignore"):
            logs = np.vstack([np.log(shares), np.zeros(weights.size)])  # the last row is that of no label
        joint = np.tile(np.log(weights), (len(position), 1))
        for column in position.T:
            joint += logs[column]
        return joint
