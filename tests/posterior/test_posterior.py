"""The Posterior object: shapes, weights, traces, counts of clusters and interchange."""

import pickle
import sys

import numpy as np
import pytest

from partita.metrics import partition_entropy
from partita.partitions import Partitions
from partita.posterior import Posterior


@pytest.fixture
def labels():
    return np.random.default_rng(1).integers(0, 4, size=(3, 5, 8))


def test_shapes(labels):
    posterior = Posterior(labels)
    assert np.asarray(posterior.partitions).shape == (3, 5, 8)
    assert np.issubdtype(np.asarray(posterior.partitions).dtype, np.integer)
    assert posterior.draws.shape == (15, 8)
    assert (posterior.n_chains, posterior.n_draws, posterior.n_objects) == (3, 15, 8)
    np.testing.assert_array_equal(posterior.draws[5], Partitions(labels).flat[5])
    assert Posterior(labels[0]).partitions.shape == (1, 5, 8)
    assert Posterior(Partitions(labels[0])).n_chains == 1
    assert repr(posterior).startswith("Posterior(3 chains x 5 draws of 8 objects; most probable: ")


def test_weights_sum_to_one(labels):
    given = np.arange(15.0)
    np.testing.assert_allclose(Posterior(labels, weights=given).weights, given / 105)
    np.testing.assert_allclose(Posterior(labels).weights, np.full(15, 1 / 15))


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(14), r"shape \(15,\); got \(14,\)"),
        (np.r_[-1.0, np.ones(14)], "non-negative"),
        (np.r_[np.nan, np.ones(14)], "finite"),
        (np.zeros(15), "all 0"),
    ],
)
def test_bad_weights_are_refused(labels, weights, words):
    with pytest.raises(ValueError, match=words):
        Posterior(labels, weights=weights)


def test_n_clusters_are_probabilities_by_k():
    draws = [[0, 0, 0], [0, 1, 2], [0, 1, 1], [5, 5, 9], [0, -1, -1]]
    found = Posterior(draws, weights=[1, 2, 3, 4, 0]).n_clusters()
    assert list(found) == [1, 2, 3]
    assert found == pytest.approx({1: 0.1, 2: 0.7, 3: 0.2})
    assert all(type(k) is int and type(p) is float for k, p in found.items())


def test_traces_are_computed_where_none_are_given(labels):
    posterior = Posterior(labels)
    expected = [[partition_entropy(draw) for draw in chain] for chain in labels]
    np.testing.assert_allclose(posterior.traces["entropy"], expected, atol=1e-12)
    np.testing.assert_array_equal(
        posterior.traces["n_clusters"], [[len(set(draw)) for draw in chain] for chain in labels]
    )
    given = Posterior(labels, traces={"log_joint": np.zeros((3, 5))})
    assert list(given.traces) == ["log_joint"]
    assert given.diagnostics().converged is False
    with pytest.raises(ValueError, match=r"Trace 'log_joint' .* \(15,\)"):
        Posterior(labels, traces={"log_joint": np.zeros(15)})


def test_provenance_must_be_jsonable(labels):
    with pytest.raises(TypeError, match="provenance must hold only what JSON can hold"):
        Posterior(labels, provenance={"model": object()})


def test_pickle(labels):
    posterior = Posterior(labels, provenance={"seed": 1})
    again = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(again.partitions, posterior.partitions)
    assert again.provenance == {"seed": 1}
    np.testing.assert_array_equal(again.estimate().labels, posterior.estimate().labels)


def test_to_arviz(labels):
    tree = Posterior(labels).to_arviz()
    group = tree["posterior"]
    assert group["partition"].dims == ("chain", "draw", "object")
    assert group["partition"].shape == (3, 5, 8)
    assert group["n_clusters"].dims == group["entropy"].dims == ("chain", "draw")
    np.testing.assert_array_equal(group["partition"].values, Partitions(labels))


def test_to_arviz_without_arviz_names_the_remedy(labels, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    with pytest.raises(ImportError, match=r"pip install 'partita\[arviz\]'"):
        Posterior(labels).to_arviz()
