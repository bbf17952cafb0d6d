"""NBCE: what its options mean, what it finds, and that the way a matrix is written does not matter."""

import pickle
from copy import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from tests.consensus.ensembles import GOLDEN, categorical, noisy_copies, quick, unconverged_is_fine
from tests.volumes import long

import partita
from partita import NBCE, Partitions
from partita.consensus import base_clusterings, drop_labels
from partita.consensus.agreement import base_agreement
from partita.engines import EM
from partita.families import Categorical
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, Gamma, PitmanYor, StickBreaking

pytestmark = [categorical, unconverged_is_fine]


@pytest.fixture(scope="module")
def ensemble():
    Y, truth = noisy_copies()
    return drop_labels(Y, 0.1, 3), truth


@pytest.fixture(scope="module")
def fitted(ensemble):
    return quick().fit(ensemble[0])


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "prior"),
        [
            ({}, StickBreaking(n_components=100, concentration=Gamma(1.0, 1.0))),
            ({"concentration": 4.0}, StickBreaking(n_components=100, concentration=Gamma(1.0, 0.25))),
            ({"concentration": Gamma(2.0, 3.0)}, StickBreaking(n_components=100, concentration=Gamma(2.0, 3.0))),
            ({"learn": ()}, StickBreaking(n_components=100, concentration=1.0)),
            ({"learn": [], "concentration": 4}, StickBreaking(n_components=100, concentration=4.0)),
            ({"learn": ("pseudocount",)}, StickBreaking(n_components=100, concentration=1.0)),
            (
                {"prior": "finite-dirichlet", "n_components": 7, "learn": ()},
                FiniteDirichlet(n_components=7, concentration=1.0),
            ),
            ({"prior": "dirichlet-process"}, DirichletProcess(concentration=Gamma(1.0, 1.0))),
            ({"prior": "pitman-yor"}, PitmanYor(concentration=Gamma(1.0, 1.0))),
            ({"prior": "finite-mixtures", "learn": ()}, FiniteMixtures(concentration=1.0)),
            ({"prior": DirichletProcess(concentration=2.0)}, DirichletProcess(concentration=2.0)),
            ({"prior": DirichletProcess(concentration=2.0), "learn": ()}, DirichletProcess(concentration=2.0)),
            ({"prior": DirichletProcess()}, DirichletProcess()),
            ({"prior": DirichletProcess(), "learn": ()}, DirichletProcess(concentration=0.1)),
            (
                {"prior": FiniteDirichlet(n_components=9, concentration=Gamma(3.0, 2.0)), "learn": ()},
                FiniteDirichlet(n_components=9, concentration=1.5),
            ),
            ({"prior": PitmanYor(concentration=1.0, discount=0.5)}, PitmanYor(concentration=1.0, discount=0.5)),
        ],
    )
    def test_the_prior(self, options, prior):
        assert NBCE(**options)._options().prior == prior

    @pytest.mark.parametrize(
        ("options", "family"),
        [
            ({}, Categorical(pseudocount=1.0)),
            ({"pseudocount": None}, Categorical(pseudocount=1.0)),
            ({"pseudocount": 0.3, "learn": ()}, Categorical(pseudocount=0.3)),
            ({"pseudocount": [0.3, 2.0]}, Categorical(pseudocount=[0.3, 2.0])),
            ({"pseudocount": 0.5, "learn": ("pseudocount",)}, Categorical(pseudocount=Gamma(1.0, 2.0))),
            ({"pseudocount": Gamma(2.0, 3.0), "learn": ("pseudocount",)}, Categorical(pseudocount=Gamma(2.0, 3.0))),
        ],
    )
    def test_the_family(self, options, family):
        assert NBCE(**options)._options().family == family

    @pytest.mark.parametrize(
        ("options", "kind", "words"),
        [
            ({"prior": "stick-braking"}, ValueError, "'stick-breaking'"),
            ({"prior": None}, TypeError, "prior must be one of"),
            ({"prior": DirichletProcess(), "concentration": 2.0}, ValueError, "beside a prior object: give it to"),
            ({"n_components": 0}, ValueError, "n_components"),
            ({"concentration": -1.0}, ValueError, "concentration must be a positive number"),
            ({"concentration": -1.0, "learn": ()}, ValueError, "concentration must be a positive number"),
            ({"concentration": Gamma(), "learn": ()}, ValueError, "learn does not hold 'concentration'"),
            ({"pseudocount": Gamma()}, ValueError, "learn does not hold 'pseudocount'"),
            ({"pseudocount": [1.0], "learn": ("pseudocount",)}, ValueError, "pseudocount must be a positive number"),
            ({"learn": "concentration"}, TypeError, r"Did you mean \('concentration',\)"),
            ({"learn": None}, TypeError, "tuple of names"),
            ({"learn": ("concentraton",)}, ValueError, "Did you mean 'concentration'"),
            ({"engine": "gibs"}, ValueError, "'gibbs'"),
            ({"draws": 0}, ValueError, "draws"),
            ({"chains": 1.5}, ValueError, "chains"),
            ({"max_time": -1}, ValueError, "max_time"),
            ({"progress": 3}, TypeError, "progress"),
            ({"random_state": "x"}, ValueError, "random_state"),
        ],
    )  # fmt: skip
    def test_wrong_options_are_refused_before_anything_runs(self, options, kind, words):
        with pytest.raises(kind, match=words):
            NBCE(**options).check()
        with pytest.raises(kind, match=words):
            NBCE(**options).fit(GOLDEN)

    def test_a_wrong_pseudocount_is_refused(self):
        with pytest.raises(ValueError, match="pseudocount"):
            NBCE(pseudocount=-1.0).fit(GOLDEN)


