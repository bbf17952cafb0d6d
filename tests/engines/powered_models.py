"""Small models of every likelihood whose rows count other than once: those of the registry learn, or leave some out."""

from dataclasses import replace

import numpy as np
from tests.engines.models import WITHOUT_DRAWN_CELLS, Example

from partita.families import Gaussian, LogNormal, Mixed
from partita.families.powered import powered
from partita.table import Table

NUMBERS = np.array([[-1.2, 0.3], [-0.9, 0.8], [0.1, -0.2], [1.1, 0.9], [1.4, 1.3], [0.2, -1.5]])
WITH_GAPS = np.where(np.isin(np.arange(12), [3, 8, 11]).reshape(6, 2), np.nan, NUMBERS)
WORDS = np.array([list("aabbab"), ["p", "q", "q", "p", None, "q"]], dtype=object).T
COUNTS = np.array([0, 2, 1, 7, 9, 1])
DIAGONAL = Gaussian(covariance="diag", dof=4.0, scale=0.8, mean_precision=0.3)
FULL = Gaussian(dof=4.0, scale=0.8, mean_precision=0.3)


def raised(example, power):
    return replace(example, name=f"{example.name}^{power:g}", likelihood=powered(example.likelihood, power))


def of(name, family, cells, **how):
    table = Table.read(cells, **{"standardize": False, "column_steps": 0.0, "guess_types": False} | how)
    return Example(name, family.resolve(table), table)


def every_kind(name, family):
    """Two columns of numbers with a gap, two of words, one of counts."""
    cells = np.column_stack([WITH_GAPS.astype(object), WORDS, COUNTS.astype(object)])
    return of(name, family, cells, column_types={4: "count"})


LOG_NORMAL = {"positive": True, "offset": 0.5}
MIXED = every_kind("mixed", Mixed(families={"numeric": DIAGONAL}))
OWN_WIDTHS = Gaussian(covariance="diag", dof=[3.0, 5.0], scale=[0.5, 1.2], mean_precision=0.3)
EXPLICIT = [
    of("full", FULL, NUMBERS),
    of("diagonal", DIAGONAL, NUMBERS),
    of("diagonal-with-steps", DIAGONAL, NUMBERS, column_steps={0: 0.8, 1: 1.5}),
    of("diagonal-with-gaps", OWN_WIDTHS, WITH_GAPS),
    of("log-normal-full", LogNormal(offset=0.5, dof=4.0, scale=0.8), np.exp(NUMBERS), **LOG_NORMAL),
    of(
        "log-normal-diagonal",
        LogNormal(offset=0.5, covariance="diag", dof=4.0, scale=0.8, mean_precision=0.3),
        np.exp(WITH_GAPS),
        **LOG_NORMAL,
    ),
    MIXED,
    of("mixed-full", Mixed(families={"numeric": FULL}), np.column_stack([NUMBERS.astype(object), WORDS])),
]
RAISED = [raised(example, 0.4) for example in [*WITHOUT_DRAWN_CELLS, *EXPLICIT]]
HEAVY = [raised(example, 1.7) for example in [*WITHOUT_DRAWN_CELLS[:2], *EXPLICIT]]
