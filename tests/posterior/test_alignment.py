"""Labels of a refit take over the numbers of the earlier fit."""

from itertools import permutations

import numpy as np
import pytest

from partita import Posterior


def posterior_of(*draws):
    return Posterior(np.array(draws)[None])


def kept(aligned, earlier):
    return int(((np.asarray(aligned) == earlier) & (np.asarray(earlier) >= 0)).sum())


@pytest.mark.parametrize("seed", range(20))
def test_no_renaming_keeps_more_labels(seed):
    rng = np.random.default_rng(seed)
    n_new, n_old = rng.integers(1, 4), rng.integers(1, 6)
    labels, earlier = rng.integers(n_new, size=30), rng.integers(-1, n_old, size=30)
    names, of_name = np.unique(labels, return_inverse=True)
    every_renaming = permutations(range(n_old + len(names)), len(names))
    aligned = posterior_of(labels).align(earlier, labels=labels)
    assert kept(aligned, earlier) == max(kept(np.array(chosen)[of_name], earlier) for chosen in every_renaming)
    np.testing.assert_array_equal(aligned[:, None] == aligned, labels[:, None] == labels)


def test_the_same_partition_under_other_names_comes_back_as_it_was():
    earlier = np.array([4, 4, 0, 0, 0, 7, 7])
    refit = posterior_of([1, 1, 0, 0, 0, 2, 2])
    aligned = refit.align(earlier)
    assert aligned.dtype == np.int64
    np.testing.assert_array_equal(aligned, earlier)


def test_a_split_keeps_the_number_for_the_larger_part_and_opens_a_new_one():
    earlier = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(posterior_of([0, 0, 0, 2, 2, 1, 1, 1]).align(earlier), [0, 0, 0, 2, 2, 1, 1, 1])


def test_a_merge_takes_the_number_of_the_larger_part():
    earlier = np.array([0, 0, 1, 1, 1, 2])
    np.testing.assert_array_equal(posterior_of([0, 0, 0, 0, 0, 1]).align(earlier), [1, 1, 1, 1, 1, 2])


def test_objects_without_a_label_do_not_count():
    earlier = np.array([-1, -1, -1, 3, 3])
    refit = posterior_of([0, 0, 0, 0, 1])
    aligned = refit.align(earlier)
    np.testing.assert_array_equal(aligned, [3, 3, 3, 3, 4])
    labels = np.array([-1, 0, 0, 0, 1])
    np.testing.assert_array_equal(refit.align(earlier, labels=labels), [-1, 3, 3, 3, 4])


def test_new_numbers_go_in_the_order_of_the_given_labels():
    labels = np.array([5, 5, 3, 3, 3, 9])
    np.testing.assert_array_equal(posterior_of(labels).align([-1] * 6, labels=labels), [1, 1, 0, 0, 0, 2])


def test_nothing_in_common_gives_numbers_above_all_earlier_ones():
    np.testing.assert_array_equal(posterior_of([0, 0, 1]).align([-1, -1, -1]), [0, 0, 1])


@pytest.mark.parametrize(
    ("earlier", "error", "words"),
    [
        ([0, 1], ValueError, "other_labels must be one per object, 3, in the same order; got 2"),
        ([[0], [1], [2]], ValueError, "one dimension"),
        ([0, 1, -2], ValueError, "-1 or more, got -2"),
    ],
)
def test_what_is_no_labelling_is_refused(earlier, error, words):
    with pytest.raises(error, match=words):
        posterior_of([0, 0, 1]).align(earlier)


def test_labels_to_rename_must_fit():
    with pytest.raises(ValueError, match="labels must be one per object, 3, in the same order; got 2"):
        posterior_of([0, 0, 1]).align([0, 0, 1], labels=[0, 1])


def test_words_are_labels_as_numbers_are():
    refit = posterior_of([0, 0, 0, 1, 1, 2])
    numbers, words = [1, 1, 0, 0, -1, 2], ["south", "south", "north", "north", None, "east"]
    np.testing.assert_array_equal(refit.align(numbers, labels=list("bbbaac")), refit.align(numbers))
    np.testing.assert_array_equal(refit.align(words), refit.align([0, 0, 1, 1, -1, 2]))
    np.testing.assert_array_equal(refit.align([1.0, 1.0, 0.0, 0.0, np.nan, 2.0]), refit.align(numbers))


def test_labels_so_large_that_new_ones_would_not_fit():
    posterior = Posterior([[0, 0, 1]])
    for label in (2**64 - 1, 2**63 - 1):
        with pytest.raises(ValueError, match="must be at most"):
            posterior.align(np.array([0, 0, label], dtype=np.uint64))
