"""How a posterior is found."""

from typing import Any

from partita.engines.base import Engine
from partita.engines.outcome import Outcome
from partita.running.progress import Progress

# They are named in this order.
# isort: off
from partita.engines.gibbs import Gibbs
from partita.engines.variational import Variational
from partita.engines.collapsed_variational import CollapsedVariational
from partita.engines.em import EM
# isort: on

ENGINES: dict[str, Any] = Engine.known

__all__ = ["EM", "ENGINES", "CollapsedVariational", "Engine", "Gibbs", "Outcome", "Progress", "Variational"]
