"""Mixture with the EM engine: responsibilities, criteria, numbers of components, and all that a fitted one answers."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.volumes import long, mostly_long, short_and_long

import partita
from partita import Mixture
from partita.engines import EM
from partita.families import Categorical, Gaussian
from partita.priors import DirichletProcess, FiniteDirichlet, StickBreaking

NAN = np.nan
X, Y = make_blobs(240, 3, centers=4, cluster_std=1.0, random_state=1)
X = 7.0 * X + 100.0
OVERLAPPING, _ = make_blobs(300, 2, centers=3, cluster_std=2.5, random_state=3)


def em(n_components=4, *, concentration=None, **options):
    engine = EM(**{key: options.pop(key) for key in list(options) if key in EM().get_params()})
    prior = FiniteDirichlet(n_components=n_components, concentration=concentration)
    return Mixture(**({"engine": engine, "prior": prior, "random_state": 0} | options))


@parametrize_with_checks([em(2, n_init=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module", params=["map", "ml"])
def fitted(request):
    return em(3, estimate=request.param).fit(OVERLAPPING)


class TestAnswers:
    """What is asked of a fitted Mixture."""

    def test_short_name(self):
        named = Mixture(engine="em", prior=FiniteDirichlet(n_components=3), random_state=0).fit(OVERLAPPING)
        np.testing.assert_array_equal(named.probabilities_, em(3).fit(OVERLAPPING).probabilities_)

    @mostly_long
    def test_responsibilities(self, fitted):
        means, factors = fitted._clusters.params
        scale = np.array([column.scale for column in fitted._model.table.schema.numeric])
        center = np.array([column.center for column in fitted._model.table.schema.numeric])
        means = center + scale * (fitted._model.likelihood.mean + means)
        factors = scale[:, None] * factors
        logs = (
            np.column_stack([multivariate_normal(m, f @ f.T).logpdf(OVERLAPPING) for m, f in zip(means, factors)])
            + fitted._clusters.log_seats[:-1]
        )
        totals = logsumexp(logs, axis=1)
        np.testing.assert_allclose(fitted.probabilities_, np.exp(logs - totals[:, None]), atol=1e-9)
        np.testing.assert_allclose(fitted.probabilities_.sum(axis=1), 1.0)
        np.testing.assert_allclose(fitted.score_samples(OVERLAPPING), totals, rtol=1e-10)

    @mostly_long
    def test_prediction_is_the_fit(self, fitted):
        np.testing.assert_array_equal(fitted.predict_proba(OVERLAPPING), fitted.probabilities_)
        np.testing.assert_array_equal(fitted.predict(OVERLAPPING), fitted.labels_)
        assert fitted.labels_.dtype == np.int64
        assert (np.diff(np.bincount(fitted.labels_)) <= 0).all()
        assert (fitted.novelty(OVERLAPPING) == 0).all()
        np.testing.assert_array_equal(np.asarray(fitted.to_frame()["label"]), fitted.labels_)

    def test_path_and_score(self, fitted):
        assert fitted.converged_
        assert (np.diff(fitted.loglik_path_) >= 0).all()
        total = fitted.score_samples(OVERLAPPING).sum()
        if fitted.engine.estimate == "ml":
            assert fitted.loglik_path_[-1] == pytest.approx(total, rel=1e-12)
        else:
            assert fitted.loglik_path_[-1] != pytest.approx(total, rel=1e-3)
        assert not hasattr(fitted, "diagnostics_")

    @mostly_long
    def test_new_rows(self, fitted):
        rows, labels = fitted.sample(20_000)
        shares = np.exp(fitted._clusters.log_seats[:-1])
        np.testing.assert_allclose(np.bincount(labels) / 20_000, shares, atol=5 * np.sqrt(0.25 / 20_000))
        own = rows[labels == 0]
        factors = fitted._clusters.params[1]
        scale = np.array([column.scale for column in fitted._model.table.schema.numeric])
        covariance = scale[:, None] * (factors[0] @ factors[0].T) * scale
        np.testing.assert_allclose(np.cov(own.T), covariance, atol=6 * covariance.max() / np.sqrt(len(own)))

    def test_draws_are_of_the_responsibilities(self, fitted):
        posterior = fitted.posterior_
        assert posterior.partitions.shape[:2] == (1, 200)
        together = posterior.similarity()
        exact = fitted.probabilities_ @ fitted.probabilities_.T
        error = np.sqrt(0.25 / 200)
        off = ~np.eye(len(OVERLAPPING), dtype=bool)
        assert np.abs(together - exact)[off].max() < 6 * error
        assert np.mean((together - exact)[off]) == pytest.approx(0.0, abs=0.02)

    @mostly_long
    def test_explanation(self, fitted):
        for row in (0, 17):
            found = fitted.explain(row)
            logs = np.log(fitted.probabilities_[row])
            assert found.total == pytest.approx(logs[found.label] - logs[found.runner_up], rel=1e-8)

    def test_profile(self, fitted):
        found = pd.DataFrame(fitted.profile_)
        means = found[found["column"] == "x0"]["mean"].to_numpy()
        soft = (fitted.probabilities_.T @ OVERLAPPING[:, 0]) / fitted.probabilities_.sum(axis=0)
        np.testing.assert_allclose(means, soft, atol=0.02)

    def test_file_pickle_and_clone(self, fitted, tmp_path):
        fitted.save(tmp_path / "em.partita")
        for copy in (partita.load(tmp_path / "em.partita"), pickle.loads(pickle.dumps(fitted))):
            np.testing.assert_array_equal(copy.predict_proba(OVERLAPPING), fitted.probabilities_)
            np.testing.assert_array_equal(copy.labels_, fitted.labels_)
            np.testing.assert_array_equal(copy.loglik_path_, fitted.loglik_path_)
            np.testing.assert_array_equal(copy.posterior_.draws, fitted.posterior_.draws)
            np.testing.assert_array_equal(copy.sample(5)[0], fitted.sample(5)[0])
            assert (copy.bic_, copy.aic_, copy.icl_, copy.n_iter_) == (
                fitted.bic_,
                fitted.aic_,
                fitted.icl_,
                fitted.n_iter_,
            )
        assert clone(fitted).engine == fitted.engine

    def test_another_engine_leaves_nothing_behind(self):
        model = em(3, chains=2, warmup=10).fit(OVERLAPPING)
        with pytest.warns(ConvergenceWarning):
            model.set_params(engine="gibbs", draws=20).fit(OVERLAPPING)
        assert model.posterior_.n_draws == 40
        assert not hasattr(model, "bic_")


class TestImpossibleRows:
    """Shares of 0: a row that some component, or every one, cannot have."""

    def test_all_components_that_allow_a_row_are_removed(self):
        table = np.array([["a", "b"], ["a", "b"], [None, "a"], ["a", None], ["d", "b"]], dtype=object)
        for seed in range(10):
            found = em(4, random_state=seed).fit(table)
            assert np.isfinite(found.loglik_path_).all()
            np.testing.assert_allclose(found.probabilities_.sum(axis=1), 1.0)

    @long
    def test_many_random_tables(self):
        rng = np.random.default_rng(12)
        for seed in range(40):
            n, k, levels = rng.integers(5, 40), rng.integers(2, 6), rng.integers(2, 5)
            cells = rng.choice(list("abcd")[:levels], (n, 2)).astype(object)
            cells[rng.random(cells.shape) < 0.2] = None
            cells[0] = ["a", "b"]
            cells[1] = ["b", "a"]
            cells = cells[[any(cell is not None for cell in row) for row in cells]]
            found = em(int(min(k, len(cells))), n_init=2, random_state=seed).fit(cells)
            assert np.isfinite(found.loglik_path_).all()

    @pytest.mark.parametrize("estimate", ["map", "ml"])
    def test_explanation_names_another_group(self, estimate):
        found = em(2, estimate=estimate).fit(np.array([["a"]] * 6 + [["b"]] * 4, dtype=object))
        why = found.explain(0)
        assert (why.label, why.runner_up) == (0, 1)
        assert why.total > 20
        assert "Group 0 against group 1" in str(why)

    @pytest.mark.parametrize("estimate", ["map", "ml"])
    def test_a_new_row_that_no_group_allows(self, estimate):
        frame = pd.DataFrame({"a": list("xxxyyy"), "b": list("ppqqrr")})
        found = em(2, estimate=estimate).fit(frame)
        new = pd.DataFrame({"a": ["y"], "b": ["p"]})
        assert found.novelty(new).tolist() == [0.0]
        np.testing.assert_allclose(found.predict_proba(new).sum(axis=1), 1.0)
        why = found.explain(new)
        assert why.label != why.runner_up
        assert not np.isnan(why.total)
        if estimate == "map":
            assert np.isfinite(found.score_samples(new)).all()
        else:
            assert found.score_samples(new).tolist() == [-np.inf]


class TestCriteria:
    """BIC and AIC are scikit-learn's; ICL adds the entropy of the responsibilities."""

    @pytest.mark.parametrize("covariance", ["full", "diag"])
    @pytest.mark.parametrize("standardize", [True, False])
    def test_against_scikit_learn(self, covariance, standardize):
        ours = em(family=Gaussian(covariance=covariance), estimate="ml", reg_covar=0.0, standardize=standardize).fit(X)
        peer = GaussianMixture(4, covariance_type=covariance, reg_covar=0.0, tol=1e-9, n_init=5, random_state=0).fit(X)
        assert ours.bic_ == pytest.approx(peer.bic(X), rel=1e-8)
        assert ours.aic_ == pytest.approx(peer.aic(X), rel=1e-8)
        np.testing.assert_allclose(np.sort(ours.probabilities_, 1), np.sort(peer.predict_proba(X), 1), atol=1e-6)
        assert adjusted_rand_score(ours.labels_, peer.predict(X)) == 1.0

    def test_icl(self):
        found = em(3).fit(OVERLAPPING)
        resp = found.probabilities_
        entropy = -(resp * np.log(resp)).sum()
        assert entropy > 10
        assert found.icl_ == pytest.approx(found.bic_ + 2 * entropy, rel=1e-12)

    def test_categories_have_one_share_less_than_levels(self):
        table = np.array([[a, b] for a in "xyz" for b in "pq"] * 5, dtype=object)
        found = em(1, family=Categorical()).fit(table)
        assert found.bic_ == pytest.approx(-2 * found.score_samples(table).sum() + 3 * np.log(30))


