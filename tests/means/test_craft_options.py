"""`CRAFT`: thresholds, squared distances, threads, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.oracles.craft import binary_blocks, normal_blocks, unequal_binary_blocks, unequal_normal_blocks
from tests.volumes import long, mostly_long, short_and_long

from partita.means import CRAFT, DPMeans
from partita.means.flips import with_single_flips
from partita.means.indicators import Indicators
from partita.means.thresholds import Thresholds
from partita.metrics import adjusted_rand

EVERY = {"n_features_to_select": 1.0, "n_init": 1}


def sets_of(features):
    return {tuple(np.flatnonzero(chosen)) for chosen in features}


def n_recovered(made, seeds=range(10), **options):
    found = 0
    for seed in seeds:
        table, groups, chosen = made(seed)
        model = CRAFT(n_clusters_hint=3, random_state=seed, **options).fit(table)
        found += adjusted_rand(groups, model.labels_) == 1.0 and sets_of(model.features_) == sets_of(chosen)
    return found


def mixed_table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1], n // 2)
    return pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "size": rng.normal(size=n) + 8.0 * groups,
            "colour": np.where(groups == 1, "red", rng.choice(["blue", "green"], n)),
            "day": rng.choice(["mon", "tue"], n),
        }
    ), groups


class TestThresholds:
    @pytest.mark.parametrize("gain", [0.2, 0.5, 0.9, 0.96])
    @mostly_long
    @short_and_long("share", 0.5, [0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9])
    def test_the_categories_of_figure_4_are_recovered(self, gain, share):
        for m in np.atleast_1d(share):
            options = {"budget": "approximate", "gain_threshold": gain, "n_features_to_select": float(m)}
            assert n_recovered(unequal_binary_blocks, **options) >= 9

    @pytest.mark.parametrize("variance", [1.5, 3.0, 5.0])
    @mostly_long
    @short_and_long("share", 0.5, [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9])
    def test_the_numbers_of_figure_4_are_recovered(self, variance, share):
        for m in np.atleast_1d(share):
            options = {"budget": "approximate", "variance_threshold": variance, "n_features_to_select": float(m)}
            assert n_recovered(unequal_normal_blocks, standardize=False, n_init=5, **options) >= 9

    def test_they_are_the_rule_of_the_paper(self):
        gains = np.array([[5.0, 1.0, 6.0, 0.0], [5.0, 9.0, 5.0, 4.0]])
        elsewhere = np.array([[7.0, 2.0, 10.0, 0.0], [0.0, 9.0, 10.0, 5.0]])
        spread = np.array([[1.0, 3.0], [0.0, 1.9]])
        both = Thresholds(2, 0.5, 2.0)
        np.testing.assert_array_equal(both.of_clusters(gains, elsewhere, spread), [[1, 0, 1, 0], [0, 1, 0, 1]])
        np.testing.assert_array_equal(both.of_rows(gains, elsewhere), [[1, 1, 1, 0], [0, 1, 0, 1]])
        one = Thresholds(2, None, 2.0, prices=np.full(4, 4.5))
        np.testing.assert_array_equal(one.of_clusters(gains, elsewhere, spread), [[1, 0, 1, 0], [0, 1, 1, 0]])

    def test_one_kind_may_have_none(self):
        X, groups = mixed_table()
        for options in ({"gain_threshold": 0.5}, {"variance_threshold": 3.0, "standardize": False}):
            model = CRAFT(n_clusters_hint=2, budget="approximate", random_state=0, **options).fit(X)
            assert adjusted_rand(groups, model.labels_) == 1.0
            assert model.get_support()[[1, 2]].all()
            np.testing.assert_array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (
                {"gain_threshold": 0.5},
                r"gain_threshold would do nothing with budget='fixed': pass budget='approximate'",
            ),
            ({"variance_threshold": 2.0}, "variance_threshold would do nothing with budget='fixed'"),
            (
                {"gain_threshold": 0.5, "variance_threshold": 2.0},
                "gain_threshold and variance_threshold would do nothing",
            ),
            (
                {"gain_threshold": 1.0, "budget": "approximate"},
                "gain_threshold must be None or a number between 0 and 1",
            ),
            ({"gain_threshold": "big", "budget": "approximate"}, "gain_threshold must be"),
            (
                {"variance_threshold": 0.0, "budget": "approximate"},
                "variance_threshold must be None or a positive number",
            ),
            ({"variance_threshold": 4.0, "budget": "approximate"}, "pass standardize=False with it"),
        ],
    )
    def test_wrong_ones_are_refused(self, options, words):
        with pytest.raises(ValueError, match=words):
            CRAFT(**options).fit(mixed_table()[0])


class TestWhatPays:
    @pytest.mark.parametrize("made", [unequal_binary_blocks, unequal_normal_blocks])
    def test_no_cluster_gains_by_one_more_column_or_one_less(self, made):
        table, groups, _ = made(1)
        costs = CRAFT(budget="approximate")._read_costs(table)
        start = costs.fitted(groups, 3)
        end = with_single_flips(costs, groups, start)

        def total(chosen):
            parts = np.split(chosen, [costs.blocks[0].n_columns], axis=1)
            summaries = [block.summarised(groups, 3) for block in costs.blocks]
            background = tuple(b.fitted(b.pooled(s, part)) for b, s, part in zip(costs.blocks, summaries, parts))
            clusters = end._replace(chosen=chosen, background=background)
            own = [costs.cheapest(clusters.taken(np.array([k])))[1][groups == k].sum() for k in range(3)]
            return sum(own) + costs.of_clusters(clusters)

        least = total(end.chosen)
        assert least <= total(start.chosen) + 1e-6
        for k, d in np.ndindex(end.chosen.shape):
            chosen = end.chosen.copy()
            chosen[k, d] = not chosen[k, d]
            assert total(chosen) >= least - 1e-5
        np.testing.assert_array_equal(costs.fitted(groups, 3, end, -np.inf).chosen, end.chosen)

    def test_nearly_all_columns_of_figure_4_are_right(self):
        """A column of noise that says something of a cluster by chance may pay."""
        wrong = 0
        for seed in range(6):
            table, groups, chosen = unequal_normal_blocks(seed)
            model = CRAFT(budget="approximate", n_clusters_hint=3, random_state=seed).fit(table)
            assert adjusted_rand(groups, model.labels_) == 1.0
            wrong += (model.features_ != [chosen[groups[model.labels_ == k][0]] for k in range(3)]).sum()
        assert wrong <= 3


class TestSquaredDistances:
    def test_categories_cost_half_the_squared_distance_of_their_indicators(self):
        rng = np.random.default_rng(0)
        codes = rng.integers(-1, 3, (40, 2)).astype(np.int32)
        labels, block = np.arange(40) % 3, Indicators(codes, np.array([3, 3]))
        shape = block.fitted(block.summarised(labels, 3))
        costs = block.costs(block.summarised(labels, 3), shape)
        for k in range(3):
            for j in range(2):
                cells = codes[(labels == k) & (codes[:, j] >= 0), j]
                indicators = np.eye(3)[cells]
                assert costs[k, j] == pytest.approx(0.5 * np.square(indicators - indicators.mean(axis=0)).sum())
        whole = block.fitted(block.summarised(np.zeros(40, int), 1))
        nothing = block.fitted(np.zeros((1, 6)))
        np.testing.assert_allclose(nothing, whole)
        np.testing.assert_array_equal(block.prior(shape), 0.0)
        np.testing.assert_array_equal(block.alone(slice(None)), 0.0)

    @pytest.mark.parametrize("n_clusters", [2, 4])
    def test_with_all_columns_it_is_dp_means(self, n_clusters):
        wine, (flags, _, _) = load_wine().data, binary_blocks(0)
        for X, options in ((wine, {"standardize": False}), (flags, {}), (flags, {"column_types": {"*": "numeric"}})):
            plain = DPMeans(n_clusters_hint=n_clusters).fit(X)
            model = CRAFT(
                penalty=plain.penalty_, distance="euclidean", **{"standardize": False} | options, **EVERY
            ).fit(X)
            np.testing.assert_array_equal(model.labels_, plain.labels_)
            assert model.objective_ == pytest.approx(plain.objective_)

    def test_the_subspaces_of_figure_2_are_recovered(self):
        assert n_recovered(binary_blocks, distance="euclidean", n_features_to_select=1 / 3) >= 9

    def test_a_mixed_table_with_gaps(self):
        X, groups = mixed_table()
        X.loc[::7, "size"], X.loc[::5, "colour"] = np.nan, None
        for options in ({}, {"budget": "approximate"}):
            model = CRAFT(n_clusters_hint=2, distance="euclidean", random_state=0, **options).fit(X)
            np.testing.assert_array_equal(model.predict(X), model.labels_)
            assert (np.diff(model.objective_path_) <= 1e-9 * abs(model.objective_)).all()
            assert adjusted_rand(groups, model.labels_) > 0.9

    def test_its_name_is_checked(self):
        with pytest.raises(ValueError, match="distance must be one of 'auto', 'euclidean'; got 'euclid'"):
            CRAFT(distance="euclid").fit(mixed_table()[0])


class TestThreads:
    @pytest.mark.parametrize("how", [{}, {"n_clusters_hint": 3}, {"penalty": 20.0}])
    def test_they_change_nothing(self, how):
        table, _, _ = normal_blocks(0)
        one, two = (CRAFT(n_init=4, n_jobs=n_jobs, random_state=1, **how).fit(table) for n_jobs in (None, 2))
        np.testing.assert_array_equal(one.labels_, two.labels_)
        np.testing.assert_array_equal(one.features_, two.features_)
        np.testing.assert_array_equal(one.objective_path_, two.objective_path_)
        assert one.penalty_ == two.penalty_

    def test_their_number_is_checked(self):
        with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0"):
            CRAFT(n_jobs=0).fit(mixed_table()[0])


class TestStrangeTables:
    def test_flags_that_were_scaled_and_back_are_flags(self):
        """0 may come back as 1e-17."""
        table, _, _ = unequal_binary_blocks(0)
        assert CRAFT(penalty=5.0, n_init=1).fit(table).table_.codes.shape == (300, 30)

    @pytest.mark.parametrize("options", [{}, {"n_clusters_hint": 1}, {"penalty": 3.0}, {"distance": "euclidean"}])
    def test_one_category_only(self, options):
        X = pd.DataFrame({"one": ["a"] * 12, "size": np.random.default_rng(0).normal(size=12)})
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*constant.*")
            model = CRAFT(n_init=2, random_state=0, **options).fit(X)
        assert not model.features_[:, 0].any()
        assert (model.gains_[:, 0] == 0.0).all()

    def test_a_penalty_that_leaves_rows_alone_is_said(self):
        X = np.random.default_rng(0).normal(size=(40, 3))
        with pytest.warns(
            UserWarning, match=r"At the penalty 1e-06, \d+ of 40 rows are clusters of their own: raise it"
        ):
            CRAFT(penalty=1e-6, distance="euclidean", **EVERY).fit(X)

    def test_all_columns_make_locality_meaningless(self):
        X, _ = mixed_table()
        first, second = (
            CRAFT(n_features_to_select=1.0, locality=rho, penalty=9.0, n_init=1).fit(X) for rho in (None, 0.1)
        )
        assert first.objective_ == second.objective_

    @pytest.mark.parametrize("rho", [1e-9, 0.2499999, None])
    def test_locality_up_to_its_limits(self, rho):
        X, groups = mixed_table()
        model = CRAFT(n_features_to_select=0.5, locality=rho, n_clusters_hint=2, random_state=0).fit(X)
        assert adjusted_rand(groups, model.labels_) == 1.0


@long
@parametrize_with_checks([CRAFT(n_clusters_hint=2, n_init=2, distance="euclidean", n_jobs=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
