"""How a posterior is found."""

from typing import Any

from partita.engines.base import NamedEngine
from partita.engines.reporting import Progress

# They are named in this order.
# isort: off
from partita.engines.gibbs import Gibbs
from partita.engines.variational import Variational
from partita.engines.collapsed_variational import CollapsedVariational
from partita.engines.em import EM
# isort: on

Engine = Gibbs | Variational | CollapsedVariational | EM
ENGINES: dict[str, Any] = NamedEngine.known

__all__ = ["EM", "ENGINES", "CollapsedVariational", "Engine", "Gibbs", "Progress", "Variational"]
