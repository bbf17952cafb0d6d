"""Tables of a folder whose rows have known classes, and which of them rules are fixed on."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

FIXED, CONFIRMED = "fixed", "confirmed"
HALVES = {
    FIXED: (
        "monk3", "wine", "glass", "ecoli", "banknote", "letter_AJ_700", "control_chart", "cmu_faces", "webkb",
    ),
    CONFIRMED: (
        "monk3_train", "iris", "image_segmentation", "trace", "splice", "letter_AJ", "spambase", "isolet_ABCDEG",
    ),
}  # fmt: skip


class ClassedTable(NamedTuple):
    """A table as a person would have it, and the class of every row, which is for scoring only."""

    name: str
    part: str  # which half it is of, or which kind of made table
    rows: pd.DataFrame
    classes: np.ndarray

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return np.unique(self.classes).size


def labelled_tables(folder: Path) -> Iterator[ClassedTable]:
    """The tables of both halves that the folder has."""
    for part, names in HALVES.items():
        for name in names:
            paths = [path for ending in (".csv", ".csv.gz") if (path := folder / f"{name}{ending}").exists()]
            yield from (read(path, name, part) for path in paths)


def read(path: Path, name: str, part: str) -> ClassedTable:
    """Cells as they are in the file: numbers as numbers, text as text, only the empty cell missing."""
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    return ClassedTable(name, part, frame.drop(columns="label"), frame["label"].astype(str).to_numpy())
