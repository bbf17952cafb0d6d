"""partita predict: rows never seen, labelled by an earlier run."""

import csv
import re

import numpy as np
import pytest
from tests.runs.conftest import fit, two_groups, write_run

import partita as package
from partita.runs.cluster import ClusterRequest

pytestmark = pytest.mark.xdist_group("mixed")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict")
    (folder / "things.csv").write_text("\n".join(two_groups()) + "\n")
    request = ClusterRequest(folder / "things.csv", {}, id="id", chains=2, draws=200)
    return write_run(fit(request), folder / "out")


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_labels_probability_and_novelty(run, partita, tmp_path):
    (tmp_path / "new.csv").write_text("colour,size,id\nred,11,a\nblue,52,b\n,49,c\ngreen,900,d\n")
    done = partita("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "p.csv")
    assert list(rows[0]) == ["id", "label", "probability", "runner_up", "novelty"]
    assert [row["id"] for row in rows] == list("abcd")
    assert [row["label"] for row in rows[:3]] == ["0", "1", "1"]
    assert float(rows[3]["novelty"]) > 0.9
    assert float(rows[0]["novelty"]) < 0.1
    assert "4 rows: 1 in group 0, 3 in group 1." in done.out or "4 rows: 2 in group 0, 2 in group 1." in done.out
    assert "1 row probably belongs to a group not seen before (novelty 0.5 or more)." in done.out
    assert str(tmp_path / "p.csv") in done.out


def test_the_numbers_are_those_of_the_library(run, partita, tmp_path):
    (tmp_path / "new.csv").write_text("size,colour\n30,red\n31,blue\n")
    assert partita("predict", run, tmp_path / "new.csv", "--quiet").out == ""
    rows = rows_of(run / "predictions.csv")
    assert [row["row"] for row in rows] == ["0", "1"]
    model = package.load(run / "posterior.partita")
    probabilities = model.predict_proba(tmp_path / "new.csv")
    np.testing.assert_allclose([float(row["probability"]) for row in rows], probabilities.max(axis=1), atol=5.1e-7)
    np.testing.assert_allclose(
        [float(row["novelty"]) for row in rows], model.novelty(tmp_path / "new.csv"), atol=5.1e-7
    )


def test_text_that_looks_like_numbers_in_the_new_table_stays_text(partita, tmp_path):
    lines = [line.replace("red", "1").replace("blue", "two") for line in two_groups()]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    arguments = ["--chains", "1", "--draws", "20", "--id", "id", "--quiet"]
    assert partita("cluster", tmp_path / "t.csv", "--out", tmp_path / "out", *arguments).code == 0
    (tmp_path / "new.csv").write_text("size,colour\n10,1\n11,1\n")
    done = partita("predict", tmp_path / "out", tmp_path / "new.csv")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("size\n10\n", r"1 columns?, but 2 were seen in fit \(missing: 'colour'\)"),
        ("size,color\n10,red\n", r"lacks columns seen in fit: 'colour'"),
        ("size,colour\nlarge,red\n", r"Column 'size' is to hold numbers, but row 0 holds the text 'large'"),
        ("size,colour\n", "has a header but no rows"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_in_one_sentence(run, partita, tmp_path, text, words):
    (tmp_path / "new.csv").write_text(text)
    done = partita("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1

    assert re.search(words, done.err), done.err
    assert not (tmp_path / "p.csv").exists()


def test_values_and_columns_never_seen_are_left_out_and_named(run, partita, tmp_path):
    (tmp_path / "new.csv").write_text("weight,size,colour,shape\n3,10,pink,a\n4,50,blue,b\n5,30,grey,c\n")
    (tmp_path / "gaps.csv").write_text("size,colour\n10,\n50,blue\n30,\n")
    done = partita("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert (done.code, done.err) == (0, "")
    assert (
        "\nWarning: 2 columns not seen in fit are ignored: 'weight', 'shape'.\nWarning: 2 cells hold values not seen "
        "in fit and count as missing: 'pink', 'grey' in column 'colour' (rows 0, 2). To refuse them, set "
        "unseen='error' (command line: --unseen error).\n"
    ) in done.out
    assert partita("predict", run, tmp_path / "gaps.csv", "--out", tmp_path / "q.csv").code == 0
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "q.csv").read_bytes()


def test_values_never_seen_are_refused_on_demand(run, partita, tmp_path):
    (tmp_path / "new.csv").write_text("size,colour\n10,pink\n")
    done = partita("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv", "--unseen", "error")
    assert (done.code, done.out) == (2, "")
    assert "Column 'colour' has 1 value not seen in fit: 'pink' (row 0)." in done.err
    done = partita("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv", "--unseen", "eror")
    assert "--unseen must be one of 'missing', 'error'; got 'eror'. Did you mean 'error'?" in done.err
    assert not (tmp_path / "p.csv").exists()


def test_rows_without_any_value_are_flagged_and_a_folder_is_no_file(run, partita, tmp_path):
    (tmp_path / "new.csv").write_text("size,colour\n10,red\n,\n")
    done = partita("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert done.code == 0
    assert "1 row without any value: the prior's answer." in done.out
    assert [row["empty"] for row in rows_of(tmp_path / "p.csv")] == ["False", "True"]
    done = partita("predict", run, tmp_path / "new.csv", "--out", tmp_path)
    assert done.code == 2
    assert "is a folder: name a file in it with --out." in done.err


def test_a_folder_that_is_no_run(partita, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("size,colour\n10,red\n")
    for folder, words in (
        (
            tmp_path / "none",
            "does not exist: RUN is the folder that 'partita cluster', 'partita select' or 'partita consensus' wrote",
        ),
        (new, "is a file, not a folder"),
        (tmp_path, "has no manifest.json: RUN is the folder"),
    ):
        done = partita("predict", folder, new)
        assert done.code == 2
        assert words in done.err
