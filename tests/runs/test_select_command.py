"""partita select: groups with the columns that define them, by the command."""

import csv
import json
import shutil

import numpy as np
import pytest

import partita as package
from partita.means import CRAFT
from partita.runs.manifest import MANIFEST
from partita.runs.select import in_options
from partita.table import read_file

FILES = ["labels.csv", "features.csv", "summary.json", "model.partita", "features.png"]
TRUTH = np.repeat([0, 1, 2], [30, 20, 10])
QUICK = ["--n-init", "2", "--clusters-hint", "3"]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def about(folder):
    return json.loads((folder / "summary.json").read_text())


def labels_in(folder):
    return [int(row["label"]) for row in rows_of(folder / "labels.csv")]


@pytest.fixture
def file(tmp_path):
    """60 animals of three kinds: text, dates, flags, gaps, a positive number, a constant, noise, and a comment."""
    rng = np.random.default_rng(0)
    columns = {
        "id": [f"a{i}" for i in range(60)],
        "weight": np.round(np.array([4.0, 20.0, 1.0])[TRUTH] * np.exp(rng.normal(0.0, 0.1, 60)), 3),
        "born": np.datetime64("2020-01-01") + (300 * (TRUTH == 1) + rng.integers(0, 90, 60)).astype("timedelta64[D]"),
        "flies": (TRUTH == 2).astype(int),
        "coat": np.where(TRUTH == 2, "feathers", "fur"),
        "name": rng.choice(["Leo", "Max", "Mia"], 60),
        "noise": np.round(rng.normal(size=60), 3),
        "planet": ["earth"] * 60,
        "comment": rng.choice(["good", "very good"], 60),
    }
    cells = list(zip(*(map(str, column) for column in columns.values())))
    lines = [
        ",".join(columns),
        *(",".join("" if (i % 9, j) == (4, 1) else c for j, c in enumerate(row)) for i, row in enumerate(cells)),
    ]
    path = tmp_path / "animals.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def run(file, partita, tmp_path):
    """A run, and what it said."""
    done = partita(
        "select", file, "--id", "id", "--ignore", "comment", "--out", tmp_path / "out", "--share", "0.5", *QUICK
    )
    assert (done.code, done.err) == (0, "")
    return tmp_path / "out", done.out


def model_of(file, **options):
    frame = read_file(file).drop_columns(["id", "comment"])
    with pytest.warns(UserWarning, match="constant column"):
        return CRAFT(n_clusters_hint=3, n_init=2, random_state=0, **options).fit(frame)


def test_the_files_are_what_python_finds(run, file):
    out, _ = run
    model = model_of(file)
    assert {path.name for path in out.iterdir()} == {MANIFEST, *FILES}
    rows = rows_of(out / "labels.csv")
    assert list(rows[0]) == ["id", "label"]
    assert [row["id"] for row in rows] == [f"a{i}" for i in range(60)]
    assert labels_in(out) == model.labels_.tolist()
    back = package.load(out / "model.partita")
    assert isinstance(back, CRAFT)
    np.testing.assert_array_equal(back.gains_, model.gains_)
    assert (out / "features.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_features_hold_every_column_in_every_cluster(run, file):
    out, _ = run
    model, table = model_of(file), rows_of(file)
    rows = rows_of(out / "features.csv")
    columns = ["weight", "born", "flies", "coat", "name", "noise"]
    assert list(rows[0]) == ["cluster", "column", "kind", "selected", "gain", "category", "here", "elsewhere"]
    assert [(int(row["cluster"]), row["column"]) for row in rows] == [(k, name) for k in range(3) for name in columns]
    used = [model.table_.names.index(name) for name in columns]
    assert [row["selected"] == "True" for row in rows] == model.features_[:, used].ravel().tolist()
    gains = [float(row["gain"]) for row in rows]
    np.testing.assert_allclose(gains, model.gains_[:, used].ravel(), atol=1e-6)
    labels = np.array(labels_in(out))
    for row in rows:
        mine = labels == int(row["cluster"])
        cells = np.array([line[row["column"]] for line in table])
        if row["kind"] == "categorical":
            shares = [(cells[side] == row["category"]).mean() for side in (mine, ~mine)]
            np.testing.assert_allclose([float(row["here"]), float(row["elsewhere"])], shares, rtol=1e-6)
        elif row["kind"] == "numeric":
            means = [cells[side & (cells != "")].astype(float).mean() for side in (mine, ~mine)]
            np.testing.assert_allclose([float(row["here"]), float(row["elsewhere"])], means, rtol=1e-6)
        else:
            assert row["here"][:2] == "20"


def test_the_words_and_the_summary(run):
    out, said = run
    summary, sizes = about(out), np.bincount(labels_in(out))
    assert "\n  constant, left out: planet\n  ignored: comment\n  names the rows: id\n" in said
    assert f"\n3 groups of {sizes[0]}, {sizes[1]}, {sizes[2]} rows. --clusters-hint asks for 3: a group costs " in said
    assert "\nEach group selects 3 of 6 columns" in said
    assert "\nWhat each group has selected, by what it saves (in brackets: elsewhere):\n  group 0, " in said
    assert "\n  group 2, 10 rows: " in said
    assert said.endswith(f"\nWritten to {out}: {', '.join(FILES)}.\n")
    assert (summary["n_objects"], summary["n_empty"], summary["sizes"]) == (60, 0, sizes.tolist())
    assert (summary["n_clusters"], summary["n_clusters_probabilities"], summary["n_confident"]) == (3, None, None)
    assert [len(names) for names in summary["selected"]] == [3, 3, 3]
    assert summary["columns"]["flies"] == "categorical"
    assert summary["dropped"] == ["planet"]
    assert summary["penalty"] > 0.0
    assert (summary["request"]["share"], summary["request"]["clusters_hint"], summary["seed"]) == (0.5, 3, 0)


def test_flags_may_be_told_to_be_numbers_and_positive_numbers_have_geometric_means(file, partita, tmp_path):
    told = ["--types", "flies=numeric,weight=positive", "--missing", "name=Leo"]
    done = partita("select", file, "--id", "id", "--out", tmp_path / "out", *told, *QUICK)
    assert done.code == 0, done.err
    kinds = about(tmp_path / "out")["columns"]
    assert (kinds["flies"], kinds["weight"], kinds["name"]) == ("numeric", "positive", "categorical")
    schema = package.load(tmp_path / "out" / "model.partita").table_.schema
    assert next(column for column in schema.used if column.name == "name").levels == ("Max", "Mia")
    labels = np.array(labels_in(tmp_path / "out"))
    weights = np.array([line["weight"] for line in rows_of(file)])
    logs = np.log(weights[(labels == 0) & (weights != "")].astype(float))
    row = next(row for row in rows_of(tmp_path / "out" / "features.csv") if row["column"] == "weight")
    assert float(row["here"]) == pytest.approx(np.exp(logs.mean()), rel=1e-6)


def test_a_table_without_groups_says_so(partita, tmp_path):
    cells = np.random.default_rng(0).normal(size=(80, 3))
    np.savetxt(tmp_path / "none.csv", cells, delimiter=",", header="a,b,c", comments="")
    done = partita("select", tmp_path / "none.csv", "--n-init", "2", "--out", tmp_path / "out")
    assert "\n1 group of 80 rows. Nothing in this table tells rows apart by columns that are independent" in done.out
    assert "\nOne group: what it has selected says nothing.\n" in done.out
    assert "What each group has selected" not in done.out
    assert {row["elsewhere"] for row in rows_of(tmp_path / "out" / "features.csv")} == {""}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--penalty", "30"], "A group costs 30 nats, as --penalty says."),
        (
            [],
            "The classification likelihood has chosen how many, with columns independent within groups: where they"
            " depend on each other, one group may be several here. --clusters-hint asks for another number.",
        ),
        (["--budget", "approximate"], "Each group selects "),
    ],
)
def test_who_has_said_how_many(file, partita, tmp_path, options, words):
    done = partita("select", file, "--id", "id", "--n-init", "3", "--out", tmp_path / "out", *options)
    assert done.code == 0, done.err
    assert words in done.out


