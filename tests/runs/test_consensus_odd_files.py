"""Files of labels that are odd get the right answer, or exit code 2, one sentence and no folder."""

import re

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from tests.runs.conftest import fit, write_run
from tests.runs.test_consensus_command import QUICK, TRUTH, about, labels_in, rows_of, votes, write
from tests.volumes import long, mostly_long

import partita as package
from partita.consensus import NBCE
from partita.runs.consensus import ConsensusRequest
from partita.runs.manifest import MANIFEST, Manifest, write_manifest

pytestmark = [pytest.mark.xdist_group("consensus"), long]
GOOD = "a,b\n" + "".join(f"{i % 2},{'xy'[i % 2]}\n" for i in range(20))


@pytest.fixture
def answer(partita, tmp_path):
    """Find the consensus of columns; gives labels, summary and the lines of agreement.csv."""

    def run(columns, *arguments):
        write(tmp_path / "odd.csv", columns)
        out = tmp_path / "out"
        done = partita("consensus", tmp_path / "odd.csv", "--out", out, "--quiet", *QUICK, *arguments)
        assert (done.code, done.out, done.err) == (0, "", "")
        return labels_in(out), about(out), {row["clustering"]: row for row in rows_of(out / "agreement.csv")}

    return run


class TestOdd:
    @mostly_long
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("01", "1"),
            ("fig", "Fig"),
            ("18446744073709551616", "18446744073709551617"),
            ("2024-05-01", "2024-05-02"),
            ("1", "x"),
        ],
    )
    def test_labels_that_look_alike_stay_apart(self, answer, first, second):
        labels, _, agreement = answer(dict.fromkeys("abcd", [first] * 21 + [second] * 19))
        assert labels == [0] * 21 + [1] * 19
        assert {row["n_clusters"] for row in agreement.values()} == {"2"}

    def test_one_number_written_in_two_ways_is_one_label(self, answer):
        labels, _, agreement = answer(dict.fromkeys("abc", ["1", "1.0", " 1"] * 10 + ["2", "2.0", "+2"] * 9))
        assert labels == [0] * 30 + [1] * 27
        assert {row["n_clusters"] for row in agreement.values()} == {"2"}

    def test_one_object(self, answer):
        labels, summary, _ = answer({"a": ["x"]})
        assert (labels, summary["n_clusters_probabilities"]) == ([0], {"1": 1.0})

    def test_one_clustering_and_more_clusterings_than_objects_are_warned_of(self, answer):
        _, summary, _ = answer({"a": ["0", "1"] * 10})
        assert any("a single clustering" in warning for warning in summary["warnings"])
        labels, summary, _ = answer({f"c{m}": ["u", "u", "v", "v", "u"] for m in range(9)})
        assert any("transposed?" in warning for warning in summary["warnings"])
        assert labels == [0, 0, 1, 1, 0]

    def test_an_object_without_any_label_is_flagged(self, answer, tmp_path):
        columns = {name: [*(str(k) for k in TRUTH), cell] for name, cell in (("a", ""), ("b", "-1"), ("c", ""))}
        labels, summary, agreement = answer(columns)
        assert labels[:60] == TRUTH.tolist()
        assert [row["empty"] for row in rows_of(tmp_path / "out" / "labels.csv")[-2:]] == ["False", "True"]
        assert (summary["n_empty"], summary["n_missing"]) == (1, 3)
        assert any("no label in any clustering (row 60)" in warning for warning in summary["warnings"])
        assert {row["n_labelled"] for row in agreement.values()} == {"60"}

    def test_a_clustering_without_any_label_says_nothing(self, answer):
        columns = votes()
        expected, _, _ = answer(columns)
        labels, _, agreement = answer(columns | {"none": [""] * 60})
        assert labels == expected
        assert list(agreement["none"].values()) == ["none", "0", "0", "0", "0"]

    def test_names_of_objects_and_words_for_missing_are_pointed_out(self, answer):
        columns = votes() | {"name": [f"o{i}" for i in range(60)]}
        columns["words"][3] = "NA"
        _, summary, _ = answer(columns)
        first, second = summary["warnings"][:2]
        assert first.startswith(
            "No two objects share a label in 'name': leave out what is no clustering (command line: with --ignore"
        )
        assert second == "'NA' is a label like any other in column 'words': leave a cell empty where there is none."

    def test_columns_with_names_of_results(self, answer, tmp_path):
        columns = {"label": [f"o{i}" for i in range(60)], "clustering": votes()["digits"], "nats": votes()["words"]}
        labels, _, agreement = answer(columns, "--id", "label")
        assert labels == TRUTH.tolist()
        assert list(agreement) == ["clustering", "nats"]
        assert list(rows_of(tmp_path / "out" / "labels.csv")[0]) == ["id", "label", "confidence", "runner_up"]


