"""Engines and priors that somebody else defined: the commands ask them what they are, and never their name."""

import json

import pytest
from tests.volumes import long, mostly_long

from partita import NBCE
from partita.engines import EM, Engine, Gibbs, Variational
from partita.plots.prior_words import prior_in_words
from partita.priors import PitmanYor, Prior

pytestmark = [pytest.mark.xdist_group("mixed"), long]
QUICK = ("--chains", "2", "--draws", "30")


@pytest.fixture(scope="module", autouse=True)
def others():
    """Known in this module only."""

    class Mine(Gibbs, name="mine"):
        pass

    class Guess(Variational, name="guess"):
        title = "Guesswork"
        caveat = "nobody knows how far it is off"

    class Told(EM, name="told"):
        title = "Hearsay"

    class Wide(PitmanYor, name="wide"):
        title = "wide process"

    yield
    for name in ("mine", "guess", "told"):
        del Engine.known[name]
    del Prior.known["wide"]


def summary_in(folder):
    return json.loads((folder / "summary.json").read_text())


def ignoring(command):
    return ("--ignore", "id") if command == "cluster" else ()


@mostly_long
@pytest.mark.parametrize("command", ["cluster", "consensus"])
@pytest.mark.parametrize("prior", ["pitman-yor", "wide"])
def test_an_engine_that_samples_is_said_to_and_runs_every_prior(table, votes, partita, tmp_path, command, prior):
    path = table if command == "cluster" else votes
    arguments = ("--engine", "mine", "--prior", prior, "--out", tmp_path / "out", *ignoring(command), *QUICK)
    done = partita(command, path, *arguments)
    assert done.code == 0, done.err
    assert "\n2 chains of 30 draws." in done.out
    assert "approximation" not in done.out
    summary = summary_in(tmp_path / "out")
    assert (summary["engine"], summary["request"]["prior"], summary["stopped"]) == ("mine", prior, "draws")
    assert summary["verdict"]
    assert {"diffuse", "groups_verdict", "support", "support_cost"} <= summary.keys()
    assert len(summary["support"]["together"]) == summary["n_clusters"] == 2


@pytest.mark.parametrize("command", ["cluster", "consensus"])
def test_an_approximation_says_its_own_title_and_caveat(table, votes, partita, tmp_path, command):
    path = table if command == "cluster" else votes
    done = partita(command, path, "--engine", "guess", "--out", tmp_path / "out", *ignoring(command))
    assert done.code == 0, done.err
    assert "\nGuesswork: nobody knows how far it is off; --engine gibbs samples instead.\n" in done.out
    assert summary_in(tmp_path / "out")["verdict"] is None
    assert "diffuse" not in summary_in(tmp_path / "out")
    refused = partita(command, path, "--engine", "guess", "--prior", "wide", "--out", tmp_path / "other")
    assert refused.err == (
        "--engine guess runs --prior dirichlet-process, finite-dirichlet, stick-breaking; got 'wide'."
        " --engine gibbs runs every prior.\n"
    )


def test_an_engine_that_must_be_told_the_number_of_groups_chooses_it(table, votes, partita, tmp_path):
    done = partita("cluster", table, "--engine", "told", "--ignore", "id", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "How many groups there are: BIC chose 2 among 1 to 10;" in done.out
    assert "\nHearsay: the groups are taken as known" in done.out
    assert set(summary_in(tmp_path / "out")["bic"]) == set(map(str, range(1, 11)))
    refused = partita("cluster", table, "--engine", "told", "--prior", "dp", "--out", tmp_path / "other")
    assert refused.err.startswith("--engine told tries 1 to 10 groups and chooses by BIC")
    refused = partita("consensus", votes, "--engine", "told", "--out", tmp_path / "other")
    assert refused.err.startswith("--engine must be one of 'gibbs', 'vb', 'cvb', 'mine', 'guess'; got 'told'.")


def test_a_prior_brings_its_name_and_its_words():
    assert prior_in_words(Prior.known["wide"](concentration=1.0)) == "wide process with concentration 1, discount 0.25"
    assert isinstance(NBCE(prior="wide")._options().prior, Prior.known["wide"])
