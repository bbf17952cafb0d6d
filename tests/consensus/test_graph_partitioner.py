"""What holds of CSPA, HGPA and MCLA alike, by their solvers and by the spectrum."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.consensus.ensembles import needs_metis, needs_mtkahypar, noisy_copies

from partita.consensus import CSPA, HGPA, MCLA, add_label_noise, drop_labels
from partita.partitions import by_size

ALL = [
    pytest.param(lambda k: CSPA(n_clusters=k, random_state=0), id="cspa", marks=needs_metis),
    pytest.param(lambda k: CSPA(n_clusters=k, solver="spectral", random_state=0), id="cspa, spectral"),
    pytest.param(lambda k: HGPA(n_clusters=k), id="hgpa", marks=needs_mtkahypar),
    pytest.param(lambda k: HGPA(n_clusters=k, solver="spectral", random_state=0), id="hgpa, spectral"),
    pytest.param(lambda k: MCLA(n_clusters=k, random_state=0), id="mcla", marks=needs_metis),
    pytest.param(lambda k: MCLA(n_clusters=k, solver="spectral", random_state=0), id="mcla, spectral"),
]
every_method = pytest.mark.parametrize("make", ALL)
every_method_for_noise = pytest.mark.parametrize("make", [one for one in ALL if one.id != "hgpa"])


def renamed_copies(n_members=6, split=True):
    """Four groups of 20 objects, copies with permuted labels, and one that splits every group."""
    truth = np.repeat(np.arange(4), 20)
    names = [np.random.default_rng(m).permutation(4) for m in range(n_members)]
    copies = [own[truth] for own in names]
    return np.stack([*copies, 2 * truth + np.arange(80) % 2] if split else copies, axis=1), truth


@every_method
@pytest.mark.parametrize("split", [False, True])
def test_the_truth_of_copies_with_permuted_labels(make, split):
    """With a copy that splits groups there are more kinds of objects than groups, and something to cut."""
    Y, truth = renamed_copies(split=split)
    assert adjusted_rand_score(truth, make(4).fit(Y).labels_) == 1.0


@every_method
def test_the_truth_of_copies_with_missing_labels(make):
    Y, truth = renamed_copies()
    Y = drop_labels(Y, 0.15, np.random.default_rng(0))
    assert adjusted_rand_score(truth, make(4).fit(Y).labels_) == 1.0


SOLVERS_OF = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(CSPA, marks=needs_metis),
        pytest.param(HGPA, marks=needs_mtkahypar),
        pytest.param(MCLA, marks=needs_metis),
    ],
)


@SOLVERS_OF
@pytest.mark.parametrize("n_groups", [2, 3, 5])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_solvers_agree_where_groups_are_separated(kind, n_groups, missing):
    """Label by label, on groups of equal sizes that nothing crosses and every base clustering splits in its own way."""
    rng = np.random.default_rng(n_groups)
    truth = np.repeat(np.arange(n_groups), 40)
    Y = np.stack([2 * rng.permutation(n_groups)[truth] + (rng.random(truth.size) < 0.3) for _ in range(8)], axis=1)
    Y = drop_labels(np.column_stack([Y, truth]), missing, rng)
    plain, spectral = (kind(n_clusters=n_groups, random_state=0, **own).fit(Y) for own in ({}, {"solver": "spectral"}))
    np.testing.assert_array_equal(plain.labels_, spectral.labels_)
    assert adjusted_rand_score(truth, plain.labels_) == 1.0
    assert len(np.unique(Y, axis=0)) > 4 * n_groups


@pytest.mark.parametrize("kind", [pytest.param(CSPA, marks=needs_metis), pytest.param(MCLA, marks=needs_metis)])
def test_solvers_agree_where_noise_leaves_groups_separated(kind):
    truth = np.repeat(np.arange(3), 40)
    Y = np.stack([add_label_noise(truth, 0.1, np.random.default_rng(m)) for m in range(12)], axis=1)
    plain, spectral = (kind(n_clusters=3, random_state=0, **own).fit(Y) for own in ({}, {"solver": "spectral"}))
    assert adjusted_rand_score(plain.labels_, spectral.labels_) == 1.0


@every_method_for_noise
@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_groups_of_equal_sizes_under_noise(make, n_groups):
    truth = np.repeat(np.arange(n_groups), 60)
    Y = np.stack([add_label_noise(truth, 0.2, np.random.default_rng(m)) for m in range(15)], axis=1)
    assert max(adjusted_rand_score(truth, column) for column in Y.T) < 0.8
    assert adjusted_rand_score(truth, make(n_groups).fit(Y).labels_) > 0.95


@every_method
def test_neither_order_nor_names_change_anything(make):
    Y, _ = noisy_copies(rate=0.4, seed=2)
    Y = drop_labels(Y, 0.1, np.random.default_rng(0))
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(len(Y)), rng.permutation(Y.shape[1])
    renamed = np.where(Y >= 0, np.array([7, 3, 11])[Y], -1)[rows][:, columns]
    plain, other = make(3).fit(Y).labels_, make(3).fit(renamed).labels_
    assert adjusted_rand_score(plain[rows], other) == 1.0


@every_method
def test_the_same_seed_gives_the_same_answer(make):
    Y, _ = noisy_copies(rate=0.5)
    first, second = (make(4).fit(Y).labels_ for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, by_size(first))


@every_method_for_noise
def test_objects_given_twice_are_where_they_were(make):
    truth = np.repeat(np.arange(3), 30)
    Y = np.stack([add_label_noise(truth, 0.1, np.random.default_rng(m)) for m in range(8)], axis=1)
    twice = make(3).fit(np.repeat(Y, 2, axis=0)).labels_
    assert adjusted_rand_score(np.repeat(make(3).fit(Y).labels_, 2), twice) == 1.0


@every_method
@pytest.mark.parametrize("label", [5, -1])
def test_columns_of_one_label_or_none_change_nothing(make, label):
    Y, _ = noisy_copies(rate=0.3)
    plain = make(4).fit(Y).labels_
    np.testing.assert_array_equal(plain, make(4).fit(np.column_stack([Y, np.full(len(Y), label)])).labels_)


@pytest.mark.filterwarnings("ignore:Y holds a single clustering")
@every_method
def test_one_base_clustering(make):
    Y, truth = renamed_copies(1, split=False)
    assert adjusted_rand_score(truth, make(4).fit(Y).labels_) == 1.0
    with pytest.warns(UserWarning, match="n_clusters=2 merges parts .* n_clusters=4 may keep"):
        assert make(2).fit(Y).n_clusters_ == 2
    with pytest.warns(UserWarning, match="Only 4 of 7 clusters: there are no more different objects"):
        assert adjusted_rand_score(truth, make(7).fit(Y).labels_) == 1.0


@every_method
def test_equal_objects_are_one_cluster(make):
    with pytest.warns(UserWarning, match="Only 1 of 2 clusters: there are no more different objects"):
        assert make(2).fit(np.zeros((6, 3), dtype=int)).labels_.tolist() == [0] * 6


@every_method
def test_one_cluster_and_more_clusters_than_labels(make):
    Y, _ = noisy_copies(60, 3, 4, rate=0.5)
    assert not make(1).fit(Y).labels_.any()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Only .* of 7 clusters: the others are empty")  # of MCLA
        assert 3 <= make(7).fit(Y).n_clusters_ <= 7
    with pytest.raises(ValueError, match="n_clusters=61 is more than the 60 labelled objects"):
        make(61).fit(Y)


@every_method
def test_almost_as_many_clusters_as_kinds_of_objects(make):
    Y = np.array([[0, 0], [0, 1], [1, 2], [1, 3], [2, 4], [2, 5], [3, 6], [3, 7]])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Only .* of 7 clusters: the others are empty")
        assert 4 <= make(7).fit(Y).n_clusters_ <= 7


@every_method
def test_objects_without_any_label_go_with_the_largest_cluster(make):
    Y, truth = renamed_copies()
    with pytest.warns(UserWarning, match="1 object has no label"):
        labels = make(4).fit(np.vstack([Y, np.full(Y.shape[1], -1)])).labels_
    assert labels[-1] == 0
    assert adjusted_rand_score(truth, labels[:-1]) == 1.0


@every_method
def test_labels_that_nobody_has_change_nothing(make):
    Y, truth = renamed_copies()
    told = make(4)
    told.n_labels = 12
    assert adjusted_rand_score(truth, told.fit(Y).labels_) == 1.0


@every_method
def test_there_is_no_predict(make):
    fitted = make(4).fit(renamed_copies()[0])
    assert not hasattr(fitted, "predict")
    assert not hasattr(fitted, "predict_proba")
