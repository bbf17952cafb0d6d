"""Clusters that choose columns: what rows cost in those, what they cost elsewhere, and which are chosen.

A cell of a column that its cluster has chosen is said by the cluster, any other by one background for all clusters,
found from just these cells. With sigma and eta those of clusters, or of the background, a table costs

    sum of log(sigma) + (x - zeta)^2 / (2 sigma^2)         over numbers,
    sum of -log(eta_x)                                     over categories,
    (penalty + D F_0) K + sum of prices                    of K clusters, a price for every column that they choose,

and the priors of what is said (`partita.means.cells`). Every step is a block minimiser, so that costs never rise.
"""

from typing import Any, NamedTuple

import numpy as np

from partita.kernels.subspaces import cheapest_subspaces
from partita.means.cells import Categories, Numbers
from partita.means.choices import Choice
from partita.means.costs import Costs
from partita.partitions import largest_first

MOST_ROUNDS = 100  # of choosing columns and finding the background, until both stay
CELLS = 2**20  # of rows that are looked at together


class Subspaces(NamedTuple):
    """Clusters: the columns they have chosen (K, D), numbers first; what says these, and what says all others."""

    chosen: np.ndarray
    shapes: tuple[Any, Any]
    background: tuple[Any, Any]

    def taken(self, order: np.ndarray) -> "Subspaces":
        """Some of the clusters, in this order."""
        numbers, categories = self.shapes
        shapes = type(numbers)(*(each[order] for each in numbers)), categories[order]
        return self._replace(chosen=self.chosen[order], shapes=shapes)


class _Own(NamedTuple):
    """Clusters that say all columns themselves."""

    summaries: list[Any]
    shapes: tuple[Any, Any]
    costs: np.ndarray  # (K, D)
    spread: np.ndarray  # (K, p) variances of numbers as they are


