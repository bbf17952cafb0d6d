"""Wrong and missing labels: how many, which, and that nothing else changes."""

import numpy as np
import pytest
from scipy.stats import chisquare

from partita import Partitions
from partita.consensus import add_label_noise, drop_labels

LABELS = np.repeat([0, 3, 7], [10, 20, 33])


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.25, 1.0])
def test_exactly_so_many_labels_change_to_others_that_occur(rate):
    noisy = add_label_noise(LABELS, rate, 0)
    assert (noisy != LABELS).sum() == np.floor(rate * 63 + 0.5)
    assert set(noisy) <= {0, 3, 7}
    assert noisy.dtype == LABELS.dtype


def test_every_other_label_is_as_probable():
    labels = np.zeros(20_000, int)
    labels[:4] = [1, 2, 3, 4]
    noisy = add_label_noise(labels, 0.5, np.random.default_rng(1))
    changed = noisy[4:][noisy[4:] != 0]
    assert chisquare(np.bincount(changed, minlength=5)[1:]).pvalue > 1e-4


def test_every_object_is_as_probable():
    rng = np.random.default_rng(2)
    hit = sum(add_label_noise(LABELS, 0.2, rng) != LABELS for _ in range(2_000))
    share = 13 / 63  # round(0.2 * 63) of 63
    z = (hit - 2_000 * share) / np.sqrt(2_000 * share * (1 - share))
    assert np.abs(z).max() < 4.5


def test_matrices_column_by_column_and_partitions_row_by_row():
    Y = np.stack([LABELS, LABELS[::-1] + 1], axis=1)
    noisy = add_label_noise(Y, 0.2, 0)
    assert (noisy != Y).sum(axis=0).tolist() == [13, 13]
    assert set(noisy[:, 1]) <= {1, 4, 8}
    partitions = Partitions(Y.T)
    spoiled = add_label_noise(partitions, 0.2, 0)
    assert isinstance(spoiled, Partitions)
    assert spoiled.shape == (2, 63)
    assert (np.asarray(spoiled) != np.asarray(partitions)).any(axis=1).all()


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", "b", "", "b", "a", "c"]),
        np.array(["a", 1, None, 1, "a", 2], dtype=object),
        [0, 1, -1, 1, 0, 2],
        np.array([0, 1, np.nan, 1, 0, 2.0]),
    ],
)
def test_missing_labels_stay_missing(labels):
    noisy = add_label_noise(labels, 1.0, 0)
    given = np.asarray(labels) if not isinstance(labels, list) else np.array(labels)
    assert (noisy != given)[[0, 1, 3, 4, 5]].all()
    np.testing.assert_array_equal(noisy[2:3], given[2:3])
    assert noisy.dtype == given.dtype


def test_words_change_as_numbers_do():
    words = np.array(["zero", "one", "two"])
    numbers = np.repeat([0, 1, 2], 20)  # which words are numbered too, by first appearance
    for labels in (words[numbers], words[numbers].tolist(), words[numbers].astype(object)):
        np.testing.assert_array_equal(add_label_noise(labels, 0.4, 7), words[add_label_noise(numbers, 0.4, 7)])


def test_a_single_label_cannot_change():
    with pytest.raises(ValueError, match="Column 1 has a single label"):
        add_label_noise(np.array([[0, 5], [1, 5], [0, 5]]), 0.5, 0)
    np.testing.assert_array_equal(add_label_noise(np.zeros(4, int), 0.0, 0), 0)


@pytest.mark.parametrize(
    ("Y", "gap", "kind"),
    [
        (np.arange(40).reshape(10, 4), -1, "i"),
        (np.arange(40, dtype=np.uint8).reshape(10, 4), -1, "i"),
        (np.arange(40.0).reshape(10, 4), np.nan, "f"),
        (np.arange(40).reshape(10, 4).astype(str), None, "O"),
        (np.ones((10, 4), bool), None, "O"),
        (np.arange(40).reshape(10, 4).tolist(), -1, "i"),
    ],
)
def test_exactly_so_many_entries_are_dropped(Y, gap, kind):
    dropped = drop_labels(Y, 0.3, 0)
    is_gap = np.isnan(dropped) if kind == "f" else dropped == np.array(gap)
    assert is_gap.sum() == 12
    assert dropped.dtype.kind == kind
    np.testing.assert_array_equal(dropped[~is_gap], np.asarray(Y)[~is_gap])


def test_gaps_do_not_count_twice():
    Y = np.where(np.arange(40).reshape(10, 4) < 20, -1, 1)
    assert (drop_labels(Y, 0.5, 0) < 0).sum() == 30


def test_partitions_stay_partitions():
    partitions = Partitions(np.arange(40).reshape(4, 10) % 3)
    dropped = drop_labels(partitions, 0.25, 0)
    assert isinstance(dropped, Partitions)
    assert (np.asarray(dropped) < 0).sum() == 10


@pytest.mark.parametrize("spoil", [add_label_noise, drop_labels])
def test_what_cannot_be_is_refused(spoil):
    for rate in (-0.1, 1.1, None, np.nan):
        with pytest.raises(ValueError, match="rate must be a share"):
            spoil(LABELS, rate, 0)
    with pytest.raises(ValueError, match="n_objects"):
        spoil(np.zeros((2, 2, 2), int), 0.1, 0)
