"""Data for the benchmarks, generated with a seed."""

import numpy as np
from sklearn.datasets import make_blobs


def label_table(
    n: int, n_columns: int, n_groups: int, rng: np.random.Generator, *, noise: float = 0.15
) -> tuple[np.ndarray, np.ndarray]:
    """Categorical columns of 10 to 30 levels that each merge and split ``n_groups`` true groups, with noise."""
    truth = rng.integers(n_groups, size=n)
    table = np.empty((n, n_columns), dtype=np.int64)
    for m, n_levels in enumerate(np.linspace(10, 30, n_columns).round().astype(int)):
        level_of = rng.integers(n_levels, size=n_groups)
        noisy = rng.random(n) < noise
        table[:, m] = np.where(noisy, rng.integers(n_levels, size=n), level_of[truth])
    return table, truth


def gaussian_groups(n: int, d: int, n_groups: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian groups with their own full covariance matrices."""
    truth = rng.integers(n_groups, size=n)
    centers = 3.0 * rng.standard_normal((n_groups, d))
    shapes = rng.standard_normal((n_groups, d, d)) / np.sqrt(d)
    return centers[truth] + np.einsum("nij,nj->ni", shapes[truth], rng.standard_normal((n, d))), truth


def blobs(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Twelve blobs in eight dimensions."""
    X, truth, *_ = make_blobs(n_samples=n, n_features=8, centers=12, random_state=seed)
    return X, truth
