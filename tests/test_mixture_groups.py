"""Mixture(n_clusters=K): the wish is answered, all that the model says agrees with the labels, a file keeps it."""

import pickle

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from tests.volumes import long

import partita
from partita import Mixture
from partita.engines import EM
from partita.files.container import read_container, write_container
from partita.files.json_options import from_json, to_json
from partita.files.layouts import MIXTURE
from partita.model.explanation import _of_group as terms_of_group
from partita.priors import DirichletProcess, FiniteDirichlet

SHORT = {"chains": 2, "draws": 60, "warmup": 60, "random_state": 0}
short_is_fine = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def moons():
    return make_moons(400, noise=0.06, random_state=0)


@pytest.fixture(scope="module")
def merged(moons):
    return Mixture(engine="vb", n_clusters=2, random_state=0).fit(moons[0])


@pytest.fixture(scope="module")
def free(moons):
    return Mixture(engine="vb", random_state=0).fit(moons[0])


class TestMerged:
    @long
    def test_labels_are_the_cut_of_the_hierarchy(self, merged, free, moons):
        cut = free.hierarchy()
        assert free.n_clusters_ > 2
        assert np.array_equal(merged.labels_, cut.labels(2))
        assert merged.probabilities_ == pytest.approx(cut.probabilities(2))
        assert merged.n_clusters_ == 2
        assert merged.groups_note_ == f"{free.n_clusters_} pieces were merged into 2 groups, as asked for."
        assert adjusted_rand_score(moons[1], merged.labels_) == 1.0

    @long
    def test_pieces_stay_in_the_hierarchy_and_in_the_draws(self, merged, free):
        assert np.array_equal(merged.hierarchy().labels(free.n_clusters_), free.labels_)
        assert np.array_equal(merged.hierarchy().merges, free.hierarchy().merges)
        assert np.array_equal(merged.posterior_.draws, free.posterior_.draws)

    def test_prediction_sums_over_pieces(self, merged, free, moons):
        rows = moons[0][:50] + 0.05
        group = merged.hierarchy().groups(2)
        pieces = free.predict_proba(rows)
        expected = np.stack([pieces[:, group == g].sum(axis=1) for g in range(2)], axis=1)
        assert merged.predict_proba(rows) == pytest.approx(expected)
        assert np.array_equal(merged.predict(rows), expected.argmax(axis=1))
        assert merged.novelty(rows) == pytest.approx(free.novelty(rows))
        assert merged.score_samples(rows) == pytest.approx(free.score_samples(rows))

    def test_samples_and_frames_speak_of_groups(self, merged, free):
        group = np.append(merged.hierarchy().groups(2), -1)
        assert np.array_equal(merged.sample(200)[1], group[free.sample(200)[1]])
        frame = merged.to_frame()
        assert np.array_equal(frame["label"], merged.labels_)
        assert np.array_equal(frame["runner_up"], 1 - merged.labels_)

    def test_profiles_are_of_the_rows_of_each_group(self, merged, moons):
        profile = merged.profile_
        for g in range(2):
            of_group = profile[(profile["cluster"] == g) & (profile["column"] == "x0")]
            rows = moons[0][merged.labels_ == g, 0]
            assert of_group["n_observed"].item() == rows.size
            assert of_group["mean"].item() == pytest.approx(rows.mean(), abs=0.01)
            assert of_group["sd"].item() == pytest.approx(rows.std(), rel=0.05)

    @pytest.mark.parametrize("row", [0, 17, 200])
    def test_explanations_add_up_to_the_odds_of_the_groups(self, merged, moons, row):
        found = merged.explain(row)
        log_odds = np.log(merged.predict_proba(moons[0][[row]])[0])
        assert found.label == merged.labels_[row]
        assert found.total == pytest.approx(log_odds[found.label] - log_odds[found.runner_up])
        seats = merged._clusters.log_seats[:-1]
        group = merged.hierarchy().groups(2)
        prior = [logsumexp(seats[group == g]) for g in (found.label, found.runner_up)]
        assert found.prior == pytest.approx(prior[0] - prior[1])

    @long
    def test_a_file_a_pickle_and_a_new_fit_keep_it(self, merged, moons, tmp_path):
        merged.save(tmp_path / "groups.partita")
        for twin in (partita.load(tmp_path / "groups.partita"), pickle.loads(pickle.dumps(merged))):
            assert twin.n_clusters == 2
            assert np.array_equal(twin.labels_, merged.labels_)
            assert np.array_equal(twin.probabilities_, merged.probabilities_)
            assert np.array_equal(twin.predict_proba(moons[0]), merged.predict_proba(moons[0]))
            assert np.array_equal(twin.hierarchy().merges, merged.hierarchy().merges)
            assert twin.groups_note_ == merged.groups_note_
        again = clone(merged).set_params(n_clusters=None).fit(moons[0])
        assert not hasattr(again, "groups_note_")
        assert again.n_clusters_ > 2
        reused = pickle.loads(pickle.dumps(merged)).set_params(n_clusters=None).fit(moons[0])
        assert np.array_equal(reused.labels_, again.labels_)


def blobs(n=90):
    return make_blobs(n, centers=[[0, 0], [12, 0], [0, 12]], random_state=0)


