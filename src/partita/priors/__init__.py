"""How rows fall into clusters: distributions over partitions."""

from typing import Any

from partita.priors.base import Prior
from partita.priors.beta import Beta
from partita.priors.dirichlet_process import DirichletProcess
from partita.priors.finite_dirichlet import FiniteDirichlet
from partita.priors.finite_mixtures import FiniteMixtures
from partita.priors.flat import Flat
from partita.priors.gibbs_type import GibbsType
from partita.priors.hyperpriors import Gamma
from partita.priors.measures import Measure
from partita.priors.pitman_yor import PitmanYor
from partita.priors.stick_breaking import StickBreaking

PRIORS: dict[str, Any] = Prior.known

__all__ = [
    "PRIORS",
    "Beta",
    "DirichletProcess",
    "FiniteDirichlet",
    "FiniteMixtures",
    "Flat",
    "Gamma",
    "GibbsType",
    "Measure",
    "PitmanYor",
    "Prior",
    "StickBreaking",
]
