"""`BinaryMeans` against its formula, enumeration and `CRAFT` with all columns."""

import numpy as np
import pytest
from tests.oracles.craft import binary_blocks
from tests.oracles.partitions import set_partitions

from partita.means import CRAFT, BinaryMeans
from partita.metrics import adjusted_rand


def shares_of(rows, smoothing):
    return (rows.sum(axis=0) + smoothing) / (len(rows) + 2.0 * smoothing)


def entropy(share):
    return -share * np.log(share) - (1.0 - share) * np.log(1.0 - share)


def objective(X, labels, penalty, smoothing):
    """Equation 10 of the paper, and minus the log of Beta(1 + smoothing, 1 + smoothing) up to its value at a half."""
    total = 0.0
    for k in np.unique(labels):
        rows = X[labels == k]
        share = shares_of(rows, smoothing)
        total += penalty + (entropy(share) + (share - rows) * np.log(share / (1.0 - share))).sum()
        total -= smoothing * (np.log(2.0 * share) + np.log(2.0 * (1.0 - share))).sum()
    return total


def test_the_two_objectives_of_the_paper_are_equal():
    X = binary_blocks(0)[0][60:200, :8]
    share = X.mean(axis=0)
    assert ((share > 0) & (share < 1)).all()
    tenth = (entropy(share) + (share - X) * np.log(share / (1.0 - share))).sum()
    assert tenth == pytest.approx(len(X) * entropy(share).sum())


@pytest.mark.parametrize("smoothing", [0.1, 1.0])
def test_never_below_the_enumerated_optimum_and_mostly_there(smoothing):
    rng, reached = np.random.default_rng(0), 0
    for _ in range(12):
        X = (rng.random((7, 6)) < rng.choice([0.1, 0.9], (7, 1))).astype(float)
        penalty = float(rng.uniform(1.0, 5.0))
        model = BinaryMeans(penalty=penalty, smoothing=smoothing, n_init=20, random_state=0).fit(X)
        assert model.objective_ == pytest.approx(objective(X, model.labels_, penalty, smoothing))
        least = min(objective(X, np.array(p), penalty, smoothing) for p in set_partitions(7))
        assert model.objective_ >= least - 1e-9
        reached += model.objective_ <= least + 1e-9
    assert reached >= 9


def test_it_is_craft_with_all_columns():
    X, groups, _ = binary_blocks(3)
    for how in ({"penalty": 9.0}, {"n_clusters_hint": 3}, {}):
        model = BinaryMeans(random_state=0, **how).fit(X)
        craft = CRAFT(n_features_to_select=1.0, random_state=0, **how).fit(X)
        np.testing.assert_array_equal(model.labels_, craft.labels_)
        assert model.objective_ == pytest.approx(craft.objective_)
        assert (np.diff(model.objective_path_) <= 1e-9 * model.objective_).all()
    assert adjusted_rand(groups, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.cluster_centers_[0], shares_of(X[model.labels_ == 0], 1.0))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[0, 1], [2, 1]], "row 1, column 0 holds 2"),
        ([[0.0, np.nan]], "NaN"),
        ([["a"], ["b"]], "could not convert|dtype"),
    ],
)
def test_what_is_not_binary_is_refused(X, words):
    with pytest.raises(ValueError, match=words):
        BinaryMeans().fit(X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"smoothing": 0.0}, "smoothing must be a positive number"),
        ({"init": "k"}, "init must be one of"),
        ({"penalty": 0.0}, "penalty must be"),
        ({"n_clusters_hint": 5}, "n_clusters_hint=5 is more than the 4 different rows"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        BinaryMeans(**options).fit(np.eye(4))


def test_random_starts_find_the_groups_too():
    X, groups, _ = binary_blocks(1)
    model = BinaryMeans(n_clusters_hint=3, init="random", random_state=0).fit(X)
    assert adjusted_rand(groups, model.labels_) == 1.0
