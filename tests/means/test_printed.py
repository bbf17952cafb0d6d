"""Algorithm 1 as it is printed: against the loop written out, and what is known of its ends."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.oracles.craft import (
    algorithm_1_by_hand,
    binary_blocks,
    fragmented_normal_blocks,
    normal_blocks,
    unequal_binary_blocks,
    unequal_normal_blocks,
)
from tests.volumes import long

import partita
from partita.means import CRAFT
from partita.means.cells import Categories, Numbers
from partita.means.printed import (
    PRINTED_SMOOTHING,
    Budget,
    PrintedCraft,
    algorithm_1,
    farthest_first_penalty,
    printed_locality,
)
from partita.means.thresholds import Thresholds
from partita.metrics import adjusted_rand

PRINTED = {"as_printed": True, "random_state": 0}


def steps(numbers, codes, n_levels, *, m, penalty, thresholds=None):
    p, c = numbers.shape[1], codes.shape[1]
    budget = Budget(max(1, round(m * p)), max(1, round(m * c)) if c else 0)
    if thresholds is not None:
        budget = Budget(p, c, Thresholds(p, *thresholds))
    blocks = Numbers(numbers), Categories(codes, n_levels, PRINTED_SMOOTHING)
    return PrintedCraft(*blocks, share=m, locality=printed_locality(m), budget=budget, penalty=penalty)


def mixed_cells(seed, n=14):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 3)) + 3.0 * rng.integers(0, 2, n)[:, None]
    codes = rng.integers(0, [3, 4], (n, 2)).astype(np.int32)
    numbers[rng.random(numbers.shape) < 0.1], codes[rng.random(codes.shape) < 0.1] = np.nan, -1
    return numbers, codes, np.array([3, 4])


@pytest.mark.parametrize("thresholds", [None, (0.3, 0.8)])
@pytest.mark.parametrize("penalty", [0.5, 3.0, 8.0])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_loop_of_the_paper(seed, penalty, thresholds):
    cells, m = mixed_cells(seed), [0.4, 0.7][seed % 2]
    rows = steps(*cells, m=m, penalty=penalty, thresholds=thresholds)
    descent, _ = algorithm_1(rows, np.random.default_rng(seed), 50)
    told = {"m": m, "rho": max(0.01, m * (1 - m) - 0.01), "penalty": penalty, "thresholds": thresholds}
    labels, chosen, path = algorithm_1_by_hand(*cells, np.random.default_rng(seed), n_passes=len(descent.path), **told)
    np.testing.assert_array_equal(descent.labels, labels)
    np.testing.assert_array_equal(descent.clusters.chosen, chosen)
    np.testing.assert_allclose(descent.path, path, rtol=1e-9)


def test_once_sigma_is_that_of_the_cluster_numbers_cost_the_same_whatever_the_labels():
    """The erratum: half of the number of chosen cells, so that no labels are better than others."""
    numbers = np.random.default_rng(0).normal(size=(60, 4))
    rows = steps(numbers, np.empty((60, 0), np.int32), np.empty(0, int), m=0.5, penalty=1.0)
    for seed in range(3):
        labels = np.random.default_rng(seed).permutation(np.arange(60) % 3)
        n_clusters = 3 * (1.0 + 4 * rows.f_0) + 3 * 2 * rows.f_delta
        assert rows.objective(labels, rows.updated(labels)) == pytest.approx(n_clusters + 0.5 * 60 * 2)


def test_the_penalty_is_that_of_the_farthest_row():
    numbers = np.array([[0.0], [1.0], [10.0], [30.0]])
    rows = steps(numbers, np.empty((4, 0), np.int32), np.empty(0, int), m=1.0, penalty=1.0)
    for seed in range(4):
        start = int(np.random.default_rng(seed).integers(4))
        members, farthest = [start], 0
        for _ in range(2):
            gaps = [min((numbers[i, 0] - numbers[j, 0]) ** 2 / 2 for j in members) for i in range(4)]
            farthest = max(gaps)
            members.append(int(np.argmax(gaps)))
        assert farthest_first_penalty(rows, 2, np.random.default_rng(seed)) == pytest.approx(farthest)


def test_with_all_columns_and_squared_distances_it_is_dp_means_from_a_random_row():
    X = np.random.default_rng(0).normal(size=(80, 3)) + 6.0 * (np.arange(80) % 3)[:, None]
    options = {"n_features_to_select": 1.0, "distance": "euclidean", "standardize": False, "n_init": 1}
    model = CRAFT(penalty=30.0, **options, **PRINTED).fit(X)
    own = np.random.default_rng(np.random.default_rng(np.random.SeedSequence(0)).integers(2**63, size=4))
    centres, labels = [X[own.integers(80)]], np.zeros(80, int)
    for _ in range(model.n_iter_):
        for i, x in enumerate(X):
            squares = [np.square(x - centre).sum() for centre in centres]
            labels[i] = int(np.argmin(squares))
            if min(squares) > 30.0:
                labels[i] = len(centres)
                centres.append(x)
        occurring, labels = np.unique(labels, return_inverse=True)
        centres = [X[labels == k].mean(axis=0) for k in range(len(occurring))]
    assert model.n_clusters_ == len(centres) > 1
    assert adjusted_rand(labels, model.labels_) == 1.0
    squares = sum(np.square(X[labels == k] - centre).sum() for k, centre in enumerate(centres))
    assert model.objective_ == pytest.approx(squares + 30.0 * len(centres))


def sets_of(features):
    return {tuple(np.flatnonzero(chosen)) for chosen in features}


def recovered(made, seed, **options):
    table, groups, chosen = made(seed)
    model = CRAFT(n_clusters_hint=3, **{**PRINTED, **options}).fit(table)
    return adjusted_rand(groups, model.labels_) == 1.0 and sets_of(model.features_) == sets_of(chosen)


def test_the_subspaces_of_figure_2_are_recovered():
    assert sum(recovered(binary_blocks, seed, n_features_to_select=1 / 3) for seed in range(10)) >= 9


@pytest.mark.parametrize("made", [normal_blocks, fragmented_normal_blocks])
def test_given_the_groups_the_columns_of_figure_3_are_those_of_the_lowest_variance(made):
    for seed in range(5):
        table, groups, chosen = made(seed)
        rows = steps(table, np.empty((300, 0), np.int32), np.empty(0, int), m=1 / 3, penalty=1.0)
        assert sets_of(rows.updated(groups).chosen) == sets_of(chosen)


@pytest.mark.parametrize("gain", [0.85, 0.9, 0.99])
def test_given_the_groups_gain_thresholds_find_the_columns_of_figure_4(gain):
    for seed in range(10):
        table, groups, chosen = unequal_binary_blocks(seed)
        rows = steps(
            np.empty((300, 0)), table.astype(np.int32), np.full(30, 2), m=0.5, penalty=1.0, thresholds=(gain, None)
        )
        assert sets_of(rows.updated(groups).chosen) == sets_of(chosen)


@pytest.mark.parametrize("variance", [1.5, 3.0, 5.0])
def test_given_the_groups_variance_thresholds_find_the_columns_of_figure_4(variance):
    for seed in range(10):
        table, groups, chosen = unequal_normal_blocks(seed)
        rows = steps(
            table, np.empty((300, 0), np.int32), np.empty(0, int), m=0.5, penalty=1.0, thresholds=(None, variance)
        )
        assert sets_of(rows.updated(groups).chosen) == sets_of(chosen)


def round_and_round():
    """A table and options whose labels come back."""
    rng = np.random.default_rng(71)
    return rng.normal(size=(38, 2)), {"penalty": 1.0, "n_features_to_select": 0.5, "standardize": False, "n_init": 1}


def test_labels_that_come_back_end_it_with_a_warning():
    said = []
    for seed in range(20):
        X, options = round_and_round()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = CRAFT(**options, as_printed=True, random_state=seed).fit(X)
        words = [str(w.message) for w in caught if w.category is ConvergenceWarning]
        assert len(words) <= 1
        if words:
            said += words
            assert "labels came back to what they had been" in words[0]
            assert model.n_iter_ < model.max_iter
    assert said


def test_passes_are_capped():
    X, _, _ = normal_blocks(0)
    with pytest.warns(ConvergenceWarning, match="Labels still changed after 1 passes"):
        model = CRAFT(penalty=100.0, max_iter=1, n_init=1, **PRINTED).fit(X)
    assert model.n_iter_ == len(model.objective_path_) == 1


def mixed_table(n=120):
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], n // 2)
    return pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "colour": np.where(groups == 1, "red", rng.choice(["blue", "green"], n)),
            "size": rng.normal(size=n) + 8.0 * groups,
            "day": rng.choice(["mon", "tue"], n),
        }
    ), groups


@pytest.mark.parametrize("distance", ["auto", "euclidean"])
@pytest.mark.filterwarnings("ignore:Farthest-first found")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_table_with_gaps(distance):
    X, _ = mixed_table()
    X.loc[::7, "size"], X.loc[::5, "colour"] = np.nan, None
    model = CRAFT(n_clusters_hint=2, distance=distance, **PRINTED).fit(X)
    np.testing.assert_array_equal(model.features_[:, [0, 2]].sum(axis=1), 1)
    np.testing.assert_array_equal(model.features_[:, [1, 3]].sum(axis=1), 1)
    assert np.isfinite(model.gains_).all()
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()
    np.testing.assert_array_equal(model.predict(X.iloc[3:9]), model.predict(X)[3:9])


def test_a_column_without_cells_in_a_cluster_is_chosen_last():
    X, groups = mixed_table()
    numbers = X[["noise", "size"]].to_numpy(copy=True)
    numbers[groups == 1, 0] = np.nan
    rows = steps(numbers, np.empty((120, 0), np.int32), np.empty(0, int), m=0.5, penalty=1.0)
    clusters = rows.updated(groups)
    np.testing.assert_array_equal(clusters.chosen[1], [False, True])
    assert np.isfinite(rows.gains(groups, clusters)).all()


def test_a_column_that_is_constant_in_a_cluster_lets_nothing_else_in():
    numbers = np.array([[0.25], [0.25], [0.25], [2.0], [3.0]])
    rows = steps(numbers, np.empty((5, 0), np.int32), np.empty(0, int), m=1.0, penalty=1.0)
    distances = rows.distances(rows.updated(np.array([0, 0, 0, 1, 1])))
    np.testing.assert_array_equal(distances[:3, 0], 0.0)
    assert (distances[3:, 0] > 1e300).all()
    assert np.isfinite(distances[:, 1]).all()


def test_starts_are_ranked_and_threads_change_nothing():
    table, _, _ = binary_blocks(1)
    one, many = (CRAFT(n_clusters_hint=3, n_jobs=n_jobs, **PRINTED).fit(table) for n_jobs in (None, 2))
    np.testing.assert_array_equal(one.labels_, many.labels_)
    np.testing.assert_array_equal(one.features_, many.features_)
    assert one.objective_ == many.objective_
    ends = [CRAFT(penalty=12.0, n_init=n_init, **PRINTED).fit(table).objective_ for n_init in (1, 4)]
    assert ends[1] <= ends[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "has nothing that says how many clusters there are: pass n_clusters_hint or penalty"),
        ({"penalty": -1.0}, "penalty must be"),
        ({"n_clusters_hint": 121}, "more than the 120 different rows"),
        ({"penalty": 1.0, "n_features_to_select": 1.5}, "n_features_to_select must be"),
        ({"penalty": 1.0, "n_features_to_select": 0.005}, "pass a locality between 0 and 0.004975"),
        ({"penalty": 1.0, "locality": 0.3}, "locality must be between 0 and 0.25"),
        (
            {"penalty": 1.0, "budget": "approximate", "gain_threshold": 0.5},
            "The approximate budget of as_printed=True needs variance_threshold",
        ),
        (
            {"penalty": 1.0, "budget": "approximate", "standardize": False},
            "needs variance_threshold and gain_threshold",
        ),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        CRAFT(**options, **PRINTED).fit(mixed_table()[0])


def test_its_own_wish_is_true_or_false():
    with pytest.raises(TypeError, match="as_printed must be True or False, got 'yes'"):
        CRAFT(as_printed="yes", penalty=1.0).fit(mixed_table()[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_another_number_than_wanted_is_said():
    X = normal_blocks(0)[0][::5]
    with pytest.warns(UserWarning, match=r"Farthest-first found the penalty .* where 40 were wanted"):
        CRAFT(n_clusters_hint=40, n_init=1, **PRINTED).fit(X)


def test_its_penalties_have_no_path():
    with pytest.raises(ValueError, match="pass as_printed=False"):
        CRAFT(penalty=1.0, as_printed=True).penalty_path(mixed_table()[0])


def test_it_can_be_saved(tmp_path):
    table, _, _ = normal_blocks(0)
    model = CRAFT(n_clusters_hint=3, **PRINTED).fit(table)
    model.save(tmp_path / "printed.partita")
    again = partita.load(tmp_path / "printed.partita")
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    np.testing.assert_array_equal(again.features_, model.features_)
    np.testing.assert_allclose(again.gains_, model.gains_)


@long
@pytest.mark.filterwarnings("ignore:Farthest-first found")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([CRAFT(n_clusters_hint=2, n_init=4, distance="euclidean", as_printed=True)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
