"""The Dirichlet process."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln

from partita.kernels.urn import draw_urn_labels
from partita.priors.base import solve_increasing
from partita.priors.checks import refuse_solved, require_reachable
from partita.priors.gibbs_type import GibbsType
from partita.priors.hyperpriors import Gamma, escobar_west
from partita.priors.rising import digamma_difference, log_rising
from partita.priors.weights import broken_stick


class DirichletProcess(GibbsType, name="dirichlet-process"):
    """The Dirichlet process: clusters grow in proportion to their size, new ones appear forever.

    p(partition) = alpha^K Gamma(alpha) / Gamma(alpha + n) * prod_k Gamma(n_k), with about alpha log n
    clusters among n rows.

    Parameters
    ----------
    concentration : float, Gamma or None
        alpha > 0. A number is fixed; a ``Gamma`` is learned under it, ``None`` under ``Gamma(1, 10)``.

    References
    ----------
    Ferguson (1973); Antoniak (1974); Escobar and West (1995) for the update of alpha.

    Examples
    --------
    >>> prior = DirichletProcess(concentration=1.0)
    >>> round(prior.expected_clusters(100), 2)
    5.19
    >>> prior.sample_partition(8, random_state=0)
    array([0, 0, 1, 1, 1, 0, 2, 0])
    """

    title: ClassVar[str] = "Dirichlet process"
    default_hyperprior: ClassVar[Gamma] = Gamma(1.0, 10.0)

    def __init__(self, *, concentration: float | Gamma | None = None):
        self.concentration = concentration

    @classmethod
    def from_expected_clusters(cls, k: float, n: int, **other_params: Any) -> Self:
        """Return the process with k expected clusters among n rows, 1 < k < n."""
        refuse_solved("concentration", other_params)
        k, n = require_reachable(k, n)
        prior = cls(**other_params)
        value = solve_increasing(lambda a: prior.expected_clusters_given(n, a), k, 1e-30, 1e30)
        return prior.set_params(concentration=value)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return instances for the contract tests."""
        return [cls(concentration=0.7), cls(), cls(concentration=Gamma(2.0, 1.5))]

    def shift(self, concentration: float) -> float:
        """Return 0: a cluster attracts in proportion to its size."""
        return 0.0

    def log_v(self, n: int, n_clusters: np.ndarray, concentration: float) -> np.ndarray:
        """Return K log alpha + log Gamma(alpha) - log Gamma(alpha + n)."""
        return n_clusters * np.log(concentration) - log_rising(concentration, n)

    def log_w(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return log Gamma(size)."""
        return gammaln(sizes)

    def expected_clusters_given(self, n: int, concentration: float) -> float:
        """Return alpha (psi(alpha + n) - psi(alpha)), the first term taken apart."""
        return float(1.0 + concentration * digamma_difference(concentration + 1.0, n - 1))

    def sample_partition_given(self, n: int, rng: np.random.Generator, concentration: float) -> np.ndarray:
        """Draw from the urn, O(n)."""
        return draw_urn_labels(rng, n, concentration, 0.0)

    def sample_weights_given(self, n: int, rng: np.random.Generator, concentration: float) -> np.ndarray:
        """Break sticks of Beta(1, alpha) (Sethuraman 1994)."""
        return broken_stick(rng.beta(1.0, concentration, n))

    def update(self, rng: np.random.Generator, sizes: np.ndarray, concentration: float) -> float:
        """Draw the concentration given the sizes of occupied clusters (Escobar and West 1995)."""
        if not self.learns_concentration:
            return concentration
        sizes = np.asarray(sizes)
        return escobar_west(rng, self.hyperprior, concentration, int(sizes.sum()), int(np.count_nonzero(sizes)))
