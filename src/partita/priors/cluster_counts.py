"""How probable every number of clusters is: Stirling triangles and a walk along the sticks."""

import math

import numpy as np

from partita.kernels.compiling import entry

MOST_SECONDS = 30.0
STIRLING_STEP, STIRLING_CELL, STICK_CELL = 1e-5, 2e-8, 1.3e-9
"""Seconds, about: one step of ``log_stirling``, one number that it computes, and one of ``stick_counts``."""

NEGLIGIBLE = 1e-290
"""Probabilities below it are taken for 0: numbers too small for all their digits would make the walk slow."""


def require_affordable(n: int, seconds: float) -> None:
    """Refuse a distribution that would take more than about half a minute."""
    if seconds > MOST_SECONDS:
        raise ValueError(
            f"The distribution of the number of clusters among {n} rows would take about {seconds:.2g} seconds, more "
            f"than the limit of {MOST_SECONDS:g}; ask for fewer rows, fix the concentration, or use expected_clusters."
        )


def n_quadrature_points(most: int) -> float:
    """About how many concentrations the average of ``most`` probabilities over a hyperprior takes."""
    return 100.0 + 60.0 * math.sqrt(most)


def log_stirling(n: int, most: int, shifts: np.ndarray) -> np.ndarray:
    """Return log C(n, k) / C(n, 1) for k = 1, ..., most, one row per shift b > -1.

    C(n, k), the sum over partitions of n rows into k clusters of prod over clusters of (1 + b)_{size - 1}, follows from

        C(m + 1, k) = C(m, k - 1) + (m + k b) C(m, k),  C(1, 1) = 1.

    Divided by C(m, 1) as it goes, it stays small where it counts. Cost O(n most) per shift.

    References
    ----------
    Gnedin and Pitman (2006), equation 12, the generalised Stirling numbers.
    """
    logs = np.full((shifts.size, most + 1), -np.inf)
    logs[:, 1] = 0.0
    others = shifts[:, None] * np.arange(most)
    for m in range(1, n):
        old, top = min(m, most), min(m + 1, most)
        one = m + shifts[:, None]
        grown = logs[:, :top] - np.log(one)
        grown[:, :old] = np.logaddexp(grown[:, :old], logs[:, 1 : old + 1] + np.log1p(others[:, :old] / one))
        logs[:, 1 : top + 1] = grown
    return logs[:, 1:]


@entry(allocates=True)
def stick_counts(n, n_components, concentration):
    """Return P(K = k), k = 1, ..., min(n, H), under truncated stick-breaking.

    Going through the components with r rows left, the next one leaves s of them with probability
    alpha / (alpha + s) * prod over l from s + 1 to r of l / (alpha + l), for s from 0 to r (r takes none): a product
    along the rows, so that a component costs a running sum over them. All terms are positive, so that no digits
    are lost. Cost O(n H min(n, H)).
    """
    most = min(n, n_components)
    reached = np.zeros((n + 1, most + 1))
    reached[n, 0] = 1.0
    moved = np.empty(most + 1)
    for component in range(1, n_components):
        top = min(component, most)
        taken = np.zeros(top + 1)
        for left in range(n, -1, -1):
            row = reached[left]
            empty = concentration / (concentration + left)
            passed = left / (concentration + left)
            moved[0] = empty * row[0]
            for k in range(1, top + 1):
                moved[k] = empty * (row[k] + taken[k - 1])
            for k in range(top + 1):
                carried = passed * (taken[k] + row[k])
                taken[k] = carried if carried > NEGLIGIBLE else 0.0
                row[k] = moved[k] if moved[k] > NEGLIGIBLE else 0.0
    counts = reached[0, 1:].copy()
    for left in range(1, n + 1):
        counts += reached[left, :-1]
    return counts
