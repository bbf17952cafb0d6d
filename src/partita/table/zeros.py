"""Numbers of which many are 0: nothing, or an amount.

Money spent, rain, the frequency of a word: no normal distribution, nor one of logs, has a value that many rows share,
and groups shrink onto it. Such a column is read in two parts, whether a cell is 0 and what it is otherwise,

    p(x) = q where x = 0, (1 - q) p(x | x is not 0) elsewhere:

a category, and a number that a cell of 0 does not have.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from partita.table.encoding import Reading
from partita.table.guessing import Guess, may_be
from partita.table.steps import FINEST, recorded_step
from partita.table.tails import (
    FEWEST_CELLS,
    FEWEST_VALUES,
    MARGIN,
    MOST_CELLS,
    evidence,
    evidence_of_logs,
    order_statistics,
)

LEAST_SHARE = 0.1  # of the cells that are 0
FEWEST_ZEROS = 10
LARGEST = 1e100  # whose squares are finite
NO, YES = "no", "yes"


def parted_zeros(
    readings: Sequence[Reading],
    told: Collection[str],
    counted: np.ndarray | None,
    guess: Guess,
) -> list[Reading]:
    """Columns of numbers of which many are 0 as two, judged by rows in ``counted`` (None: all).

    ``guess`` says whether to, a function of which columns and kinds. ``told`` are columns of which something was said
    that numbers alone have: their kind, or their step. Where a column has the name of the second part already, it is
    left to that one to say which cells are 0.
    """
    names = {reading.name for reading in readings}
    parts = []
    for reading in readings:
        is_open = may_be(reading, "categorical", told, guess) and flag_name(reading.name) not in names
        if is_open and zero_gain(reading.seen_values(counted)) > MARGIN:
            parts += [amounts(reading), zero_flags(reading, flag_name(reading.name))]
        else:
            parts.append(reading)
    return parts


def flag_name(name: str) -> str:
    """Of the column that says where another one is 0."""
    return f"{name} is 0"


def amounts(reading: Reading) -> Reading:
    """The numbers that are not 0; the others are missing."""
    return replace(reading, values=np.where(reading.values == 0.0, np.nan, reading.values))


def zero_flags(reading: Reading, name: str) -> Reading:
    """Which cells are 0, as categories."""
    codes = np.where(reading.observed, (reading.values == 0.0).astype(np.int64), -1)
    return Reading(name, "categorical", codes, (NO, YES), guessed=True, part_of=reading.name)


def zero_gain(values: np.ndarray) -> float:
    """By how many nats two parts tell of a column's observed numbers better than one; -inf where there is no question.

    At least ten cells and a tenth of all must be 0, and thirty cells with eleven different values be something else.
    Both accounts are of cells as recorded, by the best mixture of one to four normals (`evidence`), of amounts above 0
    by that of their logs too. Where there are more than 256 cells, order statistics stand for them, as if they were
    all.
    """
    some = values[values != 0.0]
    share = 1.0 - len(some) / max(1, len(values))
    if len(values) - len(some) < FEWEST_ZEROS or share < LEAST_SHARE or len(some) < FEWEST_CELLS:
        return -np.inf
    if len(np.unique(some)) < FEWEST_VALUES or np.abs(some).max() > LARGEST:
        return -np.inf
    step = max(recorded_step(some), FINEST * float(np.ptp(values)))
    cells, of_some = (order_statistics(x, np.ones(len(x))) for x in (values, some))
    n = min(len(values), MOST_CELLS)
    found = evidence(of_some[None], np.array([step]))[0]
    if some.min() > 0.0:
        found = max(found, evidence_of_logs(of_some[None], np.array([step]))[0])
    shares = np.array([share, 1.0 - share])
    in_parts = n * float(shares @ np.log(shares)) + n * (1.0 - share) / len(of_some) * found - 0.5 * np.log(n)
    return float(in_parts - n * share * np.log(step) - evidence(cells[None], np.array([step]))[0])
