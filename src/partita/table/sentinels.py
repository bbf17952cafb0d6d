"""Numbers such as -999 that probably stand for a missing cell: spikes far from all other values of their column."""

import re
import shlex
import warnings
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from partita.table.encoding import Reading
from partita.wording import count_of, join_words, printable

_USUAL = re.compile(r"-?(9|9+[6-9]|88+|77+|999+\.9+)|-99\.9+")
_MOST_ON_A_SIDE = 3  # 97, 98 and 99, say
_FEWEST_CELLS = 10  # of other values
_MOST_COLUMNS = 3


class Spikes(NamedTuple):
    """Values of a column that stand apart, the cells that hold them, and the ends of all others."""

    name: str
    values: list[float]
    n_cells: int
    least: float
    most: float


def warn_of_sentinels(readings: Sequence[Reading], counted: np.ndarray | None) -> None:
    """Warn once of all spikes in columns of numbers, judged by rows in ``counted`` (None: all).

    Spikes are up to three values below all others, and up to three above. At least ten cells hold other values, and the
    distance to the nearest of these is larger than their whole range. Values of the usual form (-9, -999, 9999, 98,
    888, -99.9) must be in two cells together, and the others at least two different ones, of -9 and 9 three; negative
    ones need not be far where no other value is negative. A value of another form must be the only one on its side,
    be in three cells, have five different others, and be three times as far. Cost O(n) per column.
    """
    numbers = {r.name: _numbers(r, counted) for r in readings if r.values.dtype.kind == "f" or r.kind == "count"}
    found = [spikes for name, values in numbers.items() if (spikes := find_spikes(name, values))]
    if not found:
        return
    told = [_in_words(spikes) for spikes in found[:_MOST_COLUMNS]]
    if len(found) > len(told):
        told.append(f"and others in {count_of(len(found) - len(told), 'more column')}")
    stand = "it stands" if sum(len(spikes.values) for spikes in found) == 1 else "they stand"
    option, words = _remedy(found, numbers)
    warnings.warn(
        f"Far from all other values lies {'; '.join(told)}. If {stand} for missing cells, pass missing={option} "
        f"(command line: {words}).",
        UserWarning,
        stacklevel=3,
    )


def _in_words(spikes: Spikes) -> str:
    values = join_words(_shown(value) for value in spikes.values)
    least, most = (_shown(float(f"{value:.6g}")) for value in spikes[3:])
    return f"{values} in column {spikes.name!r} ({count_of(spikes.n_cells, 'cell')}; the others: {least} to {most})"


def find_spikes(name: str, values: np.ndarray) -> Spikes | None:
    """The spikes among the observed cells of a column, as many as there may be; see `warn_of_sentinels`."""
    if len(values) <= _FEWEST_CELLS:
        return None
    low, high = _ends(values), [-x for x in _ends(-values)]
    sides = sorted(product(range(len(low)), range(len(high))), key=sum, reverse=True)
    for n_low, n_high in sides[:-1]:
        least, most = low[n_low], high[n_high]
        below, above = low[:n_low], high[:n_high]
        if most > least and _are_spikes(values, least, most, below, above):
            outside = (values < least) | (values > most)
            return Spikes(name, sorted(below + above), int(outside.sum()), least, most)
    return None


def _numbers(reading: Reading, counted: np.ndarray | None) -> np.ndarray:
    return reading.seen_values(counted).astype(np.float64)


def _ends(values: np.ndarray) -> list[float]:
    """The smallest values, one more than there may be spikes, in order."""
    found: list[float] = []
    while len(values) and len(found) <= _MOST_ON_A_SIDE:
        found.append(float(values.min()))
        values = values[values > found[-1]]
    return found


def _are_spikes(values: np.ndarray, least: float, most: float, below: list[float], above: list[float]) -> bool:
    span = most / 2 - least / 2  # halves: no difference is too large for float64
    if span <= 0:
        return False
    below_zero = max(below, default=-1.0) < 0 <= least and all(map(_is_usual, below))
    reach_below = least / 2 - max(below, default=-np.inf) / 2
    reach_above = min(above, default=np.inf) / 2 - most / 2
    if not ((reach_below > span or below_zero) and reach_above > span):
        return False
    others = values[(values >= least) & (values <= most)]
    n_others = len(np.unique(others)) if len(others) >= _FEWEST_CELLS else 0
    return all(
        _is_side(values, side, n_others, reach / span)
        for side, reach in ((below, reach_below), (above, reach_above))
        if side
    )


def _is_side(values: np.ndarray, side: list[float], n_others: int, reach: float) -> bool:
    """Whether the values on one side are spikes by their form and by the cells that hold them."""
    sizes = [int((values == value).sum()) for value in side]
    if all(map(_is_usual, side)):
        return sum(sizes) >= 2 and n_others >= (3 if min(map(abs, side)) < 10 else 2)
    return len(side) == 1 and sizes[0] >= 3 and n_others >= 5 and reach > 3


def _is_usual(value: float) -> bool:
    return _USUAL.fullmatch(_shown(value)) is not None


def _plain(value: float) -> int | float:
    return int(value) if value.is_integer() else value


def _shown(value: float) -> str:
    return repr(_plain(value))


def _remedy(found: list[Spikes], numbers: dict[str, np.ndarray]) -> tuple[str, str]:
    """The option in Python and on the command line: of all columns, unless one of them holds such a value by right."""
    values = sorted({value for spikes in found for value in spikes.values})
    suspected = {(spikes.name, value) for spikes in found for value in spikes.values}
    meant = any((name, v) not in suspected and (cells == v).any() for name, cells in numbers.items() for v in values)
    if not meant:
        plain = [_plain(value) for value in values]
        return repr(plain[0] if len(plain) == 1 else plain), f"--missing {','.join(map(str, plain))}"
    by_column = {spikes.name: [_plain(value) for value in spikes.values] for spikes in found}
    items = [f"{name}={value}" for name, listed in by_column.items() for value in listed]
    quoted = ",".join(f'"{item}"' if "," in item else item for item in items)
    return repr(by_column), f"--missing {printable(shlex.quote(quoted))}"