class TestNumbers:
    def test_the_number_that_is_found_anyway_changes_nothing(self):
        rows, _ = blobs()
        plain, told = (Mixture(engine="vb", n_clusters=k, random_state=0).fit(rows) for k in (None, 3))
        assert np.array_equal(plain.labels_, told.labels_)
        assert np.array_equal(plain.predict_proba(rows), told.predict_proba(rows))
        assert told.groups_note_ == "The estimate has 3 groups, as asked for."

    @short_is_fine
    def test_more_than_are_found_come_from_so_many_components(self, tmp_path):
        rows, truth = make_blobs(80, centers=[[0, 0], [4, 0]], random_state=3)
        prior = DirichletProcess(concentration=1e-30)
        assert Mixture(prior=prior, **SHORT).fit(rows).n_clusters_ == 1
        model = Mixture(prior=prior, n_clusters=2, **SHORT).fit(rows)
        assert model.n_clusters_ == 2
        assert model.groups_note_ == (
            "The table shows 1 group where 2 were asked for: "
            "it was fitted again with 2 components, all of which hold rows."
        )
        assert adjusted_rand_score(truth, model.labels_) > 0.5
        assert model._model.prior == FiniteDirichlet(n_components=2, concentration=2.0)
        model.save(tmp_path / "finite.partita")
        twin = partita.load(tmp_path / "finite.partita")
        assert np.array_equal(twin.predict_proba(rows), model.predict_proba(rows))
        assert twin.groups_note_ == model.groups_note_
        assert twin._model.prior == model._model.prior

    def test_components_that_stay_empty_are_spoken_of(self):
        rows = np.random.default_rng(0).standard_normal((200, 2))
        with pytest.warns(ConvergenceWarning, match="fitted again with 3 components, 1 of which got rows"):
            model = Mixture(engine="vb", n_clusters=3, random_state=0).fit(rows)
        assert model.n_clusters_ == 1

    def test_em_takes_the_number_as_its_components_or_merges_more(self, moons):
        rows, truth = blobs()
        plain = Mixture(engine="em", n_clusters=3, random_state=0).fit(rows)
        assert plain._model.prior.n_components == 3
        assert adjusted_rand_score(truth, plain.labels_) == 1.0
        prior = FiniteDirichlet(n_components=8)
        finer = Mixture(engine=EM(), prior=prior, n_clusters=2, random_state=0).fit(moons[0])
        assert finer.groups_note_ == "8 pieces were merged into 2 groups, as asked for."
        assert adjusted_rand_score(moons[1], finer.labels_) == 1.0
        sampled, _ = plain.sample_prior(5)
        assert sampled.shape == Mixture(engine="em", n_clusters=3).sample_prior(5, like=rows)[0].shape

    @pytest.mark.parametrize("wrong", [0, -1, 2.5, "two", True])
    def test_what_is_no_number_of_groups_is_refused(self, wrong):
        with pytest.raises((TypeError, ValueError), match="n_clusters must be"):
            Mixture(n_clusters=wrong).fit(blobs()[0])

    def test_more_groups_than_rows_are_refused(self):
        rows, weights = blobs(12)[0], np.ones(12)
        weights[:2] = 0
        with pytest.raises(ValueError, match="n_clusters=11 is more than there are rows to learn from: n_samples = 10"):
            Mixture(n_clusters=11).fit(rows, sample_weight=weights)

    @short_is_fine
    def test_rows_that_do_not_take_part_are_in_a_group_too(self):
        rows, _ = blobs()
        weights = np.ones(90)
        weights[:5] = 0
        model = Mixture(n_clusters=2, **SHORT).fit(rows, sample_weight=weights)
        assert set(model.labels_) == {0, 1}
        assert model.probabilities_.sum(axis=1) == pytest.approx(1.0)
        assert np.array_equal(model.labels_[:5], model.predict(rows[:5]))


class TestTermsOfAGroup:
    def test_they_are_differences_of_the_group_s_log_density(self):
        rng = np.random.default_rng(0)
        terms, seats = rng.normal(size=(3, 2, 4)), np.log([0.1, 0.3])
        shares = np.array([0.25, 0.75])
        density = [np.mean(np.exp(terms[:, :, :d].sum(axis=2)) @ shares) for d in range(5)]
        assert terms_of_group(terms, seats) == pytest.approx(np.diff(np.log(density)))

    def test_after_a_cell_that_is_impossible_in_all_clusters_nothing_is_added(self):
        terms = np.array([[[-1.0, -np.inf, -1.0], [-2.0, -np.inf, -3.0]]])
        found = terms_of_group(terms, np.log([0.5, 0.5]))
        assert found[0] == pytest.approx(np.log((np.exp(-1) + np.exp(-2)) / 2))
        assert found[1:].tolist() == [-np.inf, 0.0]


@pytest.mark.parametrize(
    "change",
    [
        {"groups": np.array([0, 1])},
        {"groups": np.arange(8) % 3},
        {"groups": np.zeros(8, dtype=np.int64)},
        {"groups": None, "refitted": "yes"},
        {"refitted": True},
        {"note": 3},
    ],
    ids=str,
)
def test_a_file_whose_groups_do_not_fit_is_refused(merged, tmp_path, change):
    merged.save(tmp_path / "groups.partita")
    header, arrays = read_container(tmp_path / "groups.partita", MIXTURE)
    header["mixture"]["grouping"] = to_json(from_json(header["mixture"]["grouping"]) | change)
    kept = {name: header[name] for name in ("traces", "provenance", "mixture")}
    write_container(tmp_path / "changed.partita", MIXTURE, kept, arrays)
    with pytest.raises(ValueError, match="is not as partita writes files"):
        partita.load(tmp_path / "changed.partita")


def test_a_grouping_that_nobody_asked_for_is_refused(merged, tmp_path):
    merged.save(tmp_path / "groups.partita")
    header, arrays = read_container(tmp_path / "groups.partita", MIXTURE)
    header["mixture"]["options"]["n_clusters"] = None
    kept = {name: header[name] for name in ("traces", "provenance", "mixture")}
    write_container(tmp_path / "changed.partita", MIXTURE, kept, arrays)
    with pytest.raises(ValueError, match="n_clusters"):
        partita.load(tmp_path / "changed.partita")
