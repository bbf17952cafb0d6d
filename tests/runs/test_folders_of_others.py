"""Folders that hold somebody's own files, and runs that somebody else made, killed or changed."""

import json
import os
from types import SimpleNamespace

import numpy as np
import pytest
from tests.fuzzing.sealing import Parts
from tests.runs.conftest import fit, two_groups, write_run
from tests.volumes import long, mostly_long

from partita.partitions import Partitions
from partita.posterior import Posterior
from partita.runs.cluster import ClusterRequest
from partita.runs.manifest import MANIFEST, fingerprint, read_manifest, write_manifest
from partita.runs.run_folder import RunFolder

pytestmark = [pytest.mark.xdist_group("mixed"), long]
COMMAND, FILES = ClusterRequest.command, ClusterRequest.files
QUICK = ["--chains", "1", "--draws", "5"]
VOTES = "a,b\n" + "".join(f"{i % 2},{i % 3}\n" for i in range(12))
DRAWS = "a,b,c\n0,0,1\n0,1,1\n0,0,1\n"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A table's file, and two runs that predict differently."""
    folder, runs = tmp_path_factory.mktemp("fitted"), []
    for seed in range(2):
        table = folder / f"things-{seed}.csv"
        table.write_text("\n".join(two_groups(seed=seed)) + "\n")
        runs.append(fit(ClusterRequest(table, {}, id="id", chains=1, draws=5)))
    return SimpleNamespace(table=table, runs=runs)


@pytest.fixture
def run(fitted, tmp_path):
    """A folder with a whole run."""
    folder = tmp_path / "run"
    folder.mkdir()
    return write_run(fitted.runs[0], folder)


@pytest.fixture
def new(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("size,colour\n30,red\n31,blue\n")
    return path


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def assert_one_sentence(done, *words):
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    for word in words:
        assert word in done.err


def command(name, folder):
    """The arguments of a command that writes a folder, and its input beside that."""
    text = {"cluster": "\n".join(two_groups()) + "\n", "consensus": VOTES, "summarize": DRAWS}.get(name)
    if text is None:
        return [name]
    (folder / "input.csv").write_text(text)
    return [name, folder / "input.csv", *(QUICK if name != "summarize" else [])]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        *((name, file) for name in ("cluster", "demo") for file in (*FILES, MANIFEST)),
        ("demo", "customers.csv"),
        ("consensus", "labels.csv"),
        ("consensus", "agreement.csv"),
        ("consensus", MANIFEST),
        ("summarize", "labels.csv"),
        ("summarize", "summary.json"),
        ("summarize", MANIFEST),
    ],
)
def test_files_of_others_are_refused_before_the_fit(partita, tmp_path, monkeypatch, name, file):
    def fit(*rest):
        raise AssertionError("fitted")

    monkeypatch.setattr("partita.runs.fits.FitRequest.compute", fit)
    monkeypatch.setattr("partita.runs.summarize.SummarizeRequest.compute", fit)
    out = tmp_path / "out"
    out.mkdir()
    (out / file).write_text("mine")
    done = partita(*command(name, tmp_path), "--out", out)
    assert_one_sentence(done, f"{file}' ", "choose another place with --out, or replace it with --force.")
    assert content(out) == {file: b"mine"}


@mostly_long
@pytest.mark.parametrize("name", ["cluster", "consensus", "summarize"])
def test_force_replaces_them_and_the_next_run_needs_none(partita, tmp_path, name):
    out = tmp_path / "out"
    out.mkdir()
    mine = ("labels.csv", "summary.json", MANIFEST)
    for file in mine:
        (out / file).write_text("mine")
    (out / "notes.txt").write_text("mine")
    arguments = [*command(name, tmp_path), "--out", out, "--quiet"]
    assert partita(*arguments, "--force").code == 0
    assert all((out / file).read_bytes() != b"mine" for file in mine)
    assert partita(*arguments).code == 0
    (out / "labels.csv").write_text("edited")
    assert_one_sentence(partita(*arguments), "labels.csv' was changed after partita wrote it")
    assert (out / "notes.txt").read_text() == "mine"
    assert read_manifest(out).command == f"partita {name}"


def test_predictions_of_others(run, new, partita):
    mine = run / "predictions.csv"
    mine.write_text("mine")
    assert_one_sentence(partita("predict", run, new), "predictions.csv' was not written by partita", "--force")
    assert mine.read_text() == "mine"
    assert partita("predict", run, new, "--force").code == 0
    assert partita("predict", run, new).code == 0
    mine.write_text("mine")
    assert partita("predict", run, new, "--out", mine).code == 0
    assert partita("predict", run, new).code == 0


def test_predictions_of_an_earlier_run_are_pointed_out_and_can_be_replaced(fitted, run, new, partita):
    assert partita("predict", run, new).code == 0
    done = partita("cluster", fitted.table, "--id", "id", "--out", run, *QUICK)
    assert done.code == 0, done.err
    assert "The predictions.csv there belongs to an earlier run." in done.out
    assert partita("predict", run, new).code == 0


def test_a_table_of_the_demo_is_kept_beside_other_runs(fitted, tmp_path):
    folder = RunFolder(tmp_path, COMMAND)
    with folder.writing_beside("customers.csv") as (path,):
        path.write_text("age\n")
    assert read_manifest(tmp_path).complete is False
    write_run(fitted.runs[0], tmp_path)
    assert read_manifest(tmp_path).complete is True
    folder.refuse_others(["customers.csv"])


