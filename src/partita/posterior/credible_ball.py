"""How far the posterior reaches around its centre: a credible ball of partitions and its extremes."""

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.partitions import Partitions, by_size
from partita.posterior.estimate.expected import losses_to_draws

if TYPE_CHECKING:
    from partita.posterior.posterior import Posterior

_TIE = 1e-12
_WEIGHT_ROUNDING = 1e-9


@dataclass(frozen=True)
class CredibleBall:
    """The draws nearest to a centre that hold a stated share of the posterior, and the extremes among them.

    Every labelling is numbered 0, 1, ... from its own largest cluster to its smallest: equal numbers in two of them
    do not mean the same cluster (`Posterior.align` matches them).

    Attributes
    ----------
    labels : (n_objects,) int64 array
        The centre, ``Posterior.estimate(loss=loss).labels``.
    radius : float
        Loss of the centre from the farthest draw in the ball.
    horizontal : (n_objects,) int64 array
        That draw.
    upper : (n_objects,) int64 array
        Of the draws in the ball with the fewest clusters the farthest from the centre.
    lower : (n_objects,) int64 array
        Of the draws in the ball with the most clusters the farthest from the centre.
    share : float
        Weight of the draws in the ball: at least ``level``.
    level : float
        The share that was asked for.
    loss : str or loss object
        What distances are measured in.
    """

    labels: np.ndarray
    radius: float
    horizontal: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    share: float
    level: float
    loss: Any

    @property
    def n_clusters(self) -> dict[str, int]:
        """Number of clusters of the centre and of the three bounds."""
        named = {"centre": self.labels, "horizontal": self.horizontal, "upper": self.upper, "lower": self.lower}
        return {name: int(labels.max()) + 1 for name, labels in named.items()}

    def __str__(self) -> str:
        n = {name: f"{k} cluster{'s' if k > 1 else ''}" for name, k in self.n_clusters.items()}
        return (
            f"{self.level:.0%} credible ball around {n['centre']}: radius {self.radius:.3g} ({self.loss}), "
            f"{self.share:.1%} of the posterior.\n"
            f"Farthest partition inside: {n['horizontal']}. Coarsest: {n['upper']}. Finest: {n['lower']}."
        )


def credible_ball(posterior: "Posterior", *, level: float, loss: Any) -> CredibleBall:
    """The credible ball around the posterior's own estimate under the loss; see `ball_around`."""
    if not isinstance(level, Real) or isinstance(level, bool) or not 0.0 < level <= 1.0:
        raise ValueError(f"level must be above 0 and at most 1, such as 0.95; got {level!r}.")
    centre = posterior.estimate(loss=loss).labels
    return ball_around(centre, posterior.partitions, posterior.weights, level=level, loss=loss)


def ball_around(
    labels: np.ndarray, partitions: Partitions, weights: np.ndarray, *, level: float, loss: Any
) -> CredibleBall:
    """Find the smallest ball around ``labels`` whose draws have a weight of at least ``level``.

    Draws that are equally far (up to rounding) are in together, so the share may exceed the level. Draws of weight 0
    or without any label are left out. Of several draws that are equally extreme the first is taken. Cost: one loss
    per draw, O(draws x objects). Wade and Ghahramani (2018), section 4.

    A draw that leaves objects out is as far away as the objects that it labels say. Its clusters are counted
    against those that the centre has among the same objects, since few objects have few clusters.
    """
    kept = np.flatnonzero((weights > 0) & (partitions.flat.max(axis=1) >= 0))
    weights = weights / weights[kept].sum()
    distances = losses_to_draws(loss, labels, partitions)
    inside = kept[distances[kept] <= _reach(distances[kept], weights[kept], level)]
    draws, far = partitions.flat[inside], distances[inside]
    excess = _excess_clusters(labels, draws)
    horizontal, upper, lower = (
        by_size(draws[_farthest(far, among)])
        for among in (np.full(len(far), True), excess == excess.min(), excess == excess.max())
    )
    share = min(1.0, float(weights[inside].sum()))
    return CredibleBall(labels, float(far.max()), horizontal, upper, lower, share, float(level), loss)


def _reach(distances: np.ndarray, weights: np.ndarray, level: float) -> float:
    """The least distance within which the level is reached, and what is equal to it up to rounding."""
    order = np.argsort(distances, kind="stable")
    held = np.cumsum(weights[order])
    last = min(int(np.searchsorted(held, level - _WEIGHT_ROUNDING)), len(order) - 1)
    return float(distances[order[last]]) + _TIE


def _farthest(distances: np.ndarray, among: np.ndarray) -> int:
    """The first of the draws in question that is as far as any of them."""
    return int(np.flatnonzero(among & (distances >= distances[among].max() - _TIE))[0])


def _excess_clusters(labels: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """How many more clusters every draw has than the centre, among the objects that the draw labels."""
    centre = np.array([len(np.unique(labels[(draw >= 0) & (labels >= 0)])) for draw in draws])
    return draws.max(axis=1) + 1 - centre
