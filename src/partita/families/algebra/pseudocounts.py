"""One pseudocount for all columns of categories, learned from the counts of all clusters.

Given the counts N of every cluster, column and category, the likelihood of a pseudocount beta is

    prod_km G(J_m b) / G(J_m b + N_km) prod_j G(b + N_kmj) / G(b),    b = beta,

into which counts of 0 do not enter. Fractional counts are what a variational engine has.
"""

import math
from functools import partial

import numpy as np
from scipy.special import gammaln, polygamma, psi

from partita.priors.hyperpriors import Gamma, Slopes, newton_on_log, slice_update


class CategoryCounts:
    """Counts above 0 of all clusters, columns and categories, and the sums over categories.

    Parameters
    ----------
    stats : array (K, L)
        Counts of every cluster, one column's categories after the other's.
    n_levels : array (M,)
        How many categories every column has.
    weight : float
        How often the likelihood of a column counts.
    """

    def __init__(self, stats: np.ndarray, n_levels: np.ndarray, weight: float = 1.0):
        starts = np.concatenate([[0], np.cumsum(n_levels)[:-1]])
        totals = np.add.reduceat(stats, starts, axis=1)
        self.cells = stats[stats > 0.0]
        self.totals = totals[totals > 0.0]
        self.levels = np.broadcast_to(n_levels, totals.shape)[totals > 0.0].astype(np.float64)
        self.weight = weight

    def log_likelihood(self, pseudocount: float) -> float:
        """Log marginal likelihood of all clusters."""
        mass = pseudocount * self.levels
        cells = gammaln(pseudocount + self.cells).sum() - self.cells.size * gammaln(pseudocount)
        return self.weight * float(cells - (gammaln(mass + self.totals) - gammaln(mass)).sum())

    def slopes(self, hyperprior: Gamma, log_pseudocount: float) -> Slopes:
        """Log likelihood plus log density of log beta, and its first two derivatives in log beta."""
        beta = math.exp(log_pseudocount)
        cells = _rising_slopes(np.full(self.cells.size, beta), self.cells)
        totals = _rising_slopes(beta * self.levels, self.totals)
        first, second = self.weight * (cells - totals)
        of_prior = hyperprior.slopes_of_log(log_pseudocount)
        return self.log_likelihood(beta) + of_prior[0], float(first) + of_prior[1], float(second) + of_prior[2]

    def drawn(self, rng: np.random.Generator, hyperprior: Gamma, pseudocount: float) -> float:
        """A pseudocount after one slice-sampling step from the present one."""
        return slice_update(rng, hyperprior, self.log_likelihood, pseudocount)

    def best(self, hyperprior: Gamma, pseudocount: float) -> float:
        """The pseudocount at which `slopes` has its largest value, begun at the present one."""
        return newton_on_log(partial(self.slopes, hyperprior), pseudocount, hyperprior.within)


def _rising_slopes(a: np.ndarray, n: np.ndarray) -> np.ndarray:
    """First and second derivative, in log a, of the summed log G(a + n) / G(a), for a as small as floats are.

    With psi(x) = psi(x + 1) - 1/x no term overflows, since a / (a + n) <= 1.
    """
    ratio = a / (a + n)
    first = a * (psi(a + n + 1.0) - psi(a + 1.0)) + (1.0 - ratio)
    second = first + a * a * (polygamma(1, a + n + 1.0) - polygamma(1, a + 1.0)) + (ratio * ratio - 1.0)
    return np.array([first.sum(), second.sum()])
