"""What every loss keeps to, those of others too: a loss is one class, known once it is defined."""

import importlib
import sys

import numba
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from tests.oracles.partitions import set_partitions
from tests.posterior.slow import noisy_draws, random_weights
from tests.volumes import long, long_but, mostly_long, short_and_long

import partita
from partita import Mixture
from partita.files.json_options import from_json, to_json
from partita.kernels.search import Rules, place, score, search, value
from partita.partitions import Partitions
from partita.posterior import LOSSES, VI, Binder, Loss, Posterior, least_expected, losses_to_draws
from partita.posterior.condensing import condense
from partita.posterior.estimate.descent import Problem
from partita.posterior.estimate.limits import Limits

BUILT_IN = tuple(LOSSES)
TOY = "pairs-together"
EVERY = (*BUILT_IN, TOY)
OF_TWO = [name for name in EVERY if name != "vi-lb"]
SEARCHED = [name for name in EVERY if name != "zero-one"]
#: The search is compiled for every kind of objective; of two kinds that few losses have, in `make prove`.
COMPILED = long_but(BUILT_IN[:-1], [pytest.param(name, id=name) for name in EVERY])
ROUNDING = 1e-10
EXACT = 1e-12
pytestmark = pytest.mark.xdist_group("losses")  # the toy is compiled once
PARTITIONS = {n: np.array(list(set_partitions(n))) for n in range(1, 9)}


@pytest.fixture(scope="module", autouse=True)
def toy():
    """The toy is known in this module only."""
    module = importlib.import_module("tests.contracts.toy_loss")
    yield module
    del Loss.known[TOY]
    del sys.modules["tests.contracts.toy_loss"]


def two_prices(name):
    """The loss by default, and with another price of wrong splits where it has one."""
    kind = LOSSES[name]
    return [kind(), kind(a=0.7)] if kind in (VI, Binder) else [kind()]


@pytest.mark.parametrize("name", EVERY)
def test_options_come_back(name):
    for loss in two_prices(name):
        loss.check()
        assert clone(loss) == loss == from_json(to_json(loss))


# --- what two partitions cost ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OF_TWO)
def test_only_a_partition_itself_costs_nothing(name):
    for loss in two_prices(name):
        for n in (1, 2, 3, 4):
            every = PARTITIONS[n]
            costs = loss.between(every, every, np.ones(n, np.int64))
            assert np.all(np.diag(costs) == 0.0)
            assert np.all(costs[~np.eye(len(every), dtype=bool)] > EXACT)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("name", OF_TWO)
def test_an_atom_is_as_many_objects(name, missing):
    found, draws = noisy_draws(1, n_draws=5, n_objects=7, missing=missing), noisy_draws(2, n_draws=6, n_objects=7)
    counts = np.array([1, 3, 2, 1, 1, 4, 1])
    for loss in two_prices(name):
        repeated = [np.repeat(labels, counts, axis=1) for labels in (found, draws)]
        apart = loss.between(*repeated, np.ones(counts.sum(), np.int64))
        np.testing.assert_allclose(loss.between(found, draws, counts), apart, atol=EXACT)


@pytest.mark.parametrize("name", OF_TWO)
def test_what_is_expected_is_the_mean_over_the_draws(name):
    draws, weights = noisy_draws(3, n_objects=15, n_draws=12, missing=0.1), random_weights(3, 12)
    tried = noisy_draws(103, n_objects=15, n_draws=6)
    for loss in two_prices(name):
        means = [losses_to_draws(loss, labels, Partitions(draws)) @ weights for labels in tried]
        np.testing.assert_allclose(least_expected(tried, draws, weights, loss=loss)[1], means, atol=EXACT)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("name", EVERY)
def test_single_objects_cost_what_a_partition_into_them_costs(name, missing):
    draws, weights = with_repeated_objects(4, missing=missing), random_weights(4, 10)
    alone = np.arange(draws.shape[1])[None]
    for loss in two_prices(name):
        expected = least_expected(alone, draws, weights, loss=loss)[1][0]
        assert loss.expected_alone(condense(Partitions(draws), weights)) == pytest.approx(expected, abs=EXACT)


@mostly_long
@pytest.mark.parametrize("name", OF_TWO)
def test_balls_and_modes_are_measured_by_it(name):
    posterior = Posterior(
        np.concatenate([noisy_draws(1, n_draws=20, share=0.1), noisy_draws(2, n_draws=10, share=0.1)])
    )
    centre = posterior.estimate(loss=name).labels
    ball = posterior.credible_ball(loss=name, level=0.5)
    distances = losses_to_draws(name, centre, posterior.partitions)
    np.testing.assert_array_equal(ball.labels, centre)
    assert ball.radius == pytest.approx(np.sort(distances)[14], abs=EXACT)
    assert len(posterior.modes(2, loss=name)) >= 1


