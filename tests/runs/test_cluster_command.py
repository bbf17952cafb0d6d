"""partita cluster: what it prints and what it writes."""

import csv
import gzip
import json

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.runs.conftest import process, two_groups
from tests.volumes import long, mostly_long

import partita as package
from partita.runs.manifest import MANIFEST

FILES = {"labels.csv", "summary.json", "profile.csv", "columns.csv", "posterior.partita", "coclustering.png"}
QUICK = ["--chains", "2", "--draws", "30"]
pytestmark = pytest.mark.xdist_group("mixed")


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """One run in its own process, with an id column, on a pipe."""
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "things.csv").write_text("\n".join(two_groups()) + "\n")
    done = process("cluster", "things.csv", "--id", "id", "--draws", "300", "--seed", "4", cwd=folder)
    return folder / "partita-things", done


class TestRun:
    def test_ends_well_and_writes_all_files(self, finished):
        folder, done = finished
        assert done.returncode == 0, done.stderr
        assert {path.name for path in folder.iterdir()} == FILES | {MANIFEST}

    def test_shows_no_progress_on_a_pipe(self, finished):
        assert "sweep" not in finished[1].stdout + finished[1].stderr

    def test_says_what_it_understood_before_the_answer(self, finished):
        said = finished[1].stdout
        assert "things.csv: 60 rows, 2 columns, no cell missing." in said
        assert "numbers: size" in said
        assert "categories: colour (3)" in said
        assert "names the rows: id" in said
        assert said.index("categories:") < said.index("2 groups of 30, 30 rows")

    def test_says_groups_probabilities_and_confident_rows(self, finished):
        folder, done = finished
        summary = json.loads((folder / "summary.json").read_text())
        chance = summary["n_clusters_probabilities"]["2"]
        assert f"How many groups there are: 2 with probability {chance:.2f}" in done.stdout
        assert f"{summary['n_confident']} of 60 rows are placed with confidence 0.9 or more" in done.stdout
        assert summary["verdict"] in done.stdout
        assert done.stdout.count("\n  group ") == 2
        assert "colour = red" in done.stdout
        for name in FILES:
            assert name in done.stdout

    def test_labels_have_ids_labels_confidence_and_runner_up(self, finished):
        rows = rows_of(finished[0] / "labels.csv")
        assert list(rows[0]) == ["id", "label", "confidence", "runner_up"]
        assert [row["id"] for row in rows] == [f"c{i}" for i in range(60)]
        assert [int(row["label"]) for row in rows] == [i % 2 for i in range(60)]
        assert all(0.5 < float(row["confidence"]) <= 1 for row in rows)
        assert all(row["label"] != row["runner_up"] for row in rows)

    def test_summary_agrees_with_labels(self, finished):
        summary = json.loads((finished[0] / "summary.json").read_text())
        rows = rows_of(finished[0] / "labels.csv")
        assert summary["sizes"] == np.bincount([int(row["label"]) for row in rows]).tolist()
        assert summary["n_clusters"] == 2
        assert summary["n_confident"] == sum(float(row["confidence"]) >= 0.9 for row in rows)
        assert summary["columns"] == {"size": "numeric", "colour": "categorical"}
        assert summary["request"]["id"] == "id"
        assert summary["seed"] == 4
        assert {"converged", "verdict", "warnings", "seconds", "version", "stopped"} <= summary.keys()

    def test_profile_is_in_the_table_s_units(self, finished):
        rows = rows_of(finished[0] / "profile.csv")
        means = {int(row["cluster"]): float(row["mean"]) for row in rows if row["column"] == "size"}
        assert means[0] == pytest.approx(10, abs=1.5)
        assert means[1] == pytest.approx(50, abs=1.5)
        shares = {(int(r["cluster"]), r["category"]): float(r["share"]) for r in rows if r["column"] == "colour"}
        assert shares[0, "red"] > 0.7
        assert shares[1, "red"] < 0.3

    def test_the_posterior_file_holds_model_and_draws(self, finished):
        model = package.load(finished[0] / "posterior.partita")
        labels = [int(row["label"]) for row in rows_of(finished[0] / "labels.csv")]
        assert model.labels_.tolist() == labels
        assert package.Posterior.load(finished[0] / "posterior.partita").n_draws == 1200

    def test_the_picture_is_a_png(self, finished):
        assert (finished[0] / "coclustering.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@long
def test_every_form_of_the_same_table_gives_the_same_labels(tmp_path, partita):
    lines = two_groups()
    frame = pyarrow.csv.read_csv(pyarrow.BufferReader("\n".join(lines).encode()))
    (tmp_path / "comma.csv").write_text("\n".join(lines))
    (tmp_path / "semicolon.csv").write_text("\n".join(line.replace(",", ";") for line in lines))
    (tmp_path / "tab.tsv").write_text("\r\n".join(line.replace(",", "\t") for line in lines))
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    pyarrow.parquet.write_table(frame, tmp_path / "table.parquet")
    found = {}
    for name in ("comma.csv", "semicolon.csv", "tab.tsv", "packed.csv.gz", "table.parquet"):
        out = tmp_path / f"out-{name}"
        done = partita("cluster", tmp_path / name, "--id", "id", "--out", out, *QUICK)
        assert done.code == 0, done.err
        found[name] = (out / "labels.csv").read_text()
    assert len(set(found.values())) == 1


def test_the_same_seed_gives_the_same_answer(table, partita, tmp_path):
    for out in ("one", "two"):
        assert partita("cluster", table, "--out", tmp_path / out, "--ignore", "id", *QUICK).code == 0
    for name in ("labels.csv", "profile.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert rows_of(tmp_path / "one" / "labels.csv")[0]["row"] == "0"


def test_types_ignored_columns_and_priors_take_effect(table, partita, tmp_path):
    lines = table.read_text().splitlines()
    coded = ["code,visits," + lines[0], *(f"{i % 3},{i % 5},{line}" for i, line in enumerate(lines[1:]))]
    table.write_text("\n".join(coded))
    arguments = ["--types", "code=categorical,visits=count", "--ignore", "id", "--prior", "finite-mixtures"]
    done = partita("cluster", table, "--out", tmp_path / "out", "--expected-clusters", "3", *arguments, *QUICK)
    assert done.code == 0, done.err
    assert "counts: visits" in done.out
    assert "ignored: id" in done.out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["columns"] == {"code": "categorical", "visits": "count", "size": "numeric", "colour": "categorical"}
    model = package.load(tmp_path / "out" / "posterior.partita")
    assert type(model.prior).__name__ == "FiniteMixtures"
    assert model.prior.expected_clusters(60) == pytest.approx(3, rel=1e-6)
    assert (model.chains, model.draws) == (2, 30)


def test_types_by_pattern_spare_id_and_ignored_columns(table, partita, tmp_path):
    lines = table.read_text().splitlines()
    coded = ["q1,q2,age," + lines[0], *(f"{i % 3},{i % 2},{i % 7},{line}" for i, line in enumerate(lines[1:]))]
    table.write_text("\n".join(coded))
    arguments = ["--types", "*=categorical,size,age=numeric", "--id", "id", "--ignore", "colour"]
    done = partita("cluster", table, "--out", tmp_path / "out", *arguments, *QUICK)
    assert done.code == 0, done.err
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["columns"] == {"q1": "categorical", "q2": "categorical", "age": "numeric", "size": "numeric"}
    assert summary["request"]["types"] == {"*": "categorical", "size": "numeric", "age": "numeric"}


def test_values_that_stand_for_missing_cells(table, partita, tmp_path):
    header, *lines = table.read_text().splitlines()
    rows = [line.split(",") for line in lines]
    for i, row in enumerate(rows):
        row[1] = "-999" if i % 10 == 0 else row[1]
        row[2] = "none told" if i % 15 == 0 else row[2]
    table.write_text("\n".join([header, *map(",".join, rows)]))
    done = partita("cluster", table, "--out", tmp_path / "one", "--id", "id", *QUICK)
    assert "Warning: Far from all other values lies -999 in column 'size' (6 cells; " in done.out
    assert "pass missing=-999 (command line: --missing -999)." in done.out
    arguments = ["--id", "id", "--missing", "-999", "--missing", "colour=none told", *QUICK]
    done = partita("cluster", table, "--out", tmp_path / "two", *arguments)
    assert done.code == 0, done.err
    assert "60 rows, 2 columns, 10 of 120 cells missing (8%)." in done.out
    assert "Far from" not in done.out
    (tmp_path / "gaps.csv").write_text(table.read_text().replace("-999", "").replace("none told", ""))
    done = partita("cluster", tmp_path / "gaps.csv", "--out", tmp_path / "three", "--id", "id", *QUICK)
    assert (tmp_path / "two" / "labels.csv").read_bytes() == (tmp_path / "three" / "labels.csv").read_bytes()
    for run, new in (("two", table), ("three", tmp_path / "gaps.csv")):
        assert partita("predict", tmp_path / run, new).code == 0
    predictions = [(tmp_path / run / "predictions.csv").read_bytes() for run in ("two", "three")]
    assert predictions[0] == predictions[1]


def test_repeated_ids_and_columns_without_a_value_have_a_line_each(table, partita, tmp_path):
    header, *lines = table.read_text().splitlines()
    lines = [line.replace("c3,", "c1,").replace("c5,", "c1,").replace("c7,", "c2,") for line in lines]
    table.write_text("\n".join([f"{header},none,same", *(f"{line},,7" for line in lines)]))
    done = partita("cluster", table, "--out", tmp_path / "out", "--id", "id", *QUICK)
    assert done.code == 0, done.err
    assert "\n  constant, left out: same\n  without any value, left out: none\n" in done.out
    assert "\nWarning: Dropped 1 column without any value: 'none'.\n" in done.out
    assert (
        "\nWarning: 2 ids of column 'id' name several rows, 5 in all ('c1', 'c2'): 'partita explain' takes such a row "
        "by its --number.\n"
    ) in done.out


def test_quiet_prints_nothing(table, partita, tmp_path):
    done = partita("cluster", table, "--out", tmp_path / "out", "--quiet", *QUICK)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES | {MANIFEST}


def test_warnings_say_what_to_do(table, partita, tmp_path):
    done = partita("cluster", table, "--out", tmp_path / "out", "--chains", "2", "--draws", "6")
    assert done.code == 0
    assert "Warning: Column 'id' looks like an identifier: every value differs." in done.out
    assert "\nMore draws may help: --draws with a number above 6, or auto.\n" in done.out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert any("looks like an identifier" in warning for warning in summary["warnings"])


def test_a_row_without_cells_is_flagged(table, partita, tmp_path):
    table.write_text(table.read_text() + "c60,,\n")
    done = partita("cluster", table, "--id", "id", "--out", tmp_path / "out", *QUICK)
    assert done.code == 0
    assert "no observed cell (row 60)" in done.out
    rows = rows_of(tmp_path / "out" / "labels.csv")
    assert [row["empty"] for row in rows[-2:]] == ["False", "True"]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["n_empty"] == 1


@mostly_long
@pytest.mark.parametrize(
    "ids",
    [
        ["12345678901234567890", "12345678901234567891", "3"],
        ["1.10", "1e1", "2e2"],
        ["NA", "007", ""],
        ["x y", "a,b", 'say "so"'],
    ],
)
def test_ids_come_back_as_they_are(partita, tmp_path, ids):
    rows = [["id", "x"], *([name, value] for name, value in zip(ids, (1, 2, 9)))]
    with open(tmp_path / "t.csv", "w", newline="") as file:
        csv.writer(file).writerows(rows)
    for command in (["cluster", tmp_path / "t.csv", "--id", "id", *QUICK], ["predict"]):
        if command == ["predict"]:
            command += [tmp_path / "out", tmp_path / "t.csv", "--out", tmp_path / "out" / "labels2.csv"]
        else:
            command += ["--out", tmp_path / "out"]
        assert partita(*command).code == 0
    for name in ("labels.csv", "labels2.csv"):
        assert [row["id"] for row in rows_of(tmp_path / "out" / name)] == ids


def test_ids_of_parquet_are_written_in_full(partita, tmp_path):
    ids = [1234567890.0, None, 1234567892.0]
    pyarrow.parquet.write_table(pyarrow.table({"id": ids, "x": [1.0, 2.0, 9.0]}), tmp_path / "t.parquet")
    assert partita("cluster", tmp_path / "t.parquet", "--id", "id", "--out", tmp_path / "out", *QUICK).code == 0
    assert [row["id"] for row in rows_of(tmp_path / "out" / "labels.csv")] == ["1234567890", "", "1234567892"]


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("sales.2023.csv", "partita-sales.2023"),
        ("sales.2024.csv.gz", "partita-sales.2024"),
        ("a b.parquet", "partita-a b"),
        (".csv", "partita-table"),
    ],
)
def test_the_default_folder_is_named_after_the_table(name, folder):
    from pathlib import Path

    from partita.runs.command import default_folder

    assert default_folder(Path("some") / name) == Path(folder)


def test_an_id_column_with_the_name_of_a_result(table, partita, tmp_path):
    table.write_text(table.read_text().replace("id,", "label,", 1))
    assert partita("cluster", table, "--id", "label", "--out", tmp_path / "out", *QUICK).code == 0
    assert list(rows_of(tmp_path / "out" / "labels.csv")[0]) == ["id", "label", "confidence", "runner_up"]