class TestSelection:
    """The number of components from a range."""

    @mostly_long
    @pytest.mark.parametrize("select", ["bic", "icl"])
    @pytest.mark.parametrize("estimate", ["map", pytest.param("ml", marks=long)])
    def test_blobs(self, select, estimate):
        found = em(range(1, 8), select=select, estimate=estimate).fit(X)
        assert found.n_clusters_ == 4
        assert list(found.selection_) == list(range(1, 8))
        assert min(found.selection_.values()) == getattr(found, f"{select}_")
        alone = em(4, estimate=estimate).fit(X)
        np.testing.assert_array_equal(found.probabilities_, alone.probabilities_)

    def test_any_order_and_kind_of_numbers(self, tmp_path):
        several = [
            em(numbers, select="aic", n_init=2).fit(X) for numbers in ([5, 3, 4], (3, 4, 5), np.array([4, 5, 3]))
        ]
        assert len({found.aic_ for found in several}) == 1
        several[2].save(tmp_path / "chosen.partita")
        again = partita.load(tmp_path / "chosen.partita")
        assert again.selection_ == several[0].selection_
        np.testing.assert_array_equal(again.predict(X), several[2].labels_)

    def test_jobs_change_nothing(self):
        one, two = (em(range(2, 5), select="bic", n_jobs=jobs).fit(X) for jobs in (1, 2))
        np.testing.assert_array_equal(one.probabilities_, two.probabilities_)
        assert one.selection_ == two.selection_

    def test_grid_search(self):
        grid = {"prior__n_components": [2, 4], "engine__estimate": ["map", "ml"]}
        search = GridSearchCV(em(2, n_init=2), grid, cv=3).fit(X)
        assert search.best_params_["prior__n_components"] == 4