# --- what the search lowers ----------------------------------------------------------------------------------


@numba.njit
def compiled_value(objective):
    return value(objective)


@numba.njit
def compiled_score(objective, unit, own, out):
    score(objective, unit, own, out)


@numba.njit
def compiled_move(objective, unit, origin, slot):
    place(objective, unit, origin, -1)
    place(objective, unit, slot, 1)


def problem_of(loss, draws, weights):
    condensed = condense(Partitions(draws), weights)
    limits = Limits(draws.shape[1])
    return condensed, Problem(loss, condensed, np.arange(len(condensed.counts)), limits)


@mostly_long
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("name", long_but(["vi", "nvi", TOY], [pytest.param(name, id=name) for name in SEARCHED]))
def test_the_objective_changes_as_the_loss_does(name, missing):
    """What the compiled state adds up move by move is the expected loss, up to a constant."""
    draws, weights = noisy_draws(5, n_objects=18, n_draws=9, share=0.5, missing=missing), random_weights(5, 9)
    for loss in two_prices(name):
        condensed, problem = problem_of(loss, draws, weights)
        differences = []
        for seed in range(3):
            labels = np.random.default_rng(seed).integers(0, 4, problem.n_units)
            objective, seats = problem.state(labels, 12)
            search(np.random.default_rng(seed), objective, seats, Rules(18, 1, 50, 3, 1e-12))
            reached = problem.on_atoms(seats.labels)[condensed.inverse]
            fresh, same = problem.state(seats.labels.copy(), 12)
            search(np.random.default_rng(0), fresh, same, Rules(18, 1, 0, 0, 1e-12))  # seats them, and no more
            np.testing.assert_allclose(compiled_value(objective), compiled_value(fresh), atol=EXACT)
            differences.append(
                compiled_value(objective) - least_expected(reached[None], draws, weights, loss=loss)[1][0]
            )
        np.testing.assert_allclose(differences, differences[0], atol=EXACT)


@long
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("name", SEARCHED)
def test_what_a_place_is_worth_is_what_taking_it_changes(name, missing):
    """Scores of atoms against the values that the objective has after they have been placed."""
    draws, weights = with_repeated_objects(2, missing=missing), random_weights(2, 10)
    for loss in two_prices(name):
        _, problem = problem_of(loss, draws, weights)
        labels = np.random.default_rng(0).integers(0, 3, problem.n_units)
        objective, seats = problem.state(labels, 5)
        search(np.random.default_rng(0), objective, seats, Rules(5, 1, 0, 0, 1e-12))
        for unit, own in enumerate(seats.labels):
            scores, values = np.empty(5), np.empty(5)
            compiled_score(objective, unit, own, scores)
            for slot in range(5):
                compiled_move(objective, unit, own, slot)
                values[slot] = compiled_value(objective)
                compiled_move(objective, unit, slot, own)
            np.testing.assert_allclose(scores - scores[own], values - values[own], atol=EXACT)


def with_repeated_objects(seed, n_objects=8, n_draws=10, missing=0.0):
    draws = noisy_draws(seed, n_objects=n_objects, n_draws=n_draws, share=0.5, missing=missing)
    return np.repeat(draws, np.random.default_rng(seed).integers(1, 6, n_objects), axis=1)


# --- what is reported ----------------------------------------------------------------------------------------


def random_posterior(seed):
    """Draws of 2 to 8 objects; weights, missing labels and a limit on the clusters in turn."""
    rng = np.random.default_rng(seed)
    n_objects, n_draws = int(rng.integers(2, 9)), int(rng.integers(1, 15))
    missing = 0.2 if seed % 3 == 1 else 0.0
    draws = noisy_draws(
        seed, n_objects=n_objects, n_draws=n_draws, n_clusters=3, share=rng.uniform(0.1, 1.0), missing=missing
    )
    draws[0, draws.max(axis=0) < 0] = 0  # every object is labelled somewhere
    weights = random_weights(seed, n_draws) if seed % 2 else None
    return draws, weights, int(rng.integers(1, 4)) if seed % 4 == 0 else None


