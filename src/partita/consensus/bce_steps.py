"""The iterations of Bayesian cluster ensembles, for objects or base clusterings that live in several places."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from partita.consensus.ensemble import Ensemble
from partita.families.algebra.dirichlet_modes import mode
from partita.kernels.mixed_membership import share_out_labels
from partita.priors.rising import log_rising

LEAST_ALPHA = 1e-8
LEAST_LEANING = -460.0  # nats: exp of it times a share is still a number
LARGEST_FALL = 0.1  # of an alpha in one of Newton's steps, which may pass 0
ROUNDING = 1e-12  # relative gain of a step that no comparison of values can judge
MOST_NEWTON_STEPS, MOST_HALVINGS, LAST_STEPS = 100, 40, 2
MOST_PASSES, SETTLED = 1000, 1e-9  # over an object alone, and the change of its labels that ends them


class BCEState(NamedTuple):
    """The parameters."""

    alpha: np.ndarray  # (K,) of the Dirichlet distribution of memberships
    shares: np.ndarray  # (L, K) of the labels of all columns, one column after the other
    bound: float = np.nan  # of the state before this one, with its smoothing term; nan for the first


class BCEStatistics(NamedTuple):
    """What an iteration needs of the objects: sums over them, so that those of two parts add up."""

    bound: np.ndarray  # (1,) what they add to the bound
    n_objects: np.ndarray  # (1,)
    log_memberships: np.ndarray  # (K,) summed E log theta
    counts: np.ndarray  # (L, K) expected labels of every component


class Objects(NamedTuple):
    """Objects in one place. What their labels are assigned to stays with them, and every iteration writes it anew."""

    position: np.ndarray  # (A, M) the label among those of all columns, -1: none, or the only one of its column
    weights: np.ndarray  # (A,) objects of every kind
    assigned: np.ndarray  # (A, K) expected labels of every component


class SharedLabels(NamedTuple):
    """What the owner of some columns makes of where the objects lean."""

    assigned: np.ndarray  # (A, K) expected labels of every component, of these columns: sent
    log_total: float  # sent
    counts: np.ndarray  # (L, K): stays with the owner


class BCESteps:
    """The halves of an iteration of `BCE`: variational EM, the bound of which never falls. Holds no data.

    With q(theta_i) = Dirichlet(gamma_i) and q(z_im) = phi_im an iteration is

        phi_imk ~ exp(psi(gamma_ik) - psi(sum_k gamma_ik)) beta_mk,y_im,    gamma_i = alpha + sum_m phi_im,
        beta_mkj ~ smoothing + sum_i phi_imk [y_im = j],                    alpha at its maximum given all gamma_i.

    Over objects in several places, each of which calls the first line:

        parts = [steps.local_statistics(objects, state) for objects in places]
        state = steps.global_step(functools.reduce(steps.merge, parts), state)

    Over columns in several places: an owner has `BCESteps` of its columns, their labels and their shares. It is sent
    where the objects lean and sends back what they are assigned; nobody else sees labels or shares.

        leaning = steps.leaning(objects, state)
        parts = [owner.share_out(position, objects.weights, leaning, shares) for ... in owners]
        state = steps.global_step(steps.join_columns(objects, parts, state), state)
        shares = owner.best_shares(part.counts)     # at every owner

    where ``steps`` and ``state`` have no columns, and neither have ``objects``, one row for every object, assigned what
    labels it has in equal parts. The bound of such a state lacks the owners' ``log_smoothing(shares)``.

    Parameters
    ----------
    n_labels : (M,) array of int
        Labels of every column.
    smoothing : float
        Added to every expected count.

    Notes
    -----
    The bound that a step reports is that of the state it is given, with gamma best for the last phi and phi best for
    that gamma, plus ``smoothing`` times the sum of the log shares.

    References
    ----------
    Wang, Shan and Banerjee (2009), section 4 for the updates and 5 for rows and columns apart. Blei, Ng and Jordan
    (2003), appendix A.4.2 for Newton's steps.

    Examples
    --------
    >>> steps = BCESteps(np.array([2, 2]), smoothing=0.1)
    >>> objects = steps.encode(np.array([[0, 0], [0, 0], [1, 1]]), n_components=2)
    >>> state = steps.start(objects, np.array([0, 1]))
    >>> for _ in range(50):
    ...     state = steps.global_step(steps.local_statistics(objects, state), state)
    >>> state.shares.round(2)
    array([[0.08, 0.95],
           [0.92, 0.05],
           [0.08, 0.95],
           [0.92, 0.05]])
    """

    def __init__(self, n_labels: np.ndarray, smoothing: float):
        self.n_labels, self.smoothing = np.asarray(n_labels, dtype=np.int64), float(smoothing)

    @property
    def offsets(self) -> np.ndarray:
        """Where the labels of every column begin, and last their number; (M + 1,)."""
        return np.concatenate([[0], np.cumsum(self.n_labels)])

    def encode(self, codes: np.ndarray, n_components: int) -> Objects:
        """Objects of these codes (n, M), equal ones once with their number; those without a label are left out.

        Their labels are shared alike.
        """
        if codes.shape[1] != self.n_labels.size or (codes >= self.n_labels).any():
            raise ValueError(f"These are not codes of {self.n_labels.size} columns with {self.n_labels} labels.")
        return self.encode_kinds(Ensemble(codes, self.n_labels), n_components)

    def encode_kinds(self, ensemble: Ensemble, n_components: int) -> Objects:
        """The kinds of objects of an ensemble."""
        nothing = np.empty((ensemble.n_kinds, n_components))
        return shared_alike(Objects(ensemble.positions, ensemble.weights.astype(np.float64), nothing))

    def start(self, objects: Objects, labels: np.ndarray) -> BCEState:
        """A first state from a cluster (A,) of each of some objects; every share is positive."""
        n_components = objects.assigned.shape[1]
        counts = np.ones((int(self.offsets[-1]), n_components))
        for column in objects.position.T:
            seen = column >= 0
            np.add.at(counts, (column[seen], labels[seen]), objects.weights[seen])
        return BCEState(np.full(n_components, 1.0 / n_components), self._normalised(counts))

    def local_statistics(self, objects: Objects, state: BCEState) -> BCEStatistics:
        """Share the labels of the objects out, write down what they are assigned to, and sum up.

        Cost: kinds of objects x columns x components.
        """
        expected = _expected_logs(state.alpha + objects.assigned)
        part = self.share_out(objects.position, objects.weights, _leaning(expected), state.shares)
        return _joined(objects, expected, [part], state)._replace(counts=part.counts)

    def leaning(self, objects: Objects, state: BCEState) -> np.ndarray:
        """Where every object leans, (A, K): exp(E log theta), the largest of an object scaled to 1."""
        return _leaning(_expected_logs(state.alpha + objects.assigned))

    def share_out(
        self, position: np.ndarray, weights: np.ndarray, leaning: np.ndarray, shares: np.ndarray
    ) -> SharedLabels:
        """Share the labels out of objects that lean somewhere."""
        fits = leaning.shape == (len(position), shares.shape[1]) and weights.shape == (len(position),)
        if not fits or position.max(initial=-1) >= len(shares):
            raise ValueError("Labels, weights, leaning and shares are not of the same objects, labels and components.")
        assigned, counts = np.empty_like(leaning), np.zeros_like(shares)
        log_total = share_out_labels(position, weights, leaning, shares, np.empty(shares.shape[1]), assigned, counts)
        return SharedLabels(assigned, log_total, counts)

    def join_columns(self, objects: Objects, parts: Sequence[SharedLabels], state: BCEState) -> BCEStatistics:
        """Statistics of all columns from what their owners send; the objects are assigned anew."""
        return _joined(objects, _expected_logs(state.alpha + objects.assigned), parts, state)

    def merge(self, first: BCEStatistics, second: BCEStatistics) -> BCEStatistics:
        """Statistics of both parts."""
        if any(a.shape != b.shape for a, b in zip(first, second)):
            raise ValueError("The two parts are statistics under different states: send one state to all places.")
        return BCEStatistics(*(a + b for a, b in zip(first, second)))

    def global_step(self, statistics: BCEStatistics, state: BCEState) -> BCEState:
        """The best parameters given the statistics of all objects, and the bound of the state before."""
        bound = float(statistics.bound[0]) + self.log_smoothing(state.shares)
        alpha = best_alpha(float(statistics.n_objects[0]), statistics.log_memberships, state.alpha)
        return BCEState(alpha, self.best_shares(statistics.counts), bound)

    def best_shares(self, counts: np.ndarray) -> np.ndarray:
        """Shares (L, K) of these expected counts, smoothed."""
        return self._normalised(counts + self.smoothing)

    def log_smoothing(self, shares: np.ndarray) -> float:
        """What the smoothing adds to the bound: 0 without any."""
        return self.smoothing * float(np.log(shares).sum()) if self.smoothing > 0.0 else 0.0

    def _normalised(self, counts: np.ndarray) -> np.ndarray:
        columns = np.split(counts, self.offsets[1:-1]) if self.n_labels.size else []
        return np.vstack([mode(own.T).T for own in columns]) if columns else np.zeros_like(counts)


def shared_alike(objects: Objects) -> Objects:
    """The objects as they begin: all components have a share of every label."""
    n_components = objects.assigned.shape[1]
    n_labels = np.count_nonzero(objects.position >= 0, axis=1)
    return objects._replace(assigned=np.repeat(n_labels[:, None] / n_components, n_components, axis=1))


def settled(position: np.ndarray, state: BCEState) -> np.ndarray:
    """gamma (A, K) of objects alone, parameters taken as known: from labels that all components share alike."""
    n_components = state.alpha.size
    objects = Objects(position, np.ones(len(position)), np.empty((len(position), n_components)))
    assigned = shared_alike(objects).assigned
    scratch, unused = np.empty(n_components), np.zeros_like(state.shares)
    moving = np.arange(len(position))
    for _ in range(MOST_PASSES):
        leaning = _leaning(_expected_logs(state.alpha + assigned[moving]))
        following, once = np.empty_like(leaning), np.ones(moving.size)
        share_out_labels(position[moving], once, leaning, state.shares, scratch, following, unused)
        change = np.abs(following - assigned[moving]).max(axis=1, initial=0.0)
        assigned[moving] = following
        moving = moving[change > SETTLED]
        if not moving.size:
            break
    return state.alpha + assigned


def best_alpha(n_objects: float, log_memberships: np.ndarray, start: np.ndarray) -> np.ndarray:
    """alpha (K,) at the maximum of n [log Gamma(sum alpha) - sum log Gamma(alpha)] + alpha . log_memberships.

    Newton's steps, O(K) each, halved until they gain; the last ones, which gain less than a float can tell, are taken
    whole. One component's alpha says nothing and stays.
    """
    if start.size == 1:
        return start

    def value(alpha: np.ndarray) -> float:
        return float(n_objects * (gammaln(alpha.sum()) - gammaln(alpha).sum()) + alpha @ log_memberships)

    alpha, reached, n_last = start, value(start), 0
    for _ in range(MOST_NEWTON_STEPS):
        step, gain = _newton_step(n_objects, log_memberships, alpha)
        least = np.maximum(LARGEST_FALL * alpha, LEAST_ALPHA)
        if gain <= ROUNDING * abs(reached):
            alpha, n_last = np.maximum(alpha + step, least), n_last + 1
            if n_last == LAST_STEPS:
                break
            continue
        tried = (np.maximum(alpha + 0.5**halvings * step, least) for halvings in range(MOST_HALVINGS))
        better = next((one for one in tried if value(one) > reached), None)
        if better is None:
            break
        alpha, reached = better, value(better)
    return alpha


def _newton_step(n_objects: float, log_memberships: np.ndarray, alpha: np.ndarray) -> tuple[np.ndarray, float]:
    """Minus the inverse of the second derivatives, diag(curvature) + common, times the first; and what it may gain."""
    total = alpha.sum()
    slope = n_objects * (digamma(total) - digamma(alpha)) + log_memberships
    curvature, common = -n_objects * polygamma(1, alpha), n_objects * polygamma(1, total)
    shift = (slope / curvature).sum() / (1.0 / common + (1.0 / curvature).sum())
    step = (shift - slope) / curvature
    return step, float(slope @ step) / 2.0


def _joined(objects: Objects, expected: np.ndarray, parts: Sequence[SharedLabels], state: BCEState) -> BCEStatistics:
    """Statistics without counts; ``expected`` is E log theta as the objects were assigned before."""
    before, weights = objects.assigned, objects.weights
    divergence = log_rising(state.alpha.sum(), before.sum(axis=1)) + (before * expected).sum(axis=1)
    divergence -= log_rising(state.alpha, before).sum(axis=1)
    assigned = np.sum([part.assigned for part in parts], axis=0)
    scaled = assigned.sum(axis=1) * expected.max(axis=1)  # what leaning was scaled by, of every label
    log_total = sum(part.log_total for part in parts) + weights @ (scaled - divergence)
    objects.assigned[...] = assigned
    log_memberships = weights @ _expected_logs(state.alpha + assigned)
    return BCEStatistics(np.array([log_total]), np.array([weights.sum()]), log_memberships, np.zeros_like(state.shares))


def _expected_logs(gamma: np.ndarray) -> np.ndarray:
    """E log theta under Dirichlet(gamma), row by row."""
    return digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))


def _leaning(expected: np.ndarray) -> np.ndarray:
    return np.exp(np.maximum(expected - expected.max(axis=1, keepdims=True), LEAST_LEANING))
