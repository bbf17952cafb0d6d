"""partita cluster: pieces and groups, a number of groups, and what the draws must say for one."""

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score
from tests.volumes import long

import partita as package

pytestmark = [pytest.mark.xdist_group("mixed"), long]
FAST = ("--engine", "vb", "--draws", "50")


@pytest.fixture(scope="module")
def moons(tmp_path_factory):
    rows, moon = make_moons(400, noise=0.06, random_state=0)
    path = tmp_path_factory.mktemp("moons") / "moons.csv"
    np.savetxt(path, rows, delimiter=",", header="x,y", comments="")
    return path, moon


def columns_in(folder):
    with open(folder / "labels.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def summary_in(folder):
    return json.loads((folder / "summary.json").read_text())


def test_pieces_form_groups_and_both_are_written(moons, partita, tmp_path):
    path, moon = moons
    done = partita("cluster", path, "--out", tmp_path / "out", *FAST)
    assert done.code == 0, done.err
    columns, summary = columns_in(tmp_path / "out"), summary_in(tmp_path / "out")
    n_pieces = summary["n_clusters"]
    assert n_pieces > 2
    assert f"{n_pieces} pieces form 2 groups of 200, 200 rows: joined until at most 3% of" in done.out
    assert adjusted_rand_score(moon, columns["group"]) > 0.98
    assert summary["group_sizes"] == np.bincount(columns["group"].astype(int)).tolist()
    assert np.all(columns["group_confidence"] >= columns["confidence"] - 1e-6)
    sure = int((columns["group_confidence"] >= 0.9).sum())
    assert f"{sure} of 400 rows are placed in their group with confidence 0.9 or more." in done.out
    assert all(len(text) <= 8 for text in map(str, columns["confidence"]))


def test_groups_are_merged_unasked_only_where_that_leaves_half_of_them(partita, tmp_path):
    """Two groups that overlap beside two that stand apart: 4 stay 4, as the draws hold them, and 3 can be asked for."""
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [3.7, 0.0], [0.0, 8.0], [8.0, 8.0]])
    rows = np.repeat(centers, 100, axis=0) + rng.normal(size=(400, 2))
    path = tmp_path / "rows.csv"
    np.savetxt(path, rows, delimiter=",", header="x,y", comments="")
    done = partita("cluster", path, "--out", tmp_path / "out", *FAST)
    assert summary_in(tmp_path / "out")["n_clusters"] == 4
    assert package.load(tmp_path / "out" / "posterior.partita").hierarchy().suggested == 3
    assert "pieces" not in done.out
    assert "group" not in columns_in(tmp_path / "out")
    asked = partita("cluster", path, "--groups", "3", "--out", tmp_path / "three", *FAST)
    assert "4 pieces form 3 groups of 200, 100, 100 rows." in asked.out


@long
def test_a_number_of_groups_or_none(moons, partita, tmp_path):
    path, _ = moons
    three = partita("cluster", path, "--groups", "3", "--out", tmp_path / "three", *FAST)
    assert "pieces form 3 groups of" in three.out
    assert "overlap" not in three.out
    assert columns_in(tmp_path / "three")["group"].max() == 2
    alone = partita("cluster", path, "--groups", "none", "--out", tmp_path / "alone", *FAST)
    assert "pieces" not in alone.out
    assert "group" not in columns_in(tmp_path / "alone")
    many = partita("cluster", path, "--groups", "99", "--out", tmp_path / "many", *FAST)
    assert many.code == 0
    assert "--groups 99 can only merge what was found: --n-clusters 99 asks for so many groups." in many.out


@long
def test_the_plain_wish_for_a_number(moons, partita, tmp_path):
    path, moon = moons
    done = partita("cluster", path, "--n-clusters", "2", "--out", tmp_path / "out", *FAST)
    assert done.code == 0, done.err
    model = package.load(tmp_path / "out" / "posterior.partita")
    assert model.groups_note_ in done.out
    assert "How many groups there are" not in done.out
    assert adjusted_rand_score(moon, columns_in(tmp_path / "out")["label"]) > 0.98


def test_what_the_draws_must_say_for_a_group_can_be_asked_for(table, partita, tmp_path):
    quick = ("--chains", "2", "--draws", "40", "--id", "id")
    asked = ("--loss", "binder", "--entropy", "1", "--min-size", "3", "--max-clusters", "n", "--min-support", "0")
    assert partita("cluster", table, "--out", tmp_path / "out", *quick, *asked).code == 0
    request = summary_in(tmp_path / "out")["request"]
    told = {name: request[name] for name in ("loss", "entropy", "min_size", "max_clusters", "min_support")}
    assert told == {"loss": "binder", "entropy": 1.0, "min_size": 3, "max_clusters": "n", "min_support": 0.0}
    model = package.load(tmp_path / "out" / "posterior.partita")
    assert (model.loss, model.entropy, model.min_size, model.max_clusters) == ("binder", 1.0, 3, "n")
    assert np.bincount(model.labels_).min() >= 3


def test_a_table_that_determines_no_groups_says_so_first(partita, tmp_path):
    cells = np.array(list("abcd"))[np.random.default_rng(5).integers(0, 4, (60, 5))]
    (tmp_path / "random.csv").write_text("a,b,c,d,e\n" + "\n".join(map(",".join, cells)) + "\n")
    done = partita("cluster", tmp_path / "random.csv", "--chains", "2", "--draws", "200", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    answer = done.out.split("\n\n")[1]
    assert answer.startswith("This table does not determine groups: two rows are together with probability 0.")
    assert "\n1 group of 60 rows." in answer
    summary = summary_in(tmp_path / "out")
    assert summary["diffuse"] is True
    assert summary["support"]["together"][0] < 0.5
    assert summary["support_cost"] >= 0.0


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--groups", "few", "--groups must be a whole number of at least 1, or 'auto', or 'none'; got 'few'."),
        ("--groups", "0", "--groups must be a whole number of at least 1, or 'auto', or 'none'; got '0'."),
        ("--max-clusters", "-1", "--max-clusters must be a whole number of at least 1, or 'n'; got '-1'."),
        ("--loss", "vii", "loss must be one of"),
        ("--entropy", "inf", "entropy must be a finite number, got inf."),
    ],
)
def test_wrong_wishes_are_refused_before_anything_runs(table, partita, tmp_path, option, value, words):
    done = partita("cluster", table, option, value, "--out", tmp_path / "out")
    assert done.code == 2
    assert words in done.err
    assert not (tmp_path / "out").exists()
