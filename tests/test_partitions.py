"""Partitions: canonical labels, the array protocol, and atoms against a slow exact grouping."""

import pickle

import numpy as np
import pytest

from partita import partitions as module
from partita.partitions import Partitions, by_size, canonical, canonicalize_rows


def slow_canonical(labels):
    seen = {}
    return [-1 if x == -1 else seen.setdefault(x, len(seen)) for x in map(int, labels)]


def slow_atoms(matrix):
    columns = [tuple(column) for column in np.asarray(matrix).T]
    first = {column: columns.index(column) for column in columns}
    order = sorted(first.values())
    inverse = [order.index(first[column]) for column in columns]
    return order, inverse, [inverse.count(a) for a in range(len(order))]


@pytest.mark.parametrize(
    ("high", "dtype"),
    [(3, np.int8), (40, np.int32), (10**9, np.int32), (10**15, np.int64), (40, np.uint64)],
)
def test_canonical_labels_number_clusters_by_first_appearance(high, dtype):
    rng = np.random.default_rng(1)
    matrix = rng.integers(0 if dtype is np.uint64 else -1, high, size=(7, 30)).astype(dtype)
    expected = [slow_canonical(row) for row in matrix]
    np.testing.assert_array_equal(canonicalize_rows(matrix), expected)
    np.testing.assert_array_equal(canonical(matrix[3]), expected[3])
    assert canonical(matrix[3]).dtype == np.int64


@pytest.mark.parametrize(
    ("n_clusters", "dtype"), [(128, np.int8), (129, np.int16), (32_768, np.int16), (32_769, np.int32)]
)
def test_labels_take_the_smallest_signed_type(n_clusters, dtype):
    labels = Partitions([np.arange(n_clusters)[::-1], np.zeros(n_clusters, int)])
    assert np.asarray(labels).dtype == dtype
    np.testing.assert_array_equal(labels.flat[0], np.arange(n_clusters))
    np.testing.assert_array_equal(labels.n_clusters(), [n_clusters, 1])


def test_blocks_do_not_change_labels_or_atoms(monkeypatch):
    matrix = np.random.default_rng(2).integers(-1, 200, size=(23, 400))
    whole, atoms = canonicalize_rows(matrix), Partitions(matrix).atoms()
    monkeypatch.setattr(module, "_BLOCK", 900)
    np.testing.assert_array_equal(canonicalize_rows(matrix), whole)
    for here, there in zip(Partitions(matrix).atoms(), atoms):
        np.testing.assert_array_equal(here, there)


def test_array_protocol():
    labels = Partitions(np.arange(24).reshape(2, 3, 4) // 2)
    assert labels.shape == (2, 3, 4)
    assert len(labels) == 2
    assert labels.n_objects == 4
    assert labels.flat.shape == (6, 4)
    assert np.shares_memory(labels.flat, np.asarray(labels))
    assert not np.asarray(labels).flags.writeable
    assert np.asarray(labels, dtype=np.int64).dtype == np.int64
    assert np.array(labels).flags.writeable
    assert np.asarray(Partitions(labels)).base is np.asarray(labels).base
    assert "shape=(2, 3, 4)" in repr(labels)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(labels)), labels)
    with pytest.raises(ValueError, match="needs a copy"):
        labels.__array__(np.float64, copy=False)


def test_input_is_not_changed():
    matrix = np.array([[5, 5, 2], [-1, 9, 9]])
    before = matrix.copy()
    Partitions(matrix)
    canonical(matrix[0])
    by_size(matrix[1])
    np.testing.assert_array_equal(matrix, before)


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        ([[0.5, 1.0]], TypeError, "integers"),
        ([0, 1], ValueError, "shape"),
        (np.zeros((0, 3), int), ValueError, "shape"),
        ([[0, -2]], ValueError, "-1 for not labelled; got -2"),
        ([["a", "b"]], TypeError, "integers"),
    ],
)
def test_bad_labels_are_refused(labels, error, words):
    with pytest.raises(error, match=words):
        Partitions(labels)


def test_by_size_orders_clusters_and_breaks_ties_by_first_object():
    np.testing.assert_array_equal(by_size([7, 3, 3, 9, 9, 9, -1, 1]), [2, 1, 1, 0, 0, 0, -1, 3])
    np.testing.assert_array_equal(by_size([4, 2, 4, 2]), [0, 1, 0, 1])
    np.testing.assert_array_equal(by_size([-1, -1]), [-1, -1])
    assert by_size(np.array([1, 0], np.int8)).dtype == np.int64


def few_columns(seed):
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 4, size=(5, 9))[:, rng.integers(0, 9, size=60)]


@pytest.mark.parametrize("seed", range(5))
def test_atoms_are_the_distinct_columns(seed):
    labels = Partitions(few_columns(seed))
    for here, there in zip(labels.atoms(), slow_atoms(labels)):
        np.testing.assert_array_equal(here, there)
    representatives, inverse, _ = labels.atoms()
    np.testing.assert_array_equal(labels.flat[:, representatives][:, inverse], labels.flat)
    np.testing.assert_array_equal(labels.atom_labels(), labels.flat[:, representatives])
    assert labels.atom_labels().flags.c_contiguous


@pytest.mark.parametrize("n_buckets", [1, 2])
def test_hash_collisions_never_merge_different_columns(monkeypatch, n_buckets):
    labels = Partitions(few_columns(11))
    collide = np.arange(60, dtype=np.uint64) % n_buckets if n_buckets > 1 else np.zeros(60, np.uint64)
    merged_well = slow_atoms(labels)
    monkeypatch.setattr(module, "_column_hashes", lambda matrix: collide)
    representatives, inverse, counts = labels.atoms()
    np.testing.assert_array_equal(labels.flat[:, representatives][:, inverse], labels.flat)
    assert counts.sum() == 60
    if n_buckets == 1:
        np.testing.assert_array_equal(inverse, merged_well[1])


def test_labels_beyond_int64_are_no_negative_ones():
    for labels in ([[2**64 - 1, 0]], [[2**63, 0]]):
        with pytest.raises(ValueError, match=r"Labels must be below 2\*\*63"):
            Partitions(np.array(labels, dtype=np.uint64))
    np.testing.assert_array_equal(Partitions(np.array([[2**63 - 1, 0]], dtype=np.uint64)), [[0, 1]])