class TestFinds:
    def test_the_groups_behind_noisy_copies(self, ensemble, fitted):
        assert fitted.n_clusters_ == 3
        assert adjusted_rand_score(ensemble[1], fitted.labels_) == 1.0
        np.testing.assert_allclose(fitted.probabilities_.sum(axis=1), 1.0)
        assert (np.diff(np.bincount(fitted.labels_)) <= 0).all()

    @pytest.mark.parametrize("prior", ["finite-dirichlet", "dirichlet-process"])
    def test_the_same_groups_under_other_priors(self, ensemble, prior):
        assert adjusted_rand_score(ensemble[1], quick(prior=prior).fit_predict(ensemble[0])) == 1.0

    def test_groups_of_new_objects(self, fitted):
        new = np.array([[0] * 6, [1] * 6, [2] * 6, [2, 2, -1, -1, 2, 1]])
        groups = fitted.predict(new)
        assert groups[2] == groups[3]
        assert len(set(groups)) == 3
        np.testing.assert_array_equal(fitted.predict_proba(new).argmax(axis=1), groups)

    def test_a_label_never_seen_is_none_or_refused(self, fitted):
        new, gaps = np.array([[0, 0, 9, 0, 0, 0]]), np.array([[0, 0, -1, 0, 0, 0]])
        methods = ("predict", "predict_proba", "score_samples", "novelty", "perplexity")
        for method in methods:
            with pytest.warns(UserWarning, match="1 cell holds a value not seen in fit") as said:
                answer = getattr(fitted, method)(new)
            assert len(said) == 1
            np.testing.assert_array_equal(answer, getattr(fitted, method)(gaps))
        strict = copy(fitted).set_params(unseen="error")
        for method in methods:
            with pytest.raises(ValueError, match=r"'x2' has 1 value not seen in fit: 9 \(row 0\)"):
                getattr(strict, method)(new)

    def test_held_out_objects_surprise_more_than_training_ones(self):
        Y, _ = noisy_copies(400, rate=0.2)
        rng = np.random.default_rng(0)
        held_out = rng.random(400) < 0.3
        nbce = quick().fit(Y[~held_out])
        scrambled = np.stack([rng.permutation(column) for column in Y.T], axis=1)
        assert 1.0 < nbce.perplexity(Y[~held_out]) < 3.0
        assert nbce.perplexity(Y[held_out]) < nbce.perplexity(scrambled)

    def test_agreement_ranks_the_clusterings_by_their_noise(self):
        truth = noisy_copies(300)[1]
        rng = np.random.default_rng(1)
        rates = [0.0, 0.1, 0.25, 0.5]
        Y = np.stack([np.where(rng.random(300) < rate, rng.integers(3, size=300), truth) for rate in rates], axis=1)
        nbce = quick(pseudocount=0.5).fit(Y)
        assert (np.diff(nbce.base_agreement_) < 0).all()
        np.testing.assert_allclose(nbce.base_agreement_, base_agreement(Y, nbce.labels_, np.full(4, 0.5)), rtol=1e-12)

    def test_base_clusterings_go_straight_in(self):
        rng = np.random.default_rng(0)
        truth = np.repeat([0, 1, 2], [30, 50, 70])
        X = 10.0 * np.eye(3)[truth] + rng.normal(size=(150, 3))
        partitions = base_clusterings(X, n_classes=3, subsample=0.8, random_state=0)
        nbce = quick().fit(partitions)
        assert nbce.n_features_in_ == 10
        assert adjusted_rand_score(truth, nbce.labels_) > 0.9
        np.testing.assert_array_equal(nbce.predict(partitions), nbce.predict(np.asarray(partitions).T))
        assert nbce.perplexity(partitions) > 1.0


