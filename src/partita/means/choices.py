"""Which columns a cluster chooses, by what it would save by saying them itself."""

from abc import ABC, abstractmethod

import numpy as np


class Choice(ABC):
    """A rule."""

    @abstractmethod
    def of_clusters(self, gains: np.ndarray, elsewhere: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Which columns (K, D) are chosen.

        Parameters
        ----------
        gains : (K, D)
            What a column saves if it is chosen.
        elsewhere : (K, D)
            What its cells cost if it is not.
        spread : (K, p)
            The variances of the columns of numbers, which come first.
        """

    def of_rows(self, gains: np.ndarray, elsewhere: np.ndarray) -> np.ndarray:
        """Which columns (n, D) rows would choose that are clusters of their own."""
        return self.of_clusters(gains, elsewhere, np.zeros((len(gains), 0)))


class SoMany(Choice):
    """As many columns for every cluster: those that save most, the first of equals."""

    def __init__(self, n_columns: int):
        self.n_columns = n_columns

    def of_clusters(self, gains: np.ndarray, elsewhere: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Those that save most."""
        chosen = np.zeros(gains.shape, bool)
        if self.n_columns:
            np.put_along_axis(chosen, np.argsort(-gains, axis=1, kind="stable")[:, : self.n_columns], True, axis=1)
        return chosen

    def of_rows(self, gains: np.ndarray, elsewhere: np.ndarray) -> np.ndarray:
        """Those that save most, in linear time."""
        n_left = gains.shape[1] - self.n_columns
        if n_left == 0:
            return np.ones(gains.shape, bool)
        chosen = np.zeros(gains.shape, bool)
        np.put_along_axis(chosen, np.argpartition(gains, n_left - 1, axis=1)[:, n_left:], True, axis=1)
        return chosen


class WhatPays(Choice):
    """Every column that saves more than it costs (D,) to choose it: the minimiser of the objective."""

    def __init__(self, prices: np.ndarray | float):
        self.prices = prices

    def of_clusters(self, gains: np.ndarray, elsewhere: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Those that pay."""
        return gains > self.prices
