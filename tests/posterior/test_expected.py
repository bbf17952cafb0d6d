"""Losses and expected losses against their definitions, and the candidate that is the nearest to the draws."""

import numpy as np
import pytest
from tests.oracles.partitions import set_partitions
from tests.posterior.slow import EVERY, PAIRWISE, noisy_draws, slow_expected, slow_loss
from tests.volumes import short_and_long

from partita.partitions import Partitions
from partita.posterior import (
    LOSSES,
    VI,
    Binder,
    Posterior,
    VILowerBound,
    least_expected,
    losses_to_draws,
)
from partita.posterior.estimate import comparing, expected


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("loss", PAIRWISE, ids=repr)
def test_losses_match_their_definitions(loss, missing):
    found, draws = noisy_draws(1, n_draws=1, missing=missing)[0], noisy_draws(2, n_draws=20, missing=missing)
    draws[0], draws[1], draws[2] = found, 0, np.arange(40)
    np.testing.assert_allclose(
        losses_to_draws(loss, found, Partitions(draws)),
        [slow_loss(loss, list(found), list(draw)) for draw in draws],
        atol=1e-12,
    )


@pytest.mark.parametrize("loss", PAIRWISE, ids=repr)
def test_losses_of_all_pairs_of_small_partitions(loss):
    for n in (1, 2, 3, 4):
        every = np.array(list(set_partitions(n)))
        for found in every:
            losses = losses_to_draws(loss, found, Partitions(every))
            slow = [slow_loss(loss, list(found), list(draw)) for draw in every]
            np.testing.assert_allclose(losses, slow, atol=1e-12)
            assert np.all(losses >= 0)
            assert losses[np.flatnonzero(np.all(every == found, axis=1))[0]] == 0.0


def test_a_is_the_cost_of_a_wrong_split():
    whole, halves = np.zeros(4, int), np.array([0, 0, 1, 1])
    for kind in (VI, Binder):
        split = losses_to_draws(kind(a=1.5), halves, Partitions(whole[None]))[0]
        merged = losses_to_draws(kind(a=1.5), whole, Partitions(halves[None]))[0]
        assert split == pytest.approx(3.0 * merged)
        assert split + merged == pytest.approx(2.0 * losses_to_draws(kind(), whole, Partitions(halves[None]))[0])
    assert losses_to_draws("binder", halves, Partitions(whole[None]))[0] == pytest.approx(2 / 16 * 4)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("loss", EVERY, ids=repr)
def test_expected_losses_match_the_definition(loss, missing):
    draws = noisy_draws(3, n_objects=15, n_draws=12, missing=missing)
    weights = np.random.default_rng(3).exponential(size=len(draws))
    candidates = noisy_draws(103, n_objects=15, n_draws=6, missing=missing)
    index, found = least_expected(candidates, draws, weights, loss=loss)
    slow = [slow_expected(loss, c, draws, weights) for c in candidates]
    np.testing.assert_allclose(found, slow, atol=1e-12)
    assert index == np.argmin(slow)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_the_lower_bound_is_one_and_is_met_by_a_single_draw(seed, missing):
    draws = noisy_draws(seed, n_objects=12, n_draws=9, share=0.5, missing=missing)
    candidates = noisy_draws(seed + 50, n_objects=12, n_draws=20, share=0.5)
    _, bound = least_expected(candidates, draws, loss=VILowerBound())
    _, exact = least_expected(candidates, draws, loss=VI())
    assert np.all(bound <= exact + 1e-12)
    assert np.any(bound < exact - 0.01)
    _, of_one = least_expected(candidates, draws[:1], loss="vi-lb")
    np.testing.assert_allclose(of_one, least_expected(candidates, draws[:1])[1], atol=1e-12)


@pytest.mark.parametrize(("name", "value"), [("TABLE_CELLS", 0), ("_DRAWS_TOGETHER", 3)])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("loss", ["vi", "one-minus-ari"])
def test_every_way_to_score_gives_the_same_losses(monkeypatch, missing, name, value, loss):
    draws = noisy_draws(7, missing=missing)
    index, found = least_expected(draws, draws, loss=loss)
    monkeypatch.setattr(comparing, name, value)
    again, others = least_expected(draws, draws, loss=loss)
    assert index == again
    np.testing.assert_allclose(found, others, atol=1e-12)


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "zero-one"])  # under which all of these cost 1
@pytest.mark.parametrize("cells", [comparing.TABLE_CELLS, 0])
def test_shortlist_finds_the_least_expected_loss_of_an_easy_posterior(monkeypatch, cells, loss):
    draws = noisy_draws(9, n_draws=300, share=0.3)
    draws[123] = noisy_draws(9, n_draws=1, share=0.0)[0]
    exact, every_loss = least_expected(draws, draws, loss=loss)
    assert exact == 123
    monkeypatch.setattr(expected, "EXACT_WORK", 0)
    for module in (comparing, expected):
        monkeypatch.setattr(module, "TABLE_CELLS", cells)
    index, some = least_expected(draws, draws, loss=loss)
    assert index == exact
    assert np.isfinite(some).sum() == 32
    np.testing.assert_allclose(some[np.isfinite(some)], every_loss[np.isfinite(some)], atol=1e-12)


@short_and_long("n_objects", 100, 400)
def test_many_clusters(n_objects):
    draws = np.stack([np.random.default_rng(s).permutation(n_objects) // 2 for s in range(5)])
    _, found = least_expected(draws, draws)
    np.testing.assert_allclose(found, [slow_expected(VI(), d, draws) for d in draws], atol=1e-12)


def test_objects_that_the_labelling_parts_but_no_draw_does():
    draws = Partitions([[0, 0, 0, 1], [0, 0, 0, 0]])
    found = np.array([0, 1, 1, 1])
    slow = [slow_loss(VI(), list(found), list(draw)) for draw in np.asarray(draws)]
    np.testing.assert_allclose(losses_to_draws("vi", found, draws), slow, atol=1e-12)


def test_what_cannot_be_scored_is_refused():
    with pytest.raises(ValueError, match="3 objects and the draws 2"):
        least_expected([[0, 0, 1]], [[0, 1]])
    with pytest.raises(ValueError, match=r"VILowerBound\(\) compares a partition with all draws"):
        losses_to_draws("vi-lb", [0, 1], Partitions([[0, 1]]))
    with pytest.raises(ValueError, match=r"VI\(a=...\) is the cost of a wrong split, from 0 to 2 .* got 2.5"):
        Posterior([[0, 1]]).estimate(loss=VI(a=2.5))
    with pytest.raises(ValueError, match=r"loss must be one of 'vi', 'binder', .*; got 'vii'. Did you mean 'vi'\?"):
        least_expected([[0, 1]], [[0, 1]], loss="vii")
