"""partita consensus: what it prints and what it writes."""

import csv
import gzip
import json
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from tests.runs.conftest import COMMAND, everything_from, process
from tests.volumes import long, mostly_long

import partita as package
from partita.consensus import NBCE, base_clusterings
from partita.plots import votes_data
from partita.priors import PRIORS, DirichletProcess, FiniteMixtures, PitmanYor
from partita.runs.consensus import ConsensusRequest
from partita.runs.manifest import MANIFEST
from partita.runs.votes import seconds_along

FILES = ["labels.csv", "agreement.csv", "summary.json", "posterior.partita", "coclustering.png", "votes.png"]
QUICK = ["--chains", "2", "--draws", "40"]
TRUTH = np.repeat([0, 1, 2], [30, 20, 10])
pytestmark = pytest.mark.xdist_group("consensus")


def votes(seed=0):
    """Clusterings of 60 objects in three groups: four good ones in words of their own, a coarse one, and noise."""
    rng = np.random.default_rng(seed)

    def told(names, wrong):
        names = np.array(names)
        return np.where(rng.random(60) < wrong, rng.choice(names, 60), names[TRUTH])

    columns = {
        "digits": told(["5", "6", "7"], 0.05),
        "codes": told(["01", "1", "001"], 0.05),
        "words": told(["fig", "plum", "a,b"], 0.05),
        "gaps": np.where(rng.random(60) < 0.3, rng.choice(["", "-1"], 60), told(["x", "y", "z"], 0.05)),
        "coarse": told(["u", "v", "v"], 0.05),
        "noise": rng.choice(["p", "q"], 60),
        "all one": np.full(60, "0"),
    }
    return {name: column.tolist() for name, column in columns.items()}


def write(path, columns, separator=","):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator).writerows([list(columns), *zip(*columns.values())])
    return path


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def about(folder):
    return json.loads((folder / "summary.json").read_text())


def labels_in(folder):
    return [int(row["label"]) for row in rows_of(folder / "labels.csv")]


@pytest.fixture
def file(tmp_path):
    """The clusterings as CSV, objects named o0 to o59."""
    return write(tmp_path / "votes.csv", {"name": [f"o{i}" for i in range(60)], **votes()})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """One run in its own process, on a pipe."""
    folder = tmp_path_factory.mktemp("consensus")
    write(folder / "votes.csv", {"name": [f"o{i}" for i in range(60)], **votes()})
    done = process("consensus", "votes.csv", "--id", "name", "--draws", "300", "--seed", "4", cwd=folder)
    return folder / "partita-votes", done


