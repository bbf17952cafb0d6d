"""Uncertainty and index by hand, the weighted graph by definition, and what holds of every method beside the paper."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score
from tests.consensus.ensembles import noisy_copies

from partita.consensus import drop_labels
from partita.consensus.bipartite_cut import BipartiteCut
from partita.consensus.ensemble import Ensemble
from partita.consensus.evidence_accumulation import EvidenceAccumulation
from partita.consensus.indicator_embedding import embed
from partita.consensus.locally_weighted import LocallyWeighted, cluster_index, uncertainty

TEN = np.array(
    [
        [0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
        [0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
        [0, 0, 1, 1, 1, 2, 2, 2, 2, 2],
    ]
).T
#: The parts of 5 objects that are 1 and 4, and 2 and 3; of 6 that are 1 and 5; of 3 that are 1 and 2.
BITS = {(1, 4): 0.7219280948873623, (2, 3): 0.9709505944546686, (1, 5): 0.6500224216483541, (1, 2): 0.9182958340544896}
BY_HAND = np.array(
    [
        BITS[1, 4] + BITS[2, 3],  # {0..4}: 4 and 1, 2 and 3
        0.0,
        1.0,  # {0..3}: 4, then 2 and 2
        2 * BITS[1, 5],  # {4..9}: 1 and 5, 1 and 5
        0.0,
        BITS[1, 2],  # {2, 3, 4}: 3, then 2 and 1
        0.0,
    ]
)


def test_uncertainty_and_index_by_hand():
    ensemble = Ensemble(TEN)
    np.testing.assert_allclose(uncertainty(ensemble), BY_HAND, atol=1e-14)
    np.testing.assert_allclose(cluster_index(ensemble, 0.4), np.exp(-BY_HAND / 1.2), atol=1e-14)


def uncertainty_by_definition(Y):
    found = []
    for m in range(Y.shape[1]):
        for label in range(Y[:, m].max() + 1):
            bits = 0.0
            for others in Y[Y[:, m] == label].T:
                shares = np.bincount(others[others >= 0]) / max(1, np.count_nonzero(others >= 0))
                bits -= sum(p * np.log2(p) for p in shares if p > 0)
            found.append(bits)
    return np.array(found)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_objects_of_a_kind_count_as_often_as_there_are_some(missing):
    rng = np.random.default_rng(0)
    Y = np.repeat(rng.integers(0, [2, 3, 4], size=(20, 3)), rng.integers(1, 5, size=20), axis=0)
    Y = drop_labels(Y, missing, rng)
    np.testing.assert_allclose(uncertainty(Ensemble(Y)), uncertainty_by_definition(Y), atol=1e-13)


def test_no_table_of_all_clusters_by_all_clusters_is_made():
    """4000 clusters of 2000 objects, of which nearly all pairs have one in common."""
    ensemble = Ensemble(np.random.default_rng(0).integers(100, size=(2000, 40)))
    tracemalloc.start()
    found = uncertainty(ensemble)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.shape == (4000,)
    assert most < 15 * ensemble.codes.nbytes


def test_clusters_that_the_others_confirm_count_more():
    Y, _ = noisy_copies(n_clusterings=8)
    Y[:, 3] = np.random.default_rng(0).integers(0, 3, size=len(Y))
    index = cluster_index(Ensemble(Y), 0.4).reshape(8, 3)
    assert index[3].max() < np.delete(index, 3, axis=0).min()
    assert ((index > 0.0) & (index <= 1.0)).all()


def test_the_graph_is_that_of_edges_with_the_index_of_their_cluster():
    """Points of objects are the eigenvectors of the normalised adjacency of all objects and all clusters."""
    Y, _ = noisy_copies(60, 3, 5, rate=0.2)
    ensemble = Ensemble(Y)
    index = cluster_index(ensemble, 0.4)
    edges = (ensemble.indicators.toarray() * index)[ensemble.kinds]
    n, width = edges.shape
    graph = np.block([[np.zeros((n, n)), edges], [edges.T, np.zeros((width, width))]])
    roots = np.sqrt(graph.sum(axis=1))
    theirs = np.linalg.eigh(graph / np.outer(roots, roots))[1][:n, :-4:-1] * np.sqrt(2.0)
    points = embed(ensemble.indicators, ensemble.weights, 3, index) / np.sqrt(ensemble.weights)[:, None]
    np.testing.assert_allclose(np.abs(points[ensemble.kinds]), np.abs(theirs), atol=1e-8)


def test_a_large_theta_counts_every_cluster_alike():
    Y, _ = noisy_copies(rate=0.4, seed=1)
    ensemble = Ensemble(Y)
    points = embed(ensemble.indicators, ensemble.weights, 3, cluster_index(ensemble, 1e300))
    np.testing.assert_allclose(points, embed(ensemble.indicators, ensemble.weights, 3), atol=1e-9)
    plain = EvidenceAccumulation(n_clusters=3).fit(Y).labels_
    np.testing.assert_array_equal(LocallyWeighted(n_clusters=3, method="average", theta=1e300).fit(Y).labels_, plain)


def test_average_link_is_scipys_on_weighted_coassociation():
    """By the definition of Huang, Wang and Lai, equation by equation, for objects of which no two are equal."""
    Y = np.unique(np.random.default_rng(0).integers(0, [2, 3, 4, 5, 6], size=(40, 5)), axis=0)
    index = np.split(np.exp(-uncertainty_by_definition(Y) / (0.4 * 5)), np.cumsum([2, 3, 4, 5])[:4])
    S = np.mean([index[m][Y[:, m]] * (Y[:, [m]] == Y[:, m]) for m in range(5)], axis=0)
    distances = 1.0 - S[np.triu_indices(len(Y), 1)]
    theirs = fcluster(linkage(distances, "average"), 6, "maxclust")
    labels = LocallyWeighted(n_clusters=6, method="average").fit(Y).labels_
    assert adjusted_rand_score(theirs, labels) == 1.0


def test_a_tiny_theta_leaves_numbers():
    """Every cluster is uncertain: none counts."""
    Y, truth = noisy_copies(rate=0.0)
    Y = np.column_stack([Y, np.random.default_rng(0).integers(0, 3, size=(len(Y), 2))])
    cut = LocallyWeighted(n_clusters=3, theta=1e-9, random_state=0).fit(Y)
    assert adjusted_rand_score(truth, cut.labels_) == 1.0
    with pytest.warns(UserWarning, match="n_clusters=3 merges parts that are as far apart as can be"):
        tree = LocallyWeighted(n_clusters=3, method="average", theta=1e-9).fit(Y)
    assert tree.n_clusters_ == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"theta": 0.0}, "theta must be a positive number, got 0.0"),
        ({"theta": "auto"}, "theta must be a positive number, got 'auto'"),
        ({"method": "averge"}, "method must be one of 'graph', 'average'; got 'averge'. Did you mean 'average'?"),
        ({"n_clusters": -1}, "n_clusters must be a whole number of at least 1"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words.replace("?", r"\?")):
        LocallyWeighted(**({"n_clusters": 2} | options)).fit(TEN)


# --- every method beside the paper's ---------------------------------------------------------------

ALL = {
    "average link": lambda k: EvidenceAccumulation(n_clusters=k),
    "single link": lambda k: EvidenceAccumulation(n_clusters=k, linkage="single"),
    "complete link": lambda k: EvidenceAccumulation(n_clusters=k, linkage="complete"),
    "lifetime": lambda k: EvidenceAccumulation(n_clusters="lifetime"),
    "cut": lambda k: BipartiteCut(n_clusters=k, random_state=0),
    "weighted cut": lambda k: LocallyWeighted(n_clusters=k, random_state=0),
    "weighted average link": lambda k: LocallyWeighted(n_clusters=k, method="average"),
}
TIED = ("single link", "complete link")
every_method = pytest.mark.parametrize("make", ALL.values(), ids=ALL)


def renamed_copies(n_members=6):
    """Groups of 3, 9, 27 and 81 objects, and as many copies whose labels are permuted."""
    truth = np.repeat(np.arange(4), 3 ** np.arange(1, 5))
    names = [np.random.default_rng(m).permutation(4) for m in range(n_members)]
    return np.stack([own[truth] for own in names], axis=1), truth


@every_method
def test_the_truth_of_copies_with_permuted_labels(make):
    Y, truth = renamed_copies()
    assert adjusted_rand_score(truth, make(4).fit(Y).labels_) == 1.0
    with pytest.warns(UserWarning, match="a single clustering"):
        alone = make(4).fit(Y[:, :1])
    assert adjusted_rand_score(truth, alone.labels_) == 1.0


@pytest.mark.parametrize("make", [make for name, make in ALL.items() if name != "complete link"])
def test_the_truth_of_copies_with_missing_labels(make):
    """Not of complete link: objects without a common base clustering are as far apart as can be."""
    Y, truth = renamed_copies()
    Y = drop_labels(Y, 0.4, np.random.default_rng(0))
    labelled = (Y >= 0).any(axis=1)
    assert adjusted_rand_score(truth[labelled], make(4).fit(Y[labelled]).labels_) == 1.0


@every_method
def test_merged_and_split_copies_show_the_truth_together(make):
    """No base clustering has all groups apart and no more: the first parts one from the rest, the last all in two."""
    truth = np.repeat(np.arange(3), [20, 30, 50])
    Y = np.stack([*(truth == k for k in range(3)), truth, truth, 2 * truth + np.arange(100) % 2], axis=1).astype(int)
    assert adjusted_rand_score(truth, make(3).fit(Y).labels_) == 1.0


@every_method
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_the_truth_of_refinements_is_what_holds_their_parts_together(make, missing):
    """No noise and more kinds than clusters: copies of groups of unequal sizes, of which others split every group."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), [12, 20, 40, 80])
    copies = [rng.permutation(4)[truth] for _ in range(4)]
    splits = [2 * rng.permutation(4)[truth] + (rng.random(truth.size) < 0.4) for _ in range(3)]
    Y = drop_labels(np.stack([*copies, *splits], axis=1), missing, rng)
    assert len(np.unique(Y, axis=0)) > 30
    assert adjusted_rand_score(truth, make(4).fit(Y).labels_) == 1.0


