"""How a posterior is found."""

from typing import Any

from partita.engines.collapsed_variational import CollapsedVariational
from partita.engines.em import EM
from partita.engines.gibbs import Gibbs
from partita.engines.reporting import Progress
from partita.engines.variational import Variational

Engine = Gibbs | Variational | CollapsedVariational | EM
ENGINES: dict[str, Any] = {"gibbs": Gibbs, "vb": Variational, "cvb": CollapsedVariational, "em": EM}

__all__ = ["EM", "ENGINES", "CollapsedVariational", "Engine", "Gibbs", "Progress", "Variational"]
