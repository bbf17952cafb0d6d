"""Two clusters with outliers: what the table promises, and that a consensus of noisy copies finds the two clusters."""

import numpy as np
import pytest
from tests.consensus.ensembles import categorical
from tests.volumes import long

from partita import NBCE
from partita.consensus import add_label_noise, two_clusters_with_outliers
from partita.consensus.outliers import CENTERS


def test_clusters_are_gaussian_and_outliers_far_from_both():
    X, labels = two_clusters_with_outliers(4001, n_outliers=300, random_state=0)
    assert X.shape == (4301, 2)
    assert np.bincount(labels).tolist() == [2001, 2000] + [1] * 300
    for k in range(2):
        own = X[labels == k]
        np.testing.assert_allclose(own.mean(axis=0), CENTERS[k], atol=5 / np.sqrt(2000))
        np.testing.assert_allclose(np.cov(own.T), np.eye(2), atol=5 * np.sqrt(2 / 2000))
    away = np.linalg.norm(X[labels > 1, None] - CENTERS, axis=2).min(axis=1)
    assert away.min() >= 4.0
    assert (np.abs(X[labels > 1]) <= [9.0, 6.0]).all()


def test_the_same_seed_gives_the_same_table_and_counts_are_checked():
    first, again = (two_clusters_with_outliers(10, n_outliers=3, random_state=5)[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert two_clusters_with_outliers(4, n_outliers=0)[1].tolist() == [0, 0, 1, 1]
    with pytest.raises(ValueError, match="n must be a whole number"):
        two_clusters_with_outliers(1)
    with pytest.raises(ValueError, match="n_outliers must be a whole number"):
        two_clusters_with_outliers(10, n_outliers=-1)


@long
@categorical
def test_noisy_copies_of_it_have_the_two_clusters_and_more_noise_more_perplexity():
    _, labels = two_clusters_with_outliers(120, n_outliers=12, random_state=0)
    rng = np.random.default_rng(0)
    perplexities = []
    for rate in (0.05, 0.1, 0.15, 0.2):
        Y = np.column_stack([add_label_noise(labels, rate, rng) for _ in range(10)])
        found = NBCE(engine="vb", random_state=0).fit(Y)
        for k in range(2):
            assert np.bincount(found.labels_[labels == k]).max() >= 0.95 * np.sum(labels == k)
        assert found.labels_[0] != found.labels_[60]
        perplexities.append(found.perplexity(Y))
    assert (np.diff(perplexities) > 0).all()
