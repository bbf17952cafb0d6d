"""`cluster_centers_`: means of the rows of every cluster in the units of X, for tables of numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from tests.mixtures import diagonal, full, mixed, quick, unconverged_is_fine

from partita import load
from partita.engines import EM
from partita.families import Gaussian
from partita.priors import FiniteDirichlet

pytestmark = unconverged_is_fine

rng = np.random.default_rng(3)
GROUP = np.repeat([0, 1, 2], [30, 20, 10])
X = rng.normal(size=(60, 3)) + 12.0 * GROUP[:, None]
X = X * [1.0, 1e6, 1e-6] + [0.0, -5e6, 3.0]
GAPS = X.copy()
GAPS[::4, 0] = GAPS[1::5, 1] = np.nan
DIAGONAL = Gaussian(covariance="diag")


def means(x, labels, n_clusters, weights=None):
    """Row by row and cell by cell."""
    weights = np.ones(len(x)) if weights is None else weights
    found = np.full((n_clusters, x.shape[1]), np.nan)
    for k in range(n_clusters):
        for j in range(x.shape[1]):
            cells = [(x[i, j], weights[i]) for i in range(len(x)) if labels[i] == k and not np.isnan(x[i, j])]
            if sum(w for _, w in cells) > 0:
                found[k, j] = sum(c * w for c, w in cells) / sum(w for _, w in cells)
    return found


@full
def test_they_are_the_means_of_the_rows(tmp_path):
    model = quick().fit(X)
    assert model.n_clusters_ == 3
    np.testing.assert_allclose(model.cluster_centers_, means(X, model.labels_, 3), rtol=1e-10)
    model.save(tmp_path / "m.partita")
    np.testing.assert_array_equal(load(tmp_path / "m.partita").cluster_centers_, model.cluster_centers_)
    np.testing.assert_array_equal(model.predict(model.cluster_centers_), np.arange(3))


@diagonal
def test_missing_cells_are_left_out_and_weights_count():
    weights = rng.integers(0, 4, 60)
    model = quick(family=DIAGONAL).fit(GAPS, sample_weight=weights)
    expected = means(GAPS, model.labels_, model.n_clusters_, weights)
    np.testing.assert_allclose(model.cluster_centers_, expected, rtol=1e-10)
    assert not np.allclose(expected, means(GAPS, model.labels_, model.n_clusters_))


@diagonal
def test_a_cluster_without_an_observed_cell_has_nan():
    x = X.copy()
    x[GROUP == 2, 1] = np.nan
    model = quick(family=DIAGONAL).fit(x)
    centers = model.cluster_centers_
    assert model.n_clusters_ == 3
    np.testing.assert_array_equal(np.isnan(centers), [[False] * 3, [False] * 3, [False, True, False]])


@diagonal
def test_columns_are_those_that_came_in():
    frame = pd.DataFrame({"a": X[:, 0], "constant": 7.0, "b": X[:, 1]})
    with pytest.warns(UserWarning, match="Dropped 1 constant column"):
        model = quick(family=DIAGONAL).fit(frame)
    assert model.cluster_centers_.shape == (model.n_clusters_, model.n_features_in_)
    np.testing.assert_allclose(model.cluster_centers_, means(frame.to_numpy(), model.labels_, 3), rtol=1e-10)


@full
def test_groups_that_were_asked_for_have_centers():
    model = quick(n_clusters=2).fit(X)
    assert model.cluster_centers_.shape == (2, 3)
    np.testing.assert_allclose(model.cluster_centers_, means(X, model.labels_, 2), rtol=1e-10)


@full
def test_of_em_too():
    model = quick(engine=EM(), prior=FiniteDirichlet(n_components=3)).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, means(X, model.labels_, 3), rtol=1e-10)


@mixed
def test_other_tables_have_none():
    frame = pd.DataFrame({"size": X[:, 0], "colour": np.array(["red", "blue", "green"])[GROUP]})
    model = quick().fit(frame)
    assert not hasattr(model, "cluster_centers_")
    with pytest.raises(AttributeError, match=r"numeric columns, and 'colour' is not: profile_ tells what is typical"):
        _ = model.cluster_centers_
    assert not hasattr(quick(), "cluster_centers_")
    with pytest.raises(NotFittedError):
        _ = quick().cluster_centers_