@mostly_long
@pytest.mark.filterwarnings("ignore:No draw obeys")
@pytest.mark.parametrize("name", EVERY)
@short_and_long("n_posteriors", 20, 200)
def test_the_search_finds_the_enumerated_minimum(name, n_posteriors):
    loss, n_minimal = LOSSES[name](), 0
    for seed in range(n_posteriors):
        draws, weights, most = random_posterior(seed)
        found = Posterior(draws, weights=weights).estimate(loss=name, max_clusters=most or "n", n_jobs=1)
        every = PARTITIONS[draws.shape[1]]
        allowed = every if most is None else every[every.max(axis=1) < most]
        least = least_expected(allowed, draws, weights, loss=loss)[1].min()
        assert found.expected_loss > least - ROUNDING
        assert found.n_clusters <= (most or 8)
        own = least_expected(found.labels[None], draws, weights, loss=loss)[1][0]
        assert found.expected_loss == pytest.approx(own, abs=EXACT)
        if draws.min() >= 0 and most is None:
            assert found.expected_loss < least_expected(draws, draws, weights, loss=loss)[1].min() + ROUNDING
        n_minimal += found.expected_loss < least + ROUNDING
    assert n_minimal >= 0.99 * n_posteriors


@pytest.mark.parametrize("name", COMPILED)
def test_names_and_order_do_not_matter_and_weights_are_repetitions(name):
    draws, rng = noisy_draws(6, n_objects=12, n_draws=15), np.random.default_rng(6)
    plain, order = Posterior(draws).estimate(loss=name), rng.permutation(12)
    moved = Posterior(rng.permutation(30)[draws[:, order]]).estimate(loss=name)
    assert plain.expected_loss == pytest.approx(moved.expected_loss, abs=EXACT)
    np.testing.assert_array_equal(*(Partitions(found[None]).flat for found in (plain.labels[order], moved.labels)))
    times = rng.integers(0, 4, 15)
    weighted = Posterior(draws, weights=times).estimate(loss=name)
    repeated = Posterior(np.repeat(draws, times, axis=0)).estimate(loss=name)
    np.testing.assert_array_equal(weighted.labels, repeated.labels)
    assert weighted.expected_loss == pytest.approx(repeated.expected_loss, abs=EXACT)


@pytest.mark.filterwarnings("ignore:No draw obeys")
@pytest.mark.parametrize("name", COMPILED)
def test_limits_and_support_are_obeyed(name):
    draws = noisy_draws(4, n_objects=20, n_draws=20, n_clusters=6, share=0.3)
    found = Posterior(draws).estimate(loss=name, min_size=4, max_clusters=3)
    assert np.bincount(found.labels).min() >= 4
    assert found.n_clusters <= 3
    held = Posterior(draws).estimate(loss=name, min_support=0.5)
    assert np.all((held.support.together >= 0.5) | (held.n_clusters == 1))


@mostly_long
@pytest.mark.parametrize("name", EVERY)
def test_an_estimator_takes_it_and_files_hold_it(name, tmp_path):
    rows = np.repeat([[0.0], [9.0]], 6, axis=0) + np.random.default_rng(0).normal(size=(12, 1))
    with pytest.warns(ConvergenceWarning):
        model = Mixture(loss=name, chains=2, draws=20, random_state=0).fit(rows)
    assert model.estimate_.loss == LOSSES[name]()
    model.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    assert again.loss == name
    np.testing.assert_array_equal(again.labels_, model.labels_)
    assert again.estimate_.expected_loss == pytest.approx(model.estimate_.expected_loss, abs=EXACT)


# --- the loss of others ----------------------------------------------------------------------------------------


@long
def test_it_agrees_with_the_loss_that_it_is_times_a_number():
    posterior = Posterior(noisy_draws(3, share=0.2))
    own, binder = posterior.estimate(loss=TOY), posterior.estimate(loss="binder")
    np.testing.assert_array_equal(own.labels, binder.labels)
    assert own.expected_loss == pytest.approx(binder.expected_loss * 40**2 / 2)
    assert own.diffuse == binder.diffuse


def test_a_wrong_name_is_answered_with_the_names_of_others_too():
    with pytest.raises(ValueError, match="Did you mean 'pairs-together'"):
        Posterior(noisy_draws(3)).estimate(loss="pairs-togetherness")


def test_what_a_loss_lacks_is_named():
    class Unfinished(Loss):
        """Brings nothing."""

    with pytest.raises(NotImplementedError, match="Unfinished does not say what two partitions cost"):
        Posterior(noisy_draws(3)).estimate(loss=Unfinished())

    class Halfway(VI):
        """Has a price and nothing to search by."""

        objective = Loss.objective

    with pytest.raises(NotImplementedError, match="Halfway has nothing for the search to lower: implement objective"):
        Posterior(noisy_draws(3)).estimate(loss=Halfway())
    with pytest.raises(TypeError, match="Halfway is not registered"):
        to_json(Halfway())
