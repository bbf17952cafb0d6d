"""Algorithm 1 of Garg, Rudin and Jaakkola (2016), CRAFT, as it is printed.

A cluster k has chosen columns v_k, and says these with zeta_k and sigma_k (numbers) and eta_k (categories); eta_0 says
categories elsewhere, and numbers elsewhere cost nothing. The distance of row n from it is

    d_nk = sum over numbers with v_kd = 1 of (x_nd - zeta_kd)^2 / (2 sigma_kd^2)
         + sum over categories of -log eta_kd(x_nd) where v_kd = 1, of -log eta_0d(x_nd) where v_kd = 0
         + F_delta sum_d v_kd,

and a row whose least distance is above lambda + D F_0 opens a cluster. Nothing is minimised block by block, so the
objective may rise and the labels may go round: `partita.means.subspaces` has the corrected form.

The print is silent where this file has to speak. Shares are (n_t + 0.1) / (n + 0.1 |T|), since with a share of 0 nearly
every row would be infinitely far from a cluster at one row. A cluster that all rows have left is gone. A missing cell
costs nothing, and a column without cells in a cluster is chosen last, with sigma = 1. Where a variance is 0, a cell is
no distance away or infinitely far.
"""

from typing import Any, NamedTuple

import numpy as np

from partita.means.cells import HALF, Categories, Cells, Moments, Normal, Numbers
from partita.means.descent import Descent
from partita.means.locality import locality_costs, posterior_numbers
from partita.means.subspaces import Subspaces
from partita.means.thresholds import Thresholds

PRINTED_SMOOTHING = 0.1
"""As many rows of every category are added to a cluster's, for distances to be finite."""
NO_VARIANCE = float(np.finfo(np.float64).tiny)
"""In place of a variance of 0: a cell off the mean is infinitely far."""


class Budget(NamedTuple):
    """How many columns clusters choose: m |Num| and m |Cat|; or all within thresholds."""

    n_numbers: int
    n_categories: int
    thresholds: Thresholds | None = None


