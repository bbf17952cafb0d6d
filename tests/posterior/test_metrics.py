"""Variation of information and entropy against scikit-learn's mutual information and closed forms."""

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from partita.metrics import partition_entropy, variation_of_information


@pytest.mark.parametrize("seed", range(10))
def test_variation_of_information_is_entropies_less_twice_the_mutual_information(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 5, size=(2, 40))
    expected = mutual_info_score(a, a) + mutual_info_score(b, b) - 2 * mutual_info_score(a, b)
    assert variation_of_information(a, b) == pytest.approx(expected, abs=1e-12)
    assert variation_of_information(a, b) == pytest.approx(variation_of_information(b, a), abs=1e-12)
    assert partition_entropy(a) == pytest.approx(mutual_info_score(a, a), abs=1e-12)


def test_closed_forms():
    n = 12
    assert variation_of_information(np.zeros(n), np.arange(n)) == pytest.approx(np.log(n))
    assert variation_of_information([0, 0, 1, 1], [5, 5, 2, 2]) == 0.0
    assert variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(2 * np.log(2))
    assert partition_entropy([3, 3, 8, 8]) == pytest.approx(np.log(2))
    assert partition_entropy(np.ones(5, int)) == 0.0


def test_unlabelled_objects_are_dropped_pairwise():
    a, b = np.array([0, 0, 1, 1, -1, 2]), np.array([0, 1, 1, -1, 0, 0])
    both = [0, 1, 2, 5]
    assert variation_of_information(a, b) == pytest.approx(variation_of_information(a[both], b[both]))
    assert partition_entropy(a) == pytest.approx(partition_entropy(a[a >= 0]))
    assert variation_of_information([-1, 0], [0, -1]) == 0.0
    assert partition_entropy([-1, -1]) == 0.0


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="2 and 3 objects"):
        variation_of_information([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="one dimension"):
        partition_entropy([[0, 1]])
