"""Weights of components: sticks, Dirichlet weights, and the priors whose components are finite in number."""

from abc import abstractmethod

import numpy as np

from partita.priors.base import Prior, in_order_of_appearance


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
