"""The benchmarks' own arithmetic, and their parts in miniature."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks import (
    confidence,
    default_candidates,
    default_settings,
    defaults,
    entropy,
    hierarchy,
    nbce_speed,
    table,
    textbook,
)
from benchmarks.generators import (
    GROUP_SHARES,
    ensemble,
    groups_apart,
    independent_categories,
    latent_classes,
    mixed_groups,
    separated_blobs,
)
from scipy.stats import chi2_contingency, norm
from sklearn.metrics import adjusted_rand_score
from tests.volumes import long

from partita.posterior import Posterior
from partita.priors import DirichletProcess

pytestmark = long

N_GROUPS = GROUP_SHARES.size


@pytest.fixture(scope="module")
def groups():
    return mixed_groups(2000, 3)


class TestMixedGroups:
    @pytest.mark.parametrize("share", [0.0, 0.3])
    def test_best_labels_are_those_of_bayes_rule_cell_by_cell(self, groups, share):
        some = groups.with_gaps(share, 1)
        for i in range(50):
            logs = np.log(GROUP_SHARES)
            for j, x in enumerate(some.numeric[i]):
                if not np.isnan(x):
                    logs = logs + norm.logpdf(x, some.means[:, j], some.deviations[:, j])
            for m, code in enumerate(some.codes[i]):
                if code >= 0:
                    logs = logs + some.log_shares[m, :, code]
            assert some.best_labels()[i] == logs.argmax()

    def test_groups_overlap_as_asked(self, groups):
        assert groups.best_agreement() == pytest.approx(0.97, abs=0.002)  # one row moves the index by about 0.001
        assert mixed_groups(2000, 3, agreement=0.8).best_agreement() == pytest.approx(0.8, abs=0.005)

    def test_cells_follow_the_parameters(self):
        many = mixed_groups(10_000, 0)
        for k in range(N_GROUPS):
            members = many.truth == k
            n = members.sum()
            assert abs(n / 10_000 - GROUP_SHARES[k]) < 5 * np.sqrt(GROUP_SHARES[k] / 10_000)
            z = (many.numeric[members].mean(axis=0) - many.means[k]) / many.deviations[k] * np.sqrt(n)
            assert np.abs(z).max() < 5
            for codes, log_shares in zip(many.codes[members].T, many.log_shares[:, k]):
                shares = np.bincount(codes, minlength=log_shares.size) / n
                assert np.abs(shares - np.exp(log_shares)).max() < 5 * 0.5 / np.sqrt(n)

    def test_gaps_are_as_many_as_asked_and_change_nothing_else(self, groups):
        some = groups.with_gaps(0.3, 0)
        kept, seen = ~np.isnan(some.numeric), some.codes >= 0
        for observed in (kept, seen):
            assert abs(observed.mean() - 0.7) < 5 * np.sqrt(0.21 / observed.size)
        assert np.array_equal(some.numeric[kept], groups.numeric[kept])
        assert np.array_equal(some.codes[seen], groups.codes[seen])
        assert some.best_agreement() < groups.best_agreement()

    def test_columns_are_numbers_and_words(self, groups):
        columns = groups.with_gaps(0.3, 0).columns()
        assert len(columns) == 20
        assert [column.dtype for column in columns.values()] == [float] * 10 + [object] * 10
        assert set(columns["c0"]) == {"a", "b", "c", "d", None}


class TestTable:
    def test_bic_sweep_finds_the_groups(self):
        pytest.importorskip("stepmix")
        groups = mixed_groups(600, 0, agreement=0.999)
        sweep = table.bic_sweep(table.stepmix(), groups, 0, n_groups=(2, N_GROUPS))
        assert sweep.n_groups == N_GROUPS
        assert adjusted_rand_score(groups.truth, sweep.labels) > 0.5  # one start may find a poorer maximum

    def test_without_the_peer_one_line_says_what_to_install(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "stepmix.stepmix", None)
        with pytest.raises(SystemExit, match=r"pip install 'partita\[bench\]'"):
            table.stepmix()

    @pytest.mark.xdist_group("mixed")
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_rows_of_the_mixed_part_carry_its_numbers(self, monkeypatch, capsys):
        def stand_in(estimator, groups, seed):
            return table.Sweep(4, np.zeros(groups.truth.size, int), 77)

        monkeypatch.setattr(table, "stepmix", lambda: None)
        monkeypatch.setattr(table, "bic_sweep", stand_in)
        monkeypatch.setattr(table, "fit", short_fit)
        table.mixed(n=300, seeds=(0,))
        said = capsys.readouterr().out
        best = mixed_groups(300, 0).best_agreement()
        assert f"{N_GROUPS}, >= {best - 0.02:.3f}\n" in said
        assert "n_init = 1, 77 iterations" in said
        assert "K = 4, ARI 0.000" in said
        assert "worst of 1" in said

    @pytest.mark.xdist_group("mixed")
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_rows_of_the_part_with_gaps_carry_its_numbers(self, monkeypatch, capsys):
        monkeypatch.setattr(table, "fit", short_fit)
        table.gaps(n=300, seeds=(0, 1))
        said = capsys.readouterr().out
        for seed in (0, 1):
            best = mixed_groups(300, seed).with_gaps(0.3, seed).best_agreement()
            assert f">= {best - 0.03:.3f}\n" in said
        assert "worst of 2" in said

    def test_help_loads_nothing_slow(self):
        assert table.imported_by_help() == []

    def test_what_help_loads_is_seen(self, monkeypatch):
        monkeypatch.setattr(table, "HELP", f"import sqlite3\n{table.HELP}")
        monkeypatch.setattr(table, "HEAVY", ("sqlite3",))
        assert table.imported_by_help() == ["sqlite3"]


class TestEntropy:
    def test_groups_are_three_normals_of_the_stated_shares(self):
        X, truth = entropy.Variant((0.5, 0.3, 0.2), 25.0).data(10_000, 1)
        for k, share in enumerate((0.5, 0.3, 0.2)):
            own = X[truth == k, 0]
            assert abs(own.size / 10_000 - share) < 5 * np.sqrt(share / 10_000)
            assert abs(own.mean() - entropy.MEANS[k]) < 5 / np.sqrt(own.size)
            assert abs(own.std() - 1) < 5 / np.sqrt(2 * own.size)

    def test_counts_are_of_draws_with_much_in_sparse_clusters(self):
        truth = np.repeat([0, 1], 50)
        dusty, less, clean = truth.copy(), truth.copy(), truth.copy()
        dusty[:10], less[:5] = 2, 2  # 10 % and 5 % in a cluster of at most 10 %
        posterior = Posterior([dusty, less, less, clean])
        before = entropy.counts(posterior, 0, truth, 0)
        assert (before["counts"], before["resampled"], before["ess"]) == ([1, 3], [1, 3], 4)
        assert before["sizes"] == [50, 45, 5]
        after = entropy.counts(posterior, 30, truth, 0)
        assert after["counts"][1] < 1.5
        assert after["sizes"] == [50, 50]
        assert after["ari"] == 1.0

    @pytest.mark.xdist_group("known")
    def test_the_simulation_in_miniature_is_stored_and_leaves_the_other_part(self, monkeypatch, tmp_path, capsys):
        monkeypatch.setattr(entropy, "RESULTS", tmp_path / "entropy.json")
        entropy.RESULTS.write_text('{"wine": 1}')
        name = next(iter(entropy.VARIANTS))
        runs = entropy.simulation({name: entropy.VARIANTS[name]}, (7,), n=60, n_iterations=60, burn_in=20)
        entropy.store("simulation", runs)
        stored = json.loads(entropy.RESULTS.read_text())
        assert stored["wine"] == 1
        assert stored["simulation"]["runs"] == runs
        assert stored["simulation"]["commit"]
        assert [run["n_draws"] for run in runs] == [40]
        found = runs[0]["entropy"]
        assert set(found) == {"0", "10", "20"}
        assert found["0"]["ess"] == 40 > found["20"]["ess"]
        assert sum(found["20"]["sizes"]) == 60
        assert capsys.readouterr().out.count("(paper 1393)") == 1

    @pytest.mark.xdist_group("gaussian-full")
    def test_wine_in_miniature(self, tmp_path, capsys):
        rng = np.random.default_rng(0)
        cultivars = np.arange(60) % 3 + 1
        cells = rng.normal(np.repeat(cultivars[:, None] * 8.0, 13, axis=1))
        np.savetxt(tmp_path / "wine.csv", np.c_[cells, cultivars], delimiter=",", header="x")
        family, prior = entropy.SETTINGS["concentration 1, diagonal"][0], DirichletProcess(concentration=1.0)
        runs = entropy.wine({"small": (family, prior)}, n_iterations=40, burn_in=20, path=tmp_path / "wine.csv")
        assert runs[0]["entropy"]["20"]["sizes"] == [20, 20, 20]
        assert runs[0]["entropy"]["20"]["ari"] == 1.0
        assert "K = 3 (paper 3)" in capsys.readouterr().out

    def test_without_the_wines_one_line_says_what_to_set(self, tmp_path):
        with pytest.raises(SystemExit, match="set PARTITA_BENCHMARK_DATA"):
            entropy.wine_table(tmp_path / "wine.csv")


class TestHierarchy:
    def test_groups_stand_as_far_apart_as_stated(self):
        rows, labels = hierarchy.spaced(5.0, 0, n=30_000)
        centers = np.stack([rows[labels == k].mean(axis=0) for k in range(3)])
        distances = [np.linalg.norm(centers[i] - centers[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
        assert distances == pytest.approx([5.0] * 3, abs=0.1)

    @pytest.mark.xdist_group("gaussian-full")
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_the_study_in_miniature(self, monkeypatch, tmp_path, capsys):
        monkeypatch.setattr(hierarchy, "RESULTS", tmp_path / "hierarchy.json")
        monkeypatch.setattr(hierarchy, "LENGTH", {"chains": 1, "draws": 20, "warmup": 20})
        apart = {"apart": lambda: hierarchy.spaced(9.0, 0, n=60)}
        monkeypatch.setattr(hierarchy, "cases", lambda seed: apart)
        monkeypatch.setattr(sys, "argv", ["hierarchy", "vb", "gibbs"])
        hierarchy.main()
        stored = json.loads(hierarchy.RESULTS.read_text())
        assert stored["commit"]
        assert len(stored["tables"]) == 2 * (4 + 5)  # halves x ways to merge after VB and after Gibbs
        for one in stored["tables"]:
            n_pieces = len(one["overlaps"]) + 1
            assert len(one["scores"]) == n_pieces
            assert one["scores"][n_pieces - 3] == 1.0
            assert one["scores"][-1] == 0.0
        assert stored["cuts"]["vb, misclassification"][0]["0.02"] == 1.0
        assert "misclassification, densities, all engines: best cut of the first half" in capsys.readouterr().out

    def test_the_score_of_a_cut_is_that_of_the_groups_it_leaves(self):
        shares = np.array([[0.9, 0.1, 0.0]] * 5 + [[0.3, 0.7, 0.0]] * 5 + [[0.0, 0.0, 1.0]] * 5)
        found = hierarchy.hierarchy(shares.argmax(axis=1), shares, np.ones(15), "entropy")
        one = hierarchy.Merged("made", "vb", found, hierarchy.scores(found, np.repeat([0, 1], [10, 5])))
        assert one.score(0.0) == 1.0
        assert one.score(np.inf) == one.scores[0] < 1.0


class TestTextbook:
    def test_spectral_rows_compare_with_every_solver(self, monkeypatch):
        monkeypatch.setattr(textbook, "capped_fit", lambda estimator, X, truth, longest: stand_in_peer(estimator))
        monkeypatch.setattr(
            textbook, "timed_fit", lambda estimator, X, truth: textbook.Timed(3.0, estimator.n_clusters)
        )
        rows = list(textbook.spectral(n=300, longest=7.0))
        assert rows[:4] == [
            ("spectral, 12 blobs apart, d = 8, n = 300: partita", "3.0 s, ARI 12.000", ""),
            ("  scikit-learn, eigen_solver='arpack'", "not done in 7 s", ""),
            ("  scikit-learn, eigen_solver='lobpcg'", "2.0 s, ARI 0.500", ""),
            ("", "partita 1.50 x", "<= 1.2 x"),
        ]
        assert len(rows) == 12
        assert rows[-1] == ("", "partita 1.50 x", "")  # on a surface the like solver is the other one

    def test_em_is_timed_against_the_peer_from_one_start(self):
        rows = list(textbook.em(n=400, d=2, n_components=3, n_iter=4))
        assert [must for _, _, must in rows] == ["", "<= 1.5 x", "<= 1.5 x", "", "", "", "", ""]
        assert rows[0][0] == "EM, full, n = 400, d = 2, K = 3: scikit-learn"
        differences = [float(measured) for work, measured, _ in rows if "difference" in work]
        np.testing.assert_allclose(differences, [0.0, 0.0], atol=1e-9)

    def test_fits_are_timed_and_compared_with_the_truth(self):
        X, truth = separated_blobs(3, 2, 150, 0)
        for estimator in (textbook.SpectralClustering(random_state=0), textbook.peer(3, "arpack")):
            timed = textbook.timed_fit(estimator, X, truth)
            assert timed.agreement == 1.0
            assert timed.seconds > 0

    def test_eigengap_rows_carry_shares_of_tables(self, monkeypatch):
        monkeypatch.setattr(textbook, "KINDS", [("blobs", textbook.separated(2, 2, 12.0), 2)])
        monkeypatch.setattr(
            textbook, "fitted_number", lambda X, affinity, laplacian: 2 if (laplacian, len(X)) != ("sym", 90) else 3
        )
        rows = list(textbook.eigengap(sizes=(80, 90, 600), seeds=(0, 1)))
        assert rows == [
            ("eigengap, nearest_neighbors, blobs", "sym 0.67, unnormalized 1.00", ""),
            ("eigengap, rbf, blobs", "sym 0.50, unnormalized 1.00", ""),
        ]

    @pytest.mark.parametrize(("name", "make", "expected"), textbook.KINDS, ids=[kind[0] for kind in textbook.KINDS])
    def test_tables_of_the_eigengap_are_seeded(self, name, make, expected):
        np.testing.assert_array_equal(make(60, 1), make(60, 1))
        assert not np.array_equal(make(60, 1), make(60, 2))


def stand_in_peer(estimator):
    return None if estimator.eigen_solver == "arpack" else textbook.Timed(2.0, 0.5)


def short_fit(groups, seed):
    return table.Mixture(draws=10, warmup=10, chains=2, random_state=seed).fit(pd.DataFrame(groups.columns()))


class TestEnsembles:
    def test_base_clusterings_agree_with_the_truth_as_asked(self):
        labels, truth = ensemble(4000, 12, 10, np.random.default_rng(0))
        agreement = [adjusted_rand_score(truth, column) for column in labels.T]
        assert [np.unique(column).size for column in labels.T] == np.linspace(5, 30, 12).round().tolist()
        assert max(agreement) < 0.72  # 5 clusters of 10 groups cannot reach 0.7, and the noise is found by bisection
        assert np.sort(agreement)[2] > 0.68

    def test_the_spectral_cut_knows_clear_groups(self):
        labels, truth = ensemble(600, 10, 4, np.random.default_rng(1), agreement=0.9, clusters=(4, 8))
        assert adjusted_rand_score(truth, nbce_speed.spectral_cut(labels, 4)) > 0.95

    @pytest.mark.parametrize(
        ("section", "options"),
        [
            (nbce_speed.iteration, {"n": 200, "numbers": (3,), "repeats": 1}),
            (nbce_speed.gaussian, {"n": 2000, "truncation": 14, "few": 2, "most": 3}),
        ],
    )
    def test_sections_in_miniature(self, section, options):
        rows = list(section(**options))
        assert all(len(row) == 3 for row in rows)
        assert any(" x" in measured for _, measured, _ in rows)

    @long
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # so few draws
    def test_whole_fits_in_miniature(self):
        rows = list(nbce_speed.consensus(n=400, options={"draws": 20, "chains": 1}))
        found = [measured for _, measured, must in rows if must.startswith(">= .98")]
        assert len(found) == 3
        measured = nbce_speed.large_fit("vb", 400)
        assert measured.agreement > 0.9
        assert measured.seconds > 0.0


class TestDefaults:
    def test_every_centre_has_its_nearest_neighbour_at_the_stated_distance(self):
        rows, truth = groups_apart(np.random.default_rng(0), np.full(6, 4000), 3, 5.0, correlated=True)
        centers = np.stack([rows[truth == k].mean(axis=0) for k in range(6)])
        apart = np.linalg.norm(centers[:, None] - centers, axis=2) + 1e9 * np.eye(6)
        np.testing.assert_allclose(apart.min(axis=1), 5.0, atol=0.15)
        widest = [np.linalg.eigvalsh(np.cov(rows[truth == k].T))[-1] for k in range(6)]
        assert max(widest) < 1.1
        assert np.bincount(truth).tolist() == [4000] * 6

    def test_categories_know_of_each_other_only_in_classes(self):
        def association(cells):
            counts = pd.crosstab(cells[:, 0], cells[:, 1]).to_numpy()
            return chi2_contingency(counts).pvalue

        assert association(independent_categories(np.random.default_rng(2), 4000, 2, skewed=True)[0]) > 0.001
        assert association(latent_classes(np.random.default_rng(2), 4000, 2, 3)[0]) < 1e-9

    def test_halves_share_nothing_and_leave_nothing_out(self):
        every = default_settings.settings()
        first, second = ({one.name for one in half} for half in default_settings.halves(every))
        assert not first & second
        assert len(first | second) == len(every) == len({one.name for one in every})
        for half in (first, second):
            assert {(one.kind, one.part) for one in every if one.name in half} == {
                (kind, part) for kind in default_settings.KINDS for part in ("one", "groups")
            }

    def test_labels_of_a_file_are_for_scoring_only(self, tmp_path):
        (tmp_path / "iris.csv").write_text("a,b,label\n1,2,x\n3,2,y\n5,2,x\n")
        rows, truth = default_settings.labelled_file(tmp_path / "iris.csv", "numeric")
        assert rows.tolist() == [[1.0], [3.0], [5.0]]  # a column that does not vary says nothing
        assert truth.tolist() == [0, 1, 0]
        (tmp_path / "galaxies.csv").write_text("a,label\n1,\n3,\n")
        assert default_settings.labelled_file(tmp_path / "galaxies.csv", "numeric")[1] is None

    def test_rows_of_the_report_are_means_over_settings_of_means_over_tables(self):
        def made(setting, seed, n_groups, density):
            return defaults.Outcome(setting, "one", seed, n_groups, n_groups == 1, 0.5, np.nan, density)

        outcomes = [made("a", 0, 1, -1.0), made("a", 1, 3, np.nan), made("b", 0, 1, -4.0), made("c", 0, 9, 0.0)]
        [row] = defaults.rows_of(outcomes, ["a", "b"])
        assert row.split() == ["one", "1.50", "0.75", "0.50", "nan", "-2.500"]

    def test_the_best_by_bic_has_the_groups(self):
        rows, _ = groups_apart(np.random.default_rng(1), np.full(3, 60), 2, 8.0)
        assert defaults.best_by_bic(rows, 0).n_components == 3

    @pytest.mark.xdist_group("gaussian-full")
    def test_the_study_in_miniature(self, monkeypatch, tmp_path, capsys):
        names = ("one normal, 20 x 1", "one correlated, 20 x 2")
        few = [one for one in default_settings.settings() if one.name in names]
        monkeypatch.setattr(defaults, "settings", lambda folder: few)
        monkeypatch.setattr(defaults, "DRAWS", 20)
        chosen = {name: default_candidates.CANDIDATES["numeric"][name] for name in (defaults.BEFORE, defaults.NOW)}
        monkeypatch.setitem(defaults.CANDIDATES, "numeric", chosen)
        defaults.main(["numeric", "--quick", "--jobs", "1", "--out", str(tmp_path)])
        said = capsys.readouterr().out
        assert "numeric, compared on 1 settings" in said
        assert "numeric, confirmed on 1 settings" in said
        stored = pd.read_csv(tmp_path / "defaults.csv")
        assert set(stored["candidate"]) == {defaults.BEFORE, defaults.NOW, *defaults.PEERS}
        assert set(stored["setting"]) == set(names)
        assert stored["density"].notna().all()
        assert (tmp_path / "defaults.txt").read_text().count("must be found") == 2


class TestConfidence:
    def test_company_and_majority_by_hand(self):
        labels, truth = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2])
        np.testing.assert_allclose(confidence.company_of(labels, truth), [1.0, 1.0, 0.0, 0.0, 1.0])
        np.testing.assert_array_equal(confidence.majority(labels, truth), [0, 0, 0, 1, 1])

    @long
    def test_the_table_in_miniature(self, monkeypatch):
        monkeypatch.setattr(confidence, "DRAWS", 100)
        rows = confidence.reliability("numbers", 12)
        assert sum(row["rows"] for row in rows) == 12 * confidence.N_ROWS
        everywhere = np.average([row["company"] - row["confidence"] for row in rows], weights=[r["rows"] for r in rows])
        errors = [row["rows"] * row["standard_error"] for row in rows]
        assert abs(everywhere) < 4.0 * np.sqrt(np.square(errors).sum()) / (12 * confidence.N_ROWS)
        assert confidence.as_table(rows).count("\n") == len(rows) + 1
