"""Several distinct partitions where the posterior has several, one where it has one."""

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.partitions import Partitions, by_size
from partita.posterior.alignment import align
from partita.posterior.condensing import condense
from partita.posterior.estimate.comparing import evenly_spaced
from partita.posterior.estimate.expected import losses_to_draws

if TYPE_CHECKING:
    from partita.posterior.posterior import Posterior

LEAST_WEIGHT = 0.05
"""Share of the posterior below which draws are not a mode of their own."""

MOST_DRAWS = 1000
"""Distinct draws that are searched for modes; of more these, evenly spaced in weight."""

LEAST_DRAWS = 5
"""That in draws, where it can be told what one draw weighs."""

FEW_DRAWS = 20
"""Distinct draws below which a valley proves nothing, and modes must be farther apart than their draws are wide."""

_WIDTHS_APART = 3.0
_VALLEY = 0.5
_PARTICLES = 8
_CANDIDATES = 32
_MOST_ROUNDS = 100
_RUNS = 2
_TIE = 1e-12


@dataclass(frozen=True)
class Mode:
    """A partition around which many draws lie, with few between it and other modes.

    Attributes
    ----------
    labels : (n_objects,) int64 array
        The estimate of the draws that are nearest to it; 0, 1, ... from the largest cluster to the smallest.
    weight : float
        Weight of these draws.
    expected_loss : float
        Mean loss of the labels from these draws.
    n_clusters : int
    """

    labels: np.ndarray
    weight: float
    expected_loss: float
    n_clusters: int


def modes(posterior: "Posterior", n: int, *, loss: Any) -> list[Mode]:
    """Find the modes of a posterior and return the ``n`` heaviest, heaviest first.

    As in k-means, particles (partitions) alternate between taking the draws that are nearest to them and becoming the
    estimate of what they took. They start from the estimate of all draws; each further one from the draws that lean
    most towards a draw far from all particles. Then the closest two that are not `_apart` become one, until all
    are. Nothing is random. The particles are those of WASABI (Balocchi and Wade 2025), whose number is fixed.

    Cost: 32 losses from up to 1000 distinct draws for every particle, of which there are 8 or ``n``, and an estimate
    of every group in every round.
    """
    if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n, the most modes to return, must be a whole number of at least 1; got {n!r}.")
    everything = _Draws(posterior, loss)
    draws = _Draws(_thinned(posterior), loss)
    particles = [posterior.estimate(loss=loss).labels]
    while (
        len(particles) < min(max(n, _PARTICLES), _CANDIDATES)
        and (start := _start_of_another(draws, particles)) is not None
    ):
        particles.append(start)
    return _described(everything, _merged(draws, _settled(draws, particles)))[: int(n)]


def _thinned(posterior: "Posterior") -> "Posterior":
    distinct = condense(posterior.partitions, posterior.weights)
    if len(distinct.weights) <= MOST_DRAWS:
        return posterior
    some, weights = evenly_spaced(distinct.weights, MOST_DRAWS)
    return type(posterior)(posterior.draws[distinct.draws[some]], weights=weights, traces={})


class _Draws:
    """Distinct draws, the loss of a partition from each, and the estimate of a group of them."""

    def __init__(self, posterior: "Posterior", loss: Any):
        distinct = condense(posterior.partitions, posterior.weights)
        self.weights = distinct.weights
        self.times = condense(posterior.partitions, np.sign(posterior.weights)).weights
        self.labels = posterior.draws[distinct.draws]
        self._partitions = Partitions(self.labels)
        self._loss = loss
        self._posterior = type(posterior)
        self._estimates: dict[bytes, np.ndarray] = {}

    def losses(self, labels: np.ndarray) -> np.ndarray:
        return losses_to_draws(self._loss, labels, self._partitions)

    def between(self, first: np.ndarray, second: np.ndarray) -> float:
        return float(losses_to_draws(self._loss, first, Partitions(second[None]))[0])

    def mean(self, losses: np.ndarray, group: np.ndarray) -> float:
        return float(self.weights[group] @ losses[group] / self.weights[group].sum())

    def estimate(self, group: np.ndarray) -> np.ndarray:
        key = group.tobytes()
        if key not in self._estimates:
            some = self._posterior(self.labels[group], weights=self.weights[group], traces={})
            self._estimates[key] = some.estimate(loss=self._loss, runs=_RUNS).labels
        return self._estimates[key]

    @property
    def least_weight(self) -> float:
        """What a mode must weigh. The least weight is that of one draw if three that came up once share it."""
        least = self.weights.min()
        shared = np.sum((self.weights <= least * (1.0 + 1e-9)) & (self.times == 1.0)) >= 3
        return max(LEAST_WEIGHT, LEAST_DRAWS * least if shared else 0.0) - 1e-9


