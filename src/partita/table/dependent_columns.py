"""Numeric columns that are sums or multiples of others: they count twice, or leave a covariance without an inverse."""

import numpy as np

MOST_ROWS = 2000  # complete ones that are looked at
MOST_COLUMNS = 300
RESIDUAL = 1e-6  # standard deviations that a column may keep when the earlier ones are known


def dependent_columns(numeric: np.ndarray) -> list[int]:
    """Positions of columns (n, p) that the earlier ones determine, judged by complete rows; none of too few rows.

    Column by column, what is left of it after regression on the earlier ones that are not determined themselves. Cost
    O(n p^2).
    """
    if not 2 <= numeric.shape[1] <= MOST_COLUMNS:
        return []
    complete = numeric[~np.isnan(numeric).any(axis=1)][:MOST_ROWS]
    n, p = complete.shape
    if n < p + 2:
        return []
    basis, found = np.empty((n, 0)), []
    for j, column in enumerate((complete - complete.mean(axis=0)).T):
        size = np.linalg.norm(column)
        rest = column
        for _ in range(2):  # twice is enough against rounding
            rest = rest - basis @ (basis.T @ rest)
        left = np.linalg.norm(rest)
        if size > 0.0 and left <= RESIDUAL * size:
            found.append(j)
        elif left > 0.0:
            basis = np.column_stack([basis, rest / left])
    return found
