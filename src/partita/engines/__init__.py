"""How a posterior is found."""

from partita.engines.em import EM
from partita.engines.gibbs import Gibbs
from partita.engines.reporting import Progress

ENGINES = {"gibbs": Gibbs, "em": EM}

__all__ = ["EM", "ENGINES", "Gibbs", "Progress"]
