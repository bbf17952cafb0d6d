"""partita cluster --engine: what is printed and written is true of the engine."""

import csv
import json

import numpy as np
import pytest
from tests.runs.conftest import two_groups
from tests.volumes import long, mostly_long

import partita as package

pytestmark = [pytest.mark.xdist_group("mixed"), long]


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    path = tmp_path_factory.mktemp("engines") / "things.csv"
    path.write_text("\n".join(two_groups()) + "\n")
    return path


def summary_in(folder):
    return json.loads((folder / "summary.json").read_text())


def labels_in(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [int(row["label"]) for row in csv.DictReader(file)]


@mostly_long
@pytest.mark.parametrize(
    ("engine", "words"), [("vb", "Variational Bayes"), ("cvb", "Collapsed variational Bayes"), ("em", "EM")]
)
def test_engines_that_do_not_sample_say_so_and_have_no_chains(things, partita, tmp_path, engine, words):
    out = tmp_path / "out"
    done = partita("cluster", things, "--id", "id", "--engine", engine, "--out", out)
    assert done.code == 0, done.err
    assert f"\n{words}: " in done.out
    assert "mostly surer than it should be; --engine gibbs samples instead." in done.out
    assert "chain" not in done.out
    assert "R-hat" not in done.out
    summary = summary_in(out)
    assert (summary["engine"], summary["verdict"], summary["stopped"]) == (engine, None, None)
    assert summary["converged"] is True
    assert summary["request"]["engine"] == engine
    assert labels_in(out / "labels.csv") == [i % 2 for i in range(60)]
    assert package.load(out / "posterior.partita").labels_.tolist() == [i % 2 for i in range(60)]
    assert partita("predict", out, things).code == 0
    assert labels_in(out / "predictions.csv") == [i % 2 for i in range(60)]


def test_variational_chances_are_those_of_its_draws(things, partita, tmp_path):
    partita("cluster", things, "--id", "id", "--engine", "vb", "--draws", "50", "--out", tmp_path / "out")
    posterior = package.Posterior.load(tmp_path / "out" / "posterior.partita")
    assert posterior.partitions.shape[:2] == (1, 50)
    told = {int(k): p for k, p in summary_in(tmp_path / "out")["n_clusters_probabilities"].items()}
    assert told == pytest.approx(posterior.n_clusters(), abs=1e-6)


@long
def test_em_says_what_bic_chose_and_no_probability_of_a_number(things, partita, tmp_path):
    done = partita("cluster", things, "--id", "id", "--engine", "em", "--out", tmp_path / "out")
    summary = summary_in(tmp_path / "out")
    assert summary["n_clusters_probabilities"] is None
    values = {int(k): value for k, value in summary["bic"].items()}
    assert sorted(values) == list(range(1, 11))
    best, following = sorted(values, key=values.get)[:2]
    gap = values[following] - values[best]
    assert (
        f"How many groups there are: BIC chose {best} among 1 to 10; that of {following}, the next best, is larger by"
        f" {gap:.3g}." in done.out
    )
    assert "with probability" not in done.out


def test_em_tries_no_more_groups_than_rows(partita, tmp_path):
    rows = np.random.default_rng(0).normal(size=5).round(3)
    (tmp_path / "few.csv").write_text("\n".join(["x", *map(str, rows), "", ""]) + "\n")
    done = partita("cluster", tmp_path / "few.csv", "--engine", "em", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "among 1 to 5" in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--engine", "variational"], "--engine must be one of 'gibbs', 'vb', 'cvb', 'em'; got 'variational'."),
        (
            ["--engine", "vb", "--prior", "pitman-yor"],
            "--engine vb runs --prior dirichlet-process, finite-dirichlet, stick-breaking; got 'pitman-yor'."
            " --engine gibbs runs every prior.",
        ),
        (
            ["--engine", "cvb", "--prior", "finite-mixtures"],
            "--engine cvb runs --prior dirichlet-process, finite-dirichlet, stick-breaking; got 'finite-mixtures'."
            " --engine gibbs runs every prior.",
        ),
        (["--engine", "em", "--prior", "dp"], "it has no prior of their number. Leave out --prior, --exp"),
        (["--engine", "em", "--expected-clusters", "3"], "it has no prior of their number. Leave out --prior, --exp"),
        (["--engine", "em", "--components", "3"], "--expected-clusters and --components, or take another engine."),
    ],
)
def test_what_an_engine_cannot_run_is_refused_in_one_sentence(things, partita, tmp_path, arguments, words):
    done = partita("cluster", things, *arguments, "--out", tmp_path / "out")
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_expected_number_of_groups_is_read_by_the_variational_engines(things, partita, tmp_path):
    arguments = ["--id", "id", "--engine", "vb", "--expected-clusters", "3", "--out", tmp_path / "out"]
    assert partita("cluster", things, *arguments).code == 0
    model = package.load(tmp_path / "out" / "posterior.partita")
    assert model.prior.expected_clusters(60) == pytest.approx(3, rel=1e-6)


def test_an_engine_out_of_time_says_so(things, partita, tmp_path):
    done = partita("cluster", things, "--id", "id", "--engine", "vb", "--max-time", "1e-9", "--out", tmp_path / "out")
    assert done.code == 0
    assert "Warning: Variational Bayes had not converged when max_time=1e-09 was reached, after 1 iteration" in done.out
    assert summary_in(tmp_path / "out")["converged"] is False
