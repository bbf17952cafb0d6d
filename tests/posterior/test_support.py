"""What draws say for the clusters of an estimate, and estimates that need it: against brute force and enumeration."""

import itertools

import numpy as np
import pytest
from tests.oracles.partitions import set_partitions
from tests.posterior.slow import noisy_draws, random_weights, slow_expected
from tests.volumes import long, mostly_long, short_and_long

from partita.partitions import Partitions
from partita.posterior import VI, Binder, Posterior
from partita.posterior.condensing import condense
from partita.posterior.estimate import EstimateOptions, estimate
from partita.posterior.support import support_of
from partita.running.crew import Crew

PARTITIONS = {n: np.array(list(set_partitions(n))) for n in range(2, 9)}


def slow_support(labels, draws, weights):
    """Pairs one at a time."""

    def share(pairs):
        pairs = list(pairs)
        told = [(w, d[i] == d[j]) for w, d in zip(weights, draws) for i, j in pairs if d[i] >= 0 and d[j] >= 0]
        total = sum(w for w, _ in told)
        return sum(w for w, same in told if same) / total if total else None

    clusters = [np.flatnonzero(labels == k) for k in range(max(labels) + 1)]
    company, together, apart, confidence = [], [], [], []
    for k, own in enumerate(clusters):
        between = [share(itertools.product(own, other)) for m, other in enumerate(clusters) if m != k]
        apart.append(1.0 - max((s for s in between if s is not None), default=0.0))
        if len(own) > 1:
            inside = share(itertools.combinations(own, 2))
        else:
            [i] = own
            seen = [(w, np.sum(d == d[i]) == 1) for w, d in zip(weights, draws) if d[i] >= 0]
            inside = sum(w for w, alone in seen if alone) / sum(w for w, _ in seen) if seen else None
        together.append(1.0 if inside is None else inside)
        company.append(slow_company(own, labels, draws, weights))
        confidence.append(slow_company(own, labels, draws, weights, beyond_chance=False))
    return tuple(np.array(each) for each in (company, together, apart, confidence))


def slow_company(own, labels, draws, weights, *, beyond_chance=True):
    """Objects one at a time: the share of the company that is the cluster's, and that of a company at random."""
    total, found, chance = 0.0, 0.0, 0.0
    for weight, draw in zip(weights, draws):
        for i in own[draw[own] >= 0]:
            others = [j for j in range(len(draw)) if j != i and draw[j] >= 0 and labels[j] >= 0]
            with_i = [j for j in others if draw[j] == draw[i]]
            found += weight * (np.mean([j in own for j in with_i]) if with_i else 1.0)
            chance += weight * (np.mean([j in own for j in others]) if others and beyond_chance else 0.0)
            total += weight
    return (found - chance) / (total - chance) if total and chance < total else 1.0


def is_held(labels, draws, weights, least):
    if max(labels) == 0:
        return True
    company, together, apart, confidence = slow_support(labels, draws, weights)
    held = np.where(company >= 0.9 - 1e-12, company, together)
    return min(held.min(), apart.min(), confidence.min()) >= least - 1e-12


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_support_is_that_of_all_pairs(seed, missing):
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, 4, (20, 9))[:, rng.integers(0, 9, 14)]
    draws[rng.random(draws.shape) < missing] = -1
    draws[0] = 0
    labels, weights = rng.integers(0, 4, 14), random_weights(seed, 20)
    labels[0] = 4  # a single object
    labels = np.unique(labels, return_inverse=True)[1]
    found = support_of(labels, condense(Partitions(draws), weights, merge_objects=False))
    company, together, apart, confidence = slow_support(labels, draws, weights)
    np.testing.assert_allclose(found.confidence, confidence, atol=1e-12)
    np.testing.assert_allclose(found.company, company, atol=1e-12)
    np.testing.assert_allclose(found.together, together, atol=1e-12)
    np.testing.assert_allclose(found.apart, apart, atol=1e-12)


@pytest.mark.parametrize("cells", [1, 50])
def test_some_draws_at_a_time_and_few_cells_change_nothing(cells, monkeypatch):
    draws, weights = noisy_draws(2, share=0.5, missing=0.1), random_weights(2, 30)
    labels = np.arange(40) % 7
    condensed = condense(Partitions(draws), weights, merge_objects=False)
    plain = support_of(labels, condensed)
    monkeypatch.setattr("partita.posterior.support._CELLS_TOGETHER", cells)
    few = support_of(labels, condensed)
    np.testing.assert_allclose(few.company, plain.company, atol=1e-12)
    np.testing.assert_allclose(few.together, plain.together, atol=1e-12)
    np.testing.assert_allclose(few.apart, plain.apart, atol=1e-12)


