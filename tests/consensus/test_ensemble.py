"""Kinds of objects, how many there are of each, and their indicators, against the matrix that came in."""

import numpy as np
import pytest
from tests.consensus.ensembles import GOLDEN

from partita.consensus.ensemble import Ensemble

REPEATED = np.vstack([GOLDEN, GOLDEN[:2], GOLDEN[1:2], np.full((2, 3), -1)])


def test_kinds_are_the_different_rows_and_weights_how_often_they_are_there():
    ensemble = Ensemble(REPEATED)
    assert (ensemble.n_kinds, ensemble.n_members) == (6, 3)
    np.testing.assert_array_equal(ensemble.kinds < 0, [False] * 9 + [True] * 2)
    np.testing.assert_array_equal(ensemble.codes[ensemble.kinds[:9]], REPEATED[:9])
    assert np.unique(ensemble.codes, axis=0).shape == (6, 3)
    np.testing.assert_array_equal(ensemble.weights[ensemble.kinds[:9]], [2, 3, 1, 1, 1, 1, 2, 3, 3])


def test_indicators_are_ones_at_the_labels_of_every_kind():
    ensemble = Ensemble(REPEATED)
    assert ensemble.offsets.tolist() == [0, 2, 5, 7]
    dense = [[codes[m] == label for m in range(3) for label in range(ensemble.n_labels[m])] for codes in ensemble.codes]
    np.testing.assert_array_equal(ensemble.indicators.toarray(), dense)


def test_labels_that_nobody_has_are_empty_columns():
    ensemble = Ensemble(GOLDEN, np.array([3, 3, 4]))
    assert ensemble.indicators.shape == (6, 10)
    np.testing.assert_array_equal(np.flatnonzero(ensemble.indicators.sum(axis=0) == 0), [2, 8, 9])


def test_a_member_without_any_label_has_no_columns():
    ensemble = Ensemble(np.array([[0, -1, 1], [1, -1, 0]]))
    assert ensemble.n_labels.tolist() == [2, 0, 2]
    np.testing.assert_array_equal(ensemble.indicators.sum(axis=1), [2, 2])


def test_positions_are_places_among_the_labels_of_all_columns():
    """A label that is the only one of its column says nothing."""
    ensemble = Ensemble(np.array([[0, 2, 0], [1, -1, 0]]), np.array([2, 3, 1]))
    assert sorted(ensemble.positions.tolist()) == [[0, 4, -1], [1, -1, -1]]


def test_parts_are_what_no_base_clustering_joins():
    Y = np.array([[0, 0], [0, 1], [1, 1], [2, 2], [3, 2], [4, -1]])
    assert [Ensemble(own).n_parts for own in (Y, Y[:3], Y[3:], Y[:1])] == [3, 1, 2, 1]


@pytest.mark.parametrize("otherwise", [-1, 0])
def test_what_is_known_of_kinds_is_told_of_every_object(otherwise):
    ensemble = Ensemble(REPEATED)
    of_kinds = 10 * np.arange(6)
    told = ensemble.of_objects(of_kinds, otherwise)
    np.testing.assert_array_equal(told[:9], 10 * ensemble.kinds[:9])
    np.testing.assert_array_equal(told[9:], [otherwise] * 2)
