"""An estimator with another kind of result is one class: reading, names, frames and files come with the table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import NotFittedError

import partita
from partita.files.layout import Field, Layout, Member
from partita.files.layouts import TABLE_MEMBERS, estimator_fields
from partita.table import Table
from partita.table_estimator import TableEstimator

HALVES = Layout(
    "halves",
    (
        Field("arrays", "an object", lambda value: isinstance(value, dict)),
        *estimator_fields("halves"),
        Field("halves.cut", "a number", lambda value: isinstance(value, float)),
    ),
    (*TABLE_MEMBERS, Member("labels", ("int64",), ("object",), "which half", least=0, most=1)),
    "",
)


class Halves(TableEstimator, ClusterMixin, BaseEstimator, layout=HALVES):
    """Rows below and above the mean of the first numeric column."""

    def __init__(self, *, standardize=True, random_state=0):
        self.standardize = standardize
        self.random_state = random_state

    def fit(self, X, y=None):
        self._forget()
        table, self._entropy = Table.read(X, standardize=self.standardize), self.random_state
        self.cut_ = float(np.nanmean(table.numeric[:, 0]))
        self.labels_ = (table.numeric[:, 0] > self.cut_).astype(np.int64)
        self._keep_table(table, X)
        return self

    def predict(self, X):
        return (self._read(X).numeric[:, 0] > self.cut_).astype(np.int64)

    def _contents(self):
        header, arrays = super()._contents()
        header["halves"]["cut"] = self.cut_
        return header, arrays | {"labels": self.labels_}

    @classmethod
    def _from_contents(cls, header, arrays):
        halves = super()._from_contents(header, arrays)
        halves.cut_, halves.labels_ = header["halves"]["cut"], arrays["labels"]
        return halves


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


@pytest.mark.parametrize("frame", [FRAME, FRAME.to_numpy(), pl.from_pandas(FRAME)], ids=["pandas", "numpy", "polars"])
def test_its_file_is_read_as_every_other(frame, tmp_path):
    halves = Halves(standardize=False).fit(frame)
    halves.save(tmp_path / "halves.partita")
    again = partita.load(tmp_path / "halves.partita")
    assert type(again) is Halves
    assert again.get_params() == halves.get_params()
    np.testing.assert_array_equal(again.predict(frame), halves.labels_)
    assert str(again.to_frame()) == str(halves.to_frame())
    assert hasattr(again, "feature_names_in_") == hasattr(halves, "feature_names_in_")


def test_what_its_file_says_is_checked(tmp_path):
    halves = Halves().fit(FRAME)
    halves.cut_ = "low"
    with pytest.raises(ValueError, match=r"halves\.cut must be a number"):
        halves.save(tmp_path / "halves.partita")
    header, arrays = Halves().fit(FRAME)._contents()
    header["halves"]["feature_names"] = ["size"]
    with pytest.raises(ValueError, match="not as many feature names as columns"):
        Halves._from_contents(header, arrays)


def test_an_estimator_without_a_layout_cannot_be_saved(tmp_path):
    class Unsaved(TableEstimator, BaseEstimator):
        def fit(self, X, y=None):
            self.labels_ = np.zeros(len(X), np.int64)
            self._keep_table(Table.read(X), X)
            return self

    with pytest.raises(NotImplementedError, match="Unsaved has no layout, so that it cannot be saved"):
        Unsaved().fit(FRAME).save(tmp_path / "no.partita")


def test_nothing_is_known_before_a_fit(tmp_path):
    for ask in (lambda one: one.table_, lambda one: one.to_frame(), lambda one: one.save(tmp_path / "no.partita")):
        with pytest.raises(NotFittedError):
            ask(Halves())