def small_posterior(seed):
    """Draws of 3 to 7 objects, half of the seeds with a share that never settles."""
    rng = np.random.default_rng(seed)
    n_objects, n_draws = int(rng.integers(3, 8)), int(rng.integers(3, 25))
    draws = noisy_draws(seed, n_objects=n_objects, n_draws=n_draws, n_clusters=3, share=rng.uniform(0.1, 1.0))
    return draws, random_weights(seed, n_draws) if seed % 2 else np.full(n_draws, 1 / n_draws)


@mostly_long
@pytest.mark.parametrize(("loss", "most_misses"), [(VI(), 7), (Binder(), 14)], ids=repr)
@short_and_long("most_objects", 4, 7)
def test_the_supported_estimate_is_mostly_the_enumerated_one(loss, most_misses, most_objects):
    posteriors = [pair for pair in map(small_posterior, range(150)) if pair[0].shape[1] <= most_objects]
    n_least = 0
    for draws, weights in posteriors:
        posterior = Posterior(draws, weights=weights)
        found = posterior.estimate(loss=loss, min_support=0.5, max_clusters="n", n_jobs=1)
        assert is_held(found.labels, draws, weights, 0.5)
        own = slow_expected(loss, found.labels, draws, weights)
        assert found.expected_loss == pytest.approx(own, abs=1e-12)
        free = posterior.estimate(loss=loss, max_clusters="n", n_jobs=1)
        assert found.support_cost == pytest.approx(own - free.expected_loss, abs=1e-12)
        every = PARTITIONS[draws.shape[1]]
        costs = np.array([slow_expected(loss, labels, draws, weights) for labels in every])
        least = next(costs[best] for best in costs.argsort() if is_held(every[best], draws, weights, 0.5))
        assert own > least - 1e-10
        n_least += own < least + 1e-10
    assert len(posteriors) - n_least <= most_misses * len(posteriors) / 150, n_least


def test_no_support_asked_for_is_the_free_estimate():
    for seed in range(5):
        posterior = Posterior(noisy_draws(seed, share=0.5))
        np.testing.assert_array_equal(posterior.estimate(min_support=0.0).labels, posterior.estimate().labels)
        assert posterior.estimate().support_cost == 0.0


def test_a_wanderer_is_no_group():
    rng = np.random.default_rng(1)
    settled = np.repeat([0, 1, 2, 3], 20)
    draws = np.hstack([np.tile(settled, (400, 1)), rng.integers(0, 5, (400, 1))])
    alone = Posterior(draws).estimate(min_support=0.5)
    assert alone.n_clusters == 4
    np.testing.assert_array_equal(np.bincount(alone.labels), [21, 20, 20, 20])
    assert np.all(alone.confidence[:-1] >= 0.95)
    assert alone.confidence[-1] < 0.5
    assert alone.verdict == "Most draws keep every group to itself."


def test_groups_that_every_draw_cuts_up_another_way_are_groups():
    rng = np.random.default_rng(6)
    draws = np.hstack([rng.integers(0, 6, (300, 50)), 6 + rng.integers(0, 6, (300, 50))])
    found = Posterior(draws).estimate(min_support=0.5)
    np.testing.assert_array_equal(found.labels, np.repeat([0, 1], 50))
    np.testing.assert_allclose(found.support.company, 1.0)
    assert np.all(found.support.together < 0.2)
    assert not found.diffuse


def chains_that_disagree(seed):
    """Four chains that cut groups up, each in its own way, now and then across their border."""
    rng = np.random.default_rng(seed)
    n, n_groups, cuts = int(rng.integers(60, 160)), int(rng.integers(2, 5)), int(rng.integers(2, 7))
    noise, group, draws = rng.uniform(0, 0.2), rng.integers(0, n_groups, n), []
    for _ in range(4):
        piece = rng.integers(0, cuts, n)
        chain = group * cuts + piece * (rng.random(n_groups) < 0.7)[group]
        if rng.random() < 0.5:
            one, other = rng.choice(n_groups, 2, replace=False)
            chain = np.where((group == other) & (piece == 0), one * cuts, chain)
        for _ in range(5):
            wanders = rng.random(n) < noise
            draws.append(np.where(wanders, rng.integers(0, n_groups * cuts, n), chain))
    return np.array(draws)


@pytest.mark.parametrize("seed", range(52, 58))
def test_no_union_of_pieces_that_has_support_is_better(seed):
    draws = chains_that_disagree(seed)
    posterior, weights = Posterior(draws), np.full(len(draws), 1 / len(draws))
    found = posterior.estimate(min_support=0.5, runs=2)
    stages = posterior.hierarchy(labels=posterior.estimate(runs=2).labels)
    for k in range(1, stages.n_pieces + 1):
        union = stages.labels(k)
        if k == 1 or is_held(union, draws, weights, 0.5):
            assert found.expected_loss <= slow_expected(VI(), union, draws, weights) + 1e-10


