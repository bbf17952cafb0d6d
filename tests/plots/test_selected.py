"""The picture of selected cells: its shades, which cells have colour, and its words at any size."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from partita.means import CRAFT, DPMeans
from partita.plots import SelectedData, selected, selected_data
from partita.plots.selected import GREYS, MISSING, MOST_NAMES

pytestmark = pytest.mark.filterwarnings("ignore:Dropped 1 constant column")


@pytest.fixture(scope="module")
def fitted():
    """Numbers and categories with gaps in the order of the table, a constant between them."""
    rng, kind = np.random.default_rng(0), np.repeat([0, 1, 0], 20)
    frame = pd.DataFrame(
        {
            "coat": np.array(["fur", "wool"])[kind],
            "weight": rng.normal([4.0, 20.0], 0.5, (60, 2))[np.arange(60), kind],
            "planet": 1,
            "name": rng.choice(["Leo", "Max", "Mia"], 60),
            "age": rng.normal(size=60),
        }
    )
    frame.loc[[0, 25], "weight"] = np.nan
    with pytest.warns(UserWarning, match="Dropped 1 constant"):
        return CRAFT(n_clusters_hint=2, random_state=0).fit(frame), frame


def drawn(n_rows=60, n_columns=5, n_clusters=2, **other):
    """Data of any size."""
    rng, clusters = np.random.default_rng(0), np.sort(np.arange(n_rows) % n_clusters)
    chosen = np.arange(n_columns) % n_clusters == np.arange(n_clusters)[:, None]
    parts = {
        "shades": rng.random((n_rows, n_columns)),
        "clusters": clusters,
        "chosen": chosen,
        "names": tuple(f"column {j}" for j in range(n_columns)),
        "sizes": np.bincount(clusters),
    }
    return SelectedData(**(parts | other))


def test_rows_are_sorted_by_cluster_and_columns_are_those_that_vary(fitted):
    model, frame = fitted
    data = selected_data(model)
    order = np.argsort(model.labels_, kind="stable")
    assert data.names == ("coat", "weight", "name", "age")
    np.testing.assert_array_equal(data.clusters, model.labels_[order])
    np.testing.assert_array_equal(data.sizes, np.bincount(model.labels_))
    np.testing.assert_array_equal(data.chosen, model.features_[:, [0, 1, 3, 4]])
    np.testing.assert_array_equal(data.shades[:, 0], (frame["coat"] == "wool").to_numpy()[order])
    weights = frame["weight"].to_numpy()
    low, high = np.nanpercentile(weights, [5, 95])
    np.testing.assert_allclose(data.shades[:, 1], np.clip((weights - low) / (high - low), 0, 1)[order])
    np.testing.assert_array_equal(data.shades[:, 2], frame["name"].map({"Leo": 0, "Max": 0.5, "Mia": 1}).iloc[order])


def test_selected_cells_have_colour_others_are_grey_and_missing_ones_blue(fitted):
    model, _ = fitted
    data, ax = selected_data(model), selected(model)
    cells = ax.images[0].get_array()
    missing = np.isnan(data.shades)
    assert missing.sum() == 2
    np.testing.assert_allclose(cells[missing], [to_rgb(MISSING)] * 2)
    coloured = np.ptp(np.asarray(cells), axis=2) > 0.01
    np.testing.assert_array_equal(coloured[~missing], data.chosen[data.clusters][~missing])
    palest = cells[~data.chosen[data.clusters] & (data.shades == 0.0)]
    np.testing.assert_allclose(palest, np.broadcast_to(to_rgb(GREYS[0]), palest.shape), atol=0.01)


def test_the_words_around_it(fitted):
    model, _ = fitted
    given = Figure().subplots()
    ax = selected(model, ax=given)
    assert ax is given
    ax.figure.draw_without_rendering()
    sizes = np.bincount(model.labels_)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [f"group {k}\n{sizes[k]} rows" for k in (0, 1)]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["coat", "weight", "name", "age"]
    assert ax.get_title("left") == "60 rows, 2 groups: in colour the 2 of 4 columns that each has selected"
    assert ax.get_xlabel() == "dark is large, of categories late in their order; pale blue is missing"
    assert "missing" not in selected(drawn()).get_xlabel()


def test_of_many_rows_some_of_every_cluster_are_shown():
    rng, group = np.random.default_rng(0), np.repeat([0, 1], [1900, 100])
    model = CRAFT(n_clusters_hint=2, n_init=1, random_state=0).fit(rng.normal(9.0 * group[:, None], 1.0, (2000, 3)))
    data = selected_data(model)
    assert np.bincount(data.clusters).tolist() == [570, 30]
    assert data.sizes.tolist() == [1900, 100]
    assert selected(data).get_title("left").startswith("2,000 rows (600 shown), 2 groups: ")


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (drawn(n_clusters=1), "60 rows, 1 group: nothing tells rows apart"),
        (drawn(n_rows=3, n_clusters=3), "3 rows, 3 groups: in colour the 1 to 2 of 5 columns that each has selected"),
        (drawn(n_columns=1), "60 rows, 2 groups: in colour the 0 to 1 of 1 column that each has selected"),
        (drawn(600, 200, 40), "600 rows, 40 groups: in colour the 5 of 200 columns that each has selected"),
    ],
)
def test_any_size_is_drawn(data, title):
    ax = selected(data)
    assert ax.get_title("left") == title
    ax.figure.draw_without_rendering()
    assert len(ax.get_xticks()) <= MOST_NAMES


def test_of_many_columns_some_are_named_and_of_long_names_both_ends():
    names = tuple(f"a long name of column {j:03}" for j in range(100))
    ax = selected(drawn(n_columns=100, names=names))
    assert ax.get_xticklabels()[1].get_text() == "a long na…lumn 003"
    assert ax.get_xticklabels()[1].get_rotation() == 90
    assert ax.get_xlabel().endswith("; of 3 columns one is named")
    strange = selected(drawn(names=("\x1b[31mred", "b", "c", "d", "$x"))).get_xticklabels()
    assert strange[0].get_text() == "\\x1b[31mred"


def test_a_column_that_is_nearly_constant_has_both_shades():
    X = np.zeros((100, 2))
    X[:3, 0], X[:, 1] = 1.5, np.arange(100) % 7 + 0.5
    data = selected_data(CRAFT(n_clusters_hint=1, n_init=1).fit(X))
    assert set(data.shades[:, 0]) == {0.0, 1.0}


def test_only_a_fitted_craft_has_selected_columns():
    with pytest.raises(TypeError, match="Only clusters of a CRAFT have chosen columns, got a DPMeans"):
        selected(DPMeans())
    with pytest.raises(NotFittedError):
        selected_data(CRAFT())
