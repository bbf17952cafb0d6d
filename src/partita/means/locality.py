"""What it costs to choose columns: few of them, and how alike from cluster to cluster.

A column is chosen by a cluster with probability nu ~ Beta of mean m and variance rho, nu at its posterior mean. Garg,
Rudin and Jaakkola (2016), equation (1), with a_v, b_v the numbers of that posterior where v says whether it is chosen:

    F_v = (a_v + b_v) log(a_v + b_v) - a_v log a_v - b_v log b_v,      a_v = m^2 (1 - m) / rho - m + v,
                                                                       b_v = m (1 - m)^2 / rho + m - v.

rho -> m (1 - m) leaves every cluster to itself (F_0 = F_1 = 0), rho -> 0 makes all choose alike.
"""

from typing import NamedTuple

from scipy.special import xlogy

NEAR_LOCAL = 0.01
"""How far the default rho is below its limit."""


class Locality(NamedTuple):
    """F_0, of a column that is not chosen, and F_1 - F_0, what choosing it adds."""

    ignored: float
    chosen_more: float


def default_locality(share: float) -> float:
    """The variance rho of the paper's experiments, m (1 - m) - 0.01; half of the limit where that is below 0.02."""
    limit = share * (1.0 - share)
    return limit - NEAR_LOCAL if limit > 2.0 * NEAR_LOCAL else 0.5 * limit


def locality_costs(share: float, locality: float) -> Locality:
    """F_0 and F_1 - F_0; nothing where all columns are chosen."""
    if share == 1.0:
        return Locality(0.0, 0.0)
    ignored, chosen = (_cost(*posterior_numbers(share, locality, v)) for v in (0, 1))
    return Locality(ignored, chosen - ignored)


def posterior_numbers(share: float, locality: float, chosen: int) -> tuple[float, float]:
    """a_v and b_v."""
    a = share**2 * (1.0 - share) / locality - share + chosen
    b = share * (1.0 - share) ** 2 / locality + share - chosen
    return a, b


def _cost(a: float, b: float) -> float:
    return float(xlogy(a + b, a + b) - xlogy(a, a) - xlogy(b, b))
