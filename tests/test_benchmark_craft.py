"""`benchmarks.craft` and `benchmarks.means`: both in miniature."""

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks import craft, means
from tests.volumes import long

pytestmark = long


@pytest.fixture
def folder(tmp_path):
    """Three classes that are far apart in one column each, under the names of two of the paper's tables."""
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1, 2], 20)
    cells = rng.normal(0.0, 3.0, (60, 6))
    cells[np.arange(60), classes] = rng.normal(9.0, 0.1, 60)
    for name in ("wine", "spambase"):
        pd.DataFrame(cells).rename(columns="c{}".format).assign(label=classes).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    return tmp_path


def test_tables_of_the_paper_in_miniature(folder, monkeypatch, capsys):
    monkeypatch.setattr(craft, "BAYESIAN_SECONDS", 1.0)
    out = folder / "craft.json"
    craft.main(["wine", "--seeds", "2", "--jobs", "1", "--data", str(folder), "--out", str(out)])
    records = pd.DataFrame(json.loads(out.read_text())["records"])
    assert set(records["method"]) == set(craft.METHODS)
    assert len(records) == 2 * (2 * len(craft.METHODS) - len(craft.FREE))
    ours = records[(records["method"] == "CRAFT") & (records["share"] == 0.5)]
    assert (ours["purity"] > 0.9).all()
    printed = capsys.readouterr().out
    assert "0.71 /0.47" in printed  # the paper's
    craft.main(["--print-only", "--out", str(out)])
    assert capsys.readouterr().out == printed


def test_the_run_of_the_least_objective_is_of_those_with_as_many_clusters_as_classes():
    runs = pd.DataFrame(
        {"k": [3, 2, 3], "classes": 3, "objective": [5.0, 1.0, 4.0], "purity": [0.5, 0.6, 0.7], "nmi": 0}
    )
    assert craft.best_of(runs) == "   least objective: 0.70 /0.00"
    assert craft.best_of(runs.assign(objective=np.nan)) == ""


def test_speed_in_miniature(folder, monkeypatch, capsys):
    monkeypatch.setattr(means, "GROWING_ROWS", (10_000, 20_000))
    monkeypatch.setattr(means, "GROWING_COLUMNS", (10,))
    out = folder / "means.json"
    means.main(["--scale", "0.05", "--data", str(folder), "--out", str(out)])
    lines = json.loads(out.read_text())["lines"]
    assert len(lines) == 3 + 3 + 3
    assert "K = 12, ARI 1.000" in capsys.readouterr().out
