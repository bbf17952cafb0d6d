"""Settings by which defaults are judged: one cloud, groups a stated distance apart, labelled files."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.generators import cloud, counts, groups_apart, independent_categories, latent_classes, unequal

Rows = tuple[np.ndarray, np.ndarray | None]  # cells (n, d), and the group of each where that is known
KINDS = ("numeric", "categorical", "count")
PARTS = ("one", "groups", "labelled")
NUMERIC_FILES = ("iris", "wine", "glass", "ecoli", "banknote", "old_faithful", "galaxies", "acidity", "enzyme")
CATEGORICAL_FILES = ("monk3", "monk3_train", "splice")
MOST_FILE_ROWS = 500  # more are thinned, evenly


@dataclass(frozen=True)
class Setting:
    """A kind of table, and what is expected of its groups."""

    name: str
    kind: str  # of all columns
    part: str
    make: Callable[[np.random.Generator], Rows]
    target: bool = False  # whether all groups must be found in 95 tables of 100


def settings(folder: Path | None = None) -> list[Setting]:
    """All settings, those of files where a folder of them is given."""
    return [*_clouds(), *_groups(), *_categories(), *_counts(), *(_files(folder) if folder else [])]


def halves(every: list[Setting]) -> tuple[list[Setting], list[Setting]]:
    """Settings to choose by and settings to confirm by: taken in turn within every kind and part."""
    first, second = [], []
    for kind in KINDS:
        for part in PARTS:
            own = [one for one in every if (one.kind, one.part) == (kind, part)]
            first += own[::2]
            second += own[1::2]
    return first, second


def _clouds() -> list[Setting]:
    shapes = [(n, d) for n in (20, 30, 60, 150, 500) for d in (1, 2, 3, 5, 10)] + [(100, 20), (400, 20), (2000, 4)]
    kinds = ("normal", "correlated", "correlated", "uniform", "normal", "t5", "correlated")
    made = [(n, d, kinds[place % len(kinds)]) for place, (n, d) in enumerate(shapes)]
    return [
        Setting(
            f"one {shape}, {n} x {d}",
            "numeric",
            "one",
            lambda rng, n=n, d=d, shape=shape: cloud(rng, n, d, shape),
            target=shape in ("normal", "correlated") and d <= 10,
        )
        for n, d, shape in made
    ]


def _groups() -> list[Setting]:
    made = [
        (2, 1, 6.0, False), (2, 2, 4.0, False), (2, 2, 6.0, False), (2, 4, 6.0, True), (2, 10, 8.0, False),
        (3, 1, 8.0, False), (3, 2, 3.0, False), (3, 2, 6.0, True), (3, 3, 6.0, False), (3, 4, 6.0, False),
        (3, 5, 4.0, True), (3, 10, 6.0, False), (5, 1, 6.0, False), (5, 2, 6.0, True), (5, 4, 6.0, True),
        (5, 4, 4.0, False), (8, 2, 6.0, False), (8, 4, 6.0, True), (8, 10, 6.0, False), (10, 2, 8.0, True),
        (10, 4, 6.0, False), (10, 10, 8.0, True),
    ]  # fmt: skip
    return [
        Setting(
            f"{k} groups {distance:g} sd apart, {'correlated' if correlated else 'spherical'}, d = {d}"
            + (", 20 each" if place % 2 else ", 20 to 60"),
            "numeric",
            "groups",
            lambda rng, k=k, d=d, distance=distance, correlated=correlated, place=place: groups_apart(
                rng, np.full(k, 20) if place % 2 else unequal(k, 20), d, distance, correlated=correlated
            ),
            target=distance >= 6.0,
        )
        for place, (k, d, distance, correlated) in enumerate(made)
    ]


def _categories() -> list[Setting]:
    one = [
        Setting(
            f"independent categories, {n} x {d}, {'skewed' if skewed else 'uniform'}",
            "categorical",
            "one",
            lambda rng, n=n, d=d, skewed=skewed: independent_categories(rng, n, d, skewed=skewed),
            target=True,
        )
        for n, d, skewed in (
            (50, 5, False), (50, 5, True), (200, 5, True), (200, 5, False), (100, 10, False), (100, 10, True),
        )
    ]  # fmt: skip
    several = [
        Setting(
            f"{k} classes, {n} x {d}",
            "categorical",
            "groups",
            lambda rng, n=n, d=d, k=k: latent_classes(rng, n, d, k),
        )
        for k, n, d in ((2, 60, 8), (2, 200, 8), (3, 100, 8), (3, 200, 12), (4, 200, 12), (4, 400, 20))
    ]
    return one + several


def _counts() -> list[Setting]:
    one = [
        Setting(f"one cloud of counts, {n} x {d}", "count", "one", lambda rng, n=n, d=d: counts(rng, n, d), target=True)
        for n, d in ((30, 3), (50, 5), (200, 3), (200, 10))
    ]
    several = [
        Setting(f"{k} groups of counts, {n} x {d}", "count", "groups", lambda rng, n=n, d=d, k=k: counts(rng, n, d, k))
        for k, n, d in ((2, 60, 4), (3, 90, 6), (4, 200, 6), (6, 300, 8))
    ]
    return one + several


def _files(folder: Path) -> list[Setting]:
    def of(name: str, kind: str) -> Setting:
        return Setting(name, kind, "labelled", lambda rng: labelled_file(folder / f"{name}.csv", kind))

    return [of(name, "numeric") for name in NUMERIC_FILES] + [of(name, "categorical") for name in CATEGORICAL_FILES]


def labelled_file(path: Path, kind: str) -> Rows:
    """The cells of a file and its last column, which is for scoring only; None where that is empty."""
    with path.open(newline="") as lines:
        cells = np.array(list(csv.reader(lines))[1:], dtype=object)
    cells = cells[:: -(-len(cells) // MOST_FILE_ROWS)]
    rows, labels = cells[:, :-1], cells[:, -1]
    truth = np.unique(labels, return_inverse=True)[1] if labels.astype(bool).all() else None
    if kind == "numeric":
        rows = rows.astype(float)
        rows = rows[:, rows.std(axis=0) > 0]
    return rows, truth
