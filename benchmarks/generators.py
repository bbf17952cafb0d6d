"""Data for the benchmarks, generated with a seed."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_softmax
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

GROUP_SHARES = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
LARGEST_SEPARATION = 8.0
MAIN_SHARE = 0.8  # of a group whose objects a base clustering parts


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


def ensemble(
    n: int, n_clusterings: int, n_groups: int, rng: np.random.Generator, *, agreement: float = 0.7, clusters=(5, 30)
) -> tuple[np.ndarray, np.ndarray]:
    """Base clusterings (n, M) that merge or split the true groups, with as much noise as leaves ``agreement``.

    Clustering m has k clusters, from ``clusters[0]`` to ``clusters[1]``. With k below the number of groups it merges
    groups; with more, the groups that have several clusters keep 80 % of their objects in one of them. Then labels are
    drawn anew, as many as bring the adjusted Rand index with the truth down to ``agreement``.
    """
    truth = rng.integers(n_groups, size=n)
    labels = np.empty((n, n_clusterings), dtype=np.int64)
    for m, k in enumerate(np.linspace(*clusters, n_clusterings).round().astype(int)):
        clean = rng.permutation(n_groups)[truth] % k if k <= n_groups else _split(truth, n_groups, k, rng)
        labels[:, m] = _with_noise(clean, truth, k, agreement, rng)
    return labels, truth


def _split(truth: np.ndarray, n_groups: int, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    owner = rng.integers(n_groups, size=n_clusters - n_groups)  # of the clusters beyond one per group
    labels = truth.copy()
    for group in np.unique(owner):
        parts = np.append(group, n_groups + np.flatnonzero(owner == group))
        shares = np.append(MAIN_SHARE, np.full(parts.size - 1, (1.0 - MAIN_SHARE) / (parts.size - 1)))
        members = np.flatnonzero(truth == group)
        labels[members] = rng.choice(parts, size=members.size, p=shares)
    return labels


def _with_noise(
    clean: np.ndarray, truth: np.ndarray, n_clusters: int, agreement: float, rng: np.random.Generator
) -> np.ndarray:
    chance, other = rng.random(clean.size), rng.integers(n_clusters, size=clean.size)
    some = slice(5000)
    low, high = 0.0, 1.0
    for _ in range(20):
        rate = (low + high) / 2
        reached = adjusted_rand_score(truth[some], np.where(chance < rate, other, clean)[some])
        low, high = (rate, high) if reached > agreement else (low, rate)
    return np.where(chance < low, other, clean)


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


@dataclass(frozen=True)
class MixedGroups:
    """Rows with numeric and categorical columns, their true groups, and the parameters that they were drawn from."""

    numeric: np.ndarray  # (n, d), nan where missing
    codes: np.ndarray  # (n, M), -1 where missing
    truth: np.ndarray  # (n,)
    means: np.ndarray  # (K, d)
    deviations: np.ndarray  # (K, d)
    log_shares: np.ndarray  # (M, K, J)

    def columns(self) -> dict[str, np.ndarray]:
        """The table as a person would have it: names, numbers and words, None for a missing word."""
        words = np.array([*"abcdefghijklmnopqrstuvwxyz"[: self.log_shares.shape[2]], None], dtype=object)
        numeric = {f"x{j}": column for j, column in enumerate(self.numeric.T)}
        return numeric | {f"c{m}": words[column] for m, column in enumerate(self.codes.T)}

    def best_labels(self) -> np.ndarray:
        """The group of largest probability of every row given its observed cells and the true parameters."""
        logs = np.tile(np.log(GROUP_SHARES), (self.truth.size, 1))
        for x, mean, deviation in zip(self.numeric.T, self.means.T, self.deviations.T):
            scores = -0.5 * ((x[:, None] - mean) / deviation) ** 2 - np.log(deviation)
            logs += np.where(np.isnan(x)[:, None], 0.0, scores)
        for codes, log_shares in zip(self.codes.T, self.log_shares):
            logs += np.where((codes < 0)[:, None], 0.0, log_shares.T[codes])
        return logs.argmax(axis=1)

    def best_agreement(self) -> float:
        """Adjusted Rand index of `best_labels` and the truth: what no method can be expected to pass."""
        return float(adjusted_rand_score(self.truth, self.best_labels()))

    def with_gaps(self, share: float, seed: int) -> "MixedGroups":
        """The same rows, every cell missing with probability ``share``."""
        rng = np.random.default_rng(seed)
        numeric = np.where(rng.random(self.numeric.shape) < share, np.nan, self.numeric)
        codes = np.where(rng.random(self.codes.shape) < share, -1, self.codes)
        return replace(self, numeric=numeric, codes=codes)


def mixed_groups(
    n: int, seed: int, *, n_numeric: int = 10, n_categorical: int = 10, n_levels: int = 4, agreement: float = 0.97
) -> MixedGroups:
    """Five groups of unequal size, so far apart that the true parameters find them with this adjusted Rand index.

    Group means are s z with z standard normal, category shares softmax(s z), standard deviations uniform on (0.7, 1.3);
    s is found by bisection for the one draw of all random numbers that the seed gives.
    """
    rng = np.random.default_rng(seed)
    n_groups = GROUP_SHARES.size
    truth = rng.choice(n_groups, size=n, p=GROUP_SHARES)
    directions = rng.standard_normal((n_groups, n_numeric))
    deviations = rng.uniform(0.7, 1.3, (n_groups, n_numeric))
    logits = rng.standard_normal((n_categorical, n_groups, n_levels))
    noise, u = rng.standard_normal((n, n_numeric)), rng.random((n_categorical, n, 1))

    def at(separation: float) -> MixedGroups:
        means, log_shares = separation * directions, log_softmax(separation * logits, axis=2)
        numeric = means[truth] + deviations[truth] * noise
        cumulative = np.exp(log_shares).cumsum(axis=2)[:, truth, :-1]
        return MixedGroups(numeric, (u > cumulative).sum(axis=2).T, truth, means, deviations, log_shares)

    low, high = 0.0, LARGEST_SEPARATION
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if at(middle).best_agreement() < agreement else (low, middle)
    return at(high)


def noisy_partitions(n: int, n_draws: int, n_groups: int, noise: float, *, seed: int) -> np.ndarray:
    """Draws of one partition in which every label is a random one with probability ``noise``, (n_draws, n) int16."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_groups, n).astype(np.int16)
    draws = np.tile(truth, (n_draws, 1))
    for draw in draws:
        moved = np.flatnonzero(rng.random(n) < noise)
        draw[moved] = rng.integers(0, n_groups, len(moved))
    return draws


