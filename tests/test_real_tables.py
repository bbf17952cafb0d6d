"""`benchmarks.real_tables`: its tables, its peers and its arithmetic, and the study in miniature."""

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks import defaults, labelled_tables, made_tables, peers, real_tables, real_tables_report
from benchmarks.generators import groups_apart
from scipy.stats import chi2_contingency, norm
from sklearn.metrics import adjusted_rand_score
from tests.volumes import long

pytestmark = long


class TestRealTables:
    @pytest.mark.parametrize("seed", [0, 1, 2])
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_groups_are_clear_before_rounding_and_in_logarithms(self, seed):
        for one in made_tables.made_tables(seed):
            cells = made_tables.undone(one, seed)
            best = defaults.best_by_bic(cells, seed)
            assert best.n_components == one.n_classes == 3
            assert adjusted_rand_score(one.classes, best.predict(cells)) > 0.92

    def test_columns_are_recorded_as_stated(self):
        units, fives, logs = made_tables.made_tables(0)
        assert [dtype.kind for dtype in units.rows.dtypes] == ["i", "i", "i"]
        assert (fives.rows["pressure"] % 5 == 0).all()
        assert (fives.rows["level"] == fives.rows["level"].round(1)).all()
        assert (logs.rows > 0).all(axis=None)
        for one in (units, fives):
            assert one.rows["year"].nunique() == 12
            assert chi2_contingency(pd.crosstab(one.rows["year"], one.classes)).pvalue > 0.001

    def test_structureless_tables_are_seeded_and_have_one_class(self):
        for one, same, other in zip(*(made_tables.structureless_tables(seed) for seed in (0, 0, 1))):
            assert one.n_classes == 1
            pd.testing.assert_frame_equal(one.rows, same.rows)
            assert not one.rows.equals(other.rows)

    def test_every_table_is_of_one_half(self):
        first, second = labelled_tables.HALVES.values()
        assert not set(first) & set(second)
        assert (len(first), len(second)) == (9, 8)

    def test_cells_of_a_file_come_as_they_are(self, tmp_path):
        pd.DataFrame({"a": [1, 2, 1], "b": ["NA", "x", ""], "label": [3, 1, 3]}).to_csv(
            tmp_path / "webkb.csv.gz", index=False
        )
        [one] = labelled_tables.labelled_tables(tmp_path)
        assert (one.name, one.part, one.n_classes) == ("webkb", "fixed", 2)
        assert one.rows["a"].tolist() == [1, 2, 1]
        assert one.rows["b"].tolist()[:2] == ["NA", "x"]
        assert one.rows["b"].isna().tolist() == [False, False, True]
        assert one.classes.tolist() == ["3", "1", "3"]

    @pytest.mark.parametrize("name", ["gaussian-bic", "bayesian-gaussian"])
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_log_densities_are_in_the_units_of_the_table(self, name):
        rows = pd.DataFrame(groups_apart(np.random.default_rng(0), np.full(2, 40), 2, 6.0)[0], columns=["a", "b"])
        units = (rows, 8 * rows)  # a power of 2 rounds nothing
        densities = [peers.PEERS[name](some, 2, 0).log_densities(some) for some in units]
        np.testing.assert_allclose(densities[0] - densities[1], 2 * np.log(8), rtol=1e-9)

    @pytest.mark.filterwarnings("ignore")  # of StepMix
    def test_stepmix_has_the_density_of_words_and_numbers(self, monkeypatch):
        pytest.importorskip("stepmix")
        monkeypatch.setattr(peers, "MOST_GROUPS", 2)
        rng = np.random.default_rng(0)
        rows = pd.DataFrame({"a": rng.normal(5, 3, 60), "b": rng.choice(["x", "y"], 60)})
        fit = peers.stepmix_bic(rows, 1, 0)
        assert fit.n_groups == 1
        share = rows["b"].map(rows["b"].value_counts(normalize=True))
        expected = norm.logpdf(rows["a"], rows["a"].mean(), rows["a"].std(ddof=0)) + np.log(share)
        np.testing.assert_allclose(fit.log_densities(rows).mean(), expected.mean(), atol=1e-4)

    def test_noise_is_no_group(self):
        rows = pd.DataFrame(groups_apart(np.random.default_rng(0), np.full(2, 60), 2, 12.0)[0])
        rows.loc[len(rows)] = [900.0, 900.0]
        fit = peers.hdbscan(rows, 2, 0)
        assert fit.n_groups == np.unique(fit.labels).size - 1
        assert fit.labels[-1] == -1

    def test_words_that_a_fit_has_not_seen_are_not_held_out(self):
        rows = pd.DataFrame({"a": [f"word {i}" for i in range(5)] + ["same"] * 45})
        seen = []

        def fit(some, n_classes, seed):
            def log_densities(others):
                assert set(others["a"]) <= set(some["a"])
                seen.append(len(others))
                return np.zeros(len(others))

            return peers.Fit(np.zeros(len(some)), 1, log_densities)

        some = labelled_tables.ClassedTable("words", "made", rows, np.zeros(50))
        assert [real_tables.held_out(fit, some, seed) for seed in range(5)] == [{"held_out": 0.0}] * 5
        assert max(seen) <= 10
        assert min(seen) < 10
        wide = some._replace(rows=pd.DataFrame(np.zeros((50, 201))))
        assert "held_out" not in real_tables.held_out(fit, wide, 0)

    @pytest.mark.xdist_group("gaussian-full")
    def test_the_study_in_miniature(self, tmp_path, capsys):
        out = tmp_path / "real_tables.json"
        words = ["--data", str(tmp_path), "--out", str(out), "--max-time", "2", "--seeds", "0"]
        words += ["--tables", "log-normals,one normal cloud"]
        real_tables.main([*words, "--methods", "all,kmeans-told"])
        stored = json.loads(out.read_text())
        assert set(stored) == {"all", "kmeans-told"}
        record = stored["all"]["one normal cloud"]["0"]
        assert (record["k"], record["ari"], record["suggested"], record["suggested_ari"]) == (1, 1.0, 1, 1.0)
        assert record["held_out"] < 0
        assert record["version"]
        assert stored["kmeans-told"]["one normal cloud"]["0"]["skipped"] == "told that there is one group"
        assert "=== made, three groups" in capsys.readouterr().out
        real_tables.main([*words, "--methods", "all,hdbscan"])
        assert capsys.readouterr().out.count("seed 0") == 2  # only what was missing
        again = json.loads(out.read_text())
        assert again["all"] == stored["all"]
        assert set(again) == {"all", "kmeans-told", "hdbscan"}
        real_tables.main([*words, "--print-only"])
        assert "seed 0" not in capsys.readouterr().out

    def test_a_method_that_does_not_exist_is_named(self, capsys):
        with pytest.raises(SystemExit):
            real_tables.main(["--methods", "startle"])
        assert "no such method: startle" in capsys.readouterr().err

    def test_means_are_over_tables_of_means_over_seeds(self):
        def made(ari, k, held_out):
            return {"ari": ari, "k": k, "held_out": held_out, "seconds": 2.0, "cpu": 1.5}

        results = {
            "start": {"a": {"0": made(0.2, 1, -1.0), "1": made(0.4, 2, -2.0)}, "b": {"0": made(0.9, 3, None)}},
            "other": {"a": {"0": made(0.5, 1, -1.0)}, "b": {"0": {"skipped": "too large"}}},
        }
        lines = [real_tables_report.means(results, method, ["a", "b"]) for method in results]
        assert lines[0].split() == ["start", "2", "0.600", "-", "0.25", "0.000", "1", "2.0", "1.5"]
        assert lines[1].split() == ["other", "1", "0.500", "-", "1.00", "0.500", "1", "2.0", "1.5"]
        assert real_tables_report.skipped(results, "other", "b") == "too large"
