"""partita consensus --method: methods that are told the number of groups, by the command."""

import csv
import json
import sys
import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.volumes import long, mostly_long

import partita as package
from partita.consensus import NBCE, EvidenceAccumulation, LocallyWeighted
from partita.consensus.ensemble_estimator import METHODS
from partita.plots import coclustering
from partita.runs import consensus_methods
from partita.runs.manifest import MANIFEST

FILES = ["labels.csv", "agreement.csv", "summary.json", "model.partita", "coclustering.png"]
QUICK = ["--chains", "2", "--draws", "40"]
TRUTH = np.repeat([0, 1, 2], [30, 20, 10])
pytestmark = [
    pytest.mark.xdist_group("consensus"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def about(folder):
    return json.loads((folder / "summary.json").read_text())


def labels_in(folder):
    return [int(row["label"]) for row in rows_of(folder / "labels.csv")]


@pytest.fixture
def file(tmp_path):
    """Five clusterings of 60 objects in three groups, with words for labels, gaps and a few errors."""
    rng = np.random.default_rng(0)
    columns = [
        np.where(rng.random(60) < 0.05, rng.choice(names, 60), np.array(names)[TRUTH])
        for names in (["1", "2", "3"], ["fig", "plum", "pear"], ["x", "y", "z"], ["u", "v", "w"], ["a", "b", "c"])
    ]
    columns[2] = np.where(rng.random(60) < 0.2, "", columns[2])
    lines = [
        "name,digits,fruit,gaps,more,last",
        *(",".join([f"o{i}", *cells]) for i, cells in enumerate(zip(*columns))),
    ]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def matrix(file):
    return np.array([list(row.values())[1:] for row in rows_of(file)], dtype=object)


def test_writes_what_the_method_has(file, partita, tmp_path):
    out = tmp_path / "out"
    done = partita("consensus", file, "--id", "name", "--method", "eac", "--clusters", "3", "--out", out)
    assert (done.code, done.err) == (0, "")
    assert {path.name for path in out.iterdir()} == {MANIFEST, *FILES}
    model = EvidenceAccumulation(n_clusters=3).fit(matrix(file))
    rows = rows_of(out / "labels.csv")
    assert list(rows[0]) == ["name", "label"]
    assert [row["name"] for row in rows] == [f"o{i}" for i in range(60)]
    assert labels_in(out) == model.labels_.tolist()
    agreement = rows_of(out / "agreement.csv")
    assert [row["clustering"] for row in agreement] == ["digits", "fruit", "gaps", "more", "last"]
    assert [float(row["nats"]) for row in agreement] == pytest.approx(model.base_agreement_, rel=1e-6)
    back = package.load(out / "model.partita")
    assert repr(back) == "EvidenceAccumulation(n_clusters=3, random_state=0)"
    assert back.labels_.tolist() == labels_in(out)
    assert (out / "coclustering.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_says_who_has_told_the_number(file, partita, tmp_path):
    done = partita("consensus", file, "--id", "name", "--method", "eac", "--clusters", "3", "--out", tmp_path / "out")
    sizes = about(tmp_path / "out")["sizes"]
    assert "\n  names the objects: name\n  method: eac, told 3 groups\n\n" in done.out
    assert (
        f"\n3 groups of {sizes[0]}, {sizes[1]}, {sizes[2]} objects. eac was told 3 groups by --clusters.\n" in done.out
    )
    assert "time:" not in done.out
    assert done.out.endswith(f"\nWritten to {tmp_path / 'out'}: {', '.join(FILES)}.\n")
    summary = about(tmp_path / "out")
    assert (summary["method"], summary["engine"]) == ("eac", None)
    assert (summary["n_clusters"], summary["n_clusters_told"], summary["told_by"]) == (3, 3, "clusters")
    assert (summary["n_objects"], summary["n_empty"], sum(summary["sizes"])) == (60, 0, 60)
    assert summary["n_clusters_probabilities"] is summary["n_confident"] is summary["converged"] is None
    assert summary["finder"] is None
    assert (summary["request"]["method"], summary["request"]["clusters"], summary["request"]["id"]) == (
        "eac",
        3,
        "name",
    )
    assert summary["warnings"] == []


def test_without_a_number_nbce_finds_it_and_is_named(file, partita, tmp_path):
    done = partita("consensus", file, "--id", "name", "--method", "lwgp", "--out", tmp_path / "out", *QUICK)
    assert done.code == 0, done.err
    assert "\n  method: lwgp, told the number of groups that nbce finds\n  time: at most 300 s" in done.out
    assert "lwgp was told 3 groups, which nbce finds (3 with probability " in done.out
    assert "; --clusters tells it another number.\n" in done.out
    summary = about(tmp_path / "out")
    assert (summary["n_clusters_told"], summary["told_by"], summary["engine"]) == (3, "nbce", "gibbs")
    finder = NBCE(chains=2, draws=40, random_state=0).fit(matrix(file))
    assert summary["finder"] == {
        "n_clusters_probabilities": {str(k): round(p, 6) for k, p in finder.posterior_.n_clusters().items()},
        "converged": finder.converged_,
        "verdict": finder.diagnostics_.verdict,
        "stopped": finder.posterior_.provenance["stopped"],
        "votes": round(finder.votes_, 6),
    }
    assert (summary["request"]["draws"], summary["request"]["clusters"]) == (40, None)
    plain = LocallyWeighted(n_clusters=3, random_state=0).fit(matrix(file))
    assert labels_in(tmp_path / "out") == plain.labels_.tolist()
    assert adjusted_rand_score(TRUTH, plain.labels_) > 0.9


def test_options_of_nbce_say_how_the_number_is_found(file, partita, tmp_path):
    arguments = ["--method", "hbgf", "--engine", "vb", "--components", "2", "--out", tmp_path / "out"]
    done = partita("consensus", file, "--ignore", "name", *arguments)
    assert done.code == 0, done.err
    assert (about(tmp_path / "out")["n_clusters_told"], about(tmp_path / "out")["engine"]) == (2, "vb")
    assert package.load(tmp_path / "out" / "model.partita").n_clusters == 2


@mostly_long
@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_has_an_answer_that_is_what_python_finds(file, partita, tmp_path, method):
    out = tmp_path / "out"
    done = partita(
        "consensus", file, "--id", "name", "--method", method, "--clusters", "3", "--out", out, "--seed", "4"
    )
    assert done.code == 0, done.err
    model = package.load(out / "model.partita")
    assert type(model) is METHODS[method]
    assert model.random_state == 4
    again = type(model)(**model.get_params()).fit(matrix(file))
    assert labels_in(out) == again.labels_.tolist()
    assert ("confidence" in rows_of(out / "labels.csv")[0]) == hasattr(model, "probabilities_")
    assert method in partita("consensus", "--help").out


def test_results_of_several_methods_lie_side_by_side(file, partita, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for method in ("eac", "hbgf"):
        assert partita("consensus", file, "--id", "name", "--method", method, "--clusters", "3").code == 0
        assert about(tmp_path / f"partita-votes-{method}")["method"] == method


def test_runs_with_other_files_are_not_mixed(file, partita, tmp_path):
    name = ["consensus", file, "--id", "name", "--out"]
    told = ["--method", "eac", "--clusters", "3"]
    assert partita(*name, tmp_path / "tree", *told).code == 0
    assert partita(*name, tmp_path / "tree", *told).code == 0
    for force in ([], ["--force"]):
        done = partita(*name, tmp_path / "tree", "--engine", "vb", *force)
        assert (done.code, done.out) == (2, "")
        assert "holds a run by another --method, whose model.partita would stay there: choose another" in done.err
    assert partita(*name, tmp_path / "nbce", "--engine", "vb").code == 0
    assert "whose posterior.partita would stay there" in partita(*name, tmp_path / "nbce", *told).err


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            "predict",
            "is a run of EvidenceAccumulation, which places no new objects: a run of 'partita consensus' without "
            "--method, or with --method bce or mm, does.",
        ),
        (
            "explain",
            "is a run of EvidenceAccumulation, which does not say why an object is where it is: a run of 'partita "
            "consensus' without --method does.",
        ),
    ],
)
def test_what_has_no_model_of_objects_says_so_in_one_sentence(file, partita, tmp_path, command, words):
    out = tmp_path / "out"
    partita("consensus", file, "--id", "name", "--method", "eac", "--clusters", "3", "--out", out)
    done = partita(command, out, file if command == "predict" else "o1")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert words in done.err
    assert not (out / "predictions.csv").exists()


def test_a_model_of_labels_places_new_objects_and_knows_no_novelty(file, partita, tmp_path):
    out = tmp_path / "out"
    partita("consensus", file, "--id", "name", "--method", "mm", "--clusters", "3", "--out", out)
    done = partita("predict", out, file)
    assert done.code == 0, done.err
    rows = rows_of(out / "predictions.csv")
    assert list(rows[0]) == ["name", "label", "probability", "runner_up"]
    assert [int(row["label"]) for row in rows] == labels_in(out)
    assert "novelty" not in done.out


def test_a_package_that_is_not_installed_is_named_with_the_way_round(file, partita, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    arguments = ["consensus", file, "--id", "name", "--method", "cspa", "--clusters", "3", "--out", tmp_path / "out"]
    done = partita(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "pip install 'partita[graph]', or use --solver spectral" in done.err
    assert not (tmp_path / "out").exists()
    assert partita(*arguments, "--solver", "spectral").code == 0
    assert package.load(tmp_path / "out" / "model.partita").solver == "spectral"


def test_warnings_of_the_method_are_shown_and_kept(partita, tmp_path):
    (tmp_path / "votes.csv").write_text("a,b\n" + "0,1\n" * 5 + "1,0\n" * 5)
    out = tmp_path / "out"
    done = partita("consensus", tmp_path / "votes.csv", "--method", "hbgf", "--clusters", "3", "--out", out)
    assert done.code == 0
    assert "\nWarning: Only 2 of 3 clusters: there are no more different objects.\n" in done.out
    assert about(tmp_path / "out")["warnings"] == ["Only 2 of 3 clusters: there are no more different objects."]
    assert (about(tmp_path / "out")["n_clusters"], about(tmp_path / "out")["n_clusters_told"]) == (2, 3)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("n_clusters=3 merges parts: n_clusters=5 may", "--clusters 3 merges parts: --clusters 5 may"),
        (
            "solver='metis' needs it: use solver='spectral', or BipartiteCut.",
            "--solver metis needs it: use --solver spec",
        ),
        (
            "BipartiteCut, LocallyWeighted(method='graph') and NBCE need none.",
            "--method hbgf, --method lwgp and --method ",
        ),
        ("No two objects share a label in 'BCE'.", "No two objects share a label in 'BCE'."),
    ],
)
def test_what_the_library_says_is_in_the_words_of_the_command(file, partita, tmp_path, monkeypatch, said, words):
    def fit(self, table):
        raise ValueError(said)

    monkeypatch.setattr(EvidenceAccumulation, "fit", fit)
    done = partita("consensus", file, "--method", "eac", "--clusters", "3", "--out", tmp_path / "out")
    assert (done.code, done.err[: len(words)]) == (2, words)


def test_warnings_are_in_the_words_of_the_command(file, partita, tmp_path, monkeypatch):
    fit = EvidenceAccumulation.fit

    def fit_and_warn(self, table):
        warnings.warn("n_clusters=3 is arbitrary.", UserWarning, stacklevel=2)
        return fit(self, table)

    monkeypatch.setattr(EvidenceAccumulation, "fit", fit_and_warn)
    done = partita("consensus", file, "--method", "eac", "--clusters", "3", "--out", tmp_path / "out")
    assert "\nWarning: --clusters 3 is arbitrary.\n" in done.out


def test_objects_and_clusterings_without_labels_are_in_the_picture(partita, tmp_path):
    (tmp_path / "votes.csv").write_text("a,b,c\n" + "0,1,\n" * 5 + "1,0,\n" * 4 + ",,\n")
    out = tmp_path / "out"
    done = partita("consensus", tmp_path / "votes.csv", "--method", "hbgf", "--clusters", "2", "--out", out)
    assert done.code == 0, done.err
    assert about(tmp_path / "out")["n_empty"] == 1
    assert [row["empty"] for row in rows_of(tmp_path / "out" / "labels.csv")] == ["False"] * 9 + ["True"]


def test_the_picture_shows_how_often_clusterings_agree(file, monkeypatch, partita, tmp_path):
    drawn = []

    def keep(posterior, labels):
        drawn.append((posterior, labels, coclustering(posterior, labels)))
        return drawn[-1][2]

    request = consensus_methods.MethodRequest(file, "eac", 3, None, consensus_methods.ConsensusRequest(file, id="name"))
    fit = request.compute(request.read())
    monkeypatch.setattr("partita.plots.coclustering", keep, raising=True)
    sections = request.sections(fit)
    sections[0].files["coclustering.png"](tmp_path / "picture.png")
    assert (tmp_path / "picture.png").exists()
    ((posterior, labels, axes),) = drawn
    assert posterior.partitions.shape[-2:] == (5, 60)
    assert labels.tolist() == fit.model.labels_.tolist()
    told = axes.images[0].colorbar.ax.get_ylabel()
    assert told == "share in one group, of clusterings that label both"
    assert axes.get_title("left") == "60 objects, 3 groups"
    sizes = np.bincount(labels)
    assert [words.get_text() for words in axes.get_yticklabels()] == [
        f"group {k}\n{sizes[k]} objects" for k in range(3)
    ]


@long
def test_the_same_seed_gives_the_same_bytes(file, partita, tmp_path):
    for out in ("one", "two"):
        arguments = ["--id", "name", "--method", "lwgp", "--seed", "3", "--out", tmp_path / out, *QUICK]
        assert partita("consensus", file, *arguments).code == 0
    for name in ("labels.csv", "agreement.csv", "coclustering.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "lwpg"], "--method must be one of 'nbce', 'nbce-vb', 'nbce-cvb', "),
        (["--method", "lwpg"], "got 'lwpg'. Did you mean 'lwgp'?"),
        (["--clusters", "3"], "--clusters is for methods that are told a number of groups, and --method nbce is not"),
        (["--solver", "metis"], "--solver is for methods that are told a solver, and --method nbce is not"),
        (["--method", "eac", "--clusters", "0"], "Invalid value for '--clusters'"),
        (["--method", "eac", "--clusters", "61"], "--clusters 61 is more than the 60 objects with a label."),
        (
            ["--method", "eac", "--clusters", "3", "--max-time", "9"],
            "--max-time is of nbce, which has nothing to do where",
        ),
        (["--method", "eac", "--clusters", "3", "--prior", "dp"], "--prior is of nbce, which has nothing to do where"),
        (["--method", "eac", "--prior", "normal"], "--prior must be one of"),
        (["--method", "eac", "--clusters", "3", "--solver", "metis"], "--method eac has none: leave it out."),
        (["--method", "cspa", "--clusters", "3", "--solver", "meits"], "solver must be one of 'metis', 'spectral'"),
        (["--votes", "7"], "--votes 7 is more than the 5 clusterings that tell objects apart: --votes all counts each"),
        (
            ["--votes", "none"],
            "--votes must be 'auto', 'all' or a number from 0.001 to that of the base clusterings, got 'none'.",
        ),
        (
            ["--votes", "-1"],
            "--votes must be 'auto', 'all' or a number from 0.001 to that of the base clusterings, got -1.0.",
        ),
        (["--votes", "5e-324"], "--votes must be 'auto', 'all' or a number from 0.001 to"),
        (
            ["--votes", "nan"],
            "--votes must be 'auto', 'all' or a number from 0.001 to that of the base clusterings, got nan.",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(file, partita, tmp_path, arguments, words):
    done = partita("consensus", file, "--id", "name", "--out", tmp_path / "out", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert words in done.err
    assert not (tmp_path / "out").exists()
