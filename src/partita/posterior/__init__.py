"""What was learned: draws of partitions, and everything that can be read from them alone."""

from partita.posterior.credible_ball import CredibleBall
from partita.posterior.diagnostics import Diagnostics
from partita.posterior.entropy import EffectiveSampleSizeWarning
from partita.posterior.estimate import Estimate
from partita.posterior.estimate.expected import least_expected, losses_to_draws
from partita.posterior.estimate.losses import LOSSES, NID, NVI, VI, Binder, Loss, OneMinusARI, VILowerBound, ZeroOne
from partita.posterior.estimate.search import Run
from partita.posterior.hierarchy import Hierarchy
from partita.posterior.membership import membership_probabilities
from partita.posterior.modes import Mode
from partita.posterior.posterior import Posterior

__all__ = [
    "LOSSES",
    "NID",
    "NVI",
    "VI",
    "Binder",
    "CredibleBall",
    "Diagnostics",
    "EffectiveSampleSizeWarning",
    "Estimate",
    "Hierarchy",
    "Loss",
    "Mode",
    "OneMinusARI",
    "Posterior",
    "Run",
    "VILowerBound",
    "ZeroOne",
    "least_expected",
    "losses_to_draws",
    "membership_probabilities",
]
