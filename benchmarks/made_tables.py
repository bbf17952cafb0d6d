"""Made tables whose columns are recorded as people record them: rounded, in years, on a scale of products.

Three groups 5 standard deviations apart are clear before rounding and in logarithms; the other tables have one.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.generators import cloud, groups_apart, independent_categories
from benchmarks.labelled_tables import ClassedTable

MADE, STRUCTURELESS = "made", "structureless"
SIZES = np.array([170, 130, 100])  # of the three groups
DISTANCE = 5.0  # of every centre to the nearest other one, in standard deviations
LOG_DEVIATION = 0.6  # within a group of log-normals
YEARS = (2008, 2020)

Rng = np.random.Generator
Columns = dict[str, np.ndarray]


def made_tables(seed: int) -> list[ClassedTable]:
    """The tables with three groups."""
    return [_table(name, MADE, make, seed) for name, make in GROUPED.items()]


def structureless_tables(seed: int) -> list[ClassedTable]:
    """The tables with one group."""
    return [_table(name, STRUCTURELESS, lambda rng, make=make: (make(rng), None), seed) for name, make in ONE.items()]


def undone(table: ClassedTable, seed: int) -> np.ndarray:
    """What the columns that mean something were before rounding, or are in logarithms: normal groups."""
    if table.name == "log-normals":
        return np.log(table.rows.to_numpy())
    return groups_apart(np.random.default_rng(seed), SIZES, 2, DISTANCE)[0]


def _table(name: str, part: str, make: Callable[[Rng], tuple[Columns, np.ndarray | None]], seed: int) -> ClassedTable:
    columns, classes = make(np.random.default_rng(seed))
    frame = pd.DataFrame(columns)
    return ClassedTable(name, part, frame, np.zeros(len(frame), dtype=int) if classes is None else classes)


# --- three groups ----------------------------------------------------------------------------------


def rounded_to_units(rng: Rng) -> tuple[Columns, np.ndarray]:
    """Whole numbers whose unit is one and half a standard deviation of a group, and a year."""
    cells, classes = groups_apart(rng, SIZES, 2, DISTANCE)
    return {
        "score": whole(20 + cells[:, 0]),
        "age": whole(40 + 2 * cells[:, 1]),
        "year": years(rng, len(cells)),
    }, classes


def rounded_to_fives(rng: Rng) -> tuple[Columns, np.ndarray]:
    """Multiples of 5 and one decimal, 0.8 and half a standard deviation of a group, and a year."""
    cells, classes = groups_apart(rng, SIZES, 2, DISTANCE)
    pressure, level = 130 + 6 * cells[:, 0], 5 + 0.2 * cells[:, 1]
    return {"pressure": 5 * whole(pressure / 5), "level": level.round(1), "year": years(rng, len(cells))}, classes


def log_normals(rng: Rng) -> tuple[Columns, np.ndarray]:
    """Four positive columns; groups are normal in the logarithms."""
    cells, classes = groups_apart(rng, SIZES, 4, DISTANCE)
    return named(np.exp(3 + LOG_DEVIATION * cells)), classes


GROUPED: dict[str, Callable[[Rng], tuple[Columns, np.ndarray]]] = {
    "rounded to units": rounded_to_units,
    "rounded to fives": rounded_to_fives,
    "log-normals": log_normals,
}


# --- one group -------------------------------------------------------------------------------------


def rounded_cloud(rng: Rng) -> Columns:
    """One correlated cloud in whole numbers, whose unit is half a standard deviation."""
    cells, _ = cloud(rng, 500, 4, "correlated")
    return named(whole(20 + 2 * cells / cells.std(axis=0)))


def rounded_cloud_and_year(rng: Rng) -> Columns:
    """The same beside a year."""
    return rounded_cloud(rng) | {"year": years(rng, 500)}


ONE: dict[str, Callable[[Rng], Columns]] = {
    "one normal cloud": lambda rng: named(cloud(rng, 300, 3, "normal")[0]),
    "one rounded cloud": rounded_cloud,
    "one rounded cloud and year": rounded_cloud_and_year,
    "one log-normal cloud": lambda rng: named(np.exp(0.8 * rng.standard_normal((1000, 4)))),
    "random 0/1": lambda rng: named(rng.integers(0, 2, (500, 4))),
    "random ratings": lambda rng: named(rng.integers(1, 6, (500, 4))),
    "random words": lambda rng: named(independent_categories(rng, 500, 4, skewed=True)[0]),
}


def whole(values: np.ndarray) -> np.ndarray:
    return values.round().astype(np.int64)


def years(rng: Rng, n: int) -> np.ndarray:
    return rng.integers(*YEARS, n)


def named(cells: np.ndarray) -> Columns:
    return {f"x{j}": column for j, column in enumerate(cells.T)}
