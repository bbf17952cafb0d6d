"""Names, cells and file names of others reach no message and no text with what could move a cursor."""

import contextlib
import datetime
import io
import re
import warnings
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import partita
from partita import NBCE, Mixture, Posterior, Table, plots
from partita.consensus import base_clusterings
from partita.spectral import SpectralClustering
from partita.table import read_file
from partita.wording import printable

pytestmark = pytest.mark.xdist_group("mixed")
EVIL = "a\x1b[2J\x9b1m\x07\r\u202e\x7fz"
OTHER = "b\x1b]0;x\x07"
QUICK = {"chains": 1, "draws": 5, "random_state": 0}


def assert_prints(text):
    assert all(letter.isprintable() or letter == "\n" for letter in text), repr(text)


def heard(call):
    """What a call says: its warnings, its error with those behind it, and what it prints."""
    out, said = io.StringIO(), []
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            while error is not None:
                said.append(str(error))
                error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return [*said, *(str(warning.message) for warning in caught), out.getvalue()]


def numbers(n=12):
    return np.random.default_rng(0).normal(size=n).round(3) + 10 * (np.arange(n) % 2)


def good():
    return pd.DataFrame({EVIL: numbers(), OTHER: [EVIL, OTHER] * 6})


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Mixture(**QUICK).fit(good())


@pytest.mark.parametrize("text", [EVIL, "\ud800", "a\nb", "\t", "\x00"])
def test_what_does_not_print_is_written_as_in_python(text):
    assert_prints(printable(text))
    assert printable(text) == repr(text)[1:-1]
    assert printable("größe 漢字 e\u0301 -_'\"") == "größe 漢字 e\u0301 -_'\""


TABLES = {
    "infinite": {EVIL: [1.0, np.inf, 2.0]},
    "times of day": {EVIL: [datetime.time(1), datetime.time(2), datetime.time(4)]},
    "durations": {EVIL: np.array([1, 2**62, 3]).astype("m8[s]")},
    "dates as text": {EVIL: ["01/02/2024", "03/04/2024", "05/07/2024"]},
    "mixed types": {EVIL: [1, EVIL, 2.5]},
    "odd cells": {EVIL: [[1], {EVIL: 2}, None]},
    "constant": {EVIL: [1.0, 1.0, 1.0], "b": [1.0, 2.0, 3.0]},
    "identifiers": {EVIL: [f"{EVIL}{i}" for i in range(30)], "b": np.arange(30.0)},
    "huge": {EVIL: [10**400, 1, 2]},
    "all missing": {EVIL: [None, None, None]},
}


@pytest.mark.parametrize("columns", TABLES.values(), ids=TABLES.keys())
def test_tables_that_are_refused_or_doubted(columns):
    for read in (Table.read, Mixture(**QUICK).fit, NBCE(**QUICK).fit):
        said = heard(lambda read=read: read(pd.DataFrame(columns)))
        assert any(said)
        for words in said:
            assert_prints(words)


@pytest.mark.parametrize(
    "types",
    [{"x\x1b": "count"}, {EVIL: "\x1bcount"}, {OTHER: "numeric"}, {EVIL: "count"}, {OTHER: "count"}],
)
def test_types_that_are_refused(types):
    said = heard(lambda: Table.read(good(), column_types=types))
    assert said[0]
    assert_prints(said[0])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_rows_that_were_not_seen_in_fit(fitted, library):
    fit = good()
    for columns in (
        {EVIL: [1.0], "c\x1b": [EVIL]},
        {EVIL: [1.0]},
        {EVIL: [1.0], OTHER: [EVIL], "c\x1b": [1.0]},
        {OTHER: [EVIL], EVIL: [1.0]},
        {EVIL: [1.0], OTHER: ["\x1bnew"]},
        {EVIL: ["\x1btext"], OTHER: [EVIL]},
    ):
        for answer in (fitted.predict, fitted.novelty, fitted.explain):
            for words in heard(lambda answer=answer, columns=columns: answer(library(columns))):
                assert_prints(words)
    assert any(heard(lambda: fitted.predict(fit[[OTHER, EVIL]].rename(columns={EVIL: "\x1b"}))))


def test_texts_of_a_fitted_model(fitted):
    text = str(fitted.explain(0))
    assert_prints(text)
    assert printable(EVIL) in text
    for thing in (fitted, fitted.explain(0), fitted.posterior_, fitted.diagnostics_, fitted.posterior_.estimate()):
        assert_prints(repr(thing))
        assert_prints(str(thing))
    for row in ({EVIL: 1.0}, {EVIL: 1.0, OTHER: EVIL, "\x1bc": 1}, {EVIL: 1.0, OTHER: "\x1bnew"}):
        (words, *_) = heard(lambda row=row: fitted.explain(row))
        assert words
        assert_prints(words)
    for option in ("family", "prior", "engine", "column_types"):
        (words, *_) = heard(lambda option=option: Mixture(**{option: EVIL}).fit(good()))
        assert words
        assert_prints(words)


def test_names_of_traces():
    traces = {"\x1btrace": np.random.default_rng(0).normal([[0.0], [9.0]], size=(2, 20))}
    found = Posterior(np.zeros((2, 20, 3), int), traces=traces).diagnostics()
    assert_prints(str(found))
    assert_prints(found.verdict)
    assert "\\x1btrace" in found.verdict


