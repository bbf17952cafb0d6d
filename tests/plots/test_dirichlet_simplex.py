"""The plot of Dirichlet distributions: densities against scipy, cells that tile the triangle."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

from partita.plots import dirichlet_simplex, dirichlet_simplex_data


def test_density_is_the_dirichlets_and_sums_to_one():
    for one in dirichlet_simplex_data([(2, 2, 2), (20, 2, 2), (1.5, 3, 1)], resolution=200):
        np.testing.assert_allclose(one.cells.sum(axis=1), 1)
        exact = [stats.dirichlet.pdf(cell, one.alpha) for cell in one.cells[::500]]
        np.testing.assert_allclose(one.density[::500], exact)
        # The midpoint rule over 200^2 triangles of equal area, half a unit square in all.
        assert one.density.mean() / 2 == pytest.approx(1, abs=2e-3)


def test_cells_tile_the_triangle():
    (one,) = dirichlet_simplex_data((1, 1, 1), resolution=7)
    assert one.cells.shape == (49, 3)
    assert np.all(one.cells > 0)
    assert len(np.unique(one.cells.round(9), axis=0)) == 49
    np.testing.assert_allclose(one.cells.mean(axis=0), 1 / 3)
    np.testing.assert_allclose(one.density, 2.0)


def test_draws_have_their_mean_also_where_parameters_are_tiny():
    for alpha in [(20.0, 2.0, 2.0), (0.1, 0.1, 0.1), (1e-3, 1e-3, 2e-3)]:
        (one,) = dirichlet_simplex_data(alpha, draws=4000, random_state=1)
        np.testing.assert_allclose(one.draws.sum(axis=1), 1)
        error = one.draws.std(axis=0) / np.sqrt(4000)
        assert np.all(np.abs(one.draws.mean(axis=0) - np.array(alpha) / sum(alpha)) < 4 * error)


def test_triangles_stand_side_by_side_in_one_axes():
    given = Figure().subplots()
    ax = dirichlet_simplex(draws=10, resolution=9, random_state=0, ax=given)
    assert ax is given
    outlines = [patch.get_xy() for patch in ax.patches]
    assert len(outlines) == 3
    for left, right in pairwise(outlines):
        assert left[:, 0].max() < right[:, 0].min()
    shades = ax.collections[::2]
    assert [len(one.get_paths()) for one in shades] == [81, 81, 81]
    for outline, one, dots in zip(outlines, shades, ax.collections[1::2], strict=True):
        low, high = outline.min(axis=0) - 1e-9, outline.max(axis=0) + 1e-9
        corners = np.concatenate([path.vertices for path in one.get_paths()])
        assert np.all((corners >= low) & (corners <= high))
        assert len(dots.get_offsets()) == 10
        assert np.all((dots.get_offsets() >= low) & (dots.get_offsets() <= high))
    # The darkest cell of (20, 2, 2) lies in the first corner, at the left.
    darkest = shades[1].get_paths()[int(np.argmax(shades[1].get_array()))].vertices.mean(axis=0)
    assert darkest[0] < outlines[1][:, 0].mean()
    written = [text.get_text() for text in ax.texts]
    assert sum("20, 2, 2" in text for text in written) == 1
    assert ax.get_title("left") == "Dirichlet distributions over three weights: dark is dense, dots are 10 draws"
    ax.figure.draw_without_rendering()


def test_one_triangle_without_draws():
    ax = dirichlet_simplex((1, 2, 3), draws=0)
    assert ax.get_title("left") == "A Dirichlet distribution over three weights: dark is dense"


@pytest.mark.parametrize(
    ("alphas", "words"),
    [
        ((1, 2), "three numbers"),
        (3.0, "three numbers"),
        ("abc", "three numbers, or rows of three; got 'abc'"),
        ([(1, 2, 3), (1, 2)], "three numbers, or rows of three; got"),
        (np.ones((0, 3)), "three numbers"),
        ((1, 0, 2), "positive and finite; got 0"),
        ((1, np.nan, 2), "positive and finite; got nan"),
    ],
)
def test_bad_input_is_refused(alphas, words):
    with pytest.raises(ValueError, match=words):
        dirichlet_simplex_data(alphas)
