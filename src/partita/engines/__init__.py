"""How a posterior is found."""

from partita.engines.gibbs import Gibbs
from partita.engines.reporting import Progress

ENGINES = {"gibbs": Gibbs}

__all__ = ["ENGINES", "Gibbs", "Progress"]
