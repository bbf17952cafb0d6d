"""What names, cells, ids and file names of others may not do: move a cursor, or be computed by a spreadsheet."""

import csv
import io

import pytest
from tests.runs.conftest import two_groups
from tests.test_wording import assert_prints
from tests.volumes import long, mostly_long

from partita.wording import printable

pytestmark = [pytest.mark.xdist_group("mixed"), long]
EVIL = "x\x1b[2J\x9b1m\x07\u202e"
QUICK = ["--chains", "1", "--draws", "5"]


@pytest.fixture
def folder(tmp_path):
    """A table, votes and draws whose names, levels and ids are evil, in files whose names are."""
    lines = [line.replace("red", EVIL).replace("c", f"={EVIL}", 1) for line in two_groups()[1:]]
    (tmp_path / f"table{EVIL}.csv").write_text("\n".join([f"@id{EVIL},+size{EVIL},-colour{EVIL}", *lines]))
    votes = [f"={EVIL}{i},{'pq'[i % 2]}{EVIL},{i % 2}" for i in range(12)]
    (tmp_path / f"votes{EVIL}.csv").write_text("\n".join([f"@id{EVIL},-a{EVIL},=b{EVIL}", *votes]))
    (tmp_path / f"draws{EVIL}.csv").write_text(f"=a{EVIL},+b{EVIL},c\n0,0,1\n0,1,1\n0,0,1\n")
    return tmp_path


COMMANDS = {
    "cluster": ("table", ["--id", f"@id{EVIL}", *QUICK]),
    "consensus": ("votes", ["--id", f"@id{EVIL}", *QUICK]),
    "summarize": ("draws", []),
}


def rows_of(path):
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def assert_printed(done, code):
    assert done.code == code, done.err
    assert done.out + done.err
    assert_prints(done.out)
    assert_prints(done.err)


@mostly_long
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_of_them_reaches_the_terminal(folder, partita, name):
    file, options = COMMANDS[name]
    out = folder / f"out{EVIL}"
    arguments = [name, folder / f"{file}{EVIL}.csv", *options, "--out", out]
    assert_printed(partita(*arguments), 0)
    if name != "summarize":
        assert_printed(partita("predict", out, arguments[1]), 0)
    (out / "labels.csv").write_text("mine")
    assert_printed(partita(*arguments), 2)
    assert_printed(partita("predict", out, arguments[1]), 2)
    for wrong in (["--id", "\x1b"], ["--ignore", "\x1b"], ["--\x1b"], ["--out", folder / f"{file}{EVIL}.csv"]):
        assert_printed(partita(*arguments, *wrong), 2)
    assert_printed(partita(name, folder / "\x1b.csv"), 2)


@mostly_long
@pytest.mark.parametrize("name", COMMANDS)
def test_files_are_faithful_and_harmless_where_that_is_asked_for(folder, partita, name):
    file, options = COMMANDS[name]
    plain, safe = folder / "plain", folder / "safe"
    for out, more in ((plain, []), (safe, ["--safe-csv"])):
        assert partita(name, folder / f"{file}{EVIL}.csv", *options, "--out", out, "--quiet", *more).code == 0
        if name != "summarize":
            assert partita("predict", out, folder / f"{file}{EVIL}.csv", "--quiet", *more).code == 0
    written = sorted(path.name for path in plain.iterdir() if path.suffix == ".csv")
    assert written == sorted(path.name for path in safe.iterdir() if path.suffix == ".csv")
    for path in (plain / other for other in written):
        assert EVIL in path.read_text(encoding="utf-8")
        for line, harmless in zip(rows_of(path), rows_of(safe / path.name), strict=True):
            for cell, other in zip(line, harmless, strict=True):
                assert_prints(other)
                assert not other.startswith(("=", "+", "@"))
                assert other in (printable(cell), f"'{printable(cell)}")
    assert partita(name, folder / f"{file}{EVIL}.csv", *options, "--out", safe, "--quiet").code == 0
