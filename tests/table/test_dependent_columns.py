"""Columns that are sums or multiples of others are named."""

import numpy as np
import pytest

from partita.table.dependent_columns import dependent_columns

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))


@pytest.mark.parametrize(
    ("x", "found"),
    [
        (X, []),
        (np.column_stack([X, X[:, 0] + X[:, 1]]), [3]),
        (np.column_stack([X[:, 0], 2 * X[:, 0] + 7, X[:, 1], X[:, 1] - X[:, 0]]), [1, 3]),
        (np.column_stack([X, X[:, 0] + X[:, 1] + 1e-3 * RNG.normal(size=60)]), []),  # nearly is not fully
        (np.column_stack([X, X])[:6], []),  # too few rows to tell
        (X[:, :1], []),
    ],
)
def test_what_is_determined(x, found):
    assert dependent_columns(x) == found
    gaps = np.vstack([x, np.full((5, x.shape[1]), np.nan)])
    assert dependent_columns(gaps) == found
