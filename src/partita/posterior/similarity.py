"""How often two objects are in the same cluster."""

import numpy as np

from partita.kernels.contingency import coclustering
from partita.posterior.condensing import Condensed

LARGE = 20_000
"""Objects above which the dense matrix is only made on request."""


def similarity(draws: Condensed, *, allow_large: bool = False) -> np.ndarray:
    """Co-clustering probabilities, (n, n) float64: S_ij = sum_b w_b [i and j share a cluster in b].

    A draw counts for the pairs that it labels; a pair that no draw labels is nan. The diagonal is 1.
    Cost O(draws x atoms^2).
    """
    n = len(draws.inverse)
    if n > LARGE and not allow_large:
        raise ValueError(
            f"The similarity of {n:,} objects needs {8 * n * n / 1e9:.1f} GB of memory;"
            " ask for it with similarity(allow_large=True)."
        )
    n_atoms = len(draws.counts)
    together = np.zeros((n_atoms, n_atoms))
    coclustering(draws.labels, draws.weights, together)
    if draws.partial:
        observed = np.zeros((n_atoms, n_atoms))
        coclustering(np.minimum(draws.labels, 0), draws.weights, observed)
        together = np.divide(together, observed, out=np.full_like(together, np.nan), where=observed > 0)
    np.minimum(together, 1.0, out=together)
    _mirror(together)
    if n_atoms < n:
        together = together[np.ix_(draws.inverse, draws.inverse)]
    np.fill_diagonal(together, 1.0)
    return together


def _mirror(matrix: np.ndarray) -> None:
    """Copy the lower triangle to the upper one, a row at a time: no second matrix."""
    for i in range(1, len(matrix)):
        matrix[:i, i] = matrix[i, :i]
