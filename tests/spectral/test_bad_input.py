"""What cannot be clustered: a right answer or one clear sentence."""

from contextlib import nullcontext

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.spectral.graphs import cliques

from partita.spectral import SpectralClustering
from partita.spectral.embedding import LAPLACIANS

X = np.random.default_rng(0).standard_normal((40, 3))


def fit(rows=X, **options):
    return SpectralClustering(random_state=0, **options).fit(rows)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_clusters": 41}, "n_clusters=41 is more than the 40 objects"),
        ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1 or 'eigengap', got 0"),
        ({"n_clusters": True}, "n_clusters must be a whole number .* got True"),
        ({"n_clusters": 2.5}, "n_clusters must be a whole number .* got 2.5"),
        ({"n_clusters": None}, "n_clusters must be a whole number .* got None"),
        ({"n_clusters": "3"}, "n_clusters must be a whole number of at least 1 or 'eigengap', got '3'"),
        (
            {"n_clusters": "eigengapp"},
            "n_clusters must be one of 'eigengap'; got 'eigengapp'. Did you mean 'eigengap'?",
        ),
        ({"laplacian": "unnormalised"}, "got 'unnormalised'. Did you mean 'unnormalized'?"),
        ({"affinity": "nearest_neighbours"}, "got 'nearest_neighbours'. Did you mean 'nearest_neighbors'?"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1, got 0"),
        ({"max_clusters": 0}, "max_clusters must be a whole number of at least 1, got 0"),
        ({"affinity": "rbf", "gamma": -1.0}, "gamma must be None or a positive number, got -1.0"),
        ({"affinity": "rbf", "gamma": np.nan}, "gamma must be None or a positive number, got nan"),
        ({"random_state": "x"}, "random_state must be None, a whole number"),
        ({"affinity": lambda X: np.eye(3)}, "made a matrix of 3 rows from 40 rows"),
    ],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        SpectralClustering(**options).fit(X)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_wrong_matrices_say_where(form):
    def refused(words, cells):
        W = cliques([5, 5])
        for cell, value in cells.items():
            W[cell] = value
        with pytest.raises(ValueError, match=words):
            fit(form(W), affinity="precomputed")

    refused("must not be negative.*; the first wrong cell of 1 is -0.5 at row 3, column 7", {(3, 7): -0.5})
    refused("must be finite; the first wrong cell of 2 is nan at row 1, column 2", {(1, 2): np.nan, (2, 1): np.nan})
    refused("must be finite; .*inf at row 0, column 9", {(0, 9): np.inf, (9, 0): np.inf})
    refused(r"must be symmetric; cell \(1, 8\) is 0.25 and cell \(8, 1\) is 0", {(1, 8): 0.25})
    with pytest.raises(ValueError, match=r"must be square.* its shape is \(10, 9\)"):
        fit(form(cliques([5, 5])[:, :9]), affinity="precomputed")


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_asymmetry_of_rounding_is_averaged_out(form):
    W = cliques([6, 5])
    W[0, 1] += 1e-12
    found = fit(form(W), affinity="precomputed").affinity_matrix_
    assert abs(found - found.T).max() == 0
    assert found[0, 1] == 1.0 + 0.5e-12


@pytest.mark.parametrize("affinity", ["rbf", lambda x, y: 1.0])
def test_large_dense_matrices_are_refused_before_they_are_made(affinity):
    with pytest.raises(ValueError, match=r"12,000 x 12,000 cells, 1.1 GiB.* use affinity='nearest_neighbors'"):
        fit(np.zeros((12_000, 1)), affinity=affinity)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_missing_cells_are_counted_and_named(form):
    gaps = X.copy()
    gaps[[3, 3, 9, 20, 30], [0, 1, 2, 0, 0]] = [np.nan, np.inf, np.nan, np.nan, np.nan]
    with pytest.raises(
        ValueError, match=r"X has missing or infinite cells \(NaN, inf\): 5 in all, in rows 3, 9, 20, \.\.\.\. Sp"
    ):
        fit(form(gaps))


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_fewer_clusters_than_components(laplacian):
    W = cliques([9, 7, 3, 1])
    with pytest.warns(UserWarning, match="4 components and there are 2 clusters: the smallest 2 components, 4 objects"):
        found = fit(W, affinity="precomputed", n_clusters=2, laplacian=laplacian)
    np.testing.assert_array_equal(found.labels_, np.repeat([0, 1, 0, 0], [9, 7, 3, 1]))
    assert not found.eigenvalues_.any()
    assert found.gap_ == 0.0


@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_isolated_objects_are_clusters_of_their_own(laplacian, form):
    found = fit(form(cliques([8, 6, 1, 1])), affinity="precomputed", laplacian=laplacian)
    assert found.n_clusters_ == 4
    np.testing.assert_array_equal(found.labels_, np.repeat([0, 1, 2, 3], [8, 6, 1, 1]))
    assert np.isfinite(found.embedding_).all()
    assert (found.eigenvalues_ == 0).sum() == 4


@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("affinity", ["nearest_neighbors", "rbf"])
def test_equal_rows_are_one_cluster(laplacian, affinity):
    for n in (15, 200, 700):
        found = fit(np.ones((n, 2)), affinity=affinity, laplacian=laplacian)
        assert found.n_clusters_ == 1
        assert found.labels_.tolist() == [0] * n


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_one_row_and_two_rows(laplacian):
    for affinity in ("nearest_neighbors", "rbf"):
        for n in (1, 2):
            with (
                pytest.warns(UserWarning, match=rf"than there are rows \({n}\)") if affinity != "rbf" else nullcontext()
            ):
                found = fit(X[:n], affinity=affinity, laplacian=laplacian)
            assert found.labels_.tolist() == [0] * n
            assert found.eigenvalues_.size == n
    alone = fit(np.zeros((1, 1)), affinity="precomputed", n_clusters=1, laplacian=laplacian)
    assert np.isnan(alone.gap_)


def test_as_many_clusters_as_objects():
    found = fit(cliques([3, 2], between=0.5), affinity="precomputed", n_clusters=5)
    assert sorted(found.labels_) == [0, 1, 2, 3, 4]
    assert np.isnan(found.gap_)


def test_more_neighbours_than_rows_join_all_rows():
    with pytest.warns(UserWarning, match=r"n_neighbors=50 is more than there are rows \(40\): every two of them"):
        found = fit(n_neighbors=50)
    assert (found.affinity_matrix_.toarray() == 1.0).all()
    assert found.n_clusters_ == 1
