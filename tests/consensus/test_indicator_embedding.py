"""Objects as points: against the singular vectors of the whole matrix, the definition, and what components demand."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.consensus.ensembles import noisy_copies

from partita.consensus import indicator_embedding
from partita.consensus.ensemble import Ensemble
from partita.consensus.indicator_embedding import embed, spectral_cut
from partita.metrics import adjusted_rand


def of_objects(H, weights):
    """Row after row as often as it counts."""
    return np.repeat(H.toarray(), weights, axis=0)


def normalised(H, weights):
    """D_r^-1/2 H C^1/2 D_c^-1/2 of single objects, dense."""
    return np.sqrt(weights / H.sum(axis=0)) * H / np.sqrt((H * weights).sum(axis=1, keepdims=True))


def same_span(one, other):
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-9)


def ensemble_of(seed=0, missing=0.2, **options):
    Y, truth = noisy_copies(n=60, seed=seed, rate=0.2, **options)
    Y[np.random.default_rng(seed).random(Y.shape) < missing] = -1
    return Ensemble(np.vstack([Y, Y[:40]])), truth


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_vectors_are_the_leading_singular_vectors_of_all_objects(k, weighted):
    ensemble, _ = ensemble_of()
    clusters = np.random.default_rng(1).uniform(0.2, 3.0, ensemble.indicators.shape[1]) if weighted else None
    found = embed(ensemble.indicators, ensemble.weights, k, clusters)
    assert ensemble.weights.max() > 1
    H = of_objects(ensemble.indicators, ensemble.weights)
    B = normalised(H, np.ones(H.shape[1]) if clusters is None else clusters)
    left, values, _ = np.linalg.svd(B)
    assert values[0] == pytest.approx(1.0)
    assert values[k - 1] > values[k] + 1e-3
    of_all = np.repeat(found / np.sqrt(ensemble.weights)[:, None], ensemble.weights, axis=0)
    same_span(of_all, left[:, :k])
    np.testing.assert_allclose(abs(of_all.T @ left[:, :k]), np.eye(k), atol=1e-8)


def test_weights_of_sizes_give_the_spectrum_of_coassociation():
    ensemble, _ = ensemble_of(missing=0.0)
    sizes = ensemble.indicators.T @ ensemble.weights
    found = embed(ensemble.indicators, ensemble.weights, 3, sizes)
    H = of_objects(ensemble.indicators, ensemble.weights)
    S = H @ H.T
    root = np.sqrt(S.sum(axis=1))
    _, vectors = np.linalg.eigh(S / root[:, None] / root)
    same_span(np.repeat(found / np.sqrt(ensemble.weights)[:, None], ensemble.weights, axis=0), vectors[:, -3:])


@pytest.mark.parametrize("weighted", [False, True])
def test_transferred_vectors_are_those_of_clusters_carried_over(weighted):
    """Of the transfer cut, step by step: D_x^-1 E D^-1/2 v with v of D^-1/2 E' D_x^-1 E D^-1/2; rows up to a factor."""
    ensemble, _ = ensemble_of()
    clusters = np.random.default_rng(1).uniform(0.2, 3.0, ensemble.indicators.shape[1]) if weighted else None
    E = of_objects(ensemble.indicators, ensemble.weights) * (1.0 if clusters is None else clusters)
    carried = E / E.sum(axis=1, keepdims=True)
    graph = E.T @ carried
    roots = np.sqrt(graph.sum(axis=1))
    theirs = carried @ (np.linalg.eigh(graph / np.outer(roots, roots))[1][:, :-5:-1] / roots[:, None])
    found = embed(ensemble.indicators, ensemble.weights, 4, clusters, transferred=True)
    ours = np.repeat(found, ensemble.weights, axis=0)
    unit = [np.abs(points) / np.linalg.norm(points, axis=1, keepdims=True) for points in (ours, theirs)]
    np.testing.assert_allclose(*unit, atol=1e-8)


