"""`benchmarks.nbce` and `benchmarks.consensus`: their arithmetic by hand, and both in miniature."""

import json
import os
import re
import signal

import numpy as np
import pandas as pd
import pytest
from benchmarks import consensus, nbce, nbce_report, nbce_tables
from benchmarks.nbce_tables import Split
from scipy.stats import ttest_rel
from tests.volumes import long

from partita.posterior import Posterior

pymetis = pytest.importorskip("pymetis")
pytestmark = long

CLASSES = np.repeat([0, 1, 2], 20)
SHORT = {"chains": 1, "warmup": 10, "draws": 10}


@pytest.fixture
def folder(tmp_path):
    """A table of three classes that are far apart, under the name of one of the paper's."""
    rows = np.random.default_rng(0).normal(10.0 * CLASSES[:, None], size=(60, 2))
    pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "label": CLASSES}).to_csv(tmp_path / "glass.csv", index=False)
    return tmp_path


@pytest.fixture
def by_hand():
    """Six objects of two classes, the last two held out; a clustering that is right and one that is not."""
    labels = np.array([[0, 0], [0, 1], [1, 1], [1, 2], [1, 3], [0, 3]])
    return Split(labels, np.array([0, 0, 1, 1, 1, 0]), np.array([False] * 4 + [True] * 2))


class TestSplits:
    def test_a_quarter_is_held_out_anew_for_every_seed(self, folder):
        splits = [nbce_tables.kmeans_of_standardised("glass", seed, folder) for seed in (0, 0, 1)]
        assert [one.held_out.sum() for one in splits] == [15, 15, 15]
        np.testing.assert_array_equal(splits[0].labels, splits[1].labels)
        np.testing.assert_array_equal(splits[0].held_out, splits[1].held_out)
        assert (splits[0].held_out != splits[2].held_out).any()
        assert splits[0].train.shape == (45, 10)
        assert splits[0].n_classes == 3
        assert splits[0].n_labels == [2, 2, 3, 5, 6] * 2  # 50 to 200 % of three classes

    def test_cells_are_standardised_or_not(self, folder):
        table = pd.read_csv(folder / "glass.csv")
        table["b"] = np.random.default_rng(1).normal(scale=1e6, size=60)  # hides the classes unless it is scaled
        table.to_csv(folder / "glass.csv", index=False)
        scaled, raw = (
            nbce_tables._base_scores(one("glass", 0, folder))["base max"]["ari"]
            for one in (nbce_tables.kmeans_of_standardised, nbce_tables.kmeans_of_raw)
        )
        assert raw < 0.2 < scaled

    def test_a_table_that_is_not_there_is_said_to_be_missing(self, tmp_path):
        with pytest.raises(SystemExit, match=r"no table glass\.csv .* --data"):
            nbce_tables.labelled("glass", tmp_path)

    def test_noisy_copies_have_so_many_wrong_labels(self, tmp_path):
        split = nbce_tables.noisy_copies("15 %", 3, tmp_path)
        assert split.labels.shape == (220, 10)
        assert split.n_classes == 22
        assert (split.labels != split.classes[:, None]).sum(axis=0).tolist() == [33] * 10
        assert not split.held_out.any()


class TestFigures:
    def test_scores_are_of_fitted_objects_only(self, by_hand):
        right, wrong = (nbce_tables.scores(by_hand, column) for column in by_hand.train.T)
        assert right == {"f1 as printed": 1.0, "f1": 1.0, "ari": 1.0, "nmi": 1.0, "k": 2.0}
        assert wrong["k"] == 3.0
        # clusters {0}, {1, 2}, {3} of classes {0, 1}, {2, 3}: precision 5/6, recall 1/2
        assert wrong["f1 as printed"] == pytest.approx(2 * (5 / 6) * 0.5 / (5 / 6 + 0.5))

    def test_base_scores_are_the_best_and_the_mean(self, by_hand):
        found = nbce_tables._base_scores(by_hand)
        _, wrong = (nbce_tables.scores(by_hand, column) for column in by_hand.train.T)
        assert found["base max"] == {"f1 as printed": 1.0, "f1": 1.0, "ari": 1.0, "nmi": 1.0}
        assert found["base average"] == {score: pytest.approx((1.0 + value) / 2) for score, value in wrong.items()} | {
            "k": 2.5
        }

    def test_perplexity_is_of_fitted_and_of_held_out_objects(self, by_hand):
        class Counting:
            def fit(self, Y):
                self.fitted = Y
                return self

            def perplexity(self, Y):
                return float(10 * len(self.fitted) + len(Y))

        assert nbce_tables._perplexity(Counting(), by_hand) == {"train": 44.0, "held out": 42.0}
        whole = by_hand._replace(held_out=np.zeros(6, bool))
        assert nbce_tables._perplexity(Counting(), whole) == {"train": 66.0}

    def test_the_share_of_table_6_is_that_of_objects_alone(self):
        draws = np.random.default_rng(0).integers(7, size=(30, 12))
        alone = [np.mean([np.count_nonzero(draw == label) == 1 for label in draw]) for draw in draws]
        np.testing.assert_allclose(Posterior.from_draws(draws).sparse_share(1.0 / 12), alone, atol=1e-12)
        assert 0.0 < np.mean(alone) < 1.0


