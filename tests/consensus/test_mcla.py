"""Jaccard and associations by hand and by definition, and meta-clusters."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array
from sklearn.metrics import adjusted_rand_score
from tests.consensus.ensembles import needs_metis, noisy_copies

from partita.consensus import MCLA, add_label_noise, drop_labels, mcla
from partita.consensus.ensemble import Ensemble
from partita.consensus.indicator_embedding import embed, spectral_cut
from partita.consensus.mcla import jaccard, winners

TEN = np.array(
    [
        [0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
        [0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
        [0, 0, 1, 1, 1, 2, 2, 2, 2, 2],
    ]
).T


def test_the_meta_graph_of_ten_objects_by_hand():
    """Clusters {0..4}, {5..9}; {0..3}, {4..9}; {0, 1}, {2, 3, 4}, {5..9}."""
    by_hand = np.array(
        [
            [0, 0, 4 / 5, 1 / 10, 2 / 5, 3 / 5, 0],
            [0, 0, 0, 5 / 6, 0, 0, 1],
            [4 / 5, 0, 0, 0, 2 / 4, 2 / 5, 0],
            [1 / 10, 5 / 6, 0, 0, 0, 1 / 8, 5 / 6],
            [2 / 5, 0, 2 / 4, 0, 0, 0, 0],
            [3 / 5, 0, 2 / 5, 1 / 8, 0, 0, 0],
            [0, 1, 0, 5 / 6, 0, 0, 0],
        ]
    )
    np.testing.assert_allclose(jaccard(Ensemble(TEN)).toarray(), by_hand, atol=1e-15)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_jaccard_by_definition_over_objects_with_both_labels(missing):
    rng = np.random.default_rng(0)
    Y = drop_labels(np.repeat(rng.integers(0, [2, 3, 4], size=(15, 3)), 3, axis=0), missing, rng)
    clusters = [(m, label) for m, n_labels in enumerate([2, 3, 4]) for label in range(n_labels)]
    theirs = np.zeros((9, 9))
    for a, (m, one) in enumerate(clusters):
        for b, (other, label) in enumerate(clusters):
            if a != b:
                both = (Y[:, m] >= 0) & (Y[:, other] >= 0)
                A, B = both & (Y[:, m] == one), both & (Y[:, other] == label)
                theirs[a, b] = (A & B).sum() / max(1, (A | B).sum())
    np.testing.assert_allclose(jaccard(Ensemble(Y, np.array([2, 3, 4]))).toarray(), theirs, atol=1e-15)


def test_the_spectral_cut_is_that_of_the_meta_graph(monkeypatch):
    """What is embedded, against the eigenvectors of the normalised graph; a vertex without edges is a part."""
    Y, _ = noisy_copies(60, 3, 5, rate=0.2)
    graph = jaccard(Ensemble(Y))
    told = []

    def cut(*arguments):
        told.append(arguments)
        return spectral_cut(*arguments)

    monkeypatch.setattr(mcla, "spectral_cut", cut)
    mcla._spectral(graph, 3, np.random.default_rng(0))
    [(incidence, ones, n_meta, _, weights)] = told
    roots = np.sqrt(graph.sum(axis=1))
    vectors = np.linalg.eigh(graph.toarray() / np.outer(roots, roots))[1][:, :-4:-1]
    found = embed(incidence, ones, n_meta, weights)
    np.testing.assert_allclose(np.abs(found.T @ vectors), np.eye(3), atol=1e-9)
    apart = block_diag([graph, csr_array((1, 1))], format="csr")
    labels = mcla._spectral(apart, 2, np.random.default_rng(0))
    assert np.bincount(labels).tolist() == [graph.shape[0], 1]


def test_objects_go_where_their_association_is_highest(monkeypatch):
    """Meta-clusters {0..4}, {0..3}, {0, 1}, {2, 3, 4} and the others: object 4 is in 2 of 4 and in 1 of 3."""
    ensemble = Ensemble(TEN)
    meta = np.array([0, 1, 0, 1, 0, 0, 1])
    assert ensemble.of_objects(winners(ensemble, meta)).tolist() == [0] * 5 + [1] * 5
    monkeypatch.setattr(mcla, "BLOCK", 4)
    assert ensemble.of_objects(winners(ensemble, meta)).tolist() == [0] * 5 + [1] * 5


def test_of_equal_associations_the_first_counts_and_gaps_do_not():
    ensemble = Ensemble(np.array([[0, 0, 1], [0, 1, 1], [0, -1, -1], [-1, 1, -1]]))
    meta = np.array([0, 0, 1, -1, 1])  # {0, 1, 2} and {0}; {1, 3} and {0, 1}
    order = [int(np.flatnonzero((ensemble.codes == kind).all(axis=1))[0]) for kind in ensemble.codes]
    assert order == list(range(4))
    by_hand = {(0, 0, 1): 0, (0, 1, 1): 1, (0, -1, -1): 0, (-1, 1, -1): 1}  # 2/2 > 1/2; 1/2 < 2/2; 1/1 > 0; 0 < 1/1
    found = winners(ensemble, meta)
    assert {tuple(kind): own for kind, own in zip(ensemble.codes.tolist(), found.tolist())} == by_hand
    tied = Ensemble(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    found = winners(tied, np.array([0, 1, 1, 0]))
    assert {tuple(kind): own for kind, own in zip(tied.codes.tolist(), found.tolist())} == {
        (0, 0): 0,  # in 1 of 2 and in 1 of 2
        (0, 1): 0,
        (1, 0): 1,
        (1, 1): 0,
    }


@pytest.mark.parametrize("solver", [pytest.param("metis", marks=needs_metis), "spectral"])
def test_more_meta_clusters_than_clusters_are_fewer(solver):
    """Four kinds of objects, but three clusters of at least one object each in all: {0, 1}, {2}; {0, 2}, {1}."""
    Y = np.array([[0, 0]] * 5 + [[0, 1]] * 3 + [[1, 0]] * 2 + [[1, 1]] * 4 + [[1, -1]] * 2 + [[-1, 0]] * 2)
    with pytest.warns(UserWarning, match=r"Only \d of 5 clusters: the others are empty"):
        found = MCLA(n_clusters=5, solver=solver, random_state=0).fit(Y)
    assert 2 <= found.n_clusters_ <= 4


def test_too_many_clusters_are_refused(monkeypatch):
    monkeypatch.setattr(mcla, "MOST_CELLS", 70)
    with pytest.raises(ValueError, match="graph of 7 clusters may have 36 edges, more than 35"):
        MCLA(n_clusters=2, solver="spectral").fit(TEN)


@needs_metis
def test_a_cluster_of_all_objects_fills_no_meta_cluster():
    """30 % noise, and a base clustering that has one label only: a vertex of weight n if it were one."""
    truth = np.repeat([0, 1, 2], 30)
    plain, padded = [], []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        Y = np.stack([add_label_noise(truth, 0.3, rng) for _ in range(6)], axis=1)
        for found, labels in ((plain, Y), (padded, np.column_stack([Y, np.zeros(90, int)]))):
            found.append(adjusted_rand_score(truth, MCLA(n_clusters=3, random_state=0).fit(labels).labels_))
    assert padded == plain
    assert np.mean(plain) > 0.7


@needs_metis
def test_meta_clusters_of_equal_weights_take_some_objects_of_larger_groups():
    """Groups of 180 and 20 objects, split by every base clustering: one cluster at least of the large one goes over."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [180, 20])
    Y = np.stack([2 * truth + (rng.random(200) < 0.5) for _ in range(10)], axis=1)
    equal = MCLA(n_clusters=2, random_state=0).fit(Y).labels_
    assert np.bincount(equal)[1] > 20
    for options in ({"imbalance": 0.85}, {"solver": "spectral"}):
        assert adjusted_rand_score(truth, MCLA(n_clusters=2, random_state=0, **options).fit(Y).labels_) == 1.0