class TestTheSameMatrixWrittenOtherwise:
    def assert_same(self, found, expected, order=slice(None)):
        np.testing.assert_array_equal(found.labels_, expected.labels_[order])
        np.testing.assert_allclose(found.probabilities_, expected.probabilities_[order], atol=1e-12)
        for name, trace in expected.posterior_.traces.items():
            np.testing.assert_allclose(found.posterior_.traces[name], trace, rtol=1e-9, err_msg=name)

    def test_objects_in_another_order(self, ensemble, fitted):
        order = np.random.default_rng(0).permutation(90)
        self.assert_same(quick().fit(ensemble[0][order]), fitted, order)

    def test_clusterings_in_another_order(self, ensemble, fitted):
        order = [3, 0, 5, 1, 4, 2]
        found = quick().fit(ensemble[0][:, order])
        self.assert_same(found, fitted)
        np.testing.assert_allclose(found.base_agreement_, fitted.base_agreement_[order], rtol=1e-9)

    def test_labels_by_other_names(self, ensemble, fitted):
        renamed = np.array(["zebra", "ape", "cow", None], dtype=object)[ensemble[0]]
        found = quick().fit(renamed)
        self.assert_same(found, fitted)
        np.testing.assert_allclose(found.base_agreement_, fitted.base_agreement_, rtol=1e-9)
        assert found.perplexity(renamed) == pytest.approx(fitted.perplexity(ensemble[0]), rel=1e-9)

    def test_all_of_it_at_once(self, ensemble, fitted):
        rng = np.random.default_rng(5)
        rows, columns = rng.permutation(90), rng.permutation(6)
        Y = ensemble[0][rows][:, columns]
        Y = np.stack([np.append(rng.permutation(40)[:3], -1)[column] for column in Y.T], axis=1)
        self.assert_same(quick().fit(Y), fitted, rows)

    def test_draws_belong_to_their_objects(self, ensemble):
        """Without equal objects every draw of a permuted matrix is the permuted draw."""
        rows = np.unique(ensemble[0], axis=0)
        order = np.random.default_rng(1).permutation(len(rows))
        first, second = quick().fit(rows), quick().fit(rows[order])
        np.testing.assert_array_equal(Partitions(first.posterior_.draws[:, order]), second.posterior_.draws)
        assert first.posterior_.provenance["data"] == first._model.table.fingerprint()

    @pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
    def test_frames(self, ensemble, fitted, library):
        frame = library({f"run {m}": column for m, column in enumerate(ensemble[0].T)})
        found = quick().fit(frame)
        self.assert_same(found, fitted)
        assert list(found.feature_names_in_) == [f"run {m}" for m in range(6)]
        assert type(found.to_frame()) is library
        np.testing.assert_array_equal(found.predict(frame[::-1]), found.predict(frame)[::-1])

    def test_equal_objects_are_equally_sure(self, fitted, ensemble):
        _, first, kind = np.unique(ensemble[0], axis=0, return_index=True, return_inverse=True)
        np.testing.assert_array_equal(fitted.probabilities_, fitted.probabilities_[first[kind.ravel()]])
        np.testing.assert_array_equal(fitted.labels_, fitted.labels_[first[kind.ravel()]])