class TestWeights:
    def test_whole_weights_are_repeated_rows(self):
        copies = np.random.default_rng(4).integers(0, 4, len(X))
        for estimate in ("map", "ml"):
            tied = em(estimate=estimate, tol=1e-10).fit(X, sample_weight=copies)
            free = em(estimate=estimate, tol=1e-10).fit(np.repeat(X, copies, axis=0))
            np.testing.assert_allclose(np.repeat(tied.probabilities_, copies, axis=0), free.probabilities_, atol=1e-7)
            np.testing.assert_allclose(tied.bic_, free.bic_, rtol=1e-10)
            np.testing.assert_array_equal(tied.predict(X), free.predict(X))

    def test_also_with_missing_cells(self):
        table = np.where(np.random.default_rng(5).random(X.shape) < 0.1, NAN, X)
        table = table[~np.isnan(table).all(axis=1)]
        copies = np.random.default_rng(6).integers(1, 4, len(table))
        tied = em(tol=1e-10).fit(table, sample_weight=copies)
        free = em(tol=1e-10).fit(np.repeat(table, copies, axis=0))
        np.testing.assert_allclose(np.repeat(tied.probabilities_, copies, axis=0), free.probabilities_, atol=1e-6)

    @long
    def test_also_where_groups_overlap(self):
        table = np.where(np.random.default_rng(7).random(OVERLAPPING.shape) < 0.3, NAN, OVERLAPPING)
        table = table[~np.isnan(table).all(axis=1)]
        copies = np.random.default_rng(8).integers(1, 6, len(table))
        for family in (Gaussian(), Gaussian(covariance="diag")):
            tied = em(3, family=family, n_init=2).fit(table, sample_weight=copies)
            free = em(3, family=family, n_init=2).fit(np.repeat(table, copies, axis=0))
            np.testing.assert_allclose(tied.bic_, free.bic_, rtol=1e-9)

    def test_rows_of_weight_zero_and_empty_rows_teach_nothing(self):
        table = np.vstack([X, [[1e6, 0, 0]], np.full((1, 3), NAN)])
        weights = np.append(np.ones(len(X)), [0, 1])
        with pytest.warns(UserWarning, match="no observed cell"):
            found = em().fit(table, sample_weight=weights)
        alone = em().fit(X)
        np.testing.assert_allclose(found.probabilities_[:-2], alone.probabilities_, atol=1e-12)
        np.testing.assert_allclose(found.probabilities_[-1], np.exp(alone._clusters.log_seats[:-1]), rtol=1e-9)
        assert (found.posterior_.draws[:, -2:] == -1).all()