class SelectedColumns(Costs[Subspaces]):
    """Rows of numbers and categories whose clusters choose columns by ``choice``.

    Parameters
    ----------
    penalty : float
        What a cluster costs.
    ignored : float
        F_0, what it costs besides for every column.
    prices : (D,) array
        What it costs besides to choose a column, F_1 - F_0 at least.
    """

    def __init__(
        self,
        numbers: Numbers,
        categories: Categories,
        *,
        penalty: float,
        choice: Choice,
        ignored: float = 0.0,
        prices: np.ndarray | float = 0.0,
    ):
        self.blocks = numbers, categories
        self.n_objects, self.n_columns = len(numbers.cells), numbers.n_columns + categories.n_columns
        self.penalty, self.choice, self.ignored = penalty, choice, ignored
        self.prices = np.zeros(self.n_columns) + prices

    def with_penalty(self, penalty: float) -> "SelectedColumns":
        """The same rows where a cluster costs something else."""
        return self._with(penalty=penalty)

    def choosing(self, choice: Choice) -> "SelectedColumns":
        """The same rows, columns chosen by another rule."""
        return self._with(choice=choice)

    def taken(self, objects: np.ndarray) -> "SelectedColumns":
        """Some of the rows, with the priors of all."""
        return self.of_rows(self.blocks[0].cells[objects], self.blocks[1].codes[objects])

    def of_rows(self, cells: np.ndarray, codes: np.ndarray) -> "SelectedColumns":
        """Other rows, with the priors of these."""
        numbers, categories = self.blocks
        return self._with(blocks=(numbers.of_cells(cells), categories.of_codes(codes)), n_objects=len(cells))

    def _with(self, **changed: Any) -> "SelectedColumns":
        other = object.__new__(SelectedColumns)
        other.__dict__ |= vars(self) | changed
        return other

    def best_for(self, objects: np.ndarray, beside: Subspaces | None = None) -> Subspaces:
        """The best one, with the background of those that are there."""
        rows = [block.taken(objects) for block in self.blocks]
        summaries = [block.summarised(np.zeros(len(objects), np.int64), 1) for block in rows]
        return self._choosing(self._own(summaries), self._background(beside))[0]

    def fitted(
        self, labels: np.ndarray, n_clusters: int, before: Subspaces | None = None, most: float = np.inf
    ) -> Subspaces:
        """Columns and what says them, with a background found from the loosest cells, or from the one that was.

        The first where it costs no more than ``most``: the background may as well say what is alike in one cluster, and
        the others what is not, at nearly the same cost, but columns that clusters choose should be those in which their
        rows agree. Else the better of the two.
        """
        summaries = [block.summarised(labels, n_clusters) for block in self.blocks]
        first, second = (b.fitted(b.loosest(summary)) for b, summary in zip(self.blocks, summaries))
        end = self._settled(summaries, (first, second))
        if end[0] > most:
            end = min(end, self._settled(summaries, self._background(before)), key=lambda one: one[0])
        return end[1]

    def _settled(self, summaries: list[Any], background: tuple[Any, Any]) -> tuple[float, Subspaces]:
        """Clusters and a background that are the best for each other, and what they cost."""
        chosen, own = None, self._own(summaries)
        for _ in range(MOST_ROUNDS):
            clusters, gains = self._choosing(own, background)
            if chosen is not None and np.array_equal(clusters.chosen, chosen):
                break
            chosen = clusters.chosen
            background = self._elsewhere(summaries, chosen)
        pairs = list(zip(self.blocks, summaries, background))
        elsewhere = np.hstack([block.costs(summary, shape) for block, summary, shape in pairs]).sum()
        prior = np.hstack([block.prior(shape) for block, _, shape in pairs]).sum()
        saved = np.where(clusters.chosen, gains, 0.0).sum()
        cost = float(elsewhere + prior - saved + self._price(clusters.chosen).sum())
        return cost, clusters._replace(background=background)

    def cheapest(self, clusters: Subspaces) -> tuple[np.ndarray, np.ndarray]:
        """The cluster in which each row costs least, and that cost."""
        numbers, categories = self.blocks
        of_numbers, of_codes = np.split(clusters.chosen, [numbers.n_columns], axis=1)
        starts = np.zeros((len(clusters.chosen) + 1, 2), np.int64)
        starts[1:, 0], starts[1:, 1] = of_numbers.sum(axis=1).cumsum(), of_codes.sum(axis=1).cumsum()
        labels, least = np.empty(self.n_objects, np.int64), np.empty(self.n_objects)
        cheapest_subspaces(
            (numbers.cells, categories.codes, categories.firsts),
            starts,
            (np.nonzero(of_numbers)[1], np.nonzero(of_codes)[1]),
            (numbers.lines(clusters.shapes[0])[of_numbers], numbers.lines(clusters.background[0])[0]),
            (clusters.shapes[1], clusters.background[1][0]),
            np.empty(self.n_columns),
            labels,
            least,
        )
        return labels, least

    def alone(self, clusters: Subspaces) -> np.ndarray:
        """What each row costs in a cluster that chooses columns for it."""
        found = np.empty(self.n_objects)
        step = max(1, CELLS // max(self.n_columns, 1))
        for start in range(0, self.n_objects, step):
            rows = slice(start, start + step)
            pairs = list(zip(self.blocks, clusters.background))
            elsewhere = np.hstack([block.row_costs(rows, shape) for block, shape in pairs])
            gains = elsewhere - np.hstack([block.alone(rows) for block in self.blocks])
            chosen = self.choice.of_rows(gains, elsewhere)
            found[rows] = elsewhere.sum(axis=1) - np.where(chosen, gains, 0.0).sum(axis=1) + self._price(chosen)
        return found

    def of_clusters(self, clusters: Subspaces) -> float:
        """Penalties, the price of choosing columns, and the priors of what is said."""
        priors = [np.hstack([b.prior(s) for b, s in zip(self.blocks, shapes)]) for shapes in clusters[1:]]
        own = float(np.where(clusters.chosen, priors[0], 0.0).sum())
        return float(self._price(clusters.chosen).sum()) + own + float(priors[1].sum())

    def gains(self, labels: np.ndarray, clusters: Subspaces) -> np.ndarray:
        """What every cluster saves by saying a column itself (K, D), the price of choosing it left out."""
        summaries = [block.summarised(labels, len(clusters.chosen)) for block in self.blocks]
        return self._choosing(self._own(summaries), clusters.background)[1]

    def classification_cost(self, labels: np.ndarray, clusters: Subspaces) -> float:
        """Minus the integrated classification likelihood (Biernacki, Celeux and Govaert 2000), here nats too.

        What cells and labels cost, the labels by their clusters' shares of the rows, and half of log n for every free
        number of clusters. Penalties, and prices of columns, are left out.
        """
        n, sizes = self.n_objects, np.bincount(labels)
        free = self._with(penalty=0.0, ignored=0.0, prices=np.zeros(self.n_columns))
        cells = float(free.cheapest(clusters)[1].sum()) + free.of_clusters(clusters)
        n_numbers = sizes.size - 1 + int((clusters.chosen @ free_numbers(*self.blocks)).sum())
        return cells - float(sizes @ np.log(sizes / n)) + 0.5 * n_numbers * float(np.log(n))

    def _own(self, summaries: list[Any]) -> "_Own":
        """What says the cells of clusters best, and what that costs."""
        shapes: Any = tuple(block.fitted(summary) for block, summary in zip(self.blocks, summaries))
        said = zip(self.blocks, summaries, shapes)
        costs = np.hstack([block.costs(summary, shape) + block.prior(shape) for block, summary, shape in said])
        return _Own(summaries, shapes, costs, self.blocks[0].spread(summaries[0]))

    def _choosing(self, own: "_Own", background: tuple[Any, Any]) -> tuple[Subspaces, np.ndarray]:
        """The best clusters beside a background, and what columns gain in them."""
        said = zip(self.blocks, own.summaries, background)
        elsewhere = np.hstack([block.costs(summary, other) for block, summary, other in said])
        chosen = self.choice.of_clusters(elsewhere - own.costs, elsewhere, own.spread)
        return Subspaces(chosen, own.shapes, background), elsewhere - own.costs

    def _elsewhere(self, summaries: list[Any], chosen: np.ndarray) -> tuple[Any, Any]:
        """What says the cells that are not chosen."""
        parts = np.split(chosen, [self.blocks[0].n_columns], axis=1)
        first, second = (b.fitted(b.pooled(s, part)) for b, s, part in zip(self.blocks, summaries, parts))
        return first, second

    def _background(self, clusters: Subspaces | None) -> tuple[Any, Any]:
        """That of clusters; at first that of all cells."""
        if clusters is not None:
            return clusters.background
        summaries = [block.summarised(np.zeros(self.n_objects, np.int64), 1) for block in self.blocks]
        return self._elsewhere(summaries, np.zeros((1, self.n_columns), bool))

    def _price(self, chosen: np.ndarray) -> np.ndarray:
        """What every cluster costs by itself (K,)."""
        return self.penalty + self.n_columns * self.ignored + chosen @ self.prices


def free_numbers(numbers: Numbers, categories: Categories) -> np.ndarray:
    """How many say a column (D,): mean and variance, or all shares but one."""
    return np.concatenate([np.full(numbers.n_columns, 1 if numbers.fixed else 2), categories.n_levels - 1])


def random_clusters(costs: SelectedColumns, n_clusters: int, rng: np.random.Generator) -> Subspaces:
    """The clusters of random labels."""
    return costs.fitted(random_labels(costs.n_objects, n_clusters, rng), n_clusters)


def random_labels(n: int, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Labels of clusters of equal sizes."""
    return rng.permutation(np.arange(n) % n_clusters)


def by_size(costs: SelectedColumns, labels: np.ndarray, clusters: Subspaces) -> tuple[np.ndarray, Subspaces]:
    """Labels and clusters, the largest first, where rows that cost the same in several are in the first of these."""
    while True:
        order = largest_first(labels, np.ones(labels.size), len(clusters.chosen))
        if np.array_equal(order, np.arange(len(order))):
            return labels, clusters
        clusters = clusters.taken(order)
        labels = costs.cheapest(clusters)[0]
