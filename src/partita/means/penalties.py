"""What a cluster must save: the penalty at which so many clusters come out."""

from collections.abc import Callable
from typing import Any

import numpy as np

from partita.means.costs import Clusters, Costs
from partita.means.descent import Descent

MOST_TRIALS = 40
FARTHER = 4.0  # the factor of steps while the number of clusters is on one side of what is wanted
NARROW = 1e-3  # of penalties that differ by less, the numbers of clusters between theirs are out of reach


def farthest_first(costs: Costs[Clusters], start: Clusters, n: int) -> np.ndarray:
    """What the n objects would save, each of them by opening the next cluster, that save most by it.

    With squared distances, of the object farthest from all before it (Kulis and Jordan 2012). ``costs`` are those of
    clusters that cost nothing. The path ends where nothing more can be saved.
    """
    alone, least, path = costs.alone(start), costs.cheapest(start)[1], []
    for _ in range(n):
        savings = least - alone
        founder = int(savings.argmax())
        if savings[founder] <= 0.0:
            break
        path.append(float(savings[founder]))
        least = np.minimum(least, costs.cheapest(costs.best_for(np.array([founder]), start))[1])
    return np.array(path)


def penalty_for(n_clusters: int, guess: float, fit: Callable[[float], Descent[Any]]) -> tuple[float, Descent[Any]]:
    """The penalty at which ``fit`` ends with so many clusters, or with the nearest number to it that was met.

    From the guess outwards, then by halves of the logarithm between a penalty that is too small and one too large.
    """
    low, high, penalty = 0.0, np.inf, guess
    best = penalty, fit(penalty)
    for _ in range(MOST_TRIALS):
        found = best[1] if penalty == best[0] else fit(penalty)
        if abs(found.n_clusters - n_clusters) < abs(best[1].n_clusters - n_clusters):
            best = penalty, found
        if found.n_clusters == n_clusters:
            break
        low, high = (penalty, high) if found.n_clusters > n_clusters else (low, penalty)
        if low > 0.0 and high / low < 1.0 + NARROW:
            break
        penalty = high / FARTHER if low == 0.0 else low * FARTHER if high == np.inf else float(np.sqrt(low * high))
    return best