class TestOddTables:
    """The right answer, or a clear refusal."""

    @pytest.mark.parametrize("estimate", ["map", "ml"])
    def test_fewer_different_rows_than_components(self, estimate):
        table = np.repeat([[0.0, 1.0], [5.0, -2.0]], 10, axis=0)
        found = em(4, estimate=estimate).fit(table)
        assert found.labels_.tolist() == [0] * 10 + [1] * 10
        assert found.n_clusters_ == 2
        assert np.isfinite(found.score_samples(table)).all()

    @pytest.mark.parametrize("estimate", ["map", "ml"])
    def test_columns_that_repeat_each_other(self, estimate):
        table = np.column_stack([X[:, 0], 2 * X[:, 0], X[:, 1]])
        found = em(4, estimate=estimate).fit(table)
        assert adjusted_rand_score(Y, found.labels_) > 0.9
        assert np.isfinite(found.loglik_path_).all()

    def test_a_singular_covariance_without_reg_covar(self):
        table = np.column_stack([X[:, 0], 2 * X[:, 0]])
        with pytest.raises(ValueError, match="reg_covar"):
            em(2, estimate="ml", reg_covar=0.0).fit(table)

    def test_a_value_far_from_all_others(self):
        table = np.vstack([X, [[1e9, 1e9, 1e9]]])
        found = em(5).fit(table)
        assert (found.labels_ == found.labels_[-1]).sum() == 1
        assert np.isfinite(found.loglik_path_).all()

    def test_one_component_and_one_row(self):
        one = em(1).fit(X)
        assert one.n_clusters_ == 1
        assert (one.probabilities_ == 1).all()
        assert em(1).fit(X[:1]).labels_.tolist() == [0]

    def test_map_weights_below_zero_remove_components(self):
        found = em(30, concentration=0.01, n_init=2).fit(X[:60])
        assert found.n_clusters_ < 30
        assert found.probabilities_.shape == (60, found.n_clusters_)
        assert (np.diff(found.loglik_path_) >= 0).all()
        kept = em(30, concentration=31.0, n_init=2).fit(X[:60])
        assert kept.n_clusters_ == 30

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"n_components": 241}, "n_components=241 is more than there are rows to learn from: n_samples = 240"),
            ({"n_components": range(3, 300), "select": "bic"}, "n_components=241"),
            ({"n_components": range(1, 4)}, "several numbers: say how to choose among them with engine=EM"),
            ({"n_components": [], "select": "bic"}, "holds no number"),
            ({"n_components": [2, 2.5], "select": "bic"}, "n_components must be an integer of at least 1; got 2.5"),
            ({"prior": None}, "pass prior=FiniteDirichlet\\(n_components=...\\) instead of DirichletProcess"),
            ({"prior": StickBreaking(n_components=3)}, "instead of StickBreaking, or engine='gibbs'"),
            ({"estimate": "mle"}, "EM\\(estimate=...\\) must be one of 'map', 'ml'; got 'mle'. Did you mean 'ml'?"),
            ({"select": "BIC"}, "Did you mean 'bic'?"),
            ({"n_init": 0}, "EM\\(n_init=...\\) must be a whole number of at least 1"),
            ({"max_iter": 2.5}, "EM\\(max_iter=...\\) must be a whole number"),
            ({"tol": -1.0}, "EM\\(tol=...\\) must be a number of at least 0, got -1.0"),
            ({"reg_covar": "a"}, "EM\\(reg_covar=...\\) must be a number of at least 0"),
        ],
    )
    def test_refusals(self, options, words):
        with pytest.raises(ValueError, match=words):
            em(**options).fit(X)

    def test_a_range_is_for_em_only(self):
        with pytest.raises(ValueError, match="only engine=EM\\(select='bic'\\) can choose"):
            Mixture(prior=FiniteDirichlet(n_components=range(1, 4))).fit(X)

    def test_next_to_no_concentration(self):
        assert em(4, concentration=1e-18).fit(np.arange(4.0)[:, None]).n_clusters_ >= 1

    def test_groups_far_apart(self):
        rng = np.random.default_rng(1)
        table = np.vstack([rng.normal(size=(50, 3)), rng.normal(size=(50, 3)) + 1e8])
        found = em(2, family=Gaussian(scale=1.0, mean=0.0), standardize=False).fit(table)
        assert found.labels_.tolist() == [0] * 50 + [1] * 50

    def test_tiny_units(self):
        for scale in (1e-9, 1e9):
            found = em(4, standardize=False).fit(scale * (X - X.mean(axis=0)))
            assert adjusted_rand_score(Y, found.labels_) == 1.0

    def test_a_failed_fit_is_no_fit(self):
        model = em(4).fit(X)
        with pytest.raises(ValueError, match="n_components=300"):
            model.set_params(prior__n_components=300).fit(X)
        with pytest.raises(NotFittedError):
            model.predict(X)

    def test_time_that_has_run_out_ends_all_starts(self):
        with pytest.warns(ConvergenceWarning):
            found = em(range(1, 5), select="bic", max_time=1e-9).fit(OVERLAPPING)
        assert list(found.selection_) == [1, 2, 3, 4]
        assert found.n_iter_ == 1

    def test_an_interruption_keeps_what_there_is(self):
        def interrupt(progress):
            raise KeyboardInterrupt

        with pytest.warns(ConvergenceWarning, match="when it was interrupted, after 1 iteration"):
            assert em(3, progress=interrupt).fit(OVERLAPPING).n_iter_ == 1

    def test_too_few_iterations_are_told(self):
        with pytest.warns(ConvergenceWarning, match="max_iter=2 was reached, after 2 iterations"):
            em(3, max_iter=2).fit(OVERLAPPING)
        with pytest.warns(ConvergenceWarning, match="max_time=1e-09 was reached"):
            found = em(3, max_time=1e-9).fit(OVERLAPPING)
        assert not found.converged_


