"""Expectation-maximisation: the most probable or most likely parameters of a finite mixture, for any family."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from partita.engines import outcome_checks
from partita.engines.climbing import Climber
from partita.engines.em_steps import ESTIMATES, EMState, EMSteps
from partita.engines.maximum import CRITERIA, components_of, maximize
from partita.engines.outcome import Kept, Outcome
from partita.engines.runner import Plan
from partita.engines.steps import SharesOut
from partita.families.base import one_hot
from partita.model.model import Model
from partita.model.predictive import MixtureComponents
from partita.parameters import choose, is_number
from partita.priors import FiniteDirichlet, Prior


@dataclass(frozen=True)
class EMInfo:
    """What one iteration reports of the parameters it started from."""

    objective: float  # what is maximised: log likelihood, for "map" plus the log prior density
    log_likelihood: float
    n_clusters: int
    settled: bool = True


class EM(SharesOut, Climber, name="em"):
    """Expectation-maximisation (Dempster, Laird and Rubin 1977) from k-means starts.

    E-step: responsibilities r_nk = w_k p(x_n | theta_k) / sum_j w_j p(x_n | theta_j), and expected statistics, missing
    cells at their expectation. M-step, with N_k = sum_n r_nk:

        "ml"    w_k = N_k / N,                     theta_k most likely,
        "map"   w_k ~ max(N_k + alpha/K - 1, 0),   theta_k at the mode of its conjugate posterior.

    A component of weight 0 is removed. "map" increases the log posterior density of all weights and parameters, "ml"
    the log likelihood, at every step. Cost per iteration: rows x components densities.

    Good for: speed; a comparison; as many groups as you say.
    Not for: how sure the groups are. The parameters are taken as known, and EM finds a local maximum only.

    Parameters
    ----------
    estimate : {"map", "ml"}
        The most probable parameters given the family's and the prior's own densities, or the most likely ones.
    n_init : int
        Starts, each from its own run of k-means; the best end is kept. Of more than 10 000 rows they climb on a sample
        of so many until an iteration gains less than 1e-4 per row, and the best goes on with all rows.
    tol : float
        Converged when an iteration gains less than this per row.
    max_iter : int
        Iterations of every start.
    reg_covar : float
        Added to every variance of "ml", in the units the model sees; "map" needs none.
    select : {None, "bic", "aic", "icl"}
        How to choose among several ``FiniteDirichlet(n_components=range(1, 10))``: the least value wins.
    keep_iterations : bool
        Whether ``iterations_`` of the fit holds the parameters of every iteration of the best start, as
        `plots.em_iterations` draws them. All starts then climb on all rows, from first to last.
    draws : int, optional
        Partitions that ``posterior_`` draws from the responsibilities; by default what the estimator says.

    Notes
    -----
    What is learned elsewhere (concentration, pseudocount, scale, mean_precision) is held at the mean of its hyperprior.
    Where the prior does not keep shares or rates from 0 (Dirichlet pseudocounts or Gamma shapes of at most 1) those of
    "map" stop at 1e-12.

    References
    ----------
    Fraley and Raftery (2007) for "map"; Biernacki, Celeux and Govaert (2000) for ICL.

    Examples
    --------
    >>> from partita import Mixture
    >>> from partita.priors import FiniteDirichlet
    >>> model = Mixture(engine=EM(estimate="ml"), prior=FiniteDirichlet(n_components=2), random_state=0)
    >>> model.fit([[0.0], [0.1], [0.2], [9.0], [9.1]]).means_.round(2)
    array([[0.1 ],
           [9.05]])
    """

    title: ClassVar[str] = "EM"
    caveat: ClassVar[str] = "the groups are taken as known, so that confidence is mostly surer than it should be"
    learns: ClassVar[bool] = False
    finds_number: ClassVar[bool] = False
    keeps_objective: ClassVar[bool] = False

    def __init__(
        self,
        *,
        estimate: str = "map",
        n_init: int = 10,
        tol: float = 1e-6,
        max_iter: int = 500,
        reg_covar: float = 1e-6,
        select: str | None = None,
        keep_iterations: bool = False,
        draws: int | None = None,
    ):
        self.estimate = estimate
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.reg_covar = reg_covar
        self.select = select
        self.keep_iterations = keep_iterations
        self.draws = draws

    def check(self) -> None:
        """Refuse options outside their range."""
        choose("EM(estimate=...)", self.estimate, dict.fromkeys(ESTIMATES))
        super().check()
        if not (is_number(self.reg_covar) and self.reg_covar >= 0):
            raise ValueError(f"EM(reg_covar=...) must be a number of at least 0, got {self.reg_covar!r}.")
        if not isinstance(self.keep_iterations, bool | np.bool_):
            raise ValueError(f"EM(keep_iterations=...) must be True or False, got {self.keep_iterations!r}.")
        if self.select is not None:
            choose("EM(select=...)", self.select, dict.fromkeys(CRITERIA))

    def priors(self, prior: Prior) -> list[FiniteDirichlet]:
        """One prior for every number of components to be tried, each checked."""
        if not isinstance(prior, FiniteDirichlet):
            raise ValueError(
                f"EM needs to know the number of components: pass prior=FiniteDirichlet(n_components=...) instead of "
                f"{type(prior).__name__}, or engine='gibbs', which finds it."
            )
        found = prior.candidates()
        if len(found) > 1 and self.select is None:
            raise ValueError(
                f"n_components={prior.n_components!r} are several numbers: say how to choose among them with "
                "engine=EM(select='bic'), 'aic' or 'icl'."
            )
        return found

    def prior_for(self, prior: Prior) -> Prior:
        """The prior, of one number of components or of several to choose among."""
        found = self.priors(prior)
        return found[0] if len(found) == 1 else prior

    def fit(self, model: Model, plan: Plan, seed: np.random.SeedSequence) -> Outcome:
        """The best parameters of every start and number of components; see `maximize`."""
        return maximize(self, model, plan, seed)

    def init(self, rng: np.random.Generator, model: Model) -> EMState:
        """Start from k-means: weights and parameters of its clusters. All rows of the model have positive weight."""
        labels = model.points.kmeans_labels(rng, model.prior.n_components)
        return self.start(model, one_hot(labels, int(labels.max()) + 1))

    def step(self, rng: np.random.Generator, state: EMState, model: Model) -> tuple[EMState, EMInfo]:
        """One E-step and one M-step; no random numbers are used."""
        following = self.next_state(model, state)
        return following, EMInfo(following.objective, following.log_likelihood, state.n_components)

    def steps(self, model: Model, reader: object = None) -> EMSteps:
        """The halves of an iteration, as machines that hold parts of the rows call them."""
        likelihood, prior, place = model.likelihood, model.prior, model.place
        return EMSteps(likelihood, prior, reader, estimate=self.estimate, reg_covar=self.reg_covar, place=place)

    def check_notes(self, notes: Mapping[str, Any]) -> None:
        """Refuse notes that EM does not make."""
        super().check_notes(notes)
        numbers = {"loglik_path", "n_iter", "n_components", "selection", *CRITERIA}
        outcome_checks.require_names(notes, {"converged", "learned"} | numbers)
        outcome_checks.check_path(notes["loglik_path"])
        outcome_checks.check_count(notes["n_iter"], "n_iter")
        selection = notes["selection"]
        if not isinstance(selection, dict) or not all(type(n) is int for n in selection):
            raise ValueError("selection does not go by numbers of components")
        if not all(isinstance(value, float) for value in [*selection.values(), *(notes[name] for name in CRITERIA)]):
            raise ValueError("a criterion is no number")

    def restored_model(self, model: Model, kept: Kept) -> Model:
        """With the prior of the number of components that was chosen."""
        chosen = [prior for prior in self.priors(model.prior) if prior.n_components == kept.notes["n_components"]]
        if not chosen:
            raise ValueError(f"n_components is {kept.notes['n_components']!r}, which was not among the choices")
        learned = kept.notes["learned"]
        if learned is None:  # of a file that does not say: EM learns nothing
            learned = dict(model.likelihood.learned)
        return super().restored_model(
            replace(model, prior=chosen[0]), kept._replace(notes={**kept.notes, "learned": learned})
        )

    def clusters_from(self, model: Model, log_seats: np.ndarray, stats: np.ndarray) -> MixtureComponents:
        """Components with the parameters that the statistics give."""
        return components_of(self, model, log_seats[:-1], stats[0, :-1])

    def params(self, model: Model, stats: np.ndarray) -> Any:
        """The components' parameters that these statistics give."""
        return self.steps(model).params(stats)
