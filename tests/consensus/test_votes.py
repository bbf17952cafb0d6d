"""How many votes an ensemble has: what members share, the rule, and NBCE(votes=...)."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, mutual_info_score, normalized_mutual_info_score

from partita import NBCE, load
from partita.consensus import add_label_noise, base_clusterings, votes
from partita.consensus.votes import (
    LEAST,
    TOLD,
    column_weight,
    effective_votes,
    share_labelled,
    shared_information,
    telling,
)
from partita.metrics import adjusted_rand
from partita.priors import Gamma


def noisy(n=400, members=8, rate=0.2, classes=4, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=n)
    return np.stack([add_label_noise(truth, rate, rng) for _ in range(members)], axis=1), truth


def by_definition(codes):
    """The mean over pairs, one after the other."""
    shares = []
    for a in range(codes.shape[1]):
        for b in range(a):
            one, other = codes[(codes[:, [a, b]] >= 0).all(axis=1)][:, [a, b]].T
            bias = (np.unique(one).size - 1) * (np.unique(other).size - 1) / (2 * one.size)
            entropies = [mutual_info_score(labels, labels) for labels in (one, other)]
            shares.append(max(mutual_info_score(one, other) - bias, 0.0) / np.sqrt(np.prod(entropies)))
    return np.mean(shares)


# --- what members share ---------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_shared_information_is_that_of_the_definition(missing):
    Y, _ = noisy(rate=0.3)
    Y[np.random.default_rng(1).random(Y.shape) < missing] = -1
    assert shared_information(Y) == pytest.approx(by_definition(Y), rel=1e-12)


def test_of_many_objects_it_is_scikit_learns_normalised_information():
    Y, _ = noisy(n=20_000, members=2)
    expected = normalized_mutual_info_score(*Y.T, average_method="geometric")
    assert shared_information(Y) == pytest.approx(expected, abs=1e-3)


def test_labels_drawn_at_random_share_nothing():
    Y = np.random.default_rng(0).integers(10, size=(200, 20))
    assert normalized_mutual_info_score(Y[:, 0], Y[:, 1]) > 0.1
    assert shared_information(Y) < 0.03


def test_pairs_of_many_labels_are_counted_without_their_table(monkeypatch):
    Y = np.column_stack([noisy(members=3)[0], np.arange(400), np.arange(400) // 2])
    expected = shared_information(Y)
    monkeypatch.setattr(votes, "MOST_CELLS", 40)
    assert shared_information(Y) == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(by_definition(Y), rel=1e-12)


def test_tables_are_counted_in_parts(monkeypatch):
    Y, _ = noisy()
    expected = shared_information(Y)
    for most in (16, 17, 50, 100):  # tables have 16 cells
        monkeypatch.setattr(votes, "MOST_CELLS", most)
        assert shared_information(Y) == expected


def test_of_more_pairs_and_objects_a_sample_is_counted(monkeypatch):
    Y, _ = noisy(n=4000, members=30)
    whole = by_definition(Y)
    monkeypatch.setattr(votes, "MOST_PAIRS", 100)
    monkeypatch.setattr(votes, "MOST_OBJECTS", 2000)
    assert shared_information(Y) == shared_information(Y)
    assert shared_information(Y) != pytest.approx(whole, rel=1e-9)
    assert shared_information(Y) == pytest.approx(whole, rel=0.05)


@pytest.mark.parametrize(
    "codes",
    [np.zeros((5, 3), int), np.arange(5)[:, None], np.array([[0, -1], [1, -1], [-1, 0], [-1, 1]])],
    ids=["one label", "one member", "never both"],
)
def test_where_nothing_can_be_shared_nothing_is(codes):
    assert shared_information(codes) == 0.0


# --- the rule -------------------------------------------------------------------------------------


def test_the_rule():
    assert effective_votes(0.0, 7) == 7.0
    assert effective_votes(0.5, 100) == 2.0 * TOLD
    assert effective_votes(0.5, 2) == 2.0
    assert effective_votes(1.0, 100) == TOLD
    assert effective_votes(0.5, 100, 0.25) == 8.0 * TOLD


def test_an_object_hears_as_much_where_members_label_a_part_of_them():
    Y, _ = noisy(members=40, rate=0.1)
    thin = np.where(np.random.default_rng(0).random(Y.shape) < 0.75, -1, Y)
    assert share_labelled(thin) == pytest.approx(0.25, abs=0.01)
    assert share_labelled(np.vstack([thin, np.full((50, 40), -1)])) == share_labelled(thin)
    per_object = [column_weight(codes, "auto") * share_labelled(codes) * 40 for codes in (Y, thin)]
    assert per_object[0] < 10.0
    assert per_object[1] == pytest.approx(per_object[0], rel=0.1)


def test_copies_add_no_votes():
    Y, _ = noisy(members=6, rate=0.1)
    weights = [column_weight(np.repeat(Y, times, axis=1), "auto") for times in (4, 8)]
    counted = [weight * 6 * times for weight, times in zip(weights, (4, 8))]
    assert counted[1] == pytest.approx(counted[0], rel=0.05)


def test_members_that_tell_nothing_have_no_vote():
    Y, _ = noisy(members=5)
    idle = np.column_stack([np.zeros(400, int), Y, np.full(400, -1)])
    assert telling(idle).tolist() == [False, True, True, True, True, True, False]
    assert column_weight(idle, "auto") == column_weight(Y, "auto")
    assert column_weight(idle, 2.0) == 2.0 / 5
    assert column_weight(np.full((5, 3), -1), "auto") == 1.0


# --- NBCE -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def alike():
    """k-means of three groups far apart, into 2 to 6 clusters: cuts within groups are shared by many members."""
    rng = np.random.default_rng(2)
    truth = np.repeat([0, 1, 2], [60, 100, 140])
    X = 10.0 * np.eye(3)[truth] + rng.normal(size=(300, 3))
    return base_clusterings(X, n=30, n_classes=3, subsample=0.8, random_state=0), truth


def test_groups_are_not_their_common_refinement(alike):
    base, truth = alike
    found = {votes: NBCE(votes=votes, engine="vb", random_state=0).fit(base) for votes in ("all", "auto")}
    assert found["all"].n_clusters_ > 3
    assert found["auto"].n_clusters_ == 3
    assert adjusted_rand_score(truth, found["auto"].labels_) == 1.0
    assert found["all"].votes_ == 30.0
    codes = np.asarray(base).T
    assert found["auto"].votes_ == pytest.approx(TOLD / shared_information(codes) / share_labelled(codes), rel=0.01)


def test_the_default_is_auto(alike):
    base, _ = alike
    assert NBCE().votes == "auto"
    one, other = (NBCE(engine="vb", random_state=0, **options).fit(base) for options in ({}, {"votes": "auto"}))
    np.testing.assert_array_equal(one.probabilities_, other.probabilities_)


@pytest.mark.filterwarnings("ignore:Chains do not agree")
@pytest.mark.parametrize("engine", ["gibbs", "vb", "cvb"])
def test_all_votes_are_the_model_of_the_paper(engine):
    Y, _ = noisy(n=60, members=4)
    options = {"draws": 100} if engine == "gibbs" else {}
    one, other = (NBCE(engine=engine, votes=votes, random_state=0, **options).fit(Y) for votes in ("all", 4))
    np.testing.assert_array_equal(one.posterior_.draws, other.posterior_.draws)
    assert one.family_.column_weight == other.family_.column_weight == 1.0


def test_members_twice_over_at_the_same_votes_are_the_members_once():
    Y, _ = noisy(n=100, members=5)
    once = NBCE(engine="vb", votes=3, random_state=0).fit(Y)
    twice = NBCE(engine="vb", votes=3, random_state=0).fit(np.hstack([Y, Y]))
    np.testing.assert_array_equal(once.labels_, twice.labels_)
    np.testing.assert_allclose(once.elbo_path_[-1], twice.elbo_path_[-1], rtol=1e-8)


def test_independent_members_keep_their_votes():
    Y, truth = noisy(members=20, rate=0.5)
    nbce = NBCE(engine="vb", random_state=0).fit(Y)
    assert nbce.votes_ > 15.0
    assert adjusted_rand_score(truth, nbce.labels_) > 0.8


def test_a_file_keeps_the_votes(tmp_path):
    Y, _ = noisy(n=60)
    nbce = NBCE(engine="vb", votes=2.5, random_state=0).fit(Y)
    nbce.save(tmp_path / "nbce.partita")
    loaded = load(tmp_path / "nbce.partita")
    assert loaded.votes_ == pytest.approx(2.5)
    assert loaded.votes == 2.5
    np.testing.assert_array_equal(loaded.predict_proba(Y), nbce.predict_proba(Y))


@pytest.mark.parametrize(
    "told", [0, -1, "some", None, np.nan, np.inf, True, pytest.param(10**400, id="huge"), Fraction(10**400, 3), 5e-324]
)
def test_what_is_no_number_of_votes_is_refused(told):
    with pytest.raises(ValueError, match=r"votes must be 'auto', 'all' or a number from 0\.001 to that of the"):
        NBCE(votes=told).fit(noisy(n=20)[0])


@pytest.mark.filterwarnings("ignore:Chains do not agree")
@pytest.mark.parametrize("engine", ["gibbs", "vb", "cvb"])
def test_the_least_number_of_votes_can_be_computed_with(engine):
    options = {"draws": 20, "chains": 2} if engine == "gibbs" else {}
    nbce = NBCE(engine=engine, votes=LEAST, random_state=0, **options).fit(noisy(n=20)[0])
    assert nbce.votes_ == pytest.approx(LEAST)
    assert np.isfinite(nbce.score_samples(noisy(n=20)[0])).all()


def test_more_votes_than_members_are_refused():
    Y = noisy(n=20, members=3)[0]
    with pytest.raises(ValueError, match="votes=4 are more than the 3 base clusterings that tell objects apart"):
        NBCE(votes=4).fit(Y)
    Y[:, :2] = 0
    with pytest.raises(ValueError, match="votes=2 are more than the 1 base clustering that tells objects apart"):
        NBCE(votes=2).fit(Y)
    Y[:, 2] = 0
    with pytest.raises(ValueError, match=r"votes=0\.5, but no base clustering tells objects apart: votes='auto' takes"):
        NBCE(votes=0.5).fit(Y)


@pytest.mark.parametrize("told", ["auto", "all", 1])
def test_one_member_is_one_vote(told):
    Y = np.repeat([0, 1, 2], 10)[:, None]
    with pytest.warns(UserWarning, match="clustering"):
        nbce = NBCE(engine="vb", votes=told, random_state=0).fit(Y)
    assert nbce.votes_ == 1.0


def test_members_that_are_all_equal_are_found_again():
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    Y = np.repeat(labels[:, None], 10, axis=1)
    for told in ("auto", "all"):
        np.testing.assert_array_equal(NBCE(engine="vb", votes=told, random_state=0).fit(Y).labels_, labels)


def test_no_member_tells_anything():
    nbce = NBCE(engine="vb", random_state=0).fit(np.zeros((20, 3), int))
    assert (nbce.votes_, nbce.n_clusters_) == (0.0, 1)


@pytest.mark.parametrize("votes", ["auto", "all", 2])
def test_what_a_cluster_holds_beforehand_is_four_objects_at_most_where_votes_are_counted(votes):
    rng = np.random.default_rng(0)
    Y = np.column_stack([np.arange(60) % n for n in (2, 4, 5, 20)])[rng.permutation(60)]
    found = NBCE(engine="vb", votes=votes, random_state=0).fit(Y)
    expected = [1.0] * 4 if votes == "all" else [1.0, 1.0, 0.8, 0.2]
    np.testing.assert_allclose(found._model.likelihood.pseudocount, expected)
    told = NBCE(engine="vb", votes=votes, pseudocount=1.0, random_state=0).fit(Y)
    np.testing.assert_allclose(told._model.likelihood.pseudocount, 1.0)
    learned = NBCE(engine="vb", votes=votes, learn=("pseudocount",), random_state=0).fit(Y)
    assert isinstance(learned.family_.pseudocount, Gamma)


def test_twenty_small_groups_are_found_from_members_of_many_labels():
    """A pseudocount of 1 for each of 20 labels is more than the 20 objects of a group."""
    truth = np.repeat(np.arange(20), 20)
    rng = np.random.default_rng(0)
    members = [add_label_noise(truth, 0.1, rng) for _ in range(10)]
    Y = np.column_stack(members)
    found = NBCE(engine="vb", votes=3.0, random_state=0).fit(Y)
    assert found.n_clusters_ == 20
    assert adjusted_rand(truth, found.labels_) > 0.95
    assert NBCE(engine="vb", votes=3.0, pseudocount=1.0, random_state=0).fit(Y).n_clusters_ < 20


def test_a_hundred_random_clusterings_are_one_group():
    Y = np.random.default_rng(0).integers(10, size=(500, 100))
    assert NBCE(engine="vb", random_state=0).fit(Y).n_clusters_ == 1
