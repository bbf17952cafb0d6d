"""What it costs to report one partition when another is true: the losses, by name or as objects."""

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from partita.kernels import loss_values
from partita.kernels.loss_values import loss_value
from partita.parameters import Named, choose
from partita.posterior.condensing import Condensed
from partita.posterior.estimate.comparing import squares, tabled_losses, xlogx
from partita.posterior.estimate.limits import Limits
from partita.posterior.estimate.lower_bounds import MOST_PAIRED, vi_lower_bounds
from partita.posterior.estimate.objectives import Units, additive, pairs, ratios
from partita.posterior.estimate.zero_one import most_probable

if TYPE_CHECKING:
    from partita.posterior.estimate.references import References

_STEPS_OF_RATIO = 4.0  # what a step costs where the loss is a ratio within every draw


class Loss(Named, kind="loss"):
    """A loss of an estimate and a draw, over the objects that both label; 0 if there are none.

    ``class Mine(Loss, name="mine")`` with `between` and `objective` is known to every estimator and command.
    ``n`` is the number of objects that both label, n_T the sizes of the estimate's clusters, n_C of the draw's, n_TC of
    what they share.
    """

    of_two: ClassVar[bool] = True
    """Whether it compares two partitions; else one with all draws together."""

    adds: ClassVar[bool] = False
    """Whether it adds over cells: then units move as one, and labels that only one atom has do not count."""

    reads_all_draws: ClassVar[bool] = False
    """Whether a scan costs the same however many draws there are."""

    most_atoms: ClassVar[float] = math.inf
    """Atoms up to which there is an objective to search by."""

    def between(self, candidates: np.ndarray, draws: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Losses (candidate, draw) of partitions over atoms, each of which stands for ``counts`` equal objects."""
        raise NotImplementedError(f"{type(self).__name__} does not say what two partitions cost: implement between.")

    def expected(self, candidates: np.ndarray, draws: Condensed) -> np.ndarray:
        """Expected loss of every candidate, given over the atoms of the draws; exactly."""
        return self.between(candidates, draws.labels, draws.counts) @ draws.weights

    def expected_alone(self, draws: Condensed) -> float:
        """Expected loss of the partition into single objects. Cost: that of `between` for one object per atom."""
        labels = np.repeat(draws.labels, draws.counts, axis=1)
        alone = np.arange(labels.shape[1])[None]
        return float(self.between(alone, labels, np.ones(labels.shape[1], np.int64))[0] @ draws.weights)

    def answers(self, draws: Condensed, limits: Limits) -> list[np.ndarray] | None:
        """Partitions of the atoms that obey the limits and of which the best is the estimate; None: it is searched."""
        return None

    def stand_in(self) -> "Loss":
        """A loss of two partitions to compare many candidates by, roughly."""
        return self

    def objective(self, against: "References", units: Units, n_slots: int) -> Any:
        """What the search lowers: the compiled state of an empty partition with room for so many clusters.

        It answers to `score`, `place` and `value` of `partita.kernels.search`.
        """
        raise NotImplementedError(f"{type(self).__name__} has nothing for the search to lower: implement objective.")

    def scan_work(self, n_atoms: int, n_slots: int, n_draws: float) -> float:
        """Elementary steps (about half a nanosecond each) of moving every atom once; by default one for every cell."""
        return n_draws * float(n_atoms) * n_slots

    def prepare(self, against: "References") -> None:
        """Make what several searches at once share."""

    def check(self) -> None:
        """Refuse options outside their range."""


class _Tabled(Loss):
    """A loss that is a function of the sums of `phi` over n_T, n_C and n_TC: a compiled one, which ``kind`` names."""

    kind: int
    a: float = 1.0

    def phi(self, n: int) -> np.ndarray:
        """The function that the loss sums over sizes, for 0, 1, ... n."""
        return xlogx(n)

    def between(self, candidates: np.ndarray, draws: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """From contingency tables, which are carried from candidate to candidate."""
        return tabled_losses(self.kind, float(self.a), self.phi, candidates, draws, counts)

    def expected_alone(self, draws: Condensed) -> float:
        """From the cluster sizes of the draws. Cost O(draws x atoms)."""
        phi = self.phi(int(draws.counts.sum()))
        total = 0.0
        for weight, labels in zip(draws.weights, draws.labels):
            seen = labels >= 0
            sizes = np.bincount(labels[seen], weights=draws.counts[seen]).astype(np.int64)
            n, alone = int(sizes.sum()), float(sizes.sum() * phi[1])
            total += weight * loss_value(self.kind, self.a, n, phi[n], alone, phi[sizes].sum(), alone)
        return float(total)


class _Ratio(_Tabled):
    """One that is a ratio within every draw, so that draws do not add up before they are divided."""

    def objective(self, against: "References", units: Units, n_slots: int) -> Any:
        """Sums over the cells of every draw's table, scored draw by draw."""
        return ratios(self.kind, self.phi, against, units.counts, n_slots)

    def scan_work(self, n_atoms: int, n_slots: int, n_draws: float) -> float:
        """A few steps for every cell."""
        return _STEPS_OF_RATIO * super().scan_work(n_atoms, n_slots, n_draws)


class _Split(_Tabled):
    """A loss with a price for wrong splits and another for wrong merges."""

    adds = True

    def __init__(self, *, a: float = 1.0):
        self.a = a

    def scale(self, n: np.ndarray) -> np.ndarray:
        """What the sums of `phi` are divided by."""
        raise NotImplementedError

    def objective(self, against: "References", units: Units, n_slots: int) -> Any:
        """Sums over cells, kept up to date."""
        return additive(self.phi, self.scale(against.n_labelled), self.a, against, units, n_slots)

    def check(self) -> None:
        """Refuse a price outside 0 to 2."""
        if isinstance(self.a, bool) or not isinstance(self.a, Real) or not 0.0 <= self.a <= 2.0:
            raise ValueError(
                f"{type(self).__name__}(a=...) is the cost of a wrong split, from 0 to 2 (1: that of a merge);"
                f" got {self.a!r}."
            )


class VI(_Split, name="vi"):
    """Variation of information, in nats: a H(estimate | draw) + (2 - a) H(draw | estimate). Meila (2007).

    Parameters
    ----------
    a : float
        Cost of splitting what belongs together; 2 - a is that of merging what does not. More than 1 gives fewer
        clusters.

    Examples
    --------
    >>> from partita import Posterior
    >>> posterior = Posterior([[0, 0, 1, 1], [0, 0, 0, 0]])
    >>> [posterior.estimate(loss=VI(a=a)).n_clusters for a in (0.5, 1.5)]
    [2, 1]
    """

    kind = loss_values.VI

    def scale(self, n: np.ndarray) -> np.ndarray:
        """What the sums of `phi` are divided by."""
        return n


class Binder(_Split, name="binder"):
    """Binder's loss: 2/n^2 times the cost of all pairs, ``a`` for one split wrongly, 2 - a for one merged wrongly.

    Parameters
    ----------
    a : float
        Cost of a pair that the estimate splits and the draw does not. More than 1 gives fewer clusters.

    Examples
    --------
    >>> from partita import Posterior
    >>> posterior = Posterior([[0, 0, 1, 1], [0, 0, 0, 0]])
    >>> [posterior.estimate(loss=Binder(a=a)).n_clusters for a in (0.5, 1.5)]
    [2, 1]
    """

    kind = loss_values.BINDER

    def phi(self, n: int) -> np.ndarray:
        """Squares: twice the number of pairs, and n."""
        return squares(n)

    def scale(self, n: np.ndarray) -> np.ndarray:
        """What the sums of `phi` are divided by."""
        return n.astype(np.float64) ** 2


class OneMinusARI(_Ratio, name="one-minus-ari"):
    """One minus the adjusted Rand index of Hubert and Arabie (1985); 0 for two partitions that are trivial alike.

    Examples
    --------
    >>> from partita.posterior import least_expected
    >>> least_expected([[0, 0, 1, 1], [0, 0, 0, 1]], [[0, 0, 1, 1], [0, 1, 2, 2]], loss=OneMinusARI())[1].round(3)
    array([0.214, 1.167])
    """

    kind = loss_values.ONE_MINUS_ARI

    def phi(self, n: int) -> np.ndarray:
        """Squares: twice the number of pairs, and n."""
        return squares(n)


class NVI(_Ratio, name="nvi"):
    """Normalised variation of information: 1 - I / H(joint), 0 where both are one cluster.

    Examples
    --------
    >>> from partita.posterior import least_expected
    >>> least_expected([[0, 0, 1, 1], [0, 0, 0, 1]], [[0, 0, 1, 1], [0, 1, 2, 2]], loss=NVI())[1].round(3)
    array([0.167, 0.818])
    """

    kind = loss_values.NVI


class NID(_Ratio, name="nid"):
    """Normalised information distance: 1 - I / max(H(estimate), H(draw)), 0 where both are one cluster.

    Examples
    --------
    >>> from partita.posterior import least_expected
    >>> least_expected([[0, 0, 1, 1], [0, 0, 0, 1]], [[0, 0, 1, 1], [0, 1, 2, 2]], loss=NID())[1].round(3)
    array([0.167, 0.741])
    """

    kind = loss_values.NID


class ZeroOne(_Tabled, name="zero-one"):
    """0 for the same partition, 1 for any other: the estimate is the most probable partition.

    Examples
    --------
    >>> from partita import Posterior
    >>> Posterior([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 2, 2]]).estimate(loss=ZeroOne()).labels
    array([0, 0, 1, 1])
    """

    kind = loss_values.ZERO_ONE

    def phi(self, n: int) -> np.ndarray:
        """Squares, whose sums are exact."""
        return squares(n)

    def answers(self, draws: Condensed, limits: Limits) -> list[np.ndarray]:
        """Those that agree with many draws."""
        return most_probable(draws, limits)

    def expected(self, candidates: np.ndarray, draws: Condensed) -> np.ndarray:
        """The weight of the draws that are others; no more than 1 for all rounding."""
        return np.minimum(super().expected(candidates, draws), 1.0)


class VILowerBound(Loss, name="vi-lb"):
    """A lower bound on the expected variation of information, from co-clustering probabilities P.

    E VI >= 1/n sum_i [log n_T(i) + E log n_C(i) - 2 log sum_{j in T(i)} P_ij], T(i) the estimate's and C(i) the
    draws' cluster of object i (Jensen's inequality). It is no loss of two partitions: it is defined by all draws
    together. Wade and Ghahramani (2018), whose constant, log E n_C(i), makes it no bound.

    Examples
    --------
    >>> from partita.posterior import least_expected
    >>> least_expected([[0, 0, 1, 1], [0, 0, 0, 1]], [[0, 0, 1, 1], [0, 1, 2, 2]], loss=VILowerBound())[1].round(3)
    array([0.114, 0.938])
    """

    of_two = False
    reads_all_draws = True
    most_atoms = MOST_PAIRED

    def expected(self, candidates: np.ndarray, draws: Condensed) -> np.ndarray:
        """The bound for every candidate."""
        return vi_lower_bounds(candidates, draws)

    def expected_alone(self, draws: Condensed) -> float:
        """There the bound is the expected variation of information itself."""
        return VI().expected_alone(draws)

    def stand_in(self) -> Loss:
        """What it is a bound on."""
        return VI()

    def objective(self, against: "References", units: Units, n_slots: int) -> Any:
        """Sums over all pairs of atoms."""
        return pairs(against, units.counts, n_slots)

    def scan_work(self, n_atoms: int, n_slots: int, n_draws: float) -> float:
        """One step for every pair."""
        return float(n_atoms) ** 2

    def prepare(self, against: "References") -> None:
        """The matrix of all pairs."""
        _ = against.together


LOSSES: dict[str, Any] = Loss.known


def loss_from(loss: Any) -> Loss:
    """The loss of a name, or the loss itself, its options checked."""
    if isinstance(loss, type) and issubclass(loss, Loss):
        raise TypeError(f"loss is the class {loss.__name__}: pass {loss.__name__}() or its name.")
    found = loss if isinstance(loss, Loss) else choose("loss", loss, LOSSES)()
    found.check()
    return found
