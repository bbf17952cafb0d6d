"""The paper's approximate budget: a cluster chooses the columns that say its rows well enough."""

from typing import Any

import numpy as np

from partita.means.choices import Choice, WhatPays
from partita.parameters import is_number


class Thresholds(Choice):
    """Categories that save a share of their cost, numbers of a small variance (Garg, Rudin and Jaakkola 2016).

    A column of categories is chosen where G_d - G_kd > epsilon_c G_d, with G_d what its cells cost elsewhere and G_kd
    what they cost in the cluster; one of numbers where its variance there is below epsilon_v. What is not observed in
    a cluster is not chosen. The objective is not what this rule minimises.

    Parameters
    ----------
    n_numbers : int
        The first columns, which are numbers.
    gain, variance : float or None
        epsilon_c and epsilon_v. Where there is none, what pays is chosen.
    prices : (D,) array
        What a column costs whose kind has no threshold.
    """

    def __init__(self, n_numbers: int, gain: float | None, variance: float | None, prices: np.ndarray | float = 0.0):
        self.n_numbers, self.gain, self.variance = n_numbers, gain, variance
        self.without = WhatPays(prices)

    def of_clusters(self, gains: np.ndarray, elsewhere: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Those that say it well enough."""
        chosen = self.without.of_clusters(gains, elsewhere, spread)
        numbers, categories = slice(None, self.n_numbers), slice(self.n_numbers, None)
        if self.variance is not None:
            chosen[:, numbers] = (spread < self.variance) & (elsewhere[:, numbers] != 0.0)
        if self.gain is not None:
            chosen[:, categories] = gains[:, categories] > self.gain * elsewhere[:, categories]
        return chosen

    def of_rows(self, gains: np.ndarray, elsewhere: np.ndarray) -> np.ndarray:
        """The same of single rows, whose variance is 0."""
        return self.of_clusters(gains, elsewhere, np.zeros((len(gains), self.n_numbers)))


def checked_thresholds(gain: Any, variance: Any, *, budget: str, standardize: bool) -> None:
    """Refuse thresholds that are out of range, or that nothing would ask for."""
    told = [name for name, value in (("gain_threshold", gain), ("variance_threshold", variance)) if value is not None]
    if told and budget != "approximate":
        raise ValueError(f"{' and '.join(told)} would do nothing with budget={budget!r}: pass budget='approximate'.")
    if gain is not None and not (is_number(gain) and 0.0 < gain < 1.0):
        raise ValueError(f"gain_threshold must be None or a number between 0 and 1, got {gain!r}.")
    if variance is not None and not (is_number(variance) and variance > 0.0):
        raise ValueError(f"variance_threshold must be None or a positive number, got {variance!r}.")
    if variance is not None and standardize:
        raise ValueError("variance_threshold is in squared units of the columns: pass standardize=False with it.")
