"""BCE: objects belong to several clusters, each of their labels to one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partita.consensus.bce_steps import BCEState, BCESteps, Objects, settled, shared_alike
from partita.consensus.ensemble import Ensemble
from partita.consensus.label_model import Climbed, LabelModel, LabelParameters, kinds_table
from partita.kernels.mixed_membership import tell_labels
from partita.model.kmeans_start import Points
from partita.wording import count_of

MOST_SETTLING = 10_000  # kinds of objects on which starts climb
SETTLING_TOL = 1e-3  # gain per object of an iteration that ends a start; the best goes on
DRAWS = 256  # of the components of an object's labels, by which their probability is told


class BCE(LabelModel, name="bce"):
    """Bayesian cluster ensembles: a mixed-membership model with a number of clusters that is given.

    theta_i ~ Dirichlet(alpha) are the memberships of object i; of every base clustering m in which it has a label,
    z_im ~ theta_i is a cluster and y_im ~ beta_m,z_im the label. alpha and beta are estimated by variational EM
    (`partita.consensus.bce_steps`), alpha by Newton's steps.

    Good for: objects between clusters; labels or base clusterings that are held apart (`steps_`). Not for: a number of
    clusters that is not known, which `NBCE` finds; few base clusterings, of which memberships are mostly prior.

    Parameters
    ----------
    n_components : int
    smoothing : float
        Added to the expected number of every label in every component, so that one which a component has not seen does
        not have probability 0; 0 is the paper's update. The default is that of `MultinomialMixture`, for the same
        reasons.
    n_init : int
        Starts, each from its own run of k-means. They climb until an iteration gains less than 0.001 per object, of
        more than 10 000 different objects on a sample of so many, and the best goes on with all.
    max_iter : int
        Iterations of every start, those on a sample and those on all objects together.
    tol : float
        Converged when an iteration gains less than this per object.
    n_labels : int or sequence of int, optional
        How many labels the base clusterings have, or each of them, where some may not occur in ``Y``; see `NBCE`.
    unseen : {"missing", "error"}
        What becomes of a label that `predict` and its like meet and ``fit`` did not see: none, with one warning; or an
        error.
    random_state : int, RandomState, Generator or None
        For k-means, and for the draws of `score_samples`.

    Attributes
    ----------
    labels_ : (n_objects,) int64
        The component of the largest membership; 0 is the largest cluster.
    n_clusters_ : int
        Components that are some object's largest; a warning says where they are fewer than ``n_components``.
    memberships_ : (n_objects, n_components)
        Posterior means of theta under q, rows sum to 1: clusters first, then components that are nobody's largest.
        Also called ``probabilities_``.
    alpha_ : (n_components,)
    shares_ : dict
        Name of a column to beta_m (n_components, n_labels), labels in the order of ``table_``'s levels.
    bound_path_ : (n_iterations,)
        What is maximised, at every iteration of the best start with all objects: the lower bound on log p(Y | alpha,
        beta), plus ``smoothing`` times the sum of all log beta. It never falls.
    bound_ : float
        The last of them.
    steps_ : BCESteps
        The halves of an iteration, for objects or base clusterings that live in several places; ``state_`` is where
        the fit ended. Both go by the codes of ``table_``.
    converged_ : bool
    n_iter_ : int
        Iterations of the best start, those on a sample included.
    base_agreement_ : (n_clusterings,)

    Notes
    -----
    Memberships, of objects of fit as of new ones, are those at which an object settles that begins with its labels
    shared alike, alpha and beta known.

    Where all objects are of one cluster each, or all alike, alpha has its maximum at 0 or at infinity, and goes there
    in steps that gain less and less: it is as far as ``tol`` lets it come.

    `score_samples` is log p(y | alpha, beta) itself and no bound: a sum over the components of all of an object's
    labels, estimated one label after the other, with the component of each drawn given its label and those before
    (Wallach et al. 2009), by 256 draws from ``random_state``. The probability is unbiased, its log low by about half of
    the squared relative error. Cost O(256 n M K). With ``smoothing=0`` it may be -inf, and `perplexity` infinite, see
    `MultinomialMixture`.

    Cost of an iteration: kinds of objects x base clusterings x components.

    References
    ----------
    Wang, Shan and Banerjee (2009), Bayesian cluster ensembles. Wallach, Murray, Salakhutdinov and Mimno (2009),
    Evaluation methods for topic models.

    Examples
    --------
    >>> import numpy as np
    >>> first = np.repeat([0, 1], [6, 4])
    >>> BCE(n_components=2, random_state=0).fit(np.column_stack([first, 1 - first, first])).labels_
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
    """

    def __init__(
        self,
        *,
        n_components: int,
        smoothing: float = 0.1,
        n_init: int = 10,
        max_iter: int = 2000,
        tol: float = 1e-5,
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
    def memberships_(self) -> np.ndarray:
        """How much every object belongs to every component, (n_objects, n_components)."""
        return self.probabilities_

    @property
    def alpha_(self) -> np.ndarray:
        """Of the Dirichlet distribution of memberships, clusters first."""
        check_is_fitted(self)
        return self._parameters.prior[self._order]

    @property
    def bound_path_(self) -> np.ndarray:
        """What is maximised, at every iteration of the best start."""
        check_is_fitted(self)
        return self._parameters.path

    @property
    def bound_(self) -> float:
        """What was reached."""
        return float(self.bound_path_[-1])

    @property
    def steps_(self) -> BCESteps:
        """The halves of an iteration, for objects or base clusterings that live in several places."""
        check_is_fitted(self)
        return BCESteps(self._table.schema.n_levels, self.smoothing)

    @property
    def state_(self) -> BCEState:
        """Where the fit ended."""
        return BCEState(self.alpha_, np.hstack(list(self.shares_.values())).T)

    def _climb(self, ensemble: Ensemble, rng: np.random.Generator) -> Climbed:
        steps = BCESteps(ensemble.n_labels, self.smoothing)
        some = np.arange(ensemble.n_kinds)
        if some.size > MOST_SETTLING:
            some = np.sort(rng.choice(some, MOST_SETTLING, replace=False))
        everything = steps.encode_kinds(ensemble, int(self.n_components))
        sample = Objects(*(part[some] for part in everything))
        points = Points(kinds_table(ensemble).take(some), ensemble.weights[some])
        sampled = some.size < ensemble.n_kinds
        most = int(self.max_iter) - sampled  # one is left for all objects
        starts = (self._start(steps, sample, points, most, own) for own in rng.spawn(self.n_init))
        best = max(starts, key=lambda climb: climb.path[-1] if climb.path else -np.inf)
        if sampled:
            best = _Climb(steps, shared_alike(everything), best.state, best.n_iter)
        best.go_on(self.max_iter, self.tol)
        done = count_of(best.n_iter, "iteration")
        said = f"BCE had not converged when max_iter={self.max_iter} was reached, after {done}."
        parameters = LabelParameters(best.state.alpha, best.state.shares, np.array(best.path))
        return Climbed(parameters, best.converged, best.n_iter, () if best.converged else (said,))

    def _start(
        self, steps: BCESteps, sample: Objects, points: Points, max_iter: int, rng: np.random.Generator
    ) -> "_Climb":
        """One start, up to where the best is chosen."""
        labels = points.kmeans_labels(rng, int(self.n_components))
        climb = _Climb(steps, shared_alike(sample), steps.start(sample, labels))
        climb.go_on(max_iter, max(self.tol, SETTLING_TOL))
        return climb

    def _memberships(self, position: np.ndarray) -> np.ndarray:
        gamma = settled(position, BCEState(*self._parameters[:2]))
        return gamma / gamma.sum(axis=1, keepdims=True)

    def _log_predictive(self, position: np.ndarray) -> np.ndarray:
        alpha, shares, _ = self._parameters
        rng, out = self._rng(2), np.empty(len(position))
        strata = rng.permuted(np.tile(np.arange(DRAWS), (position.shape[1], 1)), axis=1).T
        chances = np.ascontiguousarray((strata + rng.random(strata.shape)) / DRAWS)
        tell_labels(position, alpha, shares, chances, np.empty((2, alpha.size)), out)
        return out

    def _is_prior(self, prior: np.ndarray) -> bool:
        return bool(prior.size and prior.min() > 0.0)


class _Climb:
    """One start, iterated until an iteration gains too little; the state kept is the one whose bound is the last."""

    def __init__(self, steps: BCESteps, objects: Objects, state: BCEState, n_iter: int = 0):
        self.steps, self.objects, self.state = steps, objects, state
        self.following = state
        self.path: list[float] = []
        self.n_iter, self.converged = n_iter, False

    def go_on(self, max_iter: int, tol: float) -> None:
        """Iterate until so many iterations are done in all; a step that loses, by rounding, is not taken."""
        self.converged, least = False, tol * self.objects.weights.sum()
        while self.n_iter < max_iter and not self.converged:
            state = self.following
            self.following = self.steps.global_step(self.steps.local_statistics(self.objects, state), state)
            self.n_iter += 1
            if not np.isfinite(self.following.bound):
                raise ValueError(
                    f"BCE left the range of floating-point numbers: its bound is {self.following.bound}. Pass another "
                    "smoothing: 0.1 is the default."
                )
            gain = self.following.bound - self.path[-1] if self.path else np.inf
            if gain >= 0.0:
                self.state = state
                self.path.append(self.following.bound)
            self.converged = bool(gain <= 0.0 or gain < least)
