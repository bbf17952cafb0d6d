"""How many rows of a matrix are different, without looking at more of them than needed."""

from typing import Any

import numpy as np
from scipy.sparse import issparse


def n_distinct_rows(x: Any, most: int) -> int:
    """Number of different rows of a dense or sparse matrix, or ``most`` if there are more."""
    n = 4 * most
    while True:
        first = x[:n].toarray() if issparse(x) else x[:n]
        found = np.unique(first, axis=0).shape[0]
        if found >= most or n >= x.shape[0]:
            return min(found, most)
        n *= 4
