"""The tree of clusters against its definition and scipy's, and what evidence accumulation makes of it."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from tests.consensus.ensembles import noisy_copies

from partita.consensus import add_label_noise, drop_labels
from partita.consensus.coassociation import coassociation
from partita.consensus.ensemble import Ensemble
from partita.consensus.evidence_accumulation import EvidenceAccumulation, Tree
from partita.partitions import canonical

LINKAGES = pytest.mark.parametrize("kind", ["average", "single", "complete"])
RULES = {"average": np.mean, "single": np.min, "complete": np.max}


def assert_tree_by_definition(tree, distances, kinds, rule):
    """Every merge joins two clusters than which no two are nearer; distances (n, n) are those of objects."""
    cluster = np.arange(kinds.max() + 1)
    for (one, other), height in zip(tree.pairs, tree.heights):
        members = [np.flatnonzero(cluster[kinds] == c) for c in np.unique(cluster)]
        pairs = [(a, b) for a in range(len(members)) for b in range(a)]
        nearest = min(rule(distances[np.ix_(members[a], members[b])]) for a, b in pairs)
        mine, theirs = (np.flatnonzero(cluster[kinds] == cluster[k]) for k in (one, other))
        assert height == pytest.approx(rule(distances[np.ix_(mine, theirs)]), abs=1e-12)
        assert height == pytest.approx(nearest, abs=1e-12)
        cluster[cluster == cluster[other]] = cluster[one]


@LINKAGES
def test_the_tree_of_kinds_is_scipys_tree_of_their_objects(kind):
    """Distances without ties: heights and the clusters of every cut."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 6, size=40)
    kinds = np.repeat(np.arange(40), sizes)
    similarities = rng.random(40 * 39 // 2)
    of_objects = squareform(1.0 - similarities)[np.ix_(kinds, kinds)]
    theirs = linkage(squareform(of_objects), kind)
    tree = Tree.of(similarities, sizes, kind)
    np.testing.assert_allclose(tree.heights, theirs[-39:, 2], atol=1e-12)
    assert not theirs[:-39, 2].any()
    for k in (1, 2, 3, 10, 40):
        np.testing.assert_array_equal(canonical(tree.labels(k)[kinds]), canonical(fcluster(theirs, k, "maxclust")))


@LINKAGES
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_merges_are_those_of_the_definition_where_distances_tie(kind, missing):
    rng = np.random.default_rng(1)
    codes = np.repeat(rng.integers(0, 3, size=(14, 4)), rng.integers(1, 4, size=14), axis=0)
    codes = drop_labels(codes, missing, rng)
    ensemble = Ensemble(codes[(codes >= 0).any(axis=1)])
    own = ensemble.codes[ensemble.kinds]
    both = ((own[:, None] >= 0) & (own >= 0)).sum(axis=2)
    together = ((own[:, None] == own) & (own >= 0)).sum(axis=2)
    distances = 1.0 - np.divide(together, both, out=np.zeros(both.shape), where=both > 0)
    tree = Tree.of(coassociation(ensemble), ensemble.weights, kind)
    assert np.unique(tree.heights.round(9)).size < tree.heights.size  # there are ties
    assert_tree_by_definition(tree, distances, ensemble.kinds, RULES[kind])


def test_the_sizes_of_kinds_are_left_alone():
    sizes = np.array([3, 1, 2])
    Tree.of(np.array([0.5, 0.2, 0.1]), sizes)
    assert sizes.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("heights", "n_clusters"),
    [
        ([0.1, 0.2, 0.7], 2),  # 0.1 for 4 clusters, 0.1 for 3, 0.5 for 2, 0.3 for 1
        ([0.4, 0.5, 0.6], 1),  # 0.4 for 4 and for 1
        ([0.5, 0.8, 1.0], 4),
        ([0.0, 0.1, 0.1 + 0.2, 0.5], 1),
        ([0.1, 0.4, 0.7, 1.0], 2),  # 0.3, 0.3 and 0.3, but for rounding
        ([], 1),
    ],
)
def test_the_longest_lifetime_by_hand(heights, n_clusters):
    pairs = np.stack([np.arange(len(heights)), np.arange(len(heights)) + 1], axis=1)
    assert Tree(pairs, np.array(heights)).longest_lived() == n_clusters


def test_lifetime_finds_the_number_of_clusters():
    for n_groups in (1, 2, 3, 5):
        truth = np.repeat(np.arange(n_groups), 10 * np.arange(1, n_groups + 1))
        rng = np.random.default_rng(n_groups)
        Y = np.stack([add_label_noise(truth, 0.1 * (n_groups > 1), rng) for _ in range(8)], axis=1)
        found = EvidenceAccumulation(n_clusters="lifetime").fit(Y)
        assert found.n_clusters_ == n_groups
        assert adjusted_rand_score(truth, found.labels_) > 0.9


def test_single_link_follows_a_chain_and_complete_link_does_not():
    """Objects 0 .. 9, each together with the next in one of two clusterings, and one apart."""
    chain = np.stack([np.arange(10) // 2, (np.arange(10) + 1) // 2], axis=1)
    apart = np.vstack([chain, chain[:1] + 20])
    single = EvidenceAccumulation(n_clusters=2, linkage="single").fit(apart)
    assert single.labels_.tolist() == [0] * 10 + [1]
    with pytest.warns(UserWarning, match="n_clusters=2 merges parts .* n_clusters=7 may keep"):
        EvidenceAccumulation(n_clusters=2, linkage="complete").fit(apart)


def test_clusters_that_nothing_joins_are_joined_with_a_warning():
    Y = np.repeat([[0, 0], [1, 1], [2, 2], [2, 3]], 5, axis=0)
    with pytest.warns(UserWarning, match="n_clusters=2 merges parts .* n_clusters=3 may keep"):
        assert EvidenceAccumulation(n_clusters=2).fit(Y).n_clusters_ == 2
    assert EvidenceAccumulation(n_clusters=3).fit(Y).labels_.tolist() == [1] * 5 + [2] * 5 + [0] * 10
    assert EvidenceAccumulation(n_clusters=1).fit(Y).n_clusters_ == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1 or 'lifetime', got 0"),
        ({"n_clusters": "lifetme"}, "or 'lifetime', got 'lifetme'"),
        ({"n_clusters": True}, "or 'lifetime', got True"),
        ({"n_clusters": np.array([2, 3])}, r"or 'lifetime', got array\(\[2, 3\]\)"),
        ({"n_clusters": 2, "linkage": "ward"}, "linkage must be one of 'average', 'single', 'complete'"),
        ({"n_clusters": 2, "random_state": -1}, "random_state must be"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        EvidenceAccumulation(**options).fit(noisy_copies()[0])
