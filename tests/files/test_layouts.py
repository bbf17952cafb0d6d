"""The tables of the documentation are those of the layouts, and the layouts are those of what is written."""

from pathlib import Path

import numpy as np
import pytest
from tests.fuzzing import examples
from tests.fuzzing.sealing import Parts

from partita.files.layout import Field, Layout, Member, MismatchError
from partita.files.layouts import MIXTURE, POSTERIOR

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "file-format.md"


def table(head, rows):
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(row)} |" for row in rows)])


def members_table(members):
    rows = [
        (f"`{m.name}`", ", ".join(m.dtypes), f"({', '.join(m.shape)})", m.holds, m.numbers)
        for m in members
    ]  # fmt: skip
    return table(("array", "type", "shape", "what it holds", "numbers"), rows)


def absence(field):
    if not field.written:
        return "; of earlier versions"
    return "" if field.required else "; may be missing"


def fields_table(fields):
    rows = [(f"`{f.path}`", f.words + absence(f)) for f in fields]
    return table(("field", "what it is"), rows)


@pytest.mark.parametrize(
    "expected",
    [
        members_table(POSTERIOR.members),
        members_table(MIXTURE.members[len(POSTERIOR.members) :]),
        fields_table(POSTERIOR.fields),
        fields_table(MIXTURE.fields[len(POSTERIOR.fields) :]),
    ],
    ids=["arrays of a posterior", "arrays of a mixture", "header of a posterior", "header of a mixture"],
)
def test_the_page_says_what_the_layout_checks(expected):
    assert expected in PAGE.read_text()


def test_what_is_written_is_what_is_described(tmp_path):
    for name, (path, _) in examples.make_all(tmp_path).items():
        layout = POSTERIOR if name == "posterior" else MIXTURE
        parts = Parts.of(path)
        layout.check_header(parts.header)
        layout.check_arrays(parts.header, parts.arrays)
        assert set(layout.arrays(parts.header)) == set(parts.arrays)
        written = [field.path for field in layout.fields if field.written]
        told = {path.split(".")[1] for path in written if path.startswith("mixture.")}
        assert name == "posterior" or set(parts.header["mixture"]) == told


SMALL = Layout(
    "small",
    (
        Field("a.b[].c", "a number", lambda c: isinstance(c, int)),
        Field("d", "text", lambda d: d == "d", required=False),
    ),
    (
        Member("x", ("int64",), ("row", "column"), "cells", least=-1, below="row"),
        Member("y", ("float64",), ("row + 1",), "sums", least=0.0, gaps=True),
        Member("z", ("float64",), ("row x column",), "all"),
    ),
    "",
)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({}, "a is missing"),
        ({"a": 1}, "a must be an object"),
        ({"a": {"b": 1}}, "a.b must be a list"),
        ({"a": {"b": [{"c": 1}, {}]}}, r"a.b\[1\].c is missing"),
        ({"a": {"b": [{"c": "1"}]}}, r"a.b\[0\].c must be a number"),
        ({"a": {"b": []}, "d": 1}, "d must be text"),
    ],
)
def test_a_header_is_held_to_its_fields(header, words):
    SMALL.check_header({"a": {"b": [{"c": 1}]}})
    with pytest.raises(MismatchError, match=words):
        SMALL.check_header(header)


def arrays(**other):
    return {"x": np.array([[0, 1, -1], [1, 1, 0]]), "y": np.array([0.0, np.nan, 2.0]), "z": np.zeros(6)} | other


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"x": np.zeros((2, 3))}, "x must be of type int64, and is float64"),
        ({"x": np.zeros(6, int)}, r"x must have shape \(row, column\), and has \(6,\)"),
        ({"y": np.zeros(2)}, r"y must have shape \(row \+ 1\) with row = 2, column = 3, and has \(2,\)"),
        ({"z": np.zeros(7)}, r"z must have shape \(row x column\)"),
        ({"x": np.full((2, 3), 2)}, "x must hold numbers from -1 below the number of rows, and holds 2 to 2"),
        ({"x": np.full((2, 3), -2)}, "x must hold numbers"),
        ({"y": np.array([0.0, -1.0, 2.0])}, "y must hold numbers from 0, nan = missing, and holds -1 to 2"),
        ({"y": np.array([0.0, np.inf, 2.0])}, "y must hold numbers"),
        ({"z": np.full(6, np.nan)}, "z must hold numbers that are finite"),
    ],
)
def test_arrays_are_held_to_their_members(other, words):
    SMALL.check_arrays({}, arrays())
    SMALL.check_arrays({}, arrays(y=np.full(3, np.nan)))
    with pytest.raises(MismatchError, match=words):
        SMALL.check_arrays({}, arrays(**other))
    with pytest.raises(MismatchError, match="z is missing"):
        SMALL.check_arrays({}, {name: array for name, array in arrays().items() if name != "z"})
