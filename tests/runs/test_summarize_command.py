"""``partita summarize``: draws in a file in, a folder of answers out; what cannot be used is one sentence."""

import csv
import errno
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from tests.runs.conftest import process
from tests.volumes import long, mostly_long

from partita import Posterior
from partita.files import atomic
from partita.posterior import membership
from partita.posterior.estimate.losses import LOSSES
from partita.posterior.membership import runners_up
from partita.runs.manifest import MANIFEST, Manifest, write_manifest

FILES = {"labels.csv", "summary.json", "posterior.partita", "coclustering.png"}
TRUTH = np.repeat([0, 1, 2], [10, 7, 3])


def noisy_draws(n_draws=80, seed=0):
    """Draws of 20 objects in three groups; one label in twenty is any of four."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n_draws, 20)) < 0.05, rng.integers(0, 4, (n_draws, 20)), TRUTH)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def about(folder):
    return json.loads((folder / "summary.json").read_text())


@pytest.fixture
def draws(tmp_path):
    """A CSV file of draws, objects named o0 to o19."""
    path = tmp_path / "draws.csv"
    header = ",".join(f"o{j}" for j in range(20))
    np.savetxt(path, noisy_draws(), fmt="%d", delimiter=",", header=header, comments="")
    return path


class TestRun:
    @long
    def test_in_its_own_process(self, draws):
        done = process("summarize", draws.name, cwd=draws.parent)
        assert done.returncode == 0, done.stderr
        assert {path.name for path in (draws.parent / "partita-draws").iterdir()} == FILES | {MANIFEST}
        assert done.stdout.startswith(
            "draws.csv: 80 draws of 20 objects, no label missing.\n\n3 groups of 10, 7, 3 obj"
        )
        assert done.stdout.endswith(f"Written to partita-draws: {', '.join(sorted(FILES, key=done.stdout.index))}.\n")

    def test_says_what_python_says(self, draws, partita, tmp_path):
        done = partita("summarize", draws, "--out", tmp_path / "out")
        assert done.code == 0, done.err
        posterior = Posterior.from_draws(noisy_draws())
        found = posterior.estimate(random_state=0)
        rows = rows_of(tmp_path / "out" / "labels.csv")
        assert [row["object"] for row in rows] == [f"o{j}" for j in range(20)]
        assert [int(row["label"]) for row in rows] == found.labels.tolist() == TRUTH.tolist()
        np.testing.assert_allclose([float(row["confidence"]) for row in rows], found.confidence, rtol=1e-6)
        expected = runners_up(found.labels, found.probabilities).tolist()
        assert [int(row["runner_up"]) for row in rows] == expected
        summary = about(tmp_path / "out")
        assert summary["expected_loss"] == pytest.approx(found.expected_loss)
        assert f"Expected loss (vi): {found.expected_loss:.4g}." in done.out
        assert (summary["sizes"], summary["n_clusters"]) == ([10, 7, 3], 3)
        chances = {int(k): p for k, p in summary["n_clusters_probabilities"].items()}
        assert chances == pytest.approx(posterior.n_clusters(), abs=1e-6)
        assert f"3 with probability {chances[3]:.2f}" in done.out
        assert summary["ess"] == pytest.approx(80)
        assert "weighted" not in done.out
        assert summary["request"]["draws"] == str(draws)
        assert {"loss", "entropy", "seed", "seconds", "version", "warnings", "n_confident"} <= summary.keys()

    def test_names_the_least_sure_objects(self, partita, tmp_path):
        np.save(tmp_path / "d.npy", [[0, 0, 1, 1, 0]] * 6 + [[0, 0, 1, 1, 1]] * 4)
        done = partita("summarize", tmp_path / "d.npy", "--out", tmp_path / "out")
        confidence = [float(row["confidence"]) for row in rows_of(tmp_path / "out" / "labels.csv")]
        assert f"the least sure: 4 ({confidence[4]:.2f})" in done.out
        assert sum(sure >= 0.9 for sure in confidence) == about(tmp_path / "out")["n_confident"]

    def test_the_picture_and_the_posterior(self, draws, partita, tmp_path):
        assert partita("summarize", draws, "--out", tmp_path / "out").code == 0
        assert (tmp_path / "out" / "coclustering.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        saved = Posterior.load(tmp_path / "out" / "posterior.partita")
        np.testing.assert_array_equal(saved.draws, Posterior(noisy_draws()).draws)

    def test_quiet_prints_nothing(self, draws, partita, tmp_path):
        done = partita("summarize", draws, "--out", tmp_path / "out", "--quiet")
        assert (done.code, done.out, done.err) == (0, "", "")

    def test_chains_are_counted(self, partita, tmp_path):
        np.save(tmp_path / "d.npy", noisy_draws().reshape(4, 20, 20))
        done = partita("summarize", tmp_path / "d.npy", "--out", tmp_path / "out")
        assert "80 draws (4 chains) of 20 objects" in done.out

    def test_objects_that_no_draw_labels(self, partita, tmp_path):
        labels = noisy_draws()
        labels[:, 4] = -1
        np.save(tmp_path / "d.npy", labels)
        done = partita("summarize", tmp_path / "d.npy", "--out", tmp_path / "out")
        assert done.code == 0, done.err
        assert "80 of 1600 labels missing (5%)" in done.out
        assert "1 object without a label in any draw." in done.out
        assert "Warning: 1 object is labelled in no draw (4)" in done.out
        row = rows_of(tmp_path / "out" / "labels.csv")[4]
        assert (row["label"], row["confidence"], row["runner_up"]) == ("-1", "", "-1")
        assert about(tmp_path / "out")["n_empty"] == 1


@long
def test_every_form_of_the_same_draws_gives_the_same_labels(draws, partita, tmp_path):
    labels = noisy_draws()
    np.save(tmp_path / "d.npy", labels)
    np.savetxt(tmp_path / "d.txt", labels, fmt="%d")
    Posterior(labels).save(tmp_path / "d.partita")
    found = set()
    for name in ("draws.csv", "d.npy", "d.txt", "d.partita"):
        assert partita("summarize", tmp_path / name, "--out", tmp_path / f"out-{name}").code == 0
        rows = rows_of(tmp_path / f"out-{name}" / "labels.csv")
        found.add(tuple((row["label"], row["confidence"], row["runner_up"]) for row in rows))
    assert len(found) == 1


def test_its_own_posterior_gives_the_same_labels_and_names(draws, partita, tmp_path):
    assert partita("summarize", draws, "--out", tmp_path / "one").code == 0
    assert partita("summarize", tmp_path / "one" / "posterior.partita", "--out", tmp_path / "two").code == 0
    assert (tmp_path / "one" / "labels.csv").read_bytes() == (tmp_path / "two" / "labels.csv").read_bytes()


def test_the_file_of_a_fitted_mixture(partita, tmp_path):
    file = Path(__file__).parent.parent / "files" / "mixture-format-1.partita"
    assert partita("summarize", file, "--out", tmp_path / "out").code == 0
    labels = [int(row["label"]) for row in rows_of(tmp_path / "out" / "labels.csv")]
    assert labels == Posterior.load(file).estimate(random_state=0).labels.tolist()


@mostly_long
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_by_name(draws, partita, tmp_path, loss):
    done = partita("summarize", draws, "--out", tmp_path / "out", "--loss", loss)
    assert done.code == 0, done.err
    summary = about(tmp_path / "out")
    assert summary["loss"] == loss
    found = Posterior.from_draws(noisy_draws()).estimate(loss=loss, random_state=0)
    assert summary["expected_loss"] == pytest.approx(found.expected_loss)
    assert f"Expected loss ({loss}): " in done.out


def test_options_of_the_search_take_effect(draws, partita, tmp_path):
    arguments = ["--max-clusters", "2", "--min-size", "8", "--runs", "3", "--seed", "5"]
    assert partita("summarize", draws, "--out", tmp_path / "out", *arguments).code == 0
    summary = about(tmp_path / "out")
    assert len(summary["sizes"]) <= 2
    assert min(summary["sizes"]) >= 8
    assert (summary["request"]["runs"], summary["seed"]) == (3, 5)


def test_draws_that_determine_no_groups_are_said_to_first(partita, tmp_path):
    """As `partita cluster` says it; where they do determine groups, nothing of the kind is said."""
    np.savetxt(tmp_path / "d.csv", np.arange(40)[None] % np.array([[5], [6], [7]] * 2), fmt="%d", delimiter=",")
    done = partita("summarize", tmp_path / "d.csv", "--out", tmp_path / "out")
    verdict = about(tmp_path / "out")["groups_verdict"]
    assert about(tmp_path / "out")["diffuse"] is True
    assert verdict.startswith("The draws do not determine groups: two objects are together with probability 0.15")
    assert f"\n\n{verdict}\n1 group of 40 objects." in done.out
    np.save(tmp_path / "clear.npy", noisy_draws())
    done = partita("summarize", tmp_path / "clear.npy", "--out", tmp_path / "clear")
    assert about(tmp_path / "clear")["diffuse"] is False
    assert "determine groups" not in done.out


class TestEntropy:
    def test_is_that_of_regularized_draws(self, draws, partita, tmp_path):
        done = partita("summarize", draws, "--out", tmp_path / "out", "--entropy", "20")
        assert done.code == 0, done.err
        weighted = Posterior.from_draws(noisy_draws()).regularize_entropy(20.0)
        summary = about(tmp_path / "out")
        assert summary["entropy"] == 20
        assert summary["ess"] == pytest.approx(1 / np.sum(weighted.weights**2))
        assert f"weighted by entropy (20): effective sample size {summary['ess']:.4g} of 80." in done.out
        assert summary["expected_loss"] == pytest.approx(weighted.estimate(random_state=0).expected_loss)
        chances = {int(k): p for k, p in summary["n_clusters_probabilities"].items()}
        assert chances == pytest.approx(weighted.n_clusters(), abs=1e-6)

    def test_does_not_change_the_draws_that_are_stored(self, draws, partita, tmp_path):
        assert partita("summarize", draws, "--out", tmp_path / "out", "--entropy", "20").code == 0
        np.testing.assert_allclose(Posterior.load(tmp_path / "out" / "posterior.partita").weights, 1 / 80)

    def test_that_leaves_one_draw_is_warned_of(self, draws, partita, tmp_path):
        done = partita("summarize", draws, "--out", tmp_path / "out", "--entropy", "100000")
        assert done.code == 0, done.err
        summary = about(tmp_path / "out")
        assert summary["ess"] < 5
        assert any("effective draws" in sentence for sentence in summary["warnings"])
        assert "\nWarning: " in done.out


class TestRefusals:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("0,0\n0\n", r"line 2 \(draw 1\) has 1 cell"),
            ("0,1.5\n", "The label at draw 0, object 1 .* is 1.5"),
            (",\n,\n", "No draw labels any object"),
            ("", "is empty"),
            ("a,b\n", "there is a header but no draw"),
        ],
    )
    def test_files(self, partita, tmp_path, content, words):
        (tmp_path / "d.csv").write_text(content)
        done = partita("summarize", tmp_path / "d.csv", "--out", tmp_path / "out")
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert re.search(words, done.err), done.err
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--loss", "bindr"], r"--loss must be one of 'vi'.*got 'bindr'\. Did you mean 'binder'\?"),
            (["--entropy", "nan"], "--entropy must be a finite number; got nan"),
            (["--entropy", "much"], "--entropy"),
            (["--min-size", "0"], "--min-size"),
            (["--max-clusters", "0"], "--max-clusters"),
            (["--runs", "0"], "--runs"),
            (["--seed", "-1"], "--seed"),
            (["--lambda", "20"], "No such option: --lambda"),
        ],
    )
    def test_options(self, draws, partita, tmp_path, arguments, words):
        done = partita("summarize", draws, "--out", tmp_path / "out", *arguments)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert re.search(words, done.err), done.err
        assert not (tmp_path / "out").exists()

    def test_what_the_search_refuses_leaves_nothing(self, draws, partita, tmp_path, monkeypatch):
        def refuse(*rest, **options):
            raise ValueError("There is no such partition.")

        monkeypatch.setattr(Posterior, "estimate", refuse)
        done = partita("summarize", draws, "--out", tmp_path / "out")
        assert (done.code, done.err) == (2, "There is no such partition.\n")
        assert not (tmp_path / "out").exists()
        (tmp_path / "mine").mkdir()
        assert partita("summarize", draws, "--out", tmp_path / "mine").code == 2
        assert (tmp_path / "mine").is_dir()

    def test_a_full_disk_keeps_the_files_before(self, draws, partita, tmp_path, monkeypatch):
        arguments = ["summarize", draws, "--out", tmp_path / "out"]
        assert partita(*arguments).code == 0
        before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}

        def full(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

        monkeypatch.setattr(atomic, "flush", full)
        done = partita(*arguments, "--seed", "9")
        assert done.code == 2
        assert re.fullmatch(r"Cannot write to '.*out': No space left on device\. Choose .*--out\.\n", done.err)
        assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before

    def test_neither_the_draws_nor_a_run_of_a_table_is_replaced(self, draws, partita, tmp_path):
        out = tmp_path / "out"
        assert partita("summarize", draws, "--out", out).code == 0
        before = (out / "posterior.partita").read_bytes()
        done = partita("summarize", out / "posterior.partita", "--out", out)
        assert done.code == 2
        assert "which is read: choose another place with --out" in done.err
        assert (out / "posterior.partita").read_bytes() == before
        write_manifest(out, Manifest("partita cluster"))
        done = partita("summarize", draws, "--out", out)
        assert done.code == 2
        assert "holds the result of 'partita cluster', which would be replaced in part" in done.err

    def test_a_place_that_is_a_file(self, draws, partita, tmp_path):
        (tmp_path / "taken").write_text("mine")
        done = partita("summarize", draws, "--out", tmp_path / "taken")
        assert done.code == 2
        assert re.fullmatch(r"Cannot write to '.*taken': .*Choose another place with --out\.\n", done.err)
        assert (tmp_path / "taken").read_text() == "mine"


def test_one_group_and_more_groups_than_any_draw_are_put_in_words(partita, tmp_path):
    (tmp_path / "noise.csv").write_text("a,b\n0,0\n0,1\n")
    assert (
        "no object has another to belong to"
        in partita("summarize", tmp_path / "noise.csv", "--out", tmp_path / "one").out
    )
    (tmp_path / "pairs.csv").write_text("a,b,c,d\n0,0,1,1\n0,1,0,1\n0,1,1,0\n")
    said = partita(
        "summarize", tmp_path / "pairs.csv", "--loss", "binder", "--max-clusters", "n", "--out", tmp_path / "out"
    ).out
    assert "4 groups" in said
    assert "No draw has more than 2 groups: --max-clusters 2 keeps to that." in said


def test_of_very_many_groups_runners_up_are_left_out(draws, partita, tmp_path, monkeypatch):
    monkeypatch.setattr(membership, "MOST_CELLS", 0)
    done = partita("summarize", draws, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "their column is empty" in done.out
    lines = (tmp_path / "out" / "labels.csv").read_text().splitlines()
    assert all(line.endswith(",") for line in lines[1:])
