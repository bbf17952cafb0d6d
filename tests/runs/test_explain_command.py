"""partita explain: why a row of an earlier run is where it is."""

import csv
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from tests.runs.conftest import fit, two_groups, write_run

import partita as package
from partita.model.explanation import Explanation
from partita.runs.cluster import ClusterRequest
from partita.runs.explain import _notes
from partita.runs.manifest import MANIFEST, fingerprint

pytestmark = pytest.mark.xdist_group("mixed")


def write(folder, lines, **options):
    """A run of these lines of CSV in the folder ``out``."""
    (folder / "things.csv").write_text("\n".join(lines) + "\n")
    request = ClusterRequest(folder / "things.csv", {}, chains=2, draws=100, **options)
    return write_run(fit(request), folder / "out")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run whose rows have ids, two of them the same, one with an escape in it."""
    lines = two_groups()
    lines[8] = lines[8].replace("c7", "c5")
    lines[9] = lines[9].replace("c8", "\x1b[2Jx")
    return write(tmp_path_factory.mktemp("explain"), lines, id="id")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A run whose rows have no ids; the fourth has no value."""
    lines = [line.split(",", 1)[1] for line in two_groups()]
    lines[4] = ","
    return write(tmp_path_factory.mktemp("explain-plain"), lines)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_place_first_then_columns(run, partita):
    done = partita("explain", run, "c4")
    assert done.code == 0, done.err
    first, gap, *rest = done.out.splitlines()
    row = rows_of(run / "labels.csv")[4]
    assert row["id"] == "c4"
    assert first == (
        f"Row c4 is in group {row['label']} with confidence {float(row['confidence']):.2f}; the runner-up is group"
        f" {row['runner_up']}."
    )
    assert gap == ""
    assert rest == str(package.load(run / "posterior.partita").explain(4)).splitlines()


def test_numbers_where_there_are_no_ids(plain, partita):
    model = package.load(plain / "posterior.partita")
    for position in (0, 3, 59):
        done = partita("explain", plain, position)
        assert done.code == 0, done.err
        assert done.out.startswith(f"Row {position} is in group {model.labels_[position]} with confidence ")
        assert str(model.explain(position)) in done.out
    assert "It has no value at all: that is the prior's answer." in partita("explain", plain, 3).out


def test_a_number_in_place_of_an_id_that_several_rows_have(run, partita):
    refused = partita("explain", run, "c5")
    assert (refused.code, refused.out) == (2, "")
    assert "2 rows are named 'c5' (rows 5, 7): give one of these numbers with --number." in refused.err
    done = partita("explain", run, "7", "--number")
    assert done.code == 0
    assert str(package.load(run / "posterior.partita").explain(7)) in done.out


def test_names_of_others_do_not_reach_the_terminal_as_they_are(run, partita):
    done = partita("explain", run, "\x1b[2Jx")
    assert done.code == 0
    assert r"Row \x1b[2Jx is in group" in done.out
    assert "\x1b" not in done.out


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("c99", r"No row of the run is named 'c99'\. Did you mean 'c9'\?"),
        (" C12 ", r"Did you mean 'c12'\?"),
        ("something else", r"The names are 'c0', 'c1', 'c2' and 57 more\."),
        ("", r"No row of the run is named ''"),
        ("7", r"named '7'\..* A row number is given with --number\."),
        ("x" * 5000, r"No row of the run is named 'xxx.*\.\.\.x+'\. The names are"),
        ("a\x1b[2J", r"named 'a\\x1b\[2J'"),
        ("-1", r"No such option: -1"),
    ],
)
def test_an_unknown_id_is_refused_in_one_sentence(run, partita, row, words):
    check_refused(partita("explain", run, row), words)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("60", r"Row 60 does not exist: the run has rows 0 to 59\."),
        ("9" * 5000, r"Row 999.* does not exist: the run has rows 0 to 59\."),
        ("c4", r"'c4' is no row number, and the rows of this run have no ids: rows are numbered from 0 to 59\."),
        ("1.0", r"'1.0' is no row number"),
        ("²", r"'²' is no row number"),
        ("", r"'' is no row number"),
    ],
)
def test_an_unknown_number_is_refused_in_one_sentence(plain, partita, row, words):
    check_refused(partita("explain", plain, row), words)


def test_an_id_is_no_number(run, partita):
    check_refused(partita("explain", run, "c4", "--number"), "'c4' is no row number, and --number takes no ids")


def check_refused(done, words):
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert len(done.err) < 400
    assert "\x1b" not in done.err
    assert re.search(words, done.err), done.err


# --- folders that are no runs, or that somebody changed --------------------------------------------


