"""What comes back from the global half of a variational iteration: the factors of q."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita.families.base import Conjugate

NO_PAIRS = np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class VariationalState:
    """The factors of q, all given by the sizes and statistics of K components; the others are empty.

    Attributes
    ----------
    sizes (K,), stats (K, S)
        Expected numbers of rows and sufficient statistics.
    expected : object
        What the family's ``expected_loglik`` reads.
    log_weights : (K,) array
        E log weight_k.
    concentration : float
    likelihood : Conjugate
        With its learned number at the present value.
    divergence : float
        Of the factors of weights and parameters from their priors, less the log hyperpriors.
    bound : float
        On the log evidence, of the state before this one; nan for the first.
    pairs : (P, 2) array
        Components whose merging the next iteration tries.
    n_steps : int
    settled : bool
        Whether the bound has ceased to rise and no pair is worth merging.
    """

    sizes: np.ndarray
    stats: np.ndarray
    expected: Any
    log_weights: np.ndarray
    concentration: float
    likelihood: Conjugate
    divergence: float
    bound: float
    pairs: np.ndarray
    n_steps: int
    settled: bool

    def __post_init__(self) -> None:
        n_components = self.sizes.size
        as_long = self.sizes.shape == self.log_weights.shape == (n_components,) and len(self.stats) == n_components
        pairs_fit = self.pairs.ndim == 2 and self.pairs.shape[1] == 2 and self.pairs.dtype.kind == "i"
        if not as_long or not pairs_fit or self.pairs.min(initial=0) < 0 or self.pairs.max(initial=-1) >= n_components:
            raise ValueError("The arrays of a VariationalState do not fit together: take one that global_step made.")

    def of_likelihood(self, likelihood: Conjugate, stats: np.ndarray) -> "VariationalState":
        """The state of another likelihood, whose statistics are these numbers in another order."""
        return replace(self, likelihood=likelihood, stats=stats, expected=likelihood.expected_params(stats))

    @property
    def n_components(self) -> int:
        """How many components hold rows."""
        return self.sizes.size