class TestReport:
    def test_the_test_of_the_paper_is_one_sided_over_its_seven_tables(self):
        rivals = [nbce_report.TABLE_2[name] for name in nbce_tables.GRAPH_METHODS]
        differences = np.subtract(nbce_report.TABLE_2["NBCE all, Gibbs"], np.max(rivals, axis=0))
        assert nbce_report.p_value(differences) / 2 == pytest.approx(0.0017, abs=5e-5)  # "at the 0.002 level"

    def test_p_values_are_those_of_a_paired_test(self):
        one, other = np.random.default_rng(0).normal(size=(2, 8))
        assert nbce_report.p_value(one - other) == pytest.approx(ttest_rel(one, other).pvalue)
        assert np.isnan(nbce_report.p_value(np.full(3, 0.25)))

    def test_nbce_is_compared_with_the_best_rival_of_every_case(self):
        def of(value):
            return {"ari": [value, value + 0.1]}

        others = {"base max": of(0.9), "HGPA": of(0.1), "MCLA": of(0.2), "base average": of(0.3)}
        figures = {
            "glass": others | {"CSPA": of(0.5), "NBCE auto": {"ari": [0.55, 0.75]}},
            "trace": others | {"CSPA": of(0.2), "NBCE auto": {"ari": [0.3, 0.4]}},
        }
        head, glass_and_trace, over_tables = nbce_report.tests("ari", figures)
        assert "paired" in head
        assert glass_and_trace.split() == ["NBCE", "auto", "CSPA", "+.10", ".295", "base", "+.00", "nan"]
        assert over_tables.split()[-2:] == ["+.05", ".500"]

    def test_the_paper_stands_to_the_left(self):
        block = nbce_report.Block("title", "train", 2, ("glass", "ecoli"), {"MM": (1.02, 1.33)})
        _, head, *lines = list(
            nbce_report.lines(block, {"ecoli": {"MM": {"train": [1.0, 2.0]}, "BCE": {"train": [3.0, 3.0]}}})
        )
        assert head.split() == ["ecoli", "mean"]
        assert lines[0].split() == ["MM", "1.33|1.50±0.71", "1.50"]
        assert lines[1].split() == ["BCE", "3.00±0.00", "3.00"]

    def test_figures_of_the_paper_are_complete(self):
        for blocks in nbce_report.BLOCKS.values():
            for block in blocks:
                assert {len(figures) for figures in block.paper.values()} <= {len(block.cases)}


class TestTables:
    @pytest.fixture(autouse=True)
    def few(self, monkeypatch):
        monkeypatch.setattr(nbce_tables, "GIBBS", SHORT)
        for name, part in nbce_tables.PARTS.items():
            monkeypatch.setitem(nbce_tables.PARTS, name, part._replace(cases=part.cases[:1]))

    def test_all_in_miniature(self, folder, capsys):
        out = folder / "nbce.json"
        nbce.main(["--seeds", "2", "--jobs", "1", "--data", str(folder), "--out", str(out)])
        stored = json.loads(out.read_text())
        assert list(stored) == list(nbce_tables.PARTS)
        for part in stored.values():
            assert part["commit"]
            assert part["seeds"] == [0, 1]
            assert all(len(values) == 2 for by_name in figures_of(part) for values in by_name.values())
        second = stored["2"]["results"]["glass"]
        assert second["base max"]["ari"] == [1.0, 1.0]
        assert second["CSPA"]["k"] == [3.0, 3.0]
        for name in ("4-5", "7"):
            assert all(value >= 1.0 for by_name in figures_of(stored[name]) for value in by_name["train"])
        said = capsys.readouterr().out
        assert re.search(r"\n  CSPA +0\.66\|", said)
        assert said.count("=== Table") == 6

    def test_a_part_is_put_beside_the_others(self, folder, capsys):
        out = folder / "nbce.json"
        out.write_text(json.dumps({"2": {"commit": "c", "seeds": [0], "results": {}}}))
        nbce.main(["7", "--seeds", "1", "--jobs", "1", "--data", str(folder), "--out", str(out)])
        stored = json.loads(out.read_text())
        assert stored["2"] == {"commit": "c", "seeds": [0], "results": {}}
        said = capsys.readouterr().out
        nbce.main(["7", "--print-only", "--out", str(out)])
        assert capsys.readouterr().out == said

    def test_tables_four_and_five_are_measured_together(self, folder):
        options = nbce.parsed(["5", "4", "--data", str(folder)])
        assert list(dict.fromkeys(nbce.TOGETHER[name] for name in options.tables)) == ["4-5"]

    def test_a_table_that_the_paper_has_not_is_refused(self, capsys):
        with pytest.raises(SystemExit):
            nbce.parsed(["8"])
        assert "no such table: 8; there are 2, 2-raw, 3, 4, 5, 6, 7" in capsys.readouterr().err

    def test_processes_answer_in_order(self):
        with nbce.processes(2) as mapped:
            assert list(mapped(abs, [-3, 2, -1])) == [3, 2, 1]