class PrintedCraft:
    """Rows of numbers and categories, and the steps of Algorithm 1.

    Clusters are `Subspaces`: ``chosen`` is v, ``shapes`` are (zeta, sigma^2) and -log eta, ``background`` are those of
    the whole column, of which distances use -log eta_0.

    Parameters
    ----------
    share, locality : float
        m and rho.
    penalty : float
        lambda.
    """

    def __init__(
        self,
        numbers: Numbers,
        categories: Categories,
        *,
        share: float,
        locality: float,
        budget: Budget,
        penalty: float = 1.0,
    ):
        self.blocks = numbers, categories
        self.n_columns = numbers.n_columns + categories.n_columns
        self.share, self.locality, self.budget, self.penalty = share, locality, budget, penalty
        self.f_0, self.f_delta = locality_costs(share, locality)
        moments, counts = self._summarised(np.zeros(self.n_objects, np.int64), 1)
        self.background = numbers.fitted(moments), categories.fitted(counts)

    @property
    def n_objects(self) -> int:
        """How many rows there are."""
        return len(self.blocks[0].cells)

    def with_penalty(self, penalty: float) -> "PrintedCraft":
        """The same rows with another lambda."""
        return self._with(penalty=penalty)

    def of_rows(self, cells: np.ndarray, codes: np.ndarray) -> "PrintedCraft":
        """Other rows, beside these."""
        return self._with(blocks=(self.blocks[0].of_cells(cells), self.blocks[1].of_codes(codes)))

    def _with(self, **changed: Any) -> "PrintedCraft":
        other = object.__new__(PrintedCraft)
        other.__dict__ |= vars(self) | changed
        return other

    # Step 1

    def first_cluster(self, rng: np.random.Generator) -> Subspaces:
        """At a random row, with v_1 ~ Bernoulli(m)."""
        return self.cluster_at(int(rng.integers(self.n_objects)), rng.random(self.n_columns) < self.share)

    # Step 3: for each point

    def distances(self, clusters: Subspaces) -> np.ndarray:
        """d (n, K)."""
        (numbers, categories), (normal, tables) = self.blocks, clusters.shapes
        found = np.empty((self.n_objects, len(clusters.chosen)))
        for k, v in enumerate(clusters.chosen):
            of_numbers, of_categories = np.split(v, [numbers.n_columns])
            with np.errstate(over="ignore"):
                squares = np.square(numbers.cells - normal.means[k])[:, of_numbers]
                found[:, k] = np.nansum(squares / (2.0 * normal.variances[k, of_numbers]), axis=1)
            table = np.where(np.repeat(of_categories, categories.n_levels), tables[k], clusters.background[1])
            found[:, k] += categories.row_costs(slice(None), table).sum(axis=1) + self.f_delta * v.sum()
        return found

    def assigned(self, clusters: Subspaces, rng: np.random.Generator) -> tuple[np.ndarray, Subspaces]:
        """z, and the clusters with those that rows have opened; later rows find these."""
        distances = self.distances(clusters)
        labels, least = distances.argmin(axis=1), distances.min(axis=1)
        limit = self.penalty + self.n_columns * self.f_0
        n = 0
        while (far := np.flatnonzero(least[n:] > limit)).size:
            n += int(far[0])
            opened = self.cluster_at(n, rng.random(self.n_columns) < self._probable(clusters.chosen))
            clusters = _joined(clusters, opened)
            own = self.distances(opened)[:, 0]
            nearer = own < least
            nearer[:n], nearer[n] = False, True
            labels[nearer], least[nearer] = len(clusters.chosen) - 1, own[nearer]
            n += 1
        return labels, clusters

    def _probable(self, chosen: np.ndarray) -> np.ndarray:
        """The probability that a new cluster chooses a column: sum a_v / sum (a_v + b_v) over the clusters before."""
        if self.share == 1.0:
            return np.ones(self.n_columns)
        a, b = posterior_numbers(self.share, self.locality, 0)
        return (a + chosen).mean(axis=0) / (a + b)

    def cluster_at(self, row: int, chosen: np.ndarray) -> Subspaces:
        """A cluster at one row, with sigma = 1."""
        numbers, categories = (block.taken(np.array([row])) for block in self.blocks)
        one = self._with(blocks=(numbers, categories))
        moments, counts = one._summarised(np.zeros(1, np.int64), 1)
        normal = Normal(moments.means, np.full_like(moments.means, HALF if self.blocks[0].fixed else 1.0))
        return Subspaces(chosen[None], (normal, self.blocks[1].fitted(counts)), self.background)

    # Step 3: for each cluster

    def updated(self, labels: np.ndarray) -> Subspaces:
        """The means, variances and columns of labels 0 to K - 1, each of which some row has."""
        numbers, categories = self.blocks
        n_clusters = int(labels.max()) + 1
        moments, counts = self._summarised(labels, n_clusters)
        variances = np.where(moments.counts > 0.0, np.maximum(numbers.spread(moments), NO_VARIANCE), 1.0)
        normal = Normal(moments.means, np.full_like(variances, HALF) if numbers.fixed else variances)
        table = categories.fitted(counts)
        g, g_k = categories.costs(counts, self.background[1]), categories.costs(counts, table)
        spread = np.where(moments.counts > 0.0, numbers.spread(moments), np.inf)
        return Subspaces(self._chosen(spread, g, g - g_k), (normal, table), self.background)

    def _summarised(self, labels: np.ndarray, n_clusters: int) -> tuple[Moments, np.ndarray]:
        """Moments of numbers and counts of categories."""
        numbers, categories = self.blocks
        return numbers.summarised(labels, n_clusters), categories.summarised(labels, n_clusters)

    def _chosen(self, spread: np.ndarray, g: np.ndarray, gains: np.ndarray) -> np.ndarray:
        """v (K, D): numbers of lowest sigma, categories of the largest G_d - G_kd; or what is within thresholds."""
        if self.budget.thresholds is not None:
            nothing = np.zeros(spread.shape)
            return self.budget.thresholds.of_clusters(
                np.hstack([nothing, gains]), np.hstack([nothing + 1.0, g]), spread
            )
        return np.hstack([_first(spread, self.budget.n_numbers), _first(-gains, self.budget.n_categories)])

    # The objective

    def objective(self, labels: np.ndarray, clusters: Subspaces) -> float:
        """What is printed above Algorithm 1: F_delta counts once for every cluster, not for every row."""
        n_chosen = clusters.chosen.sum(axis=1)
        rows = self.distances(clusters)[np.arange(len(labels)), labels] - self.f_delta * n_chosen[labels]
        regularisation = (self.penalty + self.n_columns * self.f_0) * len(n_chosen)
        return float(rows.sum() + regularisation + self.f_delta * n_chosen.sum())

    # What an estimator asks besides

    def cheapest(self, clusters: Subspaces) -> tuple[np.ndarray, np.ndarray]:
        """The nearest cluster, and how far it is."""
        distances = self.distances(clusters)
        return distances.argmin(axis=1), distances.min(axis=1)

    def gains(self, labels: np.ndarray, clusters: Subspaces) -> np.ndarray:
        """What a cluster saves by saying a column itself (K, D), where else the whole column would say it."""
        blocks: tuple[Cells, Cells] = self.blocks
        found = []
        for block, whole in zip(blocks, self.background):
            summary = block.summarised(labels, len(clusters.chosen))
            found.append(block.costs(summary, whole) - block.costs(summary, block.fitted(summary)))
        return np.hstack(found)


