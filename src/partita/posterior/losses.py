"""What it costs to report one partition when another is true: the losses, by name or as objects."""

from numbers import Real
from typing import Any

import numpy as np

from partita.kernels import loss_values
from partita.parameters import Parameters, choose


class Loss(Parameters):
    """A loss of an estimate and a draw, over the objects that both label; 0 if there are none.

    ``n`` is the number of those objects, n_T the sizes of the estimate's clusters, n_C of the draw's, n_TC of what
    they share.
    """

    kind: int
    a: float = 1.0

    def phi(self, n: int) -> np.ndarray:
        """The function that the loss sums over sizes, for 0, 1, ... n."""
        return xlogx(n)

    def check(self) -> None:
        """Refuse options outside their range."""


class _Split(Loss):
    """A loss with a price for wrong splits and another for wrong merges."""

    def __init__(self, *, a: float = 1.0):
        self.a = a

    def check(self) -> None:
        """Refuse a price outside 0 to 2."""
        if isinstance(self.a, bool) or not isinstance(self.a, Real) or not 0.0 <= self.a <= 2.0:
            raise ValueError(
                f"{type(self).__name__}(a=...) is the cost of a wrong split, from 0 to 2 (1: that of a merge);"
                f" got {self.a!r}."
            )


class VI(_Split):
    """Variation of information, in nats: a H(estimate | draw) + (2 - a) H(draw | estimate). Meila (2007).

    Parameters
    ----------
    a : float
        Cost of splitting what belongs together; 2 - a is that of merging what does not. More than 1 gives fewer
        clusters.
    """

    kind = loss_values.VI

    def scale(self, n: np.ndarray) -> np.ndarray:
        """What the sums of `phi` are divided by."""
        return n


class Binder(_Split):
    """Binder's loss: 2/n^2 times the cost of all pairs, ``a`` for one split wrongly, 2 - a for one merged wrongly.

    Parameters
    ----------
    a : float
        Cost of a pair that the estimate splits and the draw does not. More than 1 gives fewer clusters.
    """

    kind = loss_values.BINDER

    def phi(self, n: int) -> np.ndarray:
        """Squares: twice the number of pairs, and n."""
        return squares(n)

    def scale(self, n: np.ndarray) -> np.ndarray:
        """What the sums of `phi` are divided by."""
        return n.astype(np.float64) ** 2


class OneMinusARI(Loss):
    """One minus the adjusted Rand index of Hubert and Arabie (1985); 0 for two partitions that are trivial alike."""

    kind = loss_values.ONE_MINUS_ARI

    def phi(self, n: int) -> np.ndarray:
        """Squares: twice the number of pairs, and n."""
        return squares(n)


class NVI(Loss):
    """Normalised variation of information: 1 - I / H(joint), 0 where both are one cluster."""

    kind = loss_values.NVI


class NID(Loss):
    """Normalised information distance: 1 - I / max(H(estimate), H(draw)), 0 where both are one cluster."""

    kind = loss_values.NID


class ZeroOne(Loss):
    """0 for the same partition, 1 for any other: the estimate is the most probable partition."""

    kind = loss_values.ZERO_ONE

    def phi(self, n: int) -> np.ndarray:
        """Squares, whose sums are exact."""
        return squares(n)


class VILowerBound(Loss):
    """A lower bound on the expected variation of information, from co-clustering probabilities P.

    E VI >= 1/n sum_i [log n_T(i) + E log n_C(i) - 2 log sum_{j in T(i)} P_ij], T(i) the estimate's and C(i) the
    draws' cluster of object i (Jensen's inequality). It is no loss of two partitions: it is defined by all draws
    together. Wade and Ghahramani (2018), whose constant, log E n_C(i), makes it no bound.
    """

    kind = loss_values.VI


LOSSES: dict[str, type[Loss]] = {
    "vi": VI,
    "binder": Binder,
    "one-minus-ari": OneMinusARI,
    "nvi": NVI,
    "nid": NID,
    "zero-one": ZeroOne,
    "vi-lb": VILowerBound,
}


def loss_from(loss: Any) -> Loss:
    """The loss of a name, or the loss itself, its options checked."""
    if isinstance(loss, type) and issubclass(loss, Loss):
        raise TypeError(f"loss is the class {loss.__name__}: pass {loss.__name__}() or its name.")
    found = loss if isinstance(loss, Loss) else choose("loss", loss, LOSSES)()
    found.check()
    return found


def xlogx(n: int) -> np.ndarray:
    """x log x for x = 0, 1, ... n."""
    x = np.arange(n + 1, dtype=np.float64)
    return x * np.log(np.maximum(x, 1.0))


def squares(n: int) -> np.ndarray:
    """x^2 for x = 0, 1, ... n."""
    return np.arange(n + 1, dtype=np.float64) ** 2
