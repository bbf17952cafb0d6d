"""The frame that came in, and nothing else that a file may name."""

import sys

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

from partita.table import Origin, Table
from partita.table.source import open_source


@pytest.mark.parametrize("library", ["this", "os", "os.path", "sklearn", "", 3, ["pandas"], "pandas.core"])
def test_only_frame_libraries_are_named(library):
    before = set(sys.modules)
    with pytest.raises(ValueError, match=r"must be one of pandas, polars, pyarrow, or None; got"):
        Origin(library)
    assert set(sys.modules) == before


def test_frames_of_other_libraries_come_back_as_the_first_that_is_installed(monkeypatch):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}, index=[7, 8])
    monkeypatch.setattr(nw.DataFrame, "implementation", property(lambda self: nw.Implementation.MODIN))
    opened = open_source(frame)
    assert (opened.origin.library, opened.origin.index) == ("pandas", None)
    monkeypatch.setattr("partita.table.origin.find_spec", lambda name: None if name == "pandas" else name)
    assert open_source(frame).origin.library == "polars"


def test_a_frame_comes_back_with_its_index():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}, index=[7, 8])
    read = Table.read(frame)
    assert read.origin.library == "pandas"
    assert read.frame_like({"label": np.array([0, 1])}).index.tolist() == [7, 8]
