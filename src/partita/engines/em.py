"""Expectation-maximisation: the most probable or most likely parameters of a finite mixture, for any family."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from partita.engines.base import NamedEngine
from partita.families.base import ROWS_AT_ONCE, normalized, one_hot
from partita.families.blocks import row_blocks
from partita.model.model import Model
from partita.parameters import choose, is_number, whole_number
from partita.priors import FiniteDirichlet, Prior

LEAST_SHARE = 1e-12  # of a category, or rate of a count, where the prior does not keep it from 0
LEAST_WEIGHT = 1e-10  # rows of a component that counts as empty
ESTIMATES = ("map", "ml")
CRITERIA = ("bic", "aic", "icl")


@dataclass(frozen=True)
class EMState:
    """Weights and parameters of the components, and the expected statistics they were made from."""

    log_weights: np.ndarray  # (K,)
    stats: np.ndarray  # (K, S)
    params: Any

    @property
    def n_components(self) -> int:
        """How many components are left."""
        return self.log_weights.size


@dataclass(frozen=True)
class EMInfo:
    """What one iteration reports of the parameters it started from."""

    objective: float  # what is maximised: log likelihood, for "map" plus the log prior density
    log_likelihood: float
    n_clusters: int
    settled: bool = True


class EM(NamedEngine, name="em"):
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
        Starts, each from its own run of k-means; the best end is kept.
    tol : float
        Converged when an iteration gains less than this per row.
    max_iter : int
        Iterations of every start.
    reg_covar : float
        Added to every variance of "ml", in the units the model sees; "map" needs none.
    select : {None, "bic", "aic", "icl"}
        How to choose among several ``FiniteDirichlet(n_components=range(1, 10))``: the least value wins.

    Notes
    -----
    What is learned elsewhere (concentration, pseudocount, scale, mean_precision) is held at the mean of its hyperprior.
    Where the prior does not keep shares or rates from 0 (Dirichlet pseudocounts or Gamma shapes of at most 1) those of
    "map" stop at 1e-12.

    References
    ----------
    Fraley and Raftery (2007) for "map"; Biernacki, Celeux and Govaert (2000) for ICL.
    """

    title: ClassVar[str] = "EM"
    monotone: ClassVar[bool] = True
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
    ):
        self.estimate = estimate
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.reg_covar = reg_covar
        self.select = select

    def check(self) -> None:
        """Refuse options outside their range."""
        choose("EM(estimate=...)", self.estimate, dict.fromkeys(ESTIMATES))
        whole_number("EM(n_init=...)", self.n_init, 1)
        whole_number("EM(max_iter=...)", self.max_iter, 1)
        for name in ("tol", "reg_covar"):
            value = getattr(self, name)
            if not (is_number(value) and value >= 0):
                raise ValueError(f"EM({name}=...) must be a number of at least 0, got {value!r}.")
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

    def init(self, rng: np.random.Generator, model: Model) -> EMState:
        """Start from k-means: weights and parameters of its clusters. All rows of the model have positive weight."""
        labels = model.points.kmeans_labels(rng, model.prior.n_components)
        return self.start(model, one_hot(labels, int(labels.max()) + 1))

    def start(self, model: Model, resp: np.ndarray) -> EMState:
        """The state after one M-step from responsibilities (n, K); missing cells start at the prior mean."""
        return self._maximized(model, resp.T @ model.row_weights, model.shared_stats(resp))

    def step(self, rng: np.random.Generator, state: EMState, model: Model) -> tuple[EMState, EMInfo]:
        """One E-step and one M-step; no random numbers are used."""
        sizes, stats, log_likelihood = np.zeros(state.n_components), np.zeros_like(state.stats), 0.0
        for block, part in row_blocks(model.shared_rows, model.table.n_rows, ROWS_AT_ONCE):
            weights = model.row_weights[block]
            logs = model.likelihood.log_likelihood(part, state.params) + state.log_weights
            totals, resp = normalized(logs)
            log_likelihood += float(weights @ totals)
            resp *= weights[:, None]
            sizes += resp.sum(axis=0)
            stats += model.likelihood.expected_suffstats(part, resp, state.params)
        objective = log_likelihood + self._log_prior(model, state)
        return self._maximized(model, sizes, stats), EMInfo(objective, log_likelihood, state.n_components)

    def params(self, model: Model, stats: np.ndarray) -> Any:
        """The components' parameters that these statistics give."""
        if self._is_map:
            return model.likelihood.map_params(stats, least=LEAST_SHARE)
        return model.likelihood.ml_params(stats, self.reg_covar)

    def _maximized(self, model: Model, sizes: np.ndarray, stats: np.ndarray) -> EMState:
        weights = np.maximum(sizes + self._pseudocount(model) - 1.0, 0.0) if self._is_map else sizes
        left = (weights > 0) & (sizes > LEAST_WEIGHT)
        if not left.any():
            left, weights = sizes == sizes.max(), sizes
        weights, stats = weights[left], stats[left]
        return EMState(np.log(weights / weights.sum()), stats, self.params(model, stats))

    def _log_prior(self, model: Model, state: EMState) -> float:
        """Log density of weights and parameters; 0 for "ml"."""
        if not self._is_map:
            return 0.0
        each, n = self._pseudocount(model), state.n_components
        weights = gammaln(n * each) - n * gammaln(each) + (each - 1.0) * state.log_weights.sum()
        return float(weights + model.likelihood.log_prior_density(state.params).sum())

    @property
    def _is_map(self) -> bool:
        return self.estimate == "map"

    def _pseudocount(self, model: Model) -> float:
        return model.prior.shift(model.prior.initial_concentration())