def test_a_manifest_is_not_replaced_by_predictions(run, new, partita):
    before = content(run)
    assert_one_sentence(partita("predict", run, new, "--out", run / MANIFEST), "would replace")
    assert content(run) == before


class KilledError(BaseException):
    """The process ends here."""


def write_until(n_renames, run, folder, monkeypatch):
    """Write a run and be killed before the rename of this number; gives whether it came to that."""
    rename, left = os.replace, iter(range(n_renames))

    def replace_or_die(*places):
        if next(left, None) is None:
            raise KilledError
        rename(*places)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace_or_die)
        try:
            write_run(run, folder)
        except KilledError:
            return True
    return False


def answer_of(folder, new, partita):
    """The text of the predictions, None where the folder is refused."""
    done = partita("predict", folder, new, "--out", new.parent / "answer.csv", "--quiet")
    if done.code == 2:
        assert_one_sentence(done, str(folder))
        return None
    assert done.code == 0
    return (new.parent / "answer.csv").read_text()


@long
@pytest.mark.parametrize("before", [pytest.param(False, id="fresh", marks=long), pytest.param(True, id="replacing")])
def test_after_a_kill_at_any_rename_predict_answers_by_a_whole_run_or_refuses(
    fitted, new, partita, tmp_path, monkeypatch, before
):
    answers = []
    for n_renames in range(len(FILES) + 4):
        folder = tmp_path / str(n_renames)
        folder.mkdir()
        if before:
            write_run(fitted.runs[0], folder)
        killed = write_until(n_renames, fitted.runs[1], folder, monkeypatch)
        answers.append(answer_of(folder, new, partita))
        write_run(fitted.runs[0], folder)
        whole = answer_of(folder, new, partita)
    assert not killed
    assert answers[:2] == [whole if before else None] * 2  # the model has a rename of its own, before all others
    assert answers[2:-1] == [None] * (len(FILES) + 1)
    assert answers[-1] not in (None, whole)


def lie(run, name, text):
    """Change a file of a run and the manifest with it, as one who made the folder could."""
    (run / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    manifest = read_manifest(run)
    files = {**manifest.files, name: fingerprint(run / name)}
    write_manifest(run, SimpleNamespace(**{**vars(manifest), "files": files}))


@mostly_long
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_the_run_s_is_refused(run, new, partita, name):
    (run / name).write_bytes((run / name).read_bytes()[:-1] + b"?")
    assert_one_sentence(partita("predict", run, new), f"{name}' is damaged or was changed after the run: make the")
    (run / name).unlink()
    assert_one_sentence(partita("predict", run, new), f"has no {name}: RUN is the folder")


def test_a_folder_without_a_whole_manifest_is_no_run(run, new, partita):
    about = json.loads((run / MANIFEST).read_text())
    for changed, words in (
        (about | {"complete": False}, "was interrupted while it was written: make the folder again."),
        (about | {"complete": "yes"}, "is not the manifest of a run of partita: make the folder again."),
        (about | {"format_version": 2}, "was written by a newer partita"),
        (about | {"files": {}}, "damaged or was changed after the run"),
        (about | {"files": {"../new.csv": about["files"]["labels.csv"]}}, "is not the manifest of a run of partita"),
        ([], "is not the manifest of a run of partita"),
    ):
        (run / MANIFEST).write_text(json.dumps(changed))
        assert_one_sentence(partita("predict", run, new), words)
    (run / MANIFEST).unlink()
    assert_one_sentence(partita("predict", run, new), "has no manifest.json: RUN is the folder")


def request_of(**parts):
    return json.dumps({"request": {"id": None, "ignore": []} | parts})


@mostly_long
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "[" * 100_000,
        '{"request": {"id": NaN, "ignore": []}}',
        '{"request": 3}',
        '{"request": "id"}',
        b"\xff\xfe",
        request_of(id=3),
        request_of(id=["a"]),
        request_of(ignore=None),
        request_of(ignore="colour"),
        request_of(ignore=[["colour"]]),
        request_of(ignore=[{"a": 1}]),
        request_of(ignore={"a": 1}),
    ],
)
def test_a_summary_of_others(run, new, partita, text):
    lie(run, "summary.json", text)
    assert_one_sentence(partita("predict", run, new), "summary.json' is damaged: make the folder again.")


def test_a_model_of_others(run, new, partita):
    whole = (run / "posterior.partita").read_bytes()
    (run.parent / "whole.partita").write_bytes(whole)
    lie(run, "posterior.partita", whole[:-9])
    assert_one_sentence(partita("predict", run, new), "posterior.partita' is damaged or incomplete")
    draws = run.parent / "draws.partita"
    parts = Parts.of(run.parent / "whole.partita")
    Posterior(Partitions(np.zeros((1, 2, 3), int))).save(draws)
    lie(run, "posterior.partita", draws.read_bytes())
    assert_one_sentence(partita("predict", run, new), "holds draws without a model")
    parts.put("clusters/stats", np.full_like(parts.arrays["clusters/stats"], np.nan))
    parts.write(draws)
    lie(run, "posterior.partita", draws.read_bytes())
    assert_one_sentence(partita("predict", run, new), "is not as partita writes files")
