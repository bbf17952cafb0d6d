"""What is said of groups is one section, whatever they were found in."""

import json

import pytest

pytestmark = pytest.mark.xdist_group("mixed")
QUICK = ("--chains", "2", "--draws", "30")
FIELDS = {"n_objects", "n_empty", "n_clusters", "n_clusters_probabilities", "sizes", "n_confident"}
OF_DRAWS = {"diffuse", "groups_verdict", "support", "support_cost"}


def test_the_summary_of_every_command_has_the_same_fields_and_words(table, votes, partita, tmp_path):
    said = {
        "cluster": partita("cluster", table, "--ignore", "id", "--out", tmp_path / "cluster", *QUICK),
        "consensus": partita("consensus", votes, "--out", tmp_path / "consensus", *QUICK),
        "summarize": partita("summarize", tmp_path / "cluster" / "posterior.partita", "--out", tmp_path / "summarize"),
    }
    for (command, done), n, noun in zip(said.items(), (60, 40, 60), ("row", "object", "object")):
        summary = json.loads((tmp_path / command / "summary.json").read_text())
        assert summary.keys() >= FIELDS | OF_DRAWS, command
        assert sum(summary["sizes"]) == summary["n_objects"] == n
        assert len(summary["support"]["apart"]) == summary["n_clusters"] == 2
        sizes = ", ".join(map(str, summary["sizes"]))
        assert f"\n2 groups of {sizes} {noun}s. How many groups there are: 2 with probability" in done.out
        assert f"\n{summary['n_confident']} of {n} {noun}s are placed with confidence 0.9 or more" in done.out
