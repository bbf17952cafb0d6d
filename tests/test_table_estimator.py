"""An estimator with another kind of result is one class: reading, names, frames and files come with the table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import NotFittedError

from partita.files.container import read_container
from partita.files.layout import Field, Layout, Member
from partita.table import Table
from partita.table_estimator import TableEstimator

HALVES = Layout(
    "halves",
    (
        Field("arrays", "an object", lambda value: isinstance(value, dict)),
        Field("cut", "a number", lambda value: isinstance(value, float)),
    ),
    (Member("labels", ("int64",), ("object",), "which half", least=0, most=1),),
    "",
)


class Halves(TableEstimator, ClusterMixin, BaseEstimator):
    """Rows below and above the mean of the first numeric column."""

    def fit(self, X, y=None):
        self._forget()
        table = Table.read(X)
        self.cut_ = float(np.nanmean(table.numeric[:, 0]))
        self.labels_ = (table.numeric[:, 0] > self.cut_).astype(np.int64)
        self._keep_table(table, X)
        return self

    def predict(self, X):
        return (self._read(X).numeric[:, 0] > self.cut_).astype(np.int64)

    def _contents(self):
        return HALVES, {"cut": self.cut_}, {"labels": self.labels_}


FRAME = pd.DataFrame({"size": [1.0, 2.0, 8.0, 9.0], "colour": list("abab")}, index=list("wxyz"))


def test_it_reads_names_and_answers_as_every_estimator_does():
    halves = Halves().fit(FRAME)
    assert halves.predict(FRAME.iloc[::-1]).tolist() == [1, 1, 0, 0]
    frame = halves.to_frame()
    assert list(frame.index) == list("wxyz")
    assert list(frame.columns) == ["label"]
    assert halves.table_.names == ("size", "colour")
    assert halves.feature_names_in_.tolist() == ["size", "colour"]
    with pytest.raises(ValueError, match="feature names"):
        halves.predict(FRAME.rename(columns={"size": "length"}))


def test_its_file_is_sealed_and_checked(tmp_path):
    halves = Halves().fit(FRAME)
    halves.save(tmp_path / "halves.partita")
    header, arrays = read_container(tmp_path / "halves.partita", HALVES)
    assert header["cut"] == halves.cut_
    np.testing.assert_array_equal(arrays["labels"], halves.labels_)


def test_nothing_is_known_before_a_fit(tmp_path):
    for ask in (lambda one: one.table_, lambda one: one.to_frame(), lambda one: one.save(tmp_path / "no.partita")):
        with pytest.raises(NotFittedError):
            ask(Halves())
