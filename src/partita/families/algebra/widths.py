"""How wide Gaussian groups are before any row has been seen: the hyperprior of the scale that is there by default."""

import numpy as np

from partita.families.algebra.columns import column_moments
from partita.priors.hyperpriors import Gamma, GammaAbove
from partita.table import Table

EXPECTED_SHARE = 0.4  # of a column's variance that is within a group,
CELLS_PER_VOTE = 8.0  # by a hyperprior that weighs as much as one cell in so many
MOST_ROWS = 10_000  # that are looked at for the gaps between values, give or take a factor of two


def share_within(table: Table) -> Gamma:
    """The hyperprior of s, about the share of the columns' variance that is within groups.

    Its mean is 0.4 and its shape 2 and an eighth of the numeric cells. A shape that does not grow with the table would
    leave s to any departure from normality once rows are many: groups are then cut into pieces that fit, and s follows
    the pieces. Where groups are tight, all cells say so, and an eighth does not keep them from it.

    A column of recorded numbers says so too, as soon as its ties are taken for groups, and more than a quarter of such
    columns would win. So s is at least the share that the steps of such columns explain: see `least_share`.
    """
    cells = float(table.row_weights @ np.count_nonzero(~np.isnan(table.numeric), axis=1))
    shape = 2.0 + cells / CELLS_PER_VOTE
    return GammaAbove(shape, shape / EXPECTED_SHARE, least_share(table.numeric, table.row_weights))


def least_share(x: np.ndarray, weights: np.ndarray) -> float:
    """The largest share that the steps of at least a quarter of the columns (n, d) explain, and at most the mean.

    A number recorded in steps of h has the variance h^2 / 12 around what was measured. h is the median gap between
    neighbouring values of the column, which in a column without ties is next to nothing.
    """
    if x.shape[1] == 0:
        return 0.0
    every = max(1, len(x) // MOST_ROWS)
    some, variances = x[::every], column_moments(x[::every], weights[::every])[1]
    shares = np.sort(np.array([_step(column) for column in some.T]) ** 2 / 12.0 / variances)[::-1]
    a_quarter = -(-shares.size // 4)
    return min(float(shares[a_quarter - 1]), EXPECTED_SHARE)


def _step(column: np.ndarray) -> float:
    gaps = np.diff(np.unique(column[~np.isnan(column)]))
    return float(np.median(gaps)) if gaps.size else 0.0
