"""How many clusters a spectrum shows."""

import numpy as np

FLOOR = 0.5
"""Share of the largest frequency that is added to the frequency above a gap."""


def relative_gaps(eigenvalues: np.ndarray) -> np.ndarray:
    """How clear the gap after each eigenvalue is: g_k = (f_{k+1} - f_k) / (f_{k+1} + f_m / 2), f = sqrt(eigenvalue).

    Plain differences grow along the spectrum of a curve, where the k-th eigenvalue is about k^2, and so they point
    nowhere. Three thoughts lead to g:

    - An eigenvalue is a squared frequency. By Weyl's law frequencies grow like k^(1/d) on a shape of d dimensions, so
      their differences do not grow for any d.
    - A gap counts relative to the scale at which it appears: Azran and Ghahramani (2006) look at a random walk after
      t steps for all t, and the largest of their gaps max_t (1 - l_k)^t - (1 - l_{k+1})^t is nearly a function of the
      ratio l_k / l_{k+1} alone.
    - A floor, half of the largest frequency computed, keeps ratios of two tiny eigenvalues from winning.

    For an interval (f = 0, 1, 2, ...), a square or a normal distribution g_1 is the largest, "one cluster".

    Parameters
    ----------
    eigenvalues : (m,) array
        Ascending, not negative.

    Returns
    -------
    (m - 1,) array
        The k-th entry, from k = 1, is for k clusters.
    """
    frequencies = np.sqrt(np.maximum(np.asarray(eigenvalues, dtype=np.float64), 0.0))
    above = frequencies[1:] + FLOOR * frequencies[-1:]
    return np.divide(np.diff(frequencies), above, out=np.zeros(above.shape), where=above > 0.0)


def choose_n_clusters(eigenvalues: np.ndarray) -> int:
    """The number of clusters with the clearest gap after it, see `relative_gaps`; the least one among equals.

    It is at least the number of zeros, the number of components, and the number of eigenvalues if all are zero.
    """
    gaps = relative_gaps(eigenvalues)
    return int(gaps.argmax()) + 1 if gaps.any() else len(eigenvalues)
