"""`DPMeans` against enumeration, the loop of Kulis and Jordan written out, and scikit-learn."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.oracles.partitions import set_partitions

from partita.means import DPMeans
from partita.metrics import adjusted_rand


def blobs(seed=0, n=300, **options):
    return make_blobs(n, **{"n_features": 4, "centers": 5, "random_state": seed} | options)


def squares_within(X, labels):
    return sum(np.square(X[labels == k] - X[labels == k].mean(axis=0)).sum() for k in np.unique(labels))


def least_objective(X, penalty):
    return min(squares_within(X, p) + penalty * (p.max() + 1) for p in map(np.array, set_partitions(len(X))))


def kulis_and_jordan(X, penalty, n_passes):
    """Algorithm 1 of the paper, object by object."""
    centres, labels = [X.mean(axis=0)], np.zeros(len(X), int)
    for _ in range(n_passes):
        for i, x in enumerate(X):
            squares = [np.square(x - centre).sum() for centre in centres]
            labels[i] = int(np.argmin(squares))
            if min(squares) > penalty:
                labels[i] = len(centres)
                centres.append(x)
        occurring, labels = np.unique(labels, return_inverse=True)
        centres = [X[labels == k].mean(axis=0) for k in range(len(occurring))]
    return labels, np.array(centres)


@pytest.mark.parametrize("parallel", [True, False])
def test_never_below_the_enumerated_optimum_and_mostly_there(parallel):
    rng, reached = np.random.default_rng(0), 0
    for table in range(20):
        X = rng.normal(size=(rng.integers(2, 8), 2)) * 2.0
        penalty = float(rng.uniform(1.0, 12.0))
        found = DPMeans(penalty=penalty, parallel=parallel, n_init=20, random_state=table).fit(X).objective_
        least = least_objective(X, penalty)
        assert found >= least - 1e-9
        reached += found <= least + 1e-9
    assert reached >= 16


@pytest.mark.parametrize("penalty", [0.5, 5.0, 60.0])
def test_one_after_the_other_is_the_loop_of_the_paper(penalty):
    X, _ = blobs(n=120)
    model = DPMeans(penalty=penalty, parallel=False).fit(X)
    labels, centres = kulis_and_jordan(X, penalty, model.n_iter_)
    assert adjusted_rand(labels, model.labels_) == 1.0
    np.testing.assert_allclose(np.sort(centres, axis=0), np.sort(model.cluster_centers_, axis=0))


@pytest.mark.parametrize("options", [{}, {"parallel": False}, {"init": "random"}, {"n_init": 4}])
@pytest.mark.parametrize("penalty", [0.01, 1.0, 40.0, 1e4])
def test_the_objective_never_rises_and_is_what_it_says(options, penalty):
    X, _ = blobs(n=150, cluster_std=2.0)
    model = DPMeans(penalty=penalty, random_state=0, **options).fit(X)
    assert (np.diff(model.objective_path_) <= 1e-9 * model.objective_).all()
    assert len(model.objective_path_) == model.n_iter_
    assert model.objective_path_[-1] == model.objective_
    assert model.objective_ == pytest.approx(squares_within(X, model.labels_) + penalty * model.n_clusters_)
    squares = np.square(X[:, None] - model.cluster_centers_).sum(axis=2)
    assert (squares.min(axis=1) <= penalty * (1.0 + 1e-9)).all(), "an object should have opened a cluster"
    np.testing.assert_array_equal(model.labels_, squares.argmin(axis=1))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.counts_, np.bincount(model.labels_))
    assert (np.diff(model.counts_) <= 0).all()


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("how", [{"penalty": 30.0}, {"n_clusters_hint": 5}, {}])
def test_sparse_rows_are_rows(parallel, how):
    X, _ = blobs()
    X[np.random.default_rng(1).random(X.shape) < 0.3] = 0.0
    dense, sparse = (DPMeans(parallel=parallel, random_state=0, **how).fit(x) for x in (X, csr_matrix(X)))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_allclose(dense.cluster_centers_, sparse.cluster_centers_, atol=1e-12)
    assert dense.objective_ == pytest.approx(sparse.objective_)


def test_many_clusters_of_sparse_rows_are_found_block_by_block(monkeypatch):
    X, _ = blobs()
    whole = DPMeans(penalty=1.0).fit(csr_matrix(X)).labels_
    monkeypatch.setattr("partita.means.squared_distances.CELLS", 100)
    np.testing.assert_array_equal(DPMeans(penalty=1.0).fit(csr_matrix(X)).labels_, whole)


def test_neither_the_order_of_rows_nor_an_offset_changes_anything():
    X, _ = blobs(cluster_std=2.0)
    order = np.random.default_rng(0).permutation(len(X))
    plain = DPMeans(penalty=20.0).fit(X)
    assert adjusted_rand(DPMeans(penalty=20.0).fit(X[order]).labels_, plain.labels_[order]) == 1.0
    assert adjusted_rand(DPMeans(penalty=20.0).fit(X + 1e7).labels_, plain.labels_) == 1.0


def test_equal_rows_have_one_label():
    X = np.random.default_rng(0).integers(0, 4, (200, 2)).astype(float)
    for parallel in (True, False):
        labels = DPMeans(penalty=0.7, parallel=parallel).fit(X).labels_
        for row in np.unique(X, axis=0):
            assert np.unique(labels[(row == X).all(axis=1)]).size == 1


@pytest.mark.parametrize("options", [{}, {"parallel": False}, {"init": "random"}])
@pytest.mark.parametrize("wanted", [1, 3, 5, 9])
def test_a_hint_is_followed(options, wanted):
    X, _ = blobs()
    model = DPMeans(n_clusters_hint=wanted, random_state=0, **options).fit(X)
    assert model.n_clusters_ == wanted
    again = DPMeans(penalty=model.penalty_, random_state=0, **options).fit(X)
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_of_several_starts_with_a_hint_the_least_distances_count():
    X = StandardScaler().fit_transform(load_wine().data)
    model = DPMeans(n_clusters_hint=3, init="random", n_init=5, random_state=0).fit(X)
    best = KMeans(3, n_init=10, random_state=0).fit(X)
    assert model.objective_ - 3 * model.penalty_ == pytest.approx(best.inertia_, rel=0.01)


def test_a_number_that_no_penalty_gives_is_said():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])  # both pairs part together
    with pytest.warns(UserWarning, match="No penalty was found at which 3 clusters come out: at .* there are [24]"):
        DPMeans(n_clusters_hint=3).fit(X)


@pytest.mark.parametrize(("centers", "n"), [(3, 300), (8, 600), (12, 20_000)])
def test_auto_finds_groups_that_are_apart(centers, n):
    X, truth = blobs(centers=centers, n=n, n_features=6, seed=3)
    model = DPMeans(random_state=0).fit(X)
    assert model.n_clusters_ == centers
    assert adjusted_rand(truth, model.labels_) > 0.98
    assert np.square(X - model.cluster_centers_[model.labels_]).sum(axis=1).max() <= model.penalty_


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cloud", ["round", "long", "box", "skew", "tails", "leaning"])
def test_auto_leaves_one_cloud_alone(cloud, seed):
    rng = np.random.default_rng(seed)
    X = {
        "round": rng.normal(size=(300, 4)),
        "long": rng.normal(size=(300, 3)) * [10.0, 1.0, 0.1],
        "box": rng.uniform(size=(300, 3)),
        "skew": np.exp(rng.normal(size=(300, 3))),
        "tails": rng.standard_t(3, size=(300, 4)),
        "leaning": rng.normal(size=(300, 1)) + 0.4 * rng.normal(size=(300, 4)),
    }[cloud]
    assert DPMeans(random_state=0).fit(X).n_clusters_ == 1


def test_rows_that_are_all_equal_are_one_cluster():
    for options in ({}, {"n_clusters_hint": 1}, {"penalty": 1.0, "parallel": False}):
        model = DPMeans(**options).fit(np.full((7, 2), 3.0))
        assert model.n_clusters_ == 1
        np.testing.assert_array_equal(model.cluster_centers_, [[3.0, 3.0]])


def test_parts_of_a_table_one_by_one():
    X, truth = blobs(n=1000, cluster_std=0.5)
    model = DPMeans(penalty=25.0)
    for part in np.array_split(X, 10):
        model.partial_fit(part)
        np.testing.assert_array_equal(model.predict(part), model.labels_)
    assert model.n_clusters_ == 5
    assert model.counts_.sum() == len(X)
    assert adjusted_rand(truth, model.predict(X)) == 1.0
    labels = model.predict(X)
    means = np.array([X[labels == k].mean(axis=0) for k in range(5)])
    np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-9)


def test_parts_go_on_from_a_fit():
    X, _ = blobs(n=400, cluster_std=0.5)
    model = DPMeans(n_clusters_hint=5).fit(X[:200])
    penalty = model.penalty_
    model.partial_fit(X[200:])
    assert model.penalty_ == penalty
    assert model.counts_.sum() == 400
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2])


def test_the_first_part_is_fitted_where_no_penalty_is_told():
    X, truth = blobs(n=600, cluster_std=0.5)
    first, later = X[:300], X[300:]
    model = DPMeans(random_state=0).partial_fit(first)
    assert model.penalty_ == DPMeans(random_state=0).fit(first).penalty_
    assert adjusted_rand(truth[300:], model.partial_fit(later).labels_) == 1.0


def test_too_few_passes_are_said():
    X, _ = blobs(n=500, centers=1)
    with pytest.warns(ConvergenceWarning, match="Labels still changed after 1 passes: raise max_iter"):
        model = DPMeans(penalty=4.0, max_iter=1).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"penalty": 0.0}, "penalty must be 'auto' or a positive number, got 0.0"),
        ({"penalty": -1.0}, "penalty must be"),
        ({"penalty": np.nan}, "penalty must be"),
        ({"penalty": "much"}, "penalty must be"),
        ({"penalty": 1.0, "n_clusters_hint": 2}, "pass one of them"),
        ({"n_clusters_hint": 0}, "n_clusters_hint must be a whole number of at least 1"),
        ({"n_clusters_hint": 5}, r"n_clusters_hint=5 is more than the 4 different rows of X \(n_samples=4\)"),
        ({"init": "k-means++"}, "init must be one of 'mean', 'random'"),
        ({"n_init": 0}, "n_init"),
        ({"max_iter": 0}, "max_iter"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        DPMeans(**options).fit(np.eye(4))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[1.0], [np.nan]], "DPMeans needs numbers without gaps. partita.Mixture takes"),
        ([["red"], ["blue"]], "DPMeans needs numbers"),
        ([[1e200], [0.0]], "beyond 1e.150, and their squares too large"),
        (np.empty((0, 2)), "0 sample"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(X, words):
    with pytest.raises(ValueError, match=words):
        DPMeans(penalty=1.0).fit(X)


@parametrize_with_checks([DPMeans(), DPMeans(penalty=1.0, parallel=False), DPMeans(n_clusters_hint=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
