"""A command in one file is named in the help, reads, refuses, writes a run and says its sections."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.volumes import long

from partita.runs.manifest import MANIFEST, read_manifest

WITH_TALLY = "import tests.runs.toy_command; from partita.cli import main; main()"
ROOT = Path(__file__).resolve().parents[2]


def partita(*arguments):
    """The command line of a process in which the command is defined."""
    arguments = [sys.executable, "-c", WITH_TALLY, *map(str, arguments)]
    return subprocess.run(arguments, check=False, capture_output=True, text=True, timeout=120, cwd=ROOT)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "song.txt"
    path.write_text("la la the =la the lalala la\n")
    return path


def test_the_help_names_it():
    said = partita("--help").stdout
    assert "tally" in said
    assert "Count the words of a text." in said
    assert "demo" in said
    assert "--ignore" in partita("tally", "--help").stdout


def test_it_says_its_sections_and_writes_them_as_a_run(text, tmp_path):
    done = partita("tally", text, "--ignore", "the,a", "--out", tmp_path / "out", "--seed", "3")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        f"{text}: 7 words.\n\nThis will not take long.\n\nMost often: la.\n\nLongest: lalala.\n\n"
        f"Written to {tmp_path / 'out'}: tally.csv, summary.json, longest.txt.\n"
    )
    assert (tmp_path / "out" / "tally.csv").read_text() == "word,n\nla,3\n=la,1\nlalala,1\n"
    assert (tmp_path / "out" / "longest.txt").read_text() == "lalala"
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert list(summary) == ["n_words", "most", "request", "seed", "seconds", "version"]
    assert summary["request"] == {"text": str(text), "ignore": ["the", "a"], "seed": 3}
    assert (summary["n_words"], summary["most"], summary["seed"]) == (7, "la", 3)
    manifest = read_manifest(tmp_path / "out")
    assert (manifest.command, manifest.complete) == ("partita tally", True)
    assert list(manifest.files) == ["tally.csv", "summary.json", "longest.txt"]


def test_it_refuses_in_one_sentence_and_leaves_nothing(text, tmp_path):
    text.write_text("")
    done = partita("tally", text, "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"'{text}' has no words: name a text.\n"
    assert not (tmp_path / "out").exists()


@long
def test_it_replaces_its_own_files_and_no_others(text, tmp_path):
    out = tmp_path / "out"
    assert partita("tally", text, "--out", out, "--quiet").stdout == ""
    again = partita("tally", text, "--out", out, "--safe-csv")
    assert again.returncode == 0
    assert "'=la,1" in (out / "tally.csv").read_text()
    (out / "tally.csv").write_text("mine")
    done = partita("tally", text, "--out", out)
    assert done.returncode == 2
    assert "tally.csv' was changed after partita wrote it" in done.stderr
    table = tmp_path / "t.csv"
    table.write_text("x\n1\n2\n")
    done = partita("cluster", table, "--out", out)
    assert done.returncode == 2
    assert "holds the result of 'partita tally', which would be replaced in part" in done.stderr
    assert {path.name for path in out.iterdir()} == {MANIFEST, "tally.csv", "summary.json", "longest.txt"}