class TestRun:
    def test_ends_well_and_writes_all_files(self, finished):
        folder, done = finished
        assert done.returncode == 0, done.stderr
        assert {path.name for path in folder.iterdir()} == {MANIFEST, *FILES}
        assert done.stderr == ""
        assert done.stdout.endswith(f"\n\nWritten to partita-votes: {', '.join(FILES)}.\n")

    def test_says_what_it_read_before_the_answer(self, finished):
        n_missing = sum(cell in ("", "-1") for cell in votes()["gaps"])
        assert finished[1].stdout.startswith(
            f"votes.csv: 60 objects, 7 clusterings, {n_missing} of 420 labels missing ({n_missing / 420:.0%}).\n"
            "  clusterings: digits (3), codes (3), words (3), gaps (3), coarse (2), noise (2), all one (1)\n"
            "  names the objects: name\n"
            "  time: at most 300 s, and 10 s more for votes.png; --max-time sets another limit, none lifts it\n\n"
            "3 groups of 30, 20, 10 objects. How many groups there are: 3 with prob"
        )

    def test_says_how_sure_and_which_clusterings_agree(self, finished):
        folder, done = finished
        summary, agreement = about(folder), rows_of(folder / "agreement.csv")
        assert f"3 with probability {summary['n_clusters_probabilities']['3']:.2f}" in done.stdout
        assert f"\n{summary['n_confident']} of 60 objects are placed with confidence 0.9 or more" in done.stdout
        assert f"\n4 chains of 300 draws. {summary['verdict']}\n" in done.stdout
        told = done.stdout.split("(nats saved per object, of those it takes): ")[1].splitlines()[0]
        words = {row["clustering"]: f"{float(row['nats']):.2f} of {float(row['entropy']):.2f}" for row in agreement}
        assert told.endswith(f", noise {words['noise']}.")
        assert [name for name in words if f"{name} {words[name]}" in told] == list(words)[:-1]

    def test_labels_have_ids_labels_confidence_and_runner_up(self, finished):
        rows = rows_of(finished[0] / "labels.csv")
        assert list(rows[0]) == ["name", "label", "confidence", "runner_up"]
        assert [row["name"] for row in rows] == [f"o{i}" for i in range(60)]
        assert labels_in(finished[0]) == TRUTH.tolist()
        assert all(0.3 < float(row["confidence"]) <= 1 for row in rows)
        assert all(row["label"] != row["runner_up"] for row in rows)

    def test_agreement_has_a_line_per_clustering(self, finished):
        rows = {row.pop("clustering"): row for row in rows_of(finished[0] / "agreement.csv")}
        assert list(rows) == list(votes())
        assert [int(row["n_clusters"]) for row in rows.values()] == [3, 3, 3, 3, 2, 2, 1]
        n_labelled = sum(cell not in ("", "-1") for cell in votes()["gaps"])
        assert [int(row["n_labelled"]) for row in rows.values()] == [60, 60, 60, n_labelled, 60, 60, 60]
        nats = {name: float(row["nats"]) for name, row in rows.items()}
        assert abs(nats["noise"]) < 0.1
        assert 0.5 < nats["digits"] < float(rows["digits"]["entropy"])
        shares = np.unique(votes()["noise"], return_counts=True)[1] / 60
        assert float(rows["noise"]["entropy"]) == pytest.approx(-(shares * np.log(shares)).sum(), rel=1e-7)
        assert (rows["all one"]["nats"], rows["all one"]["entropy"]) == ("0", "0")

    def test_summary_agrees_with_the_other_files(self, finished):
        summary, rows = about(finished[0]), rows_of(finished[0] / "labels.csv")
        assert summary["sizes"] == np.bincount(labels_in(finished[0])).tolist()
        assert (summary["n_objects"], summary["n_clusterings"], summary["n_clusters"]) == (60, 7, 3)
        assert summary["n_confident"] == sum(float(row["confidence"]) >= 0.9 for row in rows)
        nats = {row["clustering"]: float(row["nats"]) for row in rows_of(finished[0] / "agreement.csv")}
        assert summary["agreement"] == pytest.approx(nats, rel=1e-7)
        assert (summary["method"], summary["request"]["id"], summary["seed"]) == ("nbce", "name", 4)
        assert {
            "n_missing",
            "n_empty",
            "diffuse",
            "groups_verdict",
            "support",
            "converged",
            "stopped",
            "warnings",
            "seconds",
            "version",
        } <= summary.keys()

    def test_model_and_picture(self, finished):
        model = package.load(finished[0] / "posterior.partita")
        assert isinstance(model, NBCE)
        assert model.labels_.tolist() == labels_in(finished[0])
        assert model.posterior_.n_draws == 1200
        for picture in ("coclustering.png", "votes.png"):
            assert (finished[0] / picture).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")

    def test_votes_and_what_their_number_does_are_said(self, finished):
        folder, done = finished
        summary = about(folder)
        assert 4.0 < summary["votes"] < 5.0
        counted = f"{round(summary['votes'], 1):g} votes together, by how much they share."
        assert f"\nThe 6 clusterings that tell objects apart count as {counted}\n" in done.stdout
        assert package.load(folder / "posterior.partita").votes_ == pytest.approx(summary["votes"], abs=1e-6)
        assert list(summary["n_clusters_by_votes"]) == sorted(summary["n_clusters_by_votes"], key=float)
        assert summary["n_clusters_by_votes"]["6"] == 3
        last = done.stdout.split("Along votes variational Bayes finds ")[1].splitlines()[0].split(", ")[-1]
        assert last.startswith("3 groups with ")
        assert last.endswith(" to 6 (votes.png).")


