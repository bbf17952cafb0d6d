"""Mixtures of finite mixtures: the number of components is itself random."""

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import gammaln, xlogy

from partita.priors.base import solve_increasing
from partita.priors.checks import refuse_solved, require_above, require_reachable
from partita.priors.finite_dirichlet import expected_occupied
from partita.priors.gibbs_type import GibbsType
from partita.priors.hyperpriors import Gamma
from partita.priors.rising import log_rising
from partita.priors.weights import FiniteComponents, dirichlet_weights

_CELLS_AT_ONCE = 1_000_000
_MOST_MEAN_COMPONENTS = 1e7


class FiniteMixtures(FiniteComponents, GibbsType, name="finite-mixtures"):
    """A random number of components, H - 1 ~ Poisson(lambda), with weights Dirichlet(gamma, ..., gamma).

    p(partition) = V_n(K) prod_k Gamma(gamma + n_k) / Gamma(gamma),
    V_n(t) = sum over h >= t of h! / (h - t)! p(h) Gamma(gamma h) / Gamma(gamma h + n).

    Parameters
    ----------
    concentration : float, Gamma or None
        gamma > 0, of *each* weight. A number is fixed; a ``Gamma`` is learned under it, ``None`` under
        ``Gamma(1, 1)``.
    mean_components : float
        lambda > 0, the expected number of components beyond the first.

    References
    ----------
    Miller and Harrison (2018), Mixture models with a prior on the number of components, section 3.

    Examples
    --------
    >>> FiniteMixtures(mean_components=2.0).cluster_count_distribution(20)[1:6].round(3)
    array([0.165, 0.325, 0.287, 0.152, 0.054])
    """

    title: ClassVar[str] = "mixture of finite mixtures"

    def __init__(self, *, concentration: float | Gamma | None = 1.0, mean_components: float = 1.0):
        self.concentration = concentration
        self.mean_components = mean_components

    @classmethod
    def from_expected_clusters(cls, k: float, n: int, **other_params: Any) -> Self:
        """Return the prior with k expected clusters among n rows, 1 < k < n; solves ``mean_components``."""
        refuse_solved("mean_components", other_params)
        k, n = require_reachable(k, n)
        prior = cls(**other_params)

        def expected(mean: float) -> float:
            return prior.set_params(mean_components=mean).expected_clusters(n)

        high = 1.0
        while expected(high) <= k:
            high *= 4.0
            if high > _MOST_MEAN_COMPONENTS:
                raise ValueError(
                    f"k={k:g} expected clusters for n={n} need more than {_MOST_MEAN_COMPONENTS:g} "
                    "components on average; ask for fewer clusters or use DirichletProcess."
                )
        return prior.set_params(mean_components=solve_increasing(expected, k, 1e-30, high))

    @classmethod
    def examples(cls) -> list[Self]:
        """Return instances for the contract tests."""
        return [
            cls(),
            cls(concentration=0.4, mean_components=3.5),
            cls(concentration=None),
            cls(concentration=Gamma(3.0, 2.0), mean_components=2.0),
        ]

    def check(self) -> None:
        """Refuse parameters outside their range."""
        require_above("mean_components", self.mean_components, 0.0)
        super().check()

    def shift(self, concentration: float) -> float:
        """Return gamma."""
        return concentration

    def log_v(self, n: int, n_clusters: np.ndarray, concentration: float) -> np.ndarray:
        """Return log V_n(K).

        With h = t + j the summand is Poisson(j; lambda) lambda^(t-1) h Gamma(gamma h) / Gamma(gamma h + n).
        The last ratio falls with j, so the first lambda + 12 sqrt(lambda) + 60 terms hold all but 1e-16 of
        the sum. Cost O(terms) per number of clusters.
        """
        mean = float(self.mean_components)
        beyond = np.arange(self._most_beyond())
        log_poisson = xlogy(beyond, mean) - mean - gammaln(beyond + 1.0)
        low, high = int(n_clusters.min()), int(n_clusters.max())
        components = np.arange(low, high + beyond.size, dtype=float)
        by_components = np.log(components) - log_rising(concentration * components, n)
        windows = sliding_window_view(by_components, beyond.size)
        rows = max(1, _CELLS_AT_ONCE // beyond.size)
        sums = [_log_row_sums(windows[start : start + rows] + log_poisson) for start in range(0, high - low + 1, rows)]
        return np.concatenate(sums)[n_clusters - low] + (n_clusters - 1) * math.log(mean)

    def log_w(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return log Gamma(gamma + size) - log Gamma(gamma)."""
        return log_rising(concentration, sizes)

    def expected_clusters_given(self, n: int, concentration: float) -> float:
        """Return the expected number of occupied components, averaged over the number of components."""
        mean = float(self.mean_components)
        spread = 12 * math.sqrt(mean) + 60
        beyond = np.arange(max(0, math.floor(mean - spread)), math.ceil(mean + spread))
        weights = np.exp(xlogy(beyond, mean) - mean - gammaln(beyond + 1.0))
        return float(weights @ expected_occupied(beyond + 1, concentration, n) / weights.sum())

    def component_weights(self, rng: np.random.Generator, concentration: float) -> np.ndarray:
        """Draw the number of components, then their weights."""
        return dirichlet_weights(rng, concentration, 1 + int(rng.poisson(self.mean_components)))

    def most_clusters(self, n: int) -> int:
        """No more than there are components, but for a probability of 1e-16."""
        return min(n, 1 + self._most_beyond())

    def _most_beyond(self) -> int:
        mean = float(self.mean_components)
        return math.ceil(mean + 12 * math.sqrt(mean) + 60)


def _log_row_sums(terms: np.ndarray) -> np.ndarray:
    top = terms.max(axis=1, keepdims=True)
    return top[:, 0] + np.log(np.exp(terms - top).sum(axis=1))