def test_a_picture_with_such_names():
    frame = pd.DataFrame({EVIL: numbers(), OTHER: numbers()[::-1]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Mixture(**QUICK).fit(frame)
    for words in heard(lambda: plots.clusters(model).figure.savefig(io.BytesIO(), format="png")):
        assert_prints(words)


@pytest.mark.parametrize(
    "labels",
    [
        {EVIL: [0.5, 1.0, 2.0], OTHER: [0, 1, 1]},
        {EVIL: [f"{EVIL}{i}" for i in range(3)], OTHER: [0, 1, 1]},
        {EVIL: [[1], [2], [3]], OTHER: [0, 1, 1]},
        {EVIL: [1, EVIL, 2.5], OTHER: [0, 1, 1]},
    ],
)
def test_labels_that_are_refused_or_doubted(labels):
    said = heard(lambda: NBCE(**QUICK).fit(pd.DataFrame(labels)))
    assert any(said)
    for words in said:
        assert_prints(words)


def test_consensus_of_other_clusterings():
    frame = pd.DataFrame({EVIL: [EVIL, OTHER] * 4, OTHER: [0, 1] * 4})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NBCE(**QUICK).fit(frame)
    for other in ({EVIL: [EVIL], "\x1bc": [0]}, {EVIL: ["\x1bnew"], OTHER: [0]}, {EVIL: [EVIL]}):
        for words in heard(lambda other=other: model.predict(pd.DataFrame(other))):
            assert_prints(words)
    assert_prints(str(model.explain(0)) if hasattr(model, "explain") else repr(model))


DRAWS = [
    "a\x1b,b\n0.5,1\n1,2\n",
    "a\x1b,a\x1b\n0,1\n1,0\n",
    "a\x1b,b\n,1\n,0\n",
    "a\x1b,b\n0,1\n0\n",
    "a\x1b,b\n\x1b,NA\nx\x07,-1\n",
    'a\x1b,"b\n0,1\n',
    ",b\n\x1b,1\n\x07,0\n",
    "a\x1b,b\n0,\udc80\n",
]


@pytest.mark.parametrize("text", DRAWS)
def test_draws_in_files(tmp_path, text):
    path = tmp_path / "d\x1b[2J.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    for words in heard(lambda: Posterior.from_draws(path)):
        assert_prints(words)
    for words in heard(lambda: Posterior.from_draws(pd.DataFrame({EVIL: [0.5, 1], OTHER: [EVIL, None]}))):
        assert_prints(words)
    (words, *_) = heard(lambda: Posterior.from_draws([[EVIL, [EVIL]], [OTHER, OTHER]]))
    assert_prints(words)


def test_arrays_and_models_in_files(tmp_path):
    path = tmp_path / "\x1b.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("\x1ba.npy", "b.npy"):
            stream = io.BytesIO()
            np.save(stream, np.zeros((2, 3), int))
            archive.writestr(name, stream.getvalue())
    path.with_suffix(".partita").write_bytes(b"PK\x03\x04")
    for read in (Posterior.from_draws, Posterior.load, partita.load, Mixture(**QUICK).fit):
        for place in (path, path.with_suffix(".partita"), tmp_path / "none\x1b"):
            (words, *_) = heard(lambda read=read, place=place: read(place))
            assert words
            assert_prints(words)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a\x1b,b\n",
        b"a\x1b,b\n1\n",
        b'a\x1b,"b\n1,2\n',
        b"a\x1b,a\x1b\n1,2\n",
        b"a\x1b,b\n\xff,2\n",
        b"a\x1b,\n1,2\n",
        b"a\x1b,b\n1,2\n2,3\n3,4\n4,\x1bx\n",
        b"\x00\x1b",
        b"PK\x03\x04\x1b",
        b"\x1f\x8b\x1b",
        b"PAR1\x1b",
    ],
)
def test_files_that_hold_no_table(tmp_path, content):
    path = tmp_path / "t\x1b[2J\u202e.csv"
    path.write_bytes(content)
    said = heard(lambda: read_file(path))
    assert any(said)
    for words in said:
        assert_prints(words)
    for words in heard(lambda: Mixture(**QUICK).fit(path)):
        assert_prints(words)
    for other in (tmp_path / "t\x1b[2K\u202e.csv", tmp_path / "t\x1b" / "x", "http://\x1b"):
        (words, *_) = heard(lambda other=other: read_file(other))
        assert_prints(words)


def test_a_cell_that_pyarrow_quotes(tmp_path, monkeypatch):
    def refuse(*rest, **options):
        raise pa.ArrowInvalid("CSV parse error: Expected 2 columns, got 3: 1,\x1b[2J,\x9b")

    monkeypatch.setattr("pyarrow.csv.read_csv", refuse)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (words, *_) = heard(lambda: read_file(tmp_path / "t.csv"))
    assert re.search(r"got 3: 1,\\x1b\[2J,\\x9b\)", words)
    assert_prints(words)
    (words, *_) = heard(lambda: Posterior.from_draws(tmp_path / "t.csv"))
    assert_prints(words)


def test_numbers_only():
    frame = good()
    for call in (
        lambda: SpectralClustering(n_clusters=2).fit(frame),
        lambda: SpectralClustering(n_clusters=2).fit(pl.from_pandas(frame)),
        lambda: SpectralClustering(n_clusters=2).fit(np.array([[EVIL, OTHER]] * 4)),
        lambda: SpectralClustering(n_clusters=2).fit(EVIL),
        lambda: SpectralClustering(affinity=EVIL).fit(np.eye(4)),
        lambda: base_clusterings(frame, random_state=0),
        lambda: base_clusterings(np.array([[EVIL, OTHER]] * 4, dtype=object), random_state=0),
        lambda: Mixture(**QUICK).fit(EVIL),
    ):
        (words, *_) = heard(call)
        assert words
        assert_prints(words)


def test_a_file_of_an_estimator_that_is_not_known():
    with pytest.raises(ValueError, match=r"holds a \\x1bMixture, which this version"):
        Mixture._from_contents({"mixture": {"estimator": "\x1bMixture"}}, {})
