"""Defaults that are compared: for every kind of column, options of `Mixture` given the shape of the table."""

from collections.abc import Callable
from typing import Any

from partita.families import Categorical, Count, Gaussian
from partita.families.automatic import MOST_FULL_COLUMNS
from partita.priors import DirichletProcess, Gamma

Candidate = Callable[[int, int], dict[str, Any]]  # rows and columns to options
BEFORE, NOW = "before", "library defaults"
WIDE = Gamma(1.0, 1.0)
FEW = Gamma(1.0, 10.0)
FAR = Gamma(2.0, 100.0)


def of_cells(cells_per_vote: float, share: float = 0.4) -> Callable[[int], Gamma]:
    """A hyperprior of the scale with this mean that weighs as much as one cell in so many."""

    def hyperprior(cells: int) -> Gamma:
        shape = 2.0 + cells / cells_per_vote
        return Gamma(shape, shape / share)

    return hyperprior


def gaussian(
    dof: Callable[[int], float],
    diagonal_dof: float,
    scale: float | Gamma | Callable[[int], Gamma],
    mean_precision: float | Gamma,
    concentration: Gamma,
    rows_per_column: float = 2.0,
) -> Candidate:
    """``scale`` as a number: the variance expected within a group, in units of the column's."""

    def options(n: int, d: int) -> dict[str, Any]:
        full = d <= MOST_FULL_COLUMNS and n >= rows_per_column * d
        v, least = (dof(d), d) if full else (diagonal_dof, 1)
        if isinstance(scale, float):
            chosen: float | Gamma = scale * max(v - least - 1.0, 1.0)
        else:
            chosen = scale if isinstance(scale, Gamma) else scale(n * d)
        family = Gaussian(covariance="full" if full else "diag", dof=v, scale=chosen, mean_precision=mean_precision)
        return {"family": family, "prior": DirichletProcess(concentration=concentration)}

    return options


def twice(d: int) -> float:
    return max(2.0 * d, d + 2.0)


def six_more(d: int) -> float:
    return d + 6.0


def thrice(d: int) -> float:
    return 3.0 * d + 4.0


def categorical(pseudocount: float | Gamma, concentration: Gamma) -> Candidate:
    """One pseudocount for all columns, fixed or learned."""
    family, prior = Categorical(pseudocount=pseudocount), DirichletProcess(concentration=concentration)
    return lambda n, d: {"family": family, "prior": prior}


def count(shape: float, concentration: Gamma) -> Candidate:
    """A shape of the rates' prior; its mean is that of the column."""
    family, prior = Count(shape=shape), DirichletProcess(concentration=concentration)
    return lambda n, d: {"family": family, "prior": prior}


def library_defaults(n: int, d: int) -> dict[str, Any]:
    return {}


EIGHTH = of_cells(8.0)

#: s: variance within groups, or the hyperprior of its share (1/8: one that weighs as an eighth of the cells, mean .4);
#: k: mean_precision; a: hyperprior of the concentration.
CANDIDATES: dict[str, dict[str, Candidate]] = {
    "numeric": {
        BEFORE: gaussian(twice, 4.0, 0.5, 0.1, WIDE, 10.0),
        "s .5, d+6, k .1, a G(1, 1)": gaussian(six_more, 7.0, 0.5, 0.1, WIDE),
        "s G(2, 2), 3d+4, k G, a G(1, 10)": gaussian(thrice, 7.0, Gamma(2.0, 2.0), FAR, FEW),
        "s 1/16, 3d+4, k G, a G(1, 10)": gaussian(thrice, 7.0, of_cells(16.0), FAR, FEW),
        "s 1/4, 3d+4, k G, a G(1, 10)": gaussian(thrice, 7.0, of_cells(4.0), FAR, FEW),
        "s 1/8, d+6, k G, a G(1, 10)": gaussian(six_more, 7.0, EIGHTH, FAR, FEW),
        "s 1/8, 3d+4, k .1, a G(1, 10)": gaussian(thrice, 7.0, EIGHTH, 0.1, FEW),
        "s 1/8, 3d+4, k G, a G(1, 1)": gaussian(thrice, 7.0, EIGHTH, FAR, WIDE),
        NOW: library_defaults,
    },
    "categorical": {
        BEFORE: categorical(1.0, WIDE),
        "b 2, a G(1, 10)": categorical(2.0, FEW),
        "b G(1, 1), a G(1, 10)": categorical(WIDE, FEW),
        "b G(20, 10), a G(1, 10)": categorical(Gamma(20.0, 10.0), FEW),
        NOW: library_defaults,
    },
    "count": {
        BEFORE: count(1.0, WIDE),
        "shape .5, a G(1, 10)": count(0.5, FEW),
        "shape 2, a G(1, 10)": count(2.0, FEW),
        NOW: library_defaults,
    },
}