@pytest.mark.filterwarnings("ignore:Chains ")
def test_is_what_python_finds(file, partita, tmp_path):
    done = partita("consensus", file, "--ignore", "name", "--out", tmp_path / "out", *QUICK)
    assert done.code == 0, done.err
    model = NBCE(chains=2, draws=40, random_state=0).fit(np.array(list(votes().values()), dtype=object).T)
    rows = rows_of(tmp_path / "out" / "labels.csv")
    assert [row["row"] for row in rows] == [str(i) for i in range(60)]
    assert labels_in(tmp_path / "out") == model.labels_.tolist()
    np.testing.assert_allclose(
        [float(row["confidence"]) for row in rows], model.probabilities_.max(axis=1), atol=5.1e-7
    )
    assert list(about(tmp_path / "out")["agreement"].values()) == pytest.approx(model.base_agreement_)


@long
def test_every_form_of_the_same_labels_gives_the_same_answer(partita, tmp_path):
    columns = votes()
    write(tmp_path / "comma.csv", columns)
    write(tmp_path / "semicolon.csv", columns, ";")
    write(tmp_path / "tab.tsv", columns, "\t")
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress((tmp_path / "comma.csv").read_bytes()))
    typed = columns | {
        "digits": [int(cell) for cell in columns["digits"]],
        "gaps": [cell or None for cell in columns["gaps"]],
        "words": pyarrow.array(columns["words"]).dictionary_encode(),
        "all one": [0.0] * 60,
    }
    pyarrow.parquet.write_table(pyarrow.table(typed), tmp_path / "typed.parquet")
    found = set()
    for name in ("comma.csv", "semicolon.csv", "tab.tsv", "packed.csv.gz", "typed.parquet"):
        out = tmp_path / f"out-{name}"
        done = partita("consensus", tmp_path / name, "--out", out, *QUICK)
        assert done.code == 0, done.err
        found.add(tuple((out / file).read_text() for file in ("labels.csv", "agreement.csv")))
    assert len(found) == 1


