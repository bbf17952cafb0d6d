"""Columns chosen or given up one by one, each time with the background that is best then.

Choosing all columns beside a background, and the background for all columns, in turn, does not undo a choice made by
chance: without its cells the background fits them worse than it would with them. Columns do not depend on each other
where each of them has its price, so one cluster may be asked for all columns at once.
"""

from typing import Any

import numpy as np

from partita.means.subspaces import SelectedColumns, Subspaces

SLACK = 1e-9  # the share of a cost that a change must save


def with_single_flips(costs: SelectedColumns, labels: np.ndarray, start: Subspaces) -> Subspaces:
    """Clusters of labels 0 to K - 1 of which none gains by choosing one more column, or by giving one up.

    Cost O(K^2 D) beside that of the summaries, for every column that changes in turn.
    """
    n_clusters = len(start.chosen)
    summaries = [block.summarised(labels, n_clusters) for block in costs.blocks]
    pairs: list[Any] = list(zip(costs.blocks, summaries))
    shapes: Any = tuple(block.fitted(summary) for block, summary in pairs)
    own = np.hstack([b.costs(summary, shape) + b.prior(shape) for (b, summary), shape in zip(pairs, shapes)])

    def background(chosen: np.ndarray) -> Any:
        parts = np.split(chosen, [costs.blocks[0].n_columns], axis=1)
        return tuple(block.fitted(block.pooled(summary, part)) for (block, summary), part in zip(pairs, parts))

    def by_column(chosen: np.ndarray) -> np.ndarray:
        """What every column costs (D,)."""
        said = [(*pair, shape) for pair, shape in zip(pairs, background(chosen))]
        elsewhere = np.hstack([block.costs(summary, shape) for block, summary, shape in said])
        prior = np.hstack([block.prior(shape) for block, _, shape in said])[0]
        return np.where(chosen, own + costs.prices, elsewhere).sum(axis=0) + prior

    chosen = start.chosen.copy()
    least, changed = by_column(chosen), True
    while changed:
        changed = False
        for k in range(n_clusters):
            flipped = chosen.copy()
            flipped[k] = ~chosen[k]
            cost = by_column(flipped)
            better = cost < least - SLACK * np.abs(least)
            chosen[:, better], least[better] = flipped[:, better], cost[better]
            changed |= bool(better.any())
    return Subspaces(chosen, shapes, background(chosen))
