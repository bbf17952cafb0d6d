"""Files that whoever can make a file can also seal: each is refused in one sentence, and nothing in it runs."""

import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from tests.fuzzing import examples
from tests.fuzzing.sealing import DEEP, Parts, sealed
from tests.volumes import long

import partita
from partita import Posterior

REFUSED = "is not as partita writes files|is damaged or incomplete"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return examples.make_all(tmp_path_factory.mktemp("made"))


@pytest.fixture
def changed(made, tmp_path):
    """The path of one of the files after a change, sealed again."""

    def write(name, change):
        parts = Parts.of(made[name][0])
        change(parts)
        path = tmp_path / "changed.partita"
        parts.write(path)
        return path

    return write


def put(*place_and_value):
    """A change: set the entry of the header at a place to a value."""
    *place, last, value = place_and_value

    def change(parts):
        container = parts.header
        for step in place:
            container = container[step]
        container[last] = value

    return change


def array(name, edit):
    """A change of one array."""
    return lambda parts: parts.put(name, edit(parts.arrays[name].copy()))


def with_entry(index, value):
    def edit(found):
        found[index] = value
        return found

    return edit


HEADERS = {
    "a module to import": put("mixture", "origin", "library", "antigravity"),
    "a module in a package": put("mixture", "origin", "library", "xml.dom"),
    "an index of other length": put("mixture", "origin", "index", [1, 2]),
    "an index of lists": put("mixture", "origin", "index", [[1]] * 24),
    "no version": put("format_version", None),
    "a version that is no number": put("format_version", float("nan")),
    "a version that is true": put("format_version", True),
    "a version below the first": put("format_version", 0),
    "a scale of 0": put("mixture", "schema", "columns", 0, "scale", 0.0),
    "a scale that is nan": put("mixture", "schema", "columns", 0, "scale", float("nan")),
    "an infinite center": put("mixture", "schema", "columns", 0, "center", float("inf")),
    "a strange kind": put("mixture", "schema", "columns", 0, "kind", "code"),
    "a column twice": put("mixture", "schema", "columns", 0, "name", "width"),
    "levels in levels": put("mixture", "schema", "columns", 2, "levels", [["red"]]),
    "too few levels": put("mixture", "schema", "columns", 2, "levels", ["red"]),
    "no schema": put("mixture", "schema", None),
    "dropped what is not there": put("mixture", "schema", "dropped", ["nothing"]),
    "an option that there is not": put("mixture", "options", "magic", 1),
    "an option of the wrong kind": put("mixture", "options", "chains", "many"),
    "an array of objects": put("mixture", "options", "prior", {"array": {"list": [1]}, "dtype": "O"}),
    "an array of giants": put("mixture", "options", "prior", {"array": {"list": [1]}, "dtype": "V1000000000"}),
    "a list for an object": put("mixture", "options", "prior", []),
    "the notes of another engine": put("mixture", "maximum", {"mapping": []}),
    "a seed that is none": put("mixture", "seed", "now"),
    "names that are none": put("mixture", "feature_names", [1, 2, 3, 4]),
    "too few names": put("mixture", "feature_names", ["size"]),
    "a trace that is not there": put("traces", ["n_clusters", "log_joint", "entropy", "concentration", "more"]),
    "a trace named to move the cursor": put("traces", ["\x1b[2J"]),
    "no trace of the concentration": put("traces", ["n_clusters"]),
    "a digest that is none": put("arrays", "partitions", 3),
    "lists in lists in lists": put("mixture", "options", "family", DEEP),
    "lists in lists of the provenance": put("provenance", DEEP),
    "no provenance": put("provenance", []),
    "no mixture": put("mixture", 1),
}

