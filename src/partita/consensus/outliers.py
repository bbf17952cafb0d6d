"""The synthetic table of Figure 3 of Wang, Domeniconi and Laskey (2010): two clusters with outliers."""

from typing import Any

import numpy as np

from partita.parameters import generator_from, whole_number

CENTERS = np.array([[-3.0, 0.0], [3.0, 0.0]])
"""Of the two clusters, whose standard deviation is 1."""

NEAREST = 4.0
"""An outlier is at least so far from both centres."""

BOX = np.array([9.0, 6.0])
"""Outliers are at most so far from the origin, column by column."""


def two_clusters_with_outliers(
    n: int = 200, *, n_outliers: int = 20, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw two round clusters of equal size and outliers far from both, each a cluster of its own.

    The paper shows its table and does not say how it was drawn, so the numbers are ours: clusters are Gaussian with
    centres 6 standard deviations apart, outliers uniform over a box around them, at least 4 from either centre. Its
    perplexities, 5.6 and more, are above the number of clusters: the outliers must have labels of their own.

    Parameters
    ----------
    n : int
        Objects of the two clusters; the first has one more where n is odd.
    n_outliers : int
    random_state : int, RandomState, Generator or None

    Returns
    -------
    X : (n + n_outliers, 2) array
    labels : (n + n_outliers,) int array
        0 and 1 for the clusters, then 2, 3, ..., one for every outlier. Base clusterings as in the paper are noisy
        copies of these: `add_label_noise`.

    Examples
    --------
    >>> X, labels = two_clusters_with_outliers(100, n_outliers=5, random_state=0)
    >>> X.shape, labels[-6:].tolist()
    ((105, 2), [1, 2, 3, 4, 5, 6])
    """
    n, n_outliers = whole_number("n", n, 2), whole_number("n_outliers", n_outliers, 0)
    rng = generator_from(random_state)
    labels = np.concatenate([np.arange(n) * 2 // n, 2 + np.arange(n_outliers)])
    X = np.empty((n + n_outliers, 2))
    X[:n] = CENTERS[labels[:n]] + rng.normal(size=(n, 2))
    for row in range(n, n + n_outliers):
        X[row] = _far_away(rng)
    return X, labels


def _far_away(rng: np.random.Generator) -> np.ndarray:
    """A point of the box that is far from both centres."""
    while True:
        point = rng.uniform(-BOX, BOX)
        if np.linalg.norm(point - CENTERS, axis=1).min() >= NEAREST:
            return point
