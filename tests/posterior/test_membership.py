"""Membership probabilities against the formula written out object by object."""

import numpy as np
import pytest

from partita.posterior import VI, Posterior, membership, membership_probabilities


def slow_memberships(labels, draws, weights):
    n_clusters = max(labels) + 1
    rows = np.zeros((len(labels), n_clusters))
    for i, own in enumerate(labels):
        for draw, weight in zip(draws, weights):
            company = [j for j in range(len(labels)) if j != i and labels[j] >= 0 and draw[j] == draw[i]]
            if draw[i] == -1:
                continue
            for j in company:
                rows[i, labels[j]] += weight / len(company)
            if not company and own >= 0:
                rows[i, own] += weight
        if rows[i].sum() == 0:
            rows[i] = 1.0 / n_clusters if own < 0 else np.arange(n_clusters) == own
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_memberships_match_the_formula(seed, missing):
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, 4, size=(35, 12))[:, rng.integers(0, 12, size=20)]
    draws[rng.random(draws.shape) < missing] = -1
    labels = rng.integers(0, 5, size=20)
    labels[0] = 5
    labels[1] = -1 if missing else 0
    weights = rng.exponential(size=35)
    found = membership_probabilities(labels, draws, weights)
    np.testing.assert_allclose(found, slow_memberships(labels, draws, weights / weights.sum()), atol=1e-12)


def test_a_singleton_is_as_sure_as_it_is_alone():
    draws = np.array([[0, 0, 0, 1]] * 3 + [[0, 0, 0, 0]])
    found = membership_probabilities([0, 0, 0, 1], draws)
    np.testing.assert_allclose(found[3], [0.25, 0.75])
    np.testing.assert_allclose(found[0], [1.0 - 0.25 / 3, 0.25 / 3])


def test_an_object_that_is_always_alone_keeps_the_label_it_was_given():
    draws = np.array([[0, 0, 1, 2, 2], [0, 0, 1, 2, 2]])
    found = membership_probabilities([0, 0, 0, 1, 1], draws)
    np.testing.assert_array_equal(found[2], [1.0, 0.0])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


@pytest.mark.parametrize("alone", [False, True])
def test_a_wandering_object_harms_nobody(alone):
    rng = np.random.default_rng(3)
    settled = np.repeat([0, 1, 2], [20, 30, 50])
    draws = np.tile(settled, (200, 1))
    swapped = rng.random(draws.shape) < 0.1
    draws[swapped] = rng.integers(0, 3, swapped.sum())
    before = membership_probabilities(settled, draws)
    wanderer = rng.integers(0, 4, (200, 1))
    labels = np.append(settled, 3 if alone else 2)
    after = membership_probabilities(labels, np.hstack([draws, wanderer]))
    changes = np.abs(after[:-1, :3] - before).max(axis=1)
    smallest = np.array([min(np.sum(draw == draw[i]) for draw in draws) for i in range(100)])
    assert np.all(changes <= 1.0 / smallest)
    assert changes.max() > 0.0


def test_objects_without_a_label_or_without_a_draw():
    draws = np.array([[0, 0, 1, 1, 2, -1], [0, 0, 1, 1, 2, -1]])
    found = membership_probabilities([0, 0, 1, 1, -1, -1], draws)
    np.testing.assert_array_equal(found[4], [0.5, 0.5])  # no company
    np.testing.assert_array_equal(found[5], [0.5, 0.5])  # no draw
    np.testing.assert_array_equal(membership_probabilities([0, 0, 1, 1, 1, 1], draws)[5], [0.0, 1.0])
    partial = Posterior([*draws[:, :4].tolist(), [0, 0, 1, -1]]).estimate()
    np.testing.assert_array_equal(partial.confidence, np.ones(4))


def test_bad_labels_are_refused():
    with pytest.raises(ValueError, match="one per object"):
        membership_probabilities([0, 1, 1], [[0, 1]])
    with pytest.raises(ValueError, match="labels no object"):
        membership_probabilities([-1, -1], [[0, 1]])


@pytest.mark.parametrize("seed", range(6))
def test_the_own_probability_without_the_others(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, 4, size=(12, 15))
    draws[:, 3] = draws[:, 4]
    if seed % 2:
        draws[:, 7] = -1
        draws[rng.random(draws.shape) < 0.2] = -1
    draws[:, 0] = 9  # often alone
    posterior = Posterior(draws, weights=rng.exponential(size=12))
    found = posterior.estimate(loss=VI(a=0.2), runs=3)
    exact = found.confidence
    monkeypatch.setattr(membership, "MOST_CELLS", 0)
    np.testing.assert_allclose(membership.own_memberships(found.labels, found.draws), exact, atol=1e-12)
    np.testing.assert_allclose(posterior.estimate(loss=VI(a=0.2), runs=3).confidence, exact, atol=1e-12)


def test_probabilities_that_would_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(membership, "MOST_CELLS", 0)
    found = Posterior([[0, 1, 1], [0, 0, 1]]).estimate()
    with pytest.raises(ValueError, match=r"Probabilities of 3 objects in 2 clusters need .* limit the estimate"):
        _ = found.probabilities


def test_a_million_singletons():
    found = Posterior(np.arange(10**6)[None]).estimate()
    assert found.n_clusters == 10**6
    assert found.expected_loss == 0.0
    assert np.all(found.confidence == 1.0)