def figures_of(part):
    return [by_name for by_method in part["results"].values() for by_name in by_method.values()]


def never_done():
    """Ready at once, and never done."""
    yield {}
    signal.pause()
    yield {"seconds": 0.0}


def ended():
    """Ready at once, then the process ends."""
    yield {}
    os._exit(3)


class TestConsensus:
    @pytest.fixture(autouse=True)
    def plain_metis(self, monkeypatch):
        monkeypatch.setattr(pymetis, "part_graph", pymetis.part_graph)  # put back at the end

    def test_every_method_is_in_the_table(self):
        names = consensus.methods()
        assert len(set(names)) == len(names)
        for name in names:
            estimator = consensus.estimator(name)
            assert getattr(estimator, "n_clusters", 10) == getattr(estimator, "random_state", 0) + 10 == 10

    def test_a_fit_is_measured_once_all_is_compiled(self):
        ready, cell = consensus.fit_once("hbgf", 600)
        assert ready == {}
        assert cell["seconds"] > 0.0
        assert cell["k"] == 10
        assert cell["ari"] > 0.9

    @pytest.mark.parametrize(
        ("refusal", "word"),
        [(ValueError("needs 3.0 GiB"), "dense"), (ValueError("no"), "refused"), (ImportError("pip"), "absent")],
    )
    def test_a_refusal_is_one_word(self, monkeypatch, refusal, word):
        class Refusing:
            def fit(self, Y):
                if isinstance(refusal, ImportError) or len(Y) > consensus.N_SMALL:
                    raise refusal

        monkeypatch.setattr(consensus, "estimator", lambda method: Refusing())
        _, cell = consensus.fit_once("any", 600)
        assert cell == {"reason": str(refusal), "word": word}

    def test_a_fit_that_takes_too_long_or_ends_its_process_is_told(self):
        assert consensus.apart(never_done, 0.05) == {"reason": "over 0.05 s", "word": "slow"}
        assert consensus.apart(ended, 30.0) == {"reason": "The process ended with 3.", "word": "crashed"}

    def test_what_is_slow_is_not_tried_on_more_objects(self, monkeypatch):
        def stand_in(work, limit, method, n):
            if method == "a" and n == 20:
                return {"reason": "over 1 s", "word": "slow"}
            return {"seconds": 0.5, "megabytes": 3.0, "ari": 0.25, "k": 7}

        monkeypatch.setattr(consensus, "apart", stand_in)
        cells = {}
        lines = list(consensus.table(["a", "b"], [10, 20, 30], 1.0, cells))
        assert lines[2].split() == ["a", "0.500", "s", "3", "MB", "slow", "-", "0.250,", "7"]
        assert lines[3].count("0.500 s") == 3
        assert lines[4:] == ["a, n = 20: over 1 s"]
        assert set(cells["a"]) == {"10", "20", "30"}

    def test_the_call_of_metis_is_a_part_of_the_fit(self):
        _, cell = consensus.fit_with_metis("cspa", 500)
        assert 0.0 < cell["metis"] < cell["seconds"]
        with pytest.raises(RuntimeError, match="hbgf did not call"):
            list(consensus.fit_with_metis("hbgf", 500))

    def test_votes_are_found_and_told(self):
        ready, cell = consensus.votes_found_and_told(300)
        assert ready == {}
        assert 0.0 < cell["votes"] <= consensus.N_MEMBERS
        assert min(cell["found"], cell["told"], cell["all"]) > 0.0

    def test_ratios_are_of_cells_that_are_known(self, monkeypatch, tmp_path, capsys):
        def stand_in(work, limit, *arguments):
            return {
                "seconds": 3.0,
                "metis": 2.0,
                "found": 1.02,
                "told": 1.0,
                "all": 0.9,
                "megabytes": 1.0,
                "ari": 1.0,
                "k": 10,
            }

        monkeypatch.setattr(consensus, "apart", stand_in)
        known = {"hbgf": {str(consensus.FEW): {"seconds": 1.0}, str(consensus.MANY): {"seconds": 12.0}}}
        rows = list(consensus.ratios(known, 9.0))
        assert [measured for _, measured, _ in rows[:3]] == ["3.000 s, 2.000 s, 1.50 x"] * 2 + ["12.0 x"]
        assert rows[3][1] == "1.020 s, 1.000 s, 1.020 x; 0.900 s"
        out = tmp_path / "consensus.json"
        consensus.main(["--sizes", "10", "--methods", "hbgf", "--out", str(out)])
        stored = json.loads(out.read_text())
        assert stored["commit"]
        assert stored["cells"]["hbgf"]["10"]["seconds"] == 3.0
        assert len(stored["ratios"]) == 3 + len(consensus.VOTES_REPEATS)
        assert "3.000 s      1 MB" in capsys.readouterr().out