@every_method
@pytest.mark.parametrize("silent", [False, True])
def test_parts_that_nothing_joins_are_clusters(make, silent):
    """Three of them, of several kinds each; a column of one label joins everything, and says nothing."""
    part = np.repeat(np.arange(3), [12, 20, 40])
    Y = np.stack([part, part, 2 * part + np.arange(72) % 2, 3 * part + np.arange(72) % 3], axis=1)
    Y = np.column_stack([Y, np.zeros(72, int)]) if silent else Y
    assert adjusted_rand_score(part, make(3).fit(Y).labels_) == 1.0
    if make(2).n_clusters == 2:
        with pytest.warns(UserWarning, match="n_clusters=2 merges parts .* n_clusters=. may keep them apart"):
            found = make(2).fit(Y).labels_
        assert len(np.unique(np.column_stack([part, found]), axis=0)) == 3  # none is cut


@every_method
@pytest.mark.filterwarnings("ignore:n_clusters=3 merges parts that are as far apart")
def test_neither_order_nor_names_change_anything(make):
    Y, _ = noisy_copies(rate=0.4, seed=2)
    Y = drop_labels(Y, 0.1, np.random.default_rng(0))
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(len(Y)), rng.permutation(Y.shape[1])
    renamed = np.where(Y >= 0, np.array([7, 3, 11])[Y], -1)[rows][:, columns]
    plain, other = make(3).fit(Y).labels_, make(3).fit(renamed).labels_
    assert adjusted_rand_score(plain[rows], other) == 1.0


