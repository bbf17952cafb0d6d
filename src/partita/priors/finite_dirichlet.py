"""A fixed number of components with symmetric Dirichlet weights."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import digamma, gammaln

from partita.priors.base import solve_increasing
from partita.priors.checks import refuse_solved, require_integer, require_reachable
from partita.priors.gibbs_type import GibbsType
from partita.priors.hyperpriors import Gamma
from partita.priors.rising import log_rising, log_rising_ratio, log_rising_slopes
from partita.priors.weights import LabelledComponents, dirichlet_weights

MOST_COMPONENTS = 2**53
"""Numbers that a float holds exactly."""


class FiniteDirichlet(LabelledComponents, GibbsType, name="finite-dirichlet"):
    """H components whose weights are Dirichlet(alpha/H, ..., alpha/H); some may stay empty.

    p(partition) = H! / (H - K)! * Gamma(alpha) / Gamma(alpha + n) * prod_k Gamma(b + n_k) / Gamma(b), with
    b = alpha/H.

    Parameters
    ----------
    n_components : int
        H, the most clusters there can be. For ``engines.EM(select=...)`` also several: a range or a list.
    concentration : float, Gamma or None
        alpha > 0, the sum of the Dirichlet's parameters. A number is fixed; a ``Gamma`` is learned under it,
        ``None`` under ``Gamma(1, 1)``.
    as_printed : bool
        Whether every component gets alpha instead of alpha/H, to reproduce a misprint. Surplus components then hold
        many more rows.

    Notes
    -----
    Wang, Domeniconi and Laskey (2010) print the conditional (FSD) with alpha in place of alpha/H; its weights
    sum to more than 1. Here every component gets alpha/H. With ``as_printed`` it gets alpha; normalised, that is
    b = alpha, and H alpha takes the place of alpha.

    References
    ----------
    Green and Richardson (2001); Ishwaran and Zarepour (2002).

    Examples
    --------
    >>> FiniteDirichlet(n_components=3, concentration=3.0).cluster_count_distribution(20)[1:4].round(3)
    array([0.013, 0.247, 0.74 ])
    >>> FiniteDirichlet(n_components=3, concentration=0.3).cluster_count_distribution(20)[1:4].round(3)
    array([0.52 , 0.411, 0.069])
    """

    title: ClassVar[str] = "finite Dirichlet"

    def __init__(
        self,
        *,
        n_components: int | Sequence[int],
        concentration: float | Gamma | None = None,
        as_printed: bool = False,
    ):
        self.n_components: Any = n_components
        self.concentration = concentration
        self.as_printed = as_printed

    @classmethod
    def from_expected_clusters(cls, k: float, n: int, **other_params: Any) -> Self:
        """Return the prior with k expected clusters among n rows.

        k must lie between 1 and the expectation under equal weights, H (1 - (1 - 1/H)^n).
        """
        refuse_solved("concentration", other_params)
        prior = cls(**other_params)
        prior.check()
        most = _occupied_at_equal_weights(prior.n_components, require_integer("n", n, at_least=1))
        k, n = require_reachable(k, n, most=most)
        value = solve_increasing(lambda a: prior.expected_clusters_given(n, a), k, 1e-30, 1e30)
        return prior.set_params(concentration=value)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return instances for the contract tests."""
        return [
            cls(n_components=4, concentration=1.3),
            cls(n_components=1, concentration=2.0),
            cls(n_components=9),
            cls(n_components=3, concentration=Gamma(2.0, 0.5)),
            cls(n_components=3, concentration=0.6, as_printed=True),
        ]

    def check(self) -> None:
        """Refuse parameters outside their range."""
        if _are_several(self.n_components):
            raise ValueError(
                f"n_components={self.n_components!r} are several numbers, among which only "
                "engine=EM(select='bic') can choose: pass one of them."
            )
        require_integer("n_components", _one_number(self.n_components), at_least=1, at_most=MOST_COMPONENTS)
        if not isinstance(self.as_printed, bool | np.bool_):
            raise ValueError(f"as_printed must be True or False; got {self.as_printed!r}.")
        super().check()

    def candidates(self) -> list[Self]:
        """One prior for every distinct number of components, least first, each checked."""
        given = self.n_components if _are_several(self.n_components) else [_one_number(self.n_components)]
        if len(given) == 0:
            raise ValueError(f"n_components={self.n_components!r} holds no number: pass at least one.")
        numbers = {require_integer("n_components", number, at_least=1, at_most=MOST_COMPONENTS) for number in given}
        others = {name: value for name, value in self.get_params(deep=False).items() if name != "n_components"}
        priors = [type(self)(n_components=number, **others) for number in sorted(numbers)]
        for prior in priors:
            prior.check()
        return priors

    def possible(self, sizes: np.ndarray) -> bool:
        """Whether there are enough components."""
        return sizes.size <= self.n_components

    def shift(self, concentration: float) -> float:
        """Return b = alpha/H, or alpha as printed."""
        return concentration if self.as_printed else concentration / self.n_components

    def mass(self, concentration: float) -> float:
        """Return H b, the sum of the Dirichlet's parameters."""
        return concentration * self.n_components if self.as_printed else concentration

    def log_v(self, n: int, n_clusters: np.ndarray, concentration: float) -> np.ndarray:
        """Return log [H! / (H - K)! * Gamma(H b) / Gamma(H b + n)], -inf for K > H."""
        left = self.n_components - n_clusters
        ways = gammaln(self.n_components + 1.0) - gammaln(np.maximum(left, 0) + 1.0)
        return np.where(left >= 0, ways, -np.inf) - log_rising(self.mass(concentration), n)

    def log_w(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return log Gamma(b + size) - log Gamma(b)."""
        return log_rising(self.shift(concentration), sizes)

    def expected_clusters_given(self, n: int, concentration: float) -> float:
        """Return H (1 - E (1 - weight)^n)."""
        return float(expected_occupied(self.n_components, self.shift(concentration), n))

    def component_weights(self, rng: np.random.Generator, concentration: float) -> np.ndarray:
        """Draw the weights of the H components."""
        return dirichlet_weights(rng, self.shift(concentration), self.n_components)

    def log_allocation(self, sizes: np.ndarray, concentration: float) -> Any:
        """Return log [Gamma(H b) / Gamma(H b + N) * prod_k Gamma(b + N_k) / Gamma(b)]."""
        each = log_rising(self.shift(concentration), sizes)
        return each.sum(axis=-1) - log_rising(self.mass(concentration), sizes.sum(axis=-1))

    def allocation_slopes(self, sizes: np.ndarray, concentration: float) -> tuple[float, float]:
        """Return the derivatives of ``log_allocation`` in log concentration."""
        each = log_rising_slopes(self.shift(concentration), sizes)
        whole = log_rising_slopes(self.mass(concentration), sizes.sum())
        return float(each[0].sum() - whole[0]), float(each[1].sum() - whole[1])

    def expected_log_weights(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return psi(b + N_k) - psi(H b + N)."""
        return digamma(self.shift(concentration) + sizes) - digamma(self.mass(concentration) + sizes.sum())

    def log_mean_weights(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return log [(b + N_k) / (H b + N)], last that of the H - K empty components."""
        shift = self.shift(concentration)
        shares = np.append(shift + sizes, (self.n_components - sizes.size) * shift)
        with np.errstate(divide="ignore"):
            return np.log(shares) - math.log(self.mass(concentration) + sizes.sum())

    def most_clusters(self, n: int) -> int:
        """At most one cluster per component."""
        return min(n, self.n_components)


def _are_several(n_components: Any) -> bool:
    if isinstance(n_components, np.ndarray):
        return n_components.ndim > 0
    return isinstance(n_components, Sequence) and not isinstance(n_components, str)


def _one_number(n_components: Any) -> Any:
    """The number that an array without axes holds; anything else as it is."""
    return n_components.item() if isinstance(n_components, np.ndarray) else n_components


def expected_occupied(n_components: int | np.ndarray, shift: float, n: int) -> np.ndarray:
    """Return the expected number of occupied components under Dirichlet(shift, ..., shift) weights.

    H (1 - E (1 - weight)^n) with E (1 - weight)^n = ((H - 1) shift)_n / (H shift)_n.
    """
    n_components = np.asarray(n_components)
    others = np.maximum(n_components - 1, 1) * shift
    occupied = -n_components * np.expm1(-log_rising_ratio(others, np.full(others.shape, shift), n))
    return np.where(n_components == 1, 1.0, occupied)


def _occupied_at_equal_weights(n_components: int, n: int) -> float:
    return n_components * (1.0 - (1.0 - 1.0 / n_components) ** n)
