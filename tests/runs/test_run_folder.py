"""A folder holds the old run, the new one or none, at every rename; and only partita's own files are replaced."""

import json
import os
import subprocess
import sys

import pytest
from tests.volumes import long, mostly_long

from partita.runs.manifest import MANIFEST, Manifest, fingerprint, read_manifest
from partita.runs.run_folder import RunFolder

pytestmark = long

COMMAND = "partita cluster"
NAMES = ("labels.csv", "summary.json", "posterior.partita")
BESIDE = "predictions.csv"
WRITE = """
import os, sys
from pathlib import Path
from partita.runs.run_folder import RunFolder

path, command, kind, text, last = sys.argv[1:]
left, rename = int(last), os.replace

def replace_or_die(*places):
    global left
    if left == 0:
        os._exit(9)
    left -= 1
    rename(*places)

os.replace = replace_or_die
folder = RunFolder(Path(path), command)
names = ("labels.csv", "summary.json", "posterior.partita")
with folder.writing(names) if kind == "run" else folder.writing_beside("predictions.csv") as paths:
    for place in paths:
        place.write_text(text)
"""


def write(folder, text, *, force=False):
    with RunFolder(folder, COMMAND, force).writing(NAMES) as paths:
        for path in paths:
            path.write_text(text)


def write_beside(folder, text, *, force=False):
    with RunFolder(folder, COMMAND, force).writing_beside(BESIDE) as (path,):
        path.write_text(text)


def killed(folder, kind, text, n_renames):
    """Write in a process of its own that dies before the rename of this number; gives its exit code."""
    command = [sys.executable, "-c", WRITE, folder, COMMAND, kind, text, str(n_renames)]
    return subprocess.run(list(map(str, command)), check=False, timeout=60).returncode


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if not path.name.endswith(".tmp")}


def run_in(folder):
    """The text that all files of a whole run hold; None where the folder is no run."""
    manifest = read_manifest(folder)
    if manifest is None or not manifest.complete:
        return None
    assert set(manifest.files) == set(NAMES)
    assert all(fingerprint(folder / name) == known for name, known in manifest.files.items())
    (text,) = {(folder / name).read_text() for name in NAMES}
    return text


def test_the_manifest_says_what_is_there(tmp_path):
    write(tmp_path, "one")
    assert run_in(tmp_path) == "one"
    about = json.loads((tmp_path / MANIFEST).read_text())
    assert (about["format"], about["format_version"], about["command"]) == ("partita-run", 1, COMMAND)
    assert about["complete"] is True
    assert about["files"]["labels.csv"] == {
        "sha256": "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
        "bytes": 3,
    }


@mostly_long
@pytest.mark.parametrize("before", [None, "old"])
def test_a_kill_at_any_rename_of_a_run(tmp_path, before):
    seen, n_renames = [], 0
    while True:
        folder = tmp_path / str(n_renames)
        folder.mkdir()
        if before:
            write(folder, before)
            write_beside(folder, "earlier predictions")
        code = killed(folder, "run", "new", n_renames)
        seen.append(run_in(folder))
        write(folder, "next")
        assert run_in(folder) == "next"
        if before:
            write_beside(folder, "next predictions")
        if code == 0:
            break
        assert code == 9
        n_renames += 1
    assert n_renames == len(NAMES) + 2
    assert seen == [before] + [None] * (n_renames - 1) + ["new"]


@mostly_long
@pytest.mark.parametrize("before", [None, "old"])
@pytest.mark.parametrize("n_renames", [0, 1, 2, 3])
def test_a_kill_at_any_rename_of_a_file_beside(tmp_path, before, n_renames):
    write(tmp_path, "run")
    if before:
        write_beside(tmp_path, before)
    assert killed(tmp_path, "beside", "new", n_renames) == (9 if n_renames < 3 else 0)
    assert run_in(tmp_path) == "run"
    assert content(tmp_path).get(BESIDE) == (before if n_renames < 2 else "new")
    write(tmp_path, "another run")
    write_beside(tmp_path, "next")
    assert content(tmp_path)[BESIDE] == "next"


def test_kills_after_kills_leave_nothing_that_the_next_run_may_not_replace(tmp_path):
    write(tmp_path, "zero")
    for n_renames, text in ((3, "one"), (2, "two"), (4, "three"), (1, "four")):
        assert killed(tmp_path, "run", text, n_renames) == 9
        assert run_in(tmp_path) is None
    write(tmp_path, "five")
    assert run_in(tmp_path) == "five"


