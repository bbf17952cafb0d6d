"""The real command in its own process."""

import csv
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.volumes import long, mostly_long

from partita.runs.cluster import ClusterRequest
from partita.runs.manifest import MANIFEST

COMMAND = [sys.executable, "-c", "from partita.cli import main; main()"]


def run_process(command, **options):
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=480, **options)


def partita(*arguments, **options):
    return run_process([*COMMAND, *map(str, arguments)], **options)


def read_labels(folder):
    with open(folder / "labels.csv", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "deep" / "er"
    runs = [partita("demo", "--out", folder, "--seed", 5)]
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    runs.append(partita("demo", "--out", folder, "--seed", 5))
    return folder, runs, first


@long
@pytest.mark.xdist_group("mixed")
class TestDemo:
    def test_runs_twice_in_a_row_and_leaves_its_table_and_the_files_of_a_run(self, two_runs):
        folder, runs, first = two_runs
        assert [run.returncode for run in runs] == [0, 0], [run.stderr for run in runs]
        assert (
            {path.name for path in folder.iterdir()} == set(first) == {"customers.csv", MANIFEST, *ClusterRequest.files}
        )

    @long
    def test_is_cluster_on_its_own_table(self, two_runs, tmp_path):
        folder, _, _ = two_runs
        done = partita("cluster", folder / "customers.csv", "--seed", 5, "--out", tmp_path / "out")
        assert done.returncode == 0, done.stderr
        for name in ("labels.csv", "profile.csv"):
            assert (tmp_path / "out" / name).read_bytes() == (folder / name).read_bytes()

    def test_same_seed_same_answer(self, two_runs):
        folder, _, first = two_runs
        assert (folder / "labels.csv").read_bytes() == first["labels.csv"]
        times = [json.loads(first["summary.json"]), json.loads((folder / "summary.json").read_text())]
        assert {**times[0], "seconds": 0} == {**times[1], "seconds": 0}

    def test_summary_and_labels_say_the_same(self, two_runs):
        folder, _, _ = two_runs
        summary = json.loads((folder / "summary.json").read_text())
        rows = read_labels(folder)
        labels = np.array([int(row["label"]) for row in rows])
        confidence = np.array([float(row["confidence"]) for row in rows])
        assert 2 <= summary["n_clusters"] <= 8
        assert [int(row["row"]) for row in rows] == list(range(summary["n_objects"]))
        assert np.bincount(labels).tolist() == summary["sizes"]
        assert summary["n_clusters"] == len(set(labels.tolist())) == len(summary["sizes"])
        assert summary["n_confident"] == (confidence >= 0.9).sum()
        assert all(row["label"] != row["runner_up"] for row in rows)
        assert sum(summary["n_clusters_probabilities"].values()) == pytest.approx(1.0, abs=1e-4)
        assert summary["seed"] == 5
        assert {"converged", "verdict", "seconds", "version"} <= summary.keys()

    def test_the_picture_is_a_png(self, two_runs):
        assert (two_runs[0] / "coclustering.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")

    def test_the_words_say_what_the_files_say(self, two_runs):
        folder, runs, _ = two_runs
        summary = json.loads((folder / "summary.json").read_text())
        said = runs[1].stdout
        assert "customers.csv: 300 rows, 7 columns" in said
        assert f"{summary['n_clusters']} groups of {', '.join(map(str, summary['sizes']))} rows" in said
        assert f"{summary['n_confident']} of 300 rows are placed with confidence 0.9 or more" in said
        assert summary["verdict"] in said
        assert said.count("\n  group ") == summary["n_clusters"]
        assert str(folder) in said
        assert "Traceback" not in runs[1].stderr


@pytest.mark.parametrize("below", [pytest.param(".", marks=long), "child"])
def test_an_output_folder_that_cannot_be_gets_one_sentence(tmp_path, below):
    file = tmp_path / "taken"
    file.write_text("mine")
    run = partita("demo", "--out", file / below)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.startswith("Cannot write to ")
    assert run.stderr.count("\n") == 1
    assert "--out" in run.stderr
    assert file.read_text() == "mine"


@mostly_long
@pytest.mark.parametrize("wrong", [["demo", "--sed", "1"], ["demo", "--seed", "-1"], ["demmo"]])
def test_what_is_not_understood_exits_2_without_a_traceback(tmp_path, wrong):
    run = partita(*wrong, cwd=tmp_path)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_names_the_command_and_starts_fast(tmp_path):
    started = time.perf_counter()
    run = partita("--help", cwd=tmp_path)
    assert time.perf_counter() - started < 1.5
    assert run.returncode == 0
    assert "demo" in run.stdout


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_words_alone_import_no_compiled_code_and_no_plotting(word):
    code = (
        "import sys\nfrom partita.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'numba', 'numpy', 'scipy', 'sklearn', 'matplotlib', 'narwhals'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    run = run_process([sys.executable, "-c", code, word])
    assert run.returncode == 0, run.stderr


def test_version_is_the_package_s():
    from partita import __version__

    assert partita("--version").stdout == f"partita {__version__}\n"


def test_the_installed_script_is_this_command():
    script = Path(sys.executable).with_name("partita")
    run = run_process([script, "--version"])
    assert run.returncode == 0
    assert run.stdout.startswith("partita ")


def test_the_table_has_what_the_demo_says(tmp_path):
    from partita.runs.demo import CATEGORICAL, NUMERIC, customers, write_customers
    from partita.table import Table

    table = customers()
    gaps = [column.astype(object) for column in table.values()]
    n_missing = sum(cell is None or cell != cell for column in gaps for cell in column)  # noqa: PLR0124
    assert list(table) == [*NUMERIC, *CATEGORICAL]
    assert 0.03 < n_missing / (300 * len(table)) < 0.07
    for name, (categories, _) in CATEGORICAL.items():
        assert {cell for cell in table[name] if cell is not None} == set(categories)
    of_columns = Table.read(np.column_stack(gaps))
    write_customers(tmp_path / "customers.csv")
    of_file = Table.read(tmp_path / "customers.csv")
    for block in ("numeric", "codes", "counts"):
        np.testing.assert_array_equal(getattr(of_file, block), getattr(of_columns, block))
