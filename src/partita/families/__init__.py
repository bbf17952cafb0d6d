"""What one cluster's rows look like."""

from partita.families.base import FAMILIES, Conjugate, Family
from partita.families.categorical import Categorical
from partita.families.count import Count
from partita.families.gaussian import Gaussian
from partita.families.log_normal import LogNormal
from partita.families.mixed import Mixed
from partita.families.selective import Selective

__all__ = ["FAMILIES", "Categorical", "Conjugate", "Count", "Family", "Gaussian", "LogNormal", "Mixed", "Selective"]
