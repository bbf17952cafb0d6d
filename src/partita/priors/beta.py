"""A hyperprior of a share: a number between 0 and 1."""

import numpy as np
from scipy.special import betaln, xlog1py

from partita.parameters import Named
from partita.priors.checks import require_above

_LEAST, _MOST = 1e-300, 1.0 - 2.0**-53


class Beta(Named, kind="hyperprior", name="beta"):
    """A Beta distribution: density proportional to x^(a - 1) (1 - x)^(b - 1).

    Parameters
    ----------
    a, b : float
        Both positive; the mean is a / (a + b).

    Examples
    --------
    >>> Beta(1.0, 3.0).mean
    0.25
    """

    def __init__(self, a: float = 1.0, b: float = 1.0):
        self.a = a
        self.b = b

    def check(self) -> None:
        """Refuse parameters that are no positive numbers."""
        require_above("Beta's a", self.a, 0.0)
        require_above("Beta's b", self.b, 0.0)

    def require_proper(self, what: str) -> None:
        """Nothing is to be refused: every Beta distribution can be drawn from."""

    @property
    def mean(self) -> float:
        """The mean, a / (a + b)."""
        return float(self.a / (self.a + self.b))

    def after(self, n_yes: float, n_no: float) -> "Beta":
        """The distribution given so many draws of either kind."""
        return Beta(self.a + n_yes, self.b + n_no)

    def sample(self, rng: np.random.Generator) -> float:
        """Draw a number between 0 and 1, neither of which it is."""
        return min(max(float(rng.beta(self.a, self.b)), _LEAST), _MOST)

    def log_density_of_log(self, log_x):
        """Log density of log x, that is, with the Jacobian x."""
        return self.a * log_x + xlog1py(self.b - 1.0, -np.exp(log_x)) - betaln(self.a, self.b)