class Outcome(NamedTuple):
    """Where a start ended, and after how many passes labels had come back; 0 where they stayed or never came back."""

    descent: Descent[Subspaces]
    period: int


def algorithm_1(rows: PrintedCraft, rng: np.random.Generator, max_iter: int) -> Outcome:
    """From a random row until assignments do not change, come back to what they were, or ``max_iter`` passes."""
    clusters, path = rows.first_cluster(rng), []
    seen: dict[bytes, int] = {}
    while True:
        labels, clusters = rows.assigned(clusters, rng)
        labels = _numbered(labels)
        clusters = rows.updated(labels)
        path.append(rows.objective(labels, clusters))
        before = seen.setdefault(labels.tobytes(), len(path))
        period = len(path) - before
        if period or len(path) >= max_iter:
            return Outcome(Descent(labels, clusters, path, period == 1), period if period > 1 else 0)
        seen[labels.tobytes()] = len(path)


def farthest_first_penalty(rows: PrintedCraft, n_clusters: int, rng: np.random.Generator) -> float:
    """lambda: how far from the rows before it is the last of so many, each the farthest, after a random one.

    The distance from a row is that from a cluster at it, opened as the first cluster is, with v ~ Bernoulli(m).
    """
    least = rows.distances(rows.first_cluster(rng))[:, 0]
    for _ in range(n_clusters):
        farthest = int(least.argmax())
        penalty = float(least[farthest])
        opened = rows.cluster_at(farthest, rng.random(rows.n_columns) < rows.share)
        least = np.minimum(least, rows.distances(opened)[:, 0])
    return penalty


def printed_locality(share: float) -> float:
    """rho = max(0.01, m (1 - m) - 0.01), refused where that is not below m (1 - m)."""
    limit = share * (1.0 - share)
    rho = max(0.01, limit - 0.01)
    if share < 1.0 and rho >= limit:
        raise ValueError(
            f"The default locality of as_printed=True, 0.01 at least, is beyond m (1 - m) = {limit:.4g} of the share "
            f"m = {share:.4g} of the columns: pass a locality between 0 and {limit:.4g}."
        )
    return rho


def _first(costs: np.ndarray, n: int) -> np.ndarray:
    """The n least of every row (K, D), the first of equals."""
    chosen = np.zeros(costs.shape, bool)
    np.put_along_axis(chosen, np.argsort(costs, axis=1, kind="stable")[:, :n], True, axis=1)
    return chosen


def _joined(clusters: Subspaces, one: Subspaces) -> Subspaces:
    """One more cluster, the last."""
    (normal, table), (other, row) = clusters.shapes, one.shapes
    normal = Normal(*(np.vstack(pair) for pair in zip(normal, other)))
    return clusters._replace(chosen=np.vstack([clusters.chosen, one.chosen]), shapes=(normal, np.vstack([table, row])))


def _numbered(labels: np.ndarray) -> np.ndarray:
    """Labels 0, 1, ... by first appearance."""
    _, firsts, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[inverse]
