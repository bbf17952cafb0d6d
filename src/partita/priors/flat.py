"""No hyperprior at all: what is learned goes where the bound is largest."""

from typing import NoReturn

import numpy as np

from partita.parameters import is_number
from partita.priors.hyperpriors import Gamma, Slopes


class Flat(Gamma, name="flat"):
    """No hyperprior: density 1 of log x everywhere, the limit of Gamma(shape, rate) where both go to 0.

    What the variational engines maximise is then their bound alone, by Newton's steps, as in Wang, Domeniconi and
    Laskey (2010). The density is improper, so nothing can be drawn under it: Gibbs sampling refuses it, for the
    posterior need not be proper either. The bound has no maximum when there is one cluster, or when all clusters are
    pure: then x ends at 1e-6 or 1e6, where nothing changes any more.

    Parameters
    ----------
    start : float
        Where x begins, and where it is held by what does not learn it.

    Examples
    --------
    >>> from partita import Mixture
    >>> from partita.priors import DirichletProcess
    >>> model = Mixture(prior=DirichletProcess(concentration=Flat()), engine="vb", random_state=0)
    >>> round(model.fit([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]).state_.concentration, 2)
    0.45
    """

    shape = rate = 0.0
    within = (1e-6, 1e6)

    def __init__(self, start: float = 1.0):
        self.start = start

    def check(self) -> None:
        """Refuse a start outside the range that is looked through."""
        if not (is_number(self.start) and self.within[0] <= self.start <= self.within[1]):
            raise ValueError(f"Flat's start must be a number from 1e-6 to 1e6, got {self.start!r}.")

    def require_proper(self, what: str) -> NoReturn:
        """Refuse."""
        raise ValueError(
            f"{what} cannot be had under Flat(), a hyperprior that does not integrate: pass a number, "
            "priors.Gamma(shape, rate), or an engine that maximises, 'vb' or 'cvb'."
        )

    @property
    def mean(self) -> float:
        """Where x begins."""
        return float(self.start)

    def sample(self, rng: np.random.Generator) -> float:
        """Refuse."""
        self.require_proper("A draw")

    def log_density_of_log(self, log_x):
        """0."""
        return np.zeros(np.shape(log_x))[()]

    def slopes_of_log(self, log_x: float) -> Slopes:
        """0, 0, 0."""
        return 0.0, 0.0, 0.0
