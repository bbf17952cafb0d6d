"""Losses from their definitions, one pair of objects or one object at a time, and draws to try them on."""

import itertools
import math

import numpy as np

from partita.posterior import NID, NVI, VI, Binder, OneMinusARI, VILowerBound, ZeroOne

PAIRWISE = [VI(), VI(a=0.4), Binder(), Binder(a=1.5), OneMinusARI(), NVI(), NID(), ZeroOne()]
EVERY = [*PAIRWISE, VILowerBound()]


def noisy_draws(seed, *, n_draws=30, n_objects=40, n_clusters=4, share=0.2, missing=0.0):
    rng = np.random.default_rng(seed)
    draws = np.tile(rng.integers(0, n_clusters, n_objects), (n_draws, 1))
    moved = rng.random(draws.shape) < share
    draws[moved] = rng.integers(0, n_clusters + 2, moved.sum())
    draws[rng.random(draws.shape) < missing] = -1
    return draws


def random_weights(seed, n_draws):
    weights = np.random.default_rng(seed).exponential(size=n_draws)
    return weights / weights.sum()


def slow_loss(loss, found, truth):
    """The loss of two labelings over the objects that both label."""
    both = [(f, t) for f, t in zip(found, truth) if f >= 0 and t >= 0]
    if not both:
        return 0.0
    found, truth = zip(*both)
    if isinstance(loss, ZeroOne):
        return float(any((f == g) != (t == u) for (f, t), (g, u) in itertools.combinations(zip(found, truth), 2)))
    if isinstance(loss, Binder | OneMinusARI):
        return _of_pairs(loss, found, truth)
    return _of_entropies(loss, found, truth)


def _of_pairs(loss, found, truth):
    n, counts = len(found), {(s, t): 0 for s in (0, 1) for t in (0, 1)}
    for i, j in itertools.combinations(range(n), 2):
        counts[int(found[i] == found[j]), int(truth[i] == truth[j])] += 1
    if isinstance(loss, Binder):
        return 2.0 / n**2 * (loss.a * counts[0, 1] + (2.0 - loss.a) * counts[1, 0])
    together, pairs = counts[1, 1], sum(counts.values())
    in_found, in_truth = together + counts[1, 0], together + counts[0, 1]
    chance = in_found * in_truth / pairs if pairs else 0.0
    most = (in_found + in_truth) / 2 - chance
    return 1.0 - (together - chance) / most if most else 0.0


def _of_entropies(loss, found, truth):
    of_found, of_truth, joint = entropy(found), entropy(truth), entropy(list(zip(found, truth)))
    shared = of_found + of_truth - joint
    if isinstance(loss, NVI):
        return 1.0 - shared / joint if joint else 0.0
    if isinstance(loss, NID):
        return 1.0 - shared / max(of_found, of_truth) if max(of_found, of_truth) else 0.0
    return loss.a * (joint - of_truth) + (2.0 - loss.a) * (joint - of_found)


def entropy(labels):
    shares = [labels.count(k) / len(labels) for k in set(labels)]
    return -sum(p * math.log(p) for p in shares if p < 1.0)


def slow_expected(loss, found, draws, weights=None):
    """The expected loss; for the lower bound one object at a time."""
    weights = np.ones(len(draws)) if weights is None else np.asarray(weights, dtype=float)
    weights = weights / weights.sum()
    if not isinstance(loss, VILowerBound):
        return sum(w * slow_loss(loss, list(found), list(d)) for w, d in zip(weights, draws))
    total = 0.0
    for i in np.flatnonzero(np.asarray(found) >= 0):
        own, shared = 0.0, 0.0
        for w, draw in zip(weights, draws):
            both = (draw >= 0) & (found >= 0)
            if draw[i] < 0:
                continue
            mine, drawn = both & (found == found[i]), both & (draw == draw[i])
            total += w / both.sum() * (math.log(mine.sum()) + math.log(drawn.sum()))
            own += w / both.sum()
            shared += w / both.sum() * (mine & drawn).sum()
        total -= 2.0 * own * math.log(shared / own) if own else 0.0
    return total
