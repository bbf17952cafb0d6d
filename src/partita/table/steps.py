"""The step that the numbers of a column were recorded in: whole years, 0.1 cm, multiples of 25."""

from collections.abc import Sequence

import numpy as np

NEARLY_ALL = 0.95  # of the cells: a few may be odd ones
MULTIPLES = (5.0, 2.5, 2.0, 1.0)  # of a power of ten
DECADES = 7  # of steps below the range that are tried,
FINEST = 10.0 ** (1 - DECADES)  # of the range: what is finer counts as continuous
FEW_VALUES = 10  # that nearly all cells hold, so that the gaps between them are no chance
MOST_ROWS = 10_000  # that are looked at, give or take a factor of two
LARGEST = 1e300  # beyond which differences may leave the range of float64
SOME = 8  # of so many values one is looked at first, which excludes most steps
ROUNDING = 1e-9  # of the sum of cells
TOLERANCE = 1e-3  # of a step, by which a multiple may be off: numbers as 7.3333335 are rounded twice


def recorded_step(values: np.ndarray) -> float:
    """The step of observed numbers, in their units; 0 for continuous ones.

    It is the largest h among 1, 2, 2.5 and 5 times a power of ten and the commonest gap between values such that 95 %
    of the cells are whole multiples of h, or lie whole multiples of h from the commonest value. Cells that hold that
    value say nothing of steps and are left aside. Where 95 % of the cells hold at most ten values, h is at least the
    smallest gap between those, or the three commonest values if that is more. Two values tell no step, nor does a third
    that a single cell holds, and what is finer than a millionth of the range is none.
    Cost O(n log n) of at most 20 000 cells.
    """
    some = values[:: max(1, len(values) // MOST_ROWS)]
    distinct, sizes = np.unique(some, return_counts=True)
    if len(distinct) < 3 or max(-distinct[0], distinct[-1]) > LARGEST:
        return 0.0
    least_gap = _least_gap_of_few(distinct, sizes)
    commonest = distinct[np.argmax(sizes)]
    others, n_cells = distinct[distinct != commonest], sizes[distinct != commonest]
    candidates, origins = _candidates(others, n_cells), (0.0, commonest)
    for step in candidates[_may_be_steps(others, n_cells, candidates, origins)]:
        if step <= least_gap:
            break
        if any(_is_step(others - origin, n_cells, step) for origin in origins):
            return _plain(step)
    return _plain(least_gap)


def _plain(step: float) -> float:
    """Without the last digits, which a difference of numbers leaves behind."""
    return float(f"{step:.10g}")


def _candidates(values: np.ndarray, n_cells: np.ndarray) -> np.ndarray:
    """Steps to be tried, the largest first: those between a millionth and half of the range of nearly all cells."""
    below = np.cumsum(n_cells) / n_cells.sum()
    inside = values[(below >= (1.0 - NEARLY_ALL) / 2) & (below - n_cells / n_cells.sum() <= (1.0 + NEARLY_ALL) / 2)]
    extent = inside[-1] - inside[0]
    if extent == 0.0:
        return np.empty(0)
    finest = FINEST * extent
    powers = 10.0 ** (np.floor(np.log10(extent)) - np.arange(DECADES))
    gaps = np.diff(inside)
    found = np.append(np.outer(powers, MULTIPLES).ravel(), np.median(gaps[gaps > finest]))
    return np.sort(found[(found <= extent / 2) & (found >= finest)])[::-1]


def are_multiples(values: np.ndarray, step: float) -> np.ndarray:
    """Which numbers are multiples of the step, but for the last digits."""
    ratio = values / step
    return np.abs(ratio - np.round(ratio)) <= TOLERANCE


def _may_be_steps(values: np.ndarray, n_cells: np.ndarray, steps: np.ndarray, origins: Sequence[float]) -> np.ndarray:
    """Which steps an eighth of the values does not exclude, by itself holding too many cells that are no multiples."""
    some, cells = values[::SOME], n_cells[::SOME]
    ratios = (some - np.reshape(origins, (-1, 1, 1))) / steps[:, None]
    off = (np.abs(ratios - np.round(ratios)) > TOLERANCE) @ cells
    return (off <= (1.0 - NEARLY_ALL + ROUNDING) * n_cells.sum()).any(axis=0)


def _is_step(values: np.ndarray, n_cells: np.ndarray, step: float) -> bool:
    """Whether nearly all cells are multiples of the step, and those of different values mostly different ones."""
    exact = are_multiples(values, step)
    if n_cells[exact].sum() < NEARLY_ALL * n_cells.sum():
        return False
    return 2 * len(np.unique(np.round(values[exact] / step))) > len(values)  # else they lie close to few multiples


def _least_gap_of_few(distinct: np.ndarray, sizes: np.ndarray) -> float:
    """The smallest gap between the values that nearly all cells hold; 0 where those are many, or two."""
    commonest = np.argsort(-sizes, kind="stable")[:FEW_VALUES]
    held = np.cumsum(sizes[commonest])
    if held[-1] < NEARLY_ALL * sizes.sum() or len(distinct) > sizes.sum() / 2:
        return 0.0
    n_values = max(3, int(np.searchsorted(held, NEARLY_ALL * sizes.sum())) + 1)
    if len(distinct) < n_values or sizes[commonest[n_values - 1]] == 1:
        return 0.0
    return float(np.diff(np.sort(distinct[commonest[:n_values]])).min())