def test_leftovers_of_a_kill_are_removed_before_the_next_run(tmp_path):
    assert killed(tmp_path, "run", "one", 2) == 9
    assert any(path.name.endswith(".tmp") for path in tmp_path.iterdir())
    RunFolder(tmp_path, COMMAND).prepare(NAMES)
    assert not any(path.name.endswith(".tmp") for path in tmp_path.iterdir())


def test_an_error_while_writing_changes_nothing(tmp_path):
    write(tmp_path, "old")
    before = content(tmp_path)
    with pytest.raises(FileNotFoundError), RunFolder(tmp_path, COMMAND).writing(NAMES) as paths:
        paths[0].write_text("new")  # and none of the others
    assert content(tmp_path) == before


@pytest.mark.parametrize("name", [*NAMES, MANIFEST])
def test_what_another_wrote_is_refused_and_forced(tmp_path, name):
    (tmp_path / name).write_text("mine")
    words = "is not the manifest of a run of partita" if name == MANIFEST else "was not written by partita"
    with pytest.raises(ValueError, match=rf"{name}' {words}: choose another place with --out, or .* --force\."):
        RunFolder(tmp_path, COMMAND).refuse_others(NAMES)
    with pytest.raises(ValueError, match=words):
        write(tmp_path, "new")
    assert content(tmp_path) == {name: "mine"}
    write(tmp_path, "new", force=True)
    assert run_in(tmp_path) == "new"
    write(tmp_path, "next")


def test_what_was_changed_is_the_person_s(tmp_path):
    write(tmp_path, "old")
    (tmp_path / "labels.csv").write_text("new")  # as long as before
    with pytest.raises(ValueError, match=r"labels\.csv' was changed after partita wrote it: choose another place"):
        RunFolder(tmp_path, COMMAND).refuse_others(NAMES)
    with pytest.raises(ValueError, match="was changed after"):
        write(tmp_path, "next")
    assert content(tmp_path)["labels.csv"] == "new"
    write(tmp_path, "next", force=True)
    assert run_in(tmp_path) == "next"


def test_what_was_taken_away_is_written_again(tmp_path):
    write(tmp_path, "old")
    (tmp_path / "labels.csv").unlink()
    write(tmp_path, "new")
    assert run_in(tmp_path) == "new"


def test_a_file_that_came_during_the_fit_is_kept(tmp_path):
    folder = RunFolder(tmp_path, COMMAND)
    folder.refuse_others(NAMES)
    (tmp_path / "labels.csv").write_text("mine")
    with pytest.raises(ValueError, match="was not written by partita"):
        write(tmp_path, "new")
    assert content(tmp_path) == {"labels.csv": "mine"}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", ["labels.csv", MANIFEST])
def test_a_folder_where_a_file_is_to_be_is_refused(tmp_path, name, force):
    (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match=f"{name}' is a folder, where a file is to be written"):
        RunFolder(tmp_path, COMMAND, force).refuse_others(NAMES)


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_is_never_followed(tmp_path):
    mine = tmp_path / "mine"
    mine.write_text("mine")
    folder = tmp_path / "out"
    folder.mkdir()
    write(folder, "old")
    (folder / "labels.csv").unlink()
    (folder / "labels.csv").symlink_to(mine)
    with pytest.raises(ValueError, match="was changed after"):
        write(folder, "new")
    write(folder, "new", force=True)
    assert (mine.read_text(), run_in(folder)) == ("mine", "new")


@pytest.mark.parametrize("force", [False, True])
def test_results_of_two_commands_are_not_mixed(tmp_path, force):
    write(tmp_path, "old")
    with pytest.raises(ValueError, match="holds the result of 'partita cluster', which would be replaced in part"):
        RunFolder(tmp_path, "partita consensus", force).refuse_others(["labels.csv"])


def test_looking_whether_a_folder_is_writable_touches_no_file(tmp_path):
    mine = {name: f"{name} of mine" for name in (".writable", "writable", ".writable.tmp", ".labels.csv.tmp")}
    for name, text in mine.items():
        (tmp_path / name).write_text(text)
    RunFolder(tmp_path, COMMAND).prepare(NAMES)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == mine


def test_a_manifest_of_a_fresh_folder_is_none(tmp_path):
    assert read_manifest(tmp_path) is None
    assert read_manifest(tmp_path / "nowhere") is None
    assert Manifest(COMMAND).fingerprints("labels.csv") == set()
