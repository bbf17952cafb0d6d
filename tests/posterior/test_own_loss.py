"""A loss of one's own, in one file: what it costs, what is expected of it, and what the search lowers."""

from typing import NamedTuple

import numpy as np
import pytest
from tests.oracles.partitions import set_partitions
from tests.posterior.slow import noisy_draws, random_weights

from partita.files.json_options import from_json, to_json
from partita.kernels.dispatch import implements
from partita.kernels.search import place, score, value
from partita.posterior import Loss, Posterior

pytestmark = pytest.mark.xdist_group("own loss")  # compiled once


class Transfers(NamedTuple):
    """Weights of pairs of atoms to be together, less 1/2, and where each atom is."""

    gains: np.ndarray  # (atom, atom)
    counts: np.ndarray  # (atom,)
    slots: np.ndarray  # (atom,)


@implements(score, Transfers)
def _score(objective, unit, own, out):
    out[:] = 0.0
    for atom in range(objective.slots.shape[0]):
        slot = objective.slots[atom]
        if atom != unit and 0 <= slot < out.shape[0]:
            out[slot] -= objective.counts[unit] * objective.counts[atom] * objective.gains[unit, atom]


@implements(place, Transfers)
def _place(objective, unit, slot, sign):
    objective.slots[unit] = slot if sign > 0 else -1


@implements(value, Transfers)
def _value(objective):
    total = 0.0
    for one in range(objective.slots.shape[0]):
        for other in range(one):
            if objective.slots[one] == objective.slots[other] >= 0:
                total -= objective.counts[one] * objective.counts[other] * objective.gains[one, other]
    return total


class PairsTogether(Loss):
    """Pairs on which two partitions disagree: Binder's loss times n^2 / 2, written from pairs."""

    reads_all_draws = True

    def expected(self, candidates, draws):
        together = _together(draws.labels, draws.weights)
        pairs = np.triu(np.outer(draws.counts, draws.counts), 1)
        same = candidates[:, :, None] == candidates[:, None, :]
        return np.where(same, 1.0 - together, together).reshape(len(candidates), -1) @ pairs.ravel()

    def expected_alone(self, draws):
        return float(self.expected(np.arange(len(draws.counts))[None], draws)[0])

    def objective(self, against, units, n_slots):
        labels = against.columns[:, : against.n_draws].T
        return Transfers(_together(labels, against.weights) - 0.5, units.counts, np.full(len(units.counts), -1))

    def scan_work(self, n_atoms, n_slots, n_draws):
        return float(n_atoms) ** 2


def _together(labels, weights):
    return np.tensordot(weights, labels[:, :, None] == labels[:, None, :], axes=1)


def slow_pairs(labels, draws, weights):
    cells = (labels[:, None] == labels) != (draws[:, :, None] == draws[:, None, :])
    return weights @ cells.sum(axis=(1, 2)) / 2


@pytest.mark.parametrize("seed", range(20))
def test_the_estimate_is_the_enumerated_one(seed):
    draws, weights = noisy_draws(seed, n_objects=6, n_draws=12, share=0.5), random_weights(seed, 12)
    found = Posterior(draws, weights=weights).estimate(loss=PairsTogether(), max_clusters="n")
    losses = [slow_pairs(labels, draws, weights) for labels in np.array(list(set_partitions(6)))]
    assert found.expected_loss == pytest.approx(slow_pairs(found.labels, draws, weights), abs=1e-12)
    assert found.expected_loss == pytest.approx(min(losses), abs=1e-12)


def test_it_agrees_with_the_loss_that_it_is_times_a_number():
    posterior = Posterior(noisy_draws(3, share=0.2))
    own, binder = posterior.estimate(loss=PairsTogether()), posterior.estimate(loss="binder")
    np.testing.assert_array_equal(own.labels, binder.labels)
    assert own.expected_loss == pytest.approx(binder.expected_loss * 40**2 / 2)
    assert own.diffuse == binder.diffuse


def test_it_is_known_by_its_name(monkeypatch):
    monkeypatch.delitem(Loss.known, "pairs-together", raising=False)  # and gone again after the test

    class Known(PairsTogether, name="pairs-together"):
        """The same, with a name."""

    posterior = Posterior(noisy_draws(3, share=0.2))
    assert posterior.estimate(loss="pairs-together").loss == Known()
    assert from_json(to_json(Known())) == Known()
    with pytest.raises(ValueError, match="Did you mean 'pairs-together'"):
        posterior.estimate(loss="pairs-togetherness")
    with pytest.raises(TypeError, match="PairsTogether is not registered"):
        to_json(PairsTogether())
