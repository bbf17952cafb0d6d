"""Weights that favour draws whose clusters are of like size, and what such weights leave of the draws.

The entropy-regularised estimator of Franzolini and Rebaudo (2022), Algorithm 1.
"""

import warnings
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from partita.partitions import Partitions
from partita.posterior.cluster_sizes import cluster_sizes

if TYPE_CHECKING:
    from partita.posterior.posterior import Posterior

FEW = 100
"""Effective draws below which a posterior probability is uncertain by more than 0.05 (0.5 / sqrt(100))."""

_LOST = 0.5
_DOMINATES = 0.5


class EffectiveSampleSizeWarning(UserWarning):
    """Weights leave so few effective draws that what is computed from them may be chance."""


def regularize_entropy(posterior: "Posterior", entropy: float) -> "Posterior":
    """The draws with `entropy_weights`; warns when these leave few effective draws."""
    weights = entropy_weights(posterior.partitions, posterior.weights, entropy)
    warn_if_few(weights, posterior.weights, f"Regularisation with entropy = {float(entropy):g}")
    return reweighted(posterior, weights, entropy=float(entropy))


def reweighted(posterior: "Posterior", weights: np.ndarray, **step: float) -> "Posterior":
    """The draws with other weights; the step is added to the provenance."""
    steps = [*posterior.provenance.get("reweighted", []), step]
    provenance = posterior.provenance | {"reweighted": steps}
    return type(posterior)(posterior.partitions, weights=weights, traces=posterior.traces, provenance=provenance)


def normalized_entropy(partitions: Partitions) -> np.ndarray:
    """Entropy of every draw's cluster shares with logarithms to base K, (n_draws,).

    S = -sum_c n_c/n log_K(n_c/n), between 0 and 1; 0 for a single cluster, which the paper leaves undefined. S is 1 for
    clusters of equal size however many there are: it does not penalise their number. n are the objects that the draw
    labels.
    """
    clusters = cluster_sizes(partitions)
    shares = clusters.sizes / clusters.n_labelled[clusters.draw]
    nats = clusters.sum(-shares * np.log(shares))
    several = clusters.n_clusters > 1
    return np.divide(nats, np.log(np.maximum(clusters.n_clusters, 2)), out=np.zeros(len(nats)), where=several)


def entropy_weights(partitions: Partitions, weights: np.ndarray, entropy: float) -> np.ndarray:
    """Weights (sum 1) of the draws times exp(entropy S), S their `normalized_entropy`.

    Steps 1 to 3 of the paper's Algorithm 1; no finite number overflows, and 0 returns the weights bit for bit. Cost
    O(draws x objects).

    Parameters
    ----------
    partitions : Partitions
    weights : (n_draws,) array
        Non-negative, sum 1.
    entropy : float
        Any finite number; a negative one favours draws of unlike clusters.
    """
    if not isinstance(entropy, Real) or isinstance(entropy, bool) or not np.isfinite(float(entropy)):
        raise ValueError(f"entropy must be a finite number; got {entropy!r}.")
    if entropy == 0:
        return weights.copy()
    return tilted_weights(weights, float(entropy) * normalized_entropy(partitions))


def tilted_weights(weights: np.ndarray, log_factors: np.ndarray) -> np.ndarray:
    """Weights (sum 1) times exp(log_factors), shifted by the largest among the draws of positive weight."""
    used = weights > 0
    tilted = np.zeros(len(weights))
    tilted[used] = weights[used] * np.exp(log_factors[used] - log_factors[used].max())
    return tilted / tilted.sum()


def resampled_weights(weights: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """How often each draw comes up when ``n_draws`` are sampled with replacement, as shares (sum 1).

    Step 4 of Algorithm 1 as printed. It adds noise and changes no expectation, so the weights themselves are better.
    """
    return rng.multinomial(n_draws, weights / weights.sum()) / n_draws


def effective_draws(weights: np.ndarray) -> float:
    """Kish's effective sample size of weights that sum to 1: 1 / sum of squares."""
    return float(1.0 / np.square(weights).sum())


def are_few(weights: np.ndarray, before: np.ndarray) -> bool:
    """Whether reweighting left too little: fewer than 100 effective draws, and less than half of those before.

    The second condition does not blame the weights for a short run. Few is also when one draw holds more than half of
    all weight and none did before.
    """
    left, had = effective_draws(weights), effective_draws(before)
    dominated = weights.max() > _DOMINATES >= before.max()
    return bool(left < min(FEW, _LOST * had) or dominated)


def warn_if_few(weights: np.ndarray, before: np.ndarray, what: str, *, instead: str = "one nearer to 0") -> None:
    """Warn when reweighting left few effective draws; see `are_few`.

    The warning points past the caller and the method of `Posterior` that called it, to the line of the user.

    Parameters
    ----------
    weights, before : (n_draws,) array
        Weights after and before, each of sum 1.
    what : str
        What was done: "Regularisation with entropy = 20".
    instead : str
        What to try besides more draws.
    """
    if not are_few(weights, before):
        return
    left, had = effective_draws(weights), effective_draws(before)
    largest = f", {weights.max():.0%} on a single one" if weights.max() > _DOMINATES else ""
    warnings.warn(
        f"{what} leaves {left:.1f} effective draws of {had:.0f}{largest}: results rest on those few. "
        f"Use {instead}, or make more draws.",
        EffectiveSampleSizeWarning,
        stacklevel=4,
    )