@pytest.mark.parametrize("prior", ["stick-breaking", "finite-dirichlet"])
def test_the_consensus_has_no_more_clusters_than_the_prior_allows(prior):
    """Of all partitions one of five clusters has the least expected loss, but the prior could never predict from it."""
    Y = [[3, 1, 0], [2, 3, 1], [3, 1, 3], [0, 1, 1], [0, 3, 3], [0, 3, 3], [1, 1, 2], [2, 1, 0], [3, 2, 0], [2, 2, 0]]
    nbce = quick(prior=prior, n_components=4, pseudocount=0.1, concentration=10.0, learn=(), draws=100, min_support=0)
    nbce.fit(Y)
    assert nbce.n_clusters_ == 4
    np.testing.assert_allclose(nbce.predict_proba(Y).sum(axis=1), 1.0)


class TestAnswers:
    """What a fitted mixture answers, asked of a consensus: its columns are the base clusterings."""

    def test_the_profile_is_of_labels_within_clusters(self, ensemble, fitted):
        profile = fitted.profile_
        assert set(profile["kind"]) == {"categorical"}
        sums = profile.groupby(["cluster", "column"])["share"].sum()
        np.testing.assert_allclose(sums, 1.0, atol=1e-9)
        largest = profile[profile["share"] > 0.5]
        assert len(largest) == ensemble[0].shape[1] * fitted.n_clusters_  # a noisy copy has one label per cluster

    def test_an_explanation_adds_up_to_the_log_odds(self, ensemble, fitted):
        told = fitted.explain(4)
        first, second = np.sort(fitted.predict_proba(ensemble[0][[4]])[0])[::-1][:2]
        assert told.total == pytest.approx(np.log(first / second), abs=1e-6)
        assert list(told.log_weights) == [f"x{m}" for m in range(ensemble[0].shape[1])]

    def test_new_objects_have_labels_of_the_clusterings(self, ensemble, fitted):
        objects, clusters = fitted.sample(400)
        for column, known in zip(np.asarray(objects).T, ensemble[0].T):
            assert set(column) <= set(known[known >= 0])
        seen = clusters >= 0  # not of a cluster that is yet to come
        np.testing.assert_allclose(np.bincount(clusters[seen]) / 400, np.bincount(fitted.labels_) / 90, atol=0.1)
        assert np.mean(fitted.predict(np.asarray(objects))[seen] == clusters[seen]) > 0.9


