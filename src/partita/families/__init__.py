"""What one cluster's rows look like."""

from partita.families.automatic import automatic_family, family_from, standardizing
from partita.families.base import FAMILIES, Cells, Conjugate, Family
from partita.families.categorical import Categorical
from partita.families.count import Count
from partita.families.gaussian import Gaussian
from partita.families.mixed import Mixed

__all__ = [
    "FAMILIES",
    "Categorical",
    "Cells",
    "Conjugate",
    "Count",
    "Family",
    "Gaussian",
    "Mixed",
    "automatic_family",
    "family_from",
    "standardizing",
]