def test_fewer_objects_than_clusters_and_more():
    """B'B and BB' are two ways to the same vectors."""
    rng = np.random.default_rng(0)
    wide = Ensemble(rng.integers(3, size=(14, 30)))
    assert wide.n_kinds < wide.indicators.shape[1]
    H = of_objects(wide.indicators, wide.weights)
    left, *_ = np.linalg.svd(normalised(H, np.ones(H.shape[1])))
    same_span(embed(wide.indicators, wide.weights, 4), left[:, :4])


def test_lanczos_where_both_sides_are_many(monkeypatch):
    ensemble, _ = ensemble_of()
    exact = embed(ensemble.indicators, ensemble.weights, 3)
    monkeypatch.setattr(indicator_embedding, "DENSE_SIZE", 10)
    same_span(embed(ensemble.indicators, ensemble.weights, 3), exact)


def test_lanczos_may_answer_in_any_order(monkeypatch):
    ensemble, _ = ensemble_of()
    monkeypatch.setattr(indicator_embedding, "DENSE_SIZE", 10)
    plain = embed(ensemble.indicators, ensemble.weights, 3)
    whole = indicator_embedding.svds

    def turned(matrix, **options):
        left, values, right = whole(matrix, **options)
        return left[:, ::-1], values[::-1], right[::-1]

    monkeypatch.setattr(indicator_embedding, "svds", turned)
    np.testing.assert_array_equal(embed(ensemble.indicators, ensemble.weights, 3), plain)


def test_components_have_vectors_of_their_own():
    blocks = np.kron(np.eye(3, dtype=int), np.ones((4, 1), dtype=int)) @ np.array([[0, 2], [1, 3], [2, 4]])
    codes = blocks.copy()
    codes[::4, 1] = [0, 1, 5]  # within the first, the second and the third
    ensemble = Ensemble(codes)
    part = ensemble.codes[:, 0]
    found = embed(ensemble.indicators, ensemble.weights, 5)
    for column in found.T:
        assert np.unique(part[column != 0.0]).size == 1
    np.testing.assert_allclose(found.T @ found, np.eye(5), atol=1e-9)


def test_the_largest_components_are_shown_when_there_are_more_than_vectors():
    codes = np.repeat([0, 1, 2, 3], [2, 5, 1, 4])[:, None]
    ensemble = Ensemble(codes)
    found = embed(ensemble.indicators, ensemble.weights, 2)
    shown = np.abs(found) > 0
    assert ensemble.codes[shown[:, 0], 0].tolist() == [1]
    assert ensemble.codes[shown[:, 1], 0].tolist() == [3]
    labels = spectral_cut(ensemble.indicators, ensemble.weights, 2, np.random.default_rng(0))
    np.testing.assert_array_equal(labels, ensemble.codes[:, 0] == 3)


def test_vectors_beyond_the_rank_are_zero():
    """Two clusters that cross are four kinds of objects, but the matrix has rank 3."""
    ensemble = Ensemble(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    found = embed(ensemble.indicators, ensemble.weights, 4)
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), [1, 1, 1, 0], atol=1e-12)


def test_clusters_that_nobody_has_change_nothing():
    ensemble, _ = ensemble_of()
    longer = Ensemble(ensemble.codes, ensemble.n_labels + 3)
    same_span(
        embed(longer.indicators, ensemble.weights, 3),
        embed(ensemble.indicators, ensemble.weights, 3),
    )


def test_the_cut_finds_groups_that_copies_only_blur():
    ensemble, truth = ensemble_of(missing=0.1, n_clusterings=12)
    labels = spectral_cut(ensemble.indicators, ensemble.weights, 3, np.random.default_rng(0))
    assert adjusted_rand(ensemble.of_objects(labels)[:60], truth) > 0.9


def test_rows_that_count_are_repeated_rows():
    rng = np.random.default_rng(3)
    codes = rng.integers(4, size=(30, 5))
    ensemble = Ensemble(codes)
    weights = rng.integers(1, 6, ensemble.n_kinds)
    H = ensemble.indicators
    repeated = csr_array(np.repeat(H.toarray(), weights, axis=0))
    whole = embed(repeated, np.ones(weights.sum(), dtype=int), 4)
    short = embed(H, weights, 4) / np.sqrt(weights)[:, None]
    same_span(whole, np.repeat(short, weights, axis=0))
