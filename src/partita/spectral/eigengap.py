"""How many clusters a spectrum shows."""

import numpy as np

BIG_JUMPS = ((0.35, 2.0), (0.2, 3.0))
"""A difference of two eigenvalues is a big jump if it is more than this share of the mean of all eigenvalues, and a
step to at least so many times as much."""

FLOOR = 0.002
"""Share of the last eigenvalue that is added where a gap is put in relation to the eigenvalue above it."""

CLEAR = 0.8
"""Relative gap, a step to about five times as much, from which a gap is clear and yields only to a later clear one."""

LEAST_RATIO = 4.4
"""Ratio of the eigenvalues above and below a gap that two clusters need; a single curve has 4 (0, 1, 4, 9, ...)."""

LOOKED_AT = 20
"""Gaps that should be known, whatever the largest number of clusters: the last eigenvalue sets the scale."""


def relative_gaps(eigenvalues: np.ndarray) -> np.ndarray:
    """How clear the gap after each eigenvalue is in relation to its place: (l[k+1] - l[k]) / (l[k+1] + l[last] / 500).

    It is nearly a function of the ratio of the two eigenvalues, as are the gaps of Azran and Ghahramani (2006), who
    take the largest of (1 - l[k])^t - (1 - l[k+1])^t over all numbers t of steps of a random walk. The second term
    keeps ratios of tiny eigenvalues from winning.

    Parameters
    ----------
    eigenvalues : (m,) array
        Ascending, not negative.

    Returns
    -------
    (m - 1,) array
        The k-th entry, from k = 1, is for k clusters.

    Examples
    --------
    >>> import numpy as np
    >>> relative_gaps(np.array([0.0, 0.01, 0.02, 0.9, 1.0])).round(2)
    array([0.83, 0.45, 0.98, 0.1 ])
    """
    values = np.maximum(np.asarray(eigenvalues, dtype=np.float64), 0.0)
    above = values[1:] + FLOOR * values[-1:]
    return np.divide(np.diff(values), above, out=np.zeros(above.shape), where=above > 0.0)


def choose_n_clusters(eigenvalues: np.ndarray, *, mean: float = 1.0, most: int | None = None) -> int:
    """The number of clusters with the clearest gap after it; never fewer than there are zeros, up to ``most``.

    *Big* jumps are the slides' eigengap: more than 0.35 of the mean eigenvalue and at least twice as much, or more than
    0.2 and three times as much. The largest wins, but for a big jump after the zeros of a graph in several components.
    There is none in a graph of neighbours on curves or surfaces, whose eigenvalues begin near 0 and grow like k^2 or
    k: the largest difference is then somewhere at the end and means nothing, and the last relative gap of at least 0.8
    wins, or else the largest (see `relative_gaps`), after two eigenvalues or more, if the eigenvalue above it is more
    than 4.4 times the one below. Otherwise there is one cluster.

    Parameters
    ----------
    eigenvalues : (m,) array
        Ascending, not negative; about twenty or more, or all there are.
    mean : float
        Mean of all eigenvalues of the graph: 1 for a normalised Laplacian, the mean degree for D - W.
    most : int, optional
        The largest answer.

    References
    ----------
    von Luxburg (2007), section 8.3; Azran and Ghahramani (2006).

    Examples
    --------
    >>> import numpy as np
    >>> choose_n_clusters(np.array([0.0, 0.01, 0.02, 0.9, 1.0]))
    3
    """
    values = np.maximum(np.asarray(eigenvalues, dtype=np.float64), 0.0)
    most = values.size if most is None else most
    n_zeros = int(np.count_nonzero(values == 0.0))
    if n_zeros == values.size or n_zeros >= most:
        return min(values.size, most)
    jumps = _big_jumps(values, mean)[:most]
    if jumps.any():
        return n_zeros if n_zeros > 1 and jumps[n_zeros - 1] > 0.0 else int(jumps.argmax()) + 1
    gaps = relative_gaps(values)[:most]
    if n_zeros == 1:
        gaps[0] = 0.0  # relative to an eigenvalue that follows 0, every gap is clear
    clear = np.flatnonzero(gaps >= CLEAR)
    k = int(clear[-1] if clear.size else gaps.argmax()) + 1
    return k if values[k] > LEAST_RATIO * values[k - 1] else max(1, n_zeros)


def _big_jumps(values: np.ndarray, mean: float) -> np.ndarray:
    """Differences (m - 1,) of the eigenvalues, 0 where they are no big jumps."""
    jumps = np.diff(values)
    big = [(jumps > share * mean) & (values[1:] >= times * values[:-1]) for share, times in BIG_JUMPS]
    return np.where(np.logical_or.reduce(big), jumps, 0.0)
