"""`CRAFT`: the columns that define clusters are found, and tables are read as everywhere."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.oracles.craft import binary_blocks, fragmented_normal_blocks, normal_blocks, uneven_binary_blocks
from tests.volumes import long

from partita.means import CRAFT, DPMeans
from partita.metrics import adjusted_rand

THIRD = {"n_features_to_select": 1 / 3, "random_state": 0}


def sets_of(features):
    return {tuple(np.flatnonzero(chosen)) for chosen in features}


@pytest.mark.parametrize("made", [binary_blocks, uneven_binary_blocks, normal_blocks, fragmented_normal_blocks])
def test_subspaces_are_recovered(made):
    recovered = 0
    for seed in range(10):
        table, groups, chosen = made(seed)
        model = CRAFT(n_clusters_hint=3, **THIRD).fit(table)
        recovered += adjusted_rand(groups, model.labels_) == 1.0 and sets_of(model.features_) == sets_of(chosen)
    assert recovered >= 9


@pytest.mark.parametrize("made", [binary_blocks, normal_blocks])
def test_the_number_of_clusters_is_found(made):
    for seed in range(3):
        table, groups, _ = made(seed)
        model = CRAFT(**THIRD).fit(table)
        assert model.n_clusters_ == 3
        assert adjusted_rand(groups, model.labels_) == 1.0


@pytest.mark.parametrize("kind", ["numbers", "words", "both"])
def test_what_has_no_groups_is_one_cluster(kind):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        numbers = pd.DataFrame(rng.normal(size=(200, 4))).add_prefix("x")
        words = pd.DataFrame(rng.choice(["a", "b", "c"], (200, 4))).add_prefix("w")
        X = {"numbers": numbers, "words": words, "both": numbers.join(words)}[kind]
        assert CRAFT(n_init=3, random_state=0).fit(X).n_clusters_ == 1


@pytest.mark.parametrize("n_clusters", [2, 3, 5])
def test_with_all_columns_and_squared_distances_it_is_dp_means(n_clusters):
    X = StandardScaler().fit_transform(load_wine().data)
    plain = DPMeans(n_clusters_hint=n_clusters).fit(X)
    for how in ({"penalty": plain.penalty_}, {"n_clusters_hint": n_clusters}):
        all_columns = {"n_features_to_select": 1.0, "variance": "fixed", "n_init": 1}
        model = CRAFT(**how, **all_columns).fit(X)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        assert model.objective_ == pytest.approx(plain.objective_)
        assert model.penalty_ == pytest.approx(plain.penalty_)
    raw = load_iris().data
    plain = DPMeans(penalty=10.0).fit(raw)
    model = CRAFT(penalty=10.0, standardize=False, **all_columns).fit(raw)
    np.testing.assert_array_equal(model.labels_, plain.labels_)


def mixed_table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1], n // 2)
    return pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "size": rng.normal(size=n) + 8.0 * groups,
            "constant": 3.0,
            "colour": np.where(groups == 1, "red", rng.choice(["blue", "green"], n)),
            "day": rng.choice(["mon", "tue"], n),
        }
    ), groups


def test_columns_are_those_of_the_table_in_its_order():
    X, groups = mixed_table()
    model = CRAFT(n_clusters_hint=2, random_state=0).fit(with_gaps(X))
    assert adjusted_rand(groups, model.labels_) == 1.0
    assert model.features_.shape == model.gains_.shape == (2, 5)
    np.testing.assert_array_equal(model.features_.sum(axis=1), [2, 2])
    np.testing.assert_array_equal(model.get_support(), model.features_.any(axis=0))
    assert model.get_support()[[1, 3]].all()
    np.testing.assert_array_equal(model.get_support(indices=True, cluster=1), np.flatnonzero(model.features_[1]))
    np.testing.assert_array_equal(model.gains_[:, 2], 0.0)
    assert (model.gains_[:, [1, 3]].max(axis=0) > 0.5).all()
    assert list(model.feature_names_in_) == list(X.columns)


def with_gaps(X, share=0.1):
    X = X.copy()
    rng = np.random.default_rng(1)
    for name in ("noise", "size", "colour", "day"):
        X[name] = X[name].mask(rng.random(len(X)) < share)
    return X


@pytest.fixture(autouse=True)
def constant_columns_are_no_news():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*constant.*")
        yield


def test_rows_are_placed_where_they_cost_least():
    X, _ = mixed_table()
    for options in ({}, {"variance": "fixed"}, {"budget": "approximate"}, {"standardize": False}):
        model = CRAFT(n_clusters_hint=2, random_state=0, **options).fit(with_gaps(X))
        np.testing.assert_array_equal(model.predict(with_gaps(X)), model.labels_)
        np.testing.assert_array_equal(model.predict(with_gaps(X).iloc[5:9]), model.labels_[5:9])
        assert (np.diff(model.objective_path_) <= 1e-9 * abs(model.objective_)).all()
        assert model.objective_path_[-1] == model.objective_


def test_units_change_nothing():
    X, _ = mixed_table()
    model = CRAFT(n_clusters_hint=2, random_state=0).fit(X)
    other = CRAFT(n_clusters_hint=2, random_state=0).fit(X.assign(size=1000.0 * X["size"] - 5e4))
    np.testing.assert_array_equal(model.labels_, other.labels_)
    assert other.objective_ == pytest.approx(model.objective_)


def test_zeros_and_ones_are_categories_unless_told_otherwise():
    table, _, _ = binary_blocks(0)
    assert CRAFT(penalty=5.0).fit(table).table_.codes.shape == (300, 24)
    assert CRAFT(penalty=5.0, column_types={"*": "numeric"}).fit(table).table_.numeric.shape == (300, 24)


def test_an_approximate_budget_takes_what_pays():
    table, groups, chosen = binary_blocks(1)
    model = CRAFT(budget="approximate", n_clusters_hint=3, random_state=0).fit(table)
    assert adjusted_rand(groups, model.labels_) == 1.0
    assert sets_of(model.features_) == sets_of(chosen)


def test_the_same_seed_gives_the_same_answer():
    X, _ = mixed_table()
    first, second = (CRAFT(n_init=4, random_state=3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.labels_, second.labels_)
    assert clone(first).fit(X).objective_ == first.objective_


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"n_features_to_select": 0.0},
            r"n_features_to_select must be a share in \(0, 1\] or a whole number from 1 to 4",
        ),
        ({"n_features_to_select": 1.5}, "n_features_to_select must be"),
        ({"n_features_to_select": 5}, "n_features_to_select must be"),
        ({"n_features_to_select": True}, "n_features_to_select must be"),
        ({"locality": 0.25}, r"locality must be between 0 and 0.25, m \(1 - m\) for the share m = 0.5"),
        ({"locality": 0.0}, "locality must be between"),
        ({"penalty": -1.0}, "penalty must be 'auto' or a positive number, got -1.0"),
        ({"penalty": 1.0, "n_clusters_hint": 2}, "pass one of them"),
        ({"n_clusters_hint": 121}, "n_clusters_hint=121 is more than the 120 different rows"),
        ({"budget": "loose"}, "budget must be one of"),
        ({"variance": "free"}, "variance must be one of"),
        ({"n_init": 0}, "n_init"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        CRAFT(**options).fit(mixed_table()[0])


def test_all_columns_need_no_locality():
    X, groups = mixed_table()
    model = CRAFT(n_features_to_select=1.0, locality=7.0, n_clusters_hint=2, random_state=0).fit(X)
    assert adjusted_rand(groups, model.labels_) == 1.0
    assert model.features_.sum() == 2 * 4


def test_counts_are_refused():
    X = pd.DataFrame({"visits": [1, 2, 3, 9], "size": [1.0, 2.5, 3.0, 4.0]})
    with pytest.raises(ValueError, match=r"'visits'.* counts: call them numeric"):
        CRAFT(column_types={"visits": "count"}).fit(X)


def test_a_column_without_cells_in_a_cluster_says_nothing_there():
    X, groups = mixed_table()
    X.loc[groups == 1, "noise"] = np.nan
    model = CRAFT(n_clusters_hint=2, random_state=0).fit(X)
    assert adjusted_rand(groups, model.labels_) == 1.0
    assert model.gains_[model.labels_[-1], 0] == 0.0


@long
@parametrize_with_checks([CRAFT(n_init=2), CRAFT(n_clusters_hint=2, n_init=2), CRAFT(n_init=2, budget="approximate")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
