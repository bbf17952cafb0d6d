"""Ensembles: numbers of clusters, subspaces, subsamples, any clusterer."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import Partitions
from partita.consensus import base_clusterings

X, TRUTH = make_blobs(120, 6, centers=4, random_state=0)


def test_shares_are_taken_in_turn_and_rounded_half_up():
    found = base_clusterings(X, n=7, shares=(0.1, 0.625, 1.0, 1.5), n_classes=4, random_state=0)
    assert isinstance(found, Partitions)
    assert found.shape == (7, 120)
    assert found.n_clusters().tolist() == [2, 3, 4, 6, 2, 3, 4]


def test_members_differ_and_seeds_repeat_them():
    first = base_clusterings(X, n_classes=6, random_state=1)
    np.testing.assert_array_equal(first, base_clusterings(X, n_classes=6, random_state=1))
    assert not np.array_equal(first, base_clusterings(X, n_classes=6, random_state=2))
    assert first.shape == (10, 120)
    assert not np.array_equal(np.asarray(first)[4], np.asarray(first)[9])  # both of 12 clusters


def test_a_subsample_leaves_the_others_unlabelled():
    found = np.asarray(base_clusterings(X, n=6, n_classes=4, subsample=0.3, random_state=0))
    np.testing.assert_array_equal((found >= 0).sum(axis=1), 36)
    assert (found >= 0).any(axis=0).sum() > 60  # not the same objects


def test_never_more_clusters_than_objects():
    found = base_clusterings(X[:20], n=2, n_classes=30, subsample=0.2, random_state=0)
    assert found.n_clusters().tolist() == [4, 4]


class Seen(KMeans):
    """Keeps what each member is given."""

    shapes: list = []  # noqa: RUF012
    columns: set = set()  # noqa: RUF012

    def fit(self, X, y=None, sample_weight=None):
        self.shapes.append(X.shape)
        self.columns.add(tuple(np.asarray(X)[0]))
        return super().fit(X, y, sample_weight)


def test_a_subspace_is_a_share_of_the_columns():
    Seen.shapes.clear()
    Seen.columns.clear()
    base_clusterings(X, n=8, n_classes=4, subspace=0.5, clusterer=Seen(n_init=1), random_state=0)
    assert Seen.shapes == [(120, 3)] * 8
    assert len(Seen.columns) > 1


@pytest.mark.parametrize(
    "clusterer",
    [
        AgglomerativeClustering(),
        GaussianMixture(),
        make_pipeline(StandardScaler(), KMeans(n_init=1)),
    ],
)
def test_any_clusterer_is_asked_for_the_number(clusterer):
    found = base_clusterings(X, n=3, shares=(0.5, 1.0, 2.0), n_classes=4, clusterer=clusterer, random_state=0)
    assert found.n_clusters().tolist() == [2, 4, 8]


def test_noise_is_not_labelled():
    lonely = np.vstack([X, np.full((1, 6), 1e3)])
    found = np.asarray(base_clusterings(lonely, n=2, n_classes=4, clusterer=DBSCAN(eps=5.0), random_state=0))
    np.testing.assert_array_equal(found[:, -1], -1)
    assert (found[:, :-1] >= 0).all()


def test_sparse_tables():
    found = base_clusterings(csr_array(X), n=2, n_classes=4, subspace=0.5, subsample=0.5, random_state=0)
    assert ((np.asarray(found) >= 0).sum(axis=1) == 60).all()


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"n": 0}, ValueError, "n must be"),
        ({"n_classes": 2.5}, ValueError, "n_classes must be"),
        ({"shares": ()}, ValueError, "shares"),
        ({"shares": (0.5, -1)}, ValueError, "shares"),
        ({"shares": "half"}, ValueError, "shares"),
        ({"subspace": 0}, ValueError, "subspace"),
        ({"subsample": 1.5}, ValueError, "subsample"),
        ({"clusterer": StandardScaler()}, TypeError, "fit_predict"),
        ({"random_state": "x"}, ValueError, "random_state"),
    ],
)
def test_wrong_options_are_refused(options, kind, words):
    with pytest.raises(kind, match=words):
        base_clusterings(X, **({"n_classes": 4} | options))


@pytest.mark.parametrize("bad", [X[:1], X[:, 0], np.full((5, 2), np.nan)])
def test_tables_that_cannot_be_clustered_are_refused(bad):
    with pytest.raises(ValueError, match=r"minimum of 2|Expected 2D|NaN"):
        base_clusterings(bad, n_classes=2, random_state=0)
