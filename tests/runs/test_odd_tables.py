"""Tables that are odd but fine: each gets the right answer, or words that name column, rows and remedy."""

import csv
import json

import numpy as np
import pytest
from tests.volumes import long

pytestmark = [pytest.mark.xdist_group("mixed"), long]
QUICK = ["--chains", "2", "--draws", "40", "--quiet"]


@pytest.fixture
def answer(partita, tmp_path):
    """Cluster a table given as a header and rows; gives labels, summary and what was printed."""

    def run(header, rows, *arguments):
        path = tmp_path / "odd.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])
        done = partita("cluster", path, "--out", tmp_path / "out", *QUICK, *arguments)
        assert (done.code, done.out, done.err) == (0, "", "")
        with open(tmp_path / "out" / "labels.csv", newline="", encoding="utf-8") as file:
            labels = [int(row["label"]) for row in csv.DictReader(file)]
        return labels, json.loads((tmp_path / "out" / "summary.json").read_text())

    return run


def test_one_row(answer):
    labels, summary = answer(["a", "b"], [[1.5, "x"]])
    assert labels == [0]
    assert summary["n_clusters_probabilities"] == {"1": 1.0}


def test_all_rows_equal(answer):
    labels, summary = answer(["a", "b"], [[1.5, "x"]] * 30)
    assert labels == [0] * 30
    assert summary["n_clusters"] == 1


def test_more_columns_than_rows(answer):
    rng = np.random.default_rng(0)
    rows = rng.normal(np.repeat([[0.0], [6.0]], 6, axis=0), 1.0, (12, 40)).round(3).tolist()
    labels, _ = answer([f"x{j}" for j in range(40)], rows)
    assert labels == [0] * 6 + [1] * 6


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_tiny_and_huge_numbers(answer, size):
    rng = np.random.default_rng(1)
    values = rng.normal(np.repeat([-8.0, 8.0], 20), 1.0) * size / 10
    labels, _ = answer(["a"], [[repr(float(value))] for value in values])
    assert labels == [0] * 20 + [1] * 20


def test_columns_with_names_that_mean_something_elsewhere(answer):
    names = ["class", "None", "label", "numeric", "lambda", "a=b", "a,b", "SELECT", "x0", "é 1"]
    rng = np.random.default_rng(2)
    rows = rng.normal(np.repeat([[0.0], [9.0]], 15, axis=0), 1.0, (30, len(names))).round(2)
    rows[:, 5] = np.arange(30) % 2
    labels, summary = answer(names, rows.tolist(), "--types", 'a=b=categorical,"a,b=numeric"', "--ignore", "class")
    assert labels == [0] * 15 + [1] * 15
    assert summary["columns"]["a=b"] == "categorical"
    assert "class" not in summary["columns"]
    assert set(names) - {"class"} == set(summary["columns"])


@long
def test_about_a_thousand_categories(answer):
    rng = np.random.default_rng(3)
    group = np.repeat([0, 1], 1000)
    code = rng.choice(1700, size=2000, p=rng.dirichlet(np.ones(1700)))
    assert len(set(code.tolist())) > 900
    rows = [[f"c{c}", round(x, 3)] for c, x in zip(code, rng.normal(8.0 * group, 1.0))]
    labels, summary = answer(["code", "x"], rows)
    assert summary["n_clusters"] == 2
    assert np.mean(np.array(labels) == group) in (0.0, 1.0)


def test_identical_rows_get_identical_labels(answer):
    rng = np.random.default_rng(4)
    rows = [[value, word] for value in (0, 1, 5, 6) for word in "ab"] * 8
    rows = [rows[i] for i in rng.permutation(len(rows))]
    labels, _ = answer(["a", "b"], rows)
    by_row = {}
    for row, label in zip(map(tuple, rows), labels):
        by_row.setdefault(row, set()).add(label)
    assert all(len(found) == 1 for found in by_row.values())


def test_columns_without_a_name_and_identifiers_are_warned_of(answer):
    rng = np.random.default_rng(5)
    rows = [[i, f"key{i}", round(x, 3)] for i, x in enumerate(rng.normal(size=30))]
    _, summary = answer(["", "key", "x"], rows)
    first, second, *others = summary["warnings"]
    assert all(words.startswith("Chains do not agree") for words in others)  # of 40 draws
    assert first.startswith("1 column of ")
    assert first.endswith("has no name and is called 'column 1'.")
    assert second.startswith("Columns 'column 1' and 'key' look like identifiers: every value differs. Leave them out")


def test_a_constant_column_is_named(answer):
    _, summary = answer(["a", "same"], [[i % 7, 3] for i in range(30)])
    assert summary["dropped"] == ["same"]
    assert any("constant column" in warning and "'same'" in warning for warning in summary["warnings"])
