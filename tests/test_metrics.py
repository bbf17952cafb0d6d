"""Losses and scores against pair enumeration and tables written out slowly, symmetries, missing labels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score, mutual_info_score, normalized_mutual_info_score
from tests.oracles import labelings

from partita.metrics import (
    adjusted_rand,
    binder_loss,
    f1_measure,
    nid,
    nmi,
    nvi,
    partition_entropy,
    purity,
    variation_of_information,
)

LOSSES = [binder_loss, variation_of_information, nvi, nid]
SCORES = [adjusted_rand, nmi, purity, f1_measure]
SYMMETRIC = [*LOSSES, adjusted_rand, nmi]
SIZES = [(1, 1, 1), (2, 2, 2), (3, 2, 3), (9, 1, 4), (12, 12, 3), (25, 3, 5), (40, 5, 5)]
PAIRS = [(size, seed) for size in SIZES for seed in range(4)]


def two_labelings(size, seed):
    n, n_found, n_true = size
    rng = np.random.default_rng(seed)
    return rng.integers(0, n_found, n).tolist(), rng.integers(0, n_true, n).tolist()


@pytest.mark.parametrize("a", [0.0, 0.4, 1.0, 2.0])
@pytest.mark.parametrize(("size", "seed"), PAIRS)
def test_binder_loss_is_the_cost_of_all_pairs(size, seed, a):
    found, truth = two_labelings(size, seed)
    assert binder_loss(truth, found, a=a) == pytest.approx(labelings.pair_cost(found, truth, a), abs=1e-12)


@pytest.mark.parametrize("a", [0.0, 0.4, 1.0, 2.0])
@pytest.mark.parametrize(("size", "seed"), PAIRS)
def test_variation_of_information_is_two_conditional_entropies(size, seed, a):
    found, truth = two_labelings(size, seed)
    joint = labelings.entropy(found, truth)
    expected = a * (joint - labelings.entropy(truth)) + (2 - a) * (joint - labelings.entropy(found))
    assert variation_of_information(truth, found, a=a) == pytest.approx(expected, abs=1e-12)
    assert partition_entropy(found) == pytest.approx(mutual_info_score(found, found), abs=1e-12)


@pytest.mark.parametrize(("size", "seed"), PAIRS)
def test_normalised_losses_are_their_definitions(size, seed):
    found, truth = two_labelings(size, seed)
    shared = labelings.mutual_information(found, truth)
    joint, largest = labelings.entropy(found, truth), max(labelings.entropy(found), labelings.entropy(truth))
    assert nvi(truth, found) == pytest.approx(1 - shared / joint if joint else 0.0, abs=1e-12)
    assert nid(truth, found) == pytest.approx(1 - shared / largest if largest else 0.0, abs=1e-12)


@pytest.mark.parametrize(("size", "seed"), PAIRS)
def test_scores_are_their_definitions(size, seed):
    found, truth = two_labelings(size, seed)
    assert purity(truth, found) == pytest.approx(labelings.purity(found, truth))
    assert f1_measure(truth, found) == pytest.approx(labelings.f1(found, truth, over_found=True))
    usual = f1_measure(truth, found, recall="truth")
    assert usual == pytest.approx(labelings.f1(found, truth, over_found=False))
    assert usual == pytest.approx(f1_measure(found, truth, recall="truth"))
    assert adjusted_rand(truth, found) == pytest.approx(adjusted_rand_score(truth, found), abs=1e-12)
    expected = normalized_mutual_info_score(truth, found, average_method="geometric")
    assert nmi(truth, found) == pytest.approx(expected, abs=1e-12)


def test_nmi_divides_by_the_geometric_mean():
    found, truth = two_labelings((40, 5, 3), 0)
    expected = labelings.mutual_information(found, truth)
    expected /= np.sqrt(labelings.entropy(found) * labelings.entropy(truth))
    assert nmi(truth, found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("score", SYMMETRIC)
@pytest.mark.parametrize(("size", "seed"), PAIRS)
def test_the_order_of_two_labelings_does_not_matter(score, size, seed):
    found, truth = two_labelings(size, seed)
    assert score(found, truth) == pytest.approx(score(truth, found), abs=1e-12)


@pytest.mark.parametrize("loss", [binder_loss, variation_of_information])
def test_swapping_found_and_truth_swaps_the_two_costs(loss):
    found, truth = two_labelings((40, 5, 3), 1)
    assert loss(found, truth, a=0.3) == pytest.approx(loss(truth, found, a=1.7))
    assert loss(found, truth, a=0.3) != pytest.approx(loss(truth, found, a=0.3))


def test_a_wrong_split_costs_a_and_a_wrong_merge_the_rest():
    one, two = [0, 0], [0, 1]
    assert binder_loss(one, two, a=0.5) == pytest.approx(0.5 * 2 / 4)
    assert binder_loss(two, one, a=0.5) == pytest.approx(1.5 * 2 / 4)
    assert variation_of_information(one, two, a=0.5) == pytest.approx(0.5 * np.log(2))
    assert variation_of_information(two, one, a=0.5) == pytest.approx(1.5 * np.log(2))


@pytest.mark.parametrize("score", [*LOSSES, *SCORES])
@pytest.mark.parametrize("seed", range(3))
def test_names_of_clusters_and_order_of_objects_do_not_matter(score, seed):
    found, truth = (np.array(labels) for labels in two_labelings((40, 5, 4), seed))
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(40), rng.permutation(50)
    assert score(names[found][order], truth[order]) == pytest.approx(score(found, truth), abs=1e-12)
    assert score(found[order], names[truth][order]) == pytest.approx(score(found, truth), abs=1e-12)


@pytest.mark.parametrize("labels", [[7], [3, 3], [3, 1], [0, 0, 1, 1, 2], list(range(30))])
def test_equal_partitions_have_no_loss_and_agree_fully(labels):
    renamed = [f"group {label}" for label in labels]
    assert [loss(labels, renamed) for loss in LOSSES] == [0.0] * 4
    assert [score(labels, renamed) for score in SCORES] == pytest.approx([1.0] * 4)


def test_closed_forms():
    n = 12
    singletons = np.arange(n)
    assert variation_of_information(np.zeros(n), singletons) == pytest.approx(np.log(n))
    assert binder_loss(np.zeros(n), singletons) == pytest.approx(1 - 1 / n)
    assert nvi(np.zeros(n), singletons) == nid(np.zeros(n), singletons) == 1.0
    assert variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(2 * np.log(2))
    assert nvi([0, 0, 1, 1], [0, 1, 0, 1]) == nid([0, 0, 1, 1], [0, 1, 0, 1]) == 1.0
    assert purity(np.zeros(n), singletons) == 1.0
    assert f1_measure(np.zeros(n), singletons) == pytest.approx(2 / n / (1 + 1 / n))


def test_entropy_has_a_base():
    assert partition_entropy([3, 3, 8, 8]) == pytest.approx(np.log(2))
    assert partition_entropy(np.ones(5, int)) == partition_entropy(np.ones(5, int), base="clusters") == 0.0
    assert partition_entropy([0, 0, 1, 1, 2, 2], base="clusters") == pytest.approx(1.0)
    assert partition_entropy(np.arange(7), base="clusters") == pytest.approx(1.0)
    labels = [0, 0, 0, 1, 2, 2, -1]
    assert partition_entropy(labels, base="clusters") == pytest.approx(partition_entropy(labels) / np.log(3))
    assert partition_entropy([0, 0, 1, 1], base=2) == pytest.approx(1.0)


@pytest.mark.parametrize("score", [*LOSSES, *SCORES])
def test_unlabelled_objects_are_dropped_pairwise(score):
    found, truth = np.array([0, 0, 1, 1, -1, 2]), np.array([0, 1, 1, -1, 0, 0])
    both = [0, 1, 2, 5]
    assert score(found, truth) == pytest.approx(score(found[both], truth[both]))
    assert score([-1, 0], [0, -1]) == score([], []) == (0.0 if score in LOSSES else 1.0)
    assert partition_entropy(found) == pytest.approx(partition_entropy(found[found >= 0]))
    assert partition_entropy([-1, -1]) == partition_entropy([-1, -1], base="clusters") == 0.0


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "a", "b", None, "b", "c"],
        ["a", "a", ("b", 1), -1, ("b", 1), "-1"],
        np.array([4.5, 4.5, 2.0, np.nan, 2.0, 7.0]),
        np.array([4.5, 4.5, 2.0, -1.0, 2.0, 7.0]),
        [True, True, False, float("nan"), False, 2],
        np.array(["a", "a", "b", np.nan, "b", "c"], dtype=object),
        pd.Series([1, 1, 2, None, 2, 3], dtype="Int64"),
        pd.Series(["x", "x", "y", None, "y", "z"], dtype="category"),
        pl.Series(["x", "x", "y", None, "y", "z"]),
        np.array(["2020", "2020", "2021", "NaT", "2021", "2022"], dtype="datetime64[D]"),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_labels_may_be_of_any_kind(labels):
    plain, truth = [0, 0, 1, -1, 1, 2], [0, 1, 1, 1, 1, 2]
    for score in [*LOSSES, *SCORES]:
        assert score(labels, truth) == score(plain, truth)
    assert partition_entropy(labels) == partition_entropy(plain)


@pytest.mark.parametrize("score", [*LOSSES, *SCORES])
def test_wrong_shapes_are_refused(score):
    with pytest.raises(ValueError, match="2 and 3 objects"):
        score([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="one dimension; got shape \\(1, 2\\)"):
        score(np.array([[0, 1]]), [0, 1])
    with pytest.raises(ValueError, match="one dimension"):
        score([0, 1], [[0, 1], [1, 0]])
    with pytest.raises(TypeError, match="sequence with one label per object; got str"):
        score("ab", "ab")


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="cost of a wrong split, must be from 0 to 2"):
        binder_loss([0], [0], a=3)
    with pytest.raises(ValueError, match="cost of a wrong split, must be from 0 to 2"):
        variation_of_information([0], [0], a=-0.1)
    with pytest.raises(ValueError, match="recall must be one of 'found', 'truth'"):
        f1_measure([0], [0], recall="both")
    with pytest.raises(ValueError, match="base must be a number above 1, 'clusters', or None"):
        partition_entropy([0, 1], base="K")
    with pytest.raises(ValueError, match="base must be a number above 1"):
        partition_entropy([0, 1], base=1)
