"""What cannot be used ends with exit code 2, one sentence, and no labels file."""

import errno
import os
import re

import pyarrow as pa
import pyarrow.parquet
import pytest

from partita.files import atomic

pytestmark = pytest.mark.xdist_group("mixed")
GOOD = "size,colour\n" + "".join(f"{i % 7},{'ab'[i % 2]}\n" for i in range(20))


def assert_refused(done, words):
    """Exit code 2 and one sentence with these words, nothing else."""
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert re.search(words, done.err), done.err


def parquet(path):
    pa.parquet.write_table(pa.table({"size": [1.0, 2.0, 3.0]}), path)
    return path


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("infinite.csv", "size,b\n1,x\ninf,y\n", r"Column 'size' has 1 infinite value \(row 1\)\. Replace it or leave"),
        ("empty.csv", "", r"'.*empty\.csv' is empty"),
        ("header.csv", "a,b\n", "has a header but no rows"),
        ("ragged.csv", "a,b\n1,2\n3\n4,5\n", r"[Ll]ine 3 .* has 1 cell"),
        ("latin.csv", "a,b\nübel,2\n".encode("latin-1"), "Line 2 of .* is not text in UTF-8"),
        ("twice.csv", "a,b,a\n1,2,3\n4,5,6\n", "Column names must differ, but these repeat: 'a'"),
        ("gaps.csv", "a,b\n,\n,\n", "All cells of the table are missing"),
        ("binary.csv", b"\x00\x01\x02\x00" * 50, "not a text table"),
        ("day.csv", "day,b\n0000-01-01,1\n2024-01-02,5\n", r"Column 'day' holds times outside the years 1 to 9999"),
    ],
)
def test_files_that_hold_no_table(partita, tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert_refused(partita("cluster", path, "--out", tmp_path / "out"), words)
    assert not (tmp_path / "out").exists()


def test_a_parquet_file_that_was_cut(partita, tmp_path):
    path = parquet(tmp_path / "t.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    done = partita("cluster", path, "--out", tmp_path / "out")
    assert done.code == 2
    assert re.search("The Parquet file .*t.parquet' is cut short or damaged", done.err), done.err


def test_no_file_and_a_folder(partita, tmp_path):
    (tmp_path / "things.csv").write_text(GOOD)
    done = partita("cluster", tmp_path / "thing.csv")
    assert done.code == 2
    assert "Did you mean 'things.csv'?" in done.err
    done = partita("cluster", tmp_path)
    assert done.code == 2
    assert "folder" in done.err


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may read and write everything")
def test_no_permission(partita, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(GOOD)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    done = partita("cluster", table, "--out", closed / "out")
    assert done.code == 2
    assert "Permission denied" in done.err
    table.chmod(0)
    assert partita("cluster", table).code == 2


def test_no_permission_to_write(partita, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(GOOD)

    def refuse(*rest, **options):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    done = partita("cluster", tmp_path / "t.csv", "--out", tmp_path / "out")
    assert done.code == 2
    assert re.fullmatch(r"Cannot write to '.*out': Permission denied\. Choose another place with --out\.\n", done.err)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--types", "size=categoric"],
            r"must be one of 'numeric', 'categorical', 'count', 'positive', 'date', .*; got 'categoric'. Did you mean",
        ),
        (["--types", "sise=count"], "--types names 'sise', which is no column of the table. Did you mean 'size'?"),
        (
            ["--types", "sise?=count"],
            r"--types names 'sise\?', a pattern that fits no column of the table. Did you mean",
        ),
        (["--missing", "sise=-9"], "--missing names 'sise', which is no column of the table. Did you mean 'size'?"),
        (["--missing", "size="], "--missing takes VALUE or COLUMN=VALUE"),
        (["--types", "size"], "--types takes COLUMN=TYPE"),
        (["--ignore", "color"], "--ignore names 'color', which is no column of the table. Did you mean 'colour'?"),
        (["--id", "key"], "--id names 'key', which is no column of the table. The columns are 'size', 'colour'."),
        (["--ignore", "size,colour"], "leave no column to cluster by"),
        (["--prior", "pitmanyor"], "--prior must be one of .* Did you mean 'pitman-yor'?"),
        (["--expected-clusters", "0"], "expected number of clusters, must lie strictly between 1 and 20"),
        (["--expected-clusters", "1000"], "expected number of clusters, must lie strictly between 1 and 20"),
        (["--chains", "0"], "chains must be a whole number of at least 1"),
        (["--chains", "four"], "--chains"),
        (["--draws", "some"], "--draws must be 'auto' or a whole number"),
        (["--draws", "0"], "draws must be a whole number of at least 1"),
        (["--max-time", "-3"], "--max-time must be a positive number of seconds, or none for no limit; got '-3'"),
        (["--seed", "-1"], "random_state|seed"),
        (["--colour", "red"], "No such option: --colour"),
    ],
)
def test_options_that_make_no_sense(partita, tmp_path, arguments, words):
    (tmp_path / "t.csv").write_text(GOOD)
    assert_refused(partita("cluster", tmp_path / "t.csv", "--out", tmp_path / "out", *arguments), words)
    assert not (tmp_path / "out").exists()


def test_an_output_folder_that_is_a_file(partita, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    (tmp_path / "taken").write_text("mine")
    done = partita("cluster", tmp_path / "t.csv", "--out", tmp_path / "taken")
    assert done.code == 2
    assert done.err.startswith("Cannot write to ")
    assert "--out" in done.err
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_full_disk_keeps_the_files_of_the_run_before(partita, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(GOOD)
    arguments = ["cluster", tmp_path / "t.csv", "--out", tmp_path / "out", "--draws", "5", "--chains", "1"]
    assert partita(*arguments).code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    flush = atomic.flush

    def full(path):
        if "posterior.partita" in path.name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        flush(path)

    monkeypatch.setattr(atomic, "flush", full)
    done = partita(*arguments, "--seed", "9")
    assert done.code == 2
    assert re.fullmatch(r"Cannot write to '.*out': No space left on device\. Choose .*--out\.\n", done.err)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


@pytest.mark.parametrize("name", ["labels.csv", "profile.csv"])
def test_the_table_is_never_replaced_by_the_result(partita, tmp_path, name):
    (tmp_path / name).write_text(GOOD)
    done = partita("cluster", tmp_path / name, "--out", tmp_path, "--draws", "5", "--chains", "1")
    assert done.code == 2
    assert re.search(f"would replace '.*{name}', which is read: choose another place with --out", done.err)
    assert (tmp_path / name).read_text() == GOOD
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_predictions_replace_neither_the_table_nor_the_run(partita, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    run = tmp_path / "out"
    assert partita("cluster", tmp_path / "t.csv", "--out", run, "--draws", "5", "--chains", "1").code == 0
    for target in (tmp_path / "t.csv", run / "posterior.partita", run / "labels.csv"):
        before = target.read_bytes()
        done = partita("predict", run, tmp_path / "t.csv", "--out", target)
        assert done.code == 2
        assert "which is read" in done.err
        assert target.read_bytes() == before


def test_a_refused_table_keeps_the_files_of_the_run_before(partita, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    arguments = ["cluster", tmp_path / "t.csv", "--out", tmp_path / "out", "--draws", "5", "--chains", "1"]
    assert partita(*arguments).code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    (tmp_path / "t.csv").write_text("size,colour\ninf,a\n")
    assert partita(*arguments).code == 2
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_what_went_wrong_inside_is_one_sentence_too(partita, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(GOOD)

    def fail(*rest, **options):
        raise KeyError("surprise")

    monkeypatch.setattr("partita.runs.cluster.ClusterRequest.read", fail)
    done = partita("cluster", tmp_path / "t.csv")
    assert done.code == 1
    assert done.err == "partita failed (KeyError: 'surprise'). Set PARTITA_TRACEBACK=1 to see where.\n"