def test_progress_is_reported():
    seen = []
    em(3, n_init=2, progress=seen.append).fit(OVERLAPPING)
    assert seen
    assert seen[0].n_chains == 2
    assert seen[0].n_clusters == 3


class TestPriorPredictive:
    """Rows from the prior: a partition, parameters, cells."""

    @long
    @short_and_long("n_draws", 1000, 4000)
    def test_moments_of_known_variance(self, n_draws):
        family = Gaussian(covariance="known", mean=3.0, variance=4.0, mean_variance=5.0)
        model = Mixture(family=family, prior=DirichletProcess(concentration=2.0), standardize=False)
        draws = [model.set_params(random_state=seed).sample_prior(2, like=X[:, :1]) for seed in range(n_draws)]
        rows = np.array([rows[:, 0] for rows, _ in draws])
        together = np.array([labels[0] == labels[1] for _, labels in draws])
        assert together.mean() == pytest.approx(1 / 3, abs=5 * np.sqrt(2 / 9 / n_draws))
        assert rows.mean() == pytest.approx(3.0, abs=5 * 3 / np.sqrt(n_draws))
        assert rows.var() == pytest.approx(9.0, rel=0.1)
        covariance = np.mean((rows[together] - 3.0).prod(axis=1))
        assert covariance == pytest.approx(5.0, abs=5 * 12 / np.sqrt(together.sum()))

    def test_rows_look_like_the_table(self):
        frame = pd.DataFrame(
            {"size": [1.0, 2.5, None, 4.0], "colour": ["red", "blue", "red", None], "visits": [0, 3, 5, 1]},
            index=list("abcd"),
        )
        model = Mixture(random_state=0, column_types={"visits": "count"})
        rows, labels = model.sample_prior(50, like=frame)
        assert list(rows.columns) == ["size", "colour", "visits"]
        assert set(rows["colour"]) <= {"red", "blue"}
        assert (rows["visits"] >= 0).all()
        assert labels[0] == 0
        assert labels.max() + 1 == len(set(labels))
        again, same = model.sample_prior(50, like=frame)
        pd.testing.assert_frame_equal(rows, again)
        np.testing.assert_array_equal(labels, same)

    def test_a_fitted_model_knows_its_table(self):
        fitted = em(3, concentration=3.0).fit(OVERLAPPING)
        rows, labels = fitted.sample_prior(40)
        assert rows.shape == (40, 2)
        assert labels.max() < 3
        with pytest.raises(ValueError, match="n_samples must be a whole number"):
            fitted.sample_prior(0)

    def test_an_unfitted_one_must_be_told(self):
        with pytest.raises(NotFittedError):
            Mixture().sample_prior(3)

    def test_one_number_of_components(self):
        with pytest.raises(ValueError, match="several numbers: set one of them to draw from the prior"):
            em(range(1, 4), select="bic").sample_prior(3, like=X)
