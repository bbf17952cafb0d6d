"""Hierarchy: what every number of groups says of the rows, numbering, cuts, and a fitted estimator's own."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from tests.volumes import long, mostly_long

from partita import NBCE, Mixture
from partita.posterior.hierarchy import SMALL_SHARE, Hierarchy, hierarchy
from partita.posterior.overlap import MisclassificationOverlap

PIECES = np.repeat([4, 0, 3, 1, 2], [3, 4, 2, 6, 5])
"""Pieces 0 to 4 have 4, 6, 5, 2 and 3 rows; piece 4 comes first."""

MERGES = np.array([[3, 4, 0.3, 5], [0, 2, 0.1, 9], [5, 6, 0.2, 14], [1, 7, 0.0, 20]], dtype=float)


def by_hand(weights=None):
    """Overlaps of the merges rise once."""
    row_weights = np.ones(20) if weights is None else weights
    return Hierarchy(PIECES, np.eye(5)[PIECES], row_weights, MERGES, "misclassification", suggested=3)


class TestByHand:
    @pytest.mark.parametrize(
        ("n_groups", "groups"),
        [(5, [0, 1, 2, 3, 4]), (4, [3, 0, 2, 1, 1]), (3, [0, 1, 0, 2, 2]), (2, [0, 1, 0, 0, 0]), (1, [0] * 5)],
    )
    def test_groups_are_numbered_by_size_then_first_row_and_pieces_keep_their_numbers(self, n_groups, groups):
        assert by_hand().groups(n_groups).tolist() == groups
        assert np.array_equal(by_hand().labels(n_groups), np.array(groups)[PIECES])

    def test_sizes_are_counted_by_weight(self):
        heavy = np.where(PIECES == 1, 10.0, 1.0)
        assert by_hand(heavy).sizes.tolist() == [4, 60, 5, 2, 3]
        assert by_hand(heavy).groups(3).tolist() == [1, 0, 1, 2, 2]

    def test_heights_never_rise(self):
        assert by_hand().overlaps.tolist() == [0.3, 0.1, 0.1, 0.0]

    @pytest.mark.parametrize(
        ("overlap", "n_groups"), [(2, 5), (0.3, 5), (0.29, 4), (0.15, 4), (0.1, 4), (0.09, 2), (0.05, 2), (0, 2)]
    )
    def test_a_cut_by_overlap_ends_when_no_two_groups_overlap_more(self, overlap, n_groups):
        found = by_hand()
        assert found.n_groups(overlap) == n_groups
        assert np.array_equal(found.labels(overlap=overlap), found.labels(n_groups))
        assert np.array_equal(found.probabilities(overlap=overlap), found.probabilities(n_groups))

    def test_the_suggestion_is_the_default(self):
        assert np.array_equal(by_hand().labels(), by_hand().labels(3))

    def test_rows_without_a_piece_have_no_group(self):
        pieces = PIECES.copy()
        pieces[0] = -1
        found = Hierarchy(pieces, np.eye(5)[PIECES], np.ones(20), MERGES, "misclassification", suggested=2)
        assert found.labels(2)[0] == -1
        assert np.array_equal(found.labels(2)[1:], by_hand().labels(2)[1:])

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"n_groups": 6}, "n_groups must be at most 5, the number of pieces; got 6"),
            ({"n_groups": 0}, "n_groups must be"),
            ({"n_groups": 1.5}, "n_groups must be"),
            ({"overlap": -0.1}, "overlap must be a number, 0 or more"),
            ({"overlap": "all"}, "overlap must be a number, 0 or more"),
            ({"n_groups": 2, "overlap": 0.1}, "n_groups or overlap, not both"),
        ],
    )
    def test_what_cannot_be_cut_is_refused(self, options, words):
        with pytest.raises((TypeError, ValueError), match=words):
            by_hand().labels(**options)


@pytest.mark.parametrize("criterion", ["misclassification", "entropy"])
class TestMerging:
    def made(self, seed=0, n=80, k=6):
        rng = np.random.default_rng(seed)
        shares = rng.dirichlet(np.full(k, 0.3), size=n)
        return shares.argmax(axis=1), shares, rng.integers(1, 4, size=n)

    def test_probabilities_are_sums_and_follow_the_labels(self, criterion):
        pieces, shares, weights = self.made()
        found = hierarchy(pieces, shares, weights, criterion)
        for n_groups in range(1, 7):
            group, probabilities = found.groups(n_groups), found.probabilities(n_groups)
            assert probabilities.sum(axis=1) == pytest.approx(1.0)
            for g in range(n_groups):
                assert probabilities[:, g] == pytest.approx(shares[:, group == g].sum(axis=1))
            own = probabilities[np.arange(80), found.labels(n_groups)]
            assert (own >= shares.max(axis=1) - 1e-12).all()
            sizes = np.bincount(found.labels(n_groups), weights=weights)
            assert n_groups == 6 or (np.diff(sizes) <= 0).all()

    def test_every_merge_joins_two_groups_of_the_stage_before(self, criterion):
        found = hierarchy(*self.made(1), criterion)
        for n_groups in range(1, 6):
            finer, coarser = found.labels(n_groups + 1), found.labels(n_groups)
            assert len(set(zip(finer, coarser))) == n_groups + 1

    def test_the_suggestion_leaves_no_two_groups_that_share_more_than_a_small_part_of_their_rows(self, criterion):
        for seed in range(10):
            pieces, shares, weights = self.made(seed)
            found = hierarchy(pieces, 0.02 * shares + 0.98 * np.eye(6)[pieces], weights, criterion)
            by_share = hierarchy(pieces, found.memberships, weights, "misclassification")
            assert found.suggested == by_share.n_groups(SMALL_SHARE)
            known = MisclassificationOverlap(by_share.probabilities(found.suggested), weights)
            others = np.arange(found.suggested)
            assert all(known.of(i, others[others != i]).max(initial=0.0) <= SMALL_SHARE + 1e-5 for i in others)

    def test_a_row_of_weight_2_is_two_rows_and_one_of_weight_0_is_none(self, criterion):
        pieces, shares, weights = self.made(2)
        weights[:5] = 0
        repeated = np.repeat(np.arange(80), weights)
        found = hierarchy(pieces, shares, weights, criterion)
        twice = hierarchy(pieces[repeated], shares[repeated], np.ones(repeated.size), criterion)
        assert found.merges == pytest.approx(twice.merges)
        assert np.array_equal(found.labels(3)[repeated], twice.labels(3))

    def test_rows_and_pieces_in_another_order_form_the_same_groups(self, criterion):
        pieces, shares, weights = self.made(3)
        rng = np.random.default_rng(0)
        rows, columns = rng.permutation(80), rng.permutation(6)
        found = hierarchy(pieces, shares, weights, criterion)
        moved = hierarchy(np.argsort(columns)[pieces[rows]], shares[rows][:, columns], weights[rows], criterion)
        for n_groups in range(1, 7):
            assert adjusted_rand_score(found.labels(n_groups)[rows], moved.labels(n_groups)) == 1.0

    def test_a_piece_that_no_membership_speaks_for_is_merged_first(self, criterion):
        pieces = np.repeat([0, 1, 2], [20, 20, 1])
        shares = np.array([[0.99, 0.01, 0.0]] * 20 + [[0.01, 0.99, 0.0]] * 20 + [[0.0, 1.0, 0.0]])
        assert hierarchy(pieces, shares, np.ones(41), criterion).merges[0, :2].tolist() == [1, 2]


def test_an_unknown_criterion_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="criterion must be one of 'entropy', 'misclassification'; got 'entropie'"):
        hierarchy(np.zeros(3, int), np.ones((3, 1)), np.ones(3), "entropie")


def fitted(rows, **options):
    return Mixture(**{"engine": "vb", "random_state": 0} | options).fit(rows)


class TestOfAnEstimator:
    @mostly_long
    @pytest.mark.parametrize("criterion", ["misclassification", "entropy"])
    @pytest.mark.parametrize("engine", ["vb", pytest.param("cvb", marks=long)])
    def test_pieces_of_two_moons_form_two_groups(self, criterion, engine):
        rows, moon = make_moons(600, noise=0.06, random_state=0)
        model = fitted(rows, engine=engine)
        found = model.hierarchy(criterion=criterion)
        assert found.n_pieces == model.n_clusters_ > 2
        assert found.suggested == 2
        assert adjusted_rand_score(moon, found.labels()) == 1.0

    def test_groups_that_stand_apart_stay_and_all_stages_are_consistent(self):
        rows, _ = make_blobs(300, centers=np.eye(4) * 12, random_state=0)
        model = fitted(rows)
        found = model.hierarchy()
        assert found.suggested == model.n_clusters_ == 4
        assert np.array_equal(found.labels(), model.labels_)
        assert np.array_equal(found.probabilities(4), model.probabilities_)
        assert not found.labels(1).any()
        assert found.overlaps.max() < 1e-3

    def test_one_cloud_in_pieces_is_one_group(self):
        rows = np.random.default_rng(0).random((500, 3))
        model = fitted(rows)
        assert model.n_clusters_ > 1
        assert model.hierarchy().suggested == 1

    def test_one_piece_has_nothing_to_merge(self):
        found = fitted(np.random.default_rng(0).standard_normal((200, 2))).hierarchy()
        assert (found.n_pieces, found.suggested, found.merges.shape) == (1, 1, (0, 4))
        assert not found.labels().any()

    def test_gibbs_with_weights_and_rows_that_do_not_take_part(self):
        rows, _ = make_blobs(60, centers=[[0, 0], [9, 9]], random_state=1)
        weights = np.ones(60)
        weights[:4] = 0
        model = Mixture(family="gaussian", chains=2, draws=60, warmup=60, random_state=0).fit(
            rows, sample_weight=weights
        )
        found = model.hierarchy()
        assert np.array_equal(found.labels(model.n_clusters_), model.labels_)
        assert np.array_equal(found.probabilities(model.n_clusters_), model.probabilities_)
        assert found.sizes.sum() == 56

    def test_a_consensus_has_one_too(self):
        rng = np.random.default_rng(0)
        truth = np.repeat([0, 1, 2], 40)
        labels = np.stack(
            [np.where(rng.random(120) < 0.05, rng.integers(3, size=120), truth) for _ in range(8)], axis=1
        )
        model = NBCE(engine="vb", random_state=0).fit(labels)
        found = model.hierarchy()
        assert np.array_equal(found.labels(model.n_clusters_), model.labels_)
        assert found.suggested == 3

    def test_it_needs_a_fit(self):
        with pytest.raises(NotFittedError):
            Mixture().hierarchy()
