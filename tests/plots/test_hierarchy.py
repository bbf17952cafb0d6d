"""The dendrogram of pieces: brackets by hand, nothing crosses, the cut parts what is merged from what is not."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from partita import Mixture, Posterior
from partita.plots import hierarchy as draw
from partita.plots import hierarchy_data
from partita.posterior.hierarchy import Hierarchy, hierarchy

PIECES = np.repeat([0, 1, 2, 3], [6, 5, 4, 3])
MERGES = np.array([[1, 3, 0.2, 8], [0, 4, 0.3, 14], [2, 5, 0.001, 18]])
CUT = (0.2 + 0.001) / 2.0


def by_hand():
    return Hierarchy(PIECES, np.eye(4)[PIECES], np.ones(18), MERGES, "entropy", suggested=2)


def made(seed, k=9):
    shares = np.random.default_rng(seed).dirichlet(np.full(k, 0.2), size=100)
    return hierarchy(shares.argmax(axis=1), shares, np.ones(100))


def test_brackets_have_the_places_and_heights_worked_out_by_hand():
    data = hierarchy_data(by_hand())
    assert data.pieces.tolist() == [1, 3, 0, 2]  # the larger part of every merge first
    assert data.sizes.tolist() == [5, 3, 6, 4]
    assert data.groups.tolist() == [0, 0, 0, 1]
    assert data.overlaps.tolist() == [0.2, 0.2, 0.001]  # heights do not rise
    start = data.start
    assert start > 0.2
    assert data.brackets.tolist() == [
        [[start, 0.0], [start, 1.0]],
        [[start, 2.0], [0.2, 0.5]],
        [[start, 3.0], [0.2, 1.25]],
    ]
    assert data.merged.tolist() == [True, True, False]
    assert (data.cut, data.n_groups) == (CUT, 2)


@pytest.mark.parametrize("seed", range(5))
def test_no_brackets_cross(seed):
    found = made(seed)
    order = hierarchy_data(found).pieces
    assert sorted(order) == list(range(9))
    for n_groups in range(1, 10):
        groups = found.groups(n_groups)[order]
        assert np.count_nonzero(np.diff(groups)) == n_groups - 1  # pieces of a group stand together


@pytest.mark.parametrize("n_groups", range(1, 10))
def test_the_line_parts_the_merges_of_the_cut_from_the_others(n_groups):
    data = hierarchy_data(made(3), n_groups)
    assert data.n_groups == n_groups
    assert np.count_nonzero(data.merged) == 9 - n_groups
    assert (data.overlaps[data.merged] >= data.cut).all()
    assert (data.overlaps[~data.merged] <= data.cut).all()


def test_one_piece_has_no_bracket():
    found = hierarchy(np.zeros(5, int), np.ones((5, 1)), np.ones(5))
    data = hierarchy_data(found)
    assert data.brackets.shape == (0, 2, 2)
    ax = draw(found)
    assert ax.get_title(loc="left") == "1 piece, nothing to merge"
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0: 5"]


def test_what_has_a_hierarchy_can_be_drawn_as_it_is():
    rows, _ = make_moons(300, noise=0.06, random_state=0)
    model = Mixture(engine="vb", random_state=0).fit(rows)
    assert np.array_equal(hierarchy_data(model).brackets, hierarchy_data(model.hierarchy()).brackets)
    draws = np.tile(np.repeat([0, 1, 2], 4), (6, 1))
    draws[::2, 4:8] = 0
    assert hierarchy_data(Posterior(draws)).criterion == "co-clustering"


class TestPicture:
    def test_it_says_what_it_shows(self):
        ax = draw(by_hand())
        assert ax.get_title(loc="left") == "4 pieces form 2 groups"
        assert ax.get_xlabel() == "overlap (entropy)"
        assert [text.get_text() for text in ax.get_yticklabels()] == ["1: 5", "3: 3", "0: 6", "2: 4"]
        left, right = ax.get_xlim()
        assert left > right == 0.0

    def test_pieces_that_stay_are_said_to_stay(self):
        assert draw(by_hand(), 4).get_title(loc="left") == "4 pieces stay 4 groups"

    def test_merges_have_the_colour_of_their_group_up_to_the_cut(self):
        ax = draw(by_hand())
        lines = [(line.get_xdata(), line.get_color()) for line in ax.lines]
        merged = [color for x, color in lines if len(x) == 4 and x[1] > CUT]
        assert len(merged) == 2
        assert len(set(map(str, merged))) == 1
        stubs = [(tuple(x), color) for x, color in lines if len(x) == 2 and x[0] != x[1]]
        assert len(stubs) == 2
        assert {x[1] for x, _ in stubs} == {CUT}
        assert len({str(color) for _, color in stubs}) == 2

    def test_many_pieces_are_not_named_and_axes_are_taken(self):
        axes = Figure().subplots()
        assert draw(made(0, k=60), ax=axes) is axes
        assert not axes.get_yticks().size
        axes.figure.canvas.draw()

    def test_pieces_that_do_not_overlap_meet_at_0(self, tmp_path):
        labels = np.repeat([0, 1, 2], 5)
        found = hierarchy(labels, np.eye(3)[labels], np.ones(15))
        ax = draw(found)
        assert hierarchy_data(found).overlaps.tolist() == [0.0, 0.0]
        ax.figure.savefig(tmp_path / "apart.png")
        assert (tmp_path / "apart.png").stat().st_size > 1000
