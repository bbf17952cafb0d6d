"""`benchmarks.votes`: the rule and the choice by hand, and the study in miniature."""

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks import ensembles, votes
from tests.volumes import long

pytestmark = long


@pytest.fixture
def folder(tmp_path):
    """A table of three classes that are far apart, under the name of one that rules are fixed on."""
    classes = np.repeat([0, 1, 2], 20)
    rows = np.random.default_rng(0).normal(10.0 * classes[:, None], size=(60, 2))
    pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "label": classes}).to_csv(tmp_path / "glass.csv", index=False)
    return tmp_path


def test_votes_by_the_rule():
    assert votes.votes_by(2.0, 0.5, 10) == 4.0
    assert votes.votes_by(2.0, 0.5, 4) == "all"
    assert votes.votes_by(2.0, 0.0, 10) == "all"
    assert votes.votes_by("all", 0.5, 10) == "all"


def test_of_what_agrees_alike_the_nearest_number_of_clusters_is_chosen():
    """t = 2 agrees best and t = 2.5 nearly so with better numbers; t = 3 has the best numbers and agrees less."""
    scores = {"2.0": 0.6, "2.5": 0.59, "3.0": 0.4}
    numbers = {"2.0": 9, "2.5": 4, "3.0": 3}
    rng = np.random.default_rng(0)
    rows = []
    for part, n in (("fixed", 8), ("made", 40), ("confirmed", 8)):
        for i in range(n):
            row = {"part": part, "table": f"{i}", "kind": "k-means", "members": 10, "classes": 3}
            for t in map(str, votes.TOLD):
                odd = part == "confirmed"
                row[t] = (1.0 if odd else scores.get(t, 0.1)) + 0.03 * rng.normal()
                row[f"{t} K"] = 3 if odd else numbers.get(t, 30)
            rows.append(row)
    assert votes.chosen(pd.DataFrame(rows)) == 2.5


def test_made_ensembles_are_what_they_are_called():
    made = {one.kind: one for one in ensembles.made_ensembles(5, 20, 0)}
    assert np.mean(made["30% wrong"].labels != made["30% wrong"].classes[:, None]) == pytest.approx(0.3)
    assert (made["copies of one"].labels == made["copies of one"].labels[:, :1]).all()
    assert np.unique(made["copies of five"].labels, axis=1).shape[1] == 5
    assert made["far apart"].n_classes == 5
    assert made["one cloud"].n_classes == made["random labels"].n_classes == 1


def test_every_kind_of_a_table(folder):
    found = list(ensembles.table_ensembles(folder, ("glass",), 27, 0, 50))
    assert [one.kind for one in found] == list(ensembles.KINDS)
    for one in found:
        assert one.labels.shape == (50, 27)
        assert len(one.classes) == len(one.points) == 50
    assert ((found[2].labels < 0).mean(axis=0) == 0.3).all()
    assert not list(ensembles.table_ensembles(folder, ("wine",), 5, 0, 50))


def test_the_study_in_miniature(folder, monkeypatch, capsys):
    pytest.importorskip("pymetis")
    monkeypatch.setattr(votes, "MEMBERS", (3, 10))
    monkeypatch.setattr(votes, "CHOSEN_ON", (10,))
    monkeypatch.setattr(votes, "MADE_CLASSES", (3,))
    monkeypatch.setattr(ensembles, "MADE_OBJECTS", 60)
    monkeypatch.setattr(ensembles, "FEW_OBJECTS", 30)
    out = folder / "votes.json"
    votes.main(["--seeds", "1", "--jobs", "1", "--data", str(folder), "--out", str(out)])
    records = json.loads(out.read_text())["records"]
    assert len(records) == 2 * (4 + 9)
    assert records[1]["CSPA"] == records[1]["2.5"] == 1.0
    printed = capsys.readouterr().out
    assert "chosen on 'fixed' and 'made': t = " in printed
    votes.main(["--print-only", "--out", str(out)])
    assert capsys.readouterr().out == printed
