"""The known-variance Gaussian under another name: what `Mixed` makes of a stranger can be held against its own."""

from typing import NamedTuple

import numpy as np

from partita.families import Gaussian
from partita.families.normal_known_variance import KnownVarianceState, NormalKnownVariance
from partita.kernels.dispatch import _GENERICS, implements
from partita.table import Table


class Copied(Gaussian):
    """Numeric columns of known variance."""

    def on_columns(self, table: Table, columns: np.ndarray) -> "CopiedNormal":
        known = super().on_columns(table, columns)
        return CopiedNormal(known.mean, known.variance, known.mean_variance, columns)


class CopiedState(NamedTuple):
    """As `KnownVarianceState`."""

    stats: np.ndarray
    mean: np.ndarray
    precision: np.ndarray
    constant: np.ndarray
    slope: np.ndarray
    hyper: np.ndarray


class CopiedNormal(NormalKnownVariance):
    """Compiled code does not know it for what it is."""

    def state(self, n_slots: int) -> CopiedState:
        return CopiedState(*super().state(n_slots))


for generic in _GENERICS.values():
    if KnownVarianceState in generic.implementations:
        implements(generic.stub, CopiedState)(generic.implementations[KnownVarianceState])