def test_when_time_is_over_clusters_have_support_all_the_same():
    draws = chains_that_disagree(55)
    weights = np.full(len(draws), 1 / len(draws))
    options = EstimateOptions(min_support=0.5, random_state=0)
    found = estimate(Partitions(draws), weights, "vi", options, crew=Crew(1, deadline=-np.inf))
    assert found.n_clusters > 1
    assert is_held(found.labels, draws, weights, 0.5)


def test_no_more_clusters_than_any_draw_has_unless_asked_for():
    rng = np.random.default_rng(4)
    draws = rng.integers(0, 13, (500, 60))
    most = int(Partitions(draws).n_clusters().max())
    free = Posterior(draws).estimate(max_clusters="n", runs=4)
    assert free.n_clusters == 60
    assert free.diffuse
    found = Posterior(draws).estimate(runs=4)
    assert found.n_clusters <= most
    assert found.verdict.startswith("The draws do not determine groups")
    held = Posterior(draws).estimate(runs=4, min_support=0.5)
    assert held.n_clusters == 1
    assert "two objects are together with probability 0.08" in held.verdict
    assert held.support_cost > 0.0


def test_all_alone_is_an_answer_where_the_draws_say_so():
    draws = np.tile(np.arange(12), (30, 1))
    draws[:3, 1] = 0
    found = Posterior(draws).estimate()
    assert found.n_clusters == 12
    assert not found.diffuse


def test_all_alone_is_no_answer_where_a_few_draws_happen_to_be():
    rng = np.random.default_rng(2)
    draws = np.vstack([rng.integers(0, 5, (200, 12)), np.arange(12)])
    found = Posterior(draws).estimate()
    every_other = Posterior(draws).estimate(max_clusters=11)
    assert Posterior(draws).estimate(max_clusters="n").n_clusters == 12
    assert found.n_clusters < 12
    assert found.expected_loss == pytest.approx(every_other.expected_loss)
    assert found.diffuse


def test_one_cluster_is_determined_or_not():
    draws = np.zeros((50, 20), int)
    draws[:5, 0] = 1
    found = Posterior(draws).estimate()
    assert found.n_clusters == 1
    assert found.verdict == "Most draws hold all objects together."
    rng = np.random.default_rng(0)
    loose = Posterior(rng.integers(0, 3, (300, 20))).estimate()
    assert loose.n_clusters == 1
    assert loose.diffuse


@pytest.mark.filterwarnings("ignore:No draw obeys")
@pytest.mark.parametrize("loss", ["one-minus-ari", "nvi", "nid", pytest.param("vi-lb", marks=long), "zero-one"])
def test_other_losses_keep_groups_together_and_need_support_too(loss):
    draws = noisy_draws(7, n_clusters=3, share=0.15)
    groups = np.arange(40) // 2
    found = estimate(
        Partitions(draws), np.full(30, 1 / 30), loss, EstimateOptions(min_support=0.5, runs=2), groups=groups
    )
    assert all(len(np.unique(found.labels[groups == g])) == 1 for g in range(20))
    assert found.expected_loss == pytest.approx(slow_expected(found.loss, found.labels, draws), abs=1e-12)


def test_the_most_probable_partition_must_have_support():
    draws = np.array([[0, 0, 0, 1]] * 3 + [[0, 0, 0, 0]] * 2 + [[0, 0, 1, 0]] * 2 + [[0, 1, 0, 0]] * 2)
    assert Posterior(draws).estimate(loss="zero-one").labels.tolist() == [0, 0, 0, 1]
    with pytest.warns(UserWarning, match="No draw obeys max_clusters, min_size and min_support"):
        found = Posterior(draws).estimate(loss="zero-one", min_support=0.9)
    assert found.n_clusters == 1


@pytest.mark.parametrize("value", [-0.1, 1.1, "half", None, True])
def test_support_outside_its_range_is_refused(value):
    with pytest.raises(ValueError, match="min_support must be a number from 0 to 1"):
        Posterior([[0, 1]]).estimate(min_support=value)


def test_objects_that_go_from_group_to_group_together_are_no_group():
    """Three objects between three groups: together always, and apart from every group in two draws of three."""
    groups = np.repeat([0, 1, 2], 10)
    draws = np.stack([np.append(groups, [k, k, k]) for k in (0, 1, 2)] * 4)
    strays = np.append(groups, [3, 3, 3])
    support = support_of(strays, condense(Partitions(draws), np.full(12, 1 / 12), merge_objects=False))
    assert support.together[3] == 1.0
    assert support.apart[3] == pytest.approx(2 / 3)
    assert support.confidence[3] == pytest.approx(2 / 12)
    found = Posterior(Partitions(draws)).estimate(min_support=0.5, random_state=0)
    assert np.unique(found.labels).size == 3
