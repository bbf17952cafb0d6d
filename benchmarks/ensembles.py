"""Ensembles of base clusterings as people have them, of tables with known classes and of made ones."""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.preprocessing import StandardScaler

from benchmarks.labelled_tables import ClassedTable, labelled_tables
from partita import Mixture
from partita.consensus import add_label_noise, base_clusterings

CODED = ("monk3", "monk3_train")  # numbers that are names of categories
NOISE = (0.1, 0.3, 0.5)
MADE_CLASSES = (3, 5, 10)
MADE_OBJECTS = 500
FEW_OBJECTS = 150
APART = 10.0  # standard deviations between groups that nobody could miss, over the root of 2


class StudyEnsemble(NamedTuple):
    """Labels, what they are to be compared with, and where they come from."""

    name: str  # of the table
    part: str  # the half it is in, or "made"
    kind: str
    labels: np.ndarray  # (n, M)
    classes: np.ndarray
    points: np.ndarray | None = None  # that were clustered

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return np.unique(self.classes).size

    def first(self, n_members: int) -> "StudyEnsemble":
        """The ensemble of the first members."""
        return self._replace(labels=self.labels[:, :n_members])


def points_of(table: ClassedTable) -> np.ndarray:
    """Standardised numbers, or categories as indicators."""
    if table.name in CODED or not all(map(is_numeric_dtype, table.rows.dtypes)):
        return pd.get_dummies(table.rows.astype(str)).to_numpy(float)
    return StandardScaler().fit_transform(table.rows.to_numpy(float))


def kmeans(points: np.ndarray, n_classes: int, n: int, seed: int) -> np.ndarray:
    """k-means of all cells."""
    return _members(points, n_classes, n, seed)


def half_of_the_columns(points: np.ndarray, n_classes: int, n: int, seed: int) -> np.ndarray:
    """k-means, each member of half of the columns."""
    return _members(points, n_classes, n, seed, subspace=0.5)


def subsamples(points: np.ndarray, n_classes: int, n: int, seed: int) -> np.ndarray:
    """k-means, each member of 70 % of the objects."""
    return _members(points, n_classes, n, seed, subsample=0.7)


def other_methods(points: np.ndarray, n_classes: int, n: int, seed: int) -> np.ndarray:
    """Ward's, complete and average link, spectral clustering and a mixture in turn, five sizes of each, then again."""
    methods = [
        *(AgglomerativeClustering(linkage=linkage) for linkage in ("ward", "complete", "average")),
        SpectralClustering(affinity="nearest_neighbors"),
        Mixture(engine="vb", n_clusters=2),
    ]
    sizes = 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        members = [_members(points, n_classes, sizes, seed, clusterer=method) for method in methods]
    once = np.stack(members, axis=2).reshape(len(points), -1)  # method by method within every size
    return once[:, np.arange(n) % once.shape[1]]


KINDS: dict[str, Callable[[np.ndarray, int, int, int], np.ndarray]] = {
    "k-means": kmeans,
    "half of the columns": half_of_the_columns,
    "subsamples": subsamples,
    "other methods": other_methods,
}
"""Ensembles of a table's points by what they are called."""


def table_ensembles(
    folder: Path, names: tuple[str, ...], n: int, seed: int, most_objects: int
) -> Iterator[StudyEnsemble]:
    """Every kind of ensemble of labelled tables; of more objects a random sample."""
    for table in labelled_tables(folder):
        if table.name not in names:
            continue
        kept = np.sort(np.random.default_rng(seed).permutation(len(table.classes))[:most_objects])
        points, classes = points_of(table)[kept], table.classes[kept]
        for kind, made in KINDS.items():
            labels = made(points, table.n_classes, n, seed)
            yield StudyEnsemble(table.name, table.part, kind, labels, classes, points)


def made_ensembles(n_classes: int, n: int, seed: int) -> Iterator[StudyEnsemble]:
    """Members that err independently, copies, k-means of groups far apart; and of what has no groups at all."""
    rng = np.random.default_rng([seed, n_classes])
    name = f"{n_classes} classes"
    classes = rng.integers(n_classes, size=MADE_OBJECTS)
    for rate in NOISE:
        labels = np.stack([add_label_noise(classes, rate, rng) for _ in range(n)], axis=1)
        yield StudyEnsemble(name, "made", f"{rate:.0%} wrong", labels, classes)
    few = np.stack([add_label_noise(classes, 0.2, rng) for _ in range(5)], axis=1)
    yield StudyEnsemble(name, "made", "copies of one", np.repeat(few[:, :1], n, axis=1), classes)
    yield StudyEnsemble(name, "made", "copies of five", few[:, np.arange(n) % 5], classes)
    for kind, n_objects in (("far apart", MADE_OBJECTS), ("far apart, few", FEW_OBJECTS)):
        classes = rng.integers(n_classes, size=n_objects)
        points = APART * np.eye(n_classes)[classes] + rng.normal(size=(n_objects, n_classes))
        yield StudyEnsemble(name, "made", kind, subsamples(points, n_classes, n, seed), classes, points)
    nothing = np.zeros(MADE_OBJECTS, np.int64)
    cloud = rng.normal(size=(MADE_OBJECTS, 4))
    yield StudyEnsemble(name, "no groups", "one cloud", kmeans(cloud, n_classes, n, seed), nothing, cloud)
    yield StudyEnsemble(name, "no groups", "random labels", rng.integers(n_classes, size=(MADE_OBJECTS, n)), nothing)


def _members(points: np.ndarray, n_classes: int, n: int, seed: int, **options: object) -> np.ndarray:
    return base_clusterings(points, n=n, n_classes=n_classes, random_state=seed, **options).flat.T
