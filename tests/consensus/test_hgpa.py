"""Hyperedges by hand, the cut that they have, and where it says nothing."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.consensus.ensembles import needs_mtkahypar, noisy_copies

from partita.consensus import HGPA, BipartiteCut, hgpa
from partita.consensus.ensemble import Ensemble
from partita.consensus.graph_cuts import cut_hypergraph

TEN = np.array(
    [
        [0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
        [0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
        [0, 0, 1, 1, 1, 2, 2, -1, 2, 2],
    ]
).T
HYPEREDGES = [
    [0, 1, 2, 3, 4],
    [5, 6, 7, 8, 9],
    [0, 1, 2, 3],
    [4, 5, 6, 7, 8, 9],
    [0, 1],
    [2, 3, 4],
    [5, 6, 8, 9],
]


@needs_mtkahypar
def test_hyperedges_of_ten_objects_by_hand(monkeypatch):
    """What the cut is told, as sets of objects, and that only {4 .. 9} is cut."""
    told = []

    def cut(hyperedges, *rest):
        told.append((hyperedges, *rest))
        return cut_hypergraph(hyperedges, *rest)

    monkeypatch.setattr(hgpa, "cut_hypergraph", cut)
    ensemble = Ensemble(TEN)
    labels = ensemble.of_objects(HGPA(n_clusters=2)._partition(ensemble, 2, np.random.default_rng(0)))
    assert adjusted_rand_score(np.repeat([0, 1], 5), labels) == 1.0
    assert sum(np.unique(labels[edge]).size > 1 for edge in HYPEREDGES) == 1
    [(hyperedges, weights, n_parts, imbalance)] = told
    assert (n_parts, imbalance) == (2, 0.05)
    assert weights.tolist() == np.bincount(ensemble.kinds).tolist()
    members = [np.flatnonzero(row[ensemble.kinds]).tolist() for row in hyperedges.toarray()]
    assert members == HYPEREDGES
    np.testing.assert_array_equal(HGPA(n_clusters=2).fit(TEN).labels_, np.repeat([0, 1], 5))


@needs_mtkahypar
def test_noisy_labels_leave_nothing_to_choose_by():
    """Every hyperedge has objects everywhere: the spectrum still finds the groups, the cut does not."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 50)
    Y = np.where(rng.random((150, 10)) < 0.3, rng.integers(3, size=(150, 10)), truth[:, None])
    cut = HGPA(n_clusters=3).fit(Y).labels_
    n_cut = sum(np.unique(cut[column == label]).size > 1 for column in Y.T for label in range(3))
    assert n_cut >= 28  # of 30
    assert adjusted_rand_score(truth, cut) < 0.6
    spectral = HGPA(n_clusters=3, solver="spectral", random_state=0).fit(Y).labels_
    assert adjusted_rand_score(truth, spectral) > 0.9


def test_the_spectral_cut_is_that_of_objects_and_clusters():
    Y, _ = noisy_copies(rate=0.4)
    one = HGPA(n_clusters=3, solver="spectral", random_state=0).fit(Y).labels_
    np.testing.assert_array_equal(one, BipartiteCut(n_clusters=3, random_state=0).fit(Y).labels_)


def nested_copies(sizes):
    """Groups, in three base clusterings that know them and three that split each of them at another place."""
    truth = np.repeat(np.arange(len(sizes)), sizes)
    place = np.concatenate([np.arange(size) / size for size in sizes])
    Y = np.stack([truth] * 3 + [2 * truth + (place < share) for share in (0.3, 0.5, 0.7)], axis=1)
    return Y, truth


@needs_mtkahypar
def test_a_kind_of_many_objects_leaves_the_others_balanced():
    """200 equal objects, and two groups of 40 with a few wrong labels."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [200, 40, 40])
    wrong = (rng.random((280, 6)) < 0.02) & (truth > 0)[:, None]
    labels = HGPA(n_clusters=3).fit(np.where(wrong, rng.integers(3, size=(280, 6)), truth[:, None])).labels_
    assert np.bincount(labels)[1:].min() >= 35
    assert adjusted_rand_score(truth, labels) > 0.8


@needs_mtkahypar
def test_groups_of_180_and_20_are_cut_in_half():
    """Two clear groups, each split in three by ten base clusterings."""
    truth = np.repeat([0, 1], [180, 20])
    Y = 3 * truth[:, None] + np.random.default_rng(0).integers(3, size=(200, 10))
    assert np.bincount(HGPA(n_clusters=2).fit(Y).labels_).max() <= 105
    spectral = HGPA(n_clusters=2, solver="spectral", random_state=0).fit(Y).labels_
    assert adjusted_rand_score(truth, spectral) == 1.0


@needs_mtkahypar
def test_groups_of_unequal_sizes_are_cut_at_equal_ones():
    Y, truth = nested_copies([40, 80])
    equal = HGPA(n_clusters=2).fit(Y).labels_
    assert np.bincount(equal).max() <= 63
    assert adjusted_rand_score(truth, equal) < 0.8
    for options in ({"imbalance": 0.34}, {"solver": "spectral", "random_state": 0}):
        assert adjusted_rand_score(truth, HGPA(n_clusters=2, **options).fit(Y).labels_) == 1.0


@needs_mtkahypar
@pytest.mark.parametrize("random_state", [0, 1, None])
def test_nothing_is_drawn_at_random(random_state):
    Y, _ = noisy_copies(rate=0.4)
    plain = HGPA(n_clusters=3).fit(Y).labels_
    np.testing.assert_array_equal(plain, HGPA(n_clusters=3, random_state=random_state).fit(Y).labels_)
