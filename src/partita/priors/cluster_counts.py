"""How probable every number of clusters is: Stirling triangles and a walk along the sticks."""

import numpy as np
from scipy.special import logsumexp

MOST_CELLS = 2_000_000_000
QUADRATURE_POINTS = 500
"""About how many concentrations an average over a hyperprior needs."""


def require_affordable(n: int, cells: float) -> None:
    """Refuse a distribution that would take more than about a minute."""
    if cells > MOST_CELLS:
        raise ValueError(
            f"The distribution of the number of clusters among {n} rows takes about {cells:.0e} steps, more than the "
            f"limit of {MOST_CELLS:.0e}; ask for fewer rows, fix the concentration, or use expected_clusters."
        )


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


def log_stick_counts(n: int, n_components: int, concentration: float) -> np.ndarray:
    """Return log P(K = k), k = 1, ..., min(n, H), under truncated stick-breaking.

    Going through the components with r rows left, the next one leaves s of them with probability
    alpha / (alpha + s) * B(r + 1, alpha) / B(s + 1, alpha), for s from 0 to r (r takes none): a product of a
    function of r and one of s, so that a component costs a running sum. Cost O(n H min(n, H)).
    """
    most = min(n, n_components)
    left = np.arange(n + 1)
    log_beta = -np.cumsum(np.append(0.0, np.log1p(concentration / left[1:])))[:, None]
    log_empty = -np.log1p(left / concentration)[:, None]
    logs = np.full((n + 1, most + 1), -np.inf)
    logs[n, 0] = 0.0
    for h in range(1, n_components):
        top = min(h, most)
        taken = np.full((n + 1, top), -np.inf)
        taken[:-1] = np.logaddexp.accumulate((logs[:, :top] + log_beta)[:0:-1])[::-1]
        logs[:, : top + 1] += log_empty
        logs[:, 1 : top + 1] = np.logaddexp(logs[:, 1 : top + 1], log_empty - log_beta + taken)
    return np.logaddexp(logs[0, 1:], logsumexp(logs[1:, :-1], axis=0))
