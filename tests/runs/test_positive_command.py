"""The command on tables with positive numbers: what it says, writes and predicts."""

import csv
import json

import numpy as np
import pytest

OPTIONS = ("--engine", "vb")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 120)
    cells = zip(np.exp(rng.normal(7 + 3 * group, 0.5)), rng.normal(40 + 20 * group, 5))
    path = tmp_path / "people.csv"
    path.write_text("income,age\n" + "\n".join(f"{income:.2f},{age:.3f}" for income, age in cells) + "\n")
    return path


def kinds(folder):
    return json.loads((folder / "summary.json").read_text())["columns"]


def test_a_guess_is_said_and_medians_are_compared(table, partita, tmp_path):
    done = partita("cluster", table, "--out", tmp_path / "run", *OPTIONS)
    assert done.code == 0, done.err
    assert "  numbers: age\n  positive numbers (log-normal): income\n" in done.out
    assert "  read as positive numbers (a long tail: their logs account for them better): income; otherwise" in done.out
    assert kinds(tmp_path / "run") == {"income": "positive", "age": "numeric"}
    profile = list(csv.DictReader((tmp_path / "run" / "profile.csv").read_text().splitlines()))
    medians = sorted(float(row["mean"]) for row in profile if row["kind"] == "positive")
    np.testing.assert_allclose(np.log(medians), [7, 10], atol=0.3)
    incomes = [float(line.split(",")[0]) for line in table.read_text().splitlines()[1:]]
    assert f"({np.exp(np.log(incomes).mean()):.0f})" in done.out


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        (("--types", "income=positive"), "positive", "positive numbers (log-normal): income"),
        (("--types", "income=numeric"), "numeric", "numbers: income, age"),
        (("--no-guess-types",), "numeric", "numbers: income, age"),
    ],
)
def test_what_is_told_goes_first(table, partita, tmp_path, options, kind, said):
    done = partita("cluster", table, "--out", tmp_path / "run", *OPTIONS, *options)
    assert done.code == 0, done.err
    assert f"  {said}\n" in done.out
    assert "read as positive" not in done.out
    assert kinds(tmp_path / "run")["income"] == kind


def test_zeros_are_refused_in_fit_and_missing_in_new_rows(table, partita, tmp_path):
    broken = tmp_path / "broken.csv"
    broken.write_text(table.read_text() + "0,40\n")
    done = partita("cluster", broken, "--types", "income=positive", *OPTIONS)
    assert done.code == 2
    assert "Column 'income' is to hold positive numbers, but 1 cell (row 120) is not above 0." in done.err
    assert partita("cluster", table, "--out", tmp_path / "run", *OPTIONS).code == 0
    done = partita("predict", tmp_path / "run", broken, "--out", tmp_path / "new")
    assert done.code == 0, done.err
    assert "0.0 in column 'income' (row 120)" in done.out + done.err
    assert partita("predict", tmp_path / "run", broken, "--out", tmp_path / "other", "--unseen", "error").code == 2