class TestPriorPredictive:
    """Labels from the prior: a partition, shares of labels for every cluster and clustering, then labels."""

    @long
    @pytest.mark.parametrize(
        "prior",
        [
            StickBreaking(n_components=4, concentration=2.0),
            pytest.param(DirichletProcess(concentration=2.0), marks=long),
        ],
    )
    def test_two_objects_agree_as_often_as_they_should(self, prior):
        beta, like, n = 0.7, GOLDEN, 4000
        model = NBCE(prior=prior, pseudocount=beta, learn=())
        draws = [model.set_params(random_state=seed).sample_prior(2, like=like) for seed in range(n)]
        together = np.exp(prior.log_probability([0, 0]))
        assert np.mean([first == second for _, (first, second) in draws]) == pytest.approx(
            together, abs=5 / np.sqrt(4 * n)
        )
        cells = np.array([np.asarray(rows) for rows, _ in draws])
        for m, n_labels in enumerate([2, 3, 2]):
            own = np.unique(GOLDEN[:, m][GOLDEN[:, m] >= 0])
            assert set(cells[:, :, m].ravel()) == set(own)
            agree = together * (beta + 1) / (n_labels * beta + 1) + (1 - together) / n_labels
            assert np.mean(cells[:, 0, m] == cells[:, 1, m]) == pytest.approx(agree, abs=5 / np.sqrt(4 * n))

    def test_a_fitted_one_knows_its_labels(self, ensemble, fitted):
        rows, labels = fitted.sample_prior(50)
        assert np.asarray(rows).shape == (50, 6)
        assert labels[0] == 0
        frame = pd.DataFrame({"ours": ["a", "b", "b"], "theirs": [1, 2, 1]})
        rows, _ = NBCE(random_state=0).sample_prior(20, like=frame)
        assert list(rows.columns) == ["ours", "theirs"]
        assert set(rows["ours"]) <= {"a", "b"}
        rows, _ = NBCE(random_state=0, engine="vb").sample_prior(5, like=Partitions(ensemble[0].T))
        assert np.asarray(rows).shape == (5, 6)

    def test_an_unfitted_one_must_be_told(self):
        with pytest.raises(NotFittedError, match="pass like=X, or call fit first"):
            NBCE().sample_prior(3)


class TestKept:
    def test_in_a_pickle(self, ensemble, fitted):
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict_proba(ensemble[0]), fitted.predict_proba(ensemble[0]))
        np.testing.assert_array_equal(again.base_agreement_, fitted.base_agreement_)

    def test_in_a_file(self, ensemble, fitted, tmp_path):
        fitted.save(tmp_path / "consensus.partita")
        again = partita.load(tmp_path / "consensus.partita")
        assert isinstance(again, NBCE)
        np.testing.assert_array_equal(again.labels_, fitted.labels_)
        np.testing.assert_array_equal(again.base_agreement_, fitted.base_agreement_)
        assert again.perplexity(ensemble[0]) == fitted.perplexity(ensemble[0])
        np.testing.assert_array_equal(again.fit(ensemble[0]).labels_, fitted.labels_)


