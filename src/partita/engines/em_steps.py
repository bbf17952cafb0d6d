"""The iterations of expectation-maximisation, for rows that live in several places."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaln

from partita.engines.steps import Statistics, Steps
from partita.families.base import Conjugate, Shared
from partita.model.model import HERE
from partita.places import Here
from partita.priors import FiniteDirichlet

LEAST_PARAMETER = 1e-12  # of a category, or rate of a count, where the prior does not keep it from 0
LEAST_WEIGHT = 1e-10  # rows of a component that counts as empty
ESTIMATES = ("map", "ml")


@dataclass(frozen=True)
class EMState:
    """Weights and parameters of the components, and the expected statistics they were made from."""

    log_weights: np.ndarray  # (K,)
    stats: np.ndarray  # (K, S)
    params: Any
    log_likelihood: float = np.nan  # of the state before this one; nan for the first
    objective: float = np.nan  # that, for "map" plus the log prior density

    @property
    def n_components(self) -> int:
        """How many components are left."""
        return self.log_weights.size


class EMSteps(Steps):
    """`Steps` of expectation-maximisation.

    Parameters
    ----------
    likelihood, prior, reader, place
        See `Steps`.
    estimate, reg_covar
        See `EM`.
    """

    prior: FiniteDirichlet  # type: ignore[assignment]

    def __init__(
        self,
        likelihood: Conjugate,
        prior: FiniteDirichlet,
        reader: Any = None,
        *,
        estimate: str = "map",
        reg_covar: float = 1e-6,
        place: Here = HERE,
    ):
        super().__init__(likelihood, prior, reader, place=place)
        self.is_map, self.reg_covar = estimate == "map", reg_covar

    def share_out(self, rows: Any, row_weights: np.ndarray, state: EMState) -> Shared:
        """The E-step: r_nk ~ w_k p(x_n | theta_k), missing cells at their expectation."""
        return self.likelihood.share_out_given(rows, row_weights, state.log_weights, state.params)

    def log_densities(self, rows: Any, state: EMState) -> np.ndarray:
        """Log of w_k p(x_n | theta_k), of the observed cells."""
        return self.likelihood.log_likelihood(rows, state.params) + state.log_weights

    def global_step(self, statistics: Statistics, state: EMState | None = None) -> EMState:
        """The M-step: the best weights and parameters given the statistics of all rows; empty components are removed.

        With them what the E-step found of the state before.
        """
        self.check_statistics(statistics, state)
        sizes, stats = statistics.sizes, statistics.stats
        weights = np.maximum(sizes + self._pseudocount - 1.0, 0.0) if self.is_map else sizes
        left = (weights > 0) & (sizes > LEAST_WEIGHT)
        if not left.any():
            left, weights = sizes == sizes.max(), sizes
        weights, stats = weights[left], stats[left]
        log_likelihood = float(statistics.log_total[0])
        objective = np.nan if state is None else log_likelihood + self._log_prior(state)
        return EMState(np.log(weights / weights.sum()), stats, self.params(stats), log_likelihood, objective)

    def acquainted(self, state: EMState, average: np.ndarray) -> EMState:
        """The state of a sample, ready for rows that it has not seen: where the most likely parameters would have none
        of a category or count, one more row in every component, ``average`` (1, S), that of all rows.
        """
        if self.is_map:
            return state
        stats = state.stats + average
        return replace(state, stats=stats, params=self.params(stats))

    def params(self, stats: np.ndarray) -> Any:
        """The components' parameters that these statistics give."""
        if self.is_map:
            return self.likelihood.map_params(stats, least=LEAST_PARAMETER)
        return self.likelihood.ml_params(stats, self.reg_covar)

    def _log_prior(self, state: EMState) -> float:
        """Log density of weights and parameters; 0 for "ml"."""
        if not self.is_map:
            return 0.0
        each, n = self._pseudocount, state.n_components
        weights = gammaln(n * each) - n * gammaln(each) + (each - 1.0) * state.log_weights.sum()
        return float(weights + self.likelihood.log_prior_density(state.params).sum())

    @property
    def _pseudocount(self) -> float:
        return self.prior.shift(self.prior.initial_concentration())
