"""Along penalties: how many clusters come out, at what objective, and whether other rows of the table tell the same."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.means.costs import Costs
from partita.means.descent import Descent
from partita.means.penalties import farthest_first
from partita.metrics import adjusted_rand

N_PENALTIES = 20
MOST_OPENED = 30
"""By farthest-first: the least penalty is what the last of these clusters saves."""
FARTHER = 2.0
"""The factor from one penalty to the next until one cluster is left."""
WIDE = 1000.0
"""The ratio of the largest penalty to the least where no row opens a cluster."""
MOST_ROWS = 10_000
"""That stability is told by."""

Fit = Callable[[Costs[Any]], Descent[Any]]


@dataclass(frozen=True)
class PenaltyPath:
    """What comes out along penalties.

    Attributes
    ----------
    penalties : (m,) array
        Increasing.
    n_clusters : (m,) int array
        Clusters at each.
    objective : (m,) array
        What rows and clusters cost, penalties included.
    stability : (m,) array
        Mean adjusted Rand index of the labels that two halves of the rows, drawn at random, give all rows: each half is
        fitted at the penalty, and every row goes where it costs least. nan where one cluster comes out, which any rows
        would tell, and where no halves were drawn.
    """

    penalties: np.ndarray
    n_clusters: np.ndarray
    objective: np.ndarray
    stability: np.ndarray


def path_along(
    costs: Costs[Any], penalties: Any, fit_of: Callable[[int], Fit], n_repeats: int, rng: np.random.Generator
) -> PenaltyPath:
    """The path of some costs.

    Parameters
    ----------
    costs : Costs
        Of clusters that cost nothing.
    penalties : array-like or None
        None: in equal ratios as `spread_penalties` has them.
    fit_of : callable
        What fits so many objects at the penalty that their costs have, always from the same starts.
    n_repeats : int
        Pairs of halves.
    rng : Generator
        Draws the halves.
    """
    starts = fit_of(costs.n_objects)

    def fit(penalty: float) -> Descent[Any]:
        return starts(costs.with_penalty(penalty))

    chosen = spread_penalties(costs, fit) if penalties is None else checked_penalties(penalties)
    ends = [fit(penalty) for penalty in chosen]
    numbers = np.array([end.n_clusters for end in ends])
    pairs = [_Halves(costs, fit_of, rng) for _ in range(n_repeats)] if costs.n_objects > 1 else []
    agreement = [
        [pair.agreement(penalty) if number > 1 else np.nan for pair in pairs] or [np.nan]
        for penalty, number in zip(chosen, numbers)
    ]
    return PenaltyPath(chosen, numbers, np.array([end.path[-1] for end in ends]), np.mean(agreement, axis=1))


def spread_penalties(costs: Costs[Any], fit: Callable[[float], Descent[Any]]) -> np.ndarray:
    """Twenty penalties in equal ratios, from what opens the 30th cluster by farthest-first to one that leaves one.

    Where no row saves anything by itself, as with ``CRAFT(budget="approximate")`` at times, from a thousandth of the
    latter; where all rows are alike, one penalty.
    """
    start = costs.fitted(np.zeros(costs.n_objects, np.int64), 1)
    opened = farthest_first(costs, start, MOST_OPENED - 1)
    most = first = float(opened[0]) if opened.size else 1.0
    while fit(most).n_clusters > 1:
        most *= FARTHER
    least = opened[-1] if opened.size else most / WIDE if most > first else most
    return np.geomspace(least, most, N_PENALTIES) if least < most else np.array([most])


def checked_penalties(penalties: Any) -> np.ndarray:
    """Penalties in increasing order, each once."""
    found = np.asarray(penalties)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iuf" or not ((found > 0) & (found < np.inf)).all():
        raise ValueError(f"penalties must be positive numbers, such as [1, 10, 100], got {penalties!r}.")
    return np.unique(found.astype(np.float64))


class _Halves:
    """Two halves of at most `MOST_ROWS` rows."""

    def __init__(self, costs: Costs[Any], fit_of: Callable[[int], Fit], rng: np.random.Generator):
        rows = rng.permutation(costs.n_objects)[:MOST_ROWS]
        self.rows = costs.taken(rows)
        self.halves = [costs.taken(half) for half in np.array_split(rows, 2)]
        self.fits = [fit_of(half.n_objects) for half in self.halves]

    def agreement(self, penalty: float) -> float:
        """How far the halves give all rows the same labels."""
        ends = [fit(half.with_penalty(penalty)) for fit, half in zip(self.fits, self.halves)]
        return adjusted_rand(*(self.rows.cheapest(end.clusters)[0] for end in ends))