class TestVariationalEngines:
    @pytest.mark.parametrize("prior", ["stick-breaking", "finite-dirichlet", "dirichlet-process"])
    @pytest.mark.parametrize("engine", ["vb", "cvb"])
    def test_the_groups_behind_noisy_copies(self, ensemble, engine, prior):
        Y, truth = ensemble
        nbce = NBCE(engine=engine, prior=prior, n_components=20, random_state=0).fit(Y)
        assert adjusted_rand_score(truth, nbce.labels_) == 1.0
        assert nbce.elbo_path_.ndim == 1
        assert (nbce.base_agreement_ > 0.3).all()
        assert 1.0 < nbce.perplexity(Y) < 3.0
        assert nbce.posterior_.n_objects == 90
        assert nbce.posterior_.provenance["data"] == nbce._model.table.fingerprint()

    @pytest.mark.parametrize("engine", ["vb", "cvb"])
    def test_orders_and_names_change_nothing(self, ensemble, engine):
        """Objects and clusterings permuted, labels renamed, one pseudocount per clustering: equal bit by bit."""
        rng = np.random.default_rng(5)
        rows, columns = rng.permutation(90), rng.permutation(6)
        moved = ensemble[0][rows][:, columns]
        moved = np.stack([np.append(rng.permutation(40)[:3], -1)[column] for column in moved.T], axis=1)
        beta = np.linspace(0.5, 2.0, 6)
        options = {"engine": engine, "n_components": 20, "random_state": 0}
        first = NBCE(pseudocount=beta, **options).fit(ensemble[0])
        second = NBCE(pseudocount=beta[columns], **options).fit(moved)
        np.testing.assert_array_equal(second.labels_, first.labels_[rows])
        np.testing.assert_array_equal(second.probabilities_, first.probabilities_[rows])
        np.testing.assert_array_equal(second.elbo_path_, first.elbo_path_)
        np.testing.assert_allclose(second.base_agreement_, first.base_agreement_[columns], rtol=1e-12)
        np.testing.assert_allclose(second.predict_proba(moved), first.predict_proba(ensemble[0])[rows], rtol=1e-12)

    @pytest.mark.parametrize("learn", [(), ("concentration", "pseudocount")])
    def test_state_and_engine_are_those_of_the_columns_as_given(self, ensemble, learn):
        """A step from the state that fit ended in reports the bound that fit reports."""
        Y = ensemble[0]
        nbce = NBCE(engine="vb", n_components=20, learn=learn, random_state=0).fit(Y)
        steps, state = nbce.steps_, nbce.state_
        after = steps.global_step(steps.local_statistics(Y, state), state)
        assert after.bound == pytest.approx(nbce.elbo_path_[-1], rel=1e-12)
        loglik = sum(steps.column_loglik(column, state, m) for m, column in enumerate(Y.T))
        resp = steps.responsibilities(loglik, state)
        order = np.argsort(-np.bincount(resp.argmax(axis=1), minlength=resp.shape[1]), kind="stable")
        kept = resp[:, order[: nbce.n_clusters_]]  # without slivers that no object prefers
        np.testing.assert_allclose(kept / kept.sum(axis=1, keepdims=True), nbce.probabilities_, atol=1e-9)

    @pytest.mark.parametrize("prior", ["stick-breaking", "finite-dirichlet", "dirichlet-process"])
    @pytest.mark.parametrize("engine", ["vb", "cvb"])
    def test_components_that_do_not_suffice_are_told(self, ensemble, engine, prior):
        with pytest.warns(ConvergenceWarning, match="All 2 components are in use"):
            NBCE(engine=engine, prior=prior, n_components=2, random_state=0).fit(ensemble[0])

    def test_n_components_truncates_a_process_that_is_named(self):
        for engine in ("vb", "cvb"):
            prior = NBCE(prior="dirichlet-process", engine=engine, n_components=7)._options().prior
            assert prior == StickBreaking(n_components=7, concentration=Gamma(1.0, 1.0))

    def test_raw_labels_cross_the_line_to_the_steps(self, ensemble):
        """Statistics of two halves, raw labels with gaps in, add up to those of the whole."""
        Y = ensemble[0]
        nbce = NBCE(engine="vb", n_components=20, random_state=0).fit(Y)
        steps, state = nbce.steps_, nbce.state_
        halves = steps.merge(steps.local_statistics(Y[:40], state), steps.local_statistics(Y[40:], state))
        for found, expected in zip(halves, steps.local_statistics(Y, state)):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
        gap = np.where(np.arange(90) < 5, -1, Y[:, 2])
        np.testing.assert_array_equal(steps.column_loglik(gap, state, 2)[:5], 0.0)

    def test_a_learned_pseudocount(self, ensemble):
        nbce = NBCE(engine="vb", learn=("concentration", "pseudocount"), random_state=0).fit(ensemble[0])
        assert (nbce._model.likelihood.pseudocount != 1.0).all()
        sampled = quick(learn=("concentration", "pseudocount")).fit(ensemble[0])
        assert np.ptp(sampled.posterior_.traces["pseudocount"]) > 0.0


class TestEngines:
    @pytest.mark.parametrize("engine", ["em", "svi"])
    def test_names_of_others_are_refused_with_those_that_will_do(self, ensemble, engine):
        with pytest.raises(ValueError, match=rf"engine must be one of 'gibbs', 'vb', 'cvb'; got '{engine}'"):
            NBCE(engine=engine).fit(ensemble[0])

    def test_em_is_refused(self, ensemble):
        with pytest.raises(ValueError, match=r"which EM is told: pass engine='gibbs', 'vb' or 'cvb'"):
            NBCE(engine=EM(), prior=FiniteDirichlet(n_components=3)).fit(ensemble[0])
