"""How many clusters stand out: what "auto" looks for where a cluster is a centre and nothing else.

k-means finds 1, 2, ... clusters of a sample. Their number is the one of the least integrated classification likelihood
(Biernacki, Celeux and Govaert 2000), clusters taken as normal, of one covariance matrix each or of independent columns,
whichever says it better; and no larger than the number at which a valley lies between all clusters that are next to
each other: fewer rows midway between two centres than around either of them. The first does not cut a cloud that is
long, the second none that is flat, skew or of long tails.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning

MOST_ROWS = 10_000
MOST_COLUMNS = 100
MOST_CLUSTERS = 30
STARTS = 3
PATIENCE = 4  # numbers of clusters in a row that are no better than the best, after which no more are tried
ROWS_PER_COLUMN = 2  # for a covariance matrix
STRONG = 5.0  # nats by which more clusters must be better
PRIOR_ROWS = 1.0  # that the variances of all rows count in each cluster
NEAR = 0.15  # of the distance of two centres: as near rows are to be around one of them, or midway
SURE = 1.0  # standard deviations by which a valley must be lower


class Candidate(NamedTuple):
    """A number of clusters."""

    centres: np.ndarray
    labels: np.ndarray
    cost: float


def standing_out(x: Any, rng: np.random.Generator) -> np.ndarray:
    """The centres (K, d) of the clusters of ``x``, dense or sparse, that stand out."""
    rows = x[np.sort(rng.choice(x.shape[0], MOST_ROWS, replace=False))] if x.shape[0] > MOST_ROWS else x
    points = _points(rows)
    candidates = _candidates(points, int(rng.integers(2**31)))
    best = int(np.argmin([one.cost for one in candidates]))
    if candidates[0].cost < candidates[best].cost + STRONG:
        best = 0
    while best > 0 and not _valleys_everywhere(points, candidates[best]):
        best -= 1
    labels = candidates[best].labels
    return np.stack([np.asarray(rows[labels == k].mean(axis=0)).ravel() for k in range(best + 1)])


def _points(rows: Any) -> np.ndarray:
    """The rows, or where columns are many, or most cells are 0, their leading coordinates."""
    if rows.shape[1] <= MOST_COLUMNS:
        return rows.toarray() if issparse(rows) else rows
    if not issparse(rows):
        rows = rows - rows.mean(axis=0)
    return TruncatedSVD(MOST_COLUMNS, random_state=0).fit_transform(rows)


def _candidates(points: np.ndarray, seed: int) -> list[Candidate]:
    """One cluster, two, and so on, until more are no better."""
    found: list[Candidate] = []
    for n_clusters in range(1, min(MOST_CLUSTERS, len(points)) + 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters
            means = KMeans(n_clusters, n_init=STARTS, random_state=seed).fit(points)
        if np.unique(means.labels_).size < n_clusters:
            break
        cost = classification_cost(points, means.labels_)
        found.append(Candidate(means.cluster_centers_, means.labels_, cost))
        if n_clusters - 1 - int(np.argmin([one.cost for one in found])) >= PATIENCE:
            break
    return found


def classification_cost(points: np.ndarray, labels: np.ndarray) -> float:
    """Minus the log likelihood of normal clusters and their labels, and half of log n for every number."""
    n, d = points.shape
    sizes = np.bincount(labels)
    n_clusters = sizes.size
    units = points.std(axis=0)
    z = (points - points.mean(axis=0)) / np.where(units > 0.0, units, 1.0)
    logs = np.array([_log_determinants(z[labels == k]) for k in range(n_clusters)])
    shares = -float(sizes @ np.log(sizes / n))
    costs = []
    for which, free in enumerate((d, d * (d + 1) / 2)):
        numbers = n_clusters - 1 + n_clusters * (d + free)
        costs.append(float(sizes @ logs[:, which]) / 2.0 + shares + 0.5 * numbers * np.log(n))
    return min(costs) if n >= ROWS_PER_COLUMN * d else costs[0]


def _log_determinants(rows: np.ndarray) -> tuple[float, float]:
    """Log determinants of the covariance matrix of independent columns, and of the whole one."""
    rest = rows - rows.mean(axis=0)
    matrix = (rest.T @ rest + PRIOR_ROWS * np.eye(rows.shape[1])) / (len(rows) + PRIOR_ROWS)
    return float(np.log(matrix.diagonal()).sum()), float(np.linalg.slogdet(matrix)[1])


def _valleys_everywhere(points: np.ndarray, found: Candidate) -> bool:
    """Whether fewer rows lie midway between any cluster and those next to it than around either centre."""
    squares = np.square(found.centres[:, None] - found.centres).sum(axis=2)
    for a in range(len(squares)):
        for b in range(a):
            midway = (found.centres[a] + found.centres[b]) / 2.0
            if np.square(found.centres - midway).sum(axis=1).min() >= squares[a, b] / 4.0 * (1.0 - 1e-9):
                both = points[(found.labels == a) | (found.labels == b)]
                if not has_valley((both - found.centres[a]) @ (found.centres[b] - found.centres[a]) / squares[a, b]):
                    return False
    return True


def has_valley(places: np.ndarray) -> bool:
    """Whether fewer places lie around 1/2 than around 0 or around 1, by more than chance."""
    ends, midway = (int((np.abs(places - centre) < NEAR).sum()) for centre in (0.0, 1.0)), 0
    least, midway = min(ends), int((np.abs(places - 0.5) < NEAR).sum())
    return least - midway > SURE * np.sqrt(least + midway)