def assert_refused(done, words, out):
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert re.search(words, done.err), done.err
    assert not out.exists()


class TestRefusals:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("a,b\n1,0.5\n2,1.25\n", r"'b', row 0 holds 0.5, which is no label.*partita cluster\)"),
            ("a,b\n1,0\ninf,1\n", "'a', row 1 holds inf, which is no label"),
            ("a,b\n,-1\n,\n", "No object has a label in any clustering"),
            ("", "is empty"),
            ("a,b\n", "has a header but no rows"),
            ("a,b\n1,2\n3\n", "[Ll]ine 3 .* has 1 cell"),
            ("a,a\n1,2\n", "Column names must differ"),
        ],
    )
    def test_files(self, partita, tmp_path, content, words):
        (tmp_path / "v.csv").write_text(content)
        assert_refused(partita("consensus", tmp_path / "v.csv", "--out", tmp_path / "out"), words, tmp_path / "out")

    def test_times_in_parquet_and_no_file(self, partita, tmp_path):
        days = pyarrow.array(np.array(["2024-05-01", "2024-05-02"], dtype="datetime64[D]"))
        pyarrow.parquet.write_table(pyarrow.table({"a": [1, 2], "day": days}), tmp_path / "v.parquet")
        out = tmp_path / "out"
        assert_refused(partita("consensus", tmp_path / "v.parquet", "--out", out), "Column 'day' holds times", out)
        assert_refused(partita("consensus", tmp_path / "w.parquet", "--out", out), "Did you mean 'v.parquet'?", out)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--engine", "vbb"], r"--engine must be one of 'gibbs', 'vb', 'cvb'; got 'vbb'\. Did you mean 'vb'\?"),
            (["--engine", "em"], r"--engine must be one of 'gibbs', 'vb', 'cvb'; got 'em'\."),
            (
                ["--method", "nbce-vb", "--engine", "cvb"],
                "--method nbce-vb is --engine vb; got --engine cvb too",
            ),
            (["--prior", "pitman-yor", "--engine", "vb"], "--engine vb runs --prior dirichlet-process, finite-dir"),
            (
                ["--method", "nbce_vb"],
                r"--method must be one of 'nbce', 'nbce-vb', 'nbce-cvb'.*Did you mean 'nbce-vb'\?",
            ),
            (["--prior", "stick-braking"], r"prior must be one of 'dirichlet-.*Did you mean 'stick-breaking'\?"),
            (["--components", "0"], "--components"),
            (["--components", "many"], "--components"),
            (["--concentration", "0"], r"--concentration must be a positive number; got 0\.0"),
            (["--concentration", "nan"], "--concentration must be a positive number; got nan"),
            (["--pseudocount", "-1"], r"--pseudocount must be a positive number; got -1\.0"),
            (["--pseudocount", "inf"], "--pseudocount must be a positive number; got inf"),
            (["--ignore", "A"], "--ignore names 'A', which is no column of the table"),
            (["--id", "key"], r"--id names 'key', which is no column of the table\. The columns are 'a', 'b'\."),
            (["--ignore", "a", "--id", "b"], "leave no column to cluster by"),
            (["--chains", "0"], "chains must be a whole number of at least 1"),
            (["--draws", "some"], "--draws must be 'auto' or a whole number"),
            (["--max-time", "0"], "--max-time must be a positive number of seconds, or none for no limit; got '0'"),
            (["--seed", "-1"], "--seed"),
            (["--types", "a=count"], "No such option: --types"),
        ],
    )
    def test_options(self, partita, tmp_path, arguments, words):
        (tmp_path / "v.csv").write_text(GOOD)
        done = partita("consensus", tmp_path / "v.csv", "--out", tmp_path / "out", *arguments)
        assert_refused(done, words, tmp_path / "out")

    def test_what_fit_refuses_leaves_nothing(self, partita, tmp_path, monkeypatch):
        def refuse(*rest):
            raise ValueError("There is no such consensus.")

        (tmp_path / "v.csv").write_text(GOOD)
        monkeypatch.setattr(NBCE, "fit", refuse)
        done = partita("consensus", tmp_path / "v.csv", "--out", tmp_path / "out", "--quiet")
        assert_refused(done, "^There is no such consensus.\n", tmp_path / "out")

    def test_neither_the_labels_nor_other_runs_are_replaced(self, partita, tmp_path):
        (tmp_path / "labels.csv").write_text(GOOD)
        done = partita("consensus", tmp_path / "labels.csv", "--out", tmp_path)
        assert (done.code, (tmp_path / "labels.csv").read_text()) == (2, GOOD)
        assert "which is read: choose another place with --out" in done.err
        for command, other in (("consensus", "cluster"), ("cluster", "consensus"), ("consensus", "summarize")):
            out = tmp_path / f"{command} over {other}"
            out.mkdir()
            write_manifest(out, Manifest(f"partita {other}"))
            for force in ([], ["--force"]):
                done = partita(command, tmp_path / "labels.csv", "--out", out, *force)
                assert done.code == 2
                assert f"holds the result of 'partita {other}', which would be replaced in part" in done.err
                assert [path.name for path in out.iterdir()] == [MANIFEST]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run whose objects had names."""
    folder = tmp_path_factory.mktemp("predict")
    write(folder / "votes.csv", {"name": [f"o{i}" for i in range(60)], **votes()})
    request = ConsensusRequest(folder / "votes.csv", id="name", chains=2, draws=40)
    return write_run(fit(request), folder)


class TestPredict:
    def test_labels_of_new_objects(self, run, partita, tmp_path):
        new = {"words": ["fig", "plum", "a,b", ""], "codes": ["01", "1", "-1", ""], "digits": ["5", "6", "7", ""]}
        new |= {"gaps": ["x", "y", "-1", ""], "coarse": ["u", "v", "v", ""], "noise": ["p", "p", "q", "-1"]}
        write(tmp_path / "new.csv", new | {"all one": ["0", "0", "0", "-1"], "name": list("abcd")})
        done = partita("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
        assert done.code == 0, done.err
        rows = rows_of(tmp_path / "p.csv")
        assert list(rows[0]) == ["name", "label", "probability", "runner_up", "novelty", "empty"]
        assert [row["name"] for row in rows] == list("abcd")
        assert [row["label"] for row in rows[:3]] == ["0", "1", "2"]
        assert [row["empty"] for row in rows] == ["False", "False", "False", "True"]
        assert "1 row without any value: the prior's answer." in done.out

    def test_the_numbers_are_those_of_the_library(self, run, partita, tmp_path):
        write(tmp_path / "new.csv", votes(seed=1))
        assert partita("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv", "--quiet").out == ""
        rows, model = rows_of(tmp_path / "p.csv"), package.load(run / "posterior.partita")
        assert [int(row["label"]) for row in rows] == model.predict(tmp_path / "new.csv").tolist()
        by_name = model.predict_proba(tmp_path / "new.csv").max(axis=1)
        np.testing.assert_allclose([float(row["probability"]) for row in rows], by_name, atol=5.1e-7)

    @pytest.mark.parametrize(
        ("column", "cell", "words"),
        [("words", "pear", r"'words' has 1 value not seen in fit: 'pear'"), ("codes", "1.5", "'codes' .* '1.5'")],
    )
    def test_labels_never_seen_are_none_or_refused(self, run, partita, tmp_path, column, cell, words):
        columns = votes()
        columns[column][2] = cell
        write(tmp_path / "new.csv", columns)
        done = partita("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv", "--unseen", "error")
        assert_refused(done, words, tmp_path / "p.csv")
        done = partita("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
        assert done.code == 0
        assert f"1 cell holds a value not seen in fit and counts as missing: {cell!r} in column {column!r}" in done.out
        columns[column][2] = ""
        write(tmp_path / "gap.csv", columns)
        assert partita("predict", run, tmp_path / "gap.csv", "--out", tmp_path / "q.csv").code == 0
        assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "q.csv").read_bytes()

    def test_nothing_of_the_run_is_replaced(self, run, partita, tmp_path):
        write(tmp_path / "new.csv", votes())
        before = (run / "agreement.csv").read_bytes()
        done = partita("predict", run, tmp_path / "new.csv", "--out", run / "agreement.csv")
        assert (done.code, (run / "agreement.csv").read_bytes()) == (2, before)
