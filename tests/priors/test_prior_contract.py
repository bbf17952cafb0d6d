"""What every registered prior must satisfy, by enumeration of all partitions of a few rows."""

from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from tests.oracles.partitions import canonical, counts_agree, partition_probabilities, set_partitions
from tests.volumes import long, mostly_long

from partita.priors import PRIORS, FiniteDirichlet, Gamma

EXAMPLES = [prior for kind in PRIORS.values() for prior in kind.examples()]
WITH_ROOM = [prior for prior in EXAMPLES if getattr(prior, "n_components", 9) > 1]
every_prior = pytest.mark.parametrize("prior", EXAMPLES, ids=repr)


def test_registry_names_five_priors_and_each_has_fixed_and_learned_examples():
    assert set(PRIORS) >= {
        "dirichlet-process",
        "pitman-yor",
        "finite-mixtures",
        "finite-dirichlet",
        "stick-breaking",
    }
    for name, kind in PRIORS.items():
        assert kind.name == name
        assert {example.learns_concentration for example in kind.examples()} == {True, False}


@mostly_long
@every_prior
@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_probabilities_sum_to_one_and_give_the_expected_number_of_clusters(prior, n):
    p = partition_probabilities(prior, n)
    n_clusters = np.array([max(labels) + 1 for labels in set_partitions(n)])
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    assert prior.expected_clusters(n) == pytest.approx(p @ n_clusters, abs=1e-9)


def test_the_sum_sees_the_printed_finite_dirichlet():
    class Misprinted(FiniteDirichlet):
        def shift(self, concentration):
            return concentration

    assert abs(partition_probabilities(Misprinted(n_components=4, concentration=1.3), 5).sum() - 1) > 0.1


@mostly_long
@every_prior
@pytest.mark.parametrize("n", [4, *(pytest.param(n, marks=long) for n in (2, 3, 5, 6))])
def test_sampled_partitions_have_their_probabilities(prior, n):
    rng = np.random.default_rng(20240501)
    partitions = list(set_partitions(n))
    seen = Counter(tuple(prior.sample_partition(n, rng).tolist()) for _ in range(4000))
    assert set(seen) <= set(partitions)
    assert counts_agree([seen[labels] for labels in partitions], partition_probabilities(prior, n))


@every_prior
def test_samples_are_canonical_int64_and_repeatable(prior):
    labels = prior.sample_partition(200, 7)
    assert labels.dtype == np.int64
    assert labels.shape == (200,)
    assert canonical(tuple(labels)) == tuple(labels)
    np.testing.assert_array_equal(labels, prior.sample_partition(200, np.random.default_rng(7)))
    assert prior.sample_partition(0, 7).shape == (0,)


@every_prior
def test_names_of_labels_and_order_of_rows_do_not_matter(prior):
    labels = np.array([0, 0, 1, 0, 0, 0])
    renamed = np.array([-7, -7, -7, 40, -7, -7], dtype=np.int32)
    assert prior.log_probability(labels) == pytest.approx(prior.log_probability(renamed), rel=1e-12)


@pytest.mark.parametrize("prior", WITH_ROOM, ids=repr)
@pytest.mark.parametrize(("k", "n"), [(1.3, 4), (1.7, 50), (1.9, 10**6)])
def test_from_expected_clusters_round_trip(prior, k, n):
    solved = {"concentration"} if prior.name != "finite-mixtures" else {"mean_components"}
    others = {name: value for name, value in prior.get_params(deep=False).items() if name not in solved}
    if isinstance(others.get("concentration"), Gamma) or others.get("concentration", 1) is None:
        others["concentration"] = 0.8
    found = type(prior).from_expected_clusters(k, n, **others)
    assert found.expected_clusters(n) == pytest.approx(k, rel=1e-9)


@every_prior
def test_priors_are_parameter_objects(prior):
    twin = clone(prior)
    assert twin is not prior
    assert twin == prior
    twin.set_params(concentration=123.0)
    assert twin != prior


@every_prior
def test_fixed_concentration_is_left_alone_and_a_learned_one_starts_at_its_mean(prior):
    start = prior.initial_concentration()
    sizes = np.zeros(getattr(prior, "n_components", 1), dtype=np.int64)
    sizes[0] = 5
    updated = prior.update(np.random.default_rng(1), sizes, start)
    if prior.learns_concentration:
        assert start == pytest.approx(prior.hyperprior.shape / prior.hyperprior.rate)
        assert updated != start
        assert updated > 0
    else:
        assert updated == start == prior.concentration