#: Of single and complete link, three clusters of noisy labels hang on which of many equal distances comes first.
steady_methods = pytest.mark.parametrize("make", [make for name, make in ALL.items() if name not in TIED])


@steady_methods
def test_objects_given_twice_are_where_they_were(make):
    Y, _ = noisy_copies(rate=0.1)
    twice = make(3).fit(np.repeat(Y, 2, axis=0)).labels_
    assert adjusted_rand_score(np.repeat(make(3).fit(Y).labels_, 2), twice) == 1.0


@every_method
@pytest.mark.filterwarnings("ignore:n_clusters=3 merges parts that are as far apart")
@pytest.mark.parametrize("label", [5, -1])
def test_columns_of_one_label_or_none_change_nothing(make, label):
    Y, _ = noisy_copies(rate=0.3)
    padded = np.column_stack([Y, np.full(len(Y), label)])
    np.testing.assert_array_equal(make(3).fit(padded).labels_, make(3).fit(Y).labels_)


@every_method
def test_equal_objects_are_one_cluster(make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = make(2).fit(np.zeros((6, 3), dtype=int)).labels_
    assert labels.tolist() == [0] * 6
    if make(2).n_clusters == 2:
        assert "Only 1 of 2 clusters: there are no more different objects" in str(caught[-1].message)


@every_method
def test_one_cluster_and_more_clusters_than_labels(make):
    Y, _ = noisy_copies(60, 3, 3, rate=0.5)
    if make(1).n_clusters == 1:
        assert not make(1).fit(Y).labels_.any()
        assert make(7).fit(Y).n_clusters_ == 7
        with pytest.raises(ValueError, match="n_clusters=61 is more than the 60 labelled objects"):
            make(61).fit(Y)


@every_method
def test_objects_without_any_label_go_with_the_largest_cluster(make):
    Y, truth = renamed_copies()
    with pytest.warns(UserWarning, match="1 object has no label"):
        labels = make(4).fit(np.vstack([Y, np.full(6, -1)])).labels_
    assert labels[-1] == 0
    assert adjusted_rand_score(truth, labels[:-1]) == 1.0


@every_method
def test_there_is_no_predict(make):
    fitted = make(4).fit(renamed_copies()[0])
    assert not hasattr(fitted, "predict")
    assert not hasattr(fitted, "predict_proba")