ARRAYS = {
    "more seats than statistics": array("clusters/log_seats", lambda seats: np.append(seats, [-3.0] * 40)),
    "fewer seats than statistics": array("clusters/log_seats", lambda seats: seats[:-1]),
    "seats that do not sum to 1": array("clusters/log_seats", with_entry(0, -9.0)),
    "positive seats": array("clusters/log_seats", with_entry(0, 3.0)),
    "nan statistics": array("clusters/stats", with_entry((0, 0, 0), np.nan)),
    "infinite statistics": array("clusters/stats", with_entry((0, 0, 1), np.inf)),
    "a negative weight in the statistics": array("clusters/stats", with_entry((0, 0, 0), -1e9)),
    "sums without squares": array("clusters/stats", with_entry((0, 0, 1), 1e9)),
    "no completion": array("clusters/stats", lambda stats: stats[:0]),
    "statistics of other columns": array("clusters/stats", lambda stats: stats[:, :, :-1]),
    "codes beyond the levels": array("table/codes", with_entry((0, 0), 2_000_000)),
    "codes far below": array("table/codes", with_entry((0, 0), -2_000_000)),
    "codes of other type": array("table/codes", lambda codes: codes.astype(np.int64)),
    "counts below": array("table/counts", with_entry((0, 0), -5)),
    "infinite cells": array("table/numeric", with_entry((0, 0), np.inf)),
    "a row less": array("table/numeric", lambda cells: cells[:-1]),
    "a column more": array("table/codes", lambda codes: np.hstack([codes, codes])),
    "weights below 0": array("table/weights", with_entry(0, -1)),
    "weights of rows that draws place": array("table/weights", with_entry(0, 0)),
    "labels of groups that there are not": array("estimate/labels", with_entry(0, 99)),
    "negative labels": array("estimate/labels", with_entry(0, -1)),
    "probabilities above 1": array("estimate/probabilities", with_entry((0, 0), 7.0)),
    "probabilities of nothing": array("estimate/probabilities", with_entry(0, 0.0)),
    "draws of fewer rows": array("partitions", lambda labels: labels[..., :-1]),
    "draws below -1": array("partitions", with_entry((0, 0, 0), -7)),
    "draws with labels beyond the rows": array("partitions", with_entry((0, 0, 0), 99)),
    "no draws": array("partitions", lambda labels: labels[:, :0]),
    "draws with decimals": array("partitions", lambda labels: labels.astype(float)),
    "more chains than asked for": array("partitions", lambda labels: labels.reshape(8, 2, -1)),
    "negative weights of draws": array("weights", with_entry(0, -0.5)),
    "a concentration of 0": array("traces/concentration", with_entry((0, 0), 0.0)),
    "in the other order": array("partitions", np.asfortranarray),
}


@pytest.mark.parametrize("what", [*HEADERS, *ARRAYS])
def test_what_fit_does_not_write_does_not_load(changed, what):
    path = changed("mixed", (HEADERS | ARRAYS)[what])
    with pytest.raises(ValueError, match=REFUSED) as refusal:
        partita.load(path)
    words = str(refusal.value)
    assert words.startswith(repr(str(path)))
    assert words.replace("\n", "").isprintable()


def test_every_example_loads_and_answers(made):
    for path, rows in made.values():
        model = partita.load(path)
        if not isinstance(model, Posterior):
            assert model.predict(rows()[:3]).shape == (3,)


def test_a_class_or_an_estimator_that_is_not_here_is_named(changed):
    path = changed("mixed", put("mixture", "options", "prior", {"prior": "mine", "options": {}}))
    with pytest.raises(ValueError, match="The prior 'mine' is not known here: import the module that registers it"):
        partita.load(path)
    path = changed("mixed", put("mixture", "estimator", "Views"))
    with pytest.raises(ValueError, match="holds a Views, which this version of partita does not know: upgrade partita"):
        partita.load(path)


def test_nothing_that_a_file_names_is_imported(changed, tmp_path):
    (tmp_path / "trap.py").write_text("raise SystemExit('the trap was imported')\n")
    path = changed("mixed", put("mixture", "origin", "library", "trap"))
    script = (
        "import sys, partita\n"
        "try:\n"
        "    partita.load(sys.argv[1]).to_frame()\n"
        "except ValueError as error:\n"
        "    print(error)\n"
        "assert 'trap' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, path], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "mixture.origin.library must be pandas, polars, pyarrow or null" in done.stdout


def note(name, value):
    """Change one of the things that an engine notes."""

    def change(parts):
        pairs = parts.header["mixture"]["notes"]["mapping"]
        pairs[:] = [pair for pair in pairs if pair[0] != name] + [[name, value]]

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("em", put("mixture", "notes", None)),
        ("em", put("mixture", "notes", {"mapping": []})),
        ("em", note("n_components", 99)),
        ("em", note("n_components", {"list": []})),
        ("em", note("loglik_path", "far")),
        ("em", note("bic", "small")),
        ("em", note("selection", {"mapping": [["two", 1.0]]})),
        ("em", note("learned", {"mapping": [["scale", 1.0]]})),
        ("em", note("magic", 1)),
        ("vb", put("mixture", "notes", None)),
        ("vb", note("learned", {"mapping": [["pseudocount", 1.0]]})),
        ("vb", note("n_iter", -1)),
        ("vb", note("converged", "yes")),
        ("vb", put("mixture", "maximum", {"mapping": []})),
        ("nbce", put("mixture", "approximation", {"mapping": []})),
        ("nbce", note("support_cost", -1.0)),
        ("nbce", note("support_cost", None)),
        ("nbce", array("traces/pseudocount", with_entry((0, 0), -1.0))),
    ],
)
def test_what_engines_note_is_checked(changed, name, change):
    path = changed(name, change)
    with pytest.raises(ValueError, match=REFUSED):
        partita.load(path)


