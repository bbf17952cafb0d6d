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
