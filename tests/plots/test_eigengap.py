"""The plot of the eigengap: its data, what is marked, its words."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.spectral.graphs import cliques

from partita.plots import eigengap, eigengap_data
from partita.spectral import SpectralClustering

W = cliques([8, 6, 5], between=0.05)


def fitted(**options):
    return SpectralClustering(affinity="precomputed", random_state=0, **options).fit(W)


def test_data_of_a_fit():
    spectral = fitted()
    data = eigengap_data(spectral)
    assert data.n_clusters == 3
    assert data.gap == spectral.gap_ == data.eigenvalues[3] - data.eigenvalues[2]
    np.testing.assert_array_equal(data.eigenvalues, spectral.eigenvalues_)
    assert data.clearest == 3


def test_data_of_eigenvalues_are_those_that_the_rule_chooses():
    data = eigengap_data([0, 0.01, 0.8, 0.9, 1.0])
    assert (data.n_clusters, data.gap) == (2, pytest.approx(0.79))


def test_points_and_the_marked_gap():
    given = Figure().subplots()
    ax = eigengap([0.0, 0.0, 0.5, 0.6, 0.7], ax=given)
    assert ax is given
    np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 1], [0.0, 0.0, 0.5, 0.6, 0.7])
    colors = [tuple(color) for color in ax.collections[0].get_facecolors()]
    assert colors[0] == colors[1] != colors[2] == colors[4]
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[2, 0.0], [3, 0.5]])
    assert ax.texts[0].get_text() == "gap 0.5"
    assert ax.get_title("left") == "2 groups: the gap after eigenvalue 2 is the clearest"
    ax.figure.draw_without_rendering()
    assert all(tick == round(tick) for tick in ax.get_xticks())


def test_a_given_number_is_marked_and_the_clearest_named():
    ax = eigengap(fitted(n_clusters=5))
    assert ax.get_title("left") == "5 groups: the gap after eigenvalue 5; the clearest is after 3"
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("eigenvalues", "title"),
    [
        ([0.0], "1 group: every eigenvalue is used"),
        ([0.0, 0.0, 0.0], "3 groups: every eigenvalue is used"),
        ([0.0, 1.3], "1 group: no gap after more eigenvalues is clear"),
    ],
)
def test_the_smallest_spectra(eigenvalues, title):
    ax = eigengap(eigenvalues)
    assert ax.get_title("left") == title
    ax.figure.draw_without_rendering()


def test_all_zero_but_fewer_groups():
    with pytest.warns(UserWarning, match="4 components and there are 2 clusters"):
        spectral = SpectralClustering(n_clusters=2, affinity="precomputed").fit(cliques([4, 3, 2, 2]))
    ax = eigengap(spectral)
    assert ax.get_title("left") == "2 groups: the gap after eigenvalue 2 is zero, as are all shown"
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize("wrong", [[], [[0.0, 1.0]], [0.0, np.nan], [1.0, 0.5]])
def test_what_is_no_spectrum_is_refused(wrong):
    with pytest.raises(ValueError, match="Eigenvalues must be a list of finite numbers that do not decrease"):
        eigengap_data(wrong)


def test_not_fitted():
    with pytest.raises(ValueError, match="call fit first"):
        eigengap(SpectralClustering())
