"""partita cluster says of every column what it was read as and why, and which columns drive the groups."""

import csv
import json

import numpy as np
import pytest

from partita import load
from partita.families.automatic import covariance_of, has_shape

VB = ("--engine", "vb")


@pytest.fixture
def run(partita, tmp_path):
    """Cluster columns, given by name; gives what was said, summary.json and columns.csv."""

    def call(columns, *options):
        path = tmp_path / "table.csv"
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]
        path.write_text("\n".join(lines) + "\n")
        done = partita("cluster", path, "--out", tmp_path / "out", *VB, *options)
        assert done.code == 0, done.err
        lines = (tmp_path / "out" / "columns.csv").read_text().splitlines()
        table = {row["column"]: row for row in csv.DictReader(lines)}
        return done.out, json.loads((tmp_path / "out" / "summary.json").read_text()), table

    return call


def groups(correlation, n=240, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    within = rng.multivariate_normal(np.zeros(3), correlation + (1 - correlation) * np.eye(3), n)
    x = within + np.outer(group, [9.0, 5.0, 0.0])
    return {
        "far": x[:, 0].round(3),
        "near": x[:, 1].round(3),
        "noise": x[:, 2].round(3),
        "age": (40 + 9 * rng.normal(size=n)).round().astype(int),
        "grade": rng.choice([1, 2, 3], n),
        "town": rng.choice(["a", "b"], n),
        "same": np.ones(n, int),
    }


DEPEND = "Within groups the numbers depend on each other (full covariance)."
INDEPENDENT = "Within groups the numbers are taken as independent of each other (diagonal covariance)."


@pytest.mark.parametrize(("correlation", "said", "not_said"), [(0.9, DEPEND, INDEPENDENT), (0.0, INDEPENDENT, DEPEND)])
def test_the_covariance_is_said(run, tmp_path, correlation, said, not_said):
    out, summary, _ = run(groups(correlation))
    assert said in out
    assert not_said not in out
    assert summary["covariance"] == {DEPEND: "full", INDEPENDENT: "diag"}[said]
    family = load(tmp_path / "out" / "posterior.partita").family_
    assert covariance_of(family) == summary["covariance"]
    assert has_shape(family) == ("was learned from the table first" in out) == (said == DEPEND)


def test_every_column_has_its_kind_reason_step_and_scale(run):
    columns = groups(0.0)
    out, summary, table = run(columns, "--types", "town=categorical")
    assert "  read as categories, though they are numbers (few different numbers): grade; otherwise" in out
    assert "  recorded in steps: age 1\n" in out
    assert {name: row["kind"] for name, row in table.items()} == {
        "far": "numeric",
        "near": "numeric",
        "noise": "numeric",
        "age": "numeric",
        "grade": "categorical",
        "town": "categorical",
        "same": "numeric",
    }
    reasons = {name: row["reason"] for name, row in table.items()}
    assert reasons == dict.fromkeys(("far", "near", "noise", "age"), "its cells") | {
        "grade": "few different numbers",
        "town": "told",
        "same": "constant, left out",
    }
    assert float(table["age"]["step"]) == summary["steps"]["age"] == 1.0
    for name in ("far", "near", "noise", "age"):
        assert summary["scales"][name] == pytest.approx(np.std(columns[name]))
        assert float(table[name]["scale"]) == pytest.approx(summary["scales"][name], rel=1e-6)
    assert table["grade"]["scale"] == ""
    assert summary["guessed"] == {"grade": "few different numbers"}
    assert summary["dropped"] == ["same"]


def test_what_drives_the_groups_comes_first(run):
    out, summary, table = run(groups(0.0))
    drivers = list(summary["drivers"])
    assert drivers[:2] == ["far", "near"]
    assert sum(summary["drivers"].values()) == pytest.approx(1.0, abs=1e-3)
    assert f"What tells the groups apart: far {summary['drivers']['far']:.0%}, near" in out
    for name in drivers:
        assert float(table[name]["tells_groups_apart"]) == pytest.approx(summary["drivers"][name], abs=1e-3)


def test_evenly_spread_numbers_and_columns_of_zeros_have_their_reasons(run):
    rng = np.random.default_rng(1)
    columns = groups(0.0) | {
        "year": rng.integers(2001, 2025, 240),
        "spent": np.where(rng.random(240) < 0.5, 0, np.exp(rng.normal(3, 1, 240))).round(2),
    }
    columns["total"] = columns["far"] + columns["near"]
    out, summary, table = run(columns)
    assert "table.csv: 240 rows, 9 columns, no cell missing." in out
    assert "(numbers that are spread evenly): year; otherwise" in out
    share = np.mean(columns["spent"] == 0)
    assert f"  read in two parts, 0 or not and how much: spent ({share:.0%} are 0); otherwise" in out
    assert "  sums or multiples of other columns, which count twice: total; --ignore NAME" in out
    assert table["spent is 0"]["reason"] == "many cells are 0"
    assert summary["guessed"]["year"] == "numbers that are spread evenly"


def test_numbers_are_short_and_a_column_that_a_group_lacks_is_not_typical_of_it(run):
    rng = np.random.default_rng(3)
    group = np.repeat([0, 1], 120)
    third = np.array([0, 1 / 3, 2 / 3])[np.where(group, rng.choice([1, 2], 240), rng.choice([0, 1], 240))]
    size = rng.normal(8 * group, 1)
    price = [f"{x:.3f}" if g else "" for x, g in zip(rng.normal(50, 9, 240), group)]
    weight = rng.normal(6 * group, 1)
    out, _, _ = run({"size": size - size.mean(), "third": third, "price": price, "weight": weight.round(3)})
    assert "third = 0.666667" in out
    assert "0.6666666" not in out
    assert "e-1" not in out
    typical = [line for line in out.splitlines() if line.startswith("  group ")]
    assert len(typical) == 2
    without = next(line for line in typical if "third = 0 " in line)
    assert "price" not in without
