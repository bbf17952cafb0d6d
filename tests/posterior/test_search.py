"""The search against enumeration and against every move that it could have made."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.oracles.partitions import set_partitions
from tests.posterior.slow import EVERY, PAIRWISE, noisy_draws, random_weights, slow_expected
from tests.volumes import long, long_but, mostly_long

from partita.partitions import Partitions, canonical
from partita.posterior import (
    VI,
    Posterior,
    VILowerBound,
    ZeroOne,
    least_expected,
)
from partita.posterior.condensing import condense
from partita.posterior.estimate import EstimateOptions, descent, estimate
from partita.posterior.estimate.descent import Problem
from partita.posterior.estimate.limits import Limits
from partita.running.clock import running_seconds
from partita.running.crew import Crew

ROUNDING = 1e-10
#: The search is compiled for every kind of objective: for the one that no other loss has in `make prove`.
COMPILED = long_but(map(repr, PAIRWISE), [pytest.param(loss, id=repr(loss)) for loss in EVERY])
PARTITIONS = {n: np.array(list(set_partitions(n))) for n in range(2, 9)}


def moves(labels, units, most):
    """Every partition that differs in one unit."""
    for unit in np.unique(units[labels >= 0]):
        for cluster in range(min(labels.max() + 2, most)):
            yield np.where((units == unit) & (labels >= 0), cluster, labels)


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("loss", [one for one in COMPILED if one.id != "ZeroOne()"])
def test_no_object_can_do_better_elsewhere(loss, missing):
    draws, weights = noisy_draws(3, n_objects=15, n_draws=12, share=0.4, missing=missing), random_weights(3, 12)
    found = Posterior(draws, weights=weights).estimate(loss=loss, max_clusters="n", runs=3)
    assert found.expected_loss == pytest.approx(slow_expected(loss, found.labels, draws, weights), abs=1e-12)
    others = np.array(list(moves(found.labels, np.arange(15), 15)))
    assert least_expected(others, draws, weights, loss=loss)[1].min() > found.expected_loss - ROUNDING


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("seed", range(4))
def test_groups_stay_together_and_move_as_one(seed, missing):
    draws = noisy_draws(seed, n_objects=20, n_draws=12, share=0.4, missing=missing)
    weights, groups = random_weights(seed, 12), np.random.default_rng(seed).integers(0, 9, size=20)
    found = estimate(Partitions(draws), weights, VI(), EstimateOptions(max_clusters="n", runs=4), groups=groups)
    for group in range(9):
        assert len(np.unique(found.labels[groups == group])) <= 1
    assert found.expected_loss == pytest.approx(slow_expected(VI(), found.labels, draws, weights), abs=1e-12)
    others = np.array(list(moves(found.labels, groups, 20)))
    assert least_expected(others, draws, weights)[1].min() > found.expected_loss - ROUNDING


def test_groups_of_one_object_change_nothing():
    draws = noisy_draws(1, share=0.4)
    plain = Posterior(draws).estimate()
    groups = np.random.default_rng(1).permutation(40)
    alone = estimate(Partitions(draws), np.full(30, 1 / 30), VI(), EstimateOptions(), groups=groups)
    np.testing.assert_array_equal(plain.labels, alone.labels)
    np.testing.assert_array_equal(plain.probabilities, alone.probabilities)


def with_repeated_objects(seed, n_objects=8, n_draws=10, missing=0.0):
    draws = noisy_draws(seed, n_objects=n_objects, n_draws=n_draws, share=0.5, missing=missing)
    return np.repeat(draws, np.random.default_rng(seed).integers(1, 6, n_objects), axis=1)


@pytest.mark.parametrize("loss", COMPILED)
def test_identical_objects_count_once_and_weigh_as_many(loss):
    draws = with_repeated_objects(2)
    found = Posterior(draws).estimate(loss=loss, max_clusters="n", runs=4)
    assert found.expected_loss == pytest.approx(slow_expected(loss, found.labels, draws), abs=1e-12)
    if not isinstance(loss, ZeroOne):
        others = np.array(list(moves(found.labels, Partitions(draws).atoms()[1], draws.shape[1])))
        assert least_expected(others, draws, loss=loss)[1].min() > found.expected_loss - ROUNDING


def test_a_zealous_update_leaves_a_partition_that_no_single_move_improves():
    """Two clusters that no draw has together, joined: an object that leaves alone gains nothing, all of one do."""
    draws = np.tile(np.arange(12) // 3, (9, 1))
    draws[6:] = np.arange(12) // 6
    condensed = condense(Partitions(draws), np.full(9, 1 / 9), merge_objects=False)
    problem = Problem(VI(a=0.9), condensed, np.arange(12), Limits(12))
    start = np.arange(12) // 6
    stuck, _ = problem.descend(start, np.random.default_rng(0), zealous=0)
    np.testing.assert_array_equal(stuck, start)
    found, _ = problem.descend(start, np.random.default_rng(0), zealous=10)
    np.testing.assert_array_equal(found, np.arange(12) // 3)


@pytest.mark.parametrize("loss", ["vi", "binder", "nid"])
def test_every_cluster_has_the_least_size(loss):
    draws = noisy_draws(4, n_objects=30, n_draws=20, n_clusters=6, share=0.5)
    free = Posterior(draws).estimate(loss=loss)
    for least in (2, 5, 10, 16, 30):
        found = Posterior(draws).estimate(loss=loss, min_size=least, max_clusters=5)
        assert np.bincount(found.labels).min() >= least
        assert found.n_clusters <= 5
        assert found.expected_loss > free.expected_loss - ROUNDING
        assert found.expected_loss == pytest.approx(slow_expected(found.loss, found.labels, draws), abs=1e-12)
        one = least_expected(np.zeros((1, 30), int), draws, loss=loss)[1][0]
        assert found.expected_loss < one + ROUNDING


@mostly_long
@pytest.mark.parametrize("loss", ["vi", "binder", "one-minus-ari", "nvi", "nid", "vi-lb"])
def test_limits_are_obeyed_whatever_repeats(loss):
    for seed in range(40):
        draws = with_repeated_objects(seed, n_objects=5, n_draws=4)
        least, most = 2 + seed % 4, 1 + seed % 3
        found = Posterior(draws).estimate(loss=loss, min_size=least, max_clusters=most, runs=4, n_jobs=1)
        assert np.bincount(found.labels).min() >= least
        assert found.n_clusters <= most
        allowed = [d for d in draws if len(np.unique(d)) <= most and np.unique(d, return_counts=True)[1].min() >= least]
        if allowed:
            best = least_expected(allowed, draws, loss=loss)[1].min()
            assert found.expected_loss < best + ROUNDING


def test_limits_are_obeyed_without_a_search(monkeypatch):
    monkeypatch.setattr(descent, "MOST_WORK", 1)
    posterior = Posterior([[0, 0, 1, 1, 2, 2]] * 3 + [[0, 0, 1, 1, 2, 3], [0, 0, 0, 1, 1, 1]])
    with pytest.warns(UserWarning, match="too large to search"):
        np.testing.assert_array_equal(posterior.estimate(max_clusters=2).labels, [0, 0, 0, 1, 1, 1])
    with pytest.warns(UserWarning, match="too large to search"):
        assert np.bincount(posterior.estimate(min_size=4).labels).tolist() == [6]


def test_objects_that_no_draw_parts_are_parted_where_the_least_size_asks_for_it():
    found = Posterior([[0, 1, 0, 2, 2, 1]]).estimate(loss="binder", min_size=3)
    assert np.bincount(found.labels).tolist() == [3, 3]
    assert found.expected_loss == pytest.approx(10 / 36)


@long
def test_least_size_against_enumeration():
    n_minimal = 0
    for seed in range(60):
        draws = noisy_draws(seed, n_objects=7, n_draws=10, n_clusters=3, share=0.4)
        found = Posterior(draws).estimate(min_size=3, n_jobs=1)
        allowed = [p for p in PARTITIONS[7] if np.bincount(p).min() >= 3]
        least = least_expected(allowed, draws)[1].min()
        assert found.expected_loss > least - ROUNDING
        n_minimal += found.expected_loss < least + ROUNDING
    assert n_minimal >= 54  # the limit is met by repair: the best two clusters of three or more are sometimes missed


def test_runs_are_recorded():
    found = Posterior(noisy_draws(6, share=0.4)).estimate(runs=5)
    assert [run.start for run in found.runs] == ["draw", "sequential", "random", "sequential", "random"]
    assert min(run.expected_loss for run in found.runs) == pytest.approx(found.expected_loss, abs=1e-12)
    assert all(run.scans >= 1 and run.n_clusters >= 1 for run in found.runs)


def test_after_the_deadline_the_first_run_ends_and_no_other_is_begun():
    partitions = Partitions(noisy_draws(6, share=0.4))
    n_draws, n_objects = partitions.shape
    weights, alone = np.full(n_draws, 1 / n_draws), np.arange(n_objects)
    whole, over, early = (
        estimate(partitions, weights, VI(), EstimateOptions(runs=5), groups=alone, crew=Crew(-1, deadline))
        for deadline in (np.inf, running_seconds(), running_seconds() + 1000.0)
    )
    assert over.runs == whole.runs[:1]
    assert over.expected_loss <= over.runs[0].expected_loss + ROUNDING
    assert early.runs == whole.runs
    np.testing.assert_array_equal(early.labels, whole.labels)


def test_threads_change_nothing_and_seeds_only_the_starts():
    posterior = Posterior(noisy_draws(7, share=0.5))
    one, two = posterior.estimate(n_jobs=1), posterior.estimate(n_jobs=2)
    assert one.runs == two.runs
    np.testing.assert_array_equal(one.labels, two.labels)
    other = posterior.estimate(random_state=np.random.default_rng(3))
    assert other.runs[1:] != one.runs[1:]
    assert posterior.estimate(random_state=5).runs == posterior.estimate(random_state=5).runs


def test_more_clusters_than_any_draw_has():
    """Binder's loss: three draws that each part another pair; apart, every pair is right in two of three."""
    draws = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]])
    found = Posterior(draws).estimate(loss="binder", max_clusters="n")
    assert found.n_clusters == 4
    assert Posterior(draws).estimate(loss="binder").n_clusters == 2
    many = np.stack([np.random.default_rng(s).permutation(60) // 2 for s in range(9)])
    assert Posterior(many).estimate(loss="binder", max_clusters="n").n_clusters == 60


@pytest.mark.parametrize("name", ["SCAN_WORK", "TABLE_CELLS"])
def test_where_work_or_memory_are_short_fewer_draws_are_read(monkeypatch, name):
    draws = noisy_draws(6, n_draws=200, share=0.3)
    exact = Posterior(draws).estimate()
    monkeypatch.setattr(descent, name, 0 if name == "SCAN_WORK" else 8 * 6 * 14)
    found = Posterior(draws).estimate()
    assert found.expected_loss == pytest.approx(slow_expected(VI(), found.labels, draws), abs=1e-12)
    assert exact.expected_loss - ROUNDING < found.expected_loss < least_expected(draws, draws)[1].min() - 0.1


@pytest.mark.parametrize(("name", "value"), [("MOST_WORK", 1), ("TABLE_CELLS", 8 * 6 * 14 - 1)])
def test_where_there_is_no_room_for_a_scan_the_best_draw_is_returned(monkeypatch, name, value):
    draws = noisy_draws(6, n_draws=200, share=0.3)
    monkeypatch.setattr(descent, name, value)
    with pytest.warns(
        UserWarning, match="200 draws of up to 6 clusters are too large to search: the estimate is the best"
    ):
        found = Posterior(draws).estimate()
    assert found.expected_loss == pytest.approx(least_expected(draws, draws)[1].min(), abs=1e-12)


def test_where_pairs_are_too_many_the_lower_bound_is_searched_as_vi(monkeypatch):
    draws = noisy_draws(6, share=0.3)
    monkeypatch.setattr(VILowerBound, "most_atoms", 39)
    with pytest.warns(UserWarning, match=r"VILowerBound\(\) compares all pairs"):
        found = Posterior(draws).estimate(loss="vi-lb")
    np.testing.assert_array_equal(found.labels, Posterior(draws).estimate().labels)
    assert found.expected_loss == pytest.approx(slow_expected(VILowerBound(), found.labels, draws), abs=1e-12)


def test_noise_of_draws_is_removed():
    """Two groups overlap and labels are drawn by their probabilities: the answer is the likelier group of every row."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, size=400)
    x = rng.normal(3.0 * truth)
    draws = (rng.random((300, 400)) < 1.0 / (1.0 + np.exp(4.5 - 3.0 * x))).astype(int)
    best_draw = draws[least_expected(draws, draws)[0]]
    for loss in ("vi", "binder", "one-minus-ari"):
        found = Posterior(draws).estimate(loss=loss, runs=4)
        likelier = (x > 1.5).astype(int)
        assert found.n_clusters == 2
        assert adjusted_rand_score(likelier, found.labels) > 0.95
        assert adjusted_rand_score(likelier, best_draw) < 0.9


def test_the_most_probable_partition_is_the_draw_that_is_drawn_most():
    draws = np.array([[0, 0, 1, 1]] * 3 + [[0, 1, 1, 1]] * 2 + [[0, 1, 2, 3]])
    found = Posterior(draws).estimate(loss="zero-one")
    np.testing.assert_array_equal(found.labels, [0, 0, 1, 1])
    assert found.expected_loss == pytest.approx(0.5)
    with pytest.warns(UserWarning, match="No draw obeys max_clusters, min_size and min_support"):
        forced = Posterior(draws).estimate(loss="zero-one", max_clusters=1)
    assert forced.expected_loss == pytest.approx(1.0)
    np.testing.assert_array_equal(forced.labels, np.zeros(4))


def test_gaps_and_a_limit_against_enumeration():
    draws = np.array(
        [
            [2, 2, 2, 2, -1, -1],
            [1, 0, 1, -1, 1, 2],
            [1, 0, 1, 0, -1, 2],
            [-1, -1, 1, -1, 0, 2],
            [2, -1, -1, 0, 1, -1],
            [0, -1, 2, -1, -1, 1],
        ]
    )
    weights = [0.118, 0.048, 0.015, 0.359, 0.337, 0.123]
    found = Posterior(draws, weights=weights).estimate(loss="zero-one", max_clusters=3)
    allowed = PARTITIONS[6][PARTITIONS[6].max(axis=1) < 3]
    assert found.expected_loss == pytest.approx(least_expected(allowed, draws, weights, loss="zero-one")[1].min())


def test_draws_with_gaps_are_joined_where_they_fit():
    draws = np.array([[0, 0, -1, -1, 1], [-1, -1, 0, 0, 1], [-1, 0, 0, -1, -1], [0, 1, -1, -1, -1]])
    found = Posterior(draws, weights=[3, 2, 1.5, 1]).estimate(loss="zero-one")
    assert found.expected_loss == pytest.approx(1 / 7.5)
    np.testing.assert_array_equal(canonical(found.labels), [0, 0, 0, 0, 1])
