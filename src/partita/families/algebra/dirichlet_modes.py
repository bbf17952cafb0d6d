"""Shares at which a product of their powers is largest: modes of Dirichlet densities."""

import numpy as np


def mode(exponents: np.ndarray) -> np.ndarray:
    """Shares (K, J) in proportion to the exponents, 0 where they are negative, equal where none is positive."""
    above = np.maximum(exponents, 0.0)
    above[above.sum(axis=1) == 0.0] = 1.0
    return above / above.sum(axis=1, keepdims=True)


def bounded_mode(exponents: np.ndarray, least: float) -> np.ndarray:
    """Shares (K, J) of at least ``least`` with the largest product of powers prod_j share_j^exponent_j.

    Negative exponents want the smallest share; positive ones share the rest in proportion, and those that get less
    than ``least`` so are raised to it too. Without a positive exponent those of 0 share the rest alike, and without
    one of 0 the largest takes it.
    """
    n_levels = exponents.shape[1]
    least = min(least, 1.0 / n_levels)
    weights = np.maximum(exponents, 0.0)
    largest = exponents.max(axis=1)
    weights[largest == 0.0] = exponents[largest == 0.0] == 0.0
    weights[largest < 0.0, exponents[largest < 0.0].argmax(axis=1)] = 1.0
    raised = weights == 0.0
    while True:
        free = np.where(raised, 0.0, weights)
        rest = 1.0 - least * raised.sum(axis=1, keepdims=True)
        shares = np.where(raised, least, free / free.sum(axis=1, keepdims=True) * rest)
        small = (shares < least) & ~raised
        if not small.any():
            return shares
        raised |= small
