"""Tables of which it is known what tells their groups apart."""

import numpy as np
from scipy.spatial.distance import cdist


def grouped(seed=0, n=120, n_groups=3, n_noise=6, apart=6.0):
    """Groups that differ in as many columns as there are of them, the first, and noise in the others."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_groups
    X = rng.normal(size=(n, n_groups + n_noise))
    X[np.arange(n), labels] += apart
    return X, labels


def standard(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def affinities(x, n_neighbors):
    """1 where one of two rows is among the nearest others of the other, from all distances."""
    distances = cdist(x, x)
    np.fill_diagonal(distances, np.inf)
    near = np.zeros(distances.shape)
    for row, order in enumerate(distances.argsort(axis=1)):
        near[row, order[:n_neighbors]] = 1.0
    return np.maximum(near, near.T)
