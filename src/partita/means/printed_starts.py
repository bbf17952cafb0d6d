"""Starts of Algorithm 1 as it is printed, and the best of them."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from partita.means.descent import Descent
from partita.means.printed import Outcome, PrintedCraft, algorithm_1, farthest_first_penalty
from partita.means.subspaces import Subspaces
from partita.wording import count_of


def best_printed(
    rows: PrintedCraft,
    starts: Sequence[np.random.Generator],
    penalty: float | None,
    wanted: int | None,
    max_iter: int,
    each: Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]],
) -> tuple[float, Descent[Subspaces]]:
    """The penalty and the end of the start of the least printed objective.

    Where ``wanted`` clusters are hinted at, every start has the penalty that farthest-first finds for it; the best is
    the one that ends with the nearest number of clusters, and of those the one whose rows and columns cost least.

    Parameters
    ----------
    starts : sequence of Generator
        All that is random in each.
    each : callable
        What calls a function with every start.
    """

    def end(rng: np.random.Generator) -> tuple[float, Outcome]:
        told = farthest_first_penalty(rows, wanted, rng) if wanted is not None else penalty
        assert told is not None
        return told, algorithm_1(rows.with_penalty(told), rng, max_iter)

    def rank(end: tuple[float, Outcome]) -> tuple[int, float]:
        told, (descent, _) = end
        if wanted is None:
            return 0, descent.path[-1]
        return abs(descent.n_clusters - wanted), descent.path[-1] - told * descent.n_clusters

    told, (descent, period) = min(each(end, starts), key=rank)
    if period:
        warnings.warn(
            f"Algorithm 1 stopped where labels came back to what they had been {period} passes before: as printed it "
            "would go round for ever. as_printed=False does not.",
            ConvergenceWarning,
            stacklevel=4,
        )
        descent = descent._replace(converged=True)
    if wanted not in (None, descent.n_clusters):
        warnings.warn(
            f"Farthest-first found the penalty {told:.4g}, and {count_of(descent.n_clusters, 'cluster')} where "
            f"{wanted} {'was' if wanted == 1 else 'were'} wanted. as_printed=False searches on.",
            UserWarning,
            stacklevel=4,
        )
    return told, descent
