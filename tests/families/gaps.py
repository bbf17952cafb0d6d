"""The Student-t of a row given a cluster, in closed form, and many draws of a row's missing cells."""

import numpy as np

from partita.kernels.gibbs import complete_rows

N_DRAWS = 20_000


def predictive_t(case, copies):
    """Location, shape and degrees of freedom of the predictive Student-t of a whole row (Murphy 2007, eq. 258)."""
    likelihood, x = case.likelihood, np.repeat(case.rows.x, copies, axis=0)
    n, d = x.shape
    k, df = likelihood.mean_precision + n, likelihood.dof + n - d + 1
    mean = x.sum(axis=0) / k
    average = x.mean(axis=0) if n else np.zeros(d)
    scatter = (x - average).T @ (x - average)
    shrunk = likelihood.mean_precision * n / k * np.outer(average, average)
    return mean, (likelihood.scale + scatter + shrunk) * (k + 1) / (k * df), df


def conditional_t(mean, shape, df, seen, hidden, cells):
    """The Student-t of hidden cells given seen ones (Ding 2016)."""
    inside = np.linalg.inv(shape[np.ix_(seen, seen)]) if seen.size else np.empty((0, 0))
    gain = shape[np.ix_(hidden, seen)] @ inside
    off = cells - mean[seen]
    rest = shape[np.ix_(hidden, hidden)] - gain @ shape[np.ix_(seen, hidden)]
    return mean[hidden] + gain @ off, rest * (df + off @ inside @ off) / (df + seen.size), df + seen.size


def draw_cells(rows, cells, state, i, n_rows):
    """Many draws of the missing cells of row ``i``, which sits in slot 0."""
    rng = np.random.default_rng(51 + i)
    labels = np.where(np.arange(n_rows) == i, 0, -1)
    out = np.empty((N_DRAWS, cells.shape[1]))
    for t in range(N_DRAWS):
        complete_rows(rng, rows, state, labels)
        out[t] = cells[i]
    return out
