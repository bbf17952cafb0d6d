"""What losses sum over the sizes of clusters, as tables for 0, 1, ... n."""

import numpy as np


def xlogx(n: int) -> np.ndarray:
    """x log x for x = 0, 1, ... n."""
    x = np.arange(n + 1, dtype=np.float64)
    return x * np.log(np.maximum(x, 1.0))


def squares(n: int) -> np.ndarray:
    """x^2 for x = 0, 1, ... n."""
    return np.arange(n + 1, dtype=np.float64) ** 2
