"""What kind a column of numbers is, where nobody has said so: numbers, or categories that are written as numbers."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from partita.table.encoding import Reading, coded
from partita.table.schema import ColumnKind
from partita.table.steps import recorded_step

MOST_CODES = 5  # different whole numbers that may be categories
CELLS_PER_CODE = 10  # that must be there to tell


def guessed_kinds(
    readings: Sequence[Reading],
    told: Collection[str],
    counted: np.ndarray | None,
    guess: bool | Callable[[str, ColumnKind], bool],
) -> list[Reading]:
    """Columns whose kind nobody told as what their numbers look like, judged by rows in ``counted`` (None: all).

    ``guess`` says whether to, a function of which columns and kinds.
    """
    return [
        replace(coded(reading), guessed=True)
        if reading.name not in told
        and (guess(reading.name, "categorical") if callable(guess) else guess)
        and reading.kind == "numeric"
        and reading.values.dtype.kind == "f"
        and are_codes(reading.values[reading.observed if counted is None else reading.observed & counted])
        else reading
        for reading in readings
    ]


def are_codes(values: np.ndarray) -> bool:
    """Whether observed numbers are better told as categories.

    0 and 1 are. So are two to five different whole numbers, ten cells for each of them or more, whose shares account
    for the cells better than a normal distribution of what they were recorded from, by the Bayesian information
    criterion: log likelihood less half the log of the number of cells for every free number.
    """
    distinct, sizes = np.unique(values, return_counts=True)
    k, n = len(distinct), len(values)
    if not 2 <= k <= MOST_CODES or n < CELLS_PER_CODE * k or (distinct != np.floor(distinct)).any():
        return False
    if distinct[0] == 0.0 and distinct[-1] == 1.0:
        return True
    as_categories = float(sizes @ np.log(sizes / n)) - 0.5 * (k - 1) * np.log(n)
    step = recorded_step(values) or float(np.diff(distinct).min())
    variance = values.var() + step**2 / 12.0
    as_numbers = n * (np.log(step) - 0.5 * np.log(2.0 * np.pi * np.e * variance)) - np.log(n)
    return as_categories > as_numbers
