"""Cluster sizes of every draw, and how many objects are in small clusters."""

import numpy as np
import pytest

from partita.partitions import Partitions
from partita.posterior import Posterior, cluster_sizes
from partita.posterior.cluster_sizes import cluster_sizes as sizes_of


@pytest.fixture
def labels():
    return np.random.default_rng(3).integers(-1, 5, size=(40, 30))


@pytest.mark.parametrize("at_once", [1, 100, 1 << 22])
def test_sizes_are_those_of_counting_each_draw(labels, at_once, monkeypatch):
    monkeypatch.setattr(cluster_sizes, "_LABELS_AT_ONCE", at_once)
    labels[7] = -1
    found = sizes_of(Partitions(labels))
    for draw, row in enumerate(labels):
        expected = np.sort(np.unique(row[row >= 0], return_counts=True)[1])
        np.testing.assert_array_equal(found.sizes[found.draw == draw], expected)
        np.testing.assert_array_equal(found.rank[found.draw == draw], np.arange(expected.size))
    np.testing.assert_array_equal(found.n_labelled, (labels >= 0).sum(axis=1))
    assert found.n_clusters[7] == found.n_labelled[7] == 0


def test_as_many_labels_as_objects():
    found = sizes_of(Partitions(np.arange(50_000)[None]))
    assert found.n_clusters.tolist() == [50_000]
    assert (found.sizes == 1).all()


class TestSparseShare:
    def test_is_the_share_of_objects_in_small_clusters(self, labels):
        shares = Posterior(labels).sparse_share(0.2)
        for share, row in zip(shares, labels):
            row = row[row >= 0]
            sizes = np.array([np.sum(row == label) for label in row])
            assert share == pytest.approx(np.mean(5 * sizes <= row.size))

    @pytest.mark.parametrize("n_objects", [10, 20, 30, 70, 100, 1000])
    def test_a_cluster_of_exactly_the_threshold_counts(self, n_objects):
        for hundredths in range(1, 100):
            size, rest = divmod(hundredths * n_objects, 100)
            if rest:
                continue
            draw = np.r_[np.zeros(size, int), np.ones(n_objects - size, int)]
            share = Posterior(draw[None]).sparse_share(hundredths / 100)
            assert share == (1.0 if 2 * size >= n_objects and hundredths >= 50 else size / n_objects)
            one_more = np.r_[np.zeros(size + 1, int), np.ones(n_objects - size - 1, int)]
            if n_objects > 2 * (size + 1):
                assert Posterior(one_more[None]).sparse_share(hundredths / 100) == 0.0

    def test_a_threshold_of_one_holds_everybody_and_a_draw_of_nobody_has_none(self):
        np.testing.assert_array_equal(Posterior([[0, 0, 1], [-1, -1, -1]]).sparse_share(1.0), [1.0, 0.0])

    @pytest.mark.parametrize("threshold", [0, -0.1, 1.5, np.nan, np.inf, "0.1", None, True])
    def test_thresholds_that_are_no_shares_are_refused(self, labels, threshold):
        with pytest.raises(ValueError, match="threshold must be a number above 0 and at most 1"):
            Posterior(labels).sparse_share(threshold)
