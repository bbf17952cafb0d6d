"""The enumeration itself: the right number of partitions, each once."""

import numpy as np
import pytest
from tests.oracles.partitions import BELL, canonical, counts_agree, labelled_states, set_partitions


@pytest.mark.parametrize("n", range(9))
def test_enumeration_has_bell_many_distinct_canonical_partitions(n):
    partitions = list(set_partitions(n))
    assert len(set(partitions)) == len(partitions) == BELL[n]
    assert all(canonical(labels) == labels for labels in partitions)


def test_labelled_states_cover_all_partitions():
    assert {canonical(labels) for labels in labelled_states(4, 4)} == set(set_partitions(4))


def test_counts_agree_with_the_truth_and_not_with_a_near_miss():
    truth = np.array([0.5, 0.3, 0.2])
    near = np.array([0.53, 0.28, 0.19])
    counts = np.random.default_rng(0).multinomial(10_000, truth)
    assert counts_agree(counts, truth)
    assert not counts_agree(counts, near)
    assert not counts_agree(np.array([10, 1]), np.array([1.0, 0.0]))
