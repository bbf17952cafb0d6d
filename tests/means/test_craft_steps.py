"""`CRAFT`, corrected: whatever the table, nothing it does makes labels or columns dearer."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from tests.oracles.craft import cost_by_definition
from tests.volumes import short_and_long

from partita.means import CRAFT
from partita.means.cells import Categories, Numbers
from partita.means.choices import SoMany
from partita.means.locality import default_locality, locality_costs
from partita.means.subspaces import SelectedColumns


def random_table(seed, n, p, c, gaps):
    """Numbers and categories with gaps; the first column is constant in a third of the rows, one row is far away."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, p)) * 2.0 + 5.0 * rng.integers(0, 2, (n, 1))
    words = rng.choice(["a", "b", "c"], (n, c)).astype(object)
    numbers[: n // 3, 0], numbers[-1] = 4.0, 60.0
    numbers[rng.random(numbers.shape) < gaps] = np.nan
    words[rng.random(words.shape) < gaps] = None
    return pd.DataFrame(numbers).add_prefix("x").join(pd.DataFrame(words).add_prefix("w"))


@short_and_long("n_tables", 25, 300)
def test_the_objective_never_rises(n_tables):
    @settings(max_examples=n_tables, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(
        st.integers(0, 10_000),
        st.integers(6, 40),
        st.integers(1, 4),
        st.integers(1, 4),
        st.sampled_from([0.0, 0.2]),
        st.sampled_from([0.2, 0.5, 0.8, 1.0]),
        st.floats(0.05, 50.0),
        st.sampled_from(["fixed", "approximate"]),
        st.sampled_from([{"variance": "map"}, {"variance": "fixed"}, {"distance": "euclidean"}]),
    )
    def falls(seed, n, p, c, gaps, share, penalty, budget, costs):
        X = random_table(seed, n, p, c, gaps)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("error", ConvergenceWarning)
            options = {"n_features_to_select": share, "penalty": penalty, "budget": budget, "n_init": 2}
            model = CRAFT(**options, **costs, random_state=0).fit(X)
            placed = model.predict(X)
        path = model.objective_path_
        assert (np.diff(path) <= 1e-9 * np.abs(path).max()).all()
        assert np.isfinite(model.gains_).all()
        np.testing.assert_array_equal(placed, model.labels_)
        assert (np.bincount(model.labels_) > 0).all()

    falls()


def small(seed):
    rng = np.random.default_rng(seed)
    numbers, codes = rng.normal(size=(9, 2)) * 2.0, rng.integers(0, 3, (9, 2)).astype(np.int32)
    codes[:3] = np.arange(3)[:, None]
    numbers[rng.random(numbers.shape) < 0.15], codes[rng.random(codes.shape) < 0.15] = np.nan, -1
    locality = locality_costs(0.5, default_locality(0.5))
    options = {"penalty": 0.7, "ignored": locality.ignored, "prices": locality.chosen_more}
    return SelectedColumns(Numbers(numbers), Categories(codes, np.array([3, 3])), choice=SoMany(2), **options)


def as_dicts(costs, clusters):
    """What the definition takes."""
    (numbers, categories), p = costs.blocks, costs.blocks[0].n_columns
    rows = [
        {f"x{j}": None if np.isnan(x) else float(x) for j, x in enumerate(cells)}
        | {f"c{j}": None if t < 0 else int(t) for j, t in enumerate(codes)}
        for cells, codes in zip(numbers.cells, categories.codes)
    ]

    def said(shapes, k, chosen):
        normal, table = shapes
        own = {f"x{j}": (normal.means[k, j], normal.variances[k, j]) for j in range(p) if chosen[j]}
        shares = {f"c{j}": np.exp(-table[k, 3 * j : 3 * j + 3]) for j in range(2) if chosen[p + j]}
        return own | {name: dict(enumerate(each)) for name, each in shares.items()}

    own = [said(clusters.shapes, k, chosen) for k, chosen in enumerate(clusters.chosen)]
    return rows, own, said(clusters.background, 0, np.ones(4, bool))


@pytest.mark.parametrize("seed", range(4))
def test_no_row_is_cheaper_anywhere_else(seed):
    costs = small(seed)
    clusters = costs.fitted(np.arange(9) % 3, 3)
    labels, least = costs.cheapest(clusters)
    rows, own, background = as_dicts(costs, clusters)
    told = {"penalty": 0.7, "share": 0.5, "locality": default_locality(0.5)}
    total = cost_by_definition(rows, labels, own, background, **told)
    assert total == pytest.approx(least.sum() + costs.of_clusters(clusters), rel=1e-12)
    for i, k in np.ndindex(9, 3):
        other = labels.copy()
        other[i] = k
        assert cost_by_definition(rows, other, own, background, **told) >= total - 1e-9
