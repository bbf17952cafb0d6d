"""The numbers of components that EM may choose among, one prior each."""

import numpy as np
import pytest

from partita import Mixture
from partita.engines import EM
from partita.priors import FiniteDirichlet

X = np.random.default_rng(0).normal(np.repeat([0.0, 6.0], 20)[:, None], 1.0, (40, 1))


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ([3, 3, 2], [2, 3]),
        (np.array([3, 1, 3]), [1, 3]),
        (range(1, 4), [1, 2, 3]),
        ((np.int64(4),), [4]),
        (np.int32(4), [4]),
        (np.array(2), [2]),
        (5, [5]),
    ],
    ids=repr,
)
def test_candidates_are_distinct_python_numbers_in_order(given, numbers):
    priors = FiniteDirichlet(n_components=given, concentration=1.5).candidates()
    assert [prior.n_components for prior in priors] == numbers
    assert {type(prior.n_components) for prior in priors} == {int}
    assert {prior.concentration for prior in priors} == {1.5}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "holds no number"),
        ([2, 0], "at least 1; got 0"),
        ([2.0, 3], "integer of at least 1; got 2.0"),
        (np.array([[1, 2]]), "integer of at least 1; got array"),
        (np.array(2.5), "integer of at least 1; got 2.5"),
        ("23", "integer of at least 1; got '23'"),
    ],
    ids=repr,
)
def test_what_is_no_number_of_components_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        FiniteDirichlet(n_components=given).candidates()


def test_an_array_without_axes_is_one_number():
    given, plain = (FiniteDirichlet(n_components=number, concentration=1.0) for number in (np.array(2), 2))
    assert given.log_probability([0, 0, 1]) == plain.log_probability([0, 0, 1])
    assert given.expected_clusters(10) == plain.expected_clusters(10)
    np.testing.assert_array_equal(given.sample_partition(9, 1), plain.sample_partition(9, 1))
    np.testing.assert_array_equal(given.cluster_count_distribution(9), plain.cluster_count_distribution(9))


def test_what_was_selected_among_is_told_by_python_numbers():
    found = Mixture(prior=FiniteDirichlet(n_components=np.array([3, 2, 3])), engine=EM(select="bic"), random_state=0)
    assert [(number, type(number)) for number in found.fit(X).selection_] == [(2, int), (3, int)]