def kmeans_partitions(n: int, n_partitions: int, n_groups: int, *, spread: float, seed: int) -> np.ndarray:
    """K-means clusterings from random starts of groups in the plane, (n_partitions, n)."""
    from sklearn.cluster import KMeans
    from sklearn.datasets import make_blobs

    X, _ = make_blobs(n, centers=n_groups, cluster_std=spread, random_state=seed)
    fits = [KMeans(n_groups, n_init=1, init="random", random_state=s).fit(X) for s in range(n_partitions)]
    return np.array([fit.labels_ for fit in fits])


def separated_blobs(
    n_clusters: int, d: int, n: int, seed: int, *, unequal: bool = False, separation: float = 8.0
) -> tuple[np.ndarray, np.ndarray]:
    """Normal clusters of unit variance whose centres are at least ``separation`` apart, and their labels; the
    largest is expected to be three times the smallest if ``unequal``."""
    rng = np.random.default_rng(seed)
    centers = np.zeros((0, d))
    while len(centers) < n_clusters:
        new = rng.uniform(-1.2, 1.2, d) * separation * n_clusters ** (1 / d)
        if not len(centers) or np.linalg.norm(centers - new, axis=1).min() >= separation:
            centers = np.vstack([centers, new])
    shares = np.linspace(1.0, 3.0 if unequal else 1.0, n_clusters)
    truth = rng.choice(n_clusters, n, p=shares / shares.sum())
    return centers[truth] + rng.standard_normal((n, d)), truth


