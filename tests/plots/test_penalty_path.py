"""The picture of clusters and stability along penalties: its lines, its mark, its words."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from partita import Mixture
from partita.means import DPMeans, PenaltyPath
from partita.plots import penalty_path

NAN = float("nan")


def path(n_clusters=(6, 3, 3, 3, 1), stability=(0.5, 0.9, 1.0, 0.8, NAN), penalties=(1.0, 2.0, 4.0, 8.0, 16.0)):
    numbers = np.array(n_clusters)
    return PenaltyPath(np.array(penalties), numbers, np.arange(float(numbers.size)), np.array(stability))


def rows():
    return np.repeat([[0.0], [10.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 1))


def right_of(ax):
    return next((other for other in ax.figure.axes if other is not ax), None)


def test_both_lines_are_those_of_the_path():
    given = Figure().subplots()
    ax = penalty_path(path(), ax=given)
    assert ax is given
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), np.column_stack([path().penalties, path().n_clusters]))
    assert ax.lines[0].get_drawstyle() == "steps-mid"
    np.testing.assert_array_equal(right_of(ax).lines[0].get_ydata(), path().stability)
    assert right_of(ax).get_ylim()[0] == 0.0
    assert ax.get_title("left") == "3 groups over the widest range of penalties, 2 to 8"
    ax.figure.draw_without_rendering()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "2", "5", "10"]
    assert all(tick == round(tick) for tick in ax.get_yticks())


def test_of_an_estimator_the_path_is_found_and_its_fit_is_marked():
    model = DPMeans(n_init=2, random_state=0).fit(rows())
    ax = penalty_path(model, rows())
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.penalty_path(rows()).n_clusters)
    assert ax.lines[1].get_xydata().tolist() == [[model.penalty_, model.n_clusters_]]
    assert ax.texts[0].get_text() == "this fit"
    ax.figure.draw_without_rendering()
    assert len(penalty_path(DPMeans(n_init=1), rows()).lines) == 1


@pytest.mark.parametrize(
    ("told", "title"),
    [
        (path((4, 2, 1, 1, 1)), "4 groups at penalty 1"),
        (path((1, 1, 1, 1, 1), (NAN,) * 5), "1 group at every penalty"),
        (path((2,), (0.3,), (7.25,)), "2 groups at penalty 7.25"),
        (path((5, 4, 4, 5, 5)), "4 groups over the widest range of penalties, 2 to 4"),
    ],
)
def test_titles_name_the_number_of_the_widest_range(told, title):
    ax = penalty_path(told)
    assert ax.get_title("left") == title
    ax.figure.draw_without_rendering()


def test_without_halves_there_is_one_axis_and_below_0_is_seen():
    assert right_of(penalty_path(path(stability=(NAN,) * 5))) is None
    assert right_of(penalty_path(path(stability=(-0.2, 0.1, 0.1, 0.1, NAN)))).get_ylim()[0] == -0.2


def test_what_has_no_path_is_refused():
    with pytest.raises(TypeError, match="or that of a DPMeans, BinaryMeans or CRAFT, got a Mixture"):
        penalty_path(Mixture(), rows())
    with pytest.raises(TypeError, match=r"The rows are needed too: penalty_path\(model, X\)"):
        penalty_path(DPMeans())
