"""What was learned: draws of partitions, and everything that can be read from them alone."""

from partita.posterior.diagnostics import Diagnostics
from partita.posterior.estimate import Estimate
from partita.posterior.losses import VI, least_expected_vi
from partita.posterior.membership import membership_probabilities
from partita.posterior.posterior import Posterior

__all__ = [
    "VI",
    "Diagnostics",
    "Estimate",
    "Posterior",
    "least_expected_vi",
    "membership_probabilities",
]