def cloud(rng: np.random.Generator, n: int, d: int, shape: str) -> tuple[np.ndarray, np.ndarray]:
    """One cloud: "normal", "correlated" (by a random matrix), "uniform" or "t5", Student's t of 5 degrees."""
    if shape == "uniform":
        cells = rng.random((n, d))
    else:
        cells = rng.standard_normal((n, d))
    if shape == "correlated":
        cells = cells @ rng.standard_normal((d, d))
    if shape == "t5":
        cells *= np.sqrt(5.0 / rng.chisquare(5.0, (n, 1)))
    return cells, np.zeros(n, dtype=int)


def groups_apart(
    rng: np.random.Generator, sizes: np.ndarray, d: int, distance: float, *, correlated: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Normal groups whose standard deviation is at most 1 in every direction; every centre has its nearest neighbour
    at exactly ``distance``. Spherical, or each with standard deviations uniform on (0.3, 1) along random axes."""
    centers = np.zeros((1, d))
    while len(centers) < len(sizes):
        step = rng.standard_normal(d)
        new = centers[rng.integers(len(centers))] + distance * step / np.linalg.norm(step)
        if np.linalg.norm(centers - new, axis=1).min() >= distance * (1.0 - 1e-9):
            centers = np.vstack([centers, new])
    truth = np.repeat(np.arange(len(sizes)), sizes)
    cells = rng.standard_normal((truth.size, d))
    if correlated:
        for k in range(len(sizes)):
            axes = np.linalg.qr(rng.standard_normal((d, d)))[0]
            cells[truth == k] = cells[truth == k] * rng.uniform(0.3, 1.0, d) @ axes
    return centers[truth] + cells, truth


def unequal(n_groups: int, least: int) -> np.ndarray:
    """Sizes from ``least`` to three times as many."""
    return np.linspace(least, 3 * least, n_groups).round().astype(int)


def independent_categories(rng: np.random.Generator, n: int, d: int, *, skewed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Columns of 2 to 6 categories that know nothing of each other; shares equal, or like 1, 1/2, 1/3, ..."""
    columns = []
    for n_levels in rng.integers(2, 7, d):
        shares = 1.0 / np.arange(1, n_levels + 1) if skewed else np.ones(n_levels)
        columns.append(rng.choice(n_levels, n, p=shares / shares.sum()))
    return _words(np.column_stack(columns)), np.zeros(n, dtype=int)


def latent_classes(
    rng: np.random.Generator, n: int, d: int, n_classes: int, purity: float = 0.8
) -> tuple[np.ndarray, np.ndarray]:
    """Columns of 2 to 6 categories; each class has its own favourite in every column, seen with this probability.

    Favourites are dealt out so that a column with fewer categories than classes gives one to several classes.
    """
    truth = rng.integers(n_classes, size=n)
    columns = []
    for n_levels in rng.integers(2, 7, d):
        favourite = rng.permutation(np.arange(n_classes) % n_levels)
        other = (favourite[truth] + rng.integers(1, n_levels, n)) % n_levels
        columns.append(np.where(rng.random(n) < purity, favourite[truth], other))
    return _words(np.column_stack(columns)), truth


def counts(
    rng: np.random.Generator, n: int, d: int, n_groups: int = 1, ratio: float = 4.0
) -> tuple[np.ndarray, np.ndarray]:
    """Poisson columns of rates 1 to 20; every group but the first has a random half ``ratio`` times as large."""
    truth = rng.integers(n_groups, size=n)
    rates = np.tile(np.exp(rng.uniform(0.0, np.log(20.0), d)), (n_groups, 1))
    for k in range(1, n_groups):
        rates[k, rng.permutation(d)[: (d + 1) // 2]] *= ratio
    return rng.poisson(rates[truth]), truth


def _words(codes: np.ndarray) -> np.ndarray:
    return np.array([*"abcdefgh"], dtype=object)[codes]
