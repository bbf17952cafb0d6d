"""Co-association by definition and by hand, its thinned form, and what equal sizes do to unequal groups."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score
from tests.consensus.ensembles import needs_metis, noisy_copies

from partita.consensus import CSPA, add_label_noise, cspa, drop_labels
from partita.consensus.cspa import coassociation_graph, thinned_graph
from partita.consensus.ensemble import Ensemble

TEN = np.array(
    [
        [0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
        [0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
        [0, 0, 1, 1, 1, 2, 2, 2, 2, 2],
    ]
).T
SOLVERS = pytest.mark.parametrize("solver", [pytest.param("metis", marks=needs_metis), "spectral"])


def dense(graph):
    n = len(graph.starts) - 1
    return csr_array((graph.weights, graph.neighbours, graph.starts), shape=(n, n)).toarray()


def row_of(ensemble, *labels):
    return int(np.flatnonzero((ensemble.codes == labels).all(axis=1))[0])


def test_the_graph_of_ten_objects_by_hand():
    """Kinds {0, 1}, {2, 3}, {4} and {5 .. 9}; together in 2, 1 and 0 of 3, in 2 and 0, and in 1."""
    ensemble = Ensemble(TEN)
    order = [row_of(ensemble, *kind) for kind in ([0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 2])]
    assert ensemble.weights[order].tolist() == [2, 2, 1, 5]
    by_hand = np.array(
        [
            [0, 2 * 4, 1 * 2, 0],
            [2 * 4, 0, 2 * 2, 0],
            [1 * 2, 2 * 2, 0, 1 * 5],
            [0, 0, 1 * 5, 0],
        ]
    )
    np.testing.assert_array_equal(dense(coassociation_graph(ensemble))[np.ix_(order, order)], by_hand)


def by_definition(Y, ensemble):
    """Base clusterings that put two objects together, added up over the objects of two kinds."""
    found = np.zeros((ensemble.n_kinds,) * 2)
    for i, one in enumerate(ensemble.kinds):
        for j, other in enumerate(ensemble.kinds):
            if one != other:
                found[one, other] += np.count_nonzero((Y[i] == Y[j]) & (Y[i] >= 0))
    return found


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_the_graph_is_coassociation_by_definition(missing, monkeypatch):
    rng = np.random.default_rng(0)
    Y = drop_labels(np.repeat(rng.integers(0, [2, 3, 7], size=(20, 3)), 2, axis=0), missing, rng)
    Y = Y[(Y >= 0).any(axis=1)]
    ensemble = Ensemble(Y)
    theirs = by_definition(Y, ensemble)
    assert ensemble.weights.max() > 1
    np.testing.assert_array_equal(dense(coassociation_graph(ensemble)), theirs)
    monkeypatch.setattr(cspa, "MOST_CELLS", 2 * np.count_nonzero(theirs))
    np.testing.assert_array_equal(dense(coassociation_graph(ensemble)), theirs)  # by lists
    monkeypatch.setattr(cspa, "MOST_CELLS", 2 * np.count_nonzero(theirs) - 1)
    assert coassociation_graph(ensemble) is None


def test_pairs_that_would_take_too_long_to_count_are_too_many(monkeypatch):
    ensemble = Ensemble(TEN)
    monkeypatch.setattr(cspa, "MOST_CELLS", 20)
    assert dense(coassociation_graph(ensemble)).any()
    monkeypatch.setattr(cspa, "MOST_STEPS", 3)
    assert coassociation_graph(ensemble) is None


def test_the_thinned_graph_has_heavy_edges_of_the_whole_one(monkeypatch):
    Y, _ = noisy_copies(300, 3, 12, rate=0.4)
    ensemble = Ensemble(Y)
    whole = dense(coassociation_graph(ensemble))
    thin = dense(thinned_graph(ensemble, np.random.default_rng(0)))
    kept = thin > 0
    np.testing.assert_array_equal(thin[kept], whole[kept])
    np.testing.assert_array_equal(thin, thin.T)
    assert kept.sum(axis=1).min() >= cspa.NEAREST
    alike = whole / np.outer(ensemble.weights, ensemble.weights)
    assert alike[kept].mean() > alike[~kept].mean() + 2
    monkeypatch.setattr(cspa, "NEAREST", 1000)
    monkeypatch.setattr(cspa, "DRAWN", 12 * 300)
    np.testing.assert_array_equal(dense(thinned_graph(ensemble, np.random.default_rng(0))), whole)


@needs_metis
def test_too_many_objects_are_thinned_with_a_warning(monkeypatch):
    truth = np.random.default_rng(0).integers(5, size=1200)
    Y = np.stack([add_label_noise(truth, 0.4, np.random.default_rng(m)) for m in range(12)], axis=1)
    monkeypatch.setattr(cspa, "MOST_CELLS", 4 * 20 * 1200)
    with pytest.warns(UserWarning, match="different objects has more than 48,000 non-zeros.*solver='spectral' and"):
        thinned = CSPA(n_clusters=5, random_state=0).fit(Y)
    assert adjusted_rand_score(truth, thinned.labels_) > 0.9
    monkeypatch.setattr(cspa, "MOST_CELLS", 4 * 20 * 1000)
    with (
        pytest.warns(UserWarning, match="METIS cuts the graph of 20 near ones"),
        pytest.raises(ValueError, match=r"Even 20 neighbours of each of 1,\d+ different objects.*BipartiteCut"),
    ):
        CSPA(n_clusters=5).fit(Y)


def unequal_groups():
    """Groups of 180 and 20 objects, in ten base clusterings that split each of them in three and err in a tenth."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [180, 20])
    split = 3 * truth[:, None] + rng.integers(3, size=(200, 10))
    return np.where(rng.random((200, 10)) < 0.1, rng.integers(6, size=(200, 10)), split), truth


@needs_metis
def test_groups_of_unequal_sizes_are_cut_at_equal_ones():
    """The small group is found by no METIS cut at 5 %, better with a larger imbalance, and by the spectrum."""
    Y, truth = unequal_groups()
    equal = CSPA(n_clusters=2, random_state=0).fit(Y).labels_
    assert np.bincount(equal).max() <= 105
    assert adjusted_rand_score(truth, equal) < 0.1
    larger = CSPA(n_clusters=2, imbalance=0.8, random_state=0).fit(Y).labels_
    assert 170 <= np.bincount(larger).max() <= 180
    assert adjusted_rand_score(truth, larger) > 0.3
    spectral = CSPA(n_clusters=2, solver="spectral", random_state=0).fit(Y).labels_
    assert adjusted_rand_score(truth, spectral) > 0.9


@needs_metis
def test_equal_objects_are_not_parted_for_equal_sizes():
    Y = np.repeat([[0, 0], [1, 1], [1, 2]], [8, 1, 1], axis=0)
    assert CSPA(n_clusters=2, random_state=0).fit(Y).labels_.tolist() == [0] * 8 + [1] * 2


@SOLVERS
def test_parts_that_nothing_joins_are_kept_apart_or_joined_with_a_warning(solver):
    Y = np.repeat([[0, 0], [0, 1], [1, 2], [1, 3], [2, 4], [2, 5]], 5, axis=0)
    found = CSPA(n_clusters=3, solver=solver, random_state=0).fit(Y).labels_
    assert adjusted_rand_score(Y[:, 0], found) == 1.0
    with pytest.warns(UserWarning, match="n_clusters=2 merges parts .* n_clusters=3 may keep"):
        assert CSPA(n_clusters=2, solver=solver, random_state=0).fit(Y).n_clusters_ == 2
