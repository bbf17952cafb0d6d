"""The Pitman-Yor process."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln

from partita.kernels.urn import draw_urn_labels
from partita.priors.base import solve_increasing
from partita.priors.checks import is_number, refuse_solved, require_above, require_reachable
from partita.priors.gibbs_type import GibbsType
from partita.priors.hyperpriors import Gamma
from partita.priors.rising import digamma_difference, log_rising, log_rising_ratio
from partita.priors.weights import broken_stick


class PitmanYor(GibbsType, name="pitman-yor"):
    """The Pitman-Yor process: like the Dirichlet process, with many more small clusters.

    p(partition) = prod_{i<K} (alpha + i sigma) / (alpha + 1)_{n-1} * prod_k (1 - sigma)_{n_k - 1}, where
    (x)_m is the rising factorial; the number of clusters grows as n^sigma.

    Parameters
    ----------
    concentration : float, Gamma or None
        alpha > -discount. A number is fixed; a ``Gamma`` is learned under it (then alpha > 0), ``None`` under
        ``Gamma(1, 1)``.
    discount : float
        sigma in [0, 1); 0 is the Dirichlet process.

    References
    ----------
    Pitman and Yor (1997); Pitman (2006), Combinatorial stochastic processes, equation 3.13.

    Examples
    --------
    >>> [round(PitmanYor(concentration=1.0, discount=sigma).expected_clusters(100), 2) for sigma in (0.0, 0.25, 0.5)]
    [5.19, 9.98, 20.65]
    """

    title: ClassVar[str] = "Pitman-Yor process"

    def __init__(self, *, concentration: float | Gamma | None = None, discount: float = 0.25):
        self.concentration = concentration
        self.discount = discount

    @classmethod
    def from_expected_clusters(cls, k: float, n: int, **other_params: Any) -> Self:
        """Return the process with k expected clusters among n rows, 1 < k < n, at its discount."""
        refuse_solved("concentration", other_params)
        k, n = require_reachable(k, n)
        prior = cls(**other_params)
        prior.check()
        above = solve_increasing(lambda a: prior.expected_clusters_given(n, a - prior.discount), k, 1e-30, 1e30)
        return prior.set_params(concentration=above - prior.discount)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return instances for the contract tests."""
        return [
            cls(concentration=0.5),
            cls(concentration=-0.2, discount=0.5),
            cls(),
            cls(concentration=Gamma(2.0, 1.0), discount=0.6),
        ]

    def check(self) -> None:
        """Refuse parameters outside their range."""
        discount = self.discount
        if not (is_number(discount) and 0 <= discount < 1):
            raise ValueError(f"discount must be a number in [0, 1); got {discount!r}.")
        if self.learns_concentration:
            super().check()
        else:
            require_above("concentration", self.concentration, -float(discount), hint="that is -discount")

    def shift(self, concentration: float) -> float:
        """Return -discount."""
        return -float(self.discount)

    def log_v(self, n: int, n_clusters: np.ndarray, concentration: float) -> np.ndarray:
        """Return the sum over 1 <= i < K of log(alpha + i sigma), minus log (alpha + 1)_{n-1}."""
        steps = concentration + self.discount * np.arange(1, np.max(n_clusters))
        products = np.concatenate(([0.0], np.cumsum(np.log(steps))))
        return products[n_clusters - 1] - log_rising(concentration + 1.0, n - 1)

    def log_w(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return log (1 - sigma)_{size - 1}."""
        return gammaln(sizes - self.discount) - gammaln(1.0 - self.discount)

    def expected_clusters_given(self, n: int, concentration: float) -> float:
        """Return (alpha / sigma) [(alpha + sigma)_n / (alpha)_n - 1], also at sigma = 0 and alpha <= 0.

        With exp(m) = (alpha + 1 + sigma)_{n-1} / (alpha + 1)_{n-1} it is exp(m) + alpha expm1(m) / sigma.
        """
        if n == 1:
            return 1.0
        sigma = float(self.discount)
        if sigma == 0.0:
            return float(1.0 + concentration * digamma_difference(concentration + 1.0, n - 1))
        m = float(np.log1p(sigma / (concentration + 1.0)) + log_rising_ratio(concentration + 2.0, sigma, n - 2))
        return float(np.exp(m) + concentration * np.expm1(m) / sigma)

    def sample_partition_given(self, n: int, rng: np.random.Generator, concentration: float) -> np.ndarray:
        """Draw from the urn, O(n)."""
        return draw_urn_labels(rng, n, concentration, float(self.discount))

    def sample_weights_given(self, n: int, rng: np.random.Generator, concentration: float) -> np.ndarray:
        """Break sticks of Beta(1 - sigma, alpha + k sigma), k = 1, 2, ... (Pitman and Yor 1997)."""
        discount = float(self.discount)
        return broken_stick(rng.beta(1.0 - discount, concentration + discount * np.arange(1, n + 1)))