# --- bombs ------------------------------------------------------------------------------------------

PEAK = """
import re, sys
import partita.saving
import partita

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])

before = peak()
try:
    partita.load(sys.argv[1])
except ValueError as error:
    print(error)
print(peak() - before)
"""


def refused(path, most_kilobytes=50_000):
    """The words that a process refuses a file with, of which it takes no more memory than that."""
    assert path.stat().st_size < 3e6
    done = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    words, taken = done.stdout.splitlines()
    assert int(taken) < most_kilobytes
    return words


def packed(members, compression):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        archive.comment = b"sha256 " + b"0" * 64
        for name, content in members.items():
            archive.writestr(name, content)
    return sealed(stream.getvalue())


@long
def test_a_header_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path):
    header = b'{"format": "partita", "format_version": 1, "kind": "posterior", "more": "' + b"a" * 2 * 10**8 + b'"}'
    (tmp_path / "bomb").write_bytes(packed({"partita.json": header}, zipfile.ZIP_DEFLATED))
    assert "is damaged or incomplete" in refused(tmp_path / "bomb")


@long
def test_arrays_that_unpack_to_gigabytes_are_not_unpacked(made, tmp_path):
    parts = Parts.of(made["posterior"][0])
    parts.put("partitions", np.zeros((1, 10, 2 * 10**7), np.int8))
    parts.compression = zipfile.ZIP_DEFLATED
    parts.write(tmp_path / "bomb")
    assert "is damaged or incomplete" in refused(tmp_path / "bomb")


def test_a_shape_beyond_the_file_asks_for_no_memory(made, tmp_path):
    parts = Parts.of(made["posterior"][0])
    content = parts.members["partitions.npy"]
    start, end = content.index(b"("), content.index(b"       ")
    told = b"(1, 10, 1000000000000), }"
    parts.put_bytes("partitions", content[:start] + told + b" " * (end - start - len(told)) + content[end:])
    parts.write(tmp_path / "bomb")
    assert "is damaged or incomplete" in refused(tmp_path / "bomb")


def test_a_hundred_thousand_chains_take_no_matrix_of_all_pairs(tmp_path):
    Posterior(np.zeros((100_000, 1, 30), np.int8), traces={}).save(tmp_path / "chains")
    assert Posterior.load(tmp_path / "chains").diagnostics().n_chains == 100_000


def test_a_member_twice_or_hidden_is_refused(made, tmp_path):
    whole = made["posterior"][0].read_bytes()
    parts = Parts.of(made["posterior"][0])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.comment = b"sha256 " + b"0" * 64
        archive.writestr("partita.json", json.dumps(parts.header))
        for name, content in parts.members.items():
            archive.writestr(name, content)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("weights.npy", parts.members["weights.npy"])
    (tmp_path / "twice").write_bytes(sealed(stream.getvalue()))
    with pytest.raises(ValueError, match="is damaged or incomplete"):
        partita.load(tmp_path / "twice")
    (tmp_path / "whole").write_bytes(whole)
    assert isinstance(partita.load(tmp_path / "whole"), Posterior)


def test_more_groups_than_the_prior_allows(changed):
    path = changed("nbce", put("mixture", "options", "n_components", 1))
    with pytest.raises(ValueError, match=r"clusters, more than StickBreaking\(.*\) allows"):
        partita.load(path)


def test_cells_beyond_what_squares_hold(changed):
    path = changed("vb", array("table/numeric", with_entry((0, 0), 1e300)))
    with pytest.raises(ValueError, match=REFUSED):
        partita.load(path)


def test_draws_of_no_weight_say_nothing(changed, made):
    path = changed("learned", array("weights", lambda weights: np.append(0.0, weights[1:] * 16 / 15)))
    _, rows = made["learned"]
    assert np.isfinite(partita.load(path).score_samples(rows()[:3])).all()
