"""How a posterior is found."""

from partita.engines.chain import Progress
from partita.engines.gibbs import Gibbs

ENGINES = {"gibbs": Gibbs}

__all__ = ["ENGINES", "Gibbs", "Progress"]
