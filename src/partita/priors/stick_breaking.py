"""Truncated stick-breaking."""

import math
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import digamma, gammaln, logsumexp

from partita.priors.base import solve_increasing
from partita.priors.checks import refuse_solved, require_integer, require_reachable
from partita.priors.cluster_counts import STICK_CELL, n_quadrature_points, require_affordable, stick_counts
from partita.priors.hyperpriors import Gamma, slice_update
from partita.priors.rising import log_rising, log_rising_slopes
from partita.priors.stick_state import StickBreakingPrior
from partita.priors.stick_sums import expected_occupied_sticks, log_truncation, log_truncations_grown
from partita.priors.weights import LabelledComponents, broken_stick

MOST_COMPONENTS = 1_000_000
"""All of them are kept in memory, occupied or not."""


class StickBreaking(LabelledComponents, name="stick-breaking"):
    """H labelled components: weight_h = v_h prod_{l<h} (1 - v_l), v_h ~ Beta(1, alpha), v_H = 1.

    p(labels) = prod_{h<H} alpha Gamma(1 + N_h) Gamma(alpha + N_{>h}) / Gamma(1 + alpha + N_{>=h}).

    Parameters
    ----------
    n_components : int
        H, the most clusters there can be.
    concentration : float, Gamma or None
        alpha > 0. A number is fixed; a ``Gamma`` is learned under it, ``None`` under ``Gamma(1, 10)``.

    Notes
    -----
    Wang, Domeniconi and Laskey (2010) print p(labels) (TSB) without alpha^(H-1), and its conditional as if
    the last stick were like the others; here the labelled probabilities sum to 1. The labels are not
    exchangeable: earlier components are larger on average. ``log_probability`` is of the unlabelled partition
    all the same.

    References
    ----------
    Ishwaran and James (2001), Gibbs sampling methods for stick-breaking priors; Wang, Domeniconi and Laskey
    (2010), Nonparametric Bayesian clustering ensembles, section 3.

    Examples
    --------
    >>> StickBreaking(n_components=4, concentration=1.0).sample_weights(4, random_state=0).round(2)
    array([0.7 , 0.21, 0.09, 0.  ])
    """

    title: ClassVar[str] = "truncated stick-breaking"
    default_hyperprior: ClassVar[Gamma] = Gamma(1.0, 10.0)

    def __init__(self, *, n_components: int, concentration: float | Gamma | None = None):
        self.n_components = n_components
        self.concentration = concentration

    @classmethod
    def from_expected_clusters(cls, k: float, n: int, **other_params: Any) -> Self:
        """Return the prior with k expected clusters among n rows, at the smaller of the two solutions.

        With growing concentration the last component takes all rows again, so the expectation has a maximum;
        k must lie between 1 and it.
        """
        refuse_solved("concentration", other_params)
        prior = cls(**other_params)
        prior.check()
        n = require_integer("n", n, at_least=1)
        top = minimize_scalar(
            lambda x: -prior.expected_clusters_given(n, math.exp(x)),
            bounds=(-5.0, 5.0 + math.log(prior.n_components * n)),
            method="bounded",
            options={"xatol": 1e-9},
        )
        k, n = require_reachable(k, n, most=-float(top.fun))
        value = solve_increasing(lambda a: prior.expected_clusters_given(n, a), k, 1e-30, math.exp(top.x))
        return prior.set_params(concentration=value)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return instances for the contract tests."""
        return [
            cls(n_components=4, concentration=1.7),
            cls(n_components=1, concentration=0.5),
            cls(n_components=2, concentration=0.6),
            cls(n_components=7),
            cls(n_components=3, concentration=Gamma(2.0, 1.0)),
        ]

    def check(self) -> None:
        """Refuse parameters outside their range."""
        require_integer("n_components", self.n_components, at_least=1, at_most=MOST_COMPONENTS)
        super().check()

    def possible(self, sizes: np.ndarray) -> bool:
        """Whether there are enough components."""
        return sizes.size <= self.n_components

    def expected_clusters_given(self, n: int, concentration: float) -> float:
        """Return the sum over components of the probability to be occupied."""
        return expected_occupied_sticks(n, self.n_components, concentration)

    def log_probability_given(self, sizes: np.ndarray, concentration: float) -> float:
        """Return the log of the sum over all assignments of blocks to components.

        It is the Dirichlet process's probability times ``exp(log_truncation(...))``.
        """
        if not self.possible(sizes):
            return -math.inf
        untruncated = (
            sizes.size * math.log(concentration)
            + gammaln(sizes).sum()
            + gammaln(concentration)
            - gammaln(concentration + sizes.sum())
        )
        return float(untruncated) + log_truncation(sizes, self.n_components, concentration)

    def component_weights(self, rng: np.random.Generator, concentration: float) -> np.ndarray:
        """Break H - 1 sticks of Beta(1, alpha); the last component takes the rest."""
        return broken_stick(np.append(rng.beta(1.0, concentration, self.n_components - 1), 1.0))

    def log_allocation(self, sizes: np.ndarray, concentration: float) -> Any:
        """Return the sum over h < H of log [alpha Gamma(1 + N_h) Gamma(alpha + N_{>h}) / Gamma(1 + alpha + N_{>=h})].

        Sticks behind the last row add 0.
        """
        own, after = self._broken(sizes)
        terms = gammaln(1.0 + own) - log_rising(concentration + after, 1.0 + own)
        return terms.sum(axis=-1) + own.shape[-1] * math.log(concentration)

    def allocation_slopes(self, sizes: np.ndarray, concentration: float) -> tuple[float, float]:
        """Return the derivatives of ``log_allocation`` in log concentration."""
        own, after = self._broken(sizes)
        share = concentration / (concentration + after)
        first, second = log_rising_slopes(concentration + after, 1.0 + own)
        # From the log of (alpha + N_{>h}) to that of alpha.
        gradient = own.size - (share * first).sum()
        return float(gradient), -float((share * (1.0 - share) * first + share**2 * second).sum())

    def expected_log_weights(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return E log v_k + sum over h < k of E log(1 - v_h), v_h ~ Beta(1 + N_h, alpha + N_{>h}), v_H = 1."""
        own, after = self._broken(sizes)
        whole = digamma(1.0 + concentration + own + after)
        taken, left = digamma(1.0 + own) - whole, digamma(concentration + after) - whole
        before = np.append(0.0, np.cumsum(left))[: sizes.size]
        return before + np.append(taken, 0.0)[: sizes.size]

    def log_mean_weights(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return log E weight_k, the sticks at their means; last what they leave of the whole."""
        own, after = self._broken(sizes)
        whole = np.log(1.0 + concentration + own + after)
        taken, left = np.log1p(own) - whole, np.cumsum(np.log(concentration + after) - whole)
        rest = left[-1] if left.size else 0.0
        behind = [rest] if own.size == sizes.size else [rest, -math.inf]
        return np.append(np.append(0.0, left)[: own.size] + taken, behind)

    def best_order(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return the order by decreasing size where that is more probable than the present one.

        It is the most probable of all orders unless all H components are listed, where the last stick is unlike the
        others.
        """
        order = np.argsort(-sizes, kind="stable")
        gain = self.log_allocation(sizes[order], concentration) - self.log_allocation(sizes, concentration)
        return order if gain > 0 else np.arange(sizes.size)

    def _broken(self, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows on every listed stick that is broken, and behind it: all but stick H."""
        from_here = np.cumsum(sizes[..., ::-1], axis=-1)[..., ::-1]
        after = np.concatenate([from_here[..., 1:], np.zeros((*sizes.shape[:-1], 1))], axis=-1)
        return sizes[..., : self.n_components - 1], after[..., : self.n_components - 1]

    def most_clusters(self, n: int) -> int:
        """At most one cluster per component."""
        return min(n, self.n_components)

    def log_cluster_counts(self, n: int) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function from concentrations to log P(K = k)."""
        most = self.most_clusters(n)
        averaged = n_quadrature_points(most) if self.learns_concentration else 1.0
        require_affordable(n, averaged * n * most * (self.n_components - most / 2) * STICK_CELL)

        def log_counts(concentrations: np.ndarray) -> np.ndarray:
            with np.errstate(divide="ignore"):
                return np.log([stick_counts(n, int(self.n_components), float(value)) for value in concentrations])

        return log_counts

    def update(self, rng: np.random.Generator, sizes: np.ndarray, concentration: float) -> float:
        """Draw the concentration given the sizes of all components in order, empty ones included.

        Slice sampling on its log, with the labelled probability of the sizes.
        """
        if not self.learns_concentration:
            return concentration
        sizes = np.asarray(sizes)
        if sizes.size != self.n_components:
            raise ValueError(
                f"sizes must list all {self.n_components} components in order, empty ones as 0; got {sizes.size}."
            )
        from_here = np.cumsum(sizes[::-1])[::-1][:-1]
        after = from_here - sizes[:-1]

        def log_likelihood(value: float) -> float:
            terms = gammaln(value + after) - gammaln(1.0 + value + from_here)
            return float(terms.sum() + after.size * math.log(value))

        return slice_update(rng, self.hyperprior, log_likelihood, concentration)

    def compiled(self, n: int, concentration: float, max_clusters: int) -> StickBreakingPrior:
        """Return the state for kernels: component h in slot h."""
        order = np.arange(self.n_components, dtype=np.int64)
        return StickBreakingPrior(order, np.array([float(concentration)]))

    def recompiled(
        self, previous: StickBreakingPrior, n: int, concentration: float, max_clusters: int
    ) -> StickBreakingPrior:
        """Return the state with a new concentration and the order of components that it had."""
        return StickBreakingPrior(previous.order, np.array([float(concentration)]))

    def order_of(self, compiled: StickBreakingPrior) -> np.ndarray:
        """The slot of every component."""
        return compiled.order

    def in_order(self, compiled: StickBreakingPrior, order: np.ndarray) -> StickBreakingPrior:
        """The state with its components in these slots."""
        return compiled._replace(order=order)

    def least_slots(self) -> int:
        """One slot per component."""
        return self.n_components

    def component_sizes(self, compiled: StickBreakingPrior, sizes: np.ndarray) -> np.ndarray:
        """Sizes in the order of the components, empty ones included."""
        return sizes[compiled.order]

    def log_seats(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Log probability (K + 1,) that one more row joins each cluster, and last that it opens one."""
        joined = log_truncations_grown(sizes, self.n_components, concentration)
        more, opened = np.append(sizes, 1), -math.inf
        if self.possible(more):
            opened = log_truncation(more, self.n_components, concentration)
        logs = np.append(np.log(sizes) + joined, math.log(concentration) + opened)
        return logs - logsumexp(logs)
