"""Weights of components: sticks, Dirichlet weights, and the priors whose components are finite in number."""

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from partita.priors.base import Prior, in_order_of_appearance
from partita.priors.hyperpriors import Slopes, newton_on_log


class FiniteComponents(Prior):
    """Base of the priors that draw all weights, then a component for every row; brings ``component_weights``."""

    @abstractmethod
    def component_weights(self, rng: np.random.Generator, concentration: float) -> np.ndarray:
        """Draw the weights of all components; they sum to 1."""

    def sample_weights_given(self, n: int, rng: np.random.Generator, concentration: float) -> np.ndarray:
        """Draw the weights of all components; the first n, zeros beyond the last."""
        drawn = self.component_weights(rng, concentration)[:n]
        return np.pad(drawn, (0, n - drawn.size))

    def sample_partition_given(self, n: int, rng: np.random.Generator, concentration: float) -> np.ndarray:
        """Draw weights, then components."""
        return draw_labels(rng, n, self.component_weights(rng, concentration))


class LabelledComponents(FiniteComponents):
    """Base of the priors whose number of components is given: what variational engines ask of the weights.

    ``sizes`` (K,) are expected numbers of rows, which need not be whole. Components that are not listed are empty;
    where their order matters, those listed are the first.
    """

    n_components: int

    @abstractmethod
    def log_allocation(self, sizes: np.ndarray, concentration: float) -> Any:
        """Return log p(labels) of one labelling of the rows by components of these sizes, weights integrated out.

        Of sizes (..., K) one value for every K of them.
        """

    @abstractmethod
    def allocation_slopes(self, sizes: np.ndarray, concentration: float) -> tuple[float, float]:
        """Return the first and the second derivative of ``log_allocation`` in log concentration."""

    @abstractmethod
    def expected_log_weights(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return E log weight_k (K,) given the sizes."""

    @abstractmethod
    def log_mean_weights(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return log E weight_k (K + 1,) given the sizes; last that of all empty components together."""

    def weights_divergence(self, sizes: np.ndarray, concentration: float) -> float:
        """Return KL(p(weights | sizes) || p(weights)) = sum_k N_k E log weight_k - log_allocation."""
        return float(sizes @ self.expected_log_weights(sizes, concentration)) - self.log_allocation(
            sizes, concentration
        )

    def best_order(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return the order (K,) of the listed components in which their labelling is most probable."""
        return np.arange(sizes.size)

    def learned_concentration(self, sizes: np.ndarray, concentration: float) -> float:
        """Return the concentration that maximises ``log_allocation`` plus ``log_hyperprior``; a fixed one as it is.

        Newton-Raphson in log concentration from the present one.
        """
        if not self.learns_concentration:
            return concentration

        def slopes(log_x: float) -> Slopes:
            value, gradient, curvature = self.hyperprior.slopes_of_log(log_x)
            first, second = self.allocation_slopes(sizes, math.exp(log_x))
            return value + self.log_allocation(sizes, math.exp(log_x)), gradient + first, curvature + second

        return newton_on_log(slopes, concentration, self.hyperprior.within)

    def log_hyperprior(self, concentration: float) -> float:
        """Return the hyperprior's log density of log concentration; 0 where the concentration is fixed."""
        return float(self.hyperprior.log_density_of_log(math.log(concentration))) if self.learns_concentration else 0.0


def broken_stick(sticks: np.ndarray) -> np.ndarray:
    """Return weight_k = v_k prod_{l<k} (1 - v_l): every stick takes its share of what is left."""
    left = np.cumprod(1.0 - sticks)
    return sticks * np.append(1.0, left)[: sticks.size]


def dirichlet_weights(rng: np.random.Generator, concentration: float, n_components: int) -> np.ndarray:
    """Draw from Dirichlet(concentration, ..., concentration), however small the concentration is.

    Normalised Gamma(a) variables, in logs: Gamma(a) = Gamma(a + 1) U^(1/a). The differences of -log U are taken
    before they are divided by a, so that however small a is, the largest weight is found.
    """
    concentration = max(concentration, float(np.finfo(float).smallest_subnormal))
    waits = rng.standard_exponential(n_components)
    log_gamma = np.log(rng.standard_gamma(concentration + 1.0, n_components))
    with np.errstate(over="ignore"):
        logs = log_gamma - (waits - waits.min()) / concentration
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def draw_labels(rng: np.random.Generator, n: int, weights: np.ndarray) -> np.ndarray:
    """Draw n independent components with these weights, renamed in order of appearance."""
    edges = np.cumsum(weights)
    components = np.searchsorted(edges, rng.random(n) * edges[-1], side="right")
    return in_order_of_appearance(np.minimum(components, weights.size - 1))