def _start_of_another(draws: _Draws, particles: list[np.ndarray]) -> np.ndarray | None:
    """A partition of draws that are far from all particles; None where every draw is a particle.

    Of candidates spread over the draws by weight times loss, the one is chosen that parts the other draws best by
    how much nearer they are to it than to their particle. A draw alone is far from everything by its own noise;
    the estimate of those that lean towards it is not. The draw itself is taken where that leaves less loss.
    """
    near = np.min([draws.losses(labels) for labels in particles], axis=0)
    pull = draws.weights * np.maximum(near, 0.0)
    if pull.sum() <= _TIE:
        return None
    order = np.argsort(near, kind="stable")
    candidates = order[evenly_spaced(pull[order], _CANDIDATES)[0]]
    leans = [draws.losses(draws.labels[b].astype(np.int64)) - near for b in candidates]
    splits = [_best_split(np.delete(lean, b), np.delete(draws.weights, b)) for lean, b in zip(leans, candidates)]
    best = int(np.argmax([gain for gain, _ in splits]))
    group = leans[best] <= splits[best][1]
    group[candidates[best]] = True
    starts = [draws.estimate(group), by_size(draws.labels[candidates[best]])]
    left = [draws.weights @ np.minimum(near, draws.losses(labels)) for labels in starts]
    return starts[int(np.argmin(left))]


def _best_split(values: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Largest variance between the two sides of a threshold, and the threshold (Otsu 1979)."""
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    gaps = np.flatnonzero(np.diff(values) > _TIE)
    if len(gaps) == 0:
        return 0.0, -np.inf
    low, sums = np.cumsum(weights)[gaps], np.cumsum(values * weights)[gaps]
    high = np.maximum(weights.sum() - low, _TIE)
    gains = low * high * (sums / low - (values @ weights - sums) / high) ** 2
    best = int(gains.argmax())
    return float(gains[best]), float(values[gaps[best]] + values[gaps[best] + 1]) / 2.0


def _settled(draws: _Draws, particles: list[np.ndarray]) -> list[np.ndarray]:
    """Particles that are the best known partition of the draws nearest to them; those without draws are gone."""
    losses = np.array([draws.losses(labels) for labels in particles])
    for _ in range(_MOST_ROUNDS):
        taken, nearest = np.unique(losses.argmin(axis=0), return_inverse=True)
        particles, losses = [particles[k] for k in taken], losses[taken]
        moved = False
        for k in range(len(particles)):
            labels = draws.estimate(nearest == k)
            found = draws.losses(labels)
            better = draws.mean(found, nearest == k) < draws.mean(losses[k], nearest == k) - _TIE
            if better or _n_labelled(labels) > _n_labelled(particles[k]):
                particles[k], losses[k], moved = labels, found, True
        if not moved:
            break
    return particles


def _merged(draws: _Draws, particles: list[np.ndarray]) -> list[np.ndarray]:
    """Particles that are all apart from each other."""
    while True:
        losses = np.array([draws.losses(labels) for labels in particles])
        nearest = losses.argmin(axis=0)
        pairs = [(k, m) for m in range(len(particles)) for k in range(m)]
        lengths = [draws.between(particles[k], particles[m]) for k, m in pairs]
        for which in np.argsort(lengths, kind="stable"):
            pair = pairs[which]
            if not _apart(draws, [particles[k] for k in pair], losses[list(pair)], [nearest == k for k in pair]):
                others = [labels for k, labels in enumerate(particles) if k not in pair]
                particles = _settled(draws, [draws.estimate(np.isin(nearest, pair)), *others])
                break
        else:
            return particles


def _apart(draws: _Draws, pair: list[np.ndarray], losses: np.ndarray, groups: list[np.ndarray]) -> bool:
    """Whether two particles are modes of their own: heavy, wide apart or many, with a valley between them."""
    if min(draws.weights[group].sum() for group in groups) < draws.least_weight:
        return False
    length = draws.between(*pair)
    widest = max(draws.mean(loss, group) for loss, group in zip(losses, groups))
    if min(group.sum() for group in groups) < FEW_DRAWS and length <= _WIDTHS_APART * widest:
        return False
    both = groups[0] | groups[1]
    return _has_valley((losses[1] - losses[0])[both], draws.weights[both], length / max(1, _n_moved(*pair)))


def _has_valley(lean: np.ndarray, weights: np.ndarray, step: float) -> bool:
    """Whether little weight lies midway between two groups of draws, by how much they lean to the first.

    Three windows of one width are compared: around the mean of those that lean to either, and midway.
    They are wide enough to see one object move (a ``step``): two partitions that differ in one object, or in several
    that move independently, have no valley between them.
    """
    ends = [np.average(lean[side], weights=weights[side]) for side in (lean > 0, lean <= 0) if side.any()]
    if len(ends) < 2:
        return False
    half = max((ends[0] - ends[1]) / 6.0, 1.5 * step)
    first, second, midway = (weights[np.abs(lean - at) <= half].sum() for at in (*ends, sum(ends) / 2.0))
    return bool(midway <= _VALLEY * min(first, second))


def _n_labelled(labels: np.ndarray) -> int:
    return int(np.sum(labels >= 0))


def _n_moved(first: np.ndarray, second: np.ndarray) -> int:
    """Objects whose label differs after the clusters have been matched."""
    return int(np.sum((align(first, second, len(first)) != second) & (first >= 0) & (second >= 0)))


def _described(draws: _Draws, particles: list[np.ndarray]) -> list[Mode]:
    losses = np.array([draws.losses(labels) for labels in particles])
    nearest = losses.argmin(axis=0)
    found = []
    for k, labels in enumerate(particles):
        group = nearest == k
        weight, n_clusters = min(1.0, float(draws.weights[group].sum())), int(labels.max()) + 1
        found.append(Mode(labels, weight, draws.mean(losses[k], group), n_clusters))
    return sorted(found, key=lambda mode: -mode.weight)
