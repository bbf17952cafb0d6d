"""What kind a column of numbers is, where nobody has said so: numbers, or categories that are written as numbers."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from partita.table.encoding import Reading, coded
from partita.table.guessing import Guess, may_be
from partita.table.schema import LARGEST_WHOLE, Column
from partita.table.steps import are_multiples, recorded_step
from partita.table.tails import FEWEST_CELLS, evidence, order_statistics

MOST_CODES = 5  # different numbers that may be categories
CELLS_PER_CODE = 10  # that must be there to tell
MOST_EVEN_CODES = 60  # different numbers that are categories where they are spread evenly
CELLS_PER_EVEN_CODE = 5


def guessed_kinds(
    readings: Sequence[Reading],
    told: Collection[str],
    counted: np.ndarray | None,
    guess: Guess,
) -> list[Reading]:
    """Columns whose kind nobody told as what their numbers look like, judged by rows in ``counted`` (None: all).

    ``guess`` says whether to, a function of which columns and kinds. ``told`` are columns of which something was said
    that numbers alone have: their kind, or their step.
    """
    return [
        replace(coded(reading), guessed=True)
        if may_be(reading, "categorical", told, guess) and are_codes(reading.seen_values(counted))
        else reading
        for reading in readings
    ]


def are_codes(values: np.ndarray) -> bool:
    """Whether observed numbers are better told as categories: few of them, or spread evenly.

    They are whole, or multiples of one step, as halves and ninths are, and any two numbers.
    """
    distinct, sizes = np.unique(values, return_counts=True)
    if not 2 <= len(distinct) <= MOST_EVEN_CODES or max(-distinct[0], distinct[-1]) > LARGEST_WHOLE:
        return False
    step = recorded_step(values) or float(np.diff(distinct).min())
    are_whole = bool((distinct == np.floor(distinct)).all())
    if not (are_whole or are_multiples(distinct - distinct[0], step).all()):
        return False
    return are_few(values, distinct, sizes, step) or are_even(values, step)


def are_few(values: np.ndarray, distinct: np.ndarray, sizes: np.ndarray, step: float) -> bool:
    """0 and 1, or at most five numbers whose shares account for the cells better than a normal distribution.

    Ten cells for each of them or more must be there. They are compared by the Bayesian information criterion, log
    likelihood less half the log of the number of cells for every free number; the normal distribution is that of what
    the numbers were recorded from.
    """
    k, n = len(distinct), len(values)
    if k > MOST_CODES or n < CELLS_PER_CODE * k:
        return False
    if distinct[0] == 0.0 and distinct[-1] == 1.0:
        return True
    as_categories = float(sizes @ np.log(sizes / n)) - 0.5 * (k - 1) * np.log(n)
    variance = values.var() + step**2 / 12.0
    as_numbers = n * (np.log(step) - 0.5 * np.log(2.0 * np.pi * np.e * variance)) - np.log(n)
    return bool(as_categories > as_numbers)


def are_even(values: np.ndarray, step: float) -> bool:
    """Whether a flat line from the least to the largest accounts for the cells better than up to four normals.

    Years, months, weekdays and regions come so. No normal distribution is flat: beside clear groups such a column
    would be cut into pieces that mean nothing. At most 60 steps lie between the ends, and thirty cells, five for each
    step, must be there; of many cells 256 order statistics are looked at. Both accounts are of numbers as recorded; the
    flat one has two ends to choose. It must account for the cells better than a share for every value does, too, or one
    for the commonest value: what has a mode, or a value that many cells hold, is not spread evenly.
    """
    n, n_values = len(values), round((values.max() - values.min()) / step) + 1
    if n_values > MOST_EVEN_CODES or n < max(FEWEST_CELLS, CELLS_PER_EVEN_CODE * n_values):
        return False
    sizes = np.unique(values, return_counts=True)[1]
    cells = order_statistics(values, np.ones(n))
    as_even = -len(cells) * np.log(n_values) - np.log(len(cells))
    shares, log_n = sizes / n, np.log(len(cells))
    as_shares = len(cells) * float(shares @ np.log(shares)) - 0.5 * (n_values - 1) * log_n
    top = shares.max()
    but_one = len(cells) * float(top * np.log(top) + (1.0 - top) * np.log((1.0 - top) / (n_values - 1)))
    if max(as_shares, but_one - 1.5 * log_n - np.log(n_values)) > as_even:
        return False
    as_numbers = float(evidence(cells[None, :], np.array([step]))[0]) + len(cells) * np.log(step)
    return bool(as_even > as_numbers)


def why_guessed(column: Column) -> str:
    """Why a column whose kind nobody told is not of that of its values, in words; empty where it is."""
    if not column.guessed:
        return ""
    if column.part_of:
        return "many cells are 0"
    if column.kind == "positive":
        return "a long tail: their logs account for them better"
    return "few different numbers" if len(column.levels) <= MOST_CODES else "numbers that are spread evenly"