def test_the_same_seed_gives_the_same_bytes(file, partita, tmp_path):
    for out in ("one", "two"):
        assert partita("consensus", file, "--id", "name", "--out", tmp_path / out, "--seed", "3", *QUICK).code == 0
    for name in ("labels.csv", "agreement.csv", "coclustering.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    one, two = (package.load(tmp_path / out / "posterior.partita").posterior_ for out in ("one", "two"))
    np.testing.assert_array_equal(one.draws, two.draws)
    assert {**about(tmp_path / "one"), "seconds": 0} == {**about(tmp_path / "two"), "seconds": 0}


@pytest.mark.parametrize("prior", ["stick-breaking", "finite-dirichlet"])
def test_options_take_effect(file, partita, tmp_path, prior):
    arguments = ["--prior", prior, "--components", "7", "--concentration", "0.5", "--pseudocount", "0.3", "--quiet"]
    done = partita("consensus", file, "--ignore", "name,noise", "--out", tmp_path / "out", *arguments, *QUICK)
    assert (done.code, done.out, done.err) == (0, "", "")
    model = package.load(tmp_path / "out" / "posterior.partita")
    assert (model.chains, model.draws, model.random_state) == (2, 40, 0)
    assert (model.prior, model.n_components) == (prior, 7)
    assert (model._model.prior.concentration, model._model.prior.learns_concentration) == (0.5, False)
    np.testing.assert_array_equal(model._model.likelihood.pseudocount, np.full(6, 0.3))
    assert labels_in(tmp_path / "out") == TRUTH.tolist()
    assert "noise" not in about(tmp_path / "out")["agreement"]


@pytest.mark.parametrize(("engine", "words"), [("vb", "Variational"), ("cvb", "Collapsed variational")])
def test_approximations_say_that_they_are(file, partita, tmp_path, engine, words):
    done = partita("consensus", file, "--id", "name", "--engine", engine, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert f"\n{words} Bayes: probabilities and confidence are those of an approximation" in done.out
    assert "--engine gibbs samples instead" in done.out
    assert "chains of" not in done.out
    assert labels_in(tmp_path / "out") == TRUTH.tolist()
    summary = about(tmp_path / "out")
    assert (summary["engine"], summary["verdict"], summary["converged"]) == (engine, None, True)
    assert summary["method"] == summary["request"]["method"] == f"nbce-{engine}"
    assert package.load(tmp_path / "out" / "posterior.partita").labels_.tolist() == TRUTH.tolist()


@mostly_long
@pytest.mark.parametrize(("method", "engine"), [("nbce", "gibbs"), ("nbce-vb", "vb")])
def test_the_name_of_an_engine_as_a_method_gives_the_same_answer(file, partita, tmp_path, method, engine):
    for option, name in (("--method", method), ("--engine", engine)):
        assert partita("consensus", file, option, name, "--ignore", "name", "--out", tmp_path / name, *QUICK).code == 0
    for name in ("labels.csv", "agreement.csv"):
        assert (tmp_path / method / name).read_bytes() == (tmp_path / engine / name).read_bytes()
    assert {**about(tmp_path / method), "seconds": 0} == {**about(tmp_path / engine), "seconds": 0}


@mostly_long
@pytest.mark.parametrize(
    ("prior", "kind"), [("dp", DirichletProcess), ("pitman-yor", PitmanYor), ("finite-mixtures", FiniteMixtures)]
)
def test_priors_have_the_names_that_they_have_for_tables(file, partita, tmp_path, prior, kind):
    arguments = ["--prior", prior, "--concentration", "0.5", "--ignore", "name", "--out", tmp_path / "out", *QUICK]
    assert partita("consensus", file, *arguments).code == 0
    model = package.load(tmp_path / "out" / "posterior.partita")
    assert model.prior == kind.name
    assert model._model.prior == kind(concentration=0.5)
    assert labels_in(tmp_path / "out") == TRUTH.tolist()


@pytest.mark.parametrize("prior", PRIORS)
def test_the_concentration_of_every_prior_is_learned_unless_it_is_given(prior):
    assert ConsensusRequest(Path("v.csv"), prior=prior).model()._options().prior.learns_concentration
    fixed = ConsensusRequest(Path("v.csv"), prior=prior, concentration=0.5).model()._options().prior
    assert fixed.concentration == 0.5


def test_what_the_draws_must_say_for_a_group_can_be_asked_for(file, partita, tmp_path):
    asked = ["--loss", "binder", "--entropy", "1", "--min-size", "12", "--max-clusters", "n", "--min-support", "0"]
    arguments = ["--ignore", "name", "--out", tmp_path / "out", *asked, *QUICK]
    assert partita("consensus", file, *arguments).code == 0
    model = package.load(tmp_path / "out" / "posterior.partita")
    assert (model.loss, model.entropy, model.min_size, model.max_clusters) == ("binder", 1.0, 12, "n")
    assert model.min_support == about(tmp_path / "out")["request"]["min_support"] == 0.0
    assert np.bincount(model.labels_).min() >= 12


@pytest.mark.parametrize(
    ("votes", "n_votes", "words"),
    [
        ("all", 6.0, "as one vote each, as asked for"),
        ("2.5", 2.5, "as 2.5 votes together, as asked for"),
        ("1", 1.0, "as 1 vote together, as asked for"),
    ],
)
def test_a_number_of_votes_can_be_asked_for(file, partita, tmp_path, votes, n_votes, words):
    done = partita("consensus", file, "--ignore", "name", "--votes", votes, "--out", tmp_path / "out", *QUICK)
    assert f"\nThe 6 clusterings that tell objects apart count {words}.\n" in done.out
    assert about(tmp_path / "out")["votes"] == package.load(tmp_path / "out" / "posterior.partita").votes_ == n_votes
    assert about(tmp_path / "out")["request"]["votes"] == (votes if votes == "all" else n_votes)


def consensus_of(partita, folder, columns, *arguments):
    write(folder / "votes.csv", columns)
    return partita("consensus", folder / "votes.csv", "--engine", "vb", "--out", folder / "out", *arguments)


@pytest.mark.parametrize(
    ("n_copies", "words"),
    [(2, "one vote each: they are few enough for how much they share."), (40, "votes together, by how much they")],
)
def test_the_votes_of_equal_clusterings_are_not_said_to_share_little(partita, tmp_path, n_copies, words):
    done = consensus_of(partita, tmp_path, {f"c{m}": TRUTH.tolist() for m in range(n_copies)})
    told = done.out.split(f"\nThe {n_copies} clusterings that tell objects apart count as ")[1].splitlines()[0]
    assert words in told


def test_where_no_clustering_tells_objects_apart_that_is_said_and_no_number_of_votes_is_taken(partita, tmp_path):
    columns = {"a": ["x"] * 20, "b": ["y"] * 20}
    done = consensus_of(partita, tmp_path, columns)
    assert done.code == 0, done.err
    assert "\nNo clustering tells objects apart: nothing says that there is more than one group.\n" in done.out
    assert (about(tmp_path / "out")["votes"], about(tmp_path / "out")["n_clusters_by_votes"]) == (0.0, {})
    done = consensus_of(partita, tmp_path, columns, "--votes", "3")
    assert (done.code, done.out) == (2, "")
    assert done.err == "--votes 3 for no votes at all: no clustering tells objects apart. Leave it out.\n"


@pytest.mark.parametrize("arguments", [(), ("--votes", "5"), ("--votes", "all")])
def test_a_number_of_groups_that_is_the_choice_of_votes_is_doubted_first(partita, tmp_path, arguments):
    cloud = np.random.default_rng(3).normal(size=(300, 3))
    alike = base_clusterings(cloud, n=20, n_classes=6, random_state=0).flat
    done = consensus_of(partita, tmp_path, {f"c{m}": labels.tolist() for m, labels in enumerate(alike)}, *arguments)
    answer = done.out.split("\n\n")[1].splitlines()
    doubted = answer[0].startswith("How many groups there are is not in these labels: variational Bayes finds ")
    assert doubted == about(tmp_path / "out")["votes_make_the_number"] == (arguments != ("--votes", "all"))
    assert answer[doubted].split()[1] == "groups"


def test_a_number_of_groups_that_few_and_many_votes_find_is_not_doubted(partita, tmp_path):
    far_apart = 10.0 * np.eye(4)[TRUTH] + np.random.default_rng(0).normal(size=(60, 4))
    alike = base_clusterings(far_apart, n=20, n_classes=3, random_state=0).flat
    done = consensus_of(partita, tmp_path, {f"c{m}": labels.tolist() for m, labels in enumerate(alike)})
    assert done.out.split("\n\n")[1].startswith("3 groups of ")
    assert not about(tmp_path / "out")["votes_make_the_number"]


@pytest.mark.parametrize(("arguments", "words"), [((), "1 vote."), (("--votes", "0.5"), "0.5 votes, as asked for.")])
def test_one_clustering_that_tells_objects_apart(partita, tmp_path, arguments, words):
    done = consensus_of(partita, tmp_path, {"a": TRUTH.tolist(), "b": ["y"] * 60}, *arguments)
    assert f"\n1 clustering tells objects apart, and counts as {words}\n" in done.out
    assert "Along votes" not in done.out


def test_a_prior_that_the_line_along_votes_is_not_under_is_named(file, partita, tmp_path):
    arguments = ["--prior", "pitman-yor", "--ignore", "name", "--out", tmp_path / "out", *QUICK]
    done = partita("consensus", file, *arguments)
    assert "\nAlong votes variational Bayes, under stick-breaking in place of pitman-yor, finds " in done.out


@pytest.mark.parametrize(
    ("max_time", "used", "seconds"),
    [
        (None, 500.0, 10.0),
        (300.0, 4.0, 10.0),
        (300.0, 310.0, 10.0),
        (20.0, 15.0, 5.0),
        (20.0, 19.5, 2.0),
        (3.0, 3.0, 0.3),
    ],
)
def test_fits_along_votes_take_what_is_left_of_the_time_or_a_tenth_of_it(max_time, used, seconds):
    assert seconds_along(max_time, used) == pytest.approx(seconds)


def test_fits_along_votes_keep_the_time_limit(file, partita, tmp_path, monkeypatch):
    asked = []

    def keep(model, votes=None, *, max_time=None):
        asked.append(max_time)
        return votes_data(model, votes, max_time=max_time)

    monkeypatch.setattr("partita.plots.votes_data", keep)
    arguments = ["--engine", "vb", "--max-time", "4", "--ignore", "name", "--out", tmp_path / "out"]
    done = partita("consensus", file, *arguments)
    assert "\n  time: at most 4 s, and 0.4 s more for votes.png; --max-time sets another" in done.out
    assert 0.4 <= asked[0] == pytest.approx(4.0 - about(tmp_path / "out")["seconds"], abs=1e-3)


@pytest.mark.parametrize(("n_tried", "words"), [(0, "nothing is known: "), (2, "(votes.png); ")])
def test_numbers_of_votes_that_there_was_no_time_for_are_counted(file, partita, tmp_path, monkeypatch, n_tried, words):
    def cut(model, votes=None, *, max_time=None):
        found = votes_data(model, votes)
        return replace(found, votes=found.votes[:n_tried], n_clusters=found.n_clusters[:n_tried])

    monkeypatch.setattr("partita.plots.votes_data", cut)
    done = partita("consensus", file, "--engine", "vb", "--ignore", "name", "--out", tmp_path / "out")
    told = done.out.split("\nAlong votes ")[1].splitlines()[0]
    assert told.endswith(f"{words}{n_tried} of 12 numbers of votes were tried.")
    assert len(about(tmp_path / "out")["n_clusters_by_votes"]) == n_tried


def test_the_best_and_the_least_of_many_clusterings_are_named(partita, tmp_path):
    columns = votes()
    columns |= {f"copy {m}": columns["digits"] for m in range(3)}
    write(tmp_path / "votes.csv", columns)
    done = partita("consensus", tmp_path / "votes.csv", "--out", tmp_path / "out", *QUICK)
    rows = {row["clustering"]: row for row in rows_of(tmp_path / "out" / "agreement.csv")}
    share = {name: float(row["nats"]) / float(row["entropy"]) for name, row in rows.items() if name != "all one"}
    ranked = sorted(share, key=lambda name: -share[name])
    best, least = done.out.split("of those it takes): best ")[1].splitlines()[0].split("; least ")
    assert [words.rsplit(" ", 3)[0] for words in best.split(", ")] == ranked[:3]
    assert [words.rsplit(" ", 3)[0] for words in least.split(", ")] == ranked[-3:]
    assert ranked[-1] == "noise"


@long
@pytest.mark.skipif(os.name != "posix", reason="signals and terminals of POSIX")
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_what_was_drawn_and_says_so(file, tmp_path):
    import pty

    arguments = ["consensus", file, "--id", "name", "--out", tmp_path / "out"]
    ours, theirs = pty.openpty()
    command = [*COMMAND, *map(str, arguments), "--draws", "1000000"]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=theirs) as running:
        os.close(theirs)
        shown = b""
        while b"of 4: sweep " not in shown:
            shown += os.read(ours, 4096)
        running.send_signal(signal.SIGINT)
        assert "Traceback" not in everything_from(ours)
        out = running.stdout.read()
        assert running.wait(timeout=120) == 0
    assert "Warning: Interrupted: the result rests on" in out
    assert about(tmp_path / "out")["stopped"] == "interrupted"