def test_a_folder_that_is_no_run(partita, tmp_path):
    (tmp_path / "file").write_text("")
    check_refused(partita("explain", tmp_path / "none", "0"), "does not exist: RUN is the folder")
    check_refused(partita("explain", tmp_path / "file", "0"), "is a file, not a folder")
    check_refused(partita("explain", tmp_path, "0"), "has no manifest.json: RUN is the folder")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not as partita writes it"),
        (b"id,label,confidence,runner_up\n", "has not as many rows as the model"),
        (b"\xff\xfe" * 20, "is not as partita writes it"),
        (b"id,group,group_confidence\n" + b"a,0\n" * 60, "is not as partita writes it"),
        (b"id,group,group_confidence\n" + b"a,0,much\n" * 60, "is not as partita writes it"),
        (b"id,group\n" + b"a,0\n" * 60, "is not as partita writes it"),
        (b"id\n" + b"\n" * 60, "is not as partita writes it"),
        (b"id\n" + b"a" * 200_000 + b"\n", "is not as partita writes it"),
    ],
)
def test_labels_that_partita_did_not_write(run, partita, tmp_path, content, words):
    """Sealed anew, so that the manifest does not tell."""
    for path in run.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    check_refused_after(tmp_path, partita, content, "is damaged or was changed after the run")
    seal(tmp_path)
    check_refused(partita("explain", tmp_path, "c4"), words)


def check_refused_after(folder, partita, content, words):
    (folder / "labels.csv").write_bytes(content)
    check_refused(partita("explain", folder, "c4"), words)


def seal(folder, *, without=None):
    manifest = json.loads((folder / MANIFEST).read_text())
    known = fingerprint(folder / "labels.csv")
    manifest["files"]["labels.csv"] = {"sha256": known.sha256, "bytes": known.n_bytes}
    manifest["files"].pop(without, None)
    (folder / MANIFEST).write_text(json.dumps(manifest))


def test_labels_that_the_manifest_does_not_name(run, partita, tmp_path):
    for path in run.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    seal(tmp_path, without="labels.csv")
    check_refused(partita("explain", tmp_path, "c4"), "has no labels.csv of this run: make the folder again")


# --- groups, consensus, and where draws and values differ --------------------------------------------


def test_merged_groups_are_told_with_their_confidence(partita, tmp_path):
    lines = [line.split(",", 1)[1] for line in two_groups()]
    out = write(tmp_path, lines, groups=1)
    row = rows_of(out / "labels.csv")[2]
    assert (row["group"], float(row["group_confidence"])) == ("0", 1.0)
    done = partita("explain", out, "2")
    assert done.code == 0, done.err
    first, second, _, third, *_ = done.out.splitlines()
    label, other = row["label"], row["runner_up"]
    assert first.startswith(f"Row 2 is in piece {label} with confidence ")
    assert first.endswith(f"; the runner-up is piece {other}.")
    assert second == f"Piece {label} is part of group 0, in which the row is with confidence 1.00."
    assert third.startswith(f"Piece {label} against piece {other}: ")


def test_a_consensus_is_explained_by_its_clusterings(partita, tmp_path):
    rng = np.random.default_rng(0)
    truth = np.arange(40) % 2
    votes = [np.where(rng.random(40) < 0.05, 1 - truth, truth) for _ in range(5)]
    lines = ["object,a,b,c,d,e", *(f"o{i},{','.join(str(v[i]) for v in votes)}" for i in range(40))]
    (tmp_path / "votes.csv").write_text("\n".join(lines))
    arguments = ["--id", "object", "--out", tmp_path / "out", "--engine", "vb", "--quiet"]
    assert partita("consensus", tmp_path / "votes.csv", *arguments).code == 0
    done = partita("explain", tmp_path / "out", "o3")
    assert done.code == 0, done.err
    assert done.out.startswith("Row o3 is in group ")
    assert str(package.load(tmp_path / "out" / "posterior.partita").explain(3)) in done.out


def test_draws_and_values_may_tell_two_stories():
    model = SimpleNamespace(labels_=np.array([0]), probabilities_=np.array([[0.5, 0.3, 0.2]]))
    assert _notes(model, 0, Explanation(0, 1, 0.5, {"a": 0.5}, {"a": 1.0}), "group") == []
    gap, values, runner_up = _notes(model, 0, Explanation(0, 2, 0.5, {"a": -1.5}, {"a": 1.0}), "group")
    assert gap == ""
    assert values.startswith("By its values alone the row would be in group 2")
    assert runner_up == "By the draws the runner-up is group 1, by its values group 2."
