"""Columns as CSV text."""

import csv
import io

import pytest

from partita.runs.columns import to_csv


@pytest.mark.parametrize("cell", ["a\rb", "\r=1", "a\r\nb", "a\nb", 'a"b', "a,b", "\x1b", " a "])
def test_text_is_read_back_as_it_was(cell):
    text = to_csv({cell: [cell, "next"]})
    assert list(csv.reader(io.StringIO(text, newline=""))) == [[cell], [cell], ["next"]]
    assert text.endswith("next\n")


def test_only_text_is_escaped():
    columns = {"=h": ["=1", "+1", "-1", "@x", "\tx", "\rx", "x=1", "", "'"], "n": [-1, -0.5, *[None] * 7]}
    lines = list(csv.reader(io.StringIO(to_csv(columns, safe=True), newline="")))
    assert lines[0] == ["'=h", "n"]
    assert [line[0] for line in lines[1:]] == ["'=1", "'+1", "'-1", "'@x", "'\\tx", "'\\rx", "x=1", "", "'"]
    assert [line[1] for line in lines[1:3]] == ["-1", "-0.5"]