def test_new_rows_get_labels_alone(run, file, partita, tmp_path):
    out, _ = run
    done = partita("predict", out, file)
    assert done.code == 0, done.err
    sizes = np.bincount(labels_in(out))
    assert done.out.startswith(f"60 rows: {sizes[0]} in group 0, {sizes[1]} in group 1, {sizes[2]} in group 2.\n")
    assert "probability" not in done.out
    rows = rows_of(out / "predictions.csv")
    assert list(rows[0]) == ["id", "label"]
    assert [int(row["label"]) for row in rows] == labels_in(out)
    odd = tmp_path / "odd.csv"
    odd.write_text(file.read_text().replace("feathers", "scales"))
    assert "scales" in partita("predict", out, odd, "--unseen", "error").err


def test_it_does_not_explain_and_says_who_does(run, partita):
    out, _ = run
    done = partita("explain", out, "a3")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert (
        "is a run of CRAFT, which does not say why an object is where it is: a run of 'partita cluster' does."
        in done.err
    )


def test_by_default_it_lies_beside_the_run_of_cluster(file, partita, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert partita("select", file, "--id", "id", "--quiet", *QUICK).out == ""
    assert about(tmp_path / "partita-animals-select")["n_clusters"] == 3
    shutil.copytree(tmp_path / "partita-animals-select", tmp_path / "partita-animals")
    assert "holds the result of 'partita select'" in partita("cluster", file, "--id", "id").err


def test_the_same_seed_gives_the_same_bytes(run, file, partita, tmp_path):
    out, _ = run
    partita("select", file, "--id", "id", "--ignore", "comment", "--out", tmp_path / "again", *QUICK)
    for name in ("labels.csv", "features.csv", "model.partita", "features.png"):
        assert (out / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--share", "0"], "--share must be above 0 and at most 1; got 0."),
        (["--share", "1.5"], "--share must be above 0 and at most 1; got 1.5."),
        (["--penalty", "-3"], "--penalty must be a positive number of nats; got -3."),
        (["--penalty", "nan"], "--penalty must be a positive number of nats; got nan."),
        (
            ["--penalty", "3", "--clusters-hint", "2"],
            "--penalty and --clusters-hint both say how many groups there are",
        ),
        (["--budget", "aproximate"], "--budget must be one of 'fixed', 'approximate'; got 'aproximate'. Did you mean"),
        (["--clusters-hint", "0"], "Invalid value for '--clusters-hint'"),
        (["--clusters-hint", "61"], "--clusters-hint 61 is more than the 60 different rows of the table."),
        (["--n-init", "0"], "Invalid value for '--n-init'"),
        (["--types", "flies=count"], "--types with count is for 'partita cluster': here counts are numeric."),
        (["--types", "nois=numeric"], "--types"),
        (["--ignore", "nois"], "--ignore names 'nois', which is no column of the table. Did you mean 'noise'?"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(file, partita, tmp_path, options, words):
    done = partita("select", file, *options, "--id", "id", "--quiet", "--out", tmp_path / "out")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("raise it, or say n_clusters_hint.", "raise it, or say --clusters-hint."),
        ("n_init=3 of X (n_samples=9).", "--n-init 3 of the table."),
        ("No penalty was found.", "No penalty was found."),
    ],
)
def test_what_the_library_says_is_in_the_words_of_the_command(said, words):
    assert in_options(said) == words
